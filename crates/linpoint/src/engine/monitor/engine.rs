//! The monitors as an engine: admits the kinds that a monitor knows, and puts what it finds into the terms of the task.

use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;

use super::{BYTES, ContradictingOp, Decision, Monitored, NAME, knows};
use crate::engine::{
    Answer, Budget, Cause, End, Engine, Evidence, Facts, GaveUp, NotApplicable, Outcome, Profile,
    Task, TaskOp, count_events,
};
use crate::history::NEVER;
use crate::spec::{Kind, Spec};

/// The polynomial monitors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monitors;

impl<S: Spec> Engine<S> for Monitors {
    fn name(&self) -> &'static str {
        NAME
    }

    fn admits(&self, profile: &Profile) -> Result<(), NotApplicable> {
        match (profile.end, &profile.kind) {
            (End::Blocked, _) => Err(NotApplicable("no monitor knows which operations wait")),
            (End::Returned, Some(kind)) => knows(kind),
            (End::Returned, None) => Err(NotApplicable("no monitor knows this object")),
        }
    }

    fn decide(&self, task: &Task<'_, S>, evidence: Evidence, budget: &Budget) -> Outcome {
        let admitted = Engine::<S>::admits(self, &Profile::of(task));
        decide(task, admitted, evidence, budget)
    }
}

fn decide(
    task: &dyn Facts,
    admitted: Result<(), NotApplicable>,
    evidence: Evidence,
    budget: &Budget,
) -> Outcome {
    let mut method = Cow::Borrowed("the monitors were at work");
    let decided = admitted
        .and_then(|()| Monitored::admit(task))
        .map_err(Cause::from)
        .and_then(|monitored| {
            budget.reserve_for(task.ops().len(), BYTES)?;
            let name = monitored.name();
            let decision = monitored.decide(evidence, budget)?;
            method = format!("the {name} monitor decides it in log-linear time").into();
            Ok(decision)
        });
    let op = |position: u32| task.ops()[position as usize];
    let answer = match decided {
        Err(cause) => Err(GaveUp::from(cause)),
        Ok(Decision::Linearizable(_)) if matches!(task.kind(), Some(Kind::Limited(_))) => {
            let why = NotApplicable("without its limit the object would be linearizable");
            Err(GaveUp::from(Cause::from(why)))
        }
        Ok(Decision::Linearizable(order)) => {
            let order = order.unwrap_or_default().into_iter();
            Ok(Answer::in_order(order.map(|at| op(at).id).collect()))
        }
        Ok(Decision::Violation(contradicting)) => Ok(not_linearizable(task, &contradicting, None)),
        Ok(Decision::FirstViolation(contradicting)) => {
            let returns = contradicting.iter().filter(|found| !found.is_pending);
            let last = returns.map(|found| op(found.position).ret).max();
            Ok(not_linearizable(task, &contradicting, last))
        }
    };
    if answer.is_ok() {
        let events = count_events(task.ops()) as u64;
        budget.progress().done.fetch_add(events, Relaxed);
    }
    Outcome { answer, method }
}

/// The answer of a monitor that found these operations to be contradictory.
fn not_linearizable(
    task: &dyn Facts,
    contradicting: &[ContradictingOp],
    first_bad: Option<u32>,
) -> Answer {
    let seen = |found: &ContradictingOp| match task.ops()[found.position as usize] {
        op if found.is_pending => TaskOp { ret: NEVER, ..op },
        op => op,
    };
    Answer::NotLinearizable {
        partial: Vec::new(),
        reached: 0,
        contradicting: Some(contradicting.iter().map(seen).collect()),
        first_bad,
    }
}
