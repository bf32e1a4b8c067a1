//! Verifies a queue by its simple executions, in which all values but two are alike: the queue of Herlihy and Wing, and one
//! whose enqueues take a slot in two steps.
//!
//! ```console
//! $ cargo run --release -p linpoint --example simple_queue
//! ```

mod herlihy_wing;

use herlihy_wing::{HerlihyWing, Taking};
use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::explore::queue::verify_queue;
use linpoint::explore::{Bounds, Explored, Outcome, Reductions};

fn main() -> Result<(), Error> {
    for (taking, processes, most) in [
        (Taking::AtOnce, 2, 4),
        (Taking::AtOnce, 3, 2),
        (Taking::InTwoSteps, 3, 2),
    ] {
        let bounds = Bounds {
            ops_per_process: Some(most),
            ..Bounds::default()
        };
        let (algorithm, explored) = (HerlihyWing { processes, taking }, Explored::default());
        let (budget, all) = (Budget::default(), Reductions::ALL);
        let outcome = verify_queue(&algorithm, &bounds, all, &budget, &explored)?;
        print!("{taking:?}, {processes} processes with {most} operations each: ");
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
