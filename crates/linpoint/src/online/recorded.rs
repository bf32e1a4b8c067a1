//! Explains a recorded violation by what the online monitor of the object finds.
//!
//! A check so makes the same claim as an [`OnlineChecker`](super::OnlineChecker) that is given the same events.

use std::sync::{Arc, OnceLock};

use super::{Observable, Observed, Online, Op, OpFacts, Stop, Time, explains, monitor};
use crate::claim::Claim;
use crate::engine::{Budget, Facts, TaskOp};
use crate::history::{EventKind, NEVER, OpId};
use crate::spec::{DecodeError, Kind, Role};

/// What the monitor finds wrong with the last event of a history.
#[derive(Debug)]
pub(crate) struct Explained {
    /// The claim.
    pub(crate) claim: Claim,
    /// The operations that the claim names, and some that show what it says, in the order of their calls.
    pub(crate) ops: Vec<OpId>,
}

/// The operations of a recorded history, as a monitor sees them: the result of an operation is its role.
struct Roles(Kind);

impl Observable for Roles {
    type Process = u32;
    type Call = OpId;
    type Ret = Role;

    fn kind(&self) -> Option<Kind> {
        Some(self.0.clone())
    }

    fn facts(&self, _: &u32, _: &OpId, role: Option<&Role>) -> Result<OpFacts, DecodeError> {
        Ok(OpFacts {
            key: None,
            role: role.cloned().unwrap_or(Role::Opaque),
            is_pure: false,
        })
    }

    fn describe(
        _: &u32,
        id: &OpId,
        _: Option<&Role>,
        f: &mut std::fmt::Formatter<'_>,
    ) -> std::fmt::Result {
        write!(f, "operation {}", id.0)
    }
}

/// A monitor that is given the operations of a recorded history.
struct Follower<'f> {
    facts: &'f dyn Facts,
    never_returns: &'f dyn Fn(OpId) -> bool,
    object: Arc<Roles>,
    monitor: Box<dyn Online<Roles>>,
    /// The operations that were called, by their place.
    called: Vec<Option<Op<Roles>>>,
}

impl Follower<'_> {
    fn event(&mut self, place: usize, kind: EventKind, now: Time) -> Result<(), Stop<Roles>> {
        let op = self.facts.ops()[place];
        match kind {
            EventKind::Call => self.call(place, op, now),
            EventKind::Return => {
                let Some(observed) = self.called[place].take() else {
                    return Ok(());
                };
                let role = self.facts.role(op);
                // The result is set once: an operation returns once.
                let _ = observed.result.set(role.clone());
                self.monitor.ret(&observed, &role, now)?;
                // An online checker forgets such a monitor.
                if self.monitor.is_blank()
                    && let Some(monitor) = monitor(&self.object.0, &self.object)
                {
                    self.monitor = monitor;
                }
                Ok(())
            }
        }
    }

    fn call(&mut self, place: usize, op: TaskOp, now: Time) -> Result<(), Stop<Roles>> {
        let pending_role = self.facts.role(op.relaxed());
        if pending_role == Role::Opaque && !self.facts.is_pure(op.relaxed()) {
            return Err(Stop::cannot_tell("what an operation does is not known"));
        }
        let observed = Arc::new(Observed {
            process: place as u32,
            call: op.id,
            called: now,
            pending_role,
            result: OnceLock::new(),
        });
        self.called[place] = Some(Arc::clone(&observed));
        self.monitor.call(&observed)?;
        if self.facts.is_pure(op.relaxed()) && (self.never_returns)(op.id) {
            self.monitor.crash(&observed);
        }
        Ok(())
    }
}

/// What the monitor of the object finds wrong with the last event of a history; `None` if there is no monitor, or if it
/// does not find the violation at this event.
///
/// `never_returns` tells the operations apart that are pending for ever, not only at this event.
pub(crate) fn explain(
    facts: &dyn Facts,
    never_returns: &dyn Fn(OpId) -> bool,
    budget: &Budget,
) -> Option<Explained> {
    let kind = facts.kind().filter(|kind| explains(kind))?;
    let object = Arc::new(Roles(kind.clone()));
    let mut follower = Follower {
        facts,
        never_returns,
        monitor: monitor(&object.0, &object)?,
        object,
        called: vec![None; facts.ops().len()],
    };
    let mut events: Vec<(u32, usize, EventKind)> = Vec::new();
    for (place, op) in facts.ops().iter().enumerate() {
        events.push((op.call, place, EventKind::Call));
        if op.ret != NEVER {
            events.push((op.ret, place, EventKind::Return));
        }
    }
    events.sort_unstable_by_key(|(rank, ..)| *rank);
    let last = events.pop()?;
    let mut now = 0;
    for &(_, place, kind) in &events {
        now += 1;
        if now % 1024 == 0 {
            budget.check().ok()?;
        }
        follower.event(place, kind, now).ok()?;
    }
    let Err(Stop::Violation { claim, others, .. }) = follower.event(last.1, last.2, now + 1) else {
        return None;
    };
    let mut ops: Vec<OpId> = others.iter().map(|op| op.call).collect();
    let claim = claim.map(&|op: Op<Roles>| op.call);
    ops.extend(claim.op());
    ops.sort_unstable();
    ops.dedup();
    Some(Explained { claim, ops })
}
