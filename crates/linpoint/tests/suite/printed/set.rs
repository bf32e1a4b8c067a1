//! Algorithm 2: sets.

use super::prepare::{by_value, extended};
use super::{Method, Operation, Slip};

/// Additions and removals that failed are looks, as section 4 has them.
fn as_looks(history: &[Operation]) -> Vec<Operation> {
    let look = |operation: &Operation| match (operation.method, operation.answer) {
        (Method::Add, false) => Operation {
            method: Method::Peek,
            answer: true,
            ..*operation
        },
        (Method::Remove, false) => Operation {
            method: Method::Peek,
            ..*operation
        },
        _ => *operation,
    };
    history.iter().map(look).collect()
}

pub(super) fn is_linearizable(history: &[Operation], slip: Option<Slip>) -> bool {
    let looks = as_looks(history);
    let history = match extended(&looks) {
        Some(extended) if slip != Some(Slip::KeysNeverRemoved) => extended,
        None if slip != Some(Slip::KeysNeverAdded) => return false,
        _ => looks,
    };
    by_value(&history).values().all(|of_key| {
        let present = || of_key.iter().filter(|o| o.answer);
        let min_res = present().map(|o| o.ret).min().unwrap_or(i64::MAX);
        let max_inv = present().map(|o| o.call).max().unwrap_or(i64::MIN);
        of_key.iter().all(|o| {
            let is_between = min_res < o.call && o.ret < max_inv;
            match (o.answer, o.method) {
                (true, Method::Add) if o.call > min_res => false,
                (true, Method::Remove) if o.ret < max_inv => false,
                (true, _) => slip != Some(Slip::Line11OfAlgorithm2) || !is_between,
                (false, _) => slip == Some(Slip::Line11OfAlgorithm2) || !is_between,
            }
        })
    })
}
