//! Counters that only grow, with increments that tell what they found, increments that do not, and reads.
//!
//! A counter that only grows is at each count once. An increment that found a count is therefore the one that leads away
//! from it; from all other counts some untold increment does. Where the untold ones add the same amount, the counts that
//! the counter goes through are fixed, and what remains is when. Nothing is done until a return forces it, and of the
//! untold increments the one that returns first is taken: the counter is at all times as low as any order can have it,
//! and increments that may stand in for each other differ in their deadlines only. A read is right if its count was
//! passed after its call. A pending increment, told or not, is an untold one without a deadline. O(n log n) for n
//! operations.
//!
//! Untold increments by different amounts make a subset sum of it, and a counter that falls as well may be at a count
//! several times: both are handed on.
//!
//! Tested against the reference, witnesses and contradictions included.

use crate::engine::monitor::structure::{EMPTY, Heap, PairingHeaps};
use crate::engine::monitor::sweep_order::SweepOrder;
use crate::engine::monitor::{Contradiction, Finding, Log, ViolationKind};
use crate::history::NEVER;

/// ViolationKind an operation does to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// ViolationKind it adds; 0 for a read.
    pub by: i64,
    /// The count before it, if it is known. Not of pending operations.
    pub seen: Option<i64>,
}

/// Decides a counter. If that is not possible, why.
pub fn decide(log: &Log<Count>, initial: i64) -> Result<Finding, &'static str> {
    let mut forcing = Forcing(Vec::new());
    Ok(match sweep(log, initial, &mut forcing)? {
        Ok(()) => Finding::Linearizable(()),
        Err(stuck) => Finding::Violation(contradiction(log, stuck, forcing.0)),
    })
}

/// An order that explains everything, if [`decide`] found that there is one.
pub fn witness(log: &Log<Count>, initial: i64) -> Vec<u32> {
    let mut witness = Witness::default();
    let result = sweep(log, initial, &mut witness);
    assert_eq!(result, Ok(Ok(())), "bug: a violation has no witness");
    witness.order.finish()
}

/// Sees what a sweep does.
trait Watch {
    /// The operation changes the count right before the current event.
    fn step(&mut self, op: u32);

    /// The operation changes nothing and takes effect right before the current event.
    fn now(&mut self, op: u32);

    /// The read takes effect right before a step, given by number.
    fn before_step(&mut self, step: usize, read: u32);

    /// This read could not have its result without a step.
    fn forces(&mut self, read: u32);
}

/// A return that forces what cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stuck {
    /// The operation that returns.
    op: u32,
    /// An increment that had to come first but was called later.
    late: Option<u32>,
}

/// A counter, in the course of a sweep.
struct Sweep<'a, W> {
    log: &'a Log<Count>,
    watch: &'a mut W,
    /// All counts so far.
    counts: Vec<i64>,
    increments: Increments,
    /// Untold increments that were called and not yet done.
    open: Heap,
    heaps: PairingHeaps,
    /// How many told increments found less than the count, or are done.
    passed: usize,
}

/// The increments of a log.
struct Increments {
    /// ViolationKind untold ones add.
    amount: i64,
    /// Those that told what they found, by that.
    told: Vec<(i64, u32)>,
}

fn sweep<W: Watch>(
    log: &Log<Count>,
    initial: i64,
    watch: &mut W,
) -> Result<Result<(), Stuck>, &'static str> {
    let increments = Increments::of(log, initial)?;
    let sweep = Sweep {
        log,
        watch,
        counts: vec![initial],
        increments,
        open: EMPTY,
        heaps: PairingHeaps::new(),
        passed: 0,
    };
    Ok(sweep.run())
}

impl Increments {
    fn of(log: &Log<Count>, initial: i64) -> Result<Self, &'static str> {
        let mut amount = 0;
        let mut told = Vec::new();
        let mut sum = initial;
        for (op, &Count { by, seen }) in (0u32..).zip(&log.acts) {
            if by == 0 {
                continue;
            }
            if by < 0 {
                return Err("the counter falls");
            }
            sum = sum.checked_add(by).ok_or("the counter may overflow")?;
            match seen {
                Some(seen) if !log.is_pending(op as usize) => told.push((seen, op)),
                _ if amount != 0 && amount != by => {
                    return Err("increments differ in their amounts");
                }
                _ => amount = by,
            }
        }
        // Stable, since that is fast where most of it is in order, as it is here.
        told.sort();
        Ok(Increments { amount, told })
    }

    /// Whether this told increment is the one that leads away from the count that it found: the first one to find it.
    fn leads_away(&self, seen: i64, op: u32) -> bool {
        let first = self.told.partition_point(|told| told.0 < seen);
        self.told[first] == (seen, op)
    }
}

impl<W: Watch> Sweep<'_, W> {
    fn run(mut self) -> Result<(), Stuck> {
        let log = self.log;
        // How many steps had been done when an operation was called.
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
                None if by == 0 => self.watch.now(op as u32),
                // Deadlines that have passed are met: one that returns is done or is the first one.
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
                        self.watch.forces(op as u32);
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
                        self.watch.now(op as u32);
                    } else {
                        self.watch.before_step(steps, op as u32);
                    }
                }
            }
        }
        Ok(())
    }

    fn count(&self) -> i64 {
        *self.counts.last().expect("bug: a counter has a count")
    }

    /// Leads away from the current count. If that is not possible, the increment that would have to but was not called.
    fn step(&mut self, rank: u32) -> Result<(), Option<u32>> {
        let count = self.count();
        let told = &self.increments.told;
        while told.get(self.passed).is_some_and(|told| told.0 < count) {
            self.passed += 1;
        }
        let (op, by) = match told.get(self.passed) {
            Some(&(seen, op)) if seen == count => {
                if self.log.calls[op as usize] > rank {
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
        self.watch.step(op);
        self.counts.push(count + by);
        Ok(())
    }
}

/// Makes a witness.
#[derive(Default)]
struct Witness {
    order: SweepOrder,
    /// Where in the order the steps are.
    steps: Vec<u32>,
}

impl Watch for Witness {
    fn step(&mut self, op: u32) {
        self.steps.push(self.order.push(op));
    }

    fn now(&mut self, op: u32) {
        self.order.push(op);
    }

    fn before_step(&mut self, step: usize, read: u32) {
        self.order.before(self.steps[step], read);
    }

    fn forces(&mut self, _: u32) {}
}

/// The reads that forced a step.
struct Forcing(Vec<u32>);

impl Watch for Forcing {
    fn step(&mut self, _: u32) {}
    fn now(&mut self, _: u32) {}
    fn before_step(&mut self, _: usize, _: u32) {}
    fn forces(&mut self, read: u32) {
        self.0.push(read);
    }
}

/// The beginning of the log up to the return that cannot be: operations that returned later must be seen as pending. Reads
/// that forced nothing are left out. ViolationKind increments found is known from their returns, so the beginning reaches to the
/// returns of those that were open.
fn contradiction(log: &Log<Count>, stuck: Stuck, forcing: Vec<u32>) -> Contradiction {
    let failed = log.rets[stuck.op as usize];
    let told = |op: &usize| log.acts[*op].by != 0 && log.acts[*op].seen.is_some();
    let called = |cut: u32| (0..log.len()).take_while(move |&op| log.calls[op] < cut);
    let cut = called(failed)
        .filter(told)
        .chain(stuck.late.map(|op| op as usize))
        .map(|op| log.rets[op])
        .filter(|&ret| ret != NEVER)
        .fold(failed, u32::max);
    let mut ops = forcing;
    ops.push(stuck.op);
    ops.extend(
        called(cut)
            .filter(|&op| log.acts[op].by != 0)
            .map(|op| op as u32),
    );
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
    use crate::spec::{Counter, CounterOp};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    /// ViolationKind a counter is used for: how many of ten operations increment untold, and told.
    struct Use {
        untold: u32,
        told: u32,
        amounts: i64,
    }

    impl Model for Use {
        type Act = Count;
        type Spec = Counter;

        fn spec(&self) -> Counter {
            Counter { initial: 3 }
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
        testing::assert_agrees(&subject, |log| decide(log, 3).ok(), |log| witness(log, 3));
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
    fn what_is_not_exact_is_handed_on() {
        let reason = |amounts: [i64; 2], initial| {
            let acts = amounts.map(|by| Count { by, seen: None });
            let log = Log::new(acts.to_vec(), vec![0; 2], vec![0, 2], vec![1, 3]);
            decide(&log, initial).err()
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
