//! What the searches see, history by history.

mod live;
mod model;
mod spinning;
mod spurious;
mod waiting;

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Test, explore};
use crate::campaign::program;
use crate::matrix::Matrix;
use crate::object::{Object, object};
use crate::runtime::execution::{Causality, Outcome, Settings, Switches, Words};
use crate::runtime::run::Flow;
use crate::runtime::search::Search;
use crate::search::dfs::Dfs;
use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::sync::{Condvar, Mutex};

type Key = (Vec<Outcome>, Vec<u64>, bool);

fn histories<S: Search>(program: &Rc<dyn Test>, search: S) -> (BTreeSet<Key>, usize) {
    let settings = Settings {
        switches: Switches::Everywhere,
        causality: Causality::RealTime,
        words: Words::Omitted,
        max_steps: 10_000,
    };
    let (mut seen, mut executions) = (BTreeSet::new(), 0);
    explore(program, settings, search, |trace, search| {
        executions += 1;
        if !search.pruned() {
            let history = trace.history();
            seen.insert((
                history.outcomes.clone(),
                history.before.clone(),
                history.stuck,
            ));
        }
        Flow::More
    });
    (seen, executions)
}

/// A memory of states loses no history, with any bound.
fn assert_same_histories<X: 'static>(object: &Object<X>, threads: &[&[usize]]) {
    let matrix = Matrix {
        threads: threads.iter().map(|ops| ops.to_vec()).collect(),
        ..Matrix::default()
    };
    let program = program(object, &matrix);
    for bound in [Some(0), Some(1), Some(2), None] {
        let (plain, all) = histories(&program, Dfs::new(bound));
        let (remembered, fewer) = histories(&program, Dfs::new(bound).remembering());
        assert_eq!(plain, remembered, "{threads:?} with {bound:?}");
        assert!(fewer <= all);
    }
}

#[test]
fn remembering_states_keeps_the_histories() {
    let counter = object(|| AtomicU32::new(0))
        .op0("inc", |count| {
            let value = count.load(SeqCst);
            count.store(value + 1, SeqCst);
        })
        .op0("get", |count| count.load(SeqCst));
    assert_same_histories(&counter, &[&[0, 1], &[0, 1]]);
    assert_same_histories(&counter, &[&[0], &[0], &[1, 1]]);

    let slot = object(|| (Mutex::new(0u32), Condvar::new()))
        .op0("take", |(count, changed)| {
            let guard = count.lock().unwrap();
            *changed.wait_while(guard, |count| *count == 0).unwrap() -= 1;
        })
        .may_block("take")
        .op0("give", |(count, changed)| {
            *count.lock().unwrap() += 1;
            changed.notify_one();
        })
        .op0("try_get", |(count, _)| {
            count.try_lock().ok().map(|count| *count)
        });
    assert_same_histories(&slot, &[&[0], &[1], &[2]]);
    assert_same_histories(&slot, &[&[0], &[0], &[1]]);
}
