//! Concurrent objects that people use, under stress; `LINPOINT_STRESS` makes it so many times longer.

#[path = "../examples/real_crates/cases.rs"]
mod cases;

use cases::{CASES, Expected};

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
