//! The containers, by which value they serve next.

pub mod bag;
pub(crate) mod cover;
pub(crate) mod critical;
pub(crate) mod disambiguate;
pub(crate) mod empties;
pub mod multiset;
mod ops_by_value;
pub mod priority;
mod priority_sweep;
pub mod queue;
pub mod stack;

use super::{Act, Contradiction, Decision, Finding, Log, Suspect, ViolationKind};
pub use critical::{CriticalInterval, CriticalIntervals};

/// Which value a container serves next.
#[derive(Clone, Debug)]
pub(crate) enum ContainerMonitor {
    Queue,
    Stack,
    /// The value with the largest of these numbers, given by value.
    Priority(Vec<u32>),
    Bag,
}

impl ContainerMonitor {
    /// Decides a log; with an order of its positions if it is linearizable and `wants_order`. The error is a value that
    /// was put in twice.
    pub(crate) fn decide(
        &self,
        log: &Log<Act>,
        wants_order: bool,
    ) -> Result<Finding<Option<Vec<u32>>>, u32> {
        Ok(match self {
            ContainerMonitor::Queue => {
                with_order(queue::decide(log)?, wants_order, |()| queue::witness(log))
            }
            ContainerMonitor::Stack => with_order(stack::decide(log)?, wants_order, |layers| {
                stack::witness(log, &layers)
            }),
            ContainerMonitor::Priority(of) => {
                with_order(priority::decide(log, of)?, wants_order, |()| {
                    priority::witness(log, of)
                })
            }
            ContainerMonitor::Bag => {
                with_order(bag::decide(log)?, wants_order, |()| bag::witness(log))
            }
        })
    }

    /// Whether `value` is served before all values of the urgency of `other`.
    pub(super) fn overtakes(&self, value: u32, other: u32) -> bool {
        match self {
            ContainerMonitor::Priority(of) => of[value as usize] > of[other as usize],
            ContainerMonitor::Queue | ContainerMonitor::Stack | ContainerMonitor::Bag => true,
        }
    }

    /// Makes `copy`, the next number of a value, as urgent as `value`.
    pub(super) fn copy(&mut self, value: u32, copy: u32) {
        if let ContainerMonitor::Priority(of) = self {
            debug_assert_eq!(of.len(), copy as usize);
            of.push(of[value as usize]);
        }
    }
}

/// Makes an order of what a monitor knows, if that is wanted.
pub(super) fn with_order<P>(
    finding: Finding<P>,
    wants_order: bool,
    order: impl FnOnce(P) -> Vec<u32>,
) -> Finding<Option<Vec<u32>>> {
    match finding {
        Finding::Linearizable(proof) => Finding::Linearizable(wants_order.then(|| order(proof))),
        Finding::Violation(contradiction) => Finding::Violation(contradiction),
    }
}
