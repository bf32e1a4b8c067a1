//! Algorithm 3: stacks.

use std::collections::{BTreeMap, BTreeSet};

use super::prepare::events;
use super::{Method, Operation, Slip};

pub(super) fn is_linearizable(mut history: Vec<Operation>, slip: Option<Slip>) -> bool {
    loop {
        if history.is_empty() && slip != Some(Slip::NoBaseCase) {
            return true;
        }
        let Some(bottom) = bottom(&history, slip) else {
            return false;
        };
        history.retain(|o| o.value != Some(bottom));
    }
}

/// A value all operations of which can come while no other value need be in the stack.
fn bottom(history: &[Operation], slip: Option<Slip>) -> Option<u64> {
    let value = |i: usize| history[i].value.expect("empty results are gone");
    let mut left: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for i in 0..history.len() {
        left.entry(value(i)).or_default().insert(i);
    }
    let (mut running, mut critical, mut ended) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (_, event, i) in events(history) {
        let method = history[i].method;
        if event == 1 {
            running.insert(i);
            if method == Method::Remove && slip != Some(Slip::PollForPop) {
                critical.remove(&value(i));
                ended.insert(value(i));
            }
        } else {
            running.remove(&i);
            let is_over = ended.contains(&value(i)) && slip != Some(Slip::Line16OfAlgorithm3);
            if method == Method::Add && !is_over {
                critical.insert(value(i));
            }
        }
        let only = critical.first().copied();
        if critical.len() > 1 {
            continue;
        }
        let fits = |i: &usize| only.is_none_or(|only| value(*i) == only);
        for i in running.iter().copied().filter(fits) {
            let of_value = left.get_mut(&value(i)).expect("a value");
            of_value.remove(&i);
            if of_value.is_empty() {
                return Some(value(i));
            }
        }
        running.retain(|i| !fits(i));
    }
    None
}
