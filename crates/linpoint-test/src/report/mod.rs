//! The result of a check: the verdict, its tests, and the failure if there is one.

pub(crate) mod blocked;
pub(crate) mod explain;
pub(crate) mod page;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use linpoint::report::PageData;

use crate::artefact;
use crate::check::{Coverage, Effort};
use crate::matrix;

/// The result of all tests of an object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The verdict over all tests.
    pub verdict: Verdict,
    /// What a pass does not cover beside what its coverage says: what was assumed about loops that spin, spurious wake-ups that were
    /// not tried, and executions that did not end. A line each.
    pub caveats: Vec<String>,
    /// Notes, such as about the token that was replayed, or about large tests.
    pub notes: Vec<String>,
    /// Each test that was run, in order.
    pub tests: Vec<TestReport>,
    /// How long it took.
    pub elapsed: Duration,
    /// Where the [page](crate::Object::html) of the failure is, or why it could not be written.
    pub page: Option<Result<PathBuf, String>>,
}

/// The verdict on an object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// All tests passed, with this coverage.
    Pass(Coverage),
    /// No deterministic specification explains what the object did.
    Fail(Box<Failure>),
    /// Some test could not be decided, for this reason.
    Undecided(String),
}

/// One test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TestReport {
    /// The operations of each thread.
    pub matrix: Vec<Vec<String>>,
    /// Threads by operations, as in "3x2".
    pub dimension: String,
    /// Its result.
    pub result: TestResult,
    /// What a pass does not cover beside what its coverage says.
    pub caveats: Vec<String>,
    /// It is undecided only because its time was up, and that is no reason for the verdict.
    pub(crate) out_of_time: bool,
    /// How much was done.
    pub effort: Effort,
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TestResult {
    /// It passed.
    Pass(Coverage),
    /// It failed in this way.
    Fail(FailureKind),
    /// It could not be decided, for this reason.
    Undecided(String),
}

/// The ways in which a test can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// No serial order gives these results.
    NoWitness,
    /// Operations are stuck, and no serial order explains why.
    NoStuckWitness,
    /// The same serial calls give different results.
    Nondeterministic,
    /// An operation blocks serially and was not declared to.
    Blocks,
    /// The serial histories are not those of the observation file.
    Changed,
    /// A thread of a [model](crate::model()) panics.
    Panics,
    /// No thread of a [model](crate::model()) can go on, and some have not ended.
    Deadlock,
    /// Two threads have access to a [cell](crate::cell::UnsafeCell), one of them writes, and nothing orders them.
    DataRace,
    /// An [invariant](crate::Object::invariant) does not hold when all threads have ended.
    Invariant,
}

/// A test that fails, reduced as far as possible.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The way in which it fails.
    pub kind: FailureKind,
    /// The failure in one sentence.
    pub sentence: String,
    /// Why the failure is not a proof, if it is none.
    pub caveat: Option<String>,
    /// The operations before all threads.
    pub init: Vec<String>,
    /// The operations of each thread.
    pub matrix: Vec<Vec<String>>,
    /// The operations after all threads.
    pub finally: Vec<String>,
    /// The dimension of the test before it was reduced.
    pub found_in: String,
    /// Calls and returns in the order of time.
    pub history: Vec<Event>,
    /// For nondeterminism, the other history.
    pub other_history: Vec<Event>,
    /// The steps of the execution.
    pub interleaving: Vec<String>,
    /// For each thread that is blocked, what it waits for.
    pub blocked: Vec<String>,
    /// The serial outcomes that are nearest.
    pub nearest: Vec<String>,
    /// Serial histories that only the observation file has, or only the object.
    pub differences: Vec<String>,
    /// Preemptions inside operations.
    pub preemptions: u32,
    /// A token for [`replay`](crate::Object::replay), which repeats the execution.
    pub token: String,
    pub(crate) page_data: Option<PageData>,
}

impl Failure {
    /// Returns the data of the [report page](linpoint::report); `None` if there is no history to show.
    pub fn page_data(&self) -> Option<PageData> {
        let mut page_data = self.page_data.clone()?;
        page_data.headline = match (self.kind, &self.caveat) {
            (_, Some(caveat)) => Some(caveat.trim_end_matches('.').to_owned()),
            (FailureKind::NoStuckWitness, _) => {
                Some("Stuck: no serial order explains why an operation never returns".to_owned())
            }
            (FailureKind::Nondeterministic, _) => {
                Some("Not deterministic: the same serial calls give different answers".to_owned())
            }
            (FailureKind::Panics, _) => Some("A thread panics".to_owned()),
            (FailureKind::Deadlock, _) => Some("Deadlock: no thread can go on".to_owned()),
            (FailureKind::Blocks, _) => {
                Some("Blocks: an operation waits for ever in a serial execution".to_owned())
            }
            _ => None,
        };
        page_data.notes.clone_from(&self.blocked);
        page_data
            .notes
            .push(format!("LINPOINT_REPLAY={}", self.token));
        Some(page_data)
    }
}

/// A call or a return.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The thread: `A`, `B`, ..., or `main` for the operations before and after.
    pub thread: String,
    /// The operation with its arguments.
    pub operation: String,
    /// What it returned; `None` for a call.
    pub result: Option<String>,
}

impl Report {
    /// Whether all tests passed.
    pub fn passed(&self) -> bool {
        matches!(self.verdict, Verdict::Pass(_))
    }

    /// The failure, if there is one.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.verdict {
            Verdict::Fail(failure) => Some(failure),
            _ => None,
        }
    }

    /// Writes the page of the failure, if there is one.
    pub(crate) fn write_page(&mut self, path: PathBuf) {
        let page_data = self.failure().and_then(Failure::page_data);
        self.page = page_data.map(|page_data| match artefact::write_page(&page_data, &path) {
            Ok(()) => Ok(path),
            Err(error) => Err(format!("{}: {error}", path.display())),
        });
    }

    /// The efforts of all tests together.
    pub fn effort(&self) -> Effort {
        self.tests.iter().fold(Effort::default(), |mut sum, test| {
            sum.serial += test.effort.serial;
            sum.stuck += test.effort.stuck;
            sum.executions += test.effort.executions;
            sum.redundant += test.effort.redundant;
            sum.steps += test.effort.steps;
            sum.accesses += test.effort.accesses;
            sum.phase1 += test.effort.phase1;
            sum.phase2 += test.effort.phase2;
            sum
        })
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "loom")]
            Coverage::WeakMemory(bound) => {
                f.write_str("all executions that loom tells apart")?;
                if let Some(most) = bound {
                    let most = counted(u64::from(*most), "preemption");
                    write!(f, " with at most {most}")?;
                }
                f.write_str(", under its model of weak memory, which is no proof")
            }
            Coverage::Exhaustive => f.write_str("exhaustive under sequential consistency"),
            Coverage::Preemptions(most) => {
                let most = counted(u64::from(*most), "preemption");
                write!(
                    f,
                    "up to {most} inside operations, under sequential consistency"
                )
            }
            Coverage::CutOff(executions) => {
                let executions = counted(*executions, "execution");
                write!(
                    f,
                    "{executions} until the time was up, under sequential consistency"
                )
            }
            Coverage::Sampled(executions) => {
                let executions = counted(*executions, "sampled execution");
                write!(f, "{executions}, under sequential consistency")
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Verdict::Pass(coverage) => write!(f, "PASS: {coverage}")?,
            Verdict::Fail(failure) => write!(f, "{failure}")?,
            Verdict::Undecided(why) => write!(f, "UNDECIDED: {why}")?,
        }
        for caveat in self.caveats.iter().filter(|_| self.failure().is_none()) {
            write!(f, "\n{caveat}")?;
        }
        match &self.page {
            None => {}
            Some(Ok(path)) => write!(f, "\npage: {}", path.display())?,
            Some(Err(why)) => write!(f, "\npage not written: {why}")?,
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        let effort = self.effort();
        write!(
            f,
            "\n{}, {} ({} stuck), {}, {:.1?}\n",
            counted(self.tests.len() as u64, "test"),
            counted(effort.serial as u64, "serial history"),
            effort.stuck,
            counted(effort.executions, "execution"),
            self.elapsed
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = match self.kind {
            FailureKind::NoWitness => "NOT LINEARIZABLE",
            FailureKind::NoStuckWitness => "NOT LINEARIZABLE, STUCK",
            FailureKind::Nondeterministic => "NOT DETERMINISTIC",
            FailureKind::Blocks => "BLOCKS",
            FailureKind::Changed => "CHANGED",
            FailureKind::Panics => "PANICS",
            FailureKind::Deadlock => "DEADLOCK",
            FailureKind::DataRace => "DATA RACE",
            FailureKind::Invariant => "INVARIANT BROKEN",
        };
        let dimension = matrix::dimension(&self.matrix);
        write!(f, "{title}   {dimension}")?;
        if self.found_in != dimension {
            write!(f, "   (found in {}, reduced)", self.found_in)?;
        }
        writeln!(f, "\n{}", self.sentence)?;
        if let Some(caveat) = &self.caveat {
            writeln!(f, "{caveat}")?;
        }
        writeln!(f, "\ntest:")?;
        if !self.init.is_empty() {
            writeln!(f, "   before: {}", self.init.join(", "))?;
        }
        let names: Vec<String> = (0..self.matrix.len())
            .map(crate::runtime::thread_name)
            .collect();
        let longest = self.matrix.iter().map(Vec::len).max().unwrap_or(0);
        let rows = (0..longest).map(|row| {
            let cell = |ops: &Vec<String>| ops.get(row).cloned().unwrap_or_default();
            self.matrix.iter().map(cell).collect()
        });
        table(f, &names, rows.collect())?;
        if !self.finally.is_empty() {
            writeln!(f, "   after: {}", self.finally.join(", "))?;
        }
        section(f, "differences:", &self.differences)?;
        if self.other_history.is_empty() && !self.history.is_empty() {
            writeln!(f, "\nhistory:")?;
            columns(f, &self.history, &names)?;
        } else if !self.history.is_empty() {
            writeln!(f, "\ntwo serial executions:")?;
            side_by_side(f, &self.other_history, &self.history)?;
        }
        section(f, "blocked threads:", &self.blocked)?;
        let preemptions = match self.preemptions {
            1 => "1 preemption inside an operation".to_owned(),
            n => format!("{n} preemptions inside operations"),
        };
        section(
            f,
            &format!("interleaving ({preemptions}):"),
            &self.interleaving,
        )?;
        section(f, "nearest serial outcomes:", &self.nearest)?;
        write!(f, "\nreplay: LINPOINT_REPLAY={}", self.token)
    }
}

/// `1 test`, `2 tests`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = match (count, what.strip_suffix('y')) {
        (1, _) => return format!("1 {what}"),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{what}s"),
    };
    format!("{count} {plural}")
}

fn section(f: &mut fmt::Formatter<'_>, title: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{title}")?;
    lines.iter().try_for_each(|line| writeln!(f, "   {line}"))
}

/// Writes the events in a column for each thread. A return right after its call is on the same line.
fn columns(f: &mut fmt::Formatter<'_>, events: &[Event], threads: &[String]) -> fmt::Result {
    let mut names = threads.to_vec();
    if events.iter().any(|event| event.thread == "main") {
        names.insert(0, "main".to_owned());
    }
    let mut rows = Vec::new();
    let mut rest = events;
    while let [event, tail @ ..] = rest {
        rest = tail;
        let text = match (&event.result, tail.first()) {
            (Some(result), _) => format!("  {} = {result}", event.operation),
            (
                None,
                Some(Event {
                    thread,
                    result: Some(result),
                    ..
                }),
            ) if *thread == event.thread => {
                rest = &tail[1..];
                format!("{} = {result}", event.operation)
            }
            (None, _) => {
                let returns = tail.iter().any(|later| later.thread == event.thread);
                match returns {
                    true => format!("{} ..", event.operation),
                    false => format!("{} .. never returns", event.operation),
                }
            }
        };
        let cell = |name: &String| {
            if *name == event.thread {
                text.clone()
            } else {
                String::new()
            }
        };
        rows.push(names.iter().map(cell).collect());
    }
    table(f, &names, rows)
}

/// Writes two serial histories, a line for each operation, with a mark where they begin to differ.
fn side_by_side(f: &mut fmt::Formatter<'_>, left: &[Event], right: &[Event]) -> fmt::Result {
    let lines = |events: &[Event]| -> Vec<String> {
        let calls = events
            .iter()
            .enumerate()
            .filter(|(_, e)| e.result.is_none());
        calls
            .map(|(place, call)| {
                let answer = match events.get(place + 1).and_then(|next| next.result.as_ref()) {
                    Some(result) => format!("= {result}"),
                    None => "never returns".to_owned(),
                };
                format!("{}.{} {answer}", call.thread, call.operation)
            })
            .collect()
    };
    let (left, right) = (lines(left), lines(right));
    let longest = left.len().max(right.len());
    let parting = (0..longest).find(|&row| left.get(row) != right.get(row));
    let cell = |lines: &[String], row: usize| lines.get(row).cloned().unwrap_or_default();
    let rows = (0..longest).map(|row| {
        let mark = if Some(row) == parting {
            "   <- here they part"
        } else {
            ""
        };
        vec![cell(&left, row), cell(&right, row) + mark]
    });
    let names = ["one of them", "the other"].map(str::to_owned);
    table(f, &names, rows.collect())
}

fn table(f: &mut fmt::Formatter<'_>, names: &[String], rows: Vec<Vec<String>>) -> fmt::Result {
    let widths: Vec<usize> = (0..names.len())
        .map(|column| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0).max(names[column].len())
        })
        .collect();
    for row in std::iter::once(names).chain(rows.iter().map(Vec::as_slice)) {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        writeln!(f, "   {}", cells.join(" | ").trim_end())?;
    }
    Ok(())
}
