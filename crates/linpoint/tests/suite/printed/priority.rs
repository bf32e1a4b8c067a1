//! Algorithm 5: priority queues.

use std::collections::BTreeSet;

use super::prepare::events;
use super::{Method, Operation, Slip};

pub(super) fn is_linearizable(history: &[Operation], slip: Option<Slip>) -> bool {
    let value = |i: usize| history[i].value.expect("empty results are gone");
    let mut running: BTreeSet<(u64, usize)> = BTreeSet::new();
    let (mut critical, mut ended) = (BTreeSet::new(), BTreeSet::new());
    for (_, event, i) in events(history) {
        let method = history[i].method;
        if event == 1 {
            if method != Method::Add {
                running.insert((value(i), i));
            }
            if method == Method::Remove {
                critical.remove(&value(i));
                ended.insert(value(i));
            }
        } else {
            if running.contains(&(value(i), i)) {
                return false;
            }
            let is_over = ended.contains(&value(i)) && slip != Some(Slip::Line13OfAlgorithm5);
            if method == Method::Add && !is_over {
                critical.insert(value(i));
            }
        }
        running.retain(|&(value, _)| match critical.last() {
            None => false,
            Some(&largest) if slip == Some(Slip::Line20OfAlgorithm5) => value <= largest,
            Some(&largest) => value < largest,
        });
    }
    true
}
