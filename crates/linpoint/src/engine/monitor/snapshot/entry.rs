//! The updates of one entry of a snapshot, numbered in their order.
//!
//! Ours: what lets the general monitor run online in bounded memory. An update is forgotten once no scan that may still return
//! can have seen it.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use foldhash::fast::FixedState;

use crate::history::precedes;

/// The number of an event, counted from 1.
pub(super) type Time = u64;

pub(super) const NEVER: Time = Time::MAX;

/// How many updates are kept that no scan can see any more, for better explanations.
const EXPLAINED: usize = 8;

/// An entry.
#[derive(Clone, Debug)]
pub(super) struct Entry<V, T> {
    pub(super) number: u32,
    /// The updates from number `first` on. Number 0 is the initial value.
    pub(super) updates: VecDeque<Update<V, T>>,
    pub(super) first: u64,
    /// The latest update with each value.
    pub(super) by_value: HashMap<V, u64, FixedState>,
    /// Whether an update is open; also one that changes nothing.
    pub(super) is_busy: bool,
}

/// An update that changes its entry; the initial value has no operation.
#[derive(Clone, Debug)]
pub(super) struct Update<V, T> {
    pub(super) op: Option<T>,
    pub(super) value: V,
    pub(super) called: Time,
    pub(super) returned: Time,
}

impl<V, T> Entry<V, T> {
    pub(super) fn last_index(&self) -> u64 {
        self.first + self.updates.len() as u64 - 1
    }

    pub(super) fn update(&self, index: u64) -> &Update<V, T> {
        &self.updates[(index - self.first) as usize]
    }

    /// Whether no scan can see an update any more, given that all scans that may still return were called at time `called` or
    /// later, and after the return of a scan that saw the update number `floor`.
    pub(super) fn is_over(&self, index: u64, called: Time, floor: u64) -> bool {
        index < floor
            || (index < self.last_index() && precedes(self.update(index + 1).returned, called))
    }
}

impl<V: Clone + Eq + Hash, T> Entry<V, T> {
    /// An entry that was never updated.
    pub(super) fn new(number: u32, initial: V) -> Self {
        Entry {
            number,
            updates: VecDeque::from([Update {
                op: None,
                value: initial.clone(),
                called: 0,
                returned: 0,
            }]),
            first: 0,
            by_value: HashMap::from_iter([(initial, 0)]),
            is_busy: false,
        }
    }

    /// The latest update with a value.
    pub(super) fn with_value(&self, value: &V) -> Option<u64> {
        // Most scans see the latest update.
        match self.updates.back() {
            Some(last) if last.value == *value => Some(self.last_index()),
            _ => self.by_value.get(value).copied(),
        }
    }

    /// Forgets updates that no scan can see any more, except the last few of them.
    pub(super) fn forget(&mut self, called: Time, floor: u64) {
        while self.updates.len() > EXPLAINED
            && self.is_over(self.first + EXPLAINED as u64, called, floor)
        {
            if let Some(update) = self.updates.pop_front()
                && self.by_value.get(&update.value) == Some(&self.first)
            {
                self.by_value.remove(&update.value);
            }
            self.first += 1;
        }
    }
}
