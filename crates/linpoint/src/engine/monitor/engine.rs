//! The monitors as an engine: admits the kinds that a monitor knows, and puts what it finds into the terms of the task.

use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;

use super::{BYTES, Decision, Monitored, NAME, Suspect, knows};
use crate::engine::{
    Answer, Budget, Cause, Engine, Evidence, Facts, GaveUp, NotApplicable, Outcome, Profile, Task,
    TaskOp, count_events,
};
use crate::history::NEVER;
use crate::spec::Spec;

/// The polynomial monitors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monitors;

impl<S: Spec> Engine<S> for Monitors {
    fn name(&self) -> &'static str {
        NAME
    }

    fn admits(&self, profile: &Profile) -> Result<(), NotApplicable> {
        match &profile.kind {
            Some(kind) => knows(kind),
            None => Err(NotApplicable("no monitor knows this object")),
        }
    }

    fn decide(&self, task: &Task<'_, S>, evidence: Evidence, budget: &Budget) -> Outcome {
        decide(task, evidence, budget)
    }
}

fn decide(task: &dyn Facts, evidence: Evidence, budget: &Budget) -> Outcome {
    let mut method = Cow::Borrowed("the monitors were at work");
    let decided = Monitored::admit(task)
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
        Ok(Decision::Linearizable(order)) => {
            let order = order.unwrap_or_default().into_iter();
            Ok(Answer::in_order(order.map(|at| op(at).id).collect()))
        }
        Ok(Decision::Violation(suspects)) => Ok(not_linearizable(task, &suspects, None)),
        Ok(Decision::FirstViolation(suspects)) => {
            let returns = suspects.iter().filter(|suspect| !suspect.is_open);
            let last = returns.map(|suspect| op(suspect.position).ret).max();
            Ok(not_linearizable(task, &suspects, last))
        }
    };
    if answer.is_ok() {
        let events = count_events(task.ops()) as u64;
        budget.progress().done.fetch_add(events, Relaxed);
    }
    Outcome { answer, method }
}

/// The answer of a monitor that found these operations to be contradictory.
fn not_linearizable(task: &dyn Facts, suspects: &[Suspect], first_bad: Option<u32>) -> Answer {
    let seen = |suspect: &Suspect| match task.ops()[suspect.position as usize] {
        op if suspect.is_open => TaskOp { ret: NEVER, ..op },
        op => op,
    };
    Answer::NotLinearizable {
        partial: Vec::new(),
        reached: 0,
        suspects: Some(suspects.iter().map(seen).collect()),
        first_bad,
    }
}
