//! What one execution looked like from outside.

use super::execution::{End, Execution, Layout, Outcome};

/// Calls and returns, in order, with their results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) layout: Layout,
    pub(crate) outcomes: Vec<Outcome>,
    /// For each operation, those that had returned at its call.
    pub(crate) before: Vec<u64>,
    /// Operation, and whether it is the return.
    pub(crate) events: Vec<(u32, bool)>,
    /// Nobody could make progress.
    pub(crate) stuck: bool,
}

impl History {
    pub(crate) fn of(execution: &Execution) -> Self {
        History {
            layout: execution.layout.clone(),
            outcomes: execution.outcomes.clone(),
            before: execution.before.clone(),
            events: execution.events.clone(),
            stuck: execution.end == End::Stuck,
        }
    }

    /// Whether each operation was called after the one before had returned.
    pub(crate) fn is_serial(&self) -> bool {
        self.events
            .chunks(2)
            .all(|pair| pair.iter().all(|event| event.0 == pair[0].0))
    }

    /// The operations that were called and did not return.
    pub(crate) fn pending(&self) -> impl Iterator<Item = usize> + '_ {
        pending(&self.outcomes)
    }
}

/// The operations that were called and did not return.
pub(crate) fn pending(outcomes: &[Outcome]) -> impl Iterator<Item = usize> + '_ {
    (0..outcomes.len()).filter(|&op| outcomes[op] == Outcome::PENDING)
}

/// The results of `H[e]`: all pending operations but `kept` are removed.
pub(crate) fn only_pending(outcomes: &[Outcome], kept: usize, into: &mut Vec<Outcome>) {
    into.clear();
    into.extend(outcomes.iter().enumerate().map(|(op, &outcome)| {
        if outcome == Outcome::PENDING && op != kept {
            Outcome::ABSENT
        } else {
            outcome
        }
    }));
}
