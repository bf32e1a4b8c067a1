//! Guesses what a record of a container leaves open: what pending removals removed, and which insertion a repeated value is
//! from.
//!
//! Ours. The monitors of queues, stacks, priority queues and bags want to know of every removal what it removed, and every
//! value to be added once. Two searches run them on variants of the history:
//!
//! * *Pending removals.* First none of them takes effect. If that is a contradiction, [`pending::assign`] mostly tells what they
//!   removed. Otherwise each contradiction that the monitor finds names values that some pending removal must have removed
//!   if there is a linearization at all; only these are tried ([`removable`] says why).
//!   No greedy assignment is exact: in the stack history `push 2 [0,1]`, `push 7 [2,3]`, `push 5 [4,5]`, `pop ? [6,-]`,
//!   `pop 7 [7,8]`, `pop ? [9,-]`, `pop empty [10,11]`, which is linearizable, the earlier pending removal must not be given
//!   the value that was pushed first.
//! * *Repeated values.* Without all operations on them the history must be linearizable, since deleting all operations on a
//!   value preserves that. Then each insertion gets a value of its own, and every other operation on the value is tried
//!   with each insertion that was called before it returned.
//!
//! Both stop after [`MOST_RUNS`] runs of the monitor, and the history is not decided here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::critical::CriticalIntervals;
use super::pending::{self, Assignment};
use super::{ContainerMonitor, read, stack};
use crate::engine::monitor::admit::Prepared;
use crate::engine::monitor::{
    Act, ContradictingOp, Contradiction, Decision, Effect, Event, Evidence, Finding, Log, Monitor,
    NotApplicable, REPEATED_VALUE, ViolationKind,
};
use crate::engine::{Budget, Cause, TaskOp};
use crate::history::{NEVER, precedes};

/// Operations on a container, in the order of their calls; ranks may have gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ambiguous {
    acts: Vec<Act>,
    values: Vec<u32>,
    calls: Vec<u32>,
    rets: Vec<u32>,
    /// Their positions in the task.
    positions: Vec<u32>,
    /// Pending removals, of which it is not known what they removed.
    pending_removals: Vec<PendingRemoval>,
}

#[derive(Clone, Copy, Debug)]
struct PendingRemoval {
    position: u32,
    call: u32,
}

impl Ambiguous {
    /// Adds the next operation, or returns why no monitor can decide histories with it.
    pub(crate) fn push(
        &mut self,
        position: u32,
        op: TaskOp,
        effect: Effect,
    ) -> Result<(), NotApplicable> {
        if effect == Effect::RemovesUnknown {
            self.pending_removals.push(PendingRemoval {
                position,
                call: op.call,
            });
            return Ok(());
        }
        let reading = read(effect)?;
        let value = reading.value.unwrap_or_default();
        self.push_act(position, reading.act, value, op.call, op.ret);
        Ok(())
    }

    fn push_act(&mut self, position: u32, act: Act, value: u32, call: u32, ret: u32) {
        self.acts.push(act);
        self.values.push(value);
        self.calls.push(call);
        self.rets.push(ret);
        self.positions.push(position);
    }

    /// Whether some operation found the container empty.
    pub(crate) fn has_empties(&self) -> bool {
        self.acts.contains(&Act::Empty)
    }

    /// The log and its positions in the task, as if no pending removal had taken effect.
    pub(crate) fn without_pending_removals(self) -> (Log<Act>, Vec<u32>) {
        let log = Log::new(self.acts, self.values, self.calls, self.rets);
        (log, self.positions)
    }

    /// The operations, to be decided by this monitor.
    pub(crate) fn prepared(self, monitor: ContainerMonitor) -> PreparedContainer {
        PreparedContainer { ops: self, monitor }
    }

    /// The operations on some values, and those without a value.
    fn restricted(&self, is_kept: impl Fn(u32) -> bool) -> Ambiguous {
        let mut restricted = Ambiguous {
            pending_removals: self.pending_removals.clone(),
            ..Ambiguous::default()
        };
        for i in 0..self.acts.len() {
            let (act, value) = (self.acts[i], self.values[i]);
            if act == Act::Empty || is_kept(value) {
                let (position, call, ret) = (self.positions[i], self.calls[i], self.rets[i]);
                restricted.push_act(position, act, value, call, ret);
            }
        }
        restricted
    }

    /// The log in which each pending removal removed the value given for it, and did not take effect if none is given; with
    /// the positions in the task.
    fn log(&self, removed: &[Option<u32>]) -> (Log<Act>, Vec<u32>) {
        let mut removals = self
            .pending_removals
            .iter()
            .zip(removed)
            .filter_map(|(removal, value)| Some((removal, (*value)?)))
            .peekable();
        if removals.peek().is_none() {
            return self.clone().without_pending_removals();
        }
        let mut merged = Ambiguous::default();
        for i in 0..=self.acts.len() {
            let next = self.calls.get(i).copied().unwrap_or(NEVER);
            while let Some((removal, value)) = removals.next_if(|(removal, _)| removal.call < next)
            {
                merged.push_act(removal.position, Act::Remove, value, removal.call, NEVER);
            }
            if i < self.acts.len() {
                let (act, value) = (self.acts[i], self.values[i]);
                merged.push_act(self.positions[i], act, value, next, self.rets[i]);
            }
        }
        merged.without_pending_removals()
    }

    /// What the pending removals removed, where that follows without trying; `log` has all other operations.
    fn assigned(&self, log: &Log<Act>, monitor: &ContainerMonitor) -> Assignment {
        let Ok(intervals) = CriticalIntervals::of(log) else {
            return Assignment::Unknown;
        };
        let rank = |event: &Event| match event.is_return() {
            true => self.rets[event.op()],
            false => self.calls[event.op()],
        };
        let last_before = |removal: &PendingRemoval| {
            let before = |event: &Event| rank(event) < removal.call;
            log.events().partition_point(before).saturating_sub(1) as u32
        };
        let calls: Vec<u32> = self.pending_removals.iter().map(last_before).collect();
        pending::assign(log, &intervals, monitor, &calls)
    }

    /// The values that are added more than once, with the indices of all operations on them.
    fn repeated_values(&self) -> BTreeMap<u32, Vec<usize>> {
        let distinct = self.values.iter().map(|&value| value as usize + 1).max();
        let mut added = vec![0u8; distinct.unwrap_or(0)];
        for (&act, &value) in self.acts.iter().zip(&self.values) {
            if act == Act::Add {
                added[value as usize] = added[value as usize].saturating_add(1);
            }
        }
        let mut repeated: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        if added.iter().any(|&times| times > 1) {
            for i in (0..self.acts.len()).filter(|&i| self.acts[i] != Act::Empty) {
                if added[self.values[i] as usize] > 1 {
                    repeated.entry(self.values[i]).or_default().push(i);
                }
            }
        }
        repeated
    }
}

/// Operations on a container, and the monitor that decides them.
pub(crate) struct PreparedContainer {
    ops: Ambiguous,
    monitor: ContainerMonitor,
}

impl Prepared for PreparedContainer {
    fn name(&self) -> &'static str {
        self.monitor.name()
    }

    fn decide(self: Box<Self>, evidence: Evidence, budget: &Budget) -> Result<Decision, Cause> {
        let PreparedContainer { ops, monitor } = *self;
        let mut search = Search {
            evidence,
            budget,
            runs: 0,
            work: 0,
            contradicting: BTreeSet::new(),
        };
        let repeated = ops.repeated_values();
        if repeated.is_empty() {
            return search.with_distinct_values(&ops, &monitor);
        }
        let rest = ops.restricted(|value| !repeated.contains_key(&value));
        match search.with_distinct_values(&rest, &monitor)? {
            Decision::Linearizable(_) => search.with_repeated_values(ops, monitor, &repeated),
            violation => Ok(violation),
        }
    }
}

/// How often the monitor may run on one history.
const MOST_RUNS: u64 = 1000;

/// How many operations all runs together may look at: some seconds.
const MOST_WORK: u64 = 1 << 26;

/// A search over variants of a history.
struct Search<'a> {
    evidence: Evidence,
    budget: &'a Budget,
    runs: u64,
    work: u64,
    /// Positions in the task of all operations that were part of a contradiction in some run.
    contradicting: BTreeSet<u32>,
}

/// What the monitor found out about one variant.
enum Variant {
    Linearizable(Option<Vec<u32>>),
    Violation {
        log: Log<Act>,
        positions: Vec<u32>,
        contradiction: Contradiction,
    },
}

/// What a search over variants found out.
enum Resolution {
    /// One of them is linearizable; with an order of positions in the task if one was asked for.
    Linearizable(Option<Vec<u32>>),
    /// None is.
    Violation,
}

impl Search<'_> {
    /// Runs the monitor on the variant in which pending removals removed the given values.
    fn run(
        &mut self,
        ops: &Ambiguous,
        monitor: &ContainerMonitor,
        removed: &[Option<u32>],
    ) -> Result<Variant, Cause> {
        self.budget.check()?;
        self.runs += 1;
        self.work += ops.acts.len() as u64;
        if self.runs > MOST_RUNS || (self.runs > 8 && self.work > MOST_WORK) {
            let why = "too many ways to tell what pending removals or repeated values stand for";
            return Err(NotApplicable(why).into());
        }
        let (log, positions) = ops.log(removed);
        let position = |op: &u32| positions[*op as usize];
        Ok(match monitor.judge(&log, self.evidence)? {
            Finding::Linearizable(order) => {
                Variant::Linearizable(order.map(|order| order.iter().map(position).collect()))
            }
            Finding::Violation(contradiction) => {
                let ops = contradiction.ops.iter().map(position);
                self.contradicting.extend(ops);
                Variant::Violation {
                    log,
                    positions,
                    contradiction,
                }
            }
        })
    }

    /// Decides a history in which every value is added once.
    fn with_distinct_values(
        &mut self,
        ops: &Ambiguous,
        monitor: &ContainerMonitor,
    ) -> Result<Decision, Cause> {
        let mut removed = vec![None; ops.pending_removals.len()];
        let (log, contradiction, positions) = match self.run(ops, monitor, &removed)? {
            Variant::Linearizable(order) => return Ok(Decision::Linearizable(order)),
            Variant::Violation {
                log,
                positions,
                contradiction,
            } => (log, contradiction, positions),
        };
        if ops.pending_removals.is_empty() || contradiction.kind.is_about_one_value() {
            let contradicting = |&op: &u32| ContradictingOp::whole(positions[op as usize]);
            let ops = contradiction.ops.iter().map(contradicting);
            return Ok(Decision::Violation(ops.collect()));
        }
        match ops.assigned(&log, monitor) {
            Assignment::Removes(values) => {
                if let Variant::Linearizable(order) = self.run(ops, monitor, &values)? {
                    return Ok(Decision::Linearizable(order));
                }
                debug_assert!(false, "bug: a wrong assignment of pending removals");
            }
            Assignment::Likely(mut values) => {
                let resolution = self.assign(ops, monitor, &mut values)?;
                if let Resolution::Linearizable(order) = resolution {
                    return Ok(Decision::Linearizable(order));
                }
            }
            Assignment::Contradiction(contradicting) => {
                let positions = contradicting.iter().map(|&op| positions[op as usize]);
                self.contradicting = positions.collect();
                return Ok(self.violation(ops));
            }
            Assignment::Unknown => {}
        }
        Ok(match self.assign(ops, monitor, &mut removed)? {
            Resolution::Linearizable(order) => Decision::Linearizable(order),
            Resolution::Violation => self.violation(ops),
        })
    }

    /// All operations that were part of a contradiction, and the pending removals: mostly these are not linearizable by
    /// themselves.
    fn violation(&self, ops: &Ambiguous) -> Decision {
        let pending = ops.pending_removals.iter().map(|removal| removal.position);
        let ops: BTreeSet<u32> = self.contradicting.iter().copied().chain(pending).collect();
        Decision::Violation(ops.into_iter().map(ContradictingOp::whole).collect())
    }

    /// Looks for values that the remaining pending removals may have removed.
    fn assign(
        &mut self,
        ops: &Ambiguous,
        monitor: &ContainerMonitor,
        removed: &mut Vec<Option<u32>>,
    ) -> Result<Resolution, Cause> {
        let (log, positions, contradiction) = match self.run(ops, monitor, removed)? {
            Variant::Linearizable(order) => return Ok(Resolution::Linearizable(order)),
            Variant::Violation {
                log,
                positions,
                contradiction,
            } => (log, positions, contradiction),
        };
        let Removable { values, before } = removable(monitor, &log, &contradiction);
        // The ranks of the log have no gaps; the comparison below needs those of the task.
        let before = before.map_or(NEVER, |op| {
            let index = ops.positions.binary_search(&positions[op as usize]);
            index.map_or(NEVER, |index| ops.rets[index])
        });
        for value in values {
            for i in 0..removed.len() {
                if removed[i].is_none() && !precedes(before, ops.pending_removals[i].call) {
                    removed[i] = Some(value);
                    let resolution = self.assign(ops, monitor, removed)?;
                    if let Resolution::Linearizable(_) = resolution {
                        return Ok(resolution);
                    }
                    removed[i] = None;
                }
            }
        }
        Ok(Resolution::Violation)
    }

    /// Decides a history in which these values are added several times: each insertion gets a value of its own.
    fn with_repeated_values(
        &mut self,
        mut ops: Ambiguous,
        mut monitor: ContainerMonitor,
        repeated: &BTreeMap<u32, Vec<usize>>,
    ) -> Result<Decision, Cause> {
        let all = repeated.values().flatten();
        let about: Vec<u32> = all.map(|&i| ops.positions[i]).collect();
        let mut next = ops.values.iter().max().map_or(0, |&value| value + 1);
        let mut choices = Vec::new();
        let mut ways = 1u64;
        for (&value, indices) in repeated {
            let first = next;
            let mut added = Vec::new();
            for &i in indices.iter().filter(|&&i| ops.acts[i] == Act::Add) {
                monitor.copy_priority(value, next);
                ops.values[i] = next;
                added.push(ops.calls[i]);
                next += 1;
            }
            for &i in indices.iter().filter(|&&i| ops.acts[i] != Act::Add) {
                // The insertions stand in the order of their calls.
                let copies = added.partition_point(|&call| !precedes(ops.rets[i], call)) as u32;
                if copies == 0 {
                    let on_value = indices.iter().map(|&i| ops.positions[i]);
                    self.contradicting.extend(on_value);
                    return Ok(self.violation(&ops));
                }
                ways = ways.saturating_mul(u64::from(copies));
                choices.push(Choice {
                    op: i,
                    copies: first..first + copies,
                });
            }
        }
        if ways > MOST_RUNS {
            return Err(REPEATED_VALUE.into());
        }
        match self.choose(&mut ops, &monitor, &choices)? {
            Resolution::Linearizable(order) => Ok(Decision::Linearizable(order)),
            Resolution::Violation => {
                self.contradicting.extend(about);
                Ok(self.violation(&ops))
            }
        }
    }

    /// Tries all combinations of the choices.
    fn choose(
        &mut self,
        ops: &mut Ambiguous,
        monitor: &ContainerMonitor,
        choices: &[Choice],
    ) -> Result<Resolution, Cause> {
        let Some((first, rest)) = choices.split_first() else {
            return Ok(match self.with_distinct_values(ops, monitor)? {
                Decision::Linearizable(order) => Resolution::Linearizable(order),
                Decision::Violation(_) | Decision::FirstViolation(_) => Resolution::Violation,
            });
        };
        for copy in first.copies.clone() {
            ops.values[first.op] = copy;
            let resolution = self.choose(ops, monitor, rest)?;
            if let Resolution::Linearizable(_) = resolution {
                return Ok(resolution);
            }
        }
        Ok(Resolution::Violation)
    }
}

/// An operation on one of several copies of a value.
struct Choice {
    op: usize,
    copies: Range<u32>,
}

/// What pending removals have to do for a contradiction to go away.
struct Removable {
    /// One of these values must be removed by a pending removal.
    values: Vec<u32>,
    /// It must be removed before the return of this operation.
    before: Option<u32>,
}

/// The values of which a pending removal must have removed one, unless the history is not linearizable.
fn removable(
    monitor: &ContainerMonitor,
    log: &Log<Act>,
    contradiction: &Contradiction,
) -> Removable {
    let none = Removable {
        values: Vec::new(),
        before: None,
    };
    let Ok(intervals) = CriticalIntervals::of(log) else {
        return none;
    };
    let stays = |value: &u32| !intervals.at(*value).is_removed();
    let earliest_first = |values: &mut dyn Iterator<Item = u32>| {
        let mut values: Vec<u32> = values.filter(stays).collect();
        values.sort_unstable_by_key(|&value| intervals.at(value).first_return);
        values
    };
    match contradiction.kind {
        // Every gap in which the operation could have its result is covered by critical values. Gaps before the first value
        // that is never removed are covered by values whose removals are known. So that first value must be removed.
        ViolationKind::NotEmpty(op) | ViolationKind::Overtaken(op) => {
            let (act, value) = (log.acts[op as usize], log.values[op as usize]);
            let covers = |other: &u32| act == Act::Empty || monitor.overtakes(*other, value);
            let all = intervals.iter().map(|(value, _)| value);
            let mut values = earliest_first(&mut all.filter(covers));
            values.truncate(1);
            Removable {
                values,
                before: Some(op),
            }
        }
        ViolationKind::OutOfOrder => {
            let mut involved = contradiction.ops.iter().map(|&op| log.values[op as usize]);
            let mut values = earliest_first(&mut involved);
            values.dedup();
            Removable { values, ..none }
        }
        // The first value that is never removed is covered in every order, unless it is the one whose peek has no gap.
        ViolationKind::Buried => {
            let stuck = stack::eliminate_all(log, &intervals).err();
            let stuck = stuck.map_or_else(Vec::new, |stuck| stuck.values);
            let mut values = earliest_first(&mut stuck.into_iter());
            let is_peeked = |value: u32| intervals.at(value).first_served != NEVER;
            let tried = match values.first() {
                Some(&first) if is_peeked(first) => 2,
                _ => 1,
            };
            values.truncate(tried);
            Removable { values, ..none }
        }
        ViolationKind::NeverAdded
        | ViolationKind::RemovedTwice
        | ViolationKind::SeenBeforeAdded
        | ViolationKind::SeenAfterRemoved
        | ViolationKind::Replaced
        | ViolationKind::WrongState
        | ViolationKind::Crowded
        | ViolationKind::Miscounted
        | ViolationKind::NoPermits => none,
    }
}
