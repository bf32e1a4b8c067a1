//! How many executions the searches need.

use linpoint_test::{Object, Strategy};

use crate::objects;

fn executions<X: 'static>(object: Object<X>, strategy: Strategy) -> u64 {
    let report = object.strategy(strategy).as_found().check();
    let effort = report.effort();
    println!(
        "{strategy:?}: {} executions, {} redundant, {:?}",
        effort.executions, effort.redundant, effort.phase2
    );
    if let linpoint_test::Verdict::Undecided(why) = &report.verdict {
        println!("{why}")
    }
    effort.executions
}

#[test]
fn explore_counts() {
    use Strategy::*;
    for s in [
        Plain(Some(0)),
        Plain(Some(1)),
        Plain(Some(2)),
        Bounded(2),
        FewestPreemptions(2),
        Exhaustive,
    ] {
        println!("mutex");
        executions(objects::mutex_queue(), s);
        println!("cas");
        executions(objects::cas_counter(), s);
        println!("treiber");
        if s != Exhaustive {
            executions(objects::treiber(), s);
        }
        if s != Plain(Some(2)) && s != Exhaustive && s != FewestPreemptions(2) && s != Bounded(2) {
            println!("spin");
            executions(objects::spin_counter(), s);
            println!("ms");
            executions(objects::michael_scott(), s);
        }
    }
}
