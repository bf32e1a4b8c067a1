//! Verdicts as EDN, in the shape of Jepsen's results: `:valid?` is `true`, `false` or `:unknown`.

use linpoint::condition::Diagnosis;
use linpoint::format::RecordedHistory;
use linpoint::verdict::PartReport;
use linpoint::{History, OpId, Value, Verdict};

use super::Summary;
use super::conditions::diagnosis_lines;
use super::undecided::sentence;
use crate::results::Outcome;

/// All histories: one as it is, several by name.
pub(super) fn document(outcomes: &[(String, String)], summary: &Summary) -> String {
    if let [(_, only)] = outcomes
        && summary.histories() == 1
    {
        return only.clone();
    }
    let valid = if summary.violations > 0 {
        "false"
    } else if summary.undecided + summary.errors > 0 {
        ":unknown"
    } else {
        "true"
    };
    let results: Vec<String> = outcomes
        .iter()
        .map(|(name, result)| format!("{} {result}", text(name)))
        .collect();
    format!("{{:valid? {valid}, :results {{{}}}}}", results.join("\n "))
}

/// The name of a history, and its result.
pub(super) fn outcome(outcome: &Outcome) -> (String, String) {
    let checked = match outcome {
        Ok(checked) => checked,
        Err(error) => {
            let label = error.label().unwrap_or_else(|| "-".to_owned());
            let result = format!("{{:valid? :unknown, :error {}}}", text(&error.to_string()));
            return (label, result);
        }
    };
    let history = &checked.recorded.history;
    let mut fields = vec![
        format!(":valid? {}", valid(&checked.report.verdict)),
        format!(":type {}", text(&checked.type_name)),
        format!(":operations {}", history.len()),
    ];
    let failures: Vec<String> = checked
        .report
        .parts
        .iter()
        .filter_map(|part| match &part.verdict {
            Verdict::Linearizable(_) => None,
            Verdict::Undecided(undecided) => {
                let why = sentence(history, undecided);
                Some(failure(part, ":limit", &why, &[]))
            }
            Verdict::Violation(violation) => {
                let ops = violation.core.ops().iter();
                let ops: Vec<String> = ops.map(|&id| operation(&checked.recorded, id)).collect();
                Some(failure(part, ":sentence", violation.core.sentence(), &ops))
            }
        })
        .collect();
    if !failures.is_empty() {
        fields.push(format!(":failures [{}]", failures.join(" ")));
    }
    if let Some(found) = &checked.diagnosis {
        fields.push(format!(":diagnosis {}", diagnosis(history, found)));
    }
    (
        checked.recorded.label(),
        format!("{{{}}}", fields.join(", ")),
    )
}

/// What still holds, with the words in which texts say it.
fn diagnosis(history: &History, diagnosis: &Diagnosis) -> String {
    let names = |expected: bool| {
        let known = diagnosis.defined.iter();
        let known = known.filter(|condition| diagnosis.holds(**condition) == Some(expected));
        let names: Vec<String> = known.map(|of| text(&of.to_string())).collect();
        format!("[{}]", names.join(" "))
    };
    let strongest = diagnosis.strongest();
    let strongest: Vec<String> = strongest.iter().map(|of| text(&of.to_string())).collect();
    let lines = diagnosis_lines(history, diagnosis);
    let lines: Vec<String> = lines.iter().map(|line| text(line)).collect();
    let mut fields = vec![
        format!(":strongest [{}]", strongest.join(" ")),
        format!(":holds {}", names(true)),
        format!(":fails {}", names(false)),
        format!(":text [{}]", lines.join(" ")),
    ];
    if let Some(versions) = diagnosis.versions {
        let (least, most) = (versions.at_least, versions.at_most);
        fields.push(format!(":k {{:at-least {least}, :at-most {most}}}"));
    }
    if let Some(lateness) = diagnosis.lateness {
        fields.push(format!(":delta {}", lateness.delta));
    }
    format!("{{{}}}", fields.join(", "))
}

/// An operation of a core, with the index of its invocation in a Jepsen history.
fn operation(recorded: &RecordedHistory, id: OpId) -> String {
    let op = recorded.history.op(id);
    let index = recorded.invocations.get(id.index());
    let index = index.map(|index| format!(":index {index}"));
    let line = (op.line != 0).then(|| format!(":line {}", op.line));
    let fields = [
        index,
        line,
        Some(format!(":process {}", value(op.process))),
        Some(format!(":op {}", text(&op.text()))),
    ];
    let fields: Vec<String> = fields.into_iter().flatten().collect();
    format!("{{{}}}", fields.join(", "))
}

fn valid(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Linearizable(_) => "true",
        Verdict::Violation(_) => "false",
        Verdict::Undecided(_) => ":unknown",
    }
}

/// A part that is not valid, or not known to be.
fn failure(part: &PartReport, why: &str, what: &str, ops: &[String]) -> String {
    let mut fields = vec![format!(":valid? {}", valid(&part.verdict))];
    if !part.object.is_nil() {
        fields.push(format!(":object {}", value(&part.object)));
    }
    if let Some(key) = &part.key {
        fields.push(format!(":key {}", value(key)));
    }
    fields.push(format!(":engine {}", text(part.engine)));
    fields.push(format!("{why} {}", text(what)));
    if !ops.is_empty() {
        fields.push(format!(":core [{}]", ops.join(" ")));
    }
    format!("{{{}}}", fields.join(", "))
}

/// A plain value as it is, any other as a string.
fn value(value: &Value) -> String {
    match value {
        Value::Nil | Value::Bool(_) | Value::Int(_) => value.to_string(),
        Value::Text(plain) => text(plain.as_str()),
        value => text(&value.to_string()),
    }
}

/// A string.
fn text(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    #[test]
    fn strings_are_those_of_clojure() {
        assert_eq!(
            super::text("a \"b\" \\ \n\u{1b} é"),
            r#""a \"b\" \\ \n\u001b é""#
        );
    }
}
