//! Checks one history: decides every part by its plan, certifies the answers, and turns them into verdicts.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use rayon::prelude::*;

use super::choose::{PlannedEngine, choose, with_engine};
use super::columns::Findings;
use super::merge::merge;
use super::{Config, Cores, EngineChoice, OnViolation, Witnesses};
use crate::engine::monitor;
use crate::engine::{
    Answer, Budget, Cause, Evidence, GaveUp, Limit, Profile, Shortcuts, Stopwatch, Task, TaskOp,
};
use crate::error::Error;
use crate::history::{Erasure, NEVER, OpId, Part, TypedHistory, partition};
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::{
    self, EngineFindings, PartReport, Report, Stuck, Undecided, Verdict, Violation, Witness,
    certify,
};

/// One check of one history.
pub(super) struct Check<'a, S: Spec> {
    pub(super) spec: &'a S,
    pub(super) history: &'a TypedHistory<S::Op, S::Ret>,
    pub(super) budget: &'a Budget,
    pub(super) describe: &'a (dyn Fn(OpId) -> String + Sync),
    pub(super) config: &'a Config,
    pub(super) shortcuts: Shortcuts,
    /// What the columns of the history showed.
    pub(super) findings: &'a Findings,
}

/// The time for reducing and explaining all violations of one history together, besides as much time as deciding took, unless the
/// configuration says otherwise. With the certificates of the cores it is at most a second.
const EXPLANATION_TIME: Duration = Duration::from_millis(750);

/// The result of a plan: the answer of the last engine that was tried.
pub(super) struct Decided {
    answer: Result<Answer, GaveUp>,
    engine: &'static str,
    reason: String,
    /// How long it took.
    pub(super) time: Duration,
}

impl<'a, S: Spec> Check<'a, S> {
    pub(super) fn report_all(&self) -> Result<Report, Error> {
        let parts = partition(self.spec, self.history, self.config.partitioning);
        let returned = self
            .history
            .rets()
            .iter()
            .filter(|&&ret| ret != NEVER)
            .count();
        self.budget
            .progress()
            .total
            .fetch_add((self.history.len() + returned) as u64, Relaxed);
        // The first part with a violation. All earlier parts are decided, so the result does not depend on the schedule of
        // the threads.
        let first_bad = AtomicUsize::new(usize::MAX);
        let deciding = Stopwatch::start();
        // All parts are decided before any violation is explained, so that explanations take no time from other parts.
        let decided = in_parallel(parts.len(), &|i| {
            if i > first_bad.load(Relaxed) {
                return None;
            }
            let task = Task::new(self.spec, self.history, &parts[i].ops);
            let task = task.with_shortcuts(self.shortcuts);
            let decided = self.decide_within_limits(&task);
            if matches!(decided.answer, Ok(Answer::NotLinearizable { .. }))
                && self.config.on_violation == OnViolation::Stop
            {
                first_bad.fetch_min(i, Relaxed);
            }
            Some((task, decided))
        });
        let looked_at = parts.len().min(first_bad.into_inner().saturating_add(1));
        let explanation = self.explanation(deciding.elapsed());
        let erasure = OnceLock::new();
        let reports = in_parallel(looked_at, &|i| {
            let decided = decided[i].as_ref();
            let (task, decided) =
                decided.expect("bug: a part before the first violation was skipped");
            let erase = || erasure.get_or_init(|| Erasure::of(self.spec, self.history));
            self.report(&parts[i], task, decided, &explanation, &erase)
        });
        let reports: Vec<PartReport> = reports.into_iter().collect::<Result<_, _>>()?;
        Ok(Report {
            verdict: merge(self.history.calls(), &reports),
            parts: reports,
            skipped: parts.len() - looked_at,
            partitioning: self.config.partitioning,
        })
    }

    /// The time for explaining what took so long to decide.
    pub(super) fn explanation(&self, deciding: Duration) -> Budget {
        let time = self.config.explanation;
        let time = time.unwrap_or(EXPLANATION_TIME + deciding);
        self.budget.slice_with_grace(time)
    }

    pub(super) fn decide_within_limits(&self, task: &Task<'a, S>) -> Decided {
        let plan = choose::<S>(&Profile::of(task), self.config.engine);
        // Engines check their limits at intervals, so a limit that is exceeded from the start is checked here.
        match self.budget.check() {
            Ok(()) => {
                if let Some(answer) = self.findings.answer(task) {
                    let events = task.events() as u64;
                    self.budget.progress().done.fetch_add(events, Relaxed);
                    return Decided {
                        answer: Ok(answer),
                        engine: monitor::NAME,
                        reason: self.findings.reason().into(),
                        time: Duration::ZERO,
                    };
                }
                let evidence = match self.config.witnesses {
                    Witnesses::Certified => Evidence::Order,
                    Witnesses::Omitted => Evidence::Verdict,
                };
                self.decide(&plan, task, evidence, self.budget)
            }
            Err(limit) => self.nothing_done(&plan, limit),
        }
    }

    /// The result of a plan whose limits were exceeded before it began.
    fn nothing_done(&self, plan: &[PlannedEngine], limit: Limit) -> Decided {
        let Some(step) = plan.first() else {
            unreachable!("bug: a plan is empty");
        };
        Decided {
            answer: Err(GaveUp::from(limit)),
            engine: with_engine::<S, _>(step.engine, self.config, |engine| engine.name()),
            reason: "the limit was over before it could begin".into(),
            time: Duration::ZERO,
        }
    }

    /// Runs the engines of a plan in order until one is applicable.
    fn decide(
        &self,
        plan: &[PlannedEngine],
        task: &Task<'a, S>,
        evidence: Evidence,
        budget: &Budget,
    ) -> Decided {
        let stopwatch = Stopwatch::start();
        let mut passed_over = None;
        for (i, step) in plan.iter().enumerate() {
            passed_over = step.passed_over.map(|why| why.0).or(passed_over);
            let (engine, outcome) = with_engine(step.engine, self.config, |engine| {
                (engine.name(), engine.decide(task, evidence, budget))
            });
            if let Err(GaveUp {
                cause: Cause::NotApplicable(why),
                ..
            }) = outcome.answer
                && i + 1 < plan.len()
            {
                passed_over = Some(why);
                continue;
            }
            let reason = match (self.config.engine, passed_over) {
                (EngineChoice::Auto, Some(why)) => format!("{why}: {}", outcome.method),
                (EngineChoice::Auto, None) => outcome.method.into_owned(),
                _ => step.reason.to_owned(),
            };
            return Decided {
                answer: outcome.answer,
                engine,
                reason,
                time: stopwatch.elapsed(),
            };
        }
        unreachable!("bug: a plan is empty")
    }

    /// Decides reduced histories of `task` for an explanation by a plan.
    ///
    /// Monitors do not look at their time, which is in proportion to the operations. So what they need is known after the
    /// first decision, and nothing is begun that needs more than is left.
    fn decide_reduced<'c>(
        &'c self,
        task: &'c Task<'a, S>,
        decided: &'c Decided,
        explanation: &'c Budget,
    ) -> impl Fn(&[TaskOp], &Budget) -> Result<Answer, GaveUp> + 'c {
        let plan = choose::<S>(&Profile::of(task), self.config.engine);
        let time_of_one = |time: Duration, ops: usize| time.as_secs_f64() / ops.max(1) as f64;
        let slowest = Cell::new(time_of_one(decided.time, task.ops.len()));
        move |ops, budget| {
            let needed = slowest.get() * ops.len() as f64;
            if decided.engine == monitor::NAME && needed > explanation.left().as_secs_f64() {
                explanation.slice(Duration::ZERO).check()?;
            }
            let reduced = task.with_ops(ops.to_vec());
            let decided = self.decide(&plan, &reduced, Evidence::Order, budget);
            // A few operations do not tell how long many take.
            if ops.len() >= task.ops.len() / 2 {
                slowest.set(slowest.get().max(time_of_one(decided.time, ops.len())));
            }
            decided.answer
        }
    }

    /// Certifies an answer and turns it into a verdict.
    pub(super) fn report<'e>(
        &self,
        part: &Part,
        task: &Task<'a, S>,
        decided: &Decided,
        explanation: &Budget,
        erase: &dyn Fn() -> &'e Erasure<'a, S>,
    ) -> Result<PartReport, Error> {
        let verdict = match &decided.answer {
            Ok(Answer::Linearizable { .. }) if self.config.witnesses == Witnesses::Omitted => {
                Verdict::Linearizable(Witness::default())
            }
            Ok(Answer::Linearizable { order, shown_by }) => {
                certify::witness(task, order)?;
                Verdict::Linearizable(Witness {
                    order: order.clone(),
                    shown_by: *shown_by,
                    stuck: Vec::new(),
                })
            }
            Ok(Answer::NotLinearizable {
                partial,
                reached,
                contradicting,
                first_bad,
            }) => Verdict::Violation(match self.config.cores {
                Cores::Whole => Violation::unreduced(task, partial.clone(), *first_bad),
                Cores::Reduced => {
                    let decide = self.decide_reduced(task, decided, explanation);
                    let findings = EngineFindings {
                        reached: *reached,
                        partial,
                        first_bad: *first_bad,
                        contradicting: contradicting.as_deref(),
                    };
                    let erasure = erase();
                    verdict::violation(
                        &task.erased_by(&erasure.spec(), erasure.history()),
                        findings,
                        explanation,
                        self.budget,
                        &decide,
                        self.describe,
                    )?
                }
            }),
            Err(GaveUp {
                cause,
                reached,
                states,
                order,
            }) => Verdict::Undecided(Undecided {
                cause: *cause,
                engine: decided.engine,
                prefix_events: *reached,
                events: task.events(),
                stuck: {
                    let erasure = erase();
                    let spec = erasure.spec();
                    let task = task.erased_by(&spec, erasure.history());
                    Stuck::after(&task, *reached, states, order, explanation)
                },
            }),
        };
        Ok(PartReport {
            object: Value::Nil,
            object_number: part.object,
            key: part.key.clone(),
            ops: part.ops.len(),
            verdict,
            engine: decided.engine,
            reason: decided.reason.clone(),
        })
    }
}

/// Returns the results of `work` for `0..count`, in that order, computed on all threads. The function is not generic in the
/// specification, so it is compiled once for each `T`.
fn in_parallel<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    // Waking another thread takes longer than deciding most small histories.
    if count == 1 {
        return vec![work(0)];
    }
    (0..count).into_par_iter().map(work).collect()
}
