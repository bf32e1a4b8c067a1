//! Objects that are several handles, whole tests, and futures.

// What goes wrong in a test should fail it, also outside the functions that are marked as tests.
#![allow(clippy::unwrap_used)]

mod deque;
mod ends;
mod futures;
mod invariants;
mod lossy;
mod marked;
mod models;
mod primitives;
mod races;
mod random_models;
mod spurious;

use linpoint_test::{Failure, FailureKind, Object, Report, Strategy, Verdict};

/// The failure of a check that must fail, in this way, and does so again from its token.
fn caught<X: 'static>(object: Object<X>, kind: FailureKind) -> Failure {
    let report = object.check();
    let failure = match report.failure() {
        Some(failure) => failure.clone(),
        None => panic!("it must fail: {report}"),
    };
    assert_eq!(failure.kind, kind, "{report}");
    let again = object.replay(&failure.token).check();
    let again = again.failure().expect("the token must fail again");
    assert_eq!(again.history, failure.history);
    assert_eq!(again.interleaving, failure.interleaving);
    failure
}

fn passes<X: 'static>(object: &Object<X>) -> Report {
    let report = object.check();
    assert!(report.passed(), "{report}");
    report
}

/// Whether a check passes: the same with every reduction as with plain enumeration.
fn agreed<X: 'static>(object: impl Fn() -> Object<X>) -> bool {
    let verdict = |strategy| {
        let report = object().strategy(strategy).as_found().check();
        match report.verdict {
            Verdict::Pass(_) => true,
            Verdict::Fail(_) => false,
            verdict => panic!("{strategy:?}: {verdict:?}"),
        }
    };
    let expected = verdict(Strategy::Plain(None));
    for strategy in [
        Strategy::Exhaustive,
        Strategy::Bounded(64),
        Strategy::FewestPreemptions(64),
    ] {
        assert_eq!(verdict(strategy), expected, "{strategy:?}");
    }
    expected
}
