//! Decides queues whose values are each added once, in O(n).
//!
//! After Gibbons, Bruno and Phillips, *Black-Box Correctness Tests for Basic Parallel Data Structures* (2002), for insertions
//! and removals, and Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues*
//! (2024), section 6, for peeks. Value `a` must be ahead of `b` if `a` was added before `b` was, or if `a` was served before the
//! last call on `b`. The history is linearizable iff the union of these two orders has no cycle and empty results have gaps.
//! Without peeks both are interval orders, and a cycle exists iff two values contradict each other. With peeks the second
//! order is not transitive, and two values are not enough: in `enq 1 [0,8]`, `enq 2 [1,2]`, `enq 0 [3,4]`, `deq 0 [5,10]`,
//! `peek 1 [6,7]`, `deq 2 [9,12]`, `deq 1 [11,13]` any two of the three values are in order, and all three are not. `fronts`
//! makes it an interval order first, which is ours; so is the sweep over stretches of ranks in `sweep`.
//!
//! The paper eliminates the last value again and again instead (algorithm 4). As printed, lines 20 and 21 also run for calls and
//! the `break` of line 26 stands inside the inner `if` (either accepts `enq 1 [0,1]`, `enq 3 [2,3]`, `peek 3 [4,5]`); line 24
//! reads `MaxInv[1]` where the second largest is meant, minus infinity if there is one value left (otherwise it rejects `peek 1
//! [0,3]`, `enq 1 [1,2]`); and values that are never removed are missing.

mod fronts;
mod sweep;

use super::cover::contradiction;
use super::critical::{CriticalInterval, CriticalIntervals, judge, known};
use super::ops_by_value::OpsByValue;
use super::{empties, read};
use crate::engine::monitor::structure::counting_sort;
use crate::engine::monitor::{
    Act, Contradiction, Effect, Finding, Log, Monitor, NotApplicable, Reading, ViolationKind,
};
use crate::history::{NEVER, precedes};
use fronts::{Fronts, is_solid};

/// The monitor of queues whose values are each added once.
#[derive(Clone, Copy, Debug)]
pub struct Queue;

impl Monitor for Queue {
    type Act = Act;
    type Proof = ();

    fn name(&self) -> &'static str {
        "queue"
    }

    fn read(&self, effect: Effect) -> Result<Reading<Act>, NotApplicable> {
        read(effect)
    }

    fn decide(&self, log: &Log<Act>) -> Result<Finding, NotApplicable> {
        judge(CriticalIntervals::of(log), |intervals| {
            let (ordered, placed) = log.both(
                || in_order(log, intervals),
                || empties::place(log, intervals),
            );
            ordered?;
            placed.map(|_| ())
        })
    }

    fn witness(&self, log: &Log<Act>, (): &()) -> Vec<u32> {
        witness(log)
    }
}

/// Two values that cannot pass through the queue together.
#[derive(Clone, Copy, Debug)]
enum Disorder {
    /// Both are at the front at the same time.
    Together(u32, u32),
    /// The first is added before the second, but served after it.
    Overtaken(u32, u32),
}

/// Checks that the values can pass through the queue one after the other.
fn in_order(log: &Log<Act>, intervals: &CriticalIntervals) -> Result<(), Contradiction> {
    let (fronts, blocks) = log.both(|| Fronts::of(log, intervals), || sweep::blocks(intervals));
    let checked = fronts.and_then(|fronts| sweep::check(log, intervals, &fronts, blocks));
    checked.map_err(|disorder| match disorder {
        Disorder::Together(one, other) => {
            contradiction(log, ViolationKind::OutOfOrder, &[one, other], &[])
        }
        Disorder::Overtaken(first, second) => out_of_order(log, intervals, first, second),
    })
}

/// The contradiction of two values, or of these and a third one that is served after the second and before the first.
fn out_of_order(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    first: u32,
    second: u32,
) -> Contradiction {
    let is_served_before =
        |a: u32, b: u32| precedes(intervals.at(a).first_served, intervals.at(b).last_call);
    let mut values = vec![first, second];
    if !is_served_before(second, first) {
        let between = intervals
            .iter()
            .map(|(value, _)| value)
            .find(|&value| is_served_before(second, value) && is_served_before(value, first));
        values.push(between.expect("bug: two values are in order"));
    }
    contradiction(log, ViolationKind::OutOfOrder, &values, &[])
}

/// Serves the values in an order in which they can pass through the queue, each as early as it can be.
fn witness(log: &Log<Act>) -> Vec<u32> {
    let intervals = known(log);
    let Ok(empties) = empties::place(log, &intervals) else {
        panic!("bug: a witness of a log in which an empty result has no gap");
    };
    let clipped = Fronts::of(log, &intervals).and_then(|fronts| fronts.clip(&intervals));
    let Ok(clipped) = clipped else {
        panic!("bug: a witness of a log in which two values are at the front");
    };
    let mut values = arrange(log, &clipped);
    let gone_by = |value: u32, gap: u32| intervals.at(value).last_call <= gap;
    if !empties.is_empty() {
        // A value passes through the queue after the last empty result by which it cannot have been removed.
        let mut before = vec![0u32; log.end() as usize + 1];
        for &(_, gap) in &empties {
            before[gap as usize + 1] += 1;
        }
        for rank in 1..before.len() {
            before[rank] += before[rank - 1];
        }
        let group = |value: u32| before[intervals.at(value).last_call as usize];
        (values, _) = counting_sort(values.iter().copied(), empties.len() + 1, group);
    }
    let mut builder = WitnessBuilder {
        log,
        intervals: &intervals,
        by_value: OpsByValue::of(log, &intervals),
        gap: 0,
        order: Vec::with_capacity(log.len()),
    };
    let mut rest = values.as_slice();
    for (op, gap) in empties {
        let group = rest.iter().take_while(|&&value| gone_by(value, gap));
        let (group, others) = rest.split_at(group.count());
        builder.pass(group);
        builder.gap = builder.gap.max(gap);
        builder.order.push(op);
        rest = others;
    }
    builder.pass(rest);
    builder.order
}

/// A linearization in the making.
struct WitnessBuilder<'a> {
    log: &'a Log<Act>,
    intervals: &'a CriticalIntervals,
    by_value: OpsByValue,
    /// The gap in which the latest operation takes effect.
    gap: u32,
    order: Vec<u32>,
}

impl WitnessBuilder<'_> {
    /// Adds and serves these values in their order, each as early as possible after the one before.
    fn pass(&mut self, values: &[u32]) {
        let mut outside = values;
        for &value in values {
            let interval = self.intervals.at(value);
            self.gap = self.gap.max(interval.added);
            for i in 0..self.by_value.peeks(value).len() {
                let peek = self.by_value.peeks(value)[i];
                self.gap = self.gap.max(self.log.calls[peek as usize]);
                self.add(&mut outside);
                self.order.push(peek);
            }
            if interval.is_removed() {
                self.gap = self.gap.max(interval.last_call);
                self.add(&mut outside);
                self.order.push(self.by_value.remove(value));
            }
        }
        for &value in outside {
            self.order.push(self.by_value.add(value));
        }
    }

    /// Adds the first values whose insertions were called by the current gap.
    fn add(&mut self, outside: &mut &[u32]) {
        while let Some((&value, rest)) = outside.split_first()
            && self.intervals.at(value).added <= self.gap
        {
            self.order.push(self.by_value.add(value));
            *outside = rest;
        }
    }
}

/// All values in an order in which they can pass through the queue, given clipped intervals.
///
/// Takes a value when all values that must be ahead of it are taken: those added before it, and those served before it.
fn arrange(log: &Log<Act>, intervals: &CriticalIntervals) -> Vec<u32> {
    let Milestones {
        added,
        first_return,
        last_call,
        first_served,
    } = Milestones::of(log, intervals);
    let mut order: Vec<u32> = Vec::with_capacity(added.len());
    // By value: how many of the two conditions are met. A value with 2 is taken.
    let mut ready = vec![0u8; log.distinct as usize];
    let (mut in_next, mut seen_next) = (0, 0);
    let (mut add_next, mut out_next) = (0, 0);
    while order.len() < added.len() {
        let before = order.len();
        let mut meet = |value: u32, ready: &mut [u8]| {
            ready[value as usize] += 1;
            if ready[value as usize] == 2 {
                order.push(value);
            }
        };
        while first_return
            .get(in_next)
            .is_some_and(|&v| ready[v as usize] == 2)
        {
            in_next += 1;
        }
        let limit = first_return
            .get(in_next)
            .map_or(NEVER, |&v| intervals.at(v).first_return);
        while let Some(&value) = added.get(add_next)
            && !precedes(limit, intervals.at(value).added)
        {
            meet(value, &mut ready);
            add_next += 1;
        }
        while first_served
            .get(seen_next)
            .is_some_and(|&v| ready[v as usize] == 2)
        {
            seen_next += 1;
        }
        let limit = first_served
            .get(seen_next)
            .map_or(u64::MAX, |&v| last(&intervals.at(v)));
        while let Some(&value) = last_call.get(out_next)
            && first(&intervals.at(value)) <= limit
        {
            meet(value, &mut ready);
            out_next += 1;
        }
        assert!(order.len() > before, "bug: values overtake each other");
    }
    order
}

/// The values sorted by each of the four moments of their intervals.
struct Milestones {
    added: Vec<u32>,
    first_return: Vec<u32>,
    last_call: Vec<u32>,
    first_served: Vec<u32>,
}

/// The first moment at which the value can be removed, in doubled ranks: a solid value has its moment between two ranks.
fn first(interval: &CriticalInterval) -> u64 {
    if is_solid(interval) {
        last(interval)
    } else {
        2 * u64::from(interval.last_call)
    }
}

/// The last moment at which the value can be removed, in doubled ranks.
fn last(interval: &CriticalInterval) -> u64 {
    2 * u64::from(interval.first_served) + u64::from(is_solid(interval))
}

impl Milestones {
    fn of(log: &Log<Act>, intervals: &CriticalIntervals) -> Self {
        let values = log.distinct as usize;
        let empty = || Vec::with_capacity(values);
        let mut all = Milestones {
            added: empty(),
            first_return: empty(),
            last_call: empty(),
            first_served: empty(),
        };
        for (rank, event) in (0u32..).zip(log.events()) {
            let op = event.op();
            if log.acts[op] == Act::Empty {
                continue;
            }
            let value = log.values[op];
            let interval = intervals.at(value);
            if event.is_return() {
                if rank == interval.first_return {
                    all.first_return.push(value);
                }
                if rank == interval.first_served {
                    all.first_served.push(value);
                }
            } else {
                if rank == interval.added {
                    all.added.push(value);
                }
                if rank == interval.last_call {
                    all.last_call.push(value);
                }
            }
        }
        if intervals.has_peeks || intervals.has_pending_removals {
            // Clipping moved some moments to ranks of other values, so they must be sorted.
            all.first_served.clear();
            all.last_call.clear();
            for (value, interval) in intervals.iter() {
                if interval.first_served != NEVER {
                    all.first_served.push(value);
                }
                all.last_call.push(value);
            }
            all.first_served
                .sort_by_key(|&value| last(&intervals.at(value)));
            all.last_call
                .sort_by_key(|&value| first(&intervals.at(value)));
        } else {
            let stays = |(_, interval): &(u32, CriticalInterval)| !interval.is_removed();
            let staying = intervals.iter().filter(stays).map(|(value, _)| value);
            all.last_call.extend(staying);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing;
    use crate::engine::monitor::testing::containers::{self, unbounded};
    use crate::spec::Discipline;

    #[test]
    fn agrees_with_the_reference() {
        testing::assert_agrees(&unbounded(Discipline::Fifo), &Queue);
    }

    #[test]
    fn pending_removals_take_effect_sometime() {
        let queue = unbounded(Discipline::Fifo);
        containers::assert_pending_removals_may_happen(&queue, |log| {
            testing::judge_alike(&queue, &Queue, log)
        });
    }
}
