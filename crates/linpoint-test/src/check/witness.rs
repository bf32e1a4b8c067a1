//! Decides whether a concurrent history has a serial witness.

use super::serial::Serial;
use crate::runtime::history::History;

/// Why a history is not linearizable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unexplained {
    /// No serial history has these results in an order that respects real time.
    Results,
    /// Nothing justifies that this operation is stuck.
    Stuck(usize),
}

/// Decides the history of an execution that has ended.
pub(crate) fn explained(serial: &Serial, history: &History) -> Result<(), Unexplained> {
    let History {
        outcomes, before, ..
    } = history;
    if !history.stuck {
        return match serial.full.get(outcomes.as_slice()) {
            Some(group) if group.explains(outcomes, before) => Ok(()),
            _ => Err(Unexplained::Results),
        };
    }
    let mut results = Vec::with_capacity(outcomes.len());
    for op in history.pending() {
        history.only_pending(op, &mut results);
        match serial.stuck.get(results.as_slice()) {
            Some(group) if group.explains(&results, before) => {}
            _ => return Err(Unexplained::Stuck(op)),
        }
    }
    Ok(())
}
