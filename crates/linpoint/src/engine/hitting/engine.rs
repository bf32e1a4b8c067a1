//! Decides histories by hitting families, from small families to large ones.

use super::{Family, Measured, NAME, Shown, ShownBy};
use crate::engine::{Answer, Budget, Cause, Engine, Evidence, Outcome, Task};
use crate::spec::Spec;

/// The engine that searches families for a schedule that explains a history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hitting {
    /// The largest d; no limit by default.
    pub(crate) d_max: Option<usize>,
}

impl<S: Spec> Engine<S> for Hitting {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decide(&self, task: &Task<'_, S>, _: Evidence, budget: &Budget) -> Outcome {
        task.erased(|task| self.decide_erased(task, budget))
    }
}

impl Hitting {
    fn decide_erased<S: Spec>(&self, task: &Task<'_, S>, budget: &Budget) -> Outcome {
        let d_max = self.d_max.unwrap_or(usize::MAX);
        let mut shown_by = ShownBy::new(task, Family::default());
        let answer = match shown_by.up_to(d_max, budget) {
            Measured::Is(Shown { d, order }) => Ok(Answer::Linearizable {
                order,
                shown_by: Some(d),
            }),
            Measured::Never => Ok(Answer::nothing_fits()),
            Measured::Above(d) => Err(shown_by.gave_up(Cause::Depth(d))),
            Measured::Unknown(limit) => Err(shown_by.gave_up(Cause::Limit(limit))),
        };
        Outcome {
            answer,
            method: "looked at schedules that delay few operations first".into(),
        }
    }
}
