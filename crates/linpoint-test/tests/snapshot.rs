//! The example `snapshot`: the right one passes in every way, and each way finds what is wrong with the other one.

#[path = "../examples/snapshot/cells.rs"]
mod cells;
#[path = "../examples/snapshot/checks.rs"]
mod checks;

use cells::Scan;
use linpoint_test::stress::Outcome;

#[test]
fn under_control() {
    let right = checks::under_control(Scan::DoubleCollect);
    assert!(right.passed(), "{right}");
    let wrong = checks::under_control(Scan::SingleCollect);
    let failure = wrong
        .failure()
        .expect("a scan misses an update and sees a later one");
    // Two updates and a scan.
    assert_eq!(failure.matrix.concat().len(), 3, "{failure}");
}

#[test]
fn under_stress() {
    let right = checks::under_stress(Scan::DoubleCollect, 5).expect("a test");
    assert!(right.is_linearizable(), "{right}");
    let wrong = checks::under_stress(Scan::SingleCollect, 500).expect("a test");
    assert!(matches!(wrong.outcome, Outcome::Violation(_)), "{wrong}");
}

#[test]
fn simple_histories() {
    for seed in 0..20 {
        let right = checks::simple(Scan::DoubleCollect, [0, 3], 100, seed);
        assert!(right.violation.is_none() && right.events > 100, "{right:?}");
    }
    let mut runs = (0..2000).map(|seed| checks::simple(Scan::SingleCollect, [0, 3], 100, seed));
    assert!(runs.any(|run| run.violation.is_some()));
}
