//! Which values pending removals removed.
//!
//! Ours. A pending removal may remove any value that no other operation removes, at any time after its call, or none. A value
//! with a *deadline* must be removed by then; the others may stay. Pending removals can keep a set of deadlines iff there are
//! enough of them for each: for every `d`, as many are called before `d` as there are deadlines up to `d` (Hall's condition:
//! the sets of removals that can keep a deadline are nested). Then they are paired in their order.
//!
//! * *Bags*: only empty results set deadlines (`empties`). Exact.
//! * *Queues*: so does the order of the values (`elimination`). Each of the two is exact by itself, and both are together where
//!   no value that stays was peeked. Otherwise, if the order can be kept but not the empty results with the deadlines that it
//!   found, nothing is known.
//! * *Stacks and priority queues*: single operations set deadlines (`forced`). No greedy choice is exact there (see
//!   `disambiguate`), so this is only a likely answer, but deadlines that cannot be kept are a contradiction.
//!
//! O(n log n).

mod elimination;
mod empties;
mod forced;

use super::ContainerMonitor;
use super::critical::{CriticalInterval, CriticalIntervals};
use crate::engine::monitor::{Act, Log};
use crate::history::{NEVER, precedes};
use elimination::Elimination;
use empties::make_room;

/// What is known of pending removals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Assignment {
    /// By pending removal: the value that it removed, if it took effect. The history is linearizable with them.
    Removes(Vec<Option<u32>>),
    /// The same, but the history may be linearizable with other values only.
    Likely(Vec<Option<u32>>),
    /// Whatever they removed, these operations of the log contradict each other.
    Contradiction(Vec<u32>),
    /// Neither was found out.
    Unknown,
}

/// Finds values for pending removals. `log` has all other operations; `calls` has for each removal the last event of the log
/// before its call, ascending.
pub(super) fn assign(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    monitor: &ContainerMonitor,
    calls: &[u32],
) -> Assignment {
    let staying = Staying::of(log, intervals);
    let in_order = match monitor {
        ContainerMonitor::Queue(_) => Elimination::new(intervals, &staying, calls).run(),
        ContainerMonitor::Bag(_) => Ok(vec![NEVER; intervals.len()]),
        ContainerMonitor::Stack(_) | ContainerMonitor::Priority(_) => {
            let deadlines = forced::deadlines(log, intervals, &staying, monitor);
            return match pair(&staying, &deadlines, calls) {
                Some(removed) => Assignment::Likely(removed),
                None => Assignment::Contradiction((0..log.len() as u32).collect()),
            };
        }
    };
    let mut deadlines = match in_order {
        Ok(deadlines) => deadlines,
        Err(values) => return Assignment::Contradiction(ops_on(log, &values)),
    };
    if intervals.has_empties && !make_room(log, intervals, &staying, calls, &mut deadlines) {
        let is_peeked = |value: u32| intervals.at(value).first_served != NEVER;
        let is_bag = matches!(monitor, ContainerMonitor::Bag(_));
        return match is_bag || !staying.values().any(is_peeked) {
            true => Assignment::Contradiction((0..log.len() as u32).collect()),
            false => Assignment::Unknown,
        };
    }
    let removed = pair(&staying, &deadlines, calls);
    Assignment::Removes(removed.expect("bug: deadlines that removals cannot keep"))
}

/// The operations on these values.
fn ops_on(log: &Log<Act>, values: &[u32]) -> Vec<u32> {
    let mut is_one = vec![false; log.distinct as usize];
    values
        .iter()
        .for_each(|&value| is_one[value as usize] = true);
    let is_on = |op: usize| log.acts[op] != Act::Empty && is_one[log.values[op] as usize];
    (0..log.len())
        .filter(|&op| is_on(op))
        .map(|op| op as u32)
        .collect()
}

/// The values that no operation of the log removes.
struct Staying {
    /// By value: the last call of an operation on it; [`NEVER`] if the value is removed, or is not in the history.
    last_seen: Vec<u32>,
    count: usize,
}

impl Staying {
    fn of(log: &Log<Act>, intervals: &CriticalIntervals) -> Self {
        let mut last_seen = vec![NEVER; intervals.len()];
        let mut count = 0;
        for (value, _) in intervals.iter().filter(|(_, value)| !value.is_removed()) {
            last_seen[value as usize] = 0;
            count += 1;
        }
        for ((&act, &value), &call) in log.acts.iter().zip(&log.values).zip(log.calls.iter()) {
            if act != Act::Empty && last_seen[value as usize] != NEVER {
                // Operations stand in the order of their calls, so the last one wins.
                last_seen[value as usize] = call;
            }
        }
        Staying { last_seen, count }
    }

    fn contains(&self, value: u32) -> bool {
        self.last_seen[value as usize] != NEVER
    }

    fn values(&self) -> impl Iterator<Item = u32> {
        (0..self.last_seen.len() as u32).filter(|&value| self.contains(value))
    }

    /// The call after which a value can be removed.
    fn last_call(&self, value: u32, interval: &CriticalInterval) -> u32 {
        match self.last_seen[value as usize] {
            NEVER => interval.last_call,
            seen => seen,
        }
    }
}

/// Gives the value with the earliest deadline the removal that was called first, and so on; `None` if some deadline cannot be
/// kept.
fn pair(staying: &Staying, deadlines: &[u32], calls: &[u32]) -> Option<Vec<Option<u32>>> {
    let due = staying
        .values()
        .map(|value| (deadlines[value as usize], value));
    let mut due: Vec<(u32, u32)> = due.filter(|&(deadline, _)| deadline != NEVER).collect();
    due.sort_unstable();
    let is_kept = |((deadline, _), call): (&(u32, u32), &u32)| precedes(*call, *deadline);
    let values = due.iter().map(|&(_, value)| Some(value));
    let removed = values.chain(std::iter::repeat(None)).take(calls.len());
    (due.len() <= calls.len() && due.iter().zip(calls).all(is_kept)).then(|| removed.collect())
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::engine::monitor::testing::containers::unbounded;
    use crate::engine::monitor::testing::{self, Fate, Model};
    use crate::engine::monitor::{Bag, Monitor, PriorityQueue, Queue, Stack};
    use crate::spec::{Container, ContainerOp, Discipline};
    use crate::value::Value;

    /// A container of which pending removals may have removed any value.
    struct Open(Container);

    impl Model for Open {
        type Act = Act;
        type Spec = Container;

        fn spec(&self) -> Container {
            self.0.clone()
        }

        fn op(&self, act: Act, value: u32) -> ContainerOp {
            self.0.op(act, value)
        }

        fn ret(&self, act: Act, value: u32) -> Value {
            self.0.ret(act, value)
        }

        fn fate(&self, _: &Log<Act>, _: usize) -> Fate {
            Fate::Open
        }
    }

    /// The log with some removals pending, these removals, and their calls in terms of the other operations.
    struct Case {
        whole: Log<Act>,
        rest: Log<Act>,
        pending: Vec<u32>,
        calls: Vec<u32>,
    }

    impl Case {
        fn new(log: &Log<Act>, seed: u64) -> Self {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut rets = log.rets.to_vec();
            let mut rest = Vec::new();
            let mut pending = Vec::new();
            for (op, ret) in (0u32..).zip(&mut rets) {
                let is_removal = log.acts[op as usize] == Act::Remove;
                if is_removal && rng.random_range(0..2) == 0 {
                    *ret = NEVER;
                    pending.push(op);
                } else {
                    rest.push(op);
                }
            }
            let whole = Log::new(
                log.acts.clone(),
                log.values.clone(),
                log.calls.to_vec(),
                rets,
            );
            let calls = pending.iter().map(|&op| {
                let call = whole.calls[op as usize];
                let is_before = |rank: u32| rank < call;
                let events = rest
                    .iter()
                    .flat_map(|&op| [whole.calls[op as usize], whole.rets[op as usize]]);
                events
                    .filter(|&rank| is_before(rank))
                    .count()
                    .saturating_sub(1) as u32
            });
            Case {
                calls: calls.collect(),
                rest: whole.restricted(&rest),
                whole,
                pending,
            }
        }

        /// The log in which the removals removed these values.
        fn completed(&self, removed: &[Option<u32>]) -> Log<Act> {
            let mut log = self.whole.clone();
            let mut ops: Vec<u32> = (0..log.len() as u32).collect();
            for (&op, value) in self.pending.iter().zip(removed) {
                match *value {
                    Some(value) => log.values[op as usize] = value,
                    None => ops.retain(|&other| other != op),
                }
            }
            log.restricted(&ops)
        }
    }

    fn agrees_with_the_reference(discipline: Discipline, monitor: &ContainerMonitor) {
        let container = unbounded(discipline);
        let model = Open(container.clone());
        let (mut seed, mut good, mut bad, mut unknown) = (0, 0, 0, 0);
        testing::for_random_logs(&container, |log| {
            seed += 1;
            let case = Case::new(&log, seed);
            let Ok(intervals) = CriticalIntervals::of(&case.rest) else {
                return;
            };
            if case.pending.is_empty() || case.rest.is_empty() {
                return;
            }
            let expected = testing::is_linearizable(&model, &case.whole);
            match assign(&case.rest, &intervals, monitor, &case.calls) {
                Assignment::Removes(removed) => {
                    assert!(expected, "{removed:?}\n{:#?}", case.whole);
                    let log = case.completed(&removed);
                    let finding = monitor.decide(&log).expect("values are distinct");
                    assert!(finding.is_linearizable(), "{removed:?}\n{:#?}", case.whole);
                    good += 1;
                }
                Assignment::Likely(removed) => {
                    let finding = monitor.decide(&case.completed(&removed));
                    match finding.expect("values are distinct").is_linearizable() {
                        true => good += 1,
                        false => unknown += 1,
                    }
                }
                Assignment::Contradiction(ops) => {
                    assert!(!expected, "{ops:?}\n{:#?}", case.whole);
                    bad += 1;
                }
                Assignment::Unknown => unknown += 1,
            }
        });
        assert!(
            good > 1000 && bad > 50 && unknown < good / 20,
            "{good} good, {bad} bad, {unknown} unknown"
        );
    }

    #[test]
    fn queues_agree_with_the_reference() {
        agrees_with_the_reference(Discipline::Fifo, &ContainerMonitor::Queue(Queue));
    }

    #[test]
    fn stacks_agree_with_the_reference() {
        agrees_with_the_reference(Discipline::Lifo, &ContainerMonitor::Stack(Stack));
    }

    #[test]
    fn priority_queues_agree_with_the_reference() {
        let priorities = (0..20).collect();
        let monitor = ContainerMonitor::Priority(PriorityQueue { priorities });
        agrees_with_the_reference(Discipline::Largest, &monitor);
    }

    #[test]
    fn bags_agree_with_the_reference() {
        agrees_with_the_reference(Discipline::Any, &ContainerMonitor::Bag(Bag));
    }
}
