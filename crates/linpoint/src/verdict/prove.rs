//! Makes refutations: proofs that a part is not linearizable, for [files](crate::proof).
//!
//! The walk is that of the check, so a refutation that is made is accepted.

use std::collections::HashSet;

use super::Violation;
use super::reduce::last_rank;
use crate::engine::{Budget, Task, TaskOp, until};
use crate::error::Error;
use crate::history::{EventKind, NEVER, OpId};
use crate::proof::sets::{Induction, Stopped, events};
use crate::proof::{PartOp, Refutation};
use crate::spec::Spec;

/// The most configurations that follow at one return. More of them take minutes and gigabytes.
const MOST_CONFIGURATIONS: usize = 100_000;

/// The bytes that the sets of a refutation may take in any case.
const FIRST_BYTES: usize = 100;

/// The bytes that they may take in addition for each return. A history takes several times as many, compressed.
const BYTES_PER_RETURN: usize = 2;

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
    let ops: Vec<PartOp> = ops
        .iter()
        .map(|&TaskOp { id, call, ret }| PartOp { id, call, ret })
        .collect();
    let mut induction = Induction::new(task.spec, task.history, MOST_CONFIGURATIONS, budget);
    let mut listing = Listing::default();
    for (op, kind) in events(&ops) {
        if kind == EventKind::Call {
            induction.call(op);
            continue;
        }
        induction.ret(op).map_err(|stopped| {
            Unproven::Limit(match stopped {
                Stopped::Limit(limit) => limit.to_string(),
                Stopped::TooMany(most) => {
                    format!("more than {most} configurations are possible at a time")
                }
            })
        })?;
        if induction.is_contradiction() {
            return Ok(refutation);
        }
        listing.after_return(op.id, &induction, &mut refutation);
    }
    Err(Unproven::Bug(Error::bug(
        "some order explains what was called a violation",
    )))
}

/// Which sets are listed: the check needs none of them, but it finds what two programs do not agree on where it begins.
/// So a set is listed whenever its line takes no more than a small share of the file.
struct Listing {
    /// The bytes that lines may still take.
    left: usize,
    /// The least bytes of the next line, as far as that is known.
    wanted: usize,
}

impl Default for Listing {
    fn default() -> Self {
        Listing {
            left: FIRST_BYTES,
            wanted: 0,
        }
    }
}

impl Listing {
    fn after_return<S: Spec>(
        &mut self,
        op: OpId,
        induction: &Induction<'_, S>,
        refutation: &mut Refutation,
    ) {
        self.left += BYTES_PER_RETURN;
        if self.left < self.wanted {
            return;
        }
        let bytes = refutation.list_set(op, induction.set(), self.left);
        match self.left.checked_sub(bytes) {
            Some(left) => (self.left, self.wanted) = (left, 0),
            None => self.wanted = bytes,
        }
    }
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
            blocked: None,
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
