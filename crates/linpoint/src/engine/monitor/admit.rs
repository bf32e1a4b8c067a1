//! From the operations of a task to the monitor that decides them.

use super::container::{Ambiguous, ContainerMonitor, Multiset};
use super::{
    ContradictingOp, Decision, Effect, Evidence, Finding, Log, Monitor, NotApplicable, Source,
    choose, slot, snapshot,
};
use crate::engine::{Budget, Cause, Facts, TaskOp};
use crate::history::NEVER;
use crate::spec::{Discipline, Kind, Role};
use crate::value::{Value, ValueTable};

/// A task, translated for the monitor that decides it.
pub(crate) struct Monitored(Box<dyn Prepared>);

impl Monitored {
    /// The monitor for a task, or why there is none.
    pub(crate) fn admit(task: &dyn Facts) -> Result<Self, NotApplicable> {
        let Some(kind) = task.kind() else {
            return Err(NotApplicable("no monitor knows this object"));
        };
        choose(kind, FromTask(task)).map(Monitored)
    }

    /// What kind of object the monitor decides.
    pub(crate) fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Decides the task, with a linearization if one is wanted; positions are those of the task.
    pub(crate) fn decide(self, evidence: Evidence, budget: &Budget) -> Result<Decision, Cause> {
        self.0.decide(evidence, budget)
    }
}

/// Operations that are ready to be decided.
pub(super) trait Prepared {
    fn name(&self) -> &'static str;

    /// Decides them; positions are those of the task.
    fn decide(self: Box<Self>, evidence: Evidence, budget: &Budget) -> Result<Decision, Cause>;
}

/// A log for a monitor.
pub(super) struct PreparedLog<M: Monitor> {
    monitor: M,
    log: Log<M::Act>,
    /// The positions of the log's operations in the task. Operations that cannot matter are not in the log.
    positions: Vec<u32>,
}

impl<M: Monitor> PreparedLog<M> {
    /// The log of some operations, given by their positions in the task and what they do. Returns why the monitor cannot
    /// decide them, if it cannot.
    pub(super) fn new(
        monitor: M,
        ops: impl Iterator<Item = (u32, TaskOp, Effect)>,
    ) -> Result<Self, NotApplicable> {
        let (mut acts, mut values) = (Vec::new(), Vec::new());
        let (mut calls, mut rets, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for (position, op, effect) in ops {
            let reading = monitor.read(effect)?;
            acts.push(reading.act);
            values.extend(reading.value);
            calls.push(op.call);
            rets.push(op.ret);
            positions.push(position);
        }
        Ok(PreparedLog {
            monitor,
            log: Log::new(acts, values, calls, rets),
            positions,
        })
    }
}

impl<M: Monitor> Prepared for PreparedLog<M> {
    fn name(&self) -> &'static str {
        self.monitor.name()
    }

    fn decide(self: Box<Self>, evidence: Evidence, _: &Budget) -> Result<Decision, Cause> {
        let PreparedLog {
            monitor,
            log,
            positions,
        } = *self;
        Ok(match monitor.judge(&log, evidence)? {
            Finding::Linearizable(order) => Decision::Linearizable(order.map(|order| {
                let positions = order.into_iter().map(|op| positions[op as usize]);
                positions.collect()
            })),
            Finding::Violation(contradiction) => {
                let contradicting = |&op: &u32| ContradictingOp {
                    position: positions[op as usize],
                    is_pending: log.rets[op as usize] > contradiction.cut,
                };
                Decision::Violation(contradiction.ops.iter().map(contradicting).collect())
            }
        })
    }
}

/// The operations of a task.
struct FromTask<'a>(&'a dyn Facts);

impl Source for FromTask<'_> {
    type Answer = Box<dyn Prepared>;

    fn container(self, discipline: Discipline) -> Result<Self::Answer, NotApplicable> {
        let mut values = ValueTable::default();
        let mut ops = Ambiguous::default();
        for (position, op) in relevant(self.0) {
            let effect = Effect::of(self.0.role(op), |value| values.intern(value.into()));
            ops.push(position, op, effect)?;
        }
        // Multisets need to know neither which insertion a value is from nor what pending removals removed.
        if discipline == Discipline::Any && !ops.has_empties() {
            let (log, positions) = ops.without_pending_removals();
            return Ok(Box::new(PreparedLog {
                monitor: Multiset,
                log,
                positions,
            }));
        }
        let monitor = ContainerMonitor::new(discipline, values.items());
        Ok(Box::new(ops.prepared(monitor)))
    }

    fn slot(self, initial: &Value) -> Result<Self::Answer, NotApplicable> {
        slot::prepare(self.0, initial)
    }

    fn plain<M: Monitor + 'static>(self, monitor: M) -> Result<Self::Answer, NotApplicable> {
        let mut values = ValueTable::default();
        let ops = relevant(self.0).map(|(position, op)| {
            let effect = Effect::of(self.0.role(op), |value| values.intern(value.into()));
            (position, op, effect)
        });
        Ok(Box::new(PreparedLog::new(monitor, ops)?))
    }

    fn snapshot(self) -> Result<Self::Answer, NotApplicable> {
        Ok(Box::new(snapshot::Case::new(self.0)?))
    }
}

/// The operations that can matter, with their positions: pending ones that change nothing do not. Of an object with a limit,
/// those without a role that change nothing are left out too, since only the limit tells whether they are right.
pub(crate) fn relevant(task: &dyn Facts) -> impl Iterator<Item = (u32, TaskOp)> + '_ {
    let is_limited = matches!(task.kind(), Some(Kind::Limited(_)));
    let is_left_out =
        move |op: TaskOp| op.ret == NEVER || is_limited && task.role(op) == Role::Opaque;
    (0u32..)
        .zip(task.ops().iter().copied())
        .filter(move |(_, op)| !(is_left_out(*op) && task.is_pure(*op)))
}
