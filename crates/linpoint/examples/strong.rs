//! Which of the built-in snapshots are strongly linearizable, for small bounds.
//!
//! ```console
//! $ cargo run --release -p linpoint --example strong -- [PROCESSES] [OPERATIONS]
//! ```

use std::time::Duration;

use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::explore::Bounds;
use linpoint::explore::algorithms::{
    AfekBounded, AfekUnbounded, AttiyaWelch, Bowman, Jayanti, Locked, Riany,
};
use linpoint::explore::snapshot::SnapshotAlgorithm;
use linpoint::explore::strong::{Strong, strong_snapshot};

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let mut number = |default| {
        args.next()
            .and_then(|arg| arg.parse().ok())
            .unwrap_or(default)
    };
    let (processes, operations) = (number(3), number(1));
    println!("{processes} processes, {operations} operations of each:");
    show::<Locked>(processes, operations)?;
    show::<Bowman>(processes, operations)?;
    show::<Jayanti>(processes, operations)?;
    show::<AfekUnbounded>(processes, operations)?;
    show::<AfekBounded>(processes, operations)?;
    show::<AttiyaWelch>(processes, operations)?;
    show::<Riany>(processes, operations)
}

fn show<A: SnapshotAlgorithm>(processes: usize, operations: usize) -> Result<(), Error> {
    let bounds = Bounds {
        ops_per_process: Some(operations as u8),
        ..Bounds::default()
    };
    let budget = Budget::new(Some(Duration::from_secs(60)), None);
    let found = match strong_snapshot::<A>(processes, None, &bounds, &budget)? {
        Strong::Yes { positions } => format!("strongly linearizable ({positions} positions)"),
        Strong::No { positions } => format!("not strongly linearizable ({positions} positions)"),
        Strong::Undecided(limit) => format!("undecided: {limit}"),
    };
    println!("  {:15} {found}", A::NAME);
    Ok(())
}
