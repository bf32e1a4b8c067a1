//! `linpoint check`: decide histories and show the evidence.

mod in_order;
mod online;
mod resume;
mod stream;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use linpoint::condition::Depth;
use linpoint::engine::Budget;
use linpoint::format::RecordedHistory;
use linpoint::{Checker, Config, Cores, EngineChoice, Error, OnViolation, Partitioning, Witnesses};

use self::in_order::InOrder;
use self::stream::Streaming;
use super::{conditions, levels};
use crate::args::CheckArgs;
use crate::decide::{Evidence, decide};
use crate::exit::{Exit, is_broken_pipe};
use crate::files::{Files, Output};
use crate::interrupt;
use crate::output::github::GithubReport;
use crate::output::html::HtmlReport;
use crate::output::junit::JunitReport;
use crate::output::proof::ProofFile;
use crate::output::{Printer, Summary, witness};
use crate::pools::Pools;
use crate::progress::{StreamProgress, Watcher};
use crate::source::TypeChoice;
use crate::units::counted;

/// Histories are decided in batches, so that many small ones keep all cores busy.
const BATCH_HISTORIES: usize = 512;
const BATCH_OPS: usize = 100_000;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    if args.depth_max.is_some() && args.engine != EngineChoice::Hitting {
        let reason = "--depth-max is for --engine hitting: other engines have no depth";
        return Err(Error::usage(reason).into());
    }
    if let Some(levels) = levels::asked(args)? {
        return levels::run(args, &levels);
    }
    if !args.condition.is_empty() {
        return conditions::run(args, &Checker::new(config(args)));
    }
    args.limits.start_threads()?;
    let stop = interrupt::flag();
    let chosen = args.input.type_choice()?;
    let mut files = Files::reading(&args.input.paths(chosen.as_ref()))?;
    let mut open = |option: &str, path: &Option<PathBuf>, beginning: &str| {
        let path = path.as_deref();
        let created = path.map(|path| files.replace(option, path, beginning));
        let created = created.transpose()?;
        anyhow::Ok(created.map(|output| match args.quiet {
            true => output,
            false => output.announced(),
        }))
    };
    let witness = open("--witness", &args.witness, "{\"operations\":")?;
    let proof = open("--proof", &args.proof, "{\"history\":")?;
    let html = open("--html", &args.html, "<!doctype html>")?;
    let junit = open("--junit", &args.junit, "<?xml")?;
    let github = args.github.then(|| GithubReport::new(&mut files));
    let run = Run {
        chosen,
        limits: Limits {
            checker: Checker::new(config(args)),
            stop: Arc::clone(&stop),
            start: Instant::now(),
            total: args.timeout_total,
            min_ops: args.min_ops,
            diagnosis: match (args.diagnose, args.no_diagnose) {
                (true, _) => Some(Depth::All),
                (_, true) => None,
                _ => Some(Depth::Short),
            },
            evidence: match args.proof {
                Some(_) => Evidence::Proof,
                None => Evidence::Report,
            },
        },
        pools: Pools::default(),
        batch: Vec::new(),
        batch_ops: 0,
        watcher: Watcher::new(),
        progress: Arc::default(),
        printer: Printer::new(args, Output::standard()),
        witness,
        proof: proof.map(ProofFile::new),
        html: html
            .map(|out| HtmlReport::new(out, args.html_limit, args.limits.memory))
            .transpose()?,
        junit: junit.map(JunitReport::new),
        github: github.transpose()?,
        summary: Summary::default(),
    };
    let run = Arc::new(Mutex::new(Some(run)));
    // Unfinished files are removed before the program ends.
    interrupt::end_reading_on(stop, Arc::clone(&run), |mut run| {
        let done = run.finish();
        run.exit(done)
    });
    let mut failed = None;
    let mut add = |recorded| {
        let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(run) = run.as_mut() else {
            return ControlFlow::Break(());
        };
        if failed.is_none() && !run.limits.stop.load(Relaxed) {
            failed = run.add(recorded).err();
        }
        run.summary.is_stopped = run.is_stopped();
        match failed.is_some() || run.limits.stop.load(Relaxed) || run.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    match args.input.options(args.limits.memory, args.limits.timeout) {
        Ok(options) => {
            let streaming = Streaming::new(args, &options, &run)?;
            streaming.read(&mut add)?;
        }
        // Whether more is wanted does not matter: there is no more.
        Err(error) => _ = add(Err(error)),
    }
    let mut run = interrupt::all_is_read(&run);
    let done = match failed {
        Some(error) => Err(error),
        None => run.flush().and_then(|()| run.finish()),
    };
    run.exit(done)
}

/// What the options ask of the checker.
fn config(args: &CheckArgs) -> Config {
    Config {
        timeout: args.limits.timeout,
        memory: args.limits.memory,
        explanation: args.explanation,
        threads: None,
        partitioning: if args.whole {
            Partitioning::ByObject
        } else {
            Partitioning::ByKey
        },
        engine: args.engine,
        depth_max: args.depth_max.map(usize::from),
        on_violation: if args.all {
            OnViolation::Continue
        } else {
            OnViolation::Stop
        },
        witnesses: if args.no_certify {
            Witnesses::Omitted
        } else {
            Witnesses::Certified
        },
        // `--brief` prints one word for each history, so no core is reduced for it.
        cores: if args.brief
            && args.html.is_none()
            && args.junit.is_none()
            && args.proof.is_none()
            && !args.github
        {
            Cores::Whole
        } else {
            Cores::Reduced
        },
    }
}

/// The limits of the work on each history.
struct Limits {
    checker: Checker,
    stop: Arc<AtomicBool>,
    /// When the run began, and how long it may take.
    start: Instant,
    total: Option<Duration>,
    /// The least number of operations of a history.
    min_ops: usize,
    evidence: Evidence,
    /// How far to look for what still holds of histories that are not linearizable.
    diagnosis: Option<Depth>,
}

impl Limits {
    /// A budget for one history, starting now.
    fn budget(&self) -> Budget {
        let budget = self.checker.budget().cancelled_by(Arc::clone(&self.stop));
        match self.total {
            Some(total) => budget.within_total(self.start, total),
            None => budget,
        }
    }
}

/// A run, until it is over. The lock is held while anything is done for it.
type SharedRun = Arc<Mutex<Option<Run>>>;

struct Run {
    chosen: Option<TypeChoice>,
    limits: Limits,
    pools: Pools,
    batch: Vec<Result<RecordedHistory, Error>>,
    batch_ops: usize,
    watcher: Watcher,
    /// How far inputs were read that are read object by object.
    progress: Arc<StreamProgress>,
    printer: Printer,
    witness: Option<Output>,
    proof: Option<ProofFile>,
    html: Option<HtmlReport>,
    junit: Option<JunitReport>,
    github: Option<GithubReport>,
    summary: Summary,
}

impl Run {
    fn add(&mut self, recorded: Result<RecordedHistory, Error>) -> anyhow::Result<()> {
        let ops = recorded
            .as_ref()
            .map_or(0, |recorded| recorded.history.len());
        // A large history has all threads for itself.
        if ops >= BATCH_OPS {
            self.flush()?;
        }
        self.batch_ops += ops;
        self.batch.push(recorded);
        if self.batch.len() >= BATCH_HISTORIES || self.batch_ops >= BATCH_OPS {
            self.flush()?;
        }
        Ok(())
    }

    /// Decides the collected histories. JSON lines are printed as soon as their history is decided, everything else in the order
    /// of the input, as soon as all before it is decided.
    fn flush(&mut self) -> anyhow::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_ops = 0;
        let budgets: Vec<OnceLock<Budget>> = batch.iter().map(|_| OnceLock::new()).collect();
        let done_before = self.summary.histories();
        let (limits, chosen) = (&self.limits, self.chosen.as_ref());
        let watcher = &self.watcher;
        let in_order = InOrder::new(batch.len(), &mut self.printer, self.github.as_mut());
        let check = |(place, (recorded, budget)): (usize, (_, &OnceLock<Budget>))| {
            let recorded: Result<RecordedHistory, Error> = recorded;
            // The time of a history goes on here, when nothing else is to be done before it.
            let reading = recorded.as_ref().map_or(Duration::ZERO, |of| of.reading);
            let budget = budget.get_or_init(|| limits.budget().after(reading));
            let outcome = recorded
                .and_then(|recorded| with_least_ops(recorded, limits.min_ops))
                .and_then(|recorded| {
                    let (checker, evidence) = (&limits.checker, limits.evidence);
                    decide(
                        recorded,
                        chosen,
                        checker,
                        evidence,
                        limits.diagnosis,
                        budget,
                    )
                });
            watcher.without_bar(|| in_order.decided(place, outcome));
        };
        let pairs = batch.into_iter().zip(&budgets).enumerate().collect();
        let threads = rayon::current_num_threads();
        let check_all = || self.pools.map(threads, pairs, check);
        let checked = match self.progress.is_shown() {
            true => check_all(),
            false => self.watcher.watch(done_before, &budgets, check_all),
        };
        self.watcher.clear();
        checked?;
        let (decided, printed) = in_order.finish();
        for checked in &decided {
            self.summary.count(checked);
            self.progress.count_object();
        }
        printed?;
        for checked in decided {
            if let (Some(out), Ok(checked)) = (&mut self.witness, &checked) {
                witness::write(out, checked)?;
            }
            if let (Some(file), Ok(checked)) = (&mut self.proof, &checked) {
                file.add(checked)?;
            }
            if let (Some(html), Ok(checked)) = (&mut self.html, &checked) {
                html.add(checked)?;
            }
            if let Some(junit) = &mut self.junit {
                junit.add(&checked);
            }
        }
        Ok(())
    }

    /// Forgets what was found: it was about parts of objects.
    fn retract(&mut self) {
        self.batch.clear();
        self.batch_ops = 0;
        self.summary.retract();
    }

    /// Whether a violation was found that ends a run which reads object by object.
    fn is_stopped(&self) -> bool {
        self.summary.stops_at_violation && self.summary.violations > 0
    }

    /// The exit code of a run that ended so.
    fn exit(&self, done: anyhow::Result<()>) -> anyhow::Result<Exit> {
        match done {
            // The reader of the standard output closed it; the verdicts found so far still decide the exit code.
            Err(error) if !is_broken_pipe(&error) => Err(error),
            _ => Ok(self.summary.exit()),
        }
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        if self.limits.stop.load(Relaxed) {
            self.summary.interrupted = true;
        }
        if let Some(out) = self.witness.take() {
            out.finish()?;
            if self.summary.linearizable == 0 {
                eprintln!(
                    "linpoint: note: there is no witness, since no history was found to be linearizable"
                );
            }
        }
        if let Some(proof) = self.proof.take() {
            proof.finish()?;
        }
        if let Some(html) = self.html.take() {
            html.finish()?;
        }
        if let Some(junit) = self.junit.take() {
            junit.finish()?;
        }
        if let Some(github) = self.github.take() {
            github.finish()?;
        }
        // Last, because the reader of the standard output may have closed it: the files are complete then.
        Ok(self.printer.finish(&self.summary)?)
    }
}

/// Returns the history, or an error if it has fewer operations than `--min-ops`.
pub(super) fn with_least_ops(
    recorded: RecordedHistory,
    least: usize,
) -> Result<RecordedHistory, Error> {
    match refuse_few(recorded.history.len() as u64, least) {
        Ok(()) => Ok(recorded),
        Err(error) => Err(recorded.locate(error)),
    }
}

fn refuse_few(ops: u64, least: usize) -> Result<(), Error> {
    if ops >= least as u64 {
        return Ok(());
    }
    Err(Error::malformed(format!(
        "it holds {}, and --min-ops asks for {least} at least",
        counted(ops as usize, "operation")
    )))
}
