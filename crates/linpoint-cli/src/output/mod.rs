//! Printing of verdicts.

pub(crate) mod conditions;
pub(crate) mod core_table;
pub(crate) mod depth;
mod edn;
mod family;
pub(crate) mod github;
pub(crate) mod html;
mod json;
pub(crate) mod junit;
pub(crate) mod levels;
pub(crate) mod proof;
pub(crate) mod spec;
pub(crate) mod text;
mod timeline;
mod undecided;
pub(crate) mod verify;
pub(crate) mod watch;
pub mod whole;
pub(crate) mod witness;

use std::collections::BTreeMap;
use std::io::Write;

use linpoint::verdict::Violation;
use linpoint::{ErrorKind, History, Verdict};

use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::files::Output;
use crate::results::{Checked, Outcome};

/// Prints verdicts in the style that was asked for.
pub(crate) struct Printer {
    style: Style,
    /// Whether to leave out what is linearizable.
    quiet: bool,
    explain: bool,
    out: Output,
    /// The histories of a JSON document, which is printed at the end.
    collected: Vec<serde_json::Value>,
    /// The names and results of an EDN document, which is printed at the end.
    results: Vec<(String, String)>,
    /// Notes that the style does not print, each with its histories.
    notes: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Text,
    Brief,
    Json,
    JsonLines,
    Edn,
}

impl Printer {
    pub(crate) fn new(args: &CheckArgs, out: Output) -> Self {
        let style = match args {
            _ if args.report.json => Style::Json,
            CheckArgs { jsonl: true, .. } => Style::JsonLines,
            CheckArgs { edn: true, .. } => Style::Edn,
            CheckArgs { brief: true, .. } => Style::Brief,
            _ => Style::Text,
        };
        Printer {
            style,
            quiet: args.quiet,
            explain: args.explain,
            out,
            collected: Vec::new(),
            results: Vec::new(),
            notes: BTreeMap::new(),
        }
    }

    /// Prints a history as soon as it is decided, where each one has a line of its own that names it: JSON lines.
    pub(crate) fn print_decided(&mut self, outcome: &Outcome) -> std::io::Result<()> {
        match self.style {
            Style::JsonLines => self.print(outcome),
            _ => Ok(()),
        }
    }

    /// Prints a history after those before it in the input, unless it was printed when it was decided.
    pub(crate) fn print_in_order(&mut self, outcome: &Outcome) -> std::io::Result<()> {
        match self.style {
            Style::JsonLines => Ok(()),
            _ => self.print(outcome),
        }
    }

    fn print(&mut self, outcome: &Outcome) -> std::io::Result<()> {
        if let Err(error) = outcome {
            // Keeps the order of both outputs on a terminal.
            self.out.flush()?;
            eprintln!("linpoint: {error}");
        }
        let is_left_out = self.quiet && is_fine(outcome);
        let has_place = matches!(self.style, Style::Text | Style::Json | Style::JsonLines);
        if let Ok(checked) = outcome
            && (is_left_out || !has_place)
        {
            for note in checked.notes() {
                let histories = self.notes.entry(note).or_default();
                histories.push(checked.recorded.label());
            }
        }
        if is_left_out {
            return Ok(());
        }
        match self.style {
            Style::Text => {
                if let Ok(checked) = outcome {
                    text::print(&mut self.out, checked, self.explain)?;
                }
            }
            Style::Brief => match outcome {
                Ok(checked) => {
                    writeln!(self.out, "{}\t{}", checked.recorded.label(), brief(checked))?
                }
                // The verdict on an input that could not be read is unknown; the message above says why.
                Err(error) => writeln!(
                    self.out,
                    "{}\t:unknown",
                    error.label().unwrap_or_else(|| "-".to_owned())
                )?,
            },
            Style::Json => self.collected.push(json::outcome(outcome)),
            Style::JsonLines => writeln!(self.out, "{}", json::outcome(outcome))?,
            Style::Edn => self.results.push(edn::outcome(outcome)),
        }
        // A reader at the other end of a pipe gets each line when it is printed.
        self.out.flush()
    }

    /// Leaves out what is linearizable, if it would fill the screen: verdicts on objects as text.
    pub(crate) fn expect_objects(&mut self) {
        self.quiet |= self.style == Style::Text;
    }

    /// Prints a line of JSON that is no verdict, if each verdict is one.
    pub(crate) fn print_json_line(&mut self, line: &serde_json::Value) -> std::io::Result<()> {
        if self.style == Style::JsonLines {
            writeln!(self.out, "{line}")?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Where everything is printed.
    pub(crate) fn out(&mut self) -> &mut Output {
        &mut self.out
    }

    pub(crate) fn finish(&mut self, summary: &Summary) -> std::io::Result<()> {
        match self.style {
            Style::Json => writeln!(
                self.out,
                "{}",
                json::document(std::mem::take(&mut self.collected), summary)
            )?,
            Style::Edn => writeln!(self.out, "{}", edn::document(&self.results, summary))?,
            Style::Text
                if summary.histories() > 1 || summary.interrupted || summary.are_objects =>
            {
                writeln!(self.out, "{}", text::summary(summary))?;
            }
            _ => {}
        }
        self.out.flush()?;
        self.print_notes();
        Ok(())
    }
}

impl Printer {
    /// Prints notes to the standard error that were not printed with the verdict.
    fn print_notes(&self) {
        for (note, histories) in &self.notes {
            match histories.as_slice() {
                [] => {}
                [one] => eprintln!("linpoint: note: {one}: {note}"),
                [first, rest @ ..] => {
                    eprintln!("linpoint: note: {first} and {} more: {note}", rest.len());
                }
            }
        }
    }
}

fn is_fine(outcome: &Outcome) -> bool {
    matches!(outcome, Ok(checked) if matches!(checked.report.verdict, Verdict::Linearizable(_))
        && checked.as_labelled() != Some(false))
}

/// One word, and the first bad event where that is known.
fn brief(checked: &Checked) -> String {
    match &checked.report.verdict {
        Verdict::Linearizable(_) => "true".to_owned(),
        Verdict::Undecided(_) => ":unknown".to_owned(),
        Verdict::Violation(violation) => {
            match first_bad_event(&checked.recorded.history, violation) {
                Some(event) => format!("false\t{event}"),
                None => "false".to_owned(),
            }
        }
    }
}

/// The number of the first event, counted from 0 over the whole history, that cannot be explained, if it is known.
fn first_bad_event(history: &History, violation: &Violation) -> Option<u32> {
    let last = history.op(violation.last);
    let is_known = violation.shortest && violation.blocked.is_none();
    is_known.then_some(last.ret)
}

/// The number of histories with each verdict.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) linearizable: usize,
    pub(crate) violations: usize,
    pub(crate) undecided: usize,
    pub(crate) errors: usize,
    /// The number of labelled histories whose verdict agrees with the label, and of those whose verdict does not.
    pub(crate) as_labelled: usize,
    pub(crate) not_as_labelled: usize,
    /// Whether Ctrl-C, or a request to terminate, ended the run early.
    pub(crate) interrupted: bool,
    /// Whether the histories are objects of inputs that are read object by object.
    pub(crate) are_objects: bool,
    /// Whether the first violation ends the run, and whether it did.
    pub(crate) stops_at_violation: bool,
    pub(crate) is_stopped: bool,
    exit: Exit,
}

impl Summary {
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        let (counter, exit) = match outcome {
            Ok(checked) => match checked.report.verdict {
                Verdict::Linearizable(_) => (&mut self.linearizable, Exit::Linearizable),
                Verdict::Violation(_) => (&mut self.violations, Exit::Violation),
                Verdict::Undecided(_) => (&mut self.undecided, Exit::Undecided),
            },
            Err(error) => (&mut self.errors, Exit::of_kind(error.kind())),
        };
        *counter += 1;
        match outcome.as_ref().ok().and_then(Checked::as_labelled) {
            Some(true) => self.as_labelled += 1,
            Some(false) => self.not_as_labelled += 1,
            None => {}
        }
        self.exit = self.exit.max(exit);
    }

    /// Counts a history of which only the verdict is known.
    pub(crate) fn count_verdict(&mut self, exit: Exit) {
        let counter = match exit {
            Exit::Linearizable => &mut self.linearizable,
            Exit::Violation => &mut self.violations,
            Exit::Undecided => &mut self.undecided,
            _ => &mut self.errors,
        };
        *counter += 1;
        self.exit = self.exit.max(exit);
    }

    /// Forgets all verdicts: they were about parts of objects.
    pub(crate) fn retract(&mut self) {
        *self = Summary {
            interrupted: self.interrupted,
            ..Summary::default()
        };
    }

    pub(crate) fn histories(&self) -> usize {
        self.linearizable + self.violations + self.undecided + self.errors
    }

    pub(crate) fn exit(&self) -> Exit {
        // Histories that were not reached are undecided.
        if self.interrupted {
            self.exit.max(Exit::Undecided)
        } else {
            self.exit
        }
    }
}

/// Prints an error that ends the command as a JSON document. The standard output has nothing else then, or it may be closed, so
/// an error of writing is ignored.
pub(crate) fn print_error(kind: ErrorKind, reason: &str) {
    let _ = writeln!(std::io::stdout(), "{}", json::error(kind, reason));
}

/// The name of the kind of an error in machine-readable output.
fn error_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Usage => "usage",
        ErrorKind::Malformed
        | ErrorKind::Truncated
        | ErrorKind::UnknownMethod
        | ErrorKind::Unsorted => "malformed",
        ErrorKind::Unreadable => "unreadable",
        ErrorKind::Limit | ErrorKind::Timeout => "limit",
        ErrorKind::Specification => "specification",
        _ => "bug",
    }
}
