//! Bags: any value may be served next, so only each value by itself and empty results matter.

use super::{Act, CriticalIntervals, Finding, Log, empties};
use crate::engine::monitor::container::critical::{judge, known};

/// Decides a bag whose values were each put in once; the value that was not, otherwise.
pub fn decide(log: &Log<Act>) -> Result<Finding, u32> {
    judge(CriticalIntervals::of(log), |intervals| {
        empties::place(log, intervals).map(|_| ())
    })
}

/// An order that explains a log that was found to be linearizable, as positions.
///
/// Values come as late and go as early as they can; those that can do so at once never show. In a gap that is free for
/// empty results, what has to go does so before them, and what has to come after them.
pub fn witness(log: &Log<Act>) -> Vec<u32> {
    let intervals = known(log);
    let Ok(empties) = empties::place(log, &intervals) else {
        panic!("bug: a witness is asked for, and an empty result has no gap");
    };
    let mut places: Vec<(u32, Turn, u32, u8, u32)> = empties
        .into_iter()
        .map(|(op, gap)| (gap, Turn::Empty, 0, 0, op))
        .collect();
    for (op, (&act, &value)) in log.acts.iter().zip(&log.values).enumerate() {
        if act == Act::Empty || !intervals.at(value).exists() {
            continue;
        }
        let interval = intervals.at(value);
        let (gap, turn) = match act {
            _ if !interval.is_critical() => (interval.last_call, Turn::AtOnce),
            Act::Remove => (interval.last_call, Turn::Goes),
            Act::Peek if log.calls[op] >= interval.first_return => (log.calls[op], Turn::Stays),
            _ => (interval.first_return - 1, Turn::Comes),
        };
        let stage = match act {
            Act::Add => 0,
            Act::Peek | Act::Empty => 1,
            Act::Remove => 2,
        };
        places.push((gap, turn, value, stage, op as u32));
    }
    places.sort_unstable();
    places.into_iter().map(|(.., op)| op).collect()
}

/// ViolationKind comes first in a gap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Stays,
    Goes,
    AtOnce,
    Empty,
    Comes,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::{self, containers};
    use crate::spec::Discipline;

    fn judge_alike(log: &Log<Act>) -> bool {
        let finding = decide(log).expect("no value is put in twice");
        testing::judge_alike(&Discipline::Any, log, finding, |()| witness(log))
    }

    #[test]
    fn agrees_with_the_reference() {
        testing::assert_judged_alike(&Discipline::Any, |log| Some(judge_alike(log)));
    }

    #[test]
    fn pending_removals_take_effect_sometime() {
        containers::assert_pending_removals_may_happen(Discipline::Any, judge_alike);
    }
}
