//! How many executions the searches need. The numbers were found independently, with another engine; where ours differ, the
//! object does, and `docs/live.md` says how.

use linpoint_test::{Object, Strategy};

use crate::objects::{self, COUNTER_TEST, QUEUE_TEST};

fn executions<X: 'static>(object: Object<X>, strategy: Strategy) -> u64 {
    let report = object.strategy(strategy).as_found().check();
    assert!(report.passed(), "{report}");
    report.effort().executions
}

#[test]
fn plain_enumeration_needs_the_known_numbers_of_executions() {
    use Strategy::Plain;
    assert_eq!(executions(objects::mutex_queue(), Plain(Some(0))), 1_680);
    assert_eq!(executions(objects::mutex_queue(), Plain(Some(1))), 43_800);
    assert_eq!(
        executions(objects::cas_counter().matrix(COUNTER_TEST), Plain(Some(0))),
        1_680
    );
    assert_eq!(
        executions(objects::cas_counter().matrix(COUNTER_TEST), Plain(Some(1))),
        14_280
    );
    assert_eq!(executions(objects::treiber(), Plain(Some(1))), 20_720);
    assert_eq!(
        executions(objects::michael_scott().matrix(QUEUE_TEST), Plain(Some(0))),
        1_680
    );
    assert_eq!(executions(objects::spin_counter(), Plain(Some(0))), 1_680);
}

#[test]
fn partial_order_reduction_needs_the_known_numbers_of_executions() {
    assert_eq!(
        executions(objects::mutex_queue(), Strategy::Exhaustive),
        1_680
    );
    assert_eq!(
        executions(
            objects::cas_counter().matrix(COUNTER_TEST),
            Strategy::Exhaustive
        ),
        34_222
    );
    let small = objects::michael_scott().matrix([["enq(1)", "deq"], ["enq(2)", "deq"]]);
    assert_eq!(executions(small, Strategy::Exhaustive), 222);
}

/// The larger ones.
#[test]
#[ignore = "takes minutes: millions of executions"]
fn larger_tests_need_the_known_numbers_of_executions() {
    use Strategy::{Bounded, FewestPreemptions, Plain};
    assert_eq!(executions(objects::mutex_queue(), Plain(Some(2))), 345_930);
    assert_eq!(
        executions(objects::cas_counter().matrix(COUNTER_TEST), Plain(Some(2))),
        75_576
    );
    assert_eq!(executions(objects::treiber(), Plain(Some(2))), 156_078);
    assert_eq!(
        executions(objects::michael_scott().matrix(QUEUE_TEST), Plain(Some(1))),
        88_760
    );
    assert_eq!(
        executions(objects::michael_scott().matrix(QUEUE_TEST), Plain(Some(2))),
        2_754_843
    );
    assert_eq!(executions(objects::spin_counter(), Plain(Some(1))), 109_016);
    assert_eq!(
        executions(objects::mutex_queue(), FewestPreemptions(2)),
        275_724
    );
    assert_eq!(executions(objects::mutex_queue(), Bounded(2)), 127_594);
    assert_eq!(
        executions(
            objects::cas_counter().matrix(COUNTER_TEST),
            FewestPreemptions(2)
        ),
        80_198
    );
    assert_eq!(
        executions(objects::cas_counter().matrix(COUNTER_TEST), Bounded(2)),
        33_327
    );
    let event = || {
        objects::event(objects::Waiting::Sound).matrix([
            ["wait", "set", "wait"],
            ["set", "reset", "wait"],
            ["reset", "set", "is_set"],
        ])
    };
    assert_eq!(executions(event(), Plain(Some(1))), 82_519);
    assert_eq!(executions(event(), Bounded(2)), 322_029);
    assert_eq!(executions(event(), Strategy::Exhaustive), 405_513);
    // The bug of Counter1 is out of sight, so that the search goes on.
    let blind = || objects::counter1().ignore_result("get");
    assert_eq!(executions(blind(), Plain(Some(2))), 57_960);
    assert_eq!(executions(blind(), Strategy::Exhaustive), 11_770);
}
