//! The result of a stress test, as a value and as text.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use linpoint::format::write_jsonl;
use linpoint::spec::Params;
use linpoint::{History, OpId, Report, Verdict};

use crate::artefact;
use crate::report::counted;

/// The result of a stress test.
#[derive(Clone, Debug)]
pub struct StressReport {
    /// The verdict over all runs.
    pub outcome: Outcome,
    /// The number of runs that were decided, each with an object of its own.
    pub runs: usize,
    /// The number of threads.
    pub threads: usize,
    /// The number of operations that were decided.
    pub operations: u64,
    /// How many of them overlapped an operation of another thread. If they are few, the test says little.
    pub overlapping: u64,
    /// How long the threads ran, from the first call to the last return.
    pub recording: Duration,
    /// How long the checker took.
    pub deciding: Duration,
}

/// The verdict of a stress test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// Every run is linearizable.
    Linearizable,
    /// A run is not linearizable.
    Violation(Box<Failure>),
    /// A limit was hit before a run was decided.
    Undecided(Box<Failure>),
    /// An operation panicked.
    Panicked {
        /// The number of the run.
        run: usize,
        /// The thread that called it.
        thread: usize,
        /// The operation.
        operation: String,
        /// The message of the panic.
        message: String,
        /// Where the history of the run was saved, in which the operation never returns, or why it was not.
        saved: Result<PathBuf, String>,
    },
    /// No operation returned for as long as [`stuck_after`](super::Stress::stuck_after) says. This is not a proof
    /// that the threads are blocked. Threads that have not ended keep the records of this run and of runs shortly before it,
    /// which are neither decided nor saved.
    Stuck {
        /// The number of the run.
        run: usize,
        /// The threads that were in an operation, each with the operation.
        waiting: Vec<(usize, String)>,
    },
}

/// A run that is not linearizable, or was not decided.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The number of the run.
    pub run: usize,
    /// The recorded history.
    pub history: History,
    /// The report of the checker.
    pub report: Report,
    /// Where the history was saved, or why it was not.
    pub saved: Result<PathBuf, String>,
    /// The report page beside the saved history: its path, or why it could not be written. `None` if the history was not saved.
    pub page: Option<Result<PathBuf, String>>,
    /// Whether the object has a built-in type, so that the command line can check the history.
    pub(super) is_known_type: bool,
}

impl StressReport {
    /// Whether every run is linearizable.
    pub fn is_linearizable(&self) -> bool {
        matches!(self.outcome, Outcome::Linearizable)
    }

    /// The run that is not linearizable, if there is one.
    pub fn violation(&self) -> Option<&Failure> {
        match &self.outcome {
            Outcome::Violation(failure) => Some(failure),
            _ => None,
        }
    }
}

impl fmt::Display for StressReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Linearizable => writeln!(f, "LINEARIZABLE in every run")?,
            Outcome::Violation(failure) => {
                writeln!(f, "NOT LINEARIZABLE: run {}", failure.run)?;
                failure.fmt(f)?;
            }
            Outcome::Undecided(failure) => {
                writeln!(f, "UNDECIDED: run {}", failure.run)?;
                failure.fmt(f)?;
            }
            Outcome::Panicked {
                run,
                thread,
                operation,
                message,
                saved,
            } => {
                writeln!(
                    f,
                    "PANICKED: run {run}, {operation} of thread {thread}: {message}"
                )?;
                match saved {
                    Ok(path) => writeln!(f, "history up to there: {}", path.display())?,
                    Err(reason) => writeln!(f, "history not saved: {reason}")?,
                }
            }
            Outcome::Stuck { run, waiting } => {
                writeln!(f, "STUCK: run {run}, no operation returns")?;
                for (thread, operation) in waiting {
                    writeln!(f, "   thread {thread} is in {operation}")?;
                }
                writeln!(
                    f,
                    "history not saved: threads that have not ended keep their records"
                )?;
            }
        }
        write!(
            f,
            "{}, {}, {}, {:.1} % of them overlapping; recorded in {:.1?}, decided in {:.1?}",
            counted(self.runs as u64, "run"),
            counted(self.threads as u64, "thread"),
            counted(self.operations, "operation"),
            100.0 * self.overlapping as f64 / self.operations.max(1) as f64,
            self.recording,
            self.deciding,
        )
    }
}

/// The most operations of a core that a report shows; the file has all.
const MOST_SHOWN: usize = 40;
/// The most relaxed operations that a report shows.
const MOST_RELAXED: usize = 6;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown: Vec<OpId> = Vec::new();
        let mut relaxed: &[OpId] = &[];
        match &self.report.verdict {
            Verdict::Violation(violation) => {
                let core = &violation.core;
                writeln!(f, "{}", core.sentence())?;
                if let Some(anchor) = core.anchor() {
                    let clause = anchor.clauses(|id| self.history.describe(id)).join(", ");
                    writeln!(f, "{clause}")?;
                }
                shown.extend(core.ops());
                shown.sort_unstable();
                relaxed = core.relaxed();
            }
            Verdict::Undecided(undecided) => {
                let (done, all) = (undecided.prefix_events, undecided.events);
                writeln!(
                    f,
                    "{} explained {done} of {all} calls and returns",
                    undecided.engine
                )?;
            }
            Verdict::Linearizable(_) => {}
        }
        let left_out = shown.len().saturating_sub(MOST_SHOWN);
        shown.truncate(MOST_SHOWN);
        write_columns(&self.history, &shown, f)?;
        if left_out > 0 {
            writeln!(f, "   and {left_out} more")?;
        }
        if !relaxed.is_empty() {
            writeln!(
                f,
                "the core is impossible no matter what these answered, and when or whether they took effect:"
            )?;
            for &id in relaxed.iter().take(MOST_RELAXED) {
                let op = self.history.op(id);
                writeln!(f, "   {} by thread {}", op.call_text(), op.process)?;
            }
            if relaxed.len() > MOST_RELAXED {
                writeln!(f, "   and {} more", relaxed.len() - MOST_RELAXED)?;
            }
        }
        match &self.saved {
            Ok(path) if self.is_known_type => {
                writeln!(f, "history: {0}   (linpoint check {0})", path.display())
            }
            Ok(path) => writeln!(f, "history: {}", path.display()),
            Err(reason) => writeln!(f, "history not saved: {reason}"),
        }?;
        match &self.page {
            Some(Ok(path)) => writeln!(f, "page: {}", path.display()),
            Some(Err(reason)) => writeln!(f, "page not written: {reason}"),
            None => Ok(()),
        }
    }
}

/// Writes operations in the order of their calls, each in the column of its thread.
fn write_columns(history: &History, ops: &[OpId], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let threads: Vec<String> = history.processes().iter().map(|p| p.to_string()).collect();
    let mut columns: Vec<usize> = (0..threads.len()).collect();
    columns.sort_by_key(|&column| (threads[column].len(), &threads[column]));
    let cell = |id: OpId| {
        let op = history.op(id);
        let (called, returned) = op.times.unwrap_or_default();
        format!("{}  [{called}, {returned}]", op.text())
    };
    let widths: Vec<usize> = (0..threads.len())
        .map(|column| {
            let own = |id: &&OpId| history.process_column()[id.index()].0 as usize == column;
            let cells = ops.iter().filter(own).map(|&id| cell(id).chars().count());
            cells
                .max()
                .unwrap_or(0)
                .max("thread ".len() + threads[column].len())
        })
        .collect();
    let mut row = |text: &dyn Fn(usize) -> String| {
        let cells = columns
            .iter()
            .map(|&c| format!("{:1$}", text(c), widths[c]));
        writeln!(f, "   {}", cells.collect::<Vec<_>>().join(" | ").trim_end())
    };
    if ops.is_empty() {
        return Ok(());
    }
    row(&|column| format!("thread {}", threads[column]))?;
    for &id in ops {
        let own = history.process_column()[id.index()].0 as usize;
        row(&|column| {
            if column == own {
                cell(id)
            } else {
                String::new()
            }
        })?;
    }
    Ok(())
}

/// Saves a history as JSON lines, in a file with the name of the running test. Returns its path.
pub(super) fn save(
    history: &History,
    object_type: Option<(&str, &Params)>,
    folder: Option<&Path>,
) -> io::Result<PathBuf> {
    let folder = folder.map_or_else(artefact::folder, Path::to_owned);
    fs::create_dir_all(&folder)?;
    let name = artefact::test_name();
    // Tests of the same name may fail several times, also at the same time.
    let (path, file) = (1..)
        .map(|number| folder.join(format!("{name}-{}-{number}.jsonl", std::process::id())))
        .map(|path| (File::create_new(&path), path))
        .find(
            |(file, _)| !matches!(file, Err(error) if error.kind() == io::ErrorKind::AlreadyExists),
        )
        .map(|(file, path)| (path, file))
        .expect("there is always another number");
    let mut file = BufWriter::new(file?);
    write_jsonl(history, object_type, &mut file)?;
    file.flush()?;
    Ok(path)
}
