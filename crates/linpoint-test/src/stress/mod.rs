//! Stress tests on OS threads: threads call operations at random, calls and returns are recorded, and linpoint decides the
//! history.
//!
//! The object needs no facade and no controlled scheduler. So code that cannot be ported can be tested, with the weak
//! memory orderings of the processor, in runs of millions of operations. A violation is a proof; a test that passes proves
//! nothing.
//!
//! ```
//! use std::collections::VecDeque;
//! use std::sync::Mutex;
//!
//! linpoint_test::stress(|| Mutex::new(VecDeque::new()))
//!     .op("enq", linpoint_test::fresh, |queue, value| queue.lock().unwrap().push_back(value))
//!     .op0("deq", |queue| queue.lock().unwrap().pop_front())
//!     .object_type("queue")
//!     .threads(2)
//!     .ops(20)
//!     .runs(50)
//!     .run();
//! ```
//!
//! [`stress_spec`] checks against a user's own specification, [`stress_threads`] objects that are several handles, with a program for each
//! thread.
//!
//! A test calls [`runs`](Stress::runs) × [`threads`](Stress::threads) × [`ops`](Stress::ops) operations. Each run has a new
//! object. Many short runs often reach the states near the beginning (empty, one element), and can be decided for any
//! type; a long run needs a type that a monitor decides, and [`fresh`] values. Short runs need at least as many cores as
//! threads, since operations of a microsecond overlap only if their threads run at the same time;
//! [`StressReport::overlapping`] counts the operations that did.

mod programs;
mod random;
mod record;
mod report;
mod value;
mod workload;

pub use linpoint_record::Clock;
pub use programs::{Programs, Running, Smallest, Thread, stress_threads};
pub use random::{Random, fresh};
pub use report::{Failure, Outcome, StressReport};
pub use value::{Arguments, ToValue};
pub use workload::{Named, Specified};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use linpoint::{Checker, Config, Error, Spec, Verdict};

use record::{Interruption, Record, Recording, RunSettings, record};
use workload::{Run, Workload};

use crate::artefact;

/// Returns a stress test of the objects that `make` creates. They are checked against a built-in type of linpoint.
pub fn stress<T: Send + Sync + 'static>(
    make: impl Fn() -> T + Send + Sync + 'static,
) -> Stress<Named<T>> {
    Stress::new(Named::new(make))
}

/// Returns a stress test of the objects that `make` creates. Threads call `ops` at random, by `apply`, and the histories
/// are checked against `spec`.
///
/// ```
/// use linpoint::{Outcomes, Spec};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// /// Hands out numbers, each once.
/// struct Tickets;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// struct Draw;
///
/// impl Spec for Tickets {
///     type Op = Draw;
///     type Ret = u64;
///     type State = u64;
///     fn init(&self) -> u64 { 0 }
///     fn apply(&self, &next: &u64, _: &Draw) -> Outcomes<u64, u64> { Outcomes::One(next, next + 1) }
/// }
///
/// linpoint_test::stress_spec(AtomicU64::default, Tickets, [Draw], |tickets, _| tickets.fetch_add(1, Ordering::Relaxed))
///     .runs(50)
///     .run();
/// ```
pub fn stress_spec<S, T>(
    make: impl Fn() -> T + Send + Sync + 'static,
    spec: S,
    ops: impl IntoIterator<Item = S::Op>,
    apply: impl Fn(&T, &S::Op) -> S::Ret + Send + Sync + 'static,
) -> Stress<Specified<S, T>>
where
    S: Spec<Op: Send + 'static, Ret: Send + 'static> + Send + 'static,
    T: Send + Sync + 'static,
{
    Stress::new(Specified::new(make, spec, ops.into_iter().collect(), apply))
}

/// A stress test; made by [`stress`] or [`stress_spec`].
#[derive(Debug)]
#[must_use = "nothing runs before `run` or `check`"]
pub struct Stress<W> {
    workload: W,
    settings: RunSettings,
    runs: usize,
    budget: Option<Duration>,
    seed: u64,
    config: Config,
    folder: Option<PathBuf>,
}

impl<W> Stress<W> {
    fn new(workload: W) -> Self {
        Stress {
            workload,
            settings: RunSettings {
                threads: std::thread::available_parallelism().map_or(2, |n| n.get().max(2)),
                ops: 20,
                pauses: 10,
                clock: Clock::default(),
                stuck_after: Duration::from_secs(30),
            },
            runs: 1000,
            budget: None,
            seed: 0,
            config: Config::default(),
            folder: None,
        }
    }

    /// The number of threads; by default that of the cores, at least two.
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = threads;
        self
    }

    /// The number of operations that each thread calls in a run; 20 by default.
    pub fn ops(mut self, ops: usize) -> Self {
        self.settings.ops = ops;
        self
    }

    /// The number of runs, each with a new object; 1000 by default.
    pub fn runs(mut self, runs: usize) -> Self {
        self.runs = runs;
        self
    }

    /// No run begins after this time.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// How often a thread pauses before an operation, in percent; 10 by default. Pauses vary which operations overlap.
    pub fn pauses(mut self, percent: u8) -> Self {
        self.settings.pauses = percent.min(100);
        self
    }

    /// Where the times of calls and returns come from.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.settings.clock = clock;
        self
    }

    /// The seed of the random choices of the threads. The schedule still differs from run to run.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The test ends as [stuck](Outcome::Stuck) if no operation returns for this long; 30 seconds by default.
    pub fn stuck_after(mut self, stuck_after: Duration) -> Self {
        self.settings.stuck_after = stuck_after;
        self
    }

    /// The configuration of the checker: engine, limits, witnesses.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// The folder to which the history of a failure is saved; `linpoint` in the target directory of cargo by default.
    pub fn save_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }
}

impl<T: Send + Sync + 'static> Stress<Named<T>> {
    /// Adds an operation with an argument: a random element of a list or a range, or a [`fresh`] value.
    pub fn op<A: Arguments<Item: ToValue>, R: ToValue>(
        mut self,
        name: &str,
        arguments: A,
        call: impl Fn(&T, A::Item) -> R + Send + Sync + 'static,
    ) -> Self {
        self.workload.add(name, arguments, call);
        self
    }

    /// Adds an operation without an argument.
    pub fn op0<R: ToValue>(
        mut self,
        name: &str,
        call: impl Fn(&T) -> R + Send + Sync + 'static,
    ) -> Self {
        self.workload
            .add(name, |_: &mut Random| (), move |object, ()| call(object));
        self
    }

    /// The relative frequency of the operation that was added last; 1 by default.
    pub fn weight(mut self, weight: u32) -> Self {
        self.workload.last(Some(weight), None);
        self
    }

    /// Only these threads, counted from 0, call the operation that was added last.
    pub fn only_on(mut self, threads: impl IntoIterator<Item = usize>) -> Self {
        self.workload
            .last(None, Some(threads.into_iter().collect()));
        self
    }

    /// The built-in type to check against, such as `queue`; `linpoint types` lists them with their methods.
    pub fn object_type(mut self, name: &str) -> Self {
        self.workload.set_type(name);
        self
    }

    /// A parameter of the type, such as the `capacity` of a `bounded-queue`.
    pub fn param(mut self, name: &str, value: impl ToValue) -> Self {
        self.workload.set_param(name, value.to_value());
        self
    }
}

/// The number of operations that are recorded before they are decided, unless a single run has more.
const BATCH_OPERATIONS: usize = 1 << 17;

/// The most objects that exist at a time.
const BATCH_RUNS: usize = 256;

#[allow(private_bounds)] // `Workload` is private: only the two workloads of this module can be checked.
impl<W: Workload> Stress<W> {
    /// Runs the test. Prints the report if it passes; `cargo test -- --nocapture` shows it.
    ///
    /// # Panics
    /// Unless every run was shown to be linearizable. The message is the report.
    #[track_caller]
    pub fn run(self) -> StressReport {
        match self.check() {
            Ok(report) if report.is_linearizable() => {
                println!("{report}");
                report
            }
            Ok(report) => panic!("\n{report}\n"),
            Err(error) => panic!("the stress test cannot run: {error}"),
        }
    }

    /// Runs the test until a run is not linearizable or cannot be decided, and returns the report.
    ///
    /// Returns an error if the test makes no sense: an unknown type, an operation that the type does not have.
    pub fn check(mut self) -> Result<StressReport, Error> {
        if [self.settings.threads, self.settings.ops, self.runs].contains(&0) {
            return Err(Error::usage(
                "a stress test without operations says nothing",
            ));
        }
        self.workload.prepare(self.settings.threads)?;
        let start = Instant::now();
        let checker = Checker::new(self.config);
        let workload = Arc::new(self.workload);
        let mut report = StressReport {
            outcome: Outcome::Linearizable,
            runs: 0,
            threads: self.settings.threads,
            operations: 0,
            overlapping: 0,
            recording: Duration::ZERO,
            deciding: Duration::ZERO,
        };
        let in_batch = BATCH_OPERATIONS / (self.settings.threads * self.settings.ops).max(1);
        while report.runs < self.runs && self.budget.is_none_or(|most| start.elapsed() < most) {
            let count = in_batch.clamp(1, BATCH_RUNS).min(self.runs - report.runs);
            let seed = self.seed.wrapping_add(report.runs as u64);
            let before = report.runs;
            let recorded = record(&workload, self.settings, count, seed);
            report.recording += recorded.time;
            let deciding = Instant::now();
            for run in 0..recorded.whole_runs(self.settings.ops) {
                let logs = recorded.run(run, self.settings.ops);
                let decided = workload.decide(&logs, &checker)?;
                report.runs += 1;
                report.operations += (self.settings.threads * self.settings.ops) as u64;
                report.overlapping += overlapping(&logs);
                if matches!(decided.verdict, Verdict::Linearizable(_)) {
                    continue;
                }
                let folder = self.folder.as_deref();
                let failure = Box::new(failure(&*workload, &logs, before + run, decided, folder)?);
                report.outcome = match failure.report.verdict {
                    Verdict::Violation(_) => Outcome::Violation(failure),
                    _ => Outcome::Undecided(failure),
                };
                report.deciding += deciding.elapsed();
                return Ok(report);
            }
            report.deciding += deciding.elapsed();
            if let Some((interruption, run)) = &recorded.interruption {
                let folder = self.folder.as_deref();
                report.outcome = match interruption.clone() {
                    Interruption::Panicked {
                        thread,
                        operation,
                        message,
                    } => Outcome::Panicked {
                        run: before + run,
                        thread,
                        operation,
                        message,
                        saved: save_unfinished(&*workload, &recorded, self.settings.ops, folder),
                    },
                    Interruption::Stuck { waiting } => Outcome::Stuck {
                        run: before + run,
                        waiting,
                    },
                };
                return Ok(report);
            }
        }
        Ok(report)
    }
}

/// Saves a run that is not linearizable or undecided, and returns what the report says about it.
fn failure<W: Workload>(
    workload: &W,
    logs: Run<'_, W>,
    run: usize,
    report: linpoint::Report,
    folder: Option<&Path>,
) -> Result<Failure, Error> {
    let history = workload.history(logs, &[])?;
    let saved = report::save(&history, workload.object_type(), folder);
    let page = saved.as_ref().ok().map(|saved| {
        let name = saved.file_stem().unwrap_or_default().to_string_lossy();
        let path = saved.with_extension("html");
        let data = workload.page_data(logs, &name, &report);
        let written = data.map_err(|error| error.to_string()).and_then(|data| {
            artefact::write_page(&data, &path)
                .map_err(|error| format!("{}: {error}", path.display()))
        });
        written.map(|()| path)
    });
    Ok(Failure {
        run,
        saved: saved.map_err(|error| error.to_string()),
        page,
        is_known_type: workload.object_type().is_some(),
        history,
        report,
    })
}

/// Saves the run in which an operation panicked. That operation is pending.
fn save_unfinished<W: Workload>(
    workload: &W,
    recorded: &Recording<W>,
    ops: usize,
    folder: Option<&Path>,
) -> Result<PathBuf, String> {
    if let Some(thread) = recorded.logs.iter().position(Option::is_none) {
        return Err(format!(
            "thread {thread} has not ended, so its records are missing"
        ));
    }
    let logs = recorded.run(recorded.whole_runs(ops), ops);
    let logs_and_threads = recorded.logs.iter().flatten().zip(0..);
    let pending: Vec<_> = logs_and_threads
        .filter_map(|(log, thread)| Some((thread, log.pending.as_ref()?)))
        .collect();
    let history = workload.history(&logs, &pending);
    let history = history.map_err(|error| error.to_string())?;
    report::save(&history, workload.object_type(), folder).map_err(|error| error.to_string())
}

/// Counts the operations of a run that overlap another one.
fn overlapping<O, R>(logs: &[&[Record<O, R>]]) -> u64 {
    let records = logs.iter().copied().flatten();
    let mut intervals: Vec<_> = records.map(|r| (r.called, r.returned)).collect();
    intervals.sort_unstable();
    let mut latest_return = i64::MIN;
    let mut count = 0;
    for (i, &(called, returned)) in intervals.iter().enumerate() {
        let next_call = intervals.get(i + 1).map_or(i64::MAX, |next| next.0);
        count += u64::from(called <= latest_return || next_call <= returned);
        latest_return = latest_return.max(returned);
    }
    count
}

#[cfg(test)]
mod tests;
