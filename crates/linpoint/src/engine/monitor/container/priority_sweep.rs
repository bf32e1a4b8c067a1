//! Containers that serve the highest of their values: where each operation takes effect, and an order of all.
//!
//! A priority queue is one, and so is a stack once it is known which of its values lie below which. An operation on a
//! value fits in a gap iff no higher value is critical there (Lee and Mathur, *Efficient Linearizability Monitoring for
//! Sets, Stacks, Queues and Priority Queues*, corollary 7.3). Costs O(n log n).

use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use super::{Act, CriticalInterval, CriticalIntervals, Log};
use crate::engine::monitor::container::ops_by_value::OpsByValue;
use crate::history::NEVER;

/// How high a value stands. Nothing at all stands at 0, values of priority 0 at 1.
pub(super) type Level = u32;

/// The level of an operation: that of its value.
fn level(log: &Log<Act>, priority: &[u32], op: usize) -> Level {
    match log.acts[op] {
        Act::Empty => 0,
        _ => priority[log.values[op] as usize] + 1,
    }
}

/// An operation that higher values leave no gap for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    pub(super) op: u32,
    /// The gaps from this one on, up to the other, are all too high.
    pub(super) from: u32,
    pub(super) to: u32,
}

/// Finds the latest gap for each operation; the first one in the order of returns that has none, if there is one.
///
/// Hands those gaps to `placed` that are not the very last ones before the return, or, for an insertion, before the value
/// is in for sure. Insertions are looked at if `adds` says which operations they are; without, they fit anywhere. Nor are
/// peeks looked at that return after the removal: they fit where that does.
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
        // Most events are none of these, but which ones is hard to foresee: one branch for all.
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
    if intervals.has_open {
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

/// The highest critical value of each gap so far, as much of it as matters for the latest gap below some level.
#[derive(Default)]
struct HighestCritical {
    /// The critical values, and some that no longer are.
    critical: BinaryHeap<RankedValue>,
    /// The highest of them.
    top: RankedValue,
    /// Lower levels with the last gap that was as low; both ascend.
    lower: Vec<(Level, u32)>,
}

/// A value with its level, as one number that is compared at once. 0 is that of no value.
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
    /// The latest gap that is at most that high, which the current one is not.
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

    /// Lets the highest one leave. Others are left in until they are the highest.
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

/// An order that explains a log of which every operation has a gap. `constrained_adds` tells whether insertions need a
/// low gap, too.
///
/// Every operation is placed in its latest gap. If a higher value was touched before that gap, and could not be finished
/// in it, then the operation that touched it would have had a later gap. So at each gap the values above are either not
/// in yet, or can be finished first.
pub(super) fn order(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    priority: &[u32],
    constrained_adds: bool,
) -> Vec<u32> {
    let by_value = OpsByValue::of(log, intervals);
    let gaps = gaps(log, intervals, priority, constrained_adds, &by_value);
    let (starts, mut visits) = by_gap(&gaps, log.end());
    let mut order = Order {
        by_value: &by_value,
        taken: vec![false; log.len()],
        ops: Vec::with_capacity(log.len()),
    };
    // Values that nobody will touch after the current gap.
    let mut closing = BinaryHeap::new();
    let is_free = |op: u32| !constrained_adds && log.acts[op as usize] == Act::Add;
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

/// The gap of each operation; [`NEVER`] for those to be left out.
fn gaps(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    priority: &[u32],
    constrained_adds: bool,
    by_value: &OpsByValue,
) -> Vec<u32> {
    // Where nothing stands in the way.
    let mut gaps = log.rets.to_vec();
    for gap in gaps.iter_mut().filter(|gap| **gap != NEVER) {
        *gap -= 1;
    }
    for (value, interval) in intervals.iter() {
        gaps[by_value.add(value) as usize] = interval.first_return - 1;
        if interval.removal_return == CriticalInterval::OPEN {
            gaps[by_value.remove(value) as usize] = log.end() - 1;
        }
    }
    let adds = constrained_adds.then(|| by_value.adds());
    place(log, intervals, priority, adds, |op, gap| {
        gaps[op as usize] = gap;
    })
    .expect("bug: a witness is asked for, and an operation has no gap");
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

/// An order that grows.
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

    /// Takes all that is missing of a value that is taken out.
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
    use crate::spec::Discipline;

    /// All ways to give the numbers from 0 on to this many values.
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
        testing::for_random_logs(&Discipline::Lifo, |log| {
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
                    let order = order(&log, &intervals, &priority, true);
                    testing::assert_explains(&Discipline::Lifo, &log, &order);
                }
            }
            assert_eq!(
                is_layered,
                testing::is_linearizable(&Discipline::Lifo, &log),
                "{log:#?}"
            );
        });
    }
}
