//! Witness orders as JSON lines: a head for each history, then its operations in the order in which they took effect. For a history
//! that ends stuck, the same follows for each pending call: an order after which the operations of its head are blocked.

use std::io::Write;

use linpoint::verdict::StuckWitness;
use linpoint::{OpId, Verdict};
use serde_json::{Value, json};

use super::json::operation;
use crate::results::Checked;

pub(crate) fn write(out: &mut dyn Write, checked: &Checked) -> std::io::Result<()> {
    let Verdict::Linearizable(witness) = &checked.report.verdict else {
        return Ok(());
    };
    let head = |order: &[OpId]| {
        json!({
            "witness": checked.recorded.label(),
            "type": checked.type_name,
            "operations": order.len(),
        })
    };
    let history = &checked.recorded.history;
    let mut write_order = |head: Value, order: &[OpId]| {
        writeln!(out, "{head}")?;
        let mut ops = order.iter();
        ops.try_for_each(|&id| writeln!(out, "{}", operation(history, id)))
    };
    write_order(head(&witness.order), &witness.order)?;
    for StuckWitness { blocked, order } in &witness.stuck {
        let mut head = head(order);
        let blocked = blocked.iter().map(|&id| operation(history, id));
        head["blocked"] = blocked.collect();
        write_order(head, order)?;
    }
    Ok(())
}
