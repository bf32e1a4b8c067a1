//! Sets of operations that took effect, by number.

use super::{NEVER, StackOp};
use crate::history::precedes;
use crate::value::Interner;

/// Sets of operations that took effect. Each is stored as the number of operations that were called and those of them
/// that wait. Invariant: all operations that are called before the first return of one that waits are called.
#[derive(Debug)]
pub(super) struct Sets {
    /// In the order of their calls.
    pub(super) items: Vec<StackOp>,
    /// How many were called, then those of them that wait, in the order of their calls.
    known: Interner<Box<[u32]>>,
    scratch: Vec<u32>,
}

impl Sets {
    pub(super) fn new(items: Vec<StackOp>) -> Self {
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

    /// The number of operations that were called.
    pub(super) fn called(&self, set: u32) -> u32 {
        self.known.get(set)[0]
    }

    /// The operations that can take effect next.
    pub(super) fn waiting(&self, set: u32) -> &[u32] {
        &self.known.get(set)[1..]
    }

    /// The set with one more operation, which must wait in `set`.
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

    /// Calls all operations that are called before the deadline, and returns the number of the set.
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
