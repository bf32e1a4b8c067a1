//! Checking a history: split, decide each part, certify, merge.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rayon::prelude::*;

use super::{Config, Cores, EngineChoice};
use crate::engine::{Answer, Budget, GaveUp, Task, TaskOp, Ticker, brute, search};
use crate::error::Error;
use crate::history::{NEVER, OpId, Part, TypedHistory, partition};
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::{self, PartReport, Report, Undecided, Verdict, Violation, Witness, certify};

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

    /// The same for a history whose equal actions are numbered alike; `describe` names operations in explanations.
    pub(crate) fn check_decoded<S: Spec>(
        &self,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
        budget: &Budget,
        describe: &(dyn Fn(OpId) -> String + Sync),
    ) -> Result<Report, Error> {
        let run = Run {
            spec,
            history,
            budget,
            describe,
            config: &self.config,
        };
        let parts = match self.config.threads {
            None => run.report_all(),
            Some(threads) => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|error| {
                    Error::usage(format!("{threads} threads cannot be started: {error}"))
                })?
                .install(|| run.report_all()),
        }?;
        Ok(Report {
            verdict: merge(history.calls(), &parts),
            parts,
        })
    }
}

/// One check of one history.
struct Run<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    budget: &'a Budget,
    describe: &'a (dyn Fn(OpId) -> String + Sync),
    config: &'a Config,
}

/// How long the violations of one history may be reduced and explained, all together.
const EXPLANATION_TIME: Duration = Duration::from_secs(1);

impl<'a, S: Spec> Run<'a, S> {
    fn report_all(&self) -> Result<Vec<PartReport>, Error> {
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
        let task = |part: &Part| Task::new(self.spec, self.history, &part.ops);
        let tasks: Vec<Task<'a, S>> = parts.iter().map(task).collect();
        // All verdicts come first: explaining one violation must not take the time that another part needs.
        let answers = in_parallel(parts.len(), &|i| {
            // Engines look at their limits now and then; one that is over from the start is to be seen at once.
            let memory = || {
                self.config
                    .memory
                    .map_or(Ok(()), |_| self.budget.reserve(0))
            };
            let limits = self.budget.check().and_then(|()| memory());
            limits.map_err(|limit| GaveUp { limit, reached: 0 })?;
            self.decide(&tasks[i], self.budget)
        });
        let explanation = self.budget.slice(EXPLANATION_TIME);
        let reports = in_parallel(parts.len(), &|i| {
            self.report(&parts[i], &tasks[i], &answers[i], &explanation)
        });
        reports.into_iter().collect()
    }

    fn decide(&self, task: &Task<'a, S>, budget: &Budget) -> Result<Answer, GaveUp> {
        match self.config.engine {
            EngineChoice::Brute => decide_by_brute(task, budget),
            EngineChoice::Auto | EngineChoice::Search => search::decide(task, budget),
        }
    }

    /// Certifies an answer and makes a verdict of it.
    fn report(
        &self,
        part: &Part,
        task: &Task<'a, S>,
        answer: &Result<Answer, GaveUp>,
        explanation: &Budget,
    ) -> Result<PartReport, Error> {
        let (engine, reason) = match self.config.engine {
            EngineChoice::Brute => (brute::NAME, "asked for"),
            EngineChoice::Search => (search::NAME, "asked for"),
            EngineChoice::Auto => (search::NAME, search::reason(task)),
        };
        let verdict = match answer {
            Ok(Answer::Linearizable(order)) => {
                certify::witness(task, order)?;
                Verdict::Linearizable(Witness {
                    order: order.clone(),
                })
            }
            Ok(Answer::NotLinearizable { partial, reached }) => {
                Verdict::Violation(match self.config.cores {
                    Cores::Whole => Violation::unreduced(task, partial.clone()),
                    Cores::Reduced => {
                        let decide = |ops: &[TaskOp], budget: &Budget| {
                            self.decide(&task.with_ops(ops.to_vec()), budget)
                        };
                        verdict::violation(
                            task,
                            *reached,
                            partial.clone(),
                            explanation,
                            &decide,
                            self.describe,
                        )?
                    }
                })
            }
            Err(GaveUp { limit, reached }) => Verdict::Undecided(Undecided {
                limit: *limit,
                engine,
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
            engine,
            reason: reason.to_owned(),
        })
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
        Ok(None) => Ok(Answer::NotLinearizable {
            partial: Vec::new(),
            reached: 0,
        }),
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
