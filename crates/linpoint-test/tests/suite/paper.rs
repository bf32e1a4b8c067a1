//! The examples of the paper behave as in the paper.

use linpoint_test::{FailureKind, Strategy, object};

use crate::objects::{self, Counter2, MutexQueue};

#[test]
fn counter1_has_a_full_history_without_witness() {
    let report = objects::counter1()
        .matrix([vec!["inc", "get"], vec!["inc"]])
        .check();
    println!("{report}");
    assert_eq!(report.failure().unwrap().kind, FailureKind::NoWitness);
    assert!(report.effort().executions < 100);
}

#[test]
fn counter2_blocks_although_it_was_not_declared_to() {
    let counter = || object(Counter2::default).op0("inc", Counter2::inc);
    let report = counter().op0("get", Counter2::get).auto(2).check();
    println!("{report}");
    assert_eq!(report.failure().unwrap().kind, FailureKind::Blocks);
}

#[test]
fn the_queue_of_figure_1_loses_an_element() {
    let report = object(MutexQueue::default)
        .op("add", [200, 400], MutexQueue::push)
        .op0("try_take", MutexQueue::hasty_take)
        .matrix([["add(200)", "try_take"], ["add(400)", "try_take"]])
        .check();
    println!("{report}");
    let failure = report.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::NoWitness);
    assert_eq!(failure.preemptions, 1);
}

#[test]
fn the_event_of_figure_9_is_found_through_stuck_histories() {
    let report = objects::event(objects::Waiting::Broken)
        .matrix([vec!["wait"], vec!["set", "reset", "set"]])
        .check();
    println!("{report}");
    assert_eq!(report.failure().unwrap().kind, FailureKind::NoStuckWitness);
    let report = objects::event(objects::Waiting::Sound)
        .matrix([vec!["wait"], vec!["set", "reset", "set"]])
        .check();
    assert!(report.passed(), "{report}");
}

#[test]
fn two_slots_fail_under_every_search() {
    use Strategy::*;
    for strategy in [
        Automatic,
        Exhaustive,
        Bounded(0),
        Bounded(2),
        FewestPreemptions(2),
        Plain(Some(2)),
        Plain(None),
    ] {
        let report = objects::two_slots().strategy(strategy).check();
        assert!(
            report.failure().is_some() || strategy == Bounded(0),
            "{strategy:?}: {report}"
        );
    }
}
