//! The classes of the Line-Up paper: every root cause is found, and nothing is wrong with the correct versions.
//! `LINPOINT_LINEUP` sets the number of random tests of each correct class, 100 in the paper; `--ignored` searches all dimensions.

#[path = "../examples/lineup/classes/mod.rs"]
mod classes;

use classes::{SUBJECTS, Seed, Test};
use linpoint_test::FailureKind;

/// How many random tests are asked for.
fn asked_for() -> Option<usize> {
    std::env::var("LINPOINT_LINEUP").ok()?.parse().ok()
}

#[test]
fn every_root_cause_is_found_where_it_should_be() {
    for subject in SUBJECTS {
        let Some(flaw) = &subject.flaw else { continue };
        let name = format!("{} {:?}", subject.class, subject.seed);
        let (threads, ops) = flaw.smallest;
        let count = flaw.failing.iter().map(|ops| ops.len()).sum::<usize>();
        assert!(count <= threads * ops, "{name}: larger than in the paper");
        let test = Test::Matrix(flaw.failing);
        let report = subject.check(&test);
        assert!(report.failure().is_some(), "{name}\n{report}");
        // The correct class passes the same test. A barrier has no correct version.
        if subject.seed != Seed::L {
            let report = subject.check_correct(&test);
            assert!(report.passed(), "{name}\n{report}");
        }
    }
}

#[test]
#[ignore = "takes a minute or two: all tests up to the dimension of the paper"]
fn no_smaller_dimension_is_overlooked() {
    for subject in SUBJECTS.iter().filter(|subject| subject.flaw.is_some()) {
        let found = subject.smallest_failing();
        assert!(
            found.is_some(),
            "{} {:?}: nothing found",
            subject.class,
            subject.seed
        );
    }
}

#[test]
fn correct_classes_pass() {
    let test = match asked_for() {
        Some(tests) => Test::Random { tests, seed: 1 },
        None => Test::Quick { tests: 1, seed: 1 },
    };
    for subject in SUBJECTS
        .iter()
        .filter(|subject| subject.seed == Seed::Correct)
    {
        let report = subject.check(&test);
        assert!(report.passed(), "{}\n{report}", subject.class);
    }
}

fn find(class: &str, seed: Seed) -> &'static classes::Subject {
    let is_it = |subject: &&classes::Subject| subject.class == class && subject.seed == seed;
    SUBJECTS.iter().find(is_it).expect("a subject")
}

/// Figure 1: one take finds the lock held and says that there is nothing.
#[test]
fn the_queue_of_figure_1_fails_in_its_own_test() {
    let test = Test::Matrix(&[
        &["enqueue(200)", "try_dequeue"],
        &["enqueue(400)", "try_dequeue"],
    ]);
    let report = find("ConcurrentQueue", Seed::B).check(&test);
    let failure = report.failure().expect("it fails");
    assert_eq!(failure.kind, FailureKind::NoWitness, "{report}");
    assert!(find("ConcurrentQueue", Seed::Correct).check(&test).passed());
}

/// Figure 9: whatever happens, the waiting thread should be woken in the end.
#[test]
fn the_event_of_figure_9_is_stuck() {
    let test = Test::Matrix(&[&["wait"], &["set", "reset", "set"]]);
    let report = find("ManualResetEvent", Seed::A).check(&test);
    let failure = report.failure().expect("it fails");
    assert_eq!(failure.kind, FailureKind::NoStuckWitness, "{report}");
    assert!(
        find("ManualResetEvent", Seed::Correct)
            .check(&test)
            .passed()
    );
}
