//! What the command prints and writes, as values: for other front ends.

use linpoint::proof::Proof;
use linpoint::report::Page;
use linpoint::{Budget, Error, ErrorKind, Finding, ObjectType, OpId, Verdict};
use serde_json::Value;

use super::{Summary, conditions, html, json, text as words, watch};
use crate::args::DEFAULT_HTML_LIMIT;
use crate::results::{Checked, Decided, Outcome};

/// Whether the reasons are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Verdicts and evidence.
    Verdicts,
    /// The engines and their reasons, too, as with `--explain`.
    Reasons,
}

fn summary(outcomes: &[Outcome]) -> Summary {
    let mut summary = Summary::default();
    outcomes.iter().for_each(|outcome| summary.count(outcome));
    summary
}

/// The verdicts as the command prints them.
pub fn text(outcomes: &[Outcome], detail: Detail) -> String {
    let mut text = Vec::new();
    for checked in outcomes.iter().flatten() {
        // Nothing fails that is written to memory.
        let _ = words::print(&mut text, checked, detail == Detail::Reasons);
    }
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if outcomes.len() > 1 {
        text.push_str(&words::summary(&summary(outcomes)));
        text.push('\n');
    }
    text
}

/// The document that the command prints with `--json`.
pub fn document(outcomes: &[Outcome]) -> Value {
    let histories = outcomes.iter().map(json::outcome).collect();
    json::document(histories, &summary(outcomes))
}

/// One history of that document.
pub fn history(checked: &Checked) -> Value {
    json::of_checked(checked)
}

/// What was decided about conditions, as the command prints it.
pub fn conditions_text(decided: &[Decided]) -> String {
    let mut text = Vec::new();
    for decided in decided {
        // Nothing fails that is written to memory.
        let _ = conditions::text(&mut text, decided);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The document that the command prints of it with `--json`.
pub fn conditions_document(decided: Vec<Decided>) -> Value {
    let histories = decided.into_iter().map(Ok);
    conditions::document(
        histories
            .map(|decided| conditions::json(&decided))
            .collect(),
    )
}

/// The verdict in two words at most: `linearizable`, `not linearizable` or `undecided`.
pub fn verdict(checked: &Checked) -> &'static str {
    json::name(&checked.report.verdict)
}

/// The name of the kind of an error: `usage`, `malformed`, `unreadable`, `limit`, `specification` or `bug`.
pub fn error_name(kind: ErrorKind) -> &'static str {
    super::error_name(kind)
}

/// The operations of a history in the order that explains it, as in the document, if it is linearizable and has a witness.
pub fn witness(checked: &Checked) -> Option<Vec<Value>> {
    let Verdict::Linearizable(witness) = &checked.report.verdict else {
        return None;
    };
    let operation = |&id: &OpId| json::operation(&checked.recorded.history, id);
    Some(witness.order.iter().map(operation).collect())
}

/// The page of `--html`.
pub fn page(outcomes: &[Outcome]) -> Result<Vec<u8>, Error> {
    let unwritten = |error: std::io::Error| Error::unreadable(error.to_string());
    let mut page = Page::new(Vec::new()).map_err(unwritten)?;
    let mut ops_left = DEFAULT_HTML_LIMIT;
    for checked in outcomes.iter().flatten() {
        let data = html::data(checked, &checked.recorded.label(), ops_left, None)?;
        ops_left = ops_left.saturating_sub(checked.recorded.history.len());
        page.add(&data).map_err(unwritten)?;
    }
    page.finish().map_err(unwritten)
}

/// A finding of an online checker, at its event of this number.
pub fn finding(finding: &Finding<ObjectType>, event: u64) -> Value {
    let mut document = watch::of_finding(finding, "event");
    document["event"] = Value::from(event);
    document
}

/// The proof of a verdict, as with `--proof`, made within `budget`.
pub fn proof(checked: &Checked, budget: &Budget) -> Result<Proof, Error> {
    let label = checked.recorded.label();
    let (history, report) = (&checked.recorded.history, &checked.report);
    let specification = checked.specification.clone();
    let object = &checked.object;
    object.prove(&label, specification, history, report, budget)
}
