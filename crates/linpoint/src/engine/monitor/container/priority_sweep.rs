//! Sweep over the highest critical priority: places the operations of containers that serve the highest of their values.
//!
//! After Lee and Mathur (2024), corollary 7.3: an operation on a value fits in a gap iff no higher value is critical there.
//! That decides priority queues, see `priority`. It also makes witnesses of stacks, whose priority is the order of
//! elimination, the bottom lowest. The construction of witnesses is ours. O(n log n).

use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use super::critical::{CriticalInterval, CriticalIntervals};
use super::ops_by_value::OpsByValue;
use crate::engine::monitor::{Act, Log};
use crate::history::NEVER;

/// The priority of a value plus one; 0 is the level of an empty container.
pub(super) type Level = u32;

/// The level of an operation: that of its value.
fn level(log: &Log<Act>, priority: &[u32], op: usize) -> Level {
    match log.acts[op] {
        Act::Empty => 0,
        _ => priority[log.values[op] as usize] + 1,
    }
}

/// An operation that has no gap, because higher values are critical in all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    pub(super) op: u32,
    /// The first gap in which it could take effect, were it not for higher values.
    pub(super) from: u32,
    /// The first gap in which it could not.
    pub(super) to: u32,
}

/// Whether insertions need a gap in which no higher value is critical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Insertions {
    /// They fit anywhere, as in a priority queue.
    Free,
    /// They need such a gap, as in a stack.
    Placed,
}

/// Finds for each operation the latest gap in which no higher value is critical. Returns the first operation, by return, that
/// has none.
///
/// Calls `placed(op, gap)` only if that gap differs from the default, which is the last gap before the return (for an insertion:
/// before `first_return`). Insertions, given by value, are skipped if `adds` is `None`. A peek that returns after the removal
/// of its value is skipped: the gap of the removal fits it.
pub(super) fn place(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    priority: &[u32],
    adds: Option<&[u32]>,
    mut placed: impl FnMut(u32, u32),
) -> Result<(), Blocked> {
    let mut highest = HighestCritical::default();
    let mut fit =
        |highest: &HighestCritical, op: u32, level: Level, from: u32, to: u32| match highest
            .latest_below(level)
        {
            Some(gap) if gap >= from => {
                placed(op, gap);
                Ok(())
            }
            _ => Err(Blocked { op, from, to }),
        };
    for (rank, event) in (0u32..).zip(log.events()) {
        let op = event.op();
        let act = log.acts[op];
        let is_empty = act == Act::Empty;
        let value = select_unpredictable(is_empty, 0, log.values[op]);
        let Some(interval) = intervals.get(value) else {
            continue;
        };
        let standing = RankedValue::new(priority[value as usize] + 1, value);
        let level = select_unpredictable(is_empty, 0, standing.level());
        // Most events are none of these, but which ones is hard to predict: one branch for all.
        let is_low = level < highest.top.level();
        let serves =
            event.is_return() & (act != Act::Add) & (is_empty | (interval.removal_return >= rank));
        let enters = rank == interval.first_return;
        let leaves = (rank == interval.last_call) & (standing == highest.top);
        if !((is_low & (serves | enters & adds.is_some()))
            | enters & interval.is_critical()
            | leaves)
        {
            continue;
        }
        if is_low {
            if enters && let Some(adds) = adds {
                fit(&highest, adds[value as usize], level, interval.added, rank)?;
            }
            if serves {
                let from = match act {
                    Act::Remove => interval.last_call,
                    Act::Peek => log.calls[op].max(interval.added),
                    _ => log.calls[op],
                };
                fit(&highest, op as u32, level, from, rank)?;
            }
        }
        if enters && interval.is_critical() {
            highest.enter(standing, rank);
        } else if leaves {
            highest.leave(rank, intervals);
        }
    }
    if intervals.has_pending_removals {
        let is_open = |&op: &usize| log.acts[op] == Act::Remove && log.is_pending(op);
        for op in (0..log.len()).filter(is_open) {
            let (interval, level) = (intervals.at(log.values[op]), level(log, priority, op));
            if interval.exists() && level < highest.top.level() {
                fit(&highest, op as u32, level, interval.last_call, log.end())?;
            }
        }
    }
    Ok(())
}

/// The highest critical value in each gap so far, as far as later questions need it.
#[derive(Default)]
struct HighestCritical {
    /// The critical values. May hold values that no longer are, but not at the top.
    critical: BinaryHeap<RankedValue>,
    /// The highest of them.
    top: RankedValue,
    /// Levels below that of `top`, with the last gap of which it was the level. Invariant: both ascend.
    lower: Vec<(Level, u32)>,
}

/// A value with its level in the upper half, so that one comparison orders them. 0 stands for no value.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct RankedValue(u64);

impl RankedValue {
    #[inline]
    fn new(level: Level, value: u32) -> Self {
        RankedValue(u64::from(level) << 32 | u64::from(value))
    }

    #[inline]
    fn level(self) -> Level {
        (self.0 >> 32) as Level
    }

    #[inline]
    fn value(self) -> u32 {
        self.0 as u32
    }
}

impl HighestCritical {
    /// The latest gap whose level is at most this one. The current gap must be higher.
    fn latest_below(&self, level: Level) -> Option<u32> {
        let low = self.lower.partition_point(|&(lower, _)| lower <= level);
        Some(self.lower[..low].last()?.1)
    }

    #[inline]
    fn enter(&mut self, new: RankedValue, rank: u32) {
        self.critical.push(new);
        if new > self.top {
            if new.level() > self.top.level() {
                self.lower.push((self.top.level(), rank - 1));
            }
            self.top = new;
        }
    }

    /// Removes the highest value. Values that stop being critical earlier are removed once they are at the top.
    #[inline]
    fn leave(&mut self, rank: u32, intervals: &CriticalIntervals) {
        self.critical.pop();
        while let Some(top) = self.critical.peek()
            && intervals.at(top.value()).last_call <= rank
        {
            self.critical.pop();
        }
        self.top = self.critical.peek().copied().unwrap_or_default();
        while let Some(&(lower, _)) = self.lower.last()
            && lower >= self.top.level()
        {
            self.lower.pop();
        }
    }
}

/// A linearization of a log in which every operation has a gap.
///
/// Every operation is placed in its latest gap. Suppose that an operation on a higher value was placed before that gap and
/// the higher value could not be removed in it: then all operations on the higher value are still open, and that one would
/// have had a later gap. So in each gap every higher value is either not added yet, or can be removed first.
pub(super) fn order(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    priority: &[u32],
    insertions: Insertions,
) -> Vec<u32> {
    let by_value = OpsByValue::of(log, intervals);
    let gaps = gaps(log, intervals, priority, insertions, &by_value);
    let (starts, mut visits) = by_gap(&gaps, log.end());
    let mut order = Order {
        by_value: &by_value,
        taken: vec![false; log.len()],
        ops: Vec::with_capacity(log.len()),
    };
    // Values with no call after the current gap.
    let mut closing = BinaryHeap::new();
    let is_free = |op: u32| insertions == Insertions::Free && log.acts[op as usize] == Act::Add;
    for (gap, event) in log.events().iter().enumerate() {
        let op = event.op();
        if !event.is_return() && log.acts[op] != Act::Empty {
            let value = log.values[op];
            if intervals.at(value).last_call as usize == gap {
                closing.push((priority[value as usize] + 1, value));
            }
        }
        let visits = &mut visits[starts[gap] as usize..starts[gap + 1] as usize];
        if visits.len() > 1 {
            visits.sort_unstable_by_key(|&op| (is_free(op), level(log, priority, op as usize)));
        }
        for &op in &*visits {
            if order.taken[op as usize] {
                continue;
            }
            let value = log.values[op as usize];
            if !is_free(op) {
                let level = level(log, priority, op as usize);
                while let Some(&(above, value)) = closing.peek()
                    && above > level
                {
                    closing.pop();
                    order.finish(value);
                }
            }
            match log.acts[op as usize] {
                Act::Remove => order.finish(value),
                Act::Peek => order.take(by_value.add(value)),
                Act::Add | Act::Empty => {}
            }
            order.take(op);
        }
    }
    order.ops
}

/// The gap of each operation; [`NEVER`] for those that are left out.
fn gaps(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    priority: &[u32],
    insertions: Insertions,
    by_value: &OpsByValue,
) -> Vec<u32> {
    // The defaults of `place`.
    let mut gaps = log.rets.to_vec();
    for gap in gaps.iter_mut().filter(|gap| **gap != NEVER) {
        *gap -= 1;
    }
    for (value, interval) in intervals.iter() {
        gaps[by_value.add(value) as usize] = interval.first_return - 1;
        if interval.removal_return == CriticalInterval::PENDING {
            gaps[by_value.remove(value) as usize] = log.end() - 1;
        }
    }
    let adds = (insertions == Insertions::Placed).then(|| by_value.adds());
    place(log, intervals, priority, adds, |op, gap| {
        gaps[op as usize] = gap;
    })
    .expect("bug: a witness of a log in which an operation has no gap");
    for (value, _) in intervals
        .iter()
        .filter(|(_, interval)| interval.is_removed())
    {
        let removed = gaps[by_value.remove(value) as usize];
        for &peek in by_value.peeks(value) {
            let gap = &mut gaps[peek as usize];
            *gap = (*gap).min(removed);
        }
    }
    gaps
}

/// The operations in the order of their gaps, and where those of each gap start.
fn by_gap(gaps: &[u32], end: u32) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; end as usize + 1];
    let placed = || (0u32..).zip(gaps).filter(|&(_, &gap)| gap != NEVER);
    for (_, &gap) in placed() {
        starts[gap as usize] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut ops = vec![0; sum as usize];
    for (op, &gap) in placed() {
        starts[gap as usize] -= 1;
        ops[starts[gap as usize] as usize] = op;
    }
    (starts, ops)
}

/// A linearization in the making.
struct Order<'a> {
    by_value: &'a OpsByValue,
    taken: Vec<bool>,
    ops: Vec<u32>,
}

impl Order<'_> {
    fn take(&mut self, op: u32) {
        if !std::mem::replace(&mut self.taken[op as usize], true) {
            self.ops.push(op);
        }
    }

    /// Takes all missing operations on a value, up to its removal.
    fn finish(&mut self, value: u32) {
        self.take(self.by_value.add(value));
        for &peek in self.by_value.peeks(value) {
            self.take(peek);
        }
        self.take(self.by_value.remove(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing;
    use crate::engine::monitor::testing::containers::unbounded;
    use crate::spec::Discipline;

    /// All permutations of the numbers below this one.
    fn permutations(values: usize) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for next in 0..values as u32 {
            all = (0..=next as usize)
                .flat_map(|at| {
                    all.iter().cloned().map(move |mut longer: Vec<u32>| {
                        longer.insert(at, next);
                        longer
                    })
                })
                .collect();
        }
        all
    }

    #[test]
    fn stacks_are_layered_somehow() {
        let stack = unbounded(Discipline::Lifo);
        testing::for_random_logs(&stack, |log| {
            let Ok(intervals) = CriticalIntervals::of(&log) else {
                return;
            };
            let used: Vec<u32> = intervals.iter().map(|(value, _)| value).collect();
            if used.len() > 4 {
                return;
            }
            let by_value = OpsByValue::of(&log, &intervals);
            let mut is_layered = false;
            for numbers in permutations(used.len()) {
                let mut priority = vec![0; log.distinct as usize];
                for (&value, &number) in used.iter().zip(&numbers) {
                    priority[value as usize] = number;
                }
                if place(
                    &log,
                    &intervals,
                    &priority,
                    Some(by_value.adds()),
                    |_, _| {},
                )
                .is_ok()
                {
                    is_layered = true;
                    let order = order(&log, &intervals, &priority, Insertions::Placed);
                    testing::assert_explains(&stack, &log, &order);
                }
            }
            assert_eq!(
                is_layered,
                testing::is_linearizable(&stack, &log),
                "{log:#?}"
            );
        });
    }
}
