//! Isolation levels as text and for machines.

use std::io::Write;
use std::time::Duration;

use linpoint::format::RecordedHistory;
use linpoint::transaction::{LevelReport, Member, Model, Moment, Verdict, Violation, Witness};
use linpoint::{Error, History};
use serde_json::{Value, json};

use super::error_name;
use super::json::{SCHEMA, operation};
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::files::Output;
use crate::units::{counted, show_duration};

/// A history with the verdicts on its levels.
pub(crate) struct Decided {
    pub(crate) recorded: RecordedHistory,
    pub(crate) model: Model,
    pub(crate) reports: Vec<LevelReport>,
    pub(crate) time: Duration,
}

/// Prints verdicts on levels in the style that was asked for.
pub(crate) struct Printer {
    style: Style,
    /// Whether to leave out levels that hold.
    quiet: bool,
    out: Output,
    /// The histories of a JSON document, which is printed at the end.
    collected: Vec<Value>,
    summary: Summary,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Text,
    Json,
    JsonLines,
}

/// The number of verdicts of each kind, over all histories and levels.
#[derive(Default)]
struct Summary {
    holds: usize,
    violated: usize,
    undecided: usize,
    errors: usize,
    exit: Exit,
}

impl Printer {
    pub(crate) fn new(args: &CheckArgs, out: Output) -> Self {
        let style = match (args.report.json, args.jsonl) {
            (true, _) => Style::Json,
            (_, true) => Style::JsonLines,
            _ => Style::Text,
        };
        Printer {
            style,
            quiet: args.quiet,
            out,
            collected: Vec::new(),
            summary: Summary::default(),
        }
    }

    pub(crate) fn print(&mut self, outcome: &Result<Decided, Error>) -> std::io::Result<()> {
        self.summary.count(outcome);
        if let Err(error) = outcome {
            // Keeps the order of both outputs on a terminal.
            self.out.flush()?;
            eprintln!("linpoint: {error}");
        }
        match (self.style, outcome) {
            (Style::Text, Ok(decided)) => text(&mut self.out, decided, self.quiet)?,
            (Style::Text, Err(_)) => {}
            (Style::Json, outcome) => self.collected.push(document(outcome)),
            (Style::JsonLines, outcome) => writeln!(self.out, "{}", document(outcome))?,
        }
        self.out.flush()
    }

    pub(crate) fn finish(mut self) -> std::io::Result<Exit> {
        if self.style == Style::Json {
            let summary = &self.summary;
            let document = json!({
                "schema": SCHEMA,
                "histories": self.collected,
                "summary": {
                    "holds": summary.holds,
                    "violated": summary.violated,
                    "undecided": summary.undecided,
                    "errors": summary.errors,
                },
            });
            writeln!(self.out, "{document}")?;
        }
        self.out.flush()?;
        Ok(self.summary.exit)
    }
}

impl Summary {
    fn count(&mut self, outcome: &Result<Decided, Error>) {
        match outcome {
            Err(error) => {
                self.errors += 1;
                self.exit = self.exit.max(Exit::of_kind(error.kind()));
            }
            Ok(decided) => {
                for report in &decided.reports {
                    let (counter, exit) = match report.verdict {
                        Verdict::Holds(_) => (&mut self.holds, Exit::Linearizable),
                        Verdict::Violated(_) => (&mut self.violated, Exit::Violation),
                        _ => (&mut self.undecided, Exit::Undecided),
                    };
                    *counter += 1;
                    self.exit = self.exit.max(exit);
                }
            }
        }
    }
}

fn text(out: &mut dyn Write, decided: &Decided, quiet: bool) -> std::io::Result<()> {
    let label = decided.recorded.title();
    let history = &decided.recorded.history;
    for (i, report) in decided.reports.iter().enumerate() {
        let level = report.level;
        match &report.verdict {
            Verdict::Holds(_) if quiet => {}
            Verdict::Holds(_) => {
                let txns = counted(history.len(), "transaction");
                let time = show_duration(decided.time);
                let meaning = level.meaning();
                writeln!(
                    out,
                    "{label}: {level} ({txns}, {time}): the transactions {meaning}"
                )?;
            }
            Verdict::Violated(violation) => {
                let meaning = violation.anomaly.meaning();
                writeln!(out, "{label}: not {level}: {violation} ({meaning})")?;
                let is_shown = |earlier: &LevelReport| earlier.verdict == report.verdict;
                match decided.reports[..i]
                    .iter()
                    .find(|earlier| is_shown(earlier))
                {
                    Some(earlier) => writeln!(out, "  as for {} above", earlier.level)?,
                    None => violation_text(out, history, violation)?,
                }
            }
            Verdict::Undecided(reason) => writeln!(out, "{label}: {level}: undecided, {reason}")?,
            _ => writeln!(out, "{label}: {level}: undecided")?,
        }
    }
    if history.is_empty() {
        writeln!(out, "  note: it holds no operations: nothing was checked")?;
    }
    for note in &decided.recorded.notes {
        writeln!(out, "  note: {note}")?;
    }
    Ok(())
}

/// A text shows at most so many transactions of a violation.
const MOST_SHOWN: usize = 40;

fn violation_text(
    out: &mut dyn Write,
    history: &History,
    violation: &Violation,
) -> std::io::Result<()> {
    writeln!(out, "\n  {}\n", violation.sentence)?;
    for (i, member) in violation.members.iter().enumerate().take(MOST_SHOWN) {
        writeln!(out, "    T{} = {}", i + 1, described(history, *member))?;
    }
    if let Some(more) = violation.members.len().checked_sub(MOST_SHOWN + 1) {
        writeln!(
            out,
            "    and {}; --json has all",
            counted(more + 1, "more transaction")
        )?;
    }
    if !violation.cycle.is_empty() {
        writeln!(out)?;
    }
    for edge in &violation.cycle {
        let (from, to) = (edge.from + 1, edge.to + 1);
        writeln!(out, "    T{from} → T{to}  {}: {}", edge.kind, edge.reason)?;
    }
    let size = counted(violation.members.len(), "transaction");
    let how = match violation.is_smallest {
        true => "",
        false => ", perhaps not the smallest",
    };
    writeln!(out, "\n  core: {size}{how}\n")
}

fn described(history: &History, member: Member) -> String {
    match member {
        Member::Op(id) => history.describe(id),
        Member::Failed(number) => {
            let failed = &history.failed()[number];
            let line = match failed.line {
                0 => String::new(),
                line => format!(" (line {line})"),
            };
            format!(
                "{}, which aborted, by process {}{line}",
                failed.call_text(),
                failed.process
            )
        }
        _ => String::new(),
    }
}

fn document(outcome: &Result<Decided, Error>) -> Value {
    let decided = match outcome {
        Ok(decided) => decided,
        Err(error) => {
            return json!({
                "schema": SCHEMA,
                "history": error.label(),
                "verdict": "error",
                "error": { "kind": error_name(error.kind()), "line": error.line(), "reason": error.reason() },
            });
        }
    };
    let history = &decided.recorded.history;
    let levels = decided.reports.iter().map(|report| level(history, report));
    json!({
        "schema": SCHEMA,
        "history": decided.recorded.label(),
        "type": match decided.model {
            Model::Lists => "list-append",
            Model::Registers { .. } => "multi-register",
        },
        "transactions": history.len(),
        "seconds": decided.time.as_secs_f64(),
        "levels": levels.collect::<Vec<_>>(),
    })
}

fn level(history: &History, report: &LevelReport) -> Value {
    let mut fields = json!({ "level": report.level.name(), "decided_as": report.decided.name() });
    match &report.verdict {
        Verdict::Holds(witness) => {
            fields["verdict"] = json!("holds");
            match witness {
                Witness::Order(order) => {
                    fields["order"] = order.iter().map(|id| id.0).collect();
                }
                Witness::Schedule(moments) => {
                    fields["schedule"] = moments.iter().map(moment).collect();
                }
                _ => {}
            }
        }
        Verdict::Violated(found) => {
            fields["verdict"] = json!("violated");
            fields["violation"] = violation(history, found);
        }
        Verdict::Undecided(reason) => {
            fields["verdict"] = json!("undecided");
            fields["reason"] = json!(reason);
        }
        _ => {}
    }
    fields
}

fn moment(moment: &Moment) -> Value {
    match moment {
        Moment::Start(id) => json!({ "start": id.0 }),
        moment => json!({ "commit": moment.op().0 }),
    }
}

fn violation(history: &History, violation: &Violation) -> Value {
    let members = violation.members.iter().map(|member| match member {
        Member::Op(id) => operation(history, *id),
        member => json!({ "failed": described(history, *member) }),
    });
    let cycle = violation.cycle.iter().map(|edge| {
        json!({ "from": edge.from, "to": edge.to, "kind": edge.kind, "reason": edge.reason })
    });
    json!({
        "anomaly": violation.name(),
        "sentence": violation.sentence,
        "transactions": members.collect::<Vec<_>>(),
        "cycle": cycle.collect::<Vec<_>>(),
        "smallest": violation.is_smallest,
    })
}
