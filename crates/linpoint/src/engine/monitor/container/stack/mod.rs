//! Decides stacks whose values are each added once, in O(n log n).
//!
//! After Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues* (2024), lemma 5.1
//! and algorithms 3, 6 and 7: a value of which each operation has a gap in which no other remaining value is critical is
//! eliminated; the history is linearizable iff all values can be eliminated one after the other. Empty results are decided
//! apart (`empties`). The minimal contradiction (`minimal_contradiction`) and the layout of the trees are ours.
//!
//! Corrections of the algorithms as printed, with the smallest history that each of them gets wrong:
//!
//! * Algorithm 3 never accepts: an empty history must be accepted. Line 11 says `poll` where `pop` is meant (rejects `push 0
//!   [0,1]`, `push 1 [2,3]`). The test of line 16 is needed (otherwise rejects `push 1 [0,1]`, `push 0 [2,4]`, `pop 0 [3,5]`).
//! * Algorithm 6, line 22, removes the operations `OpByVal[v(o)]` of an undefined `o` where those of `v` are meant, and uses 0
//!   both for the first value and for none (either accepts `push 1 [0,1]`, `push 0 [2,3]`, `pop 1 [4,5]`). It returns false
//!   when no position is free, but must use up the parked ones first.
//! * Algorithm 7, lines 7 and 9, adds intervals to the sums while it asks them (rejects `push 1 [0,1]`, `peek 1 [2,3]`). Lines 11
//!   and 14 discard a position where only `v` is critical; it must be offered again when `v` is eliminated (otherwise rejects
//!   `push 3 [0,1]`, `push 2 [2,4]`, `peek 3 [3,5]`). Values that are never critical must be skipped (otherwise rejects `push 2
//!   [0,1]`, `push 0 [2,7]`, `pop 0 [3,6]`, `peek 2 [4,5]`). Critical intervals are gaps from the first return to the one before
//!   the last call, one fewer than the ranks (otherwise rejects `push 0 [0,1]`, `push 1 [2,3]`). Sums of numbers of values
//!   overflow 32 bits; here it is their exclusive or.

mod covered;
mod eliminate;
mod minimal_contradiction;
mod peeks;
mod segments;
#[cfg(test)]
mod tests;

use super::critical::{CriticalIntervals, judge, known};
use super::priority_sweep::{self, Insertions};
use super::{empties, read};
use crate::engine::monitor::{Act, Effect, Finding, Log, Monitor, NotApplicable, Reading};

/// The monitor of stacks whose values are each added once.
#[derive(Clone, Copy, Debug)]
pub struct Stack;

/// The values of a stack in the order of their elimination: each can lie below all that follow whenever both are in the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EliminationOrder {
    /// The numbers of the values, the lowest first.
    pub values: Vec<u32>,
}

/// Values that cannot be eliminated: each has an operation that has no gap because of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stuck {
    /// Their numbers, ascending.
    pub(super) values: Vec<u32>,
}

impl Monitor for Stack {
    type Act = Act;
    type Proof = EliminationOrder;

    fn name(&self) -> &'static str {
        "stack"
    }

    fn read(&self, effect: Effect) -> Result<Reading<Act>, NotApplicable> {
        read(effect)
    }

    fn decide(&self, log: &Log<Act>) -> Result<Finding<EliminationOrder>, NotApplicable> {
        judge(CriticalIntervals::of(log), |intervals| {
            empties::place(log, intervals)?;
            eliminate_all(log, intervals)
                .map_err(|stuck| minimal_contradiction::find(log, intervals, &stuck))
        })
    }

    fn witness(&self, log: &Log<Act>, order: &EliminationOrder) -> Vec<u32> {
        let mut priority = vec![0; log.distinct as usize];
        for (height, &value) in (0u32..).zip(&order.values) {
            priority[value as usize] = height;
        }
        priority_sweep::order(log, &known(log), &priority, Insertions::Placed)
    }
}

/// Eliminates all values, without regard to empty results.
pub(super) fn eliminate_all(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
) -> Result<EliminationOrder, Stuck> {
    let values = eliminate::eliminate(log, intervals);
    let all = || intervals.iter().map(|(value, _)| value);
    if values.len() == all().count() {
        return Ok(EliminationOrder { values });
    }
    let mut is_stuck = vec![true; log.distinct as usize];
    for &value in &values {
        is_stuck[value as usize] = false;
    }
    Err(Stuck {
        values: all().filter(|&value| is_stuck[value as usize]).collect(),
    })
}
