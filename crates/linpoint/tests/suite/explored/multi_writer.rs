//! A multi-writer snapshot.

use linpoint::engine::Budget;
use linpoint::explore::{Bounds, Explored, Outcome, Reductions, refine};
use linpoint::spec::{Snapshot, Writers};
use linpoint::{TypedHistory, Value};

use super::{is_linearizable, random_execution};
use jayanti::{Clients, ENTRIES, Jayanti};

#[path = "../../../examples/multi_writer/jayanti.rs"]
mod jayanti;

fn spec() -> Snapshot {
    Snapshot {
        writers: Writers::Many,
        processes: Some(ENTRIES),
        initial: Value::Int(0),
    }
}

/// With two operations of each process, forwarding twice has 14,563,187 states; the example explores these.
#[test]
fn forwarding_once_is_wrong() {
    for (forwards, most, is_right) in [(2, 1, true), (1, 2, false)] {
        let bounds = Bounds {
            ops_per_process: Some(most),
            ..Bounds::default()
        };
        let (algorithm, explored) = (Jayanti { forwards }, Explored::default());
        let (budget, all) = (Budget::default(), Reductions::ALL);
        let outcome = refine(
            &algorithm,
            &Clients,
            &spec(),
            &bounds,
            all,
            &budget,
            &explored,
        );
        let outcome = outcome.expect("confirmed");
        assert_eq!(matches!(outcome, Outcome::Verified), is_right, "{forwards}");
    }
}

#[test]
fn the_reference_agrees() {
    for seed in 0..2000 {
        let events = random_execution(&Jayanti { forwards: 2 }, &Clients, 6, seed);
        let mut history = TypedHistory::new();
        let mut open = [None; 3];
        for (p, event) in events {
            match event {
                Ok(op) => open[p] = Some(history.call(p as u32, op)),
                Err(ret) => history.ret(open[p].take().expect("a call"), ret),
            }
        }
        assert!(is_linearizable(&spec(), &history), "{seed}");
    }
}
