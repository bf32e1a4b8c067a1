//! Decides cells: slots for one value that must be empty for a value to be added. Each value is added once.
//!
//! One key of a map with `putIfAbsent`, `remove` and `get`, or a lock that knows its holder. Ours: values follow each other as in
//! a register, so the zones of Gibbons and Korach decide (`zones`), with a value that is never removed held up to the end;
//! operations that found the cell empty are decided apart, as in all containers (`empties`). O(n).

use super::clusters::{self, PlaceInCluster, Step};
use super::zones::{self, Zone};
use super::{INITIAL, OVERWRITTEN_AND_EXCHANGED, slot_effect};
use crate::engine::monitor::container::cover::contradiction;
use crate::engine::monitor::container::critical::{CriticalIntervals, judge, known};
use crate::engine::monitor::container::empties;
use crate::engine::monitor::{
    Act, Effect, Finding, Log, Monitor, NotApplicable, Reading, SlotEffect, ViolationKind,
};
use crate::history::NEVER;

/// The monitor of cells that are empty at first.
#[derive(Clone, Copy, Debug)]
pub struct Cell;

impl Monitor for Cell {
    type Act = Act;
    type Proof = ();

    fn name(&self) -> &'static str {
        "cell"
    }

    /// A slot is empty while it holds its initial value.
    fn read(&self, effect: Effect) -> Result<Reading<Act>, NotApplicable> {
        Ok(match slot_effect(effect)? {
            SlotEffect::Reads(INITIAL) => Reading::without_value(Act::Empty),
            SlotEffect::Reads(value) => Reading::of(Act::Peek, value),
            SlotEffect::Replaces {
                from: INITIAL,
                to: value,
            } => Reading::of(Act::Add, value),
            SlotEffect::Replaces {
                from: value,
                to: INITIAL,
            } => Reading::of(Act::Remove, value),
            SlotEffect::Replaces { .. } => {
                return Err(NotApplicable("values are exchanged for each other"));
            }
            SlotEffect::Writes(_) => return Err(OVERWRITTEN_AND_EXCHANGED),
            SlotEffect::Differs { .. } => {
                return Err(NotApplicable(
                    "some operation only tells what was not there",
                ));
            }
        })
    }

    fn decide(&self, log: &Log<Act>) -> Result<Finding, NotApplicable> {
        let is_pending_removal = |(act, ret): (&Act, &u32)| *act == Act::Remove && *ret == NEVER;
        if log.acts.iter().zip(log.rets.iter()).any(is_pending_removal) {
            return Err(NotApplicable("a removal is pending"));
        }
        judge(CriticalIntervals::of(log), |intervals| {
            let zone = |value: u32| zone(intervals, value);
            if let Some((one, other)) = zones::conflict(log.distinct, log.end(), zone) {
                let values = [one, other];
                return Err(contradiction(log, ViolationKind::Crowded, &values, &[]));
            }
            empties::place(log, intervals).map(|_| ())
        })
    }

    fn witness(&self, log: &Log<Act>, (): &()) -> Vec<u32> {
        let intervals = known(log);
        let empties = empties::place(log, &intervals).expect("bug: a witness of a violation");
        let mut empties = empties.into_iter().peekable();
        let mut steps = Vec::new();
        for (rank, value) in zones::in_order(log, None, |value| zone(&intervals, value)) {
            // By the gap of an empty result the values before it are removed, and this one need not be added yet.
            while let Some((op, _)) = empties.next_if(|&(_, gap)| gap < rank) {
                steps.push(Step::Op(op));
            }
            steps.push(Step::Value(value));
        }
        steps.extend(empties.map(|(op, _)| Step::Op(op)));
        clusters::lined_up(log, steps.into_iter(), |act| match act {
            Act::Add => PlaceInCluster::First,
            Act::Peek => PlaceInCluster::Between,
            Act::Remove => PlaceInCluster::Last,
            Act::Empty => PlaceInCluster::Alone,
        })
    }
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
    use crate::engine::monitor::testing;
    use crate::spec::{Container, Discipline};

    #[test]
    fn agrees_with_the_reference() {
        let place_for_one = Container {
            discipline: Discipline::Any,
            capacity: Some(1),
        };
        testing::assert_agrees(&place_for_one, &Cell);
    }
}
