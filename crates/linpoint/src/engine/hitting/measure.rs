//! Measures the depths of a history, and evaluates a family on it: its sizes and its least schedule that explains the history.

use super::enumerate::{MOST_MEMBERS, enumerate};
use super::runs::{Runs, StateSets};
use super::{Base, Delayed, Family, Measured, Poset, Shown, ShownBy, depth, width};
use crate::engine::{Answer, Budget, Cause, GaveUp, Limit, Task, Ticker, search};
use crate::error::Error;
use crate::spec::Spec;

/// The three numbers of a history; see the [module](super).
#[derive(Clone, Debug)]
pub struct Depths {
    /// The order that breaks ties in the canonical family.
    pub base: Base,
    /// The least d whose family contains a schedule that explains the history, and that schedule.
    pub shown_by: Measured<Shown>,
    /// The linearizability depth.
    pub depth: Measured<Delayed>,
    /// The width.
    pub width: Measured<usize>,
}

impl Depths {
    /// Measures all three, up to `most`. Each may take a third of the time.
    pub fn measure<S: Spec>(
        task: &Task<'_, S>,
        base: Base,
        most: usize,
        budget: &Budget,
    ) -> Depths {
        let family = Family {
            base,
            ..Family::default()
        };
        match is_linearizable(task, budget) {
            Err(limit) => Depths {
                base,
                shown_by: Measured::Unknown(limit),
                depth: Measured::Unknown(limit),
                width: Measured::Unknown(limit),
            },
            Ok(false) => Depths {
                base,
                shown_by: Measured::Never,
                depth: Measured::Never,
                width: Measured::Never,
            },
            Ok(true) => Depths {
                base,
                shown_by: ShownBy::new(task, family).up_to(most, &budget.slice(budget.left() / 3)),
                depth: depth(task, most, &budget.slice(budget.left() / 2)),
                width: width(task, base, budget),
            },
        }
    }
}

/// The evaluation of a family on a history.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Whether the history is linearizable, by the general search.
    pub linearizable: Result<bool, Limit>,
    /// The numbers of distinct schedules of the families, from d = 1 on; fewer entries if a limit was hit.
    pub sizes: Vec<usize>,
    /// The least d whose family contains a schedule that explains the history.
    pub shown_by: Measured<usize>,
    /// The number of schedules that were tried.
    pub schedules: usize,
}

/// The most operations of a history whose schedules are enumerated. The enumeration recurses once for each operation.
const MOST_OPS: usize = 1000;

/// The largest d of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The largest d.
    pub d: usize,
    /// The largest d for linearizable histories that no smaller family explains.
    pub further_d: usize,
}

impl Evaluation {
    /// Enumerates all schedules of a family and searches for one that explains the history; `poset` is the order of its
    /// operations.
    pub fn of<S: Spec>(
        task: &Task<'_, S>,
        poset: &Poset,
        family: Family,
        extent: Extent,
        budget: &Budget,
    ) -> Result<Evaluation, Error> {
        if poset.len() > MOST_OPS {
            let reason = format!("more than {MOST_OPS} operations: too many to make all schedules");
            return Err(Error::malformed(reason));
        }
        let linearizable = is_linearizable(task, budget);
        let mut evaluation = Evaluation {
            linearizable,
            sizes: Vec::new(),
            shown_by: Measured::Above(extent.d),
            schedules: 0,
        };
        let mut runs = StateSets::new(task);
        if let Err(limit) = evaluation.look(&mut runs, poset, family, extent.d, budget) {
            evaluation.shown_by = Measured::Unknown(limit);
        }
        if linearizable == Ok(false) {
            if evaluation.shown_by.known().is_some() {
                return Err(Error::bug("a schedule explains what is not linearizable"));
            }
            evaluation.shown_by = Measured::Never;
        }
        let sizes = evaluation.sizes.clone();
        for d in extent.d + 1..=extent.further_d {
            if linearizable != Ok(true) || !matches!(evaluation.shown_by, Measured::Above(_)) {
                break;
            }
            if let Err(limit) = evaluation.look(&mut runs, poset, family, d, budget) {
                evaluation.shown_by = Measured::Unknown(limit);
            }
        }
        evaluation.sizes = sizes;
        Ok(evaluation)
    }

    fn look(
        &mut self,
        runs: &mut dyn Runs,
        poset: &Poset,
        family: Family,
        d_max: usize,
        budget: &Budget,
    ) -> Result<(), Limit> {
        let d_max = d_max.min(MOST_MEMBERS);
        let mut least = None;
        let mut schedules = 0;
        let found = enumerate(
            poset,
            family,
            d_max,
            &mut Ticker::new(budget),
            &mut |d, order| {
                schedules += 1;
                if least.is_none_or(|least| d < least) && explains(runs, order) {
                    least = Some(d);
                }
            },
        )?;
        self.schedules += schedules;
        self.sizes = (1..=d_max).map(|d| found.size(d)).collect();
        self.shown_by = least.map_or(Measured::Above(d_max), Measured::Is);
        Ok(())
    }
}

/// Whether a schedule explains the history.
pub(super) fn explains(runs: &mut dyn Runs, order: &[u32]) -> bool {
    let mut states = runs.start();
    order.iter().all(|&op| match runs.step(states, op) {
        Some(next) => {
            states = next;
            true
        }
        None => false,
    })
}

/// Whether the history is linearizable, by the general search.
fn is_linearizable<S: Spec>(task: &Task<'_, S>, budget: &Budget) -> Result<bool, Limit> {
    match search::decide(task, budget) {
        Ok(Answer::Linearizable { .. }) => Ok(true),
        Ok(Answer::NotLinearizable { .. }) => Ok(false),
        Err(GaveUp { cause, .. }) => match cause {
            Cause::Limit(limit) => Err(limit),
            other => unreachable!("bug: the general search gave up without a limit: {other:?}"),
        },
    }
}
