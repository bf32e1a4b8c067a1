//! Executions that run again from a token.

use std::process::Command;

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::{Object, Verdict, object};

use crate::campaigns::{failure, hasty_queue};
use crate::objects::{self, MutexQueue};

#[test]
fn every_failure_runs_again_from_its_token() {
    let mut objects = 0;
    for seed in 0..10 {
        let object = hasty_queue().random(2, 2, 20).seed(seed);
        let found = failure(&object);
        let again = failure(&object.replay(&found.token));
        assert_eq!(found.history, again.history);
        assert_eq!(found.interleaving, again.interleaving);
        assert_eq!(found.token, again.token);
        objects += 1;
    }
    assert_eq!(objects, 10);
    let event = objects::event(objects::Waiting::Broken)
        .matrix([vec!["wait"], vec!["set", "reset", "set"]]);
    let found = failure(&event);
    let again = failure(&event.replay(&found.token));
    assert_eq!(found.blocked, again.blocked);
    assert_eq!(found.history, again.history);
}

#[test]
fn a_token_of_another_program_searches_the_test_again() {
    let found = failure(&hasty_queue().random(2, 2, 20).seed(0));
    let right = object(MutexQueue::default)
        .op("add", [10, 20], MutexQueue::push)
        .op0("try_take", MutexQueue::try_take)
        .op0("take_for_sure", MutexQueue::try_take)
        .replay(&found.token)
        .check();
    assert!(right.passed(), "{right}");
    assert!(
        right.to_string().contains("no longer exists"),
        "it locks, where it tried to: {right}"
    );
    let fewer = object(MutexQueue::default)
        .op("add", [10], MutexQueue::push)
        .replay(&found.token)
        .check();
    let Verdict::Undecided(why) = &fewer.verdict else {
        panic!("{fewer}");
    };
    assert!(why.contains("another object"), "{why}");
}

/// Adds one, and answers `wrong` if another thread has added meanwhile.
fn watchful(wrong: u32) -> Object<AtomicU32> {
    object(|| AtomicU32::new(0))
        .op0("inc", move |count| {
            let before = count.load(SeqCst);
            let found = count.fetch_add(1, SeqCst);
            if found == before { 0 } else { wrong }
        })
        .matrix([["inc"], ["inc"]])
}

#[test]
fn a_repaired_object_does_not_simply_pass() {
    let found = failure(&watchful(1));
    let right = watchful(0).replay(&found.token).check();
    assert!(right.passed(), "{right}");
    assert_eq!(right.notes.len(), 1, "{right}");
    assert!(
        right.notes[0].contains("no longer fails"),
        "the steps are the same: {right}"
    );
}

#[test]
fn a_changed_object_that_still_fails_is_told() {
    let found = failure(&watchful(1));
    let changed = object(|| AtomicU32::new(0))
        .op0("inc", |count| {
            let before = count.load(SeqCst);
            let found = count.fetch_add(1, SeqCst);
            count.load(SeqCst);
            u32::from(found != before)
        })
        .replay(&found.token)
        .check();
    assert!(changed.failure().is_some(), "{changed}");
    assert!(changed.to_string().contains("still fails"), "{changed}");
}

#[test]
fn a_token_keeps_what_is_left_of_the_sequences_before_and_after() {
    let object = hasty_queue()
        .init(["add(10)", "take_for_sure"])
        .finally(["take_for_sure"])
        .matrix([["add(10)", "try_take"], ["add(20)", "take_for_sure"]]);
    let found = failure(&object);
    assert!(found.init.is_empty() && found.finally.is_empty(), "{found}");
    let again = failure(&object.replay(&found.token));
    assert_eq!(found.history, again.history);
}

#[test]
#[ignore = "run with a token by another test"]
fn a_test_of_the_queue() {
    let report = hasty_queue().random(2, 2, 20).check();
    println!("{report}");
}

#[test]
#[ignore = "run by another test"]
fn a_test_that_passes() {
    objects::cas_counter().matrix([["inc"], ["inc"]]).run();
}

#[test]
fn a_test_that_passes_says_what_it_covered() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "--include-ignored"])
        .arg("replays::a_test_that_passes")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let pass =
        "PASS: exhaustive under sequential consistency\n1 test, 2 serial histories (0 stuck), ";
    assert!(printed.contains(pass), "{printed}");
}

#[test]
#[ignore = "run with a token by another test"]
fn a_test_of_something_else() {
    println!("{}", objects::cas_counter().auto(2).check());
}

#[test]
fn a_token_in_the_environment_is_for_the_tests_of_its_object() {
    let token = failure(&hasty_queue().random(2, 2, 20)).token;
    let run = |test: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "--include-ignored"])
            .arg(format!("replays::{test}"))
            .env("LINPOINT_REPLAY", &token)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let own = run("a_test_of_the_queue");
    assert!(own.contains(&token) && own.contains("\n1 test, "), "{own}");
    let other = run("a_test_of_something_else");
    assert!(other.contains("PASS"), "{other}");
    assert!(other.contains("belongs to another object"), "{other}");
    assert!(other.contains("11 tests"), "{other}");
}
