//! Verdicts for people: the verdict first, then the evidence.

use std::io::Write;

use linpoint::verdict::{Limit, Undecided, Violation};
use linpoint::{OpId, Verdict};

use super::{Outcome, Summary, core_table};
use crate::cmd::check::Checked;
use crate::units::{show_bytes, show_duration};

pub(super) fn print(out: &mut dyn Write, outcome: &Outcome, explain: bool) -> std::io::Result<()> {
    let Ok(checked) = outcome else { return Ok(()) };
    let label = checked.recorded.label();
    let labelled = match (checked.as_labelled(), checked.recorded.expected) {
        (Some(false), Some(true)) => " (labelled linearizable)",
        (Some(false), Some(false)) => " (labelled not linearizable)",
        _ => "",
    };
    match &checked.report.verdict {
        Verdict::Linearizable(_) => {
            let ops = counted(checked.recorded.history.len(), "operation");
            writeln!(
                out,
                "{label}: linearizable ({ops}, {}){labelled}",
                show_duration(checked.time)
            )?;
        }
        Verdict::Undecided(undecided) => writeln!(out, "{label}: undecided, {}", why(undecided))?,
        Verdict::Violation(violation) => {
            writeln!(out, "{label}: not linearizable{labelled}")?;
            show_violation(out, checked, violation)?;
        }
    }
    if explain {
        show_reasons(out, checked)?;
    }
    Ok(())
}

/// `1 operation`, `2 operations`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn why(undecided: &Undecided) -> String {
    let limit = match undecided.limit {
        Limit::Time(time) => format!("the time limit of {} came first", show_duration(time)),
        Limit::Memory(bytes) => format!("the memory limit of {} came first", show_bytes(bytes)),
        _ => "interrupted".to_owned(),
    };
    let Undecided {
        engine,
        prefix_events,
        events,
        ..
    } = undecided;
    format!(
        "{limit} (engine {engine}; the first {prefix_events} of {events} events are linearizable)"
    )
}

fn show_violation(
    out: &mut dyn Write,
    checked: &Checked,
    violation: &Violation,
) -> std::io::Result<()> {
    let history = &checked.recorded.history;
    let core = &violation.core;
    writeln!(out, "\n  {}\n", core.sentence)?;
    for line in core_table::lines(history, core) {
        writeln!(out, "    {line}")?;
    }
    if !core.relaxed.is_empty() {
        let names = |id: &OpId| {
            let op = history.op(*id);
            format!("{} by process {}", op.call_text(), op.process)
        };
        let shown: Vec<_> = core.relaxed.iter().take(6).map(names).collect();
        let rest = core.relaxed.len() - shown.len();
        let rest = if rest == 0 {
            String::new()
        } else {
            format!(" and {rest} more")
        };
        writeln!(
            out,
            "\n  whatever these did, if anything: {}{rest}",
            shown.join(", ")
        )?;
    }
    let last = history.op(violation.last);
    let line = if last.line == 0 {
        String::new()
    } else {
        format!(" (called on line {})", last.line)
    };
    let which = if violation.shortest {
        "the first"
    } else {
        "among the first"
    };
    writeln!(
        out,
        "\n  up to the return of {} by process {}{line} the history is not linearizable: {which} {} events",
        last.text(),
        last.process,
        violation.prefix_events,
    )?;
    let size = if core.minimal {
        "minimal"
    } else {
        "reduced as far as the time allowed"
    };
    let confirmed = if core.certified {
        "confirmed by an independent check"
    } else {
        "too large for an independent check"
    };
    writeln!(
        out,
        "  core: {}, {size}, {confirmed}",
        counted(core.ops.len(), "operation")
    )
}

fn show_reasons(out: &mut dyn Write, checked: &Checked) -> std::io::Result<()> {
    let history = &checked.recorded.history;
    let shape = history.shape();
    writeln!(out, "  type: {}", checked.type_name)?;
    writeln!(
        out,
        "  history: {}, {} processes, width {}, {} concurrent pairs, {} pending, {} quiescent cuts",
        counted(history.len(), "operation"),
        history.processes().len(),
        shape.width,
        shape.concurrent_pairs,
        shape.pending,
        shape.quiescent_cuts,
    )?;
    writeln!(out, "  time: {}", show_duration(checked.time))?;
    for part in &checked.report.parts {
        let object = if part.object.is_nil() {
            String::new()
        } else {
            format!(" of object {}", part.object)
        };
        let key = part
            .key
            .as_ref()
            .map_or_else(String::new, |key| format!(" with key {key}"));
        let verdict = match &part.verdict {
            Verdict::Linearizable(_) => "linearizable",
            Verdict::Violation(_) => "not linearizable",
            Verdict::Undecided(_) => "undecided",
        };
        let ops = counted(part.ops, "operation");
        writeln!(
            out,
            "  {ops}{object}{key}: {verdict}; engine {}, {}",
            part.engine, part.reason
        )?;
    }
    Ok(())
}

pub(super) fn summary(summary: &Summary) -> String {
    let mut counts = vec![format!("{} linearizable", summary.linearizable)];
    let others = [
        (summary.violations, "not linearizable"),
        (summary.undecided, "undecided"),
        (summary.errors, "in error"),
    ];
    counts.extend(
        others
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}")),
    );
    let histories = match summary.histories() {
        1 => "1 history".to_owned(),
        n => format!("{n} histories"),
    };
    let interrupted = if summary.interrupted {
        " (interrupted)"
    } else {
        ""
    };
    let known = summary.as_labelled + summary.not_as_labelled;
    let labelled = match (summary.as_labelled, summary.not_as_labelled) {
        (0, 0) => String::new(),
        (_, 0) if known == summary.histories() => "; all as labelled".to_owned(),
        (count, 0) => format!("; {count} as labelled"),
        (_, count) => format!("; {count} not as labelled"),
    };
    format!("{histories}: {}{labelled}{interrupted}", counts.join(", "))
}
