//! Witness orders as JSON lines: a head for each history, then its operations in the order in which they took effect.

use std::io::Write;

use linpoint::Verdict;
use serde_json::json;

use super::json::operation;
use crate::results::Checked;

pub(crate) fn write(out: &mut dyn Write, checked: &Checked) -> std::io::Result<()> {
    let Verdict::Linearizable(witness) = &checked.report.verdict else {
        return Ok(());
    };
    let head = json!({
        "witness": checked.recorded.label(),
        "type": checked.type_name,
        "operations": witness.order.len(),
    });
    writeln!(out, "{head}")?;
    let history = &checked.recorded.history;
    witness
        .order
        .iter()
        .try_for_each(|&id| writeln!(out, "{}", operation(history, id)))
}
