//! Printing of the findings in a stream.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use linpoint::object::ObjectType;
use linpoint::online::{CannotTell, Finding, Observed, Violation};
use linpoint::verdict::Claim;
use linpoint::{Error, OnlineChecker, Value};
use serde_json::json;

use super::error_name;
use super::text::of_part;
use crate::args::{CheckArgs, WatchArgs};
use crate::exit::Exit;
use crate::files::Output;
use crate::units::{counted, show_duration};

/// Prints findings at once.
pub(crate) struct Printer {
    input: String,
    style: Style,
    /// Whether to leave out the summary.
    quiet: bool,
    /// The unit of positions in the input.
    unit: &'static str,
    /// What to do about objects that cannot be watched, until it was said.
    advice: Option<&'static str>,
    out: Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Text,
    Json,
}

/// The totals of a stream.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    events: u64,
    operations: u64,
    open: usize,
    violations: usize,
    untold: usize,
}

impl Totals {
    pub(crate) fn count(&mut self, finding: &Finding<ObjectType>) {
        match finding {
            Finding::Violation(_) => self.violations += 1,
            Finding::CannotTell(_) => self.untold += 1,
        }
    }

    /// Adds a history that is over.
    pub(crate) fn add(&mut self, checker: &OnlineChecker<ObjectType>) {
        self.events += checker.events();
        self.operations += checker.operations();
        self.open += checker.pending();
    }

    pub(crate) fn exit(&self) -> Exit {
        match (self.violations, self.untold) {
            (0, 0) => Exit::Linearizable,
            (0, _) => Exit::Undecided,
            _ => Exit::Violation,
        }
    }
}

impl Printer {
    pub(crate) fn new(args: &WatchArgs, input: &str, out: Output) -> Self {
        let style = if args.report.json {
            Style::Json
        } else {
            Style::Text
        };
        Printer {
            input: input.to_owned(),
            style,
            quiet: args.quiet,
            unit: "line",
            advice: Some("`linpoint check` can, when the history is recorded"),
            out,
        }
    }

    /// Prints what `check` finds in an input that is read in the order of calls. `unit` is that of positions in it.
    pub(crate) fn of_check(args: &CheckArgs, input: &str, unit: &'static str) -> Self {
        Printer {
            input: input.to_owned(),
            style: match args.jsonl {
                true => Style::Json,
                false => Style::Text,
            },
            quiet: args.quiet,
            unit,
            advice: Some(
                "it can be decided when the input is sorted by object (`linpoint sort`), or with more --memory",
            ),
            out: Output::standard(),
        }
    }

    /// Prints the verdict on an input that is over.
    pub(crate) fn verdict(
        &mut self,
        type_name: &str,
        totals: &Totals,
        time: Duration,
    ) -> std::io::Result<()> {
        let exit = totals.exit();
        let verdict = match exit {
            Exit::Linearizable => "linearizable",
            Exit::Violation => "not linearizable",
            _ => "undecided",
        };
        match self.style {
            Style::Text if self.quiet && exit == Exit::Linearizable => {}
            Style::Text => {
                let ops = counted(totals.operations as usize, "operation");
                let time = show_duration(time);
                writeln!(
                    self.out,
                    "{}: {verdict} ({ops}, {time}, in the order of calls)",
                    self.input
                )?;
            }
            Style::Json => {
                let document = json!({
                    "schema": 2,
                    "history": self.input,
                    "type": type_name,
                    "verdict": verdict,
                    "operations": totals.operations,
                    "seconds": time.as_secs_f64(),
                    "engine": "online",
                });
                writeln!(self.out, "{document}")?;
            }
        }
        self.out.flush()
    }

    /// Numbers count these from here on.
    pub(crate) fn counts_in(&mut self, unit: &'static str) {
        self.unit = unit;
    }

    pub(crate) fn finding(
        &mut self,
        line: u64,
        finding: &Finding<ObjectType>,
    ) -> std::io::Result<()> {
        match (self.style, finding) {
            (Style::Json, finding) => {
                let document = self.document(line, finding);
                writeln!(self.out, "{document}")?;
            }
            (_, Finding::Violation(violation)) => self.show_violation(line, violation)?,
            (_, Finding::CannotTell(untold)) => {
                let CannotTell {
                    object,
                    key,
                    reason,
                } = untold;
                let part = in_part(object, key.as_ref());
                writeln!(
                    self.out,
                    "{}:{line}: cannot tell any further{part}: {reason}",
                    self.input
                )?;
                if let Some(advice) = self.advice.take() {
                    writeln!(self.out, "  {advice}")?;
                }
            }
        }
        // A reader at the other end of a pipe gets each line when it is printed.
        self.out.flush()
    }

    fn show_violation(
        &mut self,
        line: u64,
        violation: &Violation<ObjectType>,
    ) -> std::io::Result<()> {
        let part = in_part(&violation.object, violation.key.as_ref());
        let sentence = sentence(violation, self.unit);
        writeln!(
            self.out,
            "{}:{line}: not linearizable from here on{part}\n\n  {sentence}\n",
            self.input
        )?;
        if let Some(failed) = &violation.failed {
            let seen = match &violation.claim {
                Claim::NeverPut { value, .. } => format!("{value} was seen"),
                _ => "its effect was seen".to_owned(),
            };
            let (failed, place) = (failed.call_text(), place(failed, self.unit));
            writeln!(self.out, "  {failed}{place} failed, and yet {seen}\n")?;
        }
        for op in violation.others.iter().chain([&violation.op]) {
            writeln!(
                self.out,
                "    {op}, called on {} {}",
                self.unit, op.call.line
            )?;
        }
        writeln!(self.out)
    }

    fn document(&self, line: u64, finding: &Finding<ObjectType>) -> serde_json::Value {
        let mut document = of_finding(finding, self.unit);
        document["schema"] = json!(1);
        document["input"] = json!(self.input);
        document["line"] = json!(line);
        document
    }

    /// Reading ends with an error.
    pub(crate) fn error(&mut self, error: &Error) -> std::io::Result<()> {
        // Keeps the order of both outputs on a terminal.
        self.out.flush()?;
        eprintln!("linpoint: {error}");
        if self.style == Style::Json {
            let document = json!({
                "schema": 1,
                "notice": "error",
                "input": self.input,
                "line": error.line(),
                "kind": error_name(error.kind()),
                "reason": error.reason(),
            });
            writeln!(self.out, "{document}")?;
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self, totals: &Totals) -> std::io::Result<()> {
        match self.style {
            _ if self.quiet => {}
            Style::Text => writeln!(self.out, "{}: {}", self.input, summary(totals))?,
            Style::Json => {
                let document = json!({
                    "schema": 1,
                    "notice": "summary",
                    "input": self.input,
                    "events": totals.events,
                    "operations": totals.operations,
                    "open": totals.open,
                    "violations": totals.violations,
                    "cannot_tell": totals.untold,
                });
                writeln!(self.out, "{document}")?;
            }
        }
        self.out.flush()
    }
}

/// The sentence on a violation, in which operations have their places, as in that of a check.
fn sentence(violation: &Violation<ObjectType>, unit: &str) -> String {
    let describe = |op: &Arc<Observed<ObjectType>>| format!("{op}{}", place(op, unit));
    violation.claim.sentence(&violation.words, &describe)
}

/// Where an operation was called: ` (line 7)`.
fn place(op: &Observed<ObjectType>, unit: &str) -> String {
    format!(" ({unit} {})", op.call.line)
}

/// A finding of a stream whose places are counted in `unit`.
pub(super) fn of_finding(finding: &Finding<ObjectType>, unit: &str) -> serde_json::Value {
    match finding {
        Finding::Violation(violation) => json!({
            "notice": "violation",
            "object": violation.object.to_json(),
            "key": violation.key.as_ref().map(Value::to_json),
            "operation": operation(&violation.op),
            "sentence": sentence(violation, unit),
            "claim": violation.claim.kind(),
            "others": violation.others.iter().map(|op| operation(op)).collect::<Vec<_>>(),
            "failed": violation.failed.as_deref().map(operation),
        }),
        Finding::CannotTell(untold) => json!({
            "notice": "cannot tell",
            "object": untold.object.to_json(),
            "key": untold.key.as_ref().map(Value::to_json),
            "reason": untold.reason,
        }),
    }
}

/// ` (key y of object x)`, as far as there are such.
fn in_part(object: &Value, key: Option<&Value>) -> String {
    let part = of_part(object, key);
    let part = part.strip_prefix(" of ");
    part.map_or_else(String::new, |part| format!(" ({part})"))
}

fn summary(totals: &Totals) -> String {
    let violations = match totals.violations {
        0 => "no violation".to_owned(),
        count => counted(count, "violation"),
    };
    let untold = match totals.untold {
        0 => String::new(),
        count => format!(", cannot tell {count} of the objects or keys"),
    };
    format!(
        "{}, {}, {} still open, {violations}{untold}",
        counted(totals.events as usize, "event"),
        counted(totals.operations as usize, "operation"),
        totals.open,
    )
}

/// An operation with its line.
fn operation(op: &Observed<ObjectType>) -> serde_json::Value {
    json!({
        "process": op.process.to_json(),
        "object": op.call.object.to_json(),
        "method": &*op.call.method,
        "arg": op.call.argument.to_json(),
        "ret": op.result().map(Value::to_json),
        "line": op.call.line,
    })
}
