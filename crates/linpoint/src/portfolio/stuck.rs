//! Checks histories that end stuck: looks for a stuck serial witness of every pending operation.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::OnViolation;
use super::columns::Findings;
use super::merge::merge;
use super::run::Check;
use crate::engine::Task;
use crate::error::Error;
use crate::history::{Blocking, Erasure, OpId, Part, distinct_blocked, partition};
use crate::spec::Spec;
use crate::verdict::{PartReport, Report, StuckWitness, Verdict, Witness};

impl<S: Spec> Check<'_, S> {
    /// The report on a history that ends stuck.
    ///
    /// What is not linearizable even if its pending operations may have happened is reported as such. All other parts need a stuck
    /// serial witness for each pending operation.
    pub(super) fn report_stuck(&self) -> Result<Report, Error> {
        let mut report = self.report_all()?;
        let stops = self.config.on_violation == OnViolation::Stop;
        if stops && is_violation(&report.verdict) {
            return Ok(report);
        }
        let erasure = Erasure::of(self.spec, self.history);
        let parts = partition(self.spec, self.history, self.config.partitioning);
        for (i, part) in parts.iter().enumerate() {
            if !matches!(report.parts[i].verdict, Verdict::Linearizable(_)) {
                continue;
            }
            if let Some(found) = self.stuck_part(&erasure, part)? {
                report.parts[i] = found;
            }
            if stops && is_violation(&report.parts[i].verdict) {
                report.parts.truncate(i + 1);
                report.skipped = parts.len() - report.parts.len();
                break;
            }
        }
        report.verdict = merge(self.history.calls(), &report.parts);
        Ok(report)
    }

    /// The report on a part whose pending operations are stuck; `None` if none is pending.
    fn stuck_part(
        &self,
        erasure: &Erasure<'_, S>,
        part: &Part,
    ) -> Result<Option<PartReport>, Error> {
        let mut witnesses = Vec::new();
        let mut last = None;
        for blocked in distinct_blocked(self.history, &part.ops) {
            let mut report = self.blocked(erasure, part, blocked[0])?;
            match &mut report.verdict {
                Verdict::Linearizable(Witness { order, .. }) => {
                    // The pending operation comes last.
                    order.pop();
                    let order = std::mem::take(order);
                    witnesses.push(StuckWitness { blocked, order });
                }
                Verdict::Violation(violation) => {
                    violation.blame(blocked[0], self.describe);
                    return Ok(Some(report));
                }
                Verdict::Undecided(_) => return Ok(Some(report)),
            }
            last = Some(report);
        }
        Ok(last.map(|report| PartReport {
            verdict: Verdict::Linearizable(Witness {
                order: witnesses[0].order.clone(),
                shown_by: None,
                stuck: witnesses,
            }),
            ..report
        }))
    }

    /// Decides whether one pending operation of a part has a stuck serial witness.
    fn blocked(
        &self,
        erasure: &Erasure<'_, S>,
        part: &Part,
        blocked: OpId,
    ) -> Result<PartReport, Error> {
        let spec = Blocking::of(erasure);
        let history = Blocking::history(erasure, blocked);
        let check = Check {
            spec: &spec,
            history: &history,
            budget: self.budget,
            describe: self.describe,
            config: self.config,
            shortcuts: self.shortcuts,
            findings: &Findings::default(),
        };
        let ops = Blocking::ops(self.history, &part.ops, blocked);
        let task = Task::new(&spec, &history, &ops).ending_blocked();
        let task = task.with_shortcuts(self.shortcuts);
        let total = &self.budget.progress().total;
        total.fetch_add(task.events() as u64, Relaxed);
        let decided = check.decide_within_limits(&task);
        let explanation = check.explanation(decided.time);
        let erasure = OnceLock::new();
        let erase = || erasure.get_or_init(|| Erasure::of(&spec, &history));
        let report = check.report(part, &task, &decided, &explanation, &erase)?;
        Ok(PartReport {
            ops: part.ops.len(),
            ..report
        })
    }
}

fn is_violation(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Violation(_))
}
