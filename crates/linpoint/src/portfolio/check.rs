//! Checking a history: split, decide each part, certify, merge.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use rayon::prelude::*;

use super::columns::{self, ByColumns, Findings};
use super::{Config, Cores, EngineChoice, Witnesses, guided};
use crate::engine::monitor::{self, Decision, Monitored, Refusal, Suspect};
use crate::engine::{
    Answer, Budget, Facts, GaveUp, Task, TaskOp, Ticker, brute, count_events, hitting, search,
};
use crate::error::Error;
use crate::history::{History, NEVER, OpId, Part, TypedHistory, partition};
use crate::spec::{Object, Spec};
use crate::value::Value;
use crate::verdict::{
    self, Known, Limit, PartReport, Report, Undecided, Verdict, Violation, Witness, certify,
};

/// Checks histories.
///
/// ```
/// use linpoint::spec::{Register, RegisterOp};
/// use linpoint::{Checker, TypedHistory, Value, Verdict};
///
/// // A write returns, then a read still sees the old value.
/// let mut history = TypedHistory::new();
/// let write = history.call(0, RegisterOp::Write(1.into()));
/// history.ret(write, Value::Nil);
/// let read = history.call(1, RegisterOp::Read);
/// history.ret(read, Value::Nil);
///
/// let register = Register { initial: Value::Nil, cas: false };
/// let report = Checker::default().check(&register, &history)?;
/// let Verdict::Violation(violation) = report.verdict else { panic!("that is no register") };
/// assert_eq!(violation.core.ops, [write, read]);
/// # Ok::<(), linpoint::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Checker {
    config: Config,
}

impl Checker {
    /// A checker that works as `config` says.
    pub fn new(config: Config) -> Self {
        Checker { config }
    }

    /// How this checker works.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A budget with the limits of the configuration, starting now.
    pub fn budget(&self) -> Budget {
        Budget::new(self.config.timeout, self.config.memory)
    }

    /// Decides whether `history` is linearizable with respect to `spec`.
    ///
    /// The only error is a failed certificate, a bug in linpoint or a specification that breaks its contract.
    pub fn check<S: Spec>(
        &self,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
    ) -> Result<Report, Error> {
        let describe = |id: OpId| {
            let action = history.action(id);
            match &action.ret {
                Some(ret) => format!(
                    "{:?} → {ret:?} by process {}",
                    action.op,
                    history.process(id)
                ),
                None => format!("{:?} by process {}", action.op, history.process(id)),
            }
        };
        self.check_decoded(spec, &history.interned(), &self.budget(), &describe)
    }

    /// Decides a recorded history: from its columns where that is possible, decoded otherwise. `describe` names operations in
    /// explanations.
    pub(crate) fn check_recorded<S: Object>(
        &self,
        object: &S,
        history: &History,
        budget: &Budget,
        describe: &(dyn Fn(OpId) -> String + Sync),
    ) -> Result<Report, Error> {
        let known = self.on_threads(|| columns::check(object, history, &self.config, budget))?;
        let findings = match known {
            ByColumns::Undecided(findings) => findings,
            ByColumns::Linearizable(parts) => {
                return Ok(Report {
                    verdict: merge(history.calls(), &parts),
                    parts,
                    skipped: 0,
                });
            }
        };
        let typed = TypedHistory::decode(object, history)?;
        self.run(object, &typed, budget, describe, &findings)
    }

    /// Does some work with as many threads as the configuration allows. On a thread of a pool already, that pool is used: a
    /// thread that waited for another one would take up more and more of the caller's work meanwhile, each on top of the last.
    fn on_threads<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        let threads = match self.config.threads {
            Some(threads) if rayon::current_thread_index().is_none() => threads,
            _ => return work(),
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let failed = |error| Error::usage(format!("{threads} threads cannot be started: {error}"));
        pool.map_err(failed)?.install(work)
    }

    /// The same for a history whose equal actions are numbered alike; `describe` names operations in explanations.
    pub(crate) fn check_decoded<S: Spec>(
        &self,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
        budget: &Budget,
        describe: &(dyn Fn(OpId) -> String + Sync),
    ) -> Result<Report, Error> {
        self.run(spec, history, budget, describe, &Findings::default())
    }

    fn run<S: Spec>(
        &self,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
        budget: &Budget,
        describe: &(dyn Fn(OpId) -> String + Sync),
        findings: &Findings,
    ) -> Result<Report, Error> {
        let run = Run {
            spec,
            history,
            budget,
            describe,
            config: &self.config,
            findings,
        };
        self.on_threads(|| run.report_all())
    }
}

/// One check of one history.
struct Run<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    budget: &'a Budget,
    describe: &'a (dyn Fn(OpId) -> String + Sync),
    config: &'a Config,
    /// What is known of the history already.
    findings: &'a Findings,
}

/// How long the violations of one history may be reduced and explained, all together.
const EXPLANATION_TIME: Duration = Duration::from_secs(1);

/// How a part was decided.
struct Decided {
    answer: Result<Answer, GaveUp>,
    engine: &'static str,
    reason: String,
    /// See [`PartReport::shown_by`].
    shown_by: Option<usize>,
}

impl<'a, S: Spec> Run<'a, S> {
    fn report_all(&self) -> Result<Report, Error> {
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
        // The first part with a violation. Earlier ones are decided in any case, so that it does not depend on the
        // threads which one that is.
        let first_bad = AtomicUsize::new(usize::MAX);
        // All verdicts come first: explaining one violation must not take the time that another part needs.
        let decided = in_parallel(parts.len(), &|i| {
            if i > first_bad.load(Relaxed) {
                return None;
            }
            let task = Task::new(self.spec, self.history, &parts[i].ops);
            let decided = self.decide_within_limits(&task);
            if matches!(decided.answer, Ok(Answer::NotLinearizable { .. }))
                && !self.config.all_parts
            {
                first_bad.fetch_min(i, Relaxed);
            }
            Some((task, decided))
        });
        let looked_at = parts.len().min(first_bad.into_inner().saturating_add(1));
        let explanation = self.budget.slice(EXPLANATION_TIME);
        let reports = in_parallel(looked_at, &|i| {
            let decided = decided[i].as_ref();
            let (task, decided) =
                decided.expect("bug: a part before the first violation was skipped");
            self.report(&parts[i], task, decided, &explanation)
        });
        let reports: Vec<PartReport> = reports.into_iter().collect::<Result<_, _>>()?;
        Ok(Report {
            verdict: merge(self.history.calls(), &reports),
            parts: reports,
            skipped: parts.len() - looked_at,
        })
    }

    fn decide_within_limits(&self, task: &Task<'a, S>) -> Decided {
        // Engines look at their limits now and then; one that is over from the start is to be seen at once.
        let memory = || {
            self.config
                .memory
                .map_or(Ok(()), |_| self.budget.reserve(0))
        };
        match self.budget.check().and_then(|()| memory()) {
            Ok(()) => {
                if let Some(answer) = self.findings.answer(task) {
                    return Decided {
                        answer: Ok(answer),
                        engine: monitor::NAME,
                        reason: self.findings.reason().into(),
                        shown_by: None,
                    };
                }
                let wants_order = self.config.witnesses == Witnesses::Certified;
                self.decide(task, wants_order, self.budget)
            }
            Err(limit) => Decided {
                answer: Err(GaveUp { limit, reached: 0 }),
                engine: match self.config.engine {
                    EngineChoice::Brute => brute::NAME,
                    EngineChoice::Monitor => monitor::NAME,
                    EngineChoice::Hitting => hitting::NAME,
                    EngineChoice::Guided => guided::NAME,
                    EngineChoice::Auto | EngineChoice::Search => search::NAME,
                },
                reason: "the limit was over before it could begin".into(),
                shown_by: None,
            },
        }
    }

    fn decide(&self, task: &Task<'a, S>, wants_order: bool, budget: &Budget) -> Decided {
        let asked_for = |engine, answer| Decided {
            answer,
            engine,
            reason: "asked for".into(),
            shown_by: None,
        };
        match self.config.engine {
            EngineChoice::Brute => asked_for(brute::NAME, decide_by_brute(task, budget)),
            EngineChoice::Search => asked_for(search::NAME, search::decide(task, budget)),
            EngineChoice::Guided => {
                let (answer, shown_by) = guided::decide(task, budget);
                Decided {
                    shown_by,
                    ..asked_for(guided::NAME, answer)
                }
            }
            EngineChoice::Hitting => {
                let (answer, shown_by) = hitting::decide(task, self.config.depth_max, budget);
                Decided {
                    shown_by,
                    ..asked_for(hitting::NAME, answer)
                }
            }
            EngineChoice::Monitor | EngineChoice::Auto => {
                match decide_by_monitor(task, wants_order, budget) {
                    Ok(decided) => decided,
                    Err(refusal) if self.config.engine == EngineChoice::Monitor => {
                        let limit = Limit::Engine(refusal);
                        asked_for(monitor::NAME, Err(GaveUp { limit, reached: 0 }))
                    }
                    Err(refusal) => Decided {
                        answer: search::decide(task, budget),
                        engine: search::NAME,
                        reason: format!("{refusal}: {}", search::reason(task)),
                        shown_by: None,
                    },
                }
            }
        }
    }

    /// Certifies an answer and makes a verdict of it.
    fn report(
        &self,
        part: &Part,
        task: &Task<'a, S>,
        decided: &Decided,
        explanation: &Budget,
    ) -> Result<PartReport, Error> {
        let verdict = match &decided.answer {
            Ok(Answer::Linearizable(_)) if self.config.witnesses == Witnesses::Omitted => {
                Verdict::Linearizable(Witness::default())
            }
            Ok(Answer::Linearizable(order)) => {
                certify::witness(task, order)?;
                Verdict::Linearizable(Witness {
                    order: order.clone(),
                })
            }
            Ok(Answer::NotLinearizable {
                partial,
                reached,
                suspects,
                first_bad,
            }) => Verdict::Violation(match self.config.cores {
                Cores::Whole => Violation::unreduced(task, partial.clone(), *first_bad),
                Cores::Reduced => {
                    let decide = |ops: &[TaskOp], budget: &Budget| {
                        self.decide(&task.with_ops(ops.to_vec()), true, budget)
                            .answer
                    };
                    let known = Known {
                        reached: *reached,
                        partial,
                        suspects: suspects.as_deref(),
                    };
                    verdict::violation(
                        task,
                        known,
                        explanation,
                        self.budget,
                        &decide,
                        self.describe,
                    )?
                }
            }),
            Err(GaveUp { limit, reached }) => Verdict::Undecided(Undecided {
                limit: *limit,
                engine: decided.engine,
                prefix_events: *reached,
                events: task.events(),
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
            shown_by: decided.shown_by,
        })
    }
}

/// Decides by a monitor, or says why none can.
fn decide_by_monitor(
    task: &dyn Facts,
    wants_order: bool,
    budget: &Budget,
) -> Result<Decided, &'static str> {
    let decided = Monitored::admit(task).and_then(|monitored| {
        budget.reserve_for(task.ops().len(), monitor::BYTES)?;
        let reason = format!(
            "the {} monitor decides it in log-linear time",
            monitored.name()
        );
        Ok((monitored.decide(wants_order, budget)?, reason))
    });
    let op = |position: u32| task.ops()[position as usize];
    let (answer, reason) = match decided {
        Err(Refusal::HandOn(why)) => return Err(why),
        Err(Refusal::Limit(limit)) => (
            Err(GaveUp { limit, reached: 0 }),
            "the monitors were at work".into(),
        ),
        Ok((Decision::Linearizable(order), reason)) => (
            Ok(Answer::Linearizable(
                order
                    .unwrap_or_default()
                    .into_iter()
                    .map(|at| op(at).id)
                    .collect(),
            )),
            reason,
        ),
        Ok((Decision::Violation(suspects), reason)) => {
            (Ok(not_linearizable(task, &suspects, None)), reason)
        }
        Ok((Decision::FirstViolation(suspects), reason)) => {
            let returns = suspects.iter().filter(|suspect| !suspect.is_open);
            let last = returns.map(|suspect| op(suspect.position).ret).max();
            (Ok(not_linearizable(task, &suspects, last)), reason)
        }
    };
    if answer.is_ok() {
        let events = count_events(task.ops()) as u64;
        budget.progress().done.fetch_add(events, Relaxed);
    }
    Ok(Decided {
        answer,
        engine: monitor::NAME,
        reason,
        shown_by: None,
    })
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

/// The results of `work` for `0..count`, in that order, on all threads. Not generic in the specification, so compiled once.
fn in_parallel<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    // Waking another thread takes longer than most small histories do.
    if count == 1 {
        return vec![work(0)];
    }
    (0..count).into_par_iter().map(work).collect()
}

fn decide_by_brute<S: Spec>(task: &Task<'_, S>, budget: &Budget) -> Result<Answer, GaveUp> {
    let mut ticker = Ticker::new(budget);
    match brute::try_all_orders(task, &mut || ticker.tick()) {
        Ok(Some(order)) => Ok(Answer::Linearizable(order)),
        Ok(None) => Ok(Answer::nothing_fits()),
        Err(limit) => Err(GaveUp { limit, reached: 0 }),
    }
}

/// Any violation wins; else any undecided part; else the history is linearizable.
fn merge(calls: &[u32], parts: &[PartReport]) -> Verdict {
    let first = |wanted: fn(&Verdict) -> bool| {
        parts
            .iter()
            .map(|part| &part.verdict)
            .find(|verdict| wanted(verdict))
    };
    let decisive = first(|verdict| matches!(verdict, Verdict::Violation(_)))
        .or_else(|| first(|verdict| matches!(verdict, Verdict::Undecided(_))));
    if let Some(verdict) = decisive {
        return verdict.clone();
    }
    // Each operation takes effect right after the latest call among itself and those before it in its part. These moments
    // ascend within a part and lie within the operations, so sorting by them merges the parts.
    let mut moments: Vec<(u32, OpId)> = Vec::with_capacity(calls.len());
    for part in parts {
        if let Verdict::Linearizable(witness) = &part.verdict {
            let mut moment = 0;
            moments.extend(witness.order.iter().map(|&id| {
                moment = moment.max(calls[id.index()]);
                (moment, id)
            }));
        }
    }
    if parts.len() > 1 {
        moments.sort_by_key(|&(moment, _)| moment);
    }
    Verdict::Linearizable(Witness {
        order: moments.into_iter().map(|(_, id)| id).collect(),
    })
}
