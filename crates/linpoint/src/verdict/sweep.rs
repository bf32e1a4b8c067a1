//! Decides whether a core has no order by one walk over its events that keeps all possible configurations. Ours.
//!
//! It is slower than the search and far plainer: breadth first, without preferences and without knowledge of the
//! object. It shares no code with the engines, and decides cores with many relaxed operations, on which trying all
//! orders takes too long.

use std::collections::HashSet;

use crate::engine::{Budget, Task};
use crate::history::{EventKind, NEVER, events_in_order};
use crate::spec::Spec;

/// Operations that took effect and did not return yet, in ascending order, and the state.
pub(super) type Configuration<S> = (Vec<u32>, <S as Spec>::State);

/// The number of configurations between two looks at the limits, since configurations may be large.
const STEPS: usize = 256;

/// Looks at the position of an operation that returned and at all configurations that are possible after it; `None` ends
/// the walk.
pub(super) type Visit<'v, S> = &'v mut dyn FnMut(u32, &HashSet<Configuration<S>>) -> Option<()>;

/// Returns whether no order explains `task`; `None` if that takes more than `max` configurations at a time, or more
/// than the budget allows, or if `visit` ends the walk.
pub(super) fn has_no_order<S: Spec>(
    task: &Task<'_, S>,
    max: usize,
    budget: &Budget,
    visit: Visit<'_, S>,
) -> Option<bool> {
    let calls: Vec<u32> = task.ops.iter().map(|op| op.call).collect();
    let rets: Vec<u32> = task.ops.iter().map(|op| op.ret).collect();
    let mut open: Vec<u32> = Vec::new();
    let mut possible: HashSet<Configuration<S>> = HashSet::from([(Vec::new(), task.spec.init())]);
    let mut steps = 0usize;
    for (op, kind) in events_in_order(&calls, &rets) {
        if kind == EventKind::Call {
            open.push(op);
            continue;
        }
        // First all configurations that are possible by now; then only those in which the operation that returns took
        // effect.
        let mut frontier: Vec<Configuration<S>> = possible.iter().cloned().collect();
        while let Some((taken, state)) = frontier.pop() {
            steps += 1;
            if steps.is_multiple_of(STEPS) {
                budget.check().and_then(|()| budget.reserve(0)).ok()?;
            }
            if taken.binary_search(&op).is_ok() {
                continue;
            }
            for next in successors(task, &open, &taken, &state) {
                if possible.len() > max {
                    return None;
                }
                if possible.insert(next.clone()) {
                    frontier.push(next);
                }
            }
        }
        open.retain(|&other| other != op);
        let included = possible.into_iter().filter_map(|(mut taken, state)| {
            let at = taken.binary_search(&op).ok()?;
            taken.remove(at);
            Some((taken, state))
        });
        possible = included.collect();
        visit(op, &possible)?;
        if possible.is_empty() {
            return Some(true);
        }
    }
    Some(false)
}

fn successors<S: Spec>(
    task: &Task<'_, S>,
    open: &[u32],
    taken: &[u32],
    state: &S::State,
) -> Vec<Configuration<S>> {
    let mut found = Vec::new();
    let waiting = |op: &&u32| taken.binary_search(op).is_err();
    for (i, &op) in open.iter().enumerate().filter(|(_, op)| waiting(op)) {
        let is_pending = |op: u32| task.ops[op as usize].ret == NEVER;
        let same = |other: u32| {
            is_pending(other) && task.action(other as usize) == task.action(op as usize)
        };
        // Of pending operations with the same action, only the first is tried: exchanging two of them changes nothing.
        if is_pending(op)
            && open[..i]
                .iter()
                .filter(waiting)
                .any(|&earlier| same(earlier))
        {
            continue;
        }
        let (operation, ret) = task.action(op as usize);
        for next in task.spec.step(state, operation, ret) {
            let mut with_op = taken.to_vec();
            with_op.insert(with_op.partition_point(|&other| other < op), op);
            found.push((with_op, next));
        }
    }
    found
}
