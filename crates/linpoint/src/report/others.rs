//! Orders with the operations that the longest explanation of a violation leaves out: for each such operation, a longest
//! order that was found with it.
//!
//! Only operations that were called before the first error can be in such an order. It begins as the longest explanation
//! does; its last steps are found by a search.

use std::collections::HashSet;

use super::contradiction::orders_from;
use super::model::{Other, Refused};
use super::steps::position;
use crate::engine::{Budget, Task, TaskOp, Ticker};
use crate::history::OpId;
use crate::spec::{Spec, advance};
use crate::verdict::Violation;

/// The number of operations that the search may reorder.
const WINDOW: usize = 48;

/// Longer explanations are not replayed.
const MOST_STEPS: usize = 50_000;

/// The longest orders with the operations that the longest explanation of a violation leaves out.
pub(super) fn others<S: Spec>(
    task: &Task<'_, S>,
    violation: &Violation,
    budget: &Budget,
) -> Vec<Other> {
    let order = &violation.partial;
    if !violation.shortest || order.len() > MOST_STEPS {
        return Vec::new();
    }
    let cut = task.ops[position(task, violation.last)].ret;
    let taken: HashSet<OpId> = order.iter().copied().collect();
    let is_left_out = |op: &&TaskOp| op.call < cut && !taken.contains(&op.id);
    let left_out: Vec<TaskOp> = task.ops.iter().filter(is_left_out).copied().collect();
    let Some(room) = WINDOW.checked_sub(left_out.len()) else {
        return Vec::new();
    };
    let (kept, moved) = order.split_at(order.len().saturating_sub(room));
    let mut start = vec![task.spec.init()];
    let mut ticker = Ticker::new(budget);
    for &id in kept {
        if ticker.tick().is_err() {
            return Vec::new();
        }
        let (op, ret) = task.action(position(task, id));
        advance(task.spec, &mut start, op, ret);
    }
    // The explanation may give operations that were open at the error another result. Then it cannot be replayed.
    let Some(start) = start.into_iter().next() else {
        return Vec::new();
    };
    let moved = moved.iter().map(|&id| task.ops[position(task, id)]);
    let mut window: Vec<TaskOp> = moved.chain(left_out.iter().copied()).collect();
    window.sort_unstable_by_key(|op| op.call);
    let window = task.with_ops(window);
    let number = |place: usize| window.ops[place].id.0;
    let is_new = |place: usize| !taken.contains(&window.ops[place].id);
    orders_from(&window, start, budget)
        .into_iter()
        .filter(|found| found.steps.iter().any(|&(place, _)| is_new(place)))
        .map(|found| Other {
            after: kept.len(),
            steps: found
                .steps
                .into_iter()
                .map(|(place, state)| (number(place), state))
                .collect(),
            refused: found
                .refused
                .into_iter()
                .map(|refused| Refused {
                    op: number(refused.op as usize),
                    step: kept.len() + refused.step,
                    ..refused
                })
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{random, register};
    use crate::{Checker, Verdict};

    #[test]
    fn every_other_order_can_be_replayed_and_has_what_was_left_out() {
        let register = register();
        let mut found = 0;
        for seed in 0..1000 {
            let history = random(seed);
            let report = Checker::default().check(&register, &history);
            let report = report.expect("a verdict");
            let Verdict::Violation(violation) = &report.parts[0].verdict else {
                continue;
            };
            let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
            let task = Task::new(&register, &history, &ids);
            for other in others(&task, violation, &Budget::default()) {
                let kept = violation.partial[..other.after].iter().copied();
                let order: Vec<OpId> = kept
                    .chain(other.steps.iter().map(|&(op, _)| OpId(op)))
                    .collect();
                assert!(order.iter().any(|id| !violation.partial.contains(id)));
                let mut states = vec![register.init()];
                for (step, &id) in order.iter().enumerate() {
                    let own = task.ops[position(&task, id)];
                    let late = order[step + 1..].iter().map(|&id| position(&task, id));
                    let is_late = |place: usize| task.ops[place].precedes(own);
                    assert!(!late.clone().any(is_late), "seed {seed}: against real time");
                    let (op, ret) = task.action(position(&task, id));
                    advance(&register, &mut states, op, ret);
                }
                assert!(!states.is_empty(), "seed {seed}");
                assert!(!other.refused.is_empty(), "seed {seed}");
                found += 1;
            }
        }
        assert!(found > 50, "{found}");
    }
}
