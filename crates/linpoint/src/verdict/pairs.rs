//! Decides large cores of snapshots by looking at two entries at a time, for which few operations matter. Ours.
//!
//! A snapshot restricted to two of its entries is a snapshot. So if no order explains what the operations of a core say
//! about two entries, no order explains the core.

use std::collections::BTreeSet;

use crate::engine::{Budget, Facts, Task, Ticker, brute};
use crate::history::{EventKind, OpId, TypedHistory, events_in_order};
use crate::spec::{Kind, Role, Snapshot, SnapshotOp, Writers};
use crate::value::Value;

/// The most entries that are looked at.
const MOST_ENTRIES: usize = 64;

/// The most steps on a pair of entries, times the number of operations: some milliseconds.
const MOST_WORK: u64 = 2_000_000;

/// Larger cores are not looked at.
const MOST_OPS: usize = 10_000;

/// Whether the operations on some two entries of a snapshot contradict each other; `false` if `steps` for each pair do
/// not show it, or the budget ends.
pub(super) fn contradict(core: &dyn Facts, steps: u64, budget: &Budget) -> bool {
    let Some(Kind::Snapshot(initial)) = core.kind() else {
        return false;
    };
    if core.ops().len() > MOST_OPS {
        return false;
    }
    let mut entries = BTreeSet::new();
    for op in core.ops() {
        match core.role(*op) {
            Role::Updates { entry, .. } => {
                entries.insert(entry);
            }
            Role::Scans(values) => {
                let noted = (0u32..).zip(values).filter(|(_, value)| value.is_some());
                entries.extend(noted.map(|(entry, _)| entry));
            }
            _ => {}
        }
    }
    let entries: Vec<u32> = entries.into_iter().take(MOST_ENTRIES).collect();
    let mut pairs = (0..entries.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
    pairs.any(|(i, j)| {
        let entries = [entries[i], entries[j]];
        budget.check().is_ok() && is_contradictory(core, entries, initial, steps, budget)
    })
}

/// Whether no order explains what the operations say about these entries.
fn is_contradictory(
    core: &dyn Facts,
    entries: [u32; 2],
    initial: &Value,
    steps: u64,
    budget: &Budget,
) -> bool {
    let snapshot = Snapshot {
        writers: Writers::Many,
        processes: Some(2),
        initial: initial.clone(),
    };
    let value_or_initial = |value: Option<Value>| value.unwrap_or_else(|| initial.clone());
    let ops = core.ops();
    let calls: Vec<u32> = ops.iter().map(|op| op.call).collect();
    let rets: Vec<u32> = ops.iter().map(|op| op.ret).collect();
    let mut history = TypedHistory::new();
    let mut ids = vec![None; ops.len()];
    for (i, event) in events_in_order(&calls, &rets) {
        let role = core.role(ops[i as usize]);
        match (event, role) {
            (EventKind::Call, Role::Updates { entry, value }) => {
                if let Some(place) = entries.iter().position(|&known| known == entry) {
                    let op = SnapshotOp::Update(place, value_or_initial(value));
                    ids[i as usize] = Some(history.call(i, op));
                }
            }
            (EventKind::Call, Role::Scans(_)) => {
                ids[i as usize] = Some(history.call(i, SnapshotOp::Scan));
            }
            (EventKind::Return, role) => {
                let Some(id) = ids[i as usize] else { continue };
                let result = match role {
                    Role::Scans(values) => Value::list(entries.map(|entry| {
                        value_or_initial(values.get(entry as usize).cloned().flatten())
                    })),
                    _ => Value::Nil,
                };
                history.ret(id, result);
            }
            // A pending scan says nothing.
            (EventKind::Call, _) => {}
        }
    }
    let all: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
    if all.len() > brute::MOST_OPS {
        return false;
    }
    let task = Task::new(&snapshot, &history, &all);
    // A step takes time in proportion to the number of operations.
    let mut left = steps.min(MOST_WORK / (all.len() as u64 + 1));
    let mut ticker = Ticker::new(budget);
    let found = brute::try_all_orders(&task, &mut || {
        let step = left.checked_sub(1).filter(|_| ticker.tick().is_ok());
        step.map(|fewer| left = fewer).ok_or(())
    });
    found == Ok(None)
}
