//! The classes of the Line-Up paper: every root cause is found, and nothing is wrong with the correct versions.
//! `LINPOINT_LINEUP` sets the number of random tests of each correct class, 100 in the paper; `--ignored` searches all dimensions.

#[path = "../examples/lineup/classes/mod.rs"]
mod classes;
#[allow(dead_code)] // Some of it is for the example.
#[path = "../examples/lineup/published.rs"]
mod published;

use classes::{SUBJECTS, Seed, Test};
use linpoint_test::FailureKind;
use linpoint_test::compare::Method;
use linpoint_test::report::TestResult;

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

#[test]
fn every_method_of_table_1_is_there() {
    assert_eq!(published::TABLE_1.len(), 13);
    for (class, methods) in published::TABLE_1 {
        // A barrier without the flaw has the two halves of the operation instead.
        let seed = match *class {
            "Barrier" => Seed::L,
            _ => Seed::Correct,
        };
        let ops: Vec<&str> = methods.iter().map(|(_, op)| *op).collect();
        let report = find(class, seed).check(&Test::Matrix(&[ops.as_slice()]));
        assert!(report.passed(), "{class}\n{report}");
    }
}

/// Section 5.6: what is wrong with the flawed classes is no data race.
#[test]
fn race_detection_overlooks_the_errors() {
    for subject in SUBJECTS {
        let Some(flaw) = &subject.flaw else { continue };
        let comparison = subject.compare(&Test::Matrix(flaw.failing), 200);
        let test = &comparison.tests[0];
        assert!(test.executions > 0, "{}", subject.class);
        assert!(matches!(test.test.result, TestResult::Fail(_)));
        assert_eq!(test.alarms(Method::DataRaces), 0, "{}", subject.class);
    }
}

/// Section 5.6: the four reasons why correct classes are not conflict-serializable.
#[test]
fn serializability_has_false_alarms() {
    let cases: [(&str, &[&[&str]]); 4] = [
        // A compare-exchange fails and is tried again.
        ("ConcurrentStack", &[&["push(1)"], &["push(1)"]]),
        // A look before the lock is taken.
        ("SemaphoreSlim", &[&["release(1)", "wait(0)"], &["wait(0)"]]),
        // The state is compared by "at least".
        ("CancellationTokenSource", &[&["increment"], &["cancel"]]),
        // A thread is registered under a lock of its own.
        ("ConcurrentBag", &[&["add(10)"], &["add(20)"]]),
    ];
    for (class, matrix) in cases {
        let comparison = find(class, Seed::Correct).compare(&Test::Matrix(matrix), 2000);
        let test = &comparison.tests[0];
        assert!(test.is_false_alarm(Method::Serializability), "{class}");
        assert_eq!(test.alarms(Method::DataRaces), 0, "{class}");
        assert_eq!(test.alarms(Method::StoreBuffers), 0, "{class}");
    }
}
