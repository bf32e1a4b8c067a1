//! Derives order between operations from [hints](crate::Spec::hint), numbers that say where in the order of the object they
//! took effect.
//!
//! Ours. An operation takes effect before each one with a larger hint; operations with equal hints are not ordered. A pending
//! operation has the hint that an answer [shows](crate::Spec::shows) for a mark that no other operation has; then it is sure to
//! have taken effect, as one that returned is. No operation waits for a pending one that may not have taken effect.
//!
//! Of the pairs, those are stored that real time does not order already, between neighbouring hints: each operation has at
//! most as many as the history is wide.

use std::cmp::Reverse;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::engine::{Facts, TaskOp};
use crate::history::NEVER;
use crate::value::Value;

/// Where an operation took effect.
#[derive(Clone, Copy)]
struct Hint {
    number: i64,
    /// Whether it took effect for sure.
    is_certain: bool,
}

/// Pairs of operations, as positions in the task, of which the first takes effect before the second.
///
/// If a pair contradicts real time, it is the last one, since no others are needed then.
pub(super) fn pairs(task: &dyn Facts) -> Vec<(u32, u32)> {
    // A specification with hints has no kind.
    if task.kind_of_keys().is_some() {
        return Vec::new();
    }
    let hints = all(task);
    let number = |position: u32| hints[position as usize].map(|hint| hint.number);
    let is_certain = |position: &u32| hints[*position as usize].is_some_and(|hint| hint.is_certain);
    let op = |position: u32| task.ops()[position as usize];
    let mut hinted: Vec<u32> = (0..hints.len() as u32)
        .filter(|&position| number(position).is_some())
        .collect();
    hinted.sort_by_key(|&position| number(position));
    let mut pairs = Vec::new();
    // Those that took effect with the largest smaller hint, the latest return first.
    let mut before: Vec<u32> = Vec::new();
    for equal in hinted.chunk_by(|&a, &b| number(a) == number(b)) {
        for &later in equal {
            let overlapping = before
                .iter()
                .take_while(|&&earlier| !op(earlier).precedes(op(later)));
            for &earlier in overlapping {
                pairs.push((earlier, later));
                if op(later).precedes(op(earlier)) {
                    return pairs;
                }
            }
        }
        let mut certain: Vec<u32> = equal.iter().copied().filter(is_certain).collect();
        if !certain.is_empty() {
            certain.sort_unstable_by_key(|&position| Reverse(op(position).ret));
            before = certain;
        }
    }
    pairs
}

/// The hints of all operations.
fn all(task: &dyn Facts) -> Vec<Option<Hint>> {
    let own = |&op: &TaskOp| {
        task.hint(op).map(|number| Hint {
            number,
            is_certain: op.ret != NEVER,
        })
    };
    let mut hints: Vec<Option<Hint>> = task.ops().iter().map(own).collect();
    let has_hints = hints.iter().any(Option::is_some);
    if !has_hints || task.ops().iter().all(|op| op.ret != NEVER) {
        return hints;
    }
    // By mark: the only operation that has it, or `None` if there are several.
    let mut owner: HashMap<Value, Option<usize>, FixedState> = HashMap::default();
    for (i, &op) in task.ops().iter().enumerate() {
        for mark in task.marks(op) {
            let known = owner.entry(mark).or_insert(Some(i));
            *known = known.filter(|&other| other == i);
        }
    }
    for &op in task.ops() {
        for (mark, number) in task.shows(op) {
            let Some(&Some(i)) = owner.get(&mark) else {
                continue;
            };
            if task.ops()[i].ret == NEVER {
                hints[i] = Some(Hint {
                    number,
                    is_certain: true,
                });
            }
        }
    }
    hints
}
