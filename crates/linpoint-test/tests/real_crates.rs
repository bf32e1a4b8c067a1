//! Concurrent objects that people use, under stress; `LINPOINT_STRESS` makes it so many times longer.

#[path = "../examples/real_crates/cases.rs"]
mod cases;

use cases::{CASES, Expected};
use linpoint::format::{ReadOptions, read};
use linpoint::{Checker, Verdict, object_type};

#[test]
fn what_should_be_linearizable_is_not_refuted() {
    let times = std::env::var("LINPOINT_STRESS").ok();
    let times = times.and_then(|times| times.parse().ok()).unwrap_or(1);
    // What need not be is left to the example: nothing follows from finding it or not.
    let cases = CASES
        .iter()
        .filter(|case| case.expected == Expected::Linearizable);
    for case in cases {
        let report = (case.check)(times).expect(case.name);
        assert!(report.is_linearizable(), "{}\n{report}", case.name);
    }
}

/// Histories that the example recorded, as it saved them.
#[test]
fn what_was_found_is_evidence() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/real_crates/found");
    let mut found = 0;
    read(folder.as_ref(), &ReadOptions::default(), |recorded| {
        let recorded = recorded.expect("well-formed");
        let (name, params) = recorded.object_type.clone().expect("the header names it");
        let object = object_type(&name, &params).expect("known");
        let checker = Checker::default();
        let report = checker.check_recorded(&object, &recorded.history);
        let verdict = report.expect("decided").verdict;
        assert!(
            matches!(verdict, Verdict::Violation(_)),
            "{}",
            recorded.label()
        );
        found += 1;
    });
    assert_eq!(found, 5);
}
