//! Stacks whose values were each put in once, decided in O(n log n).
//!
//! After Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues* (2024),
//! algorithms 3, 6 and 7, with their slips mended: values that nothing lies on are taken away until none is left. Tested
//! against all orders of small logs.

mod covered;
mod eliminate;
mod minimal_contradiction;
mod peeks;
mod segments;
#[cfg(test)]
mod tests;

use super::{Act, CriticalIntervals, Finding, Log, empties, priority_sweep};
use crate::engine::monitor::container::critical::{judge, known};

/// The values of a stack in an order such that each can lie below all that follow, whenever both are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The numbers of the values, the lowest first.
    pub values: Vec<u32>,
}

/// Values that lie on each other such that none of them can be the lowest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stuck {
    /// Their numbers, ascending.
    pub(super) values: Vec<u32>,
}

/// Decides a stack whose values were each put in once; the value that was not, otherwise.
pub fn decide(log: &Log<Act>) -> Result<Finding<Layers>, u32> {
    judge(CriticalIntervals::of(log), |intervals| {
        empties::place(log, intervals)?;
        layer(log, intervals)
            .map_err(|stuck| minimal_contradiction::contradiction(log, intervals, &stuck))
    })
}

/// An order that explains a log that was found to be linearizable, as positions.
pub fn witness(log: &Log<Act>, layers: &Layers) -> Vec<u32> {
    let mut priority = vec![0; log.distinct as usize];
    for (height, &value) in (0u32..).zip(&layers.values) {
        priority[value as usize] = height;
    }
    priority_sweep::order(log, &known(log), &priority, true)
}

/// Puts the values in layers, whatever the empty results say.
pub(super) fn layer(log: &Log<Act>, intervals: &CriticalIntervals) -> Result<Layers, Stuck> {
    let values = eliminate::eliminate(log, intervals);
    let all = || intervals.iter().map(|(value, _)| value);
    if values.len() == all().count() {
        return Ok(Layers { values });
    }
    let mut is_stuck = vec![true; log.distinct as usize];
    for &value in &values {
        is_stuck[value as usize] = false;
    }
    Err(Stuck {
        values: all().filter(|&value| is_stuck[value as usize]).collect(),
    })
}
