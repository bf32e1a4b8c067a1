//! Verdicts as text: the verdict first, then the evidence.

use std::io::Write;

use linpoint::history::{FailedOp, Op};
use linpoint::object::RecordedCall;
use linpoint::online::Observable;
use linpoint::spec::{Keys, Role};
use linpoint::verdict::{Claim, Core, Detailed, Limit, PartReport, Possible, Violation};
use linpoint::{History, ObjectType, Value, Verdict};

use super::conditions::diagnosis_lines;
use super::{Summary, core_table};
use crate::results::Checked;
use crate::units::{counted, show_duration};

pub(super) fn print(out: &mut dyn Write, checked: &Checked, explain: bool) -> std::io::Result<()> {
    let label = checked.recorded.title();
    let labelled = match (checked.as_labelled(), checked.recorded.expected) {
        (Some(false), Some(true)) => " (labelled linearizable)",
        (Some(false), Some(false)) => " (labelled not linearizable)",
        _ => "",
    };
    match &checked.report.verdict {
        Verdict::Linearizable(_) => {
            let ops = counted(checked.recorded.history.len(), "operation");
            let shown_by = checked
                .shown_by()
                .map_or_else(String::new, |d| format!(", shown by d = {d}"));
            let stuck = match checked.recorded.history.ends_stuck() {
                true => ", stuck for a reason",
                false => "",
            };
            writeln!(
                out,
                "{label}: linearizable{shown_by}{stuck} ({ops}, {}){labelled}",
                show_duration(checked.time)
            )?;
        }
        Verdict::Undecided(undecided) => {
            writeln!(out, "{label}: undecided, {undecided}")?;
            for line in super::undecided::lines(&checked.recorded.history, &checked.report) {
                writeln!(out, "  {line}")?;
            }
        }
        Verdict::Violation(_) => {
            writeln!(out, "{label}: not linearizable{labelled}")?;
            for part in &checked.report.parts {
                if let Verdict::Violation(violation) = &part.verdict {
                    show_violation(out, checked, part, violation)?;
                }
            }
            if let Some(diagnosis) = &checked.diagnosis {
                let lines = diagnosis_lines(&checked.recorded.history, diagnosis);
                for line in &lines {
                    writeln!(out, "  {line}")?;
                }
                if !lines.is_empty() {
                    writeln!(out)?;
                }
            }
        }
    }
    if checked.report.skipped > 0 {
        let has_keys = checked.report.parts.iter().any(|part| part.key.is_some());
        let what = if has_keys {
            "further key"
        } else {
            "further object"
        };
        let parts = counted(checked.report.skipped, what);
        writeln!(out, "  {parts} not looked at; --all decides all of them")?;
    }
    for note in checked.notes() {
        writeln!(out, "  note: {note}")?;
    }
    if explain {
        show_reasons(out, checked)?;
    }
    Ok(())
}

fn show_violation(
    out: &mut dyn Write,
    checked: &Checked,
    part: &PartReport,
    violation: &Violation,
) -> std::io::Result<()> {
    let history = &checked.recorded.history;
    let core = &violation.core;
    writeln!(out, "\n  {}\n", core.sentence())?;
    if let Some(possible) = possible_text(history, violation) {
        writeln!(out, "  {possible}\n")?;
    }
    if let Some(difference) = difference(history, violation) {
        writeln!(out, "  {difference}\n")?;
    }
    if let Some(seen) = Seen::in_violation(history, violation, part) {
        let value = seen.value;
        let how = match core.claim() {
            Claim::NeverPut { .. } => "seen".to_owned(),
            Claim::TakenTooOften { .. } => {
                format!(
                    "{} more often than it was there",
                    checked.object.vocabulary().taken
                )
            }
            _ => "seen again".to_owned(),
        };
        for failed in seen.failed(history, &checked.object) {
            writeln!(out, "  {failed} failed, and yet {value} was {how}\n")?;
        }
    }
    for line in core_lines(history, core) {
        let line = format!("  {line}");
        writeln!(out, "{}", line.trim_end())?;
    }
    show_first_bad(out, history, part, violation)?;
    let size = core.extent();
    let confirmed = core.confirmation();
    let about = core.place().map_or_else(String::new, |place| {
        let name = checked.object.vocabulary().place;
        format!(", counting only what they say about {name} {place}")
    });
    writeln!(
        out,
        "  core: {}{about}, {size}, {confirmed}",
        counted(core.ops().len(), "operation")
    )?;
    if let Some(advice) = advice_on(core) {
        writeln!(out, "  {advice}")?;
    }
    writeln!(out)
}

/// From which event on a part is not linearizable.
fn show_first_bad(
    out: &mut dyn Write,
    history: &History,
    part: &PartReport,
    violation: &Violation,
) -> std::io::Result<()> {
    if violation.blocked.is_some() {
        return writeln!(
            out,
            "\n  not linearizable only because the history ends stuck"
        );
    }
    let last = history.op(violation.last);
    let returned = history.return_place(last.id);
    let returned = returned.map_or_else(String::new, |place| format!(" {place}"));
    let place = history.place(last.id);
    let place = place.map_or_else(String::new, |place| format!(", called {place}"));
    let of_part = part_name(part);
    let at_the_latest = match violation.shortest {
        true => "",
        false => " at the latest",
    };
    writeln!(
        out,
        "\n  not linearizable{at_the_latest} from the return of {} by process {}{returned}{place}",
        core_table::cut(&last.text()),
        last.process,
    )?;
    let events = violation.prefix_events;
    let which = if violation.shortest {
        "the shortest bad beginning"
    } else {
        "a bad beginning"
    };
    writeln!(out, "  {which}{of_part} has {events} events")
}

/// What lets a core be reduced further, if it is not minimal.
fn advice_on(core: &Core) -> Option<&'static str> {
    if core.is_minimal() {
        return None;
    }
    match core.stopped_by() {
        None => Some("it may be reduced further with a longer --explanation"),
        Some(Limit::Time(_)) => Some("it may be reduced further with a longer --timeout"),
        Some(Limit::TotalTime(_)) => {
            Some("it may be reduced further with a longer --timeout-total")
        }
        Some(Limit::Memory(_)) => Some("it may be reduced further with a larger --memory"),
        Some(Limit::AddressSpace(_)) => Some("it may be reduced further with a larger ulimit -v"),
        _ => None,
    }
}

/// Where a long answer differs from the only possible one.
fn difference(history: &History, violation: &Violation) -> Option<String> {
    /// Shorter answers are seen to differ.
    const SHORT: usize = 400;
    const AROUND: usize = 40;
    let answers = &violation.possible.as_ref()?.answers;
    let recorded = history.op(violation.last).result?.to_string();
    let possible = answers.shown.first().filter(|_| answers.count == 1)?;
    if recorded.len().min(possible.len()) <= SHORT {
        return None;
    }
    let pairs = recorded.char_indices().zip(possible.chars());
    let same = pairs.take_while(|((_, a), b)| a == b);
    let differs = same.last().map_or(0, |((at, a), _)| at + a.len_utf8());
    // From the beginning of the item in which they differ.
    let item = recorded[..differs].rfind(", ").map_or(0, |at| at + 2);
    let from_item = |text: &str| text[item..].chars().take(AROUND).collect::<String>();
    let before: String = {
        let before: Vec<char> = recorded[..item].chars().rev().take(AROUND).collect();
        before.into_iter().rev().collect()
    };
    Some(format!(
        "after …{} it answered {}…, and the possible answer goes on with {}…",
        before.trim_end(),
        from_item(&recorded),
        from_item(possible)
    ))
}

/// What the first bad operation could have answered, unless the sentence says it already.
fn possible_text(history: &History, violation: &Violation) -> Option<String> {
    let claim = violation.core.claim();
    let is_said = |possible: &&Possible| match claim {
        Claim::OnlyAnswers { .. } | Claim::CannotHappen { .. } | Claim::NotBlocked { .. } => true,
        // It names the entries that matter; the states have all of them.
        Claim::WrongScan { .. } => true,
        Claim::NotChanged { .. } => possible.answers.count == 0,
        Claim::Detailed(detailed) => match **detailed {
            Detailed::HeldBy { .. } | Detailed::TooFewPermits { .. } => possible.answers.count == 0,
            _ => false,
        },
        _ => false,
    };
    let possible = violation.possible.as_ref();
    let possible = possible.filter(|possible| !is_said(possible))?;
    let states = possible.states.alternatives();
    // The sentence may be about another operation than the one that this is about.
    let is_named = claim.op() == Some(&violation.last);
    let describe = || history.describe(violation.last);
    Some(match (possible.answers.count, is_named) {
        (0, true) => format!(
            "no order that explains the other results lets it take effect; without it, {states} when it returned, whatever the order"
        ),
        (0, false) => {
            let op = describe();
            format!(
                "no order that explains the other results lets {op} take effect; without it, {states} when it returned, whatever the order"
            )
        }
        (_, true) => {
            let answers = possible.answers.other_answers();
            format!(
                "by the other results, {states}, whatever the order, so the answer could only be {answers}"
            )
        }
        (_, false) => {
            let (op, answers) = (describe(), possible.answers.other_answers());
            format!(
                "by the other results, {states}, whatever the order, so the answer of {op} could only be {answers}"
            )
        }
    })
}

/// A value that was seen where no operation had put it.
struct Seen<'a> {
    /// The operation that saw it.
    op: Op<'a>,
    /// The key at which it did, where keys name places that hold values.
    key: Option<&'a Value>,
    value: &'a Value,
}

impl<'a> Seen<'a> {
    /// The value that a violation is about, if it was seen where it was not, or not any more.
    fn in_violation(
        history: &'a History,
        violation: &'a Violation,
        part: &'a PartReport,
    ) -> Option<Self> {
        let (op, key, value) = match violation.core.claim() {
            Claim::NeverPut { op, key, value, .. } => (op, key.as_ref(), value),
            Claim::TakenTooOften { value, .. } => (&violation.last, None, value),
            Claim::UsedAfterRemoval { value, later, .. } => (later, part.key.as_ref(), value),
            Claim::TakenBefore { value, op, .. } => (op, part.key.as_ref(), value),
            _ => return None,
        };
        Some(Seen {
            op: history.op(*op),
            key,
            value,
        })
    }

    /// The operations that were called before the value was seen, failed, and would have put it there.
    fn failed(&self, history: &History, object: &ObjectType) -> Vec<String> {
        let is_before = |failed: &&FailedOp| {
            failed.called <= self.op.ret && failed.call.object == *self.op.object
        };
        let failed = history.failed().iter().filter(is_before);
        let failed = failed.filter(|failed| self.would_be_put(failed, object));
        let described = failed.take(MOST_LISTED).map(|failed| {
            let (call, process) = (failed.call_text(), &failed.process);
            match failed.line {
                0 => format!("{call} by process {process}"),
                line => format!("{call} by process {process} (line {line})"),
            }
        });
        described.collect()
    }

    fn would_be_put(&self, failed: &FailedOp, object: &ObjectType) -> bool {
        let call = RecordedCall::from(failed.call.clone());
        let Ok(facts) = object.facts(&failed.process, &call, None) else {
            return false;
        };
        match (object.vocabulary().keys, facts.role) {
            // The member of a set is its key.
            (Keys::Members, Role::Slot { leaves, .. }) => {
                facts.key.as_ref() == Some(self.value) && leaves == Some(Value::Bool(true))
            }
            (Keys::Places, Role::Slot { leaves, .. }) => {
                facts.key.as_ref() == self.key && leaves.as_ref() == Some(self.value)
            }
            (Keys::Places, Role::Adds(put)) => facts.key.as_ref() == self.key && put == *self.value,
            _ => false,
        }
    }
}

/// More operations of a kind than this are only counted.
const MOST_LISTED: usize = 6;

/// The core as a picture, what it starts from, and what it leaves open.
pub(super) fn core_lines(history: &History, core: &Core) -> Vec<String> {
    let indented = |line: String| format!("  {line}");
    let mut lines = Vec::new();
    if let Some(anchor) = core.anchor() {
        let [when, what] = anchor.clauses(|id| history.describe(id));
        lines.extend([format!("{when},"), indented(what), String::new()]);
    }
    lines.extend(core_table::lines(history, core).into_iter().map(indented));
    if !core.premises().is_empty() {
        lines.push(String::new());
        lines.push(
            "these changed nothing, as their answers tell; had any one of them not returned, the core would have an order:"
                .to_owned(),
        );
        let premises = core.premises().iter().take(MOST_LISTED);
        lines.extend(premises.map(|&id| indented(history.describe(id))));
        if core.premises().len() > MOST_LISTED {
            let more = core.premises().len() - MOST_LISTED;
            lines.push(format!("  and {more} more"));
        }
    }
    if core.relaxed().is_empty() {
        return lines;
    }
    let since = core.anchor().map_or("", |_| "from then on ");
    lines.extend([
        String::new(),
        format!("{since}the core is impossible no matter what these answered, and when or whether they took effect:"),
    ]);
    for &id in core.relaxed().iter().take(MOST_LISTED) {
        let op = history.op(id);
        let call = core_table::cut(&op.call_text());
        let place = history.place(id);
        let place = place.map_or_else(String::new, |place| format!(", called {place}"));
        lines.push(format!("  {call} by process {}{place}", op.process));
    }
    if core.relaxed().len() > MOST_LISTED {
        lines.push(format!("  and {} more", core.relaxed().len() - MOST_LISTED));
    }
    lines
}

/// ` of key y of object x`, as far as there are such.
pub(super) fn of_part(object: &Value, key: Option<&Value>) -> String {
    let object = if object.is_nil() {
        String::new()
    } else {
        format!(" of object {object}")
    };
    let key = key.map_or_else(String::new, |key| format!(" of key {key}"));
    key + &object
}

/// The same of a part.
pub(super) fn part_name(part: &PartReport) -> String {
    of_part(&part.object, part.key.as_ref())
}

fn show_reasons(out: &mut dyn Write, checked: &Checked) -> std::io::Result<()> {
    let history = &checked.recorded.history;
    let shape = history.shape();
    writeln!(out, "  type: {}", checked.type_name)?;
    writeln!(
        out,
        "  history: {}, {}, width {}, {}, {} pending, {}",
        counted(history.len(), "operation"),
        counted(history.processes().len(), "process"),
        shape.width,
        counted(shape.concurrent_pairs as usize, "concurrent pair"),
        shape.pending,
        counted(shape.quiescent_cuts, "quiescent cut"),
    )?;
    writeln!(out, "  time: {}", show_duration(checked.time))?;
    if let Some(effort) = checked.object.effort() {
        writeln!(out, "  effort: {effort}")?;
    }
    let mut parts: Vec<&PartReport> = checked.report.parts.iter().collect();
    parts.sort_by(|a, b| (&a.object, &a.key).cmp(&(&b.object, &b.key)));
    for part in parts {
        let verdict = match &part.verdict {
            Verdict::Linearizable(_) => "linearizable",
            Verdict::Violation(_) => "not linearizable",
            Verdict::Undecided(_) => "undecided",
        };
        let ops = counted(part.ops, "operation");
        writeln!(
            out,
            "  {ops}{}, {verdict}; engine {}, {}",
            part_name(part),
            part.engine,
            part.reason
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
    let what = match summary.are_objects {
        true => "object",
        false => "history",
    };
    let histories = counted(summary.histories(), what);
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
    let stopped = match summary.is_stopped {
        true => "; stopped at the first violation: --all decides all objects",
        false => "",
    };
    let counts = counts.join(", ");
    format!("{histories}: {counts}{labelled}{interrupted}{stopped}")
}
