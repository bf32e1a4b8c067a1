//! Queues, after Gibbons, Bruno and Phillips, *Black-Box Correctness Tests for Basic Parallel Data Structures* (2002), and
//! Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues*, section 6.
//!
//! Decides histories in which every value was put in once, in linear time. Value `a` must be ahead of `b` if it was put in
//! before `b` was, or if it was served before the last operation on `b` began. The history is linearizable iff these two
//! orders go together and empty results have a gap each. Without peeks both are interval orders, and it is enough that no
//! two values contradict each other; with peeks the second one is made an interval order first, see `fronts`. Tested
//! against the reference on small random histories.

mod fronts;
mod sweep;

use super::cover::contradiction;
use super::{
    Act, Contradiction, CriticalInterval, CriticalIntervals, Finding, Log, ViolationKind, empties,
};
use crate::engine::monitor::container::critical::{judge, known};
use crate::engine::monitor::container::ops_by_value::OpsByValue;
use crate::history::NEVER;
use fronts::{Fronts, is_solid};

/// Decides a queue whose values were each put in once; the value that was not, otherwise.
pub fn decide(log: &Log<Act>) -> Result<Finding, u32> {
    judge(CriticalIntervals::of(log), |intervals| {
        let (ordered, placed) = log.both(
            || in_order(log, intervals),
            || empties::place(log, intervals),
        );
        ordered?;
        placed.map(|_| ())
    })
}

/// Two values that cannot pass through the queue together.
#[derive(Clone, Copy, Debug)]
enum Disorder {
    /// Both were at the front at the same time.
    Together(u32, u32),
    /// The first was put in before the second, but served after it.
    Overtaken(u32, u32),
}

/// Whether the values can pass through the queue one after the other.
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

/// The two values alone, or with a third one that was served after the second and before the first.
fn out_of_order(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    first: u32,
    second: u32,
) -> Contradiction {
    let is_served_before =
        |a: u32, b: u32| intervals.at(a).first_served < intervals.at(b).last_call;
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

/// An order that explains a log that was found to be linearizable, as positions.
pub fn witness(log: &Log<Act>) -> Vec<u32> {
    let intervals = known(log);
    let Ok(empties) = empties::place(log, &intervals) else {
        panic!("bug: a witness is asked for, and an empty result has no gap");
    };
    let clipped = Fronts::of(log, &intervals).and_then(|fronts| fronts.clip(&intervals));
    let Ok(clipped) = clipped else {
        panic!("bug: a witness is asked for, and two values are at the front");
    };
    let mut values = arrange(log, &clipped);
    let gone_by = |value: u32, gap: u32| intervals.at(value).last_call <= gap;
    if !empties.is_empty() {
        // Between two empty results there are the values that cannot be gone by the first one.
        let mut before = vec![0u32; log.end() as usize + 1];
        for &(_, gap) in &empties {
            before[gap as usize + 1] += 1;
        }
        for rank in 1..before.len() {
            before[rank] += before[rank - 1];
        }
        values.sort_by_key(|&value| before[intervals.at(value).last_call as usize]);
    }
    let mut run = Run {
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
        run.pass(group);
        run.gap = run.gap.max(gap);
        run.order.push(op);
        rest = others;
    }
    run.pass(rest);
    run.order
}

/// A run of the queue that grows.
struct Run<'a> {
    log: &'a Log<Act>,
    intervals: &'a CriticalIntervals,
    by_value: OpsByValue,
    /// The gap in which the latest operation takes effect.
    gap: u32,
    order: Vec<u32>,
}

impl Run<'_> {
    /// Puts these values in and serves them, each as early as can be after the one before.
    fn pass(&mut self, values: &[u32]) {
        let mut outside = values;
        for &value in values {
            let interval = self.intervals.at(value);
            self.gap = self.gap.max(interval.added);
            for i in 0..self.by_value.peeks(value).len() {
                let peek = self.by_value.peeks(value)[i];
                self.gap = self.gap.max(self.log.calls[peek as usize]);
                self.put_in(&mut outside);
                self.order.push(peek);
            }
            if interval.is_removed() {
                self.gap = self.gap.max(interval.last_call);
                self.put_in(&mut outside);
                self.order.push(self.by_value.remove(value));
            }
        }
        for &value in outside {
            self.order.push(self.by_value.add(value));
        }
    }

    /// Puts in the first values as long as they can be in the current gap.
    fn put_in(&mut self, outside: &mut &[u32]) {
        while let Some((&value, rest)) = outside.split_first()
            && self.intervals.at(value).added <= self.gap
        {
            self.order.push(self.by_value.add(value));
            *outside = rest;
        }
    }
}

/// All values in an order in which they can pass through the queue, from intervals that are clipped.
///
/// Takes a value when all are taken that must be ahead of it: those put in for sure before it was, and those served
/// before it.
fn arrange(log: &Log<Act>, intervals: &CriticalIntervals) -> Vec<u32> {
    let Milestones {
        added,
        first_return,
        last_call,
        first_served,
    } = Milestones::of(log, intervals);
    let mut order: Vec<u32> = Vec::with_capacity(added.len());
    // How many of the two conditions are met, and then that it is taken.
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
            && intervals.at(value).added < limit
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

/// The moments of intervals in order: the values that have them.
struct Milestones {
    added: Vec<u32>,
    first_return: Vec<u32>,
    last_call: Vec<u32>,
    first_served: Vec<u32>,
}

/// The first moment when the value can have left, with room between any two ranks for that of a solid value.
fn first(interval: &CriticalInterval) -> u64 {
    if is_solid(interval) {
        last(interval)
    } else {
        2 * u64::from(interval.last_call)
    }
}

/// The last such moment.
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
        if intervals.has_peeks || intervals.has_open {
            // Moments that are no events of the value itself.
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
    use crate::engine::monitor::testing::{self, containers};
    use crate::spec::Discipline;

    fn judge_alike(log: &Log<Act>) -> bool {
        let finding = decide(log).expect("no value is put in twice");
        testing::judge_alike(&Discipline::Fifo, log, finding, |()| witness(log))
    }

    #[test]
    fn agrees_with_the_reference() {
        testing::assert_judged_alike(&Discipline::Fifo, |log| Some(judge_alike(log)));
    }

    #[test]
    fn pending_removals_take_effect_sometime() {
        containers::assert_pending_removals_may_happen(Discipline::Fifo, judge_alike);
    }
}
