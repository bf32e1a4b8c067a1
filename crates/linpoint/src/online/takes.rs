//! Changes that must have happened before it is known which operations made them.
//!
//! A result may show that *some* open operation has taken effect: that is a *take*. Any operation that was called before
//! a take, is still open and may turn out to be of the right kind is a *candidate* for it. Takes and candidates are all
//! alike otherwise, so the first take goes to the candidate that was called first, the second take to the second candidate,
//! and so on: if this assignment fails, every assignment fails. Ours.

use super::{Observable, Op, Time};
use crate::history::precedes;

/// Takes that are not yet assigned, and the candidates for them. `T` is what a monitor notes of a take.
pub(super) struct Takes<O: Observable, T> {
    /// When the candidates were called, ascending.
    candidates: Vec<Time>,
    /// Ascending by time.
    takes: Vec<Take<O, T>>,
}

/// One take.
pub(super) struct Take<O: Observable, T> {
    /// The event that showed it. The change happened right before.
    at: Time,
    /// The operation that returned then.
    pub(super) shown_by: Op<O>,
    pub(super) note: T,
}

impl<O: Observable, T: Clone> Take<O, T> {
    fn copy(&self) -> Self {
        Take {
            at: self.at,
            shown_by: Op::clone(&self.shown_by),
            note: self.note.clone(),
        }
    }
}

impl<O: Observable, T: Clone> Takes<O, T> {
    pub(super) fn new() -> Self {
        Takes {
            candidates: Vec::new(),
            takes: Vec::new(),
        }
    }

    pub(super) fn call(&mut self, op: &Op<O>) {
        self.candidates.push(op.called);
    }

    /// One more candidate took effect right before the event `at`. `Err` if there is none.
    pub(super) fn take(&mut self, at: Time, shown_by: &Op<O>, note: T) -> Result<(), ()> {
        if self.takes.len() >= self.candidates.len() {
            return Err(());
        }
        self.takes.push(Take {
            at,
            shown_by: Op::clone(shown_by),
            note,
        });
        Ok(())
    }

    /// A candidate returns and did what candidates do. Whether that was one of the takes, which is gone now.
    pub(super) fn settle(&mut self, op: &Op<O>) -> bool {
        self.remove(op);
        // The earliest one leaves the others those takes that more of them can have.
        let earliest = self
            .takes
            .partition_point(|take| precedes(take.at, op.called));
        if earliest == self.takes.len() {
            return false;
        }
        self.takes.remove(earliest);
        true
    }

    /// The first of the takes with a note like this.
    pub(super) fn find(&self, is_like: impl Fn(&T) -> bool) -> Option<usize> {
        self.takes.iter().position(|take| is_like(&take.note))
    }

    /// Whether `op` was called before this one of the takes.
    pub(super) fn is_before(&self, op: &Op<O>, which: usize) -> bool {
        !precedes(self.takes[which].at, op.called)
    }

    /// A candidate returns and was this one of the takes. `Err` with a take for which no candidate is left.
    pub(super) fn settle_with(&mut self, op: &Op<O>, which: usize) -> Result<(), Take<O, T>> {
        self.takes.remove(which);
        self.dismiss(op)
    }

    /// A candidate turns out to have done something else. `Err` with a take for which no candidate is left.
    pub(super) fn dismiss(&mut self, op: &Op<O>) -> Result<(), Take<O, T>> {
        self.remove(op);
        let mut pairs = self.takes.iter().enumerate();
        let fails = |(i, take): &(usize, &Take<O, T>)| {
            self.candidates
                .get(*i)
                .is_none_or(|&call| precedes(take.at, call))
        };
        pairs
            .find(fails)
            .map_or(Ok(()), |(_, take)| Err(take.copy()))
    }

    /// How many takes are not yet assigned.
    pub(super) fn unassigned(&self) -> usize {
        self.takes.len()
    }

    /// How many candidates are open.
    pub(super) fn open(&self) -> usize {
        self.candidates.len()
    }

    fn remove(&mut self, op: &Op<O>) {
        if let Ok(found) = self.candidates.binary_search(&op.called) {
            self.candidates.remove(found);
        }
    }
}
