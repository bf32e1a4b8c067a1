//! `linpoint check`: decide histories and show the evidence.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use linpoint::condition::{Depth, Diagnosis};
use linpoint::engine::Budget;
use linpoint::format::{RecordedHistory, write_jsonl};
use linpoint::{
    Checker, Config, Cores, EngineChoice, Error, ErrorKind, History, ObjectType, OnViolation,
    Partitioning, Report, Verdict, Witnesses,
};

use super::{conditions, levels};
use crate::advice;
use crate::args::CheckArgs;
use crate::exit::{Exit, is_broken_pipe};
use crate::files::{Files, Output};
use crate::interrupt;
use crate::output::github::GithubReport;
use crate::output::html::HtmlReport;
use crate::output::junit::JunitReport;
use crate::output::proof::ProofFile;
use crate::output::{Printer, Summary, witness};
use crate::pools::Pools;
use crate::progress::Watcher;
use crate::results::Checked;
use crate::source::{TypeChoice, object_of, with_advice, with_methods};
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
    let mut open = |option: &str, path: &Option<PathBuf>| {
        let path = path.as_deref();
        let created = path.map(|path| files.create(option, path)).transpose()?;
        anyhow::Ok(created.map(|output| match args.quiet {
            true => output,
            false => output.announced(),
        }))
    };
    let witness = open("--witness", &args.witness)?;
    let proof = open("--proof", &args.proof)?;
    let html = open("--html", &args.html)?;
    let junit = open("--junit", &args.junit)?;
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
    let (memory, timeout) = (args.limits.memory, args.limits.timeout);
    args.input.read(memory, timeout, &mut |recorded| {
        let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(run)) = (&failed, run.as_mut())
            && !run.limits.stop.load(Relaxed)
        {
            failed = run.add(recorded).err();
        }
    });
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

/// What is made for each history.
#[derive(Clone, Copy)]
enum Evidence {
    /// The report.
    Report,
    /// The report, and a proof of its verdict.
    Proof,
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

struct Run {
    chosen: Option<TypeChoice>,
    limits: Limits,
    pools: Pools,
    batch: Vec<Result<RecordedHistory, Error>>,
    batch_ops: usize,
    watcher: Watcher,
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
    /// of the input.
    fn flush(&mut self) -> anyhow::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_ops = 0;
        let budgets: Vec<OnceLock<Budget>> = batch.iter().map(|_| OnceLock::new()).collect();
        let done_before = self.summary.histories();
        let (limits, chosen) = (&self.limits, self.chosen.as_ref());
        let watcher = &self.watcher;
        let printer = Mutex::new(&mut self.printer);
        let check = |(recorded, budget): (Result<RecordedHistory, Error>, &OnceLock<Budget>)| {
            // The time of a history goes on here, when nothing else is to be done before it.
            let reading = recorded.as_ref().map_or(Duration::ZERO, |of| of.reading);
            let budget = budget.get_or_init(|| limits.budget().after(reading));
            let outcome = recorded
                .and_then(|recorded| with_least_ops(recorded, limits.min_ops))
                .and_then(|recorded| check_one(recorded, chosen, limits, budget));
            let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
            let printed = watcher.without_bar(|| printer.print_decided(&outcome));
            (outcome, printed)
        };
        let pairs = batch.into_iter().zip(&budgets).collect();
        let threads = rayon::current_num_threads();
        let check_all = || self.pools.map(threads, pairs, check);
        let checked = self.watcher.watch(done_before, &budgets, check_all);
        self.watcher.clear();
        for (checked, printed) in checked? {
            self.summary.count(&checked);
            printed?;
            self.printer.print_in_order(&checked)?;
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
            if let Some(github) = &mut self.github {
                github.add(&checked, self.printer.out())?;
            }
        }
        Ok(())
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
fn with_least_ops(recorded: RecordedHistory, least: usize) -> Result<RecordedHistory, Error> {
    let ops = recorded.history.len();
    if ops >= least {
        return Ok(recorded);
    }
    let reason = format!(
        "it holds {}, and --min-ops asks for {least} at least",
        counted(ops, "operation")
    );
    Err(recorded.locate(Error::malformed(reason)))
}

fn check_one(
    recorded: RecordedHistory,
    chosen: Option<&TypeChoice>,
    limits: &Limits,
    budget: &Budget,
) -> Result<Checked, Error> {
    let started = Instant::now();
    let (choice, object) = object_of(&recorded, chosen)?;
    let is_guess = chosen.is_none() && recorded.object_type.is_none();
    let history = &recorded.history;
    let running = choice.running(budget);
    let checked = limits
        .checker
        .check_recorded_within(&object, history, budget);
    let time = started.elapsed();
    let proven = checked.and_then(|report| {
        let proof = match limits.evidence {
            Evidence::Report => None,
            Evidence::Proof => {
                let specification = choice.specification();
                let label = recorded.label();
                Some(object.prove(&label, specification, history, &report, budget)?)
            }
        };
        let diagnosis = diagnose(&object, history, &report, limits, budget)?;
        // Without a reduced core, the work on a violation is to be as little as possible.
        let mut found = Vec::new();
        found.extend(advice::unknown_start(&choice));
        if let Verdict::Violation(violation) = &report.verdict
            && limits.checker.config().cores == Cores::Reduced
        {
            found.extend(advice::initial_value(&choice, history, violation, budget));
            found.extend(advice::overdraft(&choice, history, budget));
            found.extend(advice::pairs(&recorded));
            if chosen.is_none() {
                found.extend(advice::any_order(&choice, &recorded, budget));
            }
            if is_guess {
                found.extend(advice::other_lock(&choice));
            }
        }
        Ok((report, proof, diagnosis, found))
    });
    drop(running);
    match proven {
        Ok((report, proof, diagnosis, advice)) => Ok(Checked {
            recorded,
            type_name: choice.name,
            object,
            report,
            proof,
            diagnosis,
            advice,
            time,
            time_left: budget.left(),
        }),
        Err(error) if error.kind() == ErrorKind::Bug && choice.info().is_none() => {
            Err(recorded.locate(broken_contract(&choice, &error)))
        }
        Err(error) if error.kind() == ErrorKind::Bug => {
            Err(recorded.locate(save_evidence(&recorded, &choice, error)))
        }
        Err(error) => {
            let error = with_advice(with_methods(error, &choice));
            Err(recorded.locate(match is_guess {
                true => guessed_wrongly(error, &choice),
                false => error,
            }))
        }
    }
}

/// What still holds of a history that is not linearizable, if that is to be told.
fn diagnose(
    object: &ObjectType,
    history: &History,
    report: &Report,
    limits: &Limits,
    budget: &Budget,
) -> Result<Option<Diagnosis>, Error> {
    /// The time for what is told unasked.
    const SHORT: Duration = Duration::from_millis(200);
    /// Longer histories are looked at only if that is asked for.
    const MOST_OPS: usize = 200_000;
    let is_bad = matches!(report.verdict, Verdict::Violation(_));
    let depth = limits.diagnosis.filter(|depth| match depth {
        Depth::Short => {
            history.len() <= MOST_OPS && limits.checker.config().cores == Cores::Reduced
        }
        Depth::All => true,
    });
    let Some(depth) = depth.filter(|_| is_bad && !history.ends_stuck()) else {
        return Ok(None);
    };
    let time = match depth {
        Depth::Short => SHORT,
        Depth::All => budget.left(),
    };
    let budget = budget.slice(time);
    limits
        .checker
        .diagnose(object, history, depth, &budget)
        .map(Some)
}

/// Adds to an error about an operation that its type is a guess, which may be what is wrong.
fn guessed_wrongly(error: Error, choice: &TypeChoice) -> Error {
    if error.kind() != ErrorKind::Malformed {
        return error;
    }
    let (reason, name) = (error.reason(), &choice.name);
    let reason =
        format!("{reason}; that its type is {name} is a guess from the methods: --type names it");
    error.with_reason(reason)
}

/// A failed certificate with a specification of the user: it says something that is not so.
fn broken_contract(choice: &TypeChoice, error: &Error) -> Error {
    let name = &choice.name;
    Error::specification(format!(
        "{name}: it breaks a contract, so there is no verdict ({}): `linpoint spec test {name}` finds out which",
        error.reason()
    ))
}

/// A failed certificate is a bug in linpoint: the history that shows it must not be lost.
fn save_evidence(recorded: &RecordedHistory, choice: &TypeChoice, error: Error) -> Error {
    let path = format!("linpoint-bug-{}.jsonl", std::process::id());
    let save = || {
        let mut out = Files::default().create("the report of a bug", Path::new(&path))?;
        write_jsonl(&recorded.history, choice.named(), &mut out)?;
        out.finish()
    };
    let saved = save();
    let where_to = match saved {
        Ok(()) => format!("the history was saved as {path}"),
        Err(_) => "the history could not be saved".to_owned(),
    };
    Error::bug(format!(
        "bug in linpoint: {}; {where_to}, please report it",
        error.reason()
    ))
}
