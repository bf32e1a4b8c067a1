//! Containers: objects that values are added to and removed from, one by one.
//!
//! `critical` and `empties` hold what all of them have in common; `disambiguate` deals with what a record leaves open.

mod bag;
pub(super) mod cover;
pub(super) mod critical;
mod disambiguate;
pub(super) mod empties;
mod multiset;
mod ops_by_value;
mod pending;
mod priority;
mod priority_sweep;
mod queue;
mod stack;

use super::{Act, Effect, Finding, Log, Monitor, NotApplicable, Reading};
use crate::spec::Discipline;
use crate::value::Value;

pub use bag::Bag;
pub use critical::{CriticalInterval, CriticalIntervals};
pub(super) use disambiguate::Ambiguous;
pub use multiset::Multiset;
pub use priority::PriorityQueue;
pub use queue::Queue;
pub use stack::{EliminationOrder, Stack};

/// What an operation does to a container.
fn read(effect: Effect) -> Result<Reading<Act>, NotApplicable> {
    Ok(match effect {
        Effect::Adds(value) => Reading::of(Act::Add, value),
        Effect::Removes(value) => Reading::of(Act::Remove, value),
        Effect::Peeks(value) => Reading::of(Act::Peek, value),
        Effect::FindsEmpty => Reading::without_value(Act::Empty),
        Effect::RemovesUnknown => {
            return Err(NotApplicable("it is not known what a pending removal took"));
        }
        Effect::Slot(_) | Effect::Nothing | Effect::Counts(_) | Effect::Other => {
            return Err(NotApplicable("some operation is about all values at once"));
        }
    })
}

/// The monitor of a container whose discipline is known only at run time.
#[derive(Clone, Debug)]
pub(crate) enum ContainerMonitor {
    Queue(Queue),
    Stack(Stack),
    Priority(PriorityQueue),
    Bag(Bag),
}

impl ContainerMonitor {
    /// The monitor of a container with these values, by number, and [`Reading::NO_VALUE`].
    pub(crate) fn new(discipline: Discipline, values: &[Value]) -> Self {
        match discipline {
            Discipline::Fifo => ContainerMonitor::Queue(Queue),
            Discipline::Lifo => ContainerMonitor::Stack(Stack),
            Discipline::Any => ContainerMonitor::Bag(Bag),
            Discipline::Largest | Discipline::Smallest => {
                let mut priorities = ranks(values);
                if discipline == Discipline::Smallest {
                    let last = priorities.len() as u32 - 1;
                    priorities.iter_mut().for_each(|rank| *rank = last - *rank);
                }
                ContainerMonitor::Priority(PriorityQueue { priorities })
            }
        }
    }

    /// Whether `value` is served before all values of the priority of `other`, or may be.
    fn overtakes(&self, value: u32, other: u32) -> bool {
        match self {
            ContainerMonitor::Priority(queue) => {
                queue.priorities[value as usize] > queue.priorities[other as usize]
            }
            ContainerMonitor::Queue(_) | ContainerMonitor::Stack(_) | ContainerMonitor::Bag(_) => {
                true
            }
        }
    }

    /// Gives `copy`, the next unused number, the priority of `value`.
    fn copy_priority(&mut self, value: u32, copy: u32) {
        if let ContainerMonitor::Priority(queue) = self {
            debug_assert_eq!(queue.priorities.len(), copy as usize);
            queue.priorities.push(queue.priorities[value as usize]);
        }
    }
}

impl Monitor for ContainerMonitor {
    type Act = Act;
    /// Empty for all but stacks.
    type Proof = EliminationOrder;

    fn name(&self) -> &'static str {
        match self {
            ContainerMonitor::Queue(queue) => queue.name(),
            ContainerMonitor::Stack(stack) => stack.name(),
            ContainerMonitor::Priority(queue) => queue.name(),
            ContainerMonitor::Bag(bag) => bag.name(),
        }
    }

    fn read(&self, effect: Effect) -> Result<Reading<Act>, NotApplicable> {
        read(effect)
    }

    fn decide(&self, log: &Log<Act>) -> Result<Finding<Self::Proof>, NotApplicable> {
        let finding = match self {
            ContainerMonitor::Stack(stack) => return stack.decide(log),
            ContainerMonitor::Queue(queue) => queue.decide(log)?,
            ContainerMonitor::Priority(queue) => queue.decide(log)?,
            ContainerMonitor::Bag(bag) => bag.decide(log)?,
        };
        Ok(match finding {
            Finding::Linearizable(()) => Finding::Linearizable(EliminationOrder::default()),
            Finding::Violation(contradiction) => Finding::Violation(contradiction),
        })
    }

    fn witness(&self, log: &Log<Act>, proof: &Self::Proof) -> Vec<u32> {
        match self {
            ContainerMonitor::Stack(stack) => stack.witness(log, proof),
            ContainerMonitor::Queue(queue) => queue.witness(log, &()),
            ContainerMonitor::Priority(queue) => queue.witness(log, &()),
            ContainerMonitor::Bag(bag) => bag.witness(log, &()),
        }
    }
}

/// The place of each value in their order, from 0 on. Has one place at least, for [`Reading::NO_VALUE`].
fn ranks(values: &[Value]) -> Vec<u32> {
    // Most priorities are integers, which are sorted without looking them up again. All others are below or above them.
    let (mut below, mut integers, mut above) = (Vec::new(), Vec::new(), Vec::new());
    for (number, value) in (0u32..).zip(values) {
        match value {
            Value::Int(i) => integers.push((*i, number)),
            _ if *value < Value::Int(i64::MIN) => below.push(number),
            _ => above.push(number),
        }
    }
    integers.sort_unstable();
    for others in [&mut below, &mut above] {
        others.sort_unstable_by(|&a, &b| values[a as usize].cmp(&values[b as usize]));
    }
    let mut ranks = vec![0; values.len().max(1)];
    let integers = integers.into_iter().map(|(_, number)| number);
    for (rank, number) in (0u32..).zip(below.into_iter().chain(integers).chain(above)) {
        ranks[number as usize] = rank;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_types_are_ranked_in_their_order() {
        let mut sorted = [
            Value::Nil,
            Value::Bool(false),
            Value::Int(i64::MIN),
            Value::Int(-1),
            Value::Int(7),
            Value::from("a"),
            Value::list([Value::Int(1)]),
            Value::list([Value::Int(2)]),
        ];
        sorted.sort();
        let shuffled = [3, 0, 7, 2, 5, 1, 6, 4].map(|i: usize| sorted[i].clone());
        assert_eq!(ranks(&shuffled), [3, 0, 7, 2, 5, 1, 6, 4]);
        assert_eq!(ranks(&[]), [0]);
    }
}
