//! Makes refutations: proofs that a part is not linearizable, for [files](crate::proof).

use std::collections::HashSet;

use super::Violation;
use super::reduce::last_rank;
use super::sweep::{self, Configuration};
use crate::engine::{Budget, Limit, Task, TaskOp, until};
use crate::error::Error;
use crate::history::{NEVER, OpId};
use crate::proof::Refutation;
use crate::spec::Spec;

/// The most configurations of one set. Larger sets take minutes and gigabytes.
const MOST_CONFIGURATIONS: usize = 100_000;

/// The most bytes of one refutation, before it is compressed.
const MOST_BYTES: usize = 1 << 28;

/// The most relaxed operations of a core whose sets are tried: with more of them there are far too many configurations.
const MOST_RELAXED: usize = 1_000;

/// Why there is no refutation.
#[derive(Debug)]
pub(crate) enum Unproven {
    /// A limit, in words.
    Limit(String),
    /// The evidence for the violation does not hold.
    Bug(Error),
}

/// A refutation of `task`, which is not linearizable: of the core if that is possible, else of the whole beginning.
pub(crate) fn refute<S: Spec>(
    task: &Task<'_, S>,
    violation: &Violation,
    budget: &Budget,
) -> Result<Refutation, Unproven> {
    let core = &violation.core;
    // A part that was not cut is kept up to its last event.
    let core_cut = core.cut.min(last_rank(&task.ops));
    let cut = task.history.rets()[violation.last.index()];
    let beginning = until(&task.ops, cut);
    let core_ops = core_ops(task, violation);
    // A core that starts from an anchor, or is about one place, follows from the whole beginning.
    let is_reduced = core.anchor.is_none() && core.place.is_none();
    let is_whole = core_cut == cut && core_ops == beginning;
    if !is_reduced || is_whole || core.relaxed.len() > MOST_RELAXED {
        return refute_reduced(task, &beginning, cut, budget);
    }
    // A core with many relaxed operations may have far more configurations than the history from which it was made, so
    // half of the time is left for the other one.
    let half = budget.slice(budget.left() / 2);
    match refute_reduced(task, &core_ops, core_cut, &half) {
        Err(Unproven::Limit(_)) => refute_reduced(task, &beginning, cut, budget),
        refuted => refuted,
    }
}

/// The core as operations with times.
fn core_ops<S: Spec>(task: &Task<'_, S>, violation: &Violation) -> Vec<TaskOp> {
    let core = &violation.core;
    let strict: HashSet<OpId> = core.ops.iter().copied().collect();
    let relaxed: HashSet<OpId> = core.relaxed.iter().copied().collect();
    let mut ops = until(&task.ops, core.cut);
    ops.retain(|op| strict.contains(&op.id) || relaxed.contains(&op.id));
    for op in &mut ops {
        if relaxed.contains(&op.id) {
            op.ret = NEVER;
        }
    }
    ops
}

/// A refutation of some operations of `task`.
fn refute_reduced<S: Spec>(
    task: &Task<'_, S>,
    ops: &[TaskOp],
    cut: u32,
    budget: &Budget,
) -> Result<Refutation, Unproven> {
    let rets = task.history.rets();
    let is_relaxed = |op: &&TaskOp| op.ret == NEVER && rets[op.id.index()] <= cut;
    let mut refutation = Refutation::new(
        cut,
        ops.iter().map(|op| op.id).collect(),
        ops.iter().filter(is_relaxed).map(|op| op.id).collect(),
    );
    let mut before: HashSet<Configuration<S>> = HashSet::new();
    let mut visit = |op: u32, possible: &HashSet<Configuration<S>>| {
        let is_new = |(taken, state): &&Configuration<S>| {
            let mut with_op = taken.clone();
            with_op.insert(with_op.partition_point(|&other| other < op), op);
            !before.contains(&(with_op, state.clone()))
        };
        let id = |position: u32| ops[position as usize].id;
        let added = possible.iter().filter(is_new).map(|(taken, state)| {
            let taken = taken.iter().map(|&position| id(position)).collect();
            (taken, task.spec.state_value(state).to_json())
        });
        refutation.add_set(id(op), added);
        before.clone_from(possible);
        (refutation.size() <= MOST_BYTES).then_some(())
    };
    let core = task.with_ops(ops.to_vec());
    match sweep::has_no_order(&core, MOST_CONFIGURATIONS, budget, &mut visit) {
        Some(true) => Ok(refutation),
        Some(false) => Err(Unproven::Bug(Error::bug(
            "some order explains what was called a violation",
        ))),
        None => Err(Unproven::Limit(match limit(budget) {
            Some(limit) => limit.to_string(),
            None if refutation.size() > MOST_BYTES => {
                format!("it would take more than {MOST_BYTES} bytes")
            }
            None => {
                format!("more than {MOST_CONFIGURATIONS} configurations are possible at a time")
            }
        })),
    }
}

/// The limit that was reached, if any.
fn limit(budget: &Budget) -> Option<Limit> {
    budget.check().and_then(|()| budget.reserve(0)).err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::TypedHistory;
    use crate::spec::{Counter, CounterOp};
    use crate::value::Value;
    use crate::verdict::{Claim, Confirmation, Core};

    /// Additions one after the other, and a count at the end that no order gives. In the core all additions are relaxed, so
    /// that any of their sums is possible; in the history there is one state at a time.
    fn refuted_as_it_is(additions: impl Iterator<Item = i64>) {
        let mut history = TypedHistory::new();
        for n in additions {
            let id = history.call(0, CounterOp::Add(n));
            history.ret(id, Value::Nil);
        }
        let last = history.call(0, CounterOp::Get);
        history.ret(last, Value::Int(-1));
        let all: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        let task = Task::new(&Counter { initial: 0 }, &history, &all);
        let violation = Violation {
            last,
            prefix_events: task.events(),
            shortest: true,
            partial: Vec::new(),
            possible: None,
            core: Core {
                ops: vec![last],
                relaxed: all[..all.len() - 1].to_vec(),
                cut: last_rank(&task.ops),
                anchor: None,
                place: None,
                premises: Vec::new(),
                claim: Claim::Contradiction {
                    op: last,
                    others: Vec::new(),
                },
                minimal: true,
                stopped_by: None,
                confirmation: Confirmation::Unconfirmed,
                sentence: String::new(),
            },
        };
        let refutation = refute(&task, &violation, &Budget::default()).unwrap();
        assert_eq!(refutation.kept, all);
        assert_eq!(refutation.relaxed, []);
    }

    #[test]
    fn a_core_with_too_many_configurations_is_not_what_is_refuted() {
        refuted_as_it_is((0..18).map(|i| 1 << i));
    }

    #[test]
    fn a_core_with_many_relaxed_operations_is_not_tried() {
        refuted_as_it_is(1..=2 * MOST_RELAXED as i64);
    }
}
