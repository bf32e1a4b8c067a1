//! The few operations that show a contradiction between values of a container.
//!
//! Ours, on the ground of Lee and Mathur (2024), proposition 3.5: deleting all operations on a value from a linearizable
//! history of a container leaves a linearizable history. So the operations on some values prove as much by themselves as
//! among all others. Peeks change nothing and may be left out one by one.

use super::critical::CriticalIntervals;
use crate::engine::monitor::{Act, Contradiction, Log, ViolationKind};

/// The contradiction of all operations on some values, and of further operations.
///
/// Of the peeks only those are kept that determine a critical interval: the first to return and the last to be called.
pub(in crate::engine::monitor) fn contradiction(
    log: &Log<Act>,
    kind: ViolationKind,
    values: &[u32],
    others: &[u32],
) -> Contradiction {
    // Sorted for the search below: there may be many values.
    let mut values = values.to_vec();
    values.sort_unstable();
    // By value: the first operation to return, the last to be called, and the first peek or removal to return.
    let mut telling: Vec<[Option<u32>; 3]> = vec![[None; 3]; values.len()];
    let mut ops = others.to_vec();
    let about = |op: usize| {
        let value = (log.acts[op] != Act::Empty).then_some(log.values[op])?;
        values.binary_search(&value).ok()
    };
    for op in 0..log.len() {
        let Some(i) = about(op) else { continue };
        if log.acts[op] != Act::Peek {
            ops.push(op as u32);
        }
        let [first, last, first_seen] = &mut telling[i];
        let keep = |best: &mut Option<u32>, better: &dyn Fn(usize) -> bool| {
            if best.is_none_or(|best| better(best as usize)) {
                *best = Some(op as u32);
            }
        };
        keep(first, &|best| log.rets[op] < log.rets[best]);
        keep(last, &|best| log.calls[op] > log.calls[best]);
        if log.acts[op] != Act::Add {
            keep(first_seen, &|best| log.rets[op] < log.rets[best]);
        }
    }
    ops.extend(telling.into_iter().flatten().flatten());
    ops.sort_unstable();
    ops.dedup();
    Contradiction {
        kind,
        ops,
        cut: log.end(),
    }
}

/// The fewest values among `candidates` whose critical intervals together cover all gaps from `from` up to `to`; `None` if
/// all of them do not. Greedy: of the intervals that begin early enough, the one that reaches furthest.
pub(in crate::engine::monitor) fn cover(
    intervals: &CriticalIntervals,
    candidates: impl Iterator<Item = u32>,
    from: u32,
    to: u32,
) -> Option<Vec<u32>> {
    let mut intervals: Vec<(u32, u32, u32)> = candidates
        .filter(|&value| intervals.at(value).is_critical())
        .map(|value| {
            (
                intervals.at(value).first_return,
                intervals.at(value).last_call,
                value,
            )
        })
        .filter(|&(start, end, _)| start < to && end > from)
        .collect();
    intervals.sort_unstable();
    let mut chosen = Vec::new();
    let mut covered = from;
    let mut intervals = intervals.into_iter().peekable();
    while covered < to {
        let mut furthest = None;
        while let Some((_, end, value)) = intervals.next_if(|&(start, ..)| start <= covered) {
            furthest = furthest.max(Some((end, value)));
        }
        let (end, value) = furthest.filter(|&(end, _)| end > covered)?;
        covered = end;
        chosen.push(value);
    }
    Some(chosen)
}
