//! Cells: a place for one value, which must be empty for a value to be put in. Each value is put in once.
//!
//! One key of a map with `putIfAbsent`, `remove` and `get`, or a lock whose holders are told apart. Values follow each
//! other, so their zones (`zones.rs`) decide, where a value that stays is there up to the end; empty results are
//! independent of that. O(n) for n operations.
//!
//! Tested against the reference, witnesses and contradictions included.

use super::clusters::{self, Place, Step};
use super::zones::{self, Zone};
use crate::engine::monitor::container::cover::contradiction;
use crate::engine::monitor::container::critical::{CriticalIntervals, NoIntervals};
use crate::engine::monitor::container::empties;
use crate::engine::monitor::{Act, Finding, Log, ViolationKind};
use crate::history::NEVER;

/// Decides a cell that is empty at first. If a value is put in twice, that value.
pub fn decide(log: &Log<Act>) -> Result<Finding, u32> {
    let intervals = match CriticalIntervals::of(log) {
        Ok(intervals) => intervals,
        Err(NoIntervals::Ambiguous(value)) => return Err(value),
        Err(NoIntervals::Contradiction(contradiction)) => {
            return Ok(Finding::Violation(contradiction));
        }
    };
    if let Some((one, other)) = zones::conflict(log.distinct, log.end(), |v| zone(&intervals, v)) {
        let contradiction = contradiction(log, ViolationKind::Crowded, &[one, other], &[]);
        return Ok(Finding::Violation(contradiction));
    }
    Ok(match empties::place(log, &intervals) {
        Ok(_) => Finding::Linearizable(()),
        Err(contradiction) => Finding::Violation(contradiction),
    })
}

/// An order that explains everything, if [`decide`] found that there is one.
pub fn witness(log: &Log<Act>) -> Vec<u32> {
    let intervals = CriticalIntervals::of(log).expect("bug: a violation has no witness");
    let empties = empties::place(log, &intervals).expect("bug: a violation has no witness");
    let mut empties = empties.into_iter().peekable();
    let mut steps = Vec::new();
    for (rank, value) in zones::in_order(log, None, |value| zone(&intervals, value)) {
        // The values before are gone by the gap of an empty result, and this one is not yet needed.
        while let Some((op, _)) = empties.next_if(|&(_, gap)| gap < rank) {
            steps.push(Step::Op(op));
        }
        steps.push(Step::Value(value));
    }
    steps.extend(empties.map(|(op, _)| Step::Op(op)));
    clusters::lined_up(log, steps.into_iter(), |act| match act {
        Act::Add => Place::First,
        Act::Peek => Place::Between,
        Act::Remove => Place::Last,
        Act::Empty => Place::Alone,
    })
}

fn zone(intervals: &CriticalIntervals, value: u32) -> Zone {
    let interval = intervals.at(value);
    Zone {
        first_return: if interval.exists() {
            interval.first_return
        } else {
            NEVER
        },
        last_call: interval.last_call,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::containers;
    use crate::engine::monitor::testing::{self, Model, Subject};
    use crate::spec::{Container, ContainerOp, Discipline};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    struct Cell;

    impl Model for Cell {
        type Act = Act;
        type Spec = Container;

        fn spec(&self) -> Container {
            Container {
                discipline: Discipline::Any,
                capacity: Some(1),
            }
        }

        fn op(&self, act: Act, value: u32) -> ContainerOp {
            Discipline::Any.op(act, value)
        }

        fn ret(&self, act: Act, value: u32) -> Value {
            match act {
                Act::Add => Value::Bool(true),
                _ => Discipline::Any.ret(act, value),
            }
        }
    }

    impl Subject for Cell {
        fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Act, u32)> {
            if rng.random_range(0..3) == 0 {
                containers::arbitrary_acts(ops, rng)
            } else {
                containers::sequential_acts(Discipline::Any, ops, 1, rng)
            }
        }

        fn may_be_pending(&self, act: Act) -> bool {
            act == Act::Add
        }

        fn may_move(&self, act: Act) -> bool {
            act != Act::Add
        }
    }

    #[test]
    fn agrees_with_the_reference() {
        testing::assert_agrees(
            &Cell,
            |log| Some(decide(log).expect("no value is put in twice")),
            witness,
        );
    }
}
