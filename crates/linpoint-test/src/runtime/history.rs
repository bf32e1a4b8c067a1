//! The history of an execution: the calls and returns of its operations, with their results.

use super::execution::{Layout, Outcome};

/// Calls and returns in the order of time, with the results of the operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) layout: Layout,
    pub(crate) outcomes: Vec<Outcome>,
    /// For each operation, those that had returned at its call, one bit each.
    pub(crate) before: Vec<u64>,
    pub(crate) events: Vec<Event>,
    /// Whether the execution ended because no thread could make progress.
    pub(crate) stuck: bool,
}

/// The call or the return of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Call(u32),
    Return(u32),
}

impl Event {
    /// The number of the operation.
    pub(crate) fn op(self) -> usize {
        match self {
            Event::Call(op) | Event::Return(op) => op as usize,
        }
    }
}

impl History {
    pub(super) fn new() -> Self {
        History {
            layout: Layout {
                init: 0,
                threads: Vec::new(),
                last: 0,
                started: 0,
            },
            outcomes: Vec::new(),
            before: Vec::new(),
            events: Vec::new(),
            stuck: false,
        }
    }

    /// Forgets everything: a test with this layout begins.
    pub(super) fn reset(&mut self, layout: &Layout) {
        if self.layout != *layout {
            self.layout = layout.clone();
        }
        let ops = layout.ops();
        self.outcomes.clear();
        self.outcomes.resize(ops, Outcome::ABSENT);
        self.before.clear();
        self.before.resize(ops, 0);
        self.events.clear();
        self.stuck = false;
    }

    /// Takes back all calls and returns but the first `kept`.
    pub(super) fn truncate(&mut self, kept: usize) {
        for event in self.events.drain(kept..).rev() {
            let op = event.op();
            match event {
                Event::Return(_) => self.outcomes[op] = Outcome::PENDING,
                Event::Call(_) => (self.outcomes[op], self.before[op]) = (Outcome::ABSENT, 0),
            }
        }
        self.stuck = false;
    }

    /// Whether each operation was called after the one before it had returned.
    pub(crate) fn is_serial(&self) -> bool {
        self.events
            .chunks(2)
            .all(|pair| pair.iter().all(|event| event.op() == pair[0].op()))
    }

    /// The operations in the order of their calls.
    pub(crate) fn call_order(&self) -> impl Iterator<Item = u8> + '_ {
        self.events.iter().filter_map(|event| match event {
            Event::Call(op) => Some(*op as u8),
            Event::Return(_) => None,
        })
    }

    /// The operations that were called and did not return.
    pub(crate) fn pending(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.outcomes.len()).filter(|&op| self.outcomes[op] == Outcome::PENDING)
    }

    /// The results of `H[e]` in the paper: the history without all pending operations but `kept`.
    pub(crate) fn only_pending(&self, kept: usize, into: &mut Vec<Outcome>) {
        into.clear();
        into.extend(self.outcomes.iter().enumerate().map(|(op, &outcome)| {
            if outcome == Outcome::PENDING && op != kept {
                Outcome::ABSENT
            } else {
                outcome
            }
        }));
    }
}
