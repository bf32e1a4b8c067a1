//! Verifies a multi-writer snapshot for a bounded number of operations, and finds the bug of an update that forwards once
//! only.
//!
//! ```console
//! $ cargo run --release -p linpoint --example multi_writer
//! ```

mod jayanti;

use jayanti::{Clients, ENTRIES, Jayanti};
use linpoint::engine::Budget;
use linpoint::explore::{Bounds, Explored, Outcome, Reductions, refine};
use linpoint::spec::{Snapshot, Writers};
use linpoint::{Error, Value};

fn main() -> Result<(), Error> {
    let spec = Snapshot {
        writers: Writers::Many,
        processes: Some(ENTRIES),
        initial: Value::Int(0),
    };
    let bounds = Bounds {
        ops_per_process: Some(2),
        ..Bounds::default()
    };
    for forwards in [2, 1] {
        let (algorithm, explored) = (Jayanti { forwards }, Explored::default());
        let (budget, all) = (Budget::default(), Reductions::ALL);
        let outcome = refine(
            &algorithm, &Clients, &spec, &bounds, all, &budget, &explored,
        )?;
        let states = explored.states.into_inner();
        print!("an update forwards {forwards} times ({states} states): ");
        match outcome {
            Outcome::Verified => println!("linearizable"),
            Outcome::Undecided(limit) => println!("undecided: {limit}"),
            Outcome::Bug(execution) => {
                println!("{}", execution.reason);
                for row in &execution.rows {
                    println!("  {row}");
                }
            }
        }
    }
    Ok(())
}
