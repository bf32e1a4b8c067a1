//! The checker: takes histories, gives reports.

use super::Config;
use super::columns::{self, ByColumns, Findings};
use super::merge::merge;
use super::run::Check;
use crate::engine::{Budget, Shortcut, Shortcuts};
use crate::error::Error;
use crate::history::{History, OpId, Partitioning, TypedHistory};
use crate::spec::{Recorded, Spec, unless_failed};
use crate::verdict::Report;

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
/// assert_eq!(violation.core.ops(), [write, read]);
/// # Ok::<(), linpoint::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Checker {
    config: Config,
    shortcuts: Shortcuts,
}

impl Checker {
    /// A checker that works as `config` says.
    pub fn new(config: Config) -> Self {
        Checker {
            config,
            shortcuts: Shortcuts::default(),
        }
    }

    /// A checker that does not save work in this way. Verdicts are the same, as tests can tell.
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, shortcut: Shortcut) -> Self {
        self.shortcuts = self.shortcuts.without(shortcut);
        self
    }

    /// A checker that saves work in the same ways and works as `config` says.
    pub(crate) fn configured(&self, config: Config) -> Self {
        Checker {
            config,
            shortcuts: self.shortcuts,
        }
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
    /// An error is a [failed](Spec::failure) specification, or a failed certificate: a bug in linpoint or a specification that
    /// breaks its contract.
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
    pub(crate) fn check_history<S: Recorded>(
        &self,
        object: &S,
        history: &History,
        budget: &Budget,
        describe: &(dyn Fn(OpId) -> String + Sync),
    ) -> Result<Report, Error> {
        let findings = match self.check_columns(object, history, budget)? {
            ByColumns::Undecided(findings) => findings,
            ByColumns::Linearizable(parts) => {
                return Ok(Report {
                    verdict: merge(history.calls(), &parts),
                    parts,
                    skipped: 0,
                    // Columns are gathered by object; keys are never looked at.
                    partitioning: Partitioning::ByObject,
                });
            }
        };
        /// What a decoded operation takes, apart from its values.
        const BYTES: u64 = 48;
        let allowed = budget.reserve_for(history.len(), BYTES);
        allowed.map_err(Error::limit)?;
        let typed = TypedHistory::decode_within(object, history, &budget.of_memory())?;
        self.run(object, &typed, budget, describe, &findings)
    }

    fn check_columns<S: Recorded>(
        &self,
        object: &S,
        history: &History,
        budget: &Budget,
    ) -> Result<ByColumns, Error> {
        // Columns do not tell which operations wait.
        if !self.shortcuts.has(Shortcut::Columns) || history.ends_stuck() {
            return Ok(ByColumns::Undecided(Findings::default()));
        }
        self.on_threads(|| columns::check(object, history, &self.config, budget))
    }

    /// Does some work with as many threads as the configuration allows. On a thread of a pool already, that pool is
    /// used: a thread that waited for another one would take up more and more of the caller's work meanwhile, each on
    /// top of the last.
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
        let check = Check {
            spec,
            history,
            budget,
            describe,
            config: &self.config,
            shortcuts: self.shortcuts,
            findings,
        };
        let report = self.on_threads(|| match history.ends_stuck() {
            true => check.report_stuck(),
            false => check.report_all(),
        });
        unless_failed(spec, report)
    }
}
