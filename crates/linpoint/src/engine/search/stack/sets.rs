//! Sets of operations that took effect.

use super::{Item, NEVER};
use crate::history::precedes;
use crate::value::Interner;

/// The sets of operations that took effect at some time, by number, each without those that cannot have been called yet.
#[derive(Debug)]
pub(super) struct Sets {
    /// In the order of their calls.
    pub(super) items: Vec<Item>,
    /// How many were called, then those of them that wait, in the order of their calls.
    known: Interner<Box<[u32]>>,
    scratch: Vec<u32>,
}

impl Sets {
    pub(super) fn new(items: Vec<Item>) -> Self {
        Sets {
            items,
            known: Interner::default(),
            scratch: Vec::new(),
        }
    }

    /// The set at the start.
    pub(super) fn start(&mut self) -> u32 {
        self.scratch.clear();
        self.scratch.push(0);
        self.intern_scratch()
    }

    /// How many operations were called by then.
    pub(super) fn called(&self, set: u32) -> u32 {
        self.known.get(set)[0]
    }

    /// The operations that can take effect next.
    pub(super) fn waiting(&self, set: u32) -> &[u32] {
        &self.known.get(set)[1..]
    }

    /// The set after an operation that waits took effect too.
    pub(super) fn with(&mut self, set: u32, op: u32) -> u32 {
        self.scratch.clear();
        let before = self.known.get(set).iter().enumerate();
        let others = before.filter(|&(i, &other)| i == 0 || other != op);
        self.scratch.extend(others.map(|(_, &other)| other));
        self.intern_scratch()
    }

    /// The first return of an operation that did not take effect; [`NEVER`] if there is none.
    pub(super) fn deadline(&self, set: u32) -> u32 {
        let returns = self
            .waiting(set)
            .iter()
            .map(|&op| self.items[op as usize].ret);
        returns.min().unwrap_or(NEVER)
    }

    /// Calls whatever is called before one of those that wait is due, and gives the set a number.
    fn intern_scratch(&mut self) -> u32 {
        let waiting = self.scratch[1..].iter();
        let returns = waiting.map(|&op| self.items[op as usize].ret);
        let mut deadline = returns.min().unwrap_or(NEVER);
        while let Some(item) = self.items.get(self.scratch[0] as usize) {
            if precedes(deadline, item.call) {
                break;
            }
            deadline = deadline.min(item.ret);
            self.scratch.push(self.scratch[0]);
            self.scratch[0] += 1;
        }
        self.known.intern(self.scratch.as_slice().into())
    }
}
