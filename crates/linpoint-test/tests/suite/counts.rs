//! How many executions the searches need. The numbers were found independently, with another engine; where ours differ, the
//! object does, and `docs/live.md` says how.

use linpoint_test::{Object, Strategy};

use crate::objects;

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
    assert_eq!(executions(objects::cas_counter(), Plain(Some(0))), 1_680);
    assert_eq!(executions(objects::cas_counter(), Plain(Some(1))), 14_280);
    assert_eq!(executions(objects::cas_counter(), Plain(Some(2))), 75_576);
    assert_eq!(executions(objects::treiber(), Plain(Some(1))), 20_720);
    assert_eq!(executions(objects::michael_scott(), Plain(Some(0))), 1_680);
    assert_eq!(executions(objects::michael_scott(), Plain(Some(1))), 88_760);
    assert_eq!(executions(objects::spin_counter(), Plain(Some(0))), 1_680);
    assert_eq!(executions(objects::spin_counter(), Plain(Some(1))), 109_016);
}

#[test]
fn partial_order_reduction_needs_the_known_numbers_of_executions() {
    assert_eq!(
        executions(objects::mutex_queue(), Strategy::Exhaustive),
        1_680
    );
    assert_eq!(
        executions(objects::cas_counter(), Strategy::Exhaustive),
        34_222
    );
    let small = objects::michael_scott().matrix([["enq(1)", "deq"], ["enq(2)", "deq"]]);
    assert_eq!(executions(small, Strategy::Exhaustive), 222);
}

/// Everything else that was measured, for whoever has the time: `LINPOINT_COUNTS=1`.
#[test]
fn print_more_counts() {
    if std::env::var_os("LINPOINT_COUNTS").is_none() {
        return;
    }
    fn row<X: 'static>(name: &str, object: impl Fn() -> Object<X>, exhaustive: bool) {
        use Strategy::*;
        for strategy in [
            Plain(Some(0)),
            Plain(Some(1)),
            Plain(Some(2)),
            FewestPreemptions(2),
            Bounded(2),
            Exhaustive,
        ] {
            if strategy == Exhaustive && !exhaustive {
                continue;
            }
            let report = object().strategy(strategy).as_found().check();
            let effort = report.effort();
            println!(
                "{name:14} {strategy:?}: {} serial ({} stuck), {} executions ({} redundant), {:.2?}",
                effort.serial, effort.stuck, effort.executions, effort.redundant, effort.phase2
            );
        }
    }
    let event_test = [
        ["wait", "set", "wait"],
        ["set", "reset", "wait"],
        ["reset", "set", "is_set"],
    ];
    row("mutex queue", objects::mutex_queue, true);
    row("cas counter", objects::cas_counter, true);
    row("treiber", objects::treiber, false);
    row("spin counter", objects::spin_counter, false);
    row("event", || objects::event(false).matrix(event_test), true);
    row("michael-scott", objects::michael_scott, false);
}
