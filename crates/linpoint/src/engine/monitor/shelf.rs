//! The containers, by which value they serve next.

use super::{Act, Finding, Log, bag, priority, queue, stack};

/// Which value a container serves next.
#[derive(Clone, Debug)]
pub(crate) enum Shelf {
    Queue,
    Stack,
    /// The value with the largest of these numbers, given by value.
    Priority(Vec<u32>),
    Bag,
}

impl Shelf {
    /// Decides a log; with an order of its positions if it is linearizable and `wants_order`. The error is a value that
    /// was put in twice.
    pub(crate) fn decide(
        &self,
        log: &Log<Act>,
        wants_order: bool,
    ) -> Result<Finding<Option<Vec<u32>>>, u32> {
        Ok(match self {
            Shelf::Queue => with_order(queue::decide(log)?, wants_order, |()| queue::witness(log)),
            Shelf::Stack => with_order(stack::decide(log)?, wants_order, |layers| {
                stack::witness(log, &layers)
            }),
            Shelf::Priority(of) => with_order(priority::decide(log, of)?, wants_order, |()| {
                priority::witness(log, of)
            }),
            Shelf::Bag => with_order(bag::decide(log)?, wants_order, |()| bag::witness(log)),
        })
    }

    /// Whether `value` is served before all values of the urgency of `other`.
    pub(super) fn overtakes(&self, value: u32, other: u32) -> bool {
        match self {
            Shelf::Priority(of) => of[value as usize] > of[other as usize],
            Shelf::Queue | Shelf::Stack | Shelf::Bag => true,
        }
    }

    /// Makes `copy`, the next number of a value, as urgent as `value`.
    pub(super) fn copy(&mut self, value: u32, copy: u32) {
        if let Shelf::Priority(of) = self {
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
        Finding::Violation(clash) => Finding::Violation(clash),
    }
}
