//! Priority queues, after Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority
//! Queues*, section 7; with values of equal priority, of which any may be served.
//!
//! Decides histories in which every value was put in once, in O(n log n): every operation that serves a value needs a
//! gap in which no value of a higher priority is critical. A peek cannot use the gaps before the value was put in. Tested
//! against the reference on small random histories.

use super::cover::{contradiction, cover};
use super::priority_sweep::{self, Blocked};
use super::{Act, Contradiction, CriticalIntervals, Finding, Log, ViolationKind};
use crate::engine::monitor::container::critical::{judge, known};

/// Decides a priority queue whose values were each put in once; the value that was not, otherwise. Larger priorities are
/// served first; `priorities` has one below `u32::MAX` for every number of a value in the log.
pub fn decide(log: &Log<Act>, priorities: &[u32]) -> Result<Finding, u32> {
    judge(CriticalIntervals::of(log), |intervals| {
        priority_sweep::place(log, intervals, priorities, None, |_, _| {})
            .map_err(|blocked| overtaken(log, intervals, priorities, blocked))
    })
}

/// An order that explains a log that was found to be linearizable, as positions.
pub fn witness(log: &Log<Act>, priorities: &[u32]) -> Vec<u32> {
    priority_sweep::order(log, &known(log), priorities, false)
}

/// The blocked operation with the fewest values that block it.
fn overtaken(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    priorities: &[u32],
    blocked: Blocked,
) -> Contradiction {
    let op = blocked.op as usize;
    let served = (log.acts[op] != Act::Empty).then_some(log.values[op]);
    let is_above = |value: u32| {
        served.is_none_or(|served| priorities[value as usize] > priorities[served as usize])
    };
    let above = intervals
        .iter()
        .map(|(value, _)| value)
        .filter(|&v| is_above(v));
    let mut values =
        cover(intervals, above, blocked.from, blocked.to).expect("bug: some gap is low enough");
    values.extend(served);
    let kind = match served {
        Some(_) => ViolationKind::Overtaken(blocked.op),
        None => ViolationKind::NotEmpty(blocked.op),
    };
    contradiction(log, kind, &values, &[blocked.op])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing;
    use crate::engine::monitor::testing::containers::{self, Ranked};
    use crate::spec::Discipline;

    fn judge_alike(log: &Log<Act>, priorities: Vec<u32>) -> bool {
        let finding = decide(log, &priorities).expect("no value is put in twice");
        let container = Ranked(priorities);
        testing::judge_alike(&container, log, finding, |()| witness(log, &container.0))
    }

    fn judge_by_value(log: &Log<Act>) -> bool {
        judge_alike(log, (0..log.distinct).collect())
    }

    #[test]
    fn agrees_with_the_reference() {
        testing::assert_judged_alike(&Discipline::Largest, |log| Some(judge_by_value(log)));
    }

    #[test]
    fn any_of_equal_priority_may_be_served() {
        testing::for_random_logs(&Discipline::Largest, |log| {
            judge_alike(&log, (0..log.distinct).map(|value| value / 2).collect());
        });
        testing::for_random_logs(&Discipline::Any, |log| {
            judge_alike(&log, (0..log.distinct).map(|value| value / 3).collect());
        });
    }

    #[test]
    fn pending_removals_take_effect_sometime() {
        containers::assert_pending_removals_may_happen(Discipline::Largest, judge_by_value);
    }
}
