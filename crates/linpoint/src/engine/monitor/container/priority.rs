//! Decides priority queues whose values are each added once; values may have equal priorities.
//!
//! After Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues* (2024), corollary
//! 7.3 and algorithm 5: every peek, removal and empty result needs a gap in which no value of a higher priority is critical.
//! O(n log n).
//!
//! Corrections of algorithm 5 as printed: a peek may not be placed before its value is added (otherwise it accepts `add 2
//! [0,2]`, `peek 0 [1,4]`, `add 0 [3,5]`); the test of line 13, whether the value is critical at all, is needed (otherwise it
//! rejects `add 0 [0,2]`, `poll 2 [1,4]`, `add 2 [3,5]`); the comparison of line 20 is strict, which also makes it exact for
//! equal priorities, which the paper excludes (with `<=` it rejects `add 0 [0,1]`, `peek 0 [2,3]`).

use super::cover::{contradiction, cover};
use super::critical::{CriticalIntervals, judge, known};
use super::priority_sweep::{self, Blocked, Insertions};
use super::read;
use crate::engine::monitor::{
    Act, Contradiction, Effect, Finding, Log, Monitor, NotApplicable, Reading, ViolationKind,
};

/// The monitor of priority queues whose values are each added once.
#[derive(Clone, Debug)]
pub struct PriorityQueue {
    /// By number of a value: its priority, below `u32::MAX`. Larger ones are served first. Has one for each number in the log.
    pub priorities: Vec<u32>,
}

impl Monitor for PriorityQueue {
    type Act = Act;
    type Proof = ();

    fn name(&self) -> &'static str {
        "priority queue"
    }

    fn read(&self, effect: Effect) -> Result<Reading<Act>, NotApplicable> {
        read(effect)
    }

    fn decide(&self, log: &Log<Act>) -> Result<Finding, NotApplicable> {
        let priorities = &self.priorities;
        judge(CriticalIntervals::of(log), |intervals| {
            priority_sweep::place(log, intervals, priorities, None, |_, _| {})
                .map_err(|blocked| overtaken(log, intervals, priorities, blocked))
        })
    }

    fn witness(&self, log: &Log<Act>, (): &()) -> Vec<u32> {
        priority_sweep::order(log, &known(log), &self.priorities, Insertions::Free)
    }
}

/// The blocked operation, with the fewest values that leave it no gap.
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
    use crate::engine::monitor::testing::containers::{self, Ranked, unbounded};
    use crate::spec::Discipline;

    fn by_value(log: &Log<Act>) -> PriorityQueue {
        PriorityQueue {
            priorities: (0..log.distinct).collect(),
        }
    }

    #[test]
    fn agrees_with_the_reference() {
        let queue = unbounded(Discipline::Largest);
        testing::assert_judged_alike(&queue, |log| {
            Some(testing::judge_alike(&queue, &by_value(log), log))
        });
    }

    #[test]
    fn values_of_equal_priority_are_served_in_any_order() {
        for (discipline, equal) in [(Discipline::Largest, 2), (Discipline::Any, 3)] {
            testing::for_random_logs(&unbounded(discipline), |log| {
                let priorities: Vec<u32> = (0..log.distinct).map(|value| value / equal).collect();
                let model = Ranked(priorities.clone());
                testing::judge_alike(&model, &PriorityQueue { priorities }, &log);
            });
        }
    }

    #[test]
    fn pending_removals_take_effect_sometime() {
        let queue = unbounded(Discipline::Largest);
        containers::assert_pending_removals_may_happen(&queue, |log| {
            testing::judge_alike(&queue, &by_value(log), log)
        });
    }
}
