//! Many tests: all small ones, random ones, and what fails made small.

use std::sync::atomic::Ordering::SeqCst;

use linpoint_test::sync::atomic::AtomicU32;
use linpoint_test::{Failure, FailureKind, Object, Strategy, Verdict, object};

use crate::objects::{self, MutexQueue};

pub(crate) fn hasty_queue() -> Object<MutexQueue> {
    object(MutexQueue::default)
        .op("add", [10, 20], MutexQueue::push)
        .op0("try_take", MutexQueue::hasty_take)
        .op0("take_for_sure", MutexQueue::try_take)
}

pub(crate) fn failure<X: 'static>(object: &Object<X>) -> Failure {
    let report = object.check();
    match report.verdict {
        Verdict::Fail(failure) => *failure,
        _ => panic!("{report}"),
    }
}

#[test]
fn random_tests_find_the_hasty_lock_and_make_it_small() {
    let found = failure(&hasty_queue().random(3, 3, 100).seed(1));
    assert_eq!(found.kind, FailureKind::NoWitness);
    assert_eq!(found.found_in, "3x3");
    let ops: usize = found.matrix.iter().map(Vec::len).sum();
    assert_eq!((found.matrix.len(), ops), (2, 3), "{found}");
    assert_eq!(found.preemptions, 1, "{found}");
}

#[test]
fn no_random_test_runs_twice() {
    let report = objects::cas_counter().random(2, 1, 100).check();
    assert!(report.passed(), "{report}");
    let mut tests: Vec<Vec<Vec<String>>> = Vec::new();
    for test in &report.tests {
        let mut threads = test.matrix.clone();
        threads.sort();
        assert!(!tests.contains(&threads), "{threads:?} runs twice");
        tests.push(threads);
    }
    assert_eq!(tests.len(), 3, "{report}");
    let note = "there are hardly more than 3 different tests of 2x1: 100 were asked for";
    assert!(report.to_string().contains(note), "{report}");
}

#[test]
fn all_random_tests_are_run_if_one_keeps_going() {
    let mut hasty = hasty_queue().random(3, 2, 60).seed(2).keep_going();
    let (first, second) = (hasty.check(), hasty.check());
    assert_eq!(first.tests.len(), 60);
    let fails = |report: &linpoint_test::Report| -> Vec<bool> {
        let failed = |test: &linpoint_test::report::TestReport| {
            matches!(test.result, linpoint_test::report::TestResult::Fail(_))
        };
        report.tests.iter().map(failed).collect()
    };
    assert_eq!(fails(&first), fails(&second));
    assert!(fails(&first).contains(&true) && fails(&first).contains(&false));
    hasty = hasty.seed(3);
    assert_ne!(fails(&first), fails(&hasty.check()));
}

#[test]
fn what_cannot_be_seen_is_not_passed() {
    let undecided = |report: linpoint_test::Report| match report.verdict {
        Verdict::Undecided(why) => why,
        _ => panic!("{report}"),
    };
    let uncontrolled = object(|| std::sync::atomic::AtomicU32::new(0))
        .op0("inc", |count| count.fetch_add(1, SeqCst))
        .matrix([["inc"]]);
    assert!(undecided(uncontrolled.check()).contains("instead of linpoint_test::sync"));
    // What the constructor touches says nothing about the operations.
    let made_under_control = || {
        let made = AtomicU32::new(0);
        made.store(1, SeqCst);
        std::sync::atomic::AtomicU32::new(made.load(SeqCst))
    };
    let uncontrolled = object(made_under_control)
        .op0("inc", |count| count.fetch_add(1, SeqCst))
        .matrix([["inc"]]);
    assert!(undecided(uncontrolled.check()).contains("instead of linpoint_test::sync"));
    let spawning = object(|| AtomicU32::new(0))
        .op0("spawn", |_| {
            linpoint_test::thread::spawn(|| ()).join().is_ok()
        })
        .op0("get", |count| count.load(SeqCst))
        .matrix([["spawn"], ["get"]]);
    assert!(undecided(spawning.check()).contains("spawns threads"));
    let scoping = object(|| AtomicU32::new(0))
        .op0("inc", |count| {
            let inc = || count.store(count.load(SeqCst) + 1, SeqCst);
            linpoint_test::thread::scope(|scope| scope.spawn(inc).join().is_ok())
        })
        .matrix([["inc"], ["inc"]])
        .strategy(Strategy::Plain(Some(2)));
    assert!(undecided(scoping.check()).contains("spawns threads"));
    let nothing = objects::cas_counter().random(2, 0, 3);
    assert!(undecided(nothing.check()).contains("without operations"));
}

#[test]
fn auto_checks_run_every_operation_before_other_arguments() {
    let slots = || {
        object(|| AtomicU32::new(0))
            .op("set", [1, 2, 3], |slot, value| slot.store(value, SeqCst))
            .op0("get", |slot| slot.load(SeqCst))
    };
    let report = slots().auto(2).check();
    assert!(report.passed() && report.notes.is_empty(), "{report}");
    let ran = |name: &str| {
        report
            .tests
            .iter()
            .any(|test| test.matrix.concat().iter().any(|op| op == name))
    };
    assert!(ran("set(1)") && ran("get") && !ran("set(2)"), "{report}");
    let report = slots()
        .op0("swap", |slot| slot.swap(7, SeqCst))
        .auto(2)
        .check();
    assert!(
        report.to_string().contains("note: never run: swap"),
        "{report}"
    );
    assert!(report.to_string().contains("`.auto(3)` would"), "{report}");
}

#[test]
fn tests_that_are_asked_for_several_times_all_run() {
    let counter = || {
        object(|| AtomicU32::new(0))
            .op0("inc", |count| count.store(count.load(SeqCst) + 1, SeqCst))
            .op0("get", |count| count.load(SeqCst))
    };
    let found = failure(
        &counter()
            .matrix([["inc", "get"], ["inc", "get"]])
            .matrix([["get"]]),
    );
    assert_eq!(found.kind, FailureKind::NoWitness);
    let right = counter().matrix([["get"]]).matrix([["inc", "get"]]).auto(1);
    let report = right.check();
    assert!(report.passed(), "{report}");
    assert_eq!(report.tests.len(), 3);
    assert!(!report.to_string().contains("never run"), "{report}");
}

#[test]
fn auto_checks_grow_until_something_fails() {
    let found = failure(&objects::counter1().auto(2));
    assert_eq!(found.kind, FailureKind::NoWitness);
    let report = objects::cas_counter().auto(2).check();
    assert!(report.passed(), "{report}");
    // One 1x1 test of one operation, and 10 multisets of two columns of two operations.
    assert_eq!(report.tests.len(), 11);
}

#[test]
fn sampled_schedules_find_the_lost_update() {
    for strategy in [
        Strategy::Random(500),
        Strategy::Pct {
            executions: 500,
            depth: 2,
        },
    ] {
        let found = failure(&objects::counter1().strategy(strategy).seed(7));
        assert_eq!(found.kind, FailureKind::NoWitness);
        let report = objects::cas_counter()
            .matrix(objects::COUNTER_TEST)
            .strategy(strategy)
            .seed(7)
            .check();
        assert!(report.passed(), "{report}");
        assert!(
            report.to_string().contains("500 sampled executions"),
            "{report}"
        );
    }
}

#[test]
fn sequences_may_stand_for_operations() {
    let report = hasty_queue()
        .sequence(["add(10)", "add(20)"])
        .random(2, 2, 30)
        .as_found()
        .keep_going()
        .check();
    assert!(
        report
            .tests
            .iter()
            .any(|test| test.matrix.iter().any(|ops| ops.len() > 2))
    );
}

#[test]
fn mistakes_are_told_and_not_panicked_about() {
    let undecided = |object: Object<MutexQueue>| match object.check().verdict {
        Verdict::Undecided(why) => why,
        verdict => panic!("{verdict:?}"),
    };
    assert!(undecided(hasty_queue().matrix([["pop"]])).contains("no operation \"pop\""));
    assert!(undecided(hasty_queue().ignore_result("pop")).contains("no operation"));
    assert!(undecided(hasty_queue().replay("nonsense")).contains("not a replay token"));
    assert!(undecided(hasty_queue().op0("try_take", |_| ())).contains("two operations"));
    assert!(undecided(object(MutexQueue::default)).contains("no operations"));
    let nine = vec![["try_take"]; 9];
    assert!(undecided(hasty_queue().matrix(nine)).contains("at most 8 threads"));
    assert!(undecided(hasty_queue().write_observations("x.xml").auto(1)).contains("single matrix"));
    let panics =
        object(|| -> MutexQueue { panic!("no queue today") }).op0("try_take", MutexQueue::try_take);
    assert!(undecided(panics.matrix([["try_take"]])).contains("no queue today"));
}

#[test]
fn time_limits_are_kept() {
    let start = std::time::Instant::now();
    let tests = || {
        objects::michael_scott()
            .random(2, 4, 10_000)
            .budget(std::time::Duration::from_secs(1))
    };
    let report = tests().complete().check();
    let Verdict::Undecided(why) = &report.verdict else {
        panic!("{report}");
    };
    assert!(why.contains("of 10000 tests passed, none failed"), "{why}");
    assert!(why.contains("the limit was 1s"), "{why}");
    let report = tests().check();
    assert!(report.passed(), "{report}");
    let text = report.to_string();
    assert!(text.contains("note: tests by size: 2x4: "), "{text}");
    assert!(text.contains("the time of 1s was up, "), "{text}");
    assert!(start.elapsed() < std::time::Duration::from_secs(20));
}

/// The default plan runs every operation, in small tests first, and finds what two operations of two threads do not show.
#[test]
fn the_default_plan_grows_until_the_time_is_up() {
    let counter = || {
        objects::cas_counter().op0("double", |count| {
            count.cas_inc();
            count.cas_inc();
        })
    };
    let found = failure(&counter());
    assert_eq!(found.kind, FailureKind::NoWitness, "{found}");

    let report = objects::cas_counter()
        .budget(std::time::Duration::from_secs(2))
        .check();
    assert!(report.passed(), "{report}");
    let sizes: Vec<&str> = report.tests.iter().map(|test| &*test.dimension).collect();
    assert_eq!(sizes[..3], ["2x1"; 3], "{report}");
    for size in ["2x2", "3x1", "3x3"] {
        assert!(sizes.contains(&size), "{report}");
    }
}
