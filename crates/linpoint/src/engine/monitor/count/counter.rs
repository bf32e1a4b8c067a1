//! Decides counters that only grow, by increments that return the count they found, increments that do not, and reads.
//!
//! Ours. A counter that only grows is at each count once. An increment that returned a count is therefore the one that leads away
//! from it; one of the other increments leads away from each other count. If these all add the same amount, the counts that the
//! counter goes through are fixed, and only the moments are open. Nothing takes effect until a return forces it, and of the
//! open increments that return nothing the one that returns first takes effect: the count is at all times as low as in any
//! linearization, and these increments differ only in their deadlines. A read is right iff its count was left after its call,
//! or is the current one. A pending increment is one that returns nothing and has no deadline. O(n log n).
//!
//! Increments by different amounts that return nothing make this a subset sum problem. A counter that also falls may be at a
//! count several times, and waiting is wrong: it would reject `read = 1 [0,4]`, `decrement [1,3]`, `increment [2,5]`. Neither is
//! decided here.

use super::DEPENDS_ON_COUNT;
use crate::engine::monitor::structure::{EMPTY, Heap, PairingHeaps};
use crate::engine::monitor::sweep_order::{Forcing, Observer, SweepOrder};
use crate::engine::monitor::{
    Contradiction, Effect, Finding, Log, Monitor, NotApplicable, Reading, ViolationKind,
};
use crate::history::{NEVER, precedes};

/// The monitor of counters that only grow.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The count at first.
    pub initial: i64,
}

/// What an operation does to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What it adds; 0 for a read.
    pub by: i64,
    /// The count before it, if it is known. Not of pending operations.
    pub seen: Option<i64>,
}

impl Monitor for Counter {
    type Act = Count;
    type Proof = ();

    fn name(&self) -> &'static str {
        "counter"
    }

    fn read(&self, effect: Effect) -> Result<Reading<Count>, NotApplicable> {
        match effect {
            Effect::Counts(act) => Ok(Reading { act, value: None }),
            _ => Err(DEPENDS_ON_COUNT),
        }
    }

    fn decide(&self, log: &Log<Count>) -> Result<Finding, NotApplicable> {
        let mut forcing = Forcing::default();
        let swept = sweep(log, self.initial, &mut forcing)?;
        Ok(swept
            .map_err(|stuck| contradiction(log, stuck, forcing.0))
            .into())
    }

    fn witness(&self, log: &Log<Count>, (): &()) -> Vec<u32> {
        let mut order = SweepOrder::new(log.len());
        let swept = sweep(log, self.initial, &mut order);
        assert_eq!(swept, Ok(Ok(())), "bug: a witness of a violation");
        order.finish()
    }
}

/// A return that cannot be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stuck {
    /// The operation that returns.
    op: u32,
    /// An increment that must take effect before but is called only later.
    late: Option<u32>,
}

/// A counter, during a sweep.
struct Sweep<'a, O> {
    log: &'a Log<Count>,
    observer: &'a mut O,
    /// All counts so far; each step leads from one to the next.
    counts: Vec<i64>,
    increments: Increments,
    /// Increments that return nothing, are open and have not taken effect.
    open: Heap,
    heaps: PairingHeaps,
    /// How many of `increments.found` found less than the count, or have taken effect.
    passed: usize,
}

/// The increments of a log.
struct Increments {
    /// The amount of those that return nothing.
    amount: i64,
    /// Those that returned the count they found, as (count, operation), ascending.
    found: Vec<(i64, u32)>,
}

fn sweep<O: Observer>(
    log: &Log<Count>,
    initial: i64,
    observer: &mut O,
) -> Result<Result<(), Stuck>, NotApplicable> {
    let increments = Increments::of(log, initial)?;
    let sweep = Sweep {
        log,
        observer,
        counts: vec![initial],
        increments,
        open: EMPTY,
        heaps: PairingHeaps::new(),
        passed: 0,
    };
    Ok(sweep.run())
}

impl Increments {
    fn of(log: &Log<Count>, initial: i64) -> Result<Self, NotApplicable> {
        let mut amount = 0;
        let mut found = Vec::new();
        let mut sum = initial;
        for (op, &Count { by, seen }) in (0u32..).zip(&log.acts) {
            if by == 0 {
                continue;
            }
            if by < 0 {
                return Err(NotApplicable("the counter falls"));
            }
            sum = sum
                .checked_add(by)
                .ok_or(NotApplicable("the counter may overflow"))?;
            match seen {
                Some(seen) if !log.is_pending(op as usize) => found.push((seen, op)),
                _ if amount != 0 && amount != by => {
                    return Err(NotApplicable("increments differ in their amounts"));
                }
                _ => amount = by,
            }
        }
        // The stable sort is fast on input that is mostly sorted, as this is.
        found.sort();
        Ok(Increments { amount, found })
    }

    /// Whether an increment that returned a count is the one that leads away from it: the first of those that returned it.
    fn leads_away(&self, seen: i64, op: u32) -> bool {
        let first = self.found.partition_point(|found| found.0 < seen);
        self.found[first] == (seen, op)
    }
}

impl<O: Observer> Sweep<'_, O> {
    fn run(mut self) -> Result<(), Stuck> {
        let log = self.log;
        // The number of steps before the call of each operation.
        let mut before = vec![0u32; log.len()];
        for (rank, event) in (0u32..).zip(log.events()) {
            let op = event.op();
            let Count { by, seen } = log.acts[op];
            let seen = seen.filter(|_| !log.is_pending(op));
            if !event.is_return() {
                before[op] = self.counts.len() as u32 - 1;
                if by != 0 && seen.is_none() {
                    self.heaps.push(&mut self.open, op as u32, log.rets[op]);
                }
                continue;
            }
            let stuck = |late| Stuck {
                op: op as u32,
                late,
            };
            match seen {
                None if by == 0 => self.observer.takes_effect(op as u32, None),
                // All earlier deadlines are met: one that returns has taken effect or is the first of the heap.
                None => {
                    while self.heaps.first(self.open) == Some(op as u32) {
                        self.step(rank).map_err(stuck)?;
                    }
                }
                Some(seen) => {
                    let forced = self.count() < seen;
                    while self.count() < seen {
                        self.step(rank).map_err(stuck)?;
                    }
                    if by != 0 && self.count() == seen {
                        self.step(rank).map_err(stuck)?;
                    }
                    if forced && by == 0 {
                        self.observer.forces(op as u32);
                    }
                    let since = before[op] as usize;
                    let Ok(steps) = self.counts[since..].binary_search(&seen) else {
                        return Err(stuck(None));
                    };
                    let steps = since + steps;
                    if by != 0 {
                        if !self.increments.leads_away(seen, op as u32) {
                            return Err(stuck(None));
                        }
                    } else if steps + 1 == self.counts.len() {
                        self.observer.takes_effect(op as u32, None);
                    } else {
                        self.observer.takes_effect_before(steps as u32, op as u32);
                    }
                }
            }
        }
        Ok(())
    }

    fn count(&self) -> i64 {
        *self.counts.last().expect("bug: a counter has a count")
    }

    /// Lets the increment take effect that leads away from the current count. If that is not possible, returns the increment that
    /// would have to but is called later, if it is known.
    fn step(&mut self, rank: u32) -> Result<(), Option<u32>> {
        let count = self.count();
        let found = &self.increments.found;
        while found.get(self.passed).is_some_and(|found| found.0 < count) {
            self.passed += 1;
        }
        let (op, by) = match found.get(self.passed) {
            Some(&(seen, op)) if seen == count => {
                if precedes(rank, self.log.calls[op as usize]) {
                    return Err(Some(op));
                }
                self.passed += 1;
                (op, self.log.acts[op as usize].by)
            }
            _ => {
                let op = self.heaps.pop(&mut self.open).ok_or(None)?;
                (op, self.increments.amount)
            }
        };
        let step = self.counts.len() as u32 - 1;
        self.observer.takes_effect(op, Some(step));
        self.counts.push(count + by);
        Ok(())
    }
}

/// The operations that were called before the failing return; those that returned later are seen as pending. Reads that forced
/// nothing are left out. What open increments found is known only from their returns, so the cut is the last of these.
fn contradiction(log: &Log<Count>, stuck: Stuck, forcing: Vec<u32>) -> Contradiction {
    let failed = log.rets[stuck.op as usize];
    let is_increment = |op: &u32| log.acts[*op as usize].by != 0;
    let cut = log
        .called_before(failed)
        .filter(|op| is_increment(op) && log.acts[*op as usize].seen.is_some())
        .chain(stuck.late)
        .map(|op| log.rets[op as usize])
        .filter(|&ret| ret != NEVER)
        .fold(failed, u32::max);
    let mut ops = forcing;
    ops.push(stuck.op);
    ops.extend(log.called_before(cut).filter(is_increment));
    ops.sort_unstable();
    ops.dedup();
    Contradiction {
        kind: ViolationKind::Miscounted,
        ops,
        cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::{self, Model, Subject};
    use crate::spec::{self, CounterOp};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    /// How many of ten operations are increments that return nothing (untold), and that return the count (told).
    struct Use {
        untold: u32,
        told: u32,
        amounts: i64,
    }

    impl Model for Use {
        type Act = Count;
        type Spec = spec::Counter;

        fn spec(&self) -> spec::Counter {
            spec::Counter { initial: 3 }
        }

        fn op(&self, act: Count, _: u32) -> CounterOp {
            match act {
                Count { by: 0, .. } => CounterOp::Get,
                Count { by, seen: None } => CounterOp::Add(by),
                Count { by, seen: Some(_) } => CounterOp::FetchAdd(by),
            }
        }

        fn ret(&self, act: Count, _: u32) -> Value {
            act.seen.map_or(Value::Nil, Value::Int)
        }
    }

    impl Subject for Use {
        fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Count, u32)> {
            let noise = [0, 0, 0, 2][rng.random_range(0..4)];
            let untold = rng.random_range(1..=self.amounts);
            let mut count = 3;
            let one = |_| {
                let kind = rng.random_range(0..10);
                let seen = Some(count + rng.random_range(-noise..=noise));
                let act = if kind < self.untold {
                    Count {
                        by: untold,
                        seen: None,
                    }
                } else if kind < self.untold + self.told {
                    let by = rng.random_range(1..=self.amounts);
                    Count { by, seen }
                } else {
                    Count { by: 0, seen }
                };
                count += act.by;
                (act, 0)
            };
            (0..ops).map(one).collect()
        }

        fn may_be_pending(&self, act: Count) -> bool {
            act.by != 0
        }

        fn may_move(&self, _: Count) -> bool {
            true
        }
    }

    fn assert_agrees(untold: u32, told: u32, amounts: i64) {
        let subject = Use {
            untold,
            told,
            amounts,
        };
        testing::assert_agrees(&subject, &Counter { initial: 3 });
    }

    #[test]
    fn increments_and_reads_agree_with_the_reference() {
        assert_agrees(6, 0, 1);
        assert_agrees(6, 0, 3);
    }

    #[test]
    fn fetching_increments_agree_with_the_reference() {
        assert_agrees(0, 10, 1);
        assert_agrees(0, 7, 3);
    }

    #[test]
    fn mixtures_agree_with_the_reference() {
        assert_agrees(4, 3, 1);
        assert_agrees(4, 3, 3);
    }

    #[test]
    fn what_is_not_exact_is_not_decided() {
        let reason = |amounts: [i64; 2], initial| {
            let acts = amounts.map(|by| Count { by, seen: None });
            let log = Log::new(acts.to_vec(), Vec::new(), vec![0, 2], vec![1, 3]);
            let why = Counter { initial }.decide(&log).err();
            why.map(|NotApplicable(why)| why)
        };
        assert_eq!(reason([1, 1], 0), None);
        assert_eq!(reason([1, -1], 0), Some("the counter falls"));
        assert_eq!(
            reason([1, 2], 0),
            Some("increments differ in their amounts")
        );
        assert_eq!(
            reason([1, 1], i64::MAX - 1),
            Some("the counter may overflow")
        );
    }
}
