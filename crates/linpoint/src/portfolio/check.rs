//! Checking a history: split, decide each part, certify, merge.

use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::{Config, Cores, EngineChoice};
use crate::engine::{Answer, Budget, GaveUp, Task, brute, search};
use crate::error::Error;
use crate::history::{OpId, Part, TypedHistory, partition};
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::{
    self, Limit, PartReport, Report, Undecided, Verdict, Violation, Witness, certify,
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

    /// The same for a history whose equal actions are numbered alike; `describe` names operations in explanations.
    pub(crate) fn check_decoded<S: Spec>(
        &self,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
        budget: &Budget,
        describe: &(dyn Fn(OpId) -> String + Sync),
    ) -> Result<Report, Error> {
        let parts = partition(spec, history, self.config.partitioning);
        let run = PartRun {
            spec,
            history,
            budget,
            describe,
            engine: self.config.engine,
            cores: self.config.cores,
        };
        let decide_all = || {
            parts
                .par_iter()
                .map(|part| run.report(part))
                .collect::<Result<Vec<_>, _>>()
        };
        let events: usize = parts
            .iter()
            .map(|part| Task::new(spec, history, &part.ops).events())
            .sum();
        budget.progress().total.fetch_add(events as u64, Relaxed);
        let parts = match self.config.threads {
            None => decide_all(),
            Some(threads) => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|error| {
                    Error::usage(format!("{threads} threads cannot be started: {error}"))
                })?
                .install(decide_all),
        }?;
        Ok(Report {
            verdict: merge(history.calls(), &parts),
            parts,
        })
    }
}

/// What all parts of one check have in common.
struct PartRun<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    budget: &'a Budget,
    describe: &'a (dyn Fn(OpId) -> String + Sync),
    engine: EngineChoice,
    cores: Cores,
}

impl<'a, S: Spec> PartRun<'a, S> {
    fn report(&self, part: &Part) -> Result<PartReport, Error> {
        let task = Task::new(self.spec, self.history, &part.ops);
        let (engine, reason) = match self.engine {
            EngineChoice::Brute => ("brute", "asked for".to_owned()),
            EngineChoice::Search => (search::NAME, "asked for".to_owned()),
            EngineChoice::Auto => (search::NAME, search::reason(&task)),
        };
        let decide = |task: &Task<'a, S>, budget: &Budget| match self.engine {
            EngineChoice::Brute => decide_by_brute(task),
            EngineChoice::Auto | EngineChoice::Search => search::decide(task, budget),
        };
        let verdict = match decide(&task, self.budget) {
            Ok(Answer::Linearizable(order)) => {
                certify::witness(&task, &order)?;
                Verdict::Linearizable(Witness { order })
            }
            Ok(Answer::NotLinearizable { partial, .. }) if self.cores == Cores::Whole => {
                Verdict::Violation(Violation::unreduced(&task, partial))
            }
            Ok(Answer::NotLinearizable { partial, reached }) => {
                let budget = self.budget.slice(1.0, EXPLANATION_TIME);
                Verdict::Violation(verdict::violation(
                    &task,
                    reached,
                    partial,
                    &budget,
                    &decide,
                    self.describe,
                )?)
            }
            Err(GaveUp { limit, reached }) => Verdict::Undecided(Undecided {
                limit,
                engine,
                prefix_events: reached,
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
            reason,
        })
    }
}

/// How long a violation may be reduced and explained.
const EXPLANATION_TIME: std::time::Duration = std::time::Duration::from_secs(10);

/// Steps of the reference before it gives up: minutes at most.
const BRUTE_STEPS: u64 = 1 << 32;

fn decide_by_brute<S: Spec>(task: &Task<'_, S>) -> Result<Answer, GaveUp> {
    match brute::try_all_orders(task, BRUTE_STEPS) {
        brute::Found::Order(order) => Ok(Answer::Linearizable(order)),
        brute::Found::Nothing => Ok(Answer::NotLinearizable {
            partial: Vec::new(),
            reached: 0,
        }),
        brute::Found::TooLarge => Err(GaveUp {
            limit: Limit::Steps(BRUTE_STEPS),
            reached: 0,
        }),
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
