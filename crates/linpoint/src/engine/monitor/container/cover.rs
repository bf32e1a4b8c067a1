//! The few operations that show a contradiction.

use super::{Act, Contradiction, CriticalIntervals, Log, ViolationKind};

/// The contradiction of all that was done with some values, and of further operations.
///
/// A container stays correct when everything about a value is left out, so the operations on some values prove as much
/// as they would among all others. Of the peeks only those are kept that say when the value was there.
pub(crate) fn contradiction(
    log: &Log<Act>,
    kind: ViolationKind,
    values: &[u32],
    others: &[u32],
) -> Contradiction {
    // A chain of values that cover each other may be long.
    let mut values = values.to_vec();
    values.sort_unstable();
    // First and last, by return and call, of all operations on a value, and of those that saw it.
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

/// The fewest critical values among `candidates` that together cover all gaps from `from` up to `to`, if they do.
pub(crate) fn cover(
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
