//! Algorithm 4: queues.

use std::collections::BTreeSet;

use super::prepare::by_value;
use super::{Method, Operation, Slip};

pub(super) fn is_linearizable(mut history: Vec<Operation>, slip: Option<Slip>) -> bool {
    while !history.is_empty() {
        let last = last_values(&history, slip);
        if last.is_empty() {
            return false;
        }
        history.retain(|o| o.value.is_none_or(|value| !last.contains(&value)));
    }
    true
}

/// Values that may be the last of the queue (Definition 6.2).
fn last_values(history: &[Operation], slip: Option<Slip>) -> BTreeSet<u64> {
    let by_value = by_value(history);
    let mut additions = Vec::new();
    let (mut first_seen, mut last_called) = (Vec::new(), Vec::new());
    for (&value, operations) in &by_value {
        for o in operations.iter().filter(|o| o.method == Method::Add) {
            additions.extend([(o.ret, 0, value), (o.call, 1, value)]);
        }
        let others = operations.iter().filter(|o| o.method != Method::Add);
        first_seen.push((others.map(|o| o.ret).min().unwrap_or(i64::MAX), 0, value));
        last_called.push((
            operations.iter().map(|o| o.call).max().expect("operations"),
            1,
            value,
        ));
    }
    last_called.sort_unstable_by(|a, b| b.cmp(a));
    additions.sort_unstable_by(|a, b| b.cmp(a));
    let mut events = [first_seen.clone(), last_called.clone()].concat();
    events.sort_unstable_by(|a, b| b.cmp(a));

    let mut maximal = BTreeSet::new();
    for (_, event, value) in additions {
        maximal.insert(value);
        if event == 1 {
            break;
        }
    }
    let place = usize::from(slip != Some(Slip::LargestInvocation));
    let called_before = last_called.get(place).map_or(i64::MIN, |&(time, ..)| time);
    let mut last = BTreeSet::new();
    for (_, event, value) in events {
        if maximal.contains(&value) && (event == 0 || slip == Some(Slip::Line20OfAlgorithm4)) {
            last.insert(value);
        }
        if event == 1 {
            let seen = first_seen
                .iter()
                .find(|seen| seen.2 == value)
                .expect("a value");
            let is_last = seen.0 > called_before && maximal.contains(&value);
            if is_last {
                last.insert(value);
            }
            if is_last || slip != Some(Slip::Line26OfAlgorithm4) {
                break;
            }
        }
    }
    last
}
