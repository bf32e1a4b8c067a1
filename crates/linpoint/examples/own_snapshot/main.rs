//! Verifies a snapshot algorithm that is not built in, by its simple executions: the double collect, right and with two
//! mistakes.
//!
//! One mistake is found in simple executions. The other makes the algorithm depend on the values that it stores. Then simple
//! executions do not stand for all, and show nothing wrong: `check_data_independence` notices that, and the method `full` finds
//! the bug.
//!
//! ```console
//! $ cargo run --release -p linpoint --example own_snapshot
//! ```

mod double_collect;

use double_collect::DoubleCollect;
use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::explore::laws::check_data_independence;
use linpoint::explore::snapshot::{Form, SnapshotAlgorithm};
use linpoint::explore::{AlgorithmInfo, Explored, Method, Outcome, Plan};

const PROCESSES: usize = 3;
/// Enough to reach every step of the algorithm from all the others.
const STATES: usize = 10_000;

fn main() -> Result<(), Error> {
    for bug in [None, Some("toggles"), Some("values")] {
        println!("{}:", bug.unwrap_or("sequence numbers"));
        let algorithm = DoubleCollect::new(Form::full(PROCESSES), bug);
        match check_data_independence(&algorithm, STATES) {
            Ok(_) => println!("  does not depend on values: simple executions stand for all"),
            Err(reason) => println!("  depends on values: {reason}"),
        }
        for method in [Method::Automata, Method::Full] {
            show(bug, method)?;
        }
    }
    Ok(())
}

/// Verifies with one method, and prints what was found. All executions of three processes are too many, so the method
/// `full` is limited to three operations of each.
fn show(bug: Option<&str>, method: Method) -> Result<(), Error> {
    let plan = Plan {
        bug: bug.map(str::to_owned),
        method,
        ops_per_process: (method == Method::Full).then_some(3),
        ..Plan::new(DoubleCollect::NAME, PROCESSES)
    };
    let info = AlgorithmInfo::of::<DoubleCollect>();
    let found = info.verify(&plan, &Budget::default(), &Explored::default())?;
    let states: u64 = found.runs.iter().map(|run| run.states).sum();
    let bound = match plan.ops_per_process {
        None => "any number of operations".to_owned(),
        Some(bound) => format!("{bound} operations of each process"),
    };
    println!("  {} ({bound}, {states} states):", method.name());
    match found.outcome {
        Outcome::Verified => println!("    no wrong execution"),
        Outcome::Undecided(limit) => println!("    undecided: {limit}"),
        Outcome::Bug(execution) => {
            println!("    {}", execution.reason);
            for row in &execution.rows {
                println!("      {row}");
            }
        }
    }
    Ok(())
}
