//! What sections 3.3 to 3.5 of the paper do with a history before its algorithms see it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Method, Operation, Slip};

/// Operations by the value that they are about.
pub(super) fn by_value(history: &[Operation]) -> BTreeMap<u64, Vec<Operation>> {
    let mut by_value: BTreeMap<u64, Vec<Operation>> = BTreeMap::new();
    for operation in history {
        if let Some(value) = operation.value {
            by_value.entry(value).or_default().push(*operation);
        }
    }
    by_value
}

/// Definition 3.1 and Lemma 3.3: adds a removal at the end for each value that is never removed. `None` if a value was never added or
/// removed twice.
pub(super) fn extended(history: &[Operation]) -> Option<Vec<Operation>> {
    let mut left = Vec::new();
    for (value, operations) in by_value(history) {
        let count = |method| {
            let of_method = |o: &&Operation| o.method == method && o.answer;
            operations.iter().filter(of_method).count()
        };
        if count(Method::Add) == 0 && operations.iter().any(|o| o.answer)
            || count(Method::Remove) > 1
        {
            return None;
        }
        if count(Method::Add) == 1 && count(Method::Remove) == 0 {
            left.push(value);
        }
    }
    let mut extended = history.to_vec();
    let end = extended.iter().map(|o| o.ret + 1).max().unwrap_or(0);
    for (value, i) in left.iter().zip(end..) {
        extended.push(Operation {
            method: Method::Remove,
            value: Some(*value),
            answer: true,
            call: i,
            ret: i + left.len() as i64,
        });
    }
    Some(extended)
}

/// Proposition 3.2: additions return with the first operation on their value, and removals are called with the last. `None` if an
/// operation would end before it begins.
pub(super) fn non_trivialized(history: &[Operation]) -> Option<Vec<Operation>> {
    let by_value = by_value(history);
    let changed = history.iter().map(|operation| {
        let mut operation = *operation;
        if let Some(value) = operation.value {
            let all = &by_value[&value];
            match operation.method {
                Method::Add => operation.ret = all.iter().map(|o| o.ret).min()?,
                Method::Remove => operation.call = all.iter().map(|o| o.call).max()?,
                Method::Peek => {}
            }
        }
        (operation.call < operation.ret).then_some(operation)
    });
    changed.collect()
}

/// What Algorithm 5 needs before Proposition 3.2: no peek begins before its value is added.
pub(super) fn peeks_after_additions(history: &[Operation]) -> Vec<Operation> {
    let by_value = by_value(history);
    let later = |operation: &Operation| {
        let mut operation = *operation;
        let of_value = operation.value.map_or(&[][..], |value| &by_value[&value]);
        let added = of_value.iter().find(|o| o.method == Method::Add);
        if let (Method::Peek, Some(added)) = (operation.method, added) {
            operation.call = operation.call.max(added.call);
        }
        operation
    };
    history.iter().map(later).collect()
}

/// The events of a history in the order of time, as all algorithms have them: a time, 0 for a return or 1 for a call, and the
/// operation.
pub(super) fn events(history: &[Operation]) -> Vec<(i64, u8, usize)> {
    let both = |(i, o): (usize, &Operation)| [(o.ret, 0, i), (o.call, 1, i)];
    let mut events: Vec<_> = history.iter().enumerate().flat_map(both).collect();
    events.sort_unstable();
    events
}

/// Algorithm 1: whether each operation that found the container empty has a moment at which it can have been.
pub(super) fn empty_check(history: &[Operation], slip: Option<Slip>) -> bool {
    let (mut running, mut unmatched, mut all_invoked) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (_, event, i) in events(history) {
        let operation = &history[i];
        match (operation.value, event) {
            (None, 1) => {
                running.insert(i);
            }
            (None, _) => {
                if running.contains(&i) {
                    return false;
                }
            }
            (Some(value), 1) => {
                if operation.method == Method::Remove {
                    unmatched.remove(&value);
                }
                if operation.method == Method::Remove || slip == Some(Slip::Line13OfAlgorithm1) {
                    all_invoked.insert(value);
                }
            }
            (Some(value), _) => {
                let is_over =
                    all_invoked.contains(&value) && slip != Some(Slip::Line15OfAlgorithm1);
                if operation.method == Method::Add && !is_over {
                    unmatched.insert(value);
                }
            }
        }
        if unmatched.is_empty() {
            running.clear();
        }
    }
    true
}
