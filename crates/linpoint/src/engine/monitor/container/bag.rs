//! Decides bags: any value may be served next.
//!
//! Ours. With nothing to order the values, only the conditions that all containers share are left: the operations on each
//! value do not contradict each other (`critical`), and each operation that found the bag empty has a gap without critical
//! values (`empties`). Every value must be added once. O(n); the witness takes O(n log n).

use super::critical::{CriticalIntervals, judge, known};
use super::{empties, read};
use crate::engine::monitor::{Act, Effect, Finding, Log, Monitor, NotApplicable, Reading};
use crate::history::precedes;

/// The monitor of bags whose values are each added once.
#[derive(Clone, Copy, Debug)]
pub struct Bag;

impl Monitor for Bag {
    type Act = Act;
    type Proof = ();

    fn name(&self) -> &'static str {
        "bag"
    }

    fn read(&self, effect: Effect) -> Result<Reading<Act>, NotApplicable> {
        read(effect)
    }

    fn decide(&self, log: &Log<Act>) -> Result<Finding, NotApplicable> {
        judge(CriticalIntervals::of(log), |intervals| {
            empties::place(log, intervals).map(|_| ())
        })
    }

    fn witness(&self, log: &Log<Act>, (): &()) -> Vec<u32> {
        witness(log)
    }
}

/// Adds values as late and removes them as early as their critical intervals allow; values that are never critical are added
/// and removed at once. In a gap that is free for empty results, removals come before these and insertions after them.
fn witness(log: &Log<Act>) -> Vec<u32> {
    let intervals = known(log);
    let Ok(empties) = empties::place(log, &intervals) else {
        panic!("bug: a witness of a log in which an empty result has no gap");
    };
    let mut places: Vec<(u32, StageInGap, u32, u8, u32)> = empties
        .into_iter()
        .map(|(op, gap)| (gap, StageInGap::Empty, 0, 0, op))
        .collect();
    for (op, (&act, &value)) in log.acts.iter().zip(&log.values).enumerate() {
        if act == Act::Empty || !intervals.at(value).exists() {
            continue;
        }
        let interval = intervals.at(value);
        let (gap, stage) = match act {
            _ if !interval.is_critical() => (interval.last_call, StageInGap::AddedAndRemoved),
            Act::Remove => (interval.last_call, StageInGap::Removed),
            Act::Peek if precedes(interval.first_return, log.calls[op]) => {
                (log.calls[op], StageInGap::Stays)
            }
            _ => (interval.first_return - 1, StageInGap::Added),
        };
        let within_value = match act {
            Act::Add => 0,
            Act::Peek | Act::Empty => 1,
            Act::Remove => 2,
        };
        places.push((gap, stage, value, within_value, op as u32));
    }
    places.sort_unstable();
    places.into_iter().map(|(.., op)| op).collect()
}

/// The order of operations within one gap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StageInGap {
    /// Peeks of a value that is there before and after.
    Stays,
    Removed,
    AddedAndRemoved,
    Empty,
    Added,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing;
    use crate::engine::monitor::testing::containers::{self, unbounded};
    use crate::spec::Discipline;

    #[test]
    fn agrees_with_the_reference() {
        testing::assert_agrees(&unbounded(Discipline::Any), &Bag);
    }

    #[test]
    fn pending_removals_take_effect_sometime() {
        let bag = unbounded(Discipline::Any);
        containers::assert_pending_removals_may_happen(&bag, |log| {
            testing::judge_alike(&bag, &Bag, log)
        });
    }
}
