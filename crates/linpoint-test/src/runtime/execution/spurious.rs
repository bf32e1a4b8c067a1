//! Choices of what happens for no reason, see [`crate::runtime::spurious`].

use super::super::MAIN;
use super::super::search::Search;
use super::threads::Woken;
use super::{Entry, Execution, Switches};

impl Execution {
    /// Whether the running thread's access fails for no reason. The running step must not have picked before.
    pub(in crate::runtime) fn fails_spuriously(&mut self, search: &mut dyn Search) -> bool {
        self.is_spurious(search).0
    }

    /// The running thread has begun to wait for a condition, and its wait may end for no reason.
    pub(in crate::runtime) fn wakes_spuriously(&mut self, search: &mut dyn Search) {
        if let (true, true) = self.is_spurious(search) {
            self.threads.running().woken = Woken::Spuriously;
        }
    }

    /// Whether something happens for no reason here, and whether that was decided just now.
    ///
    /// It is a choice of the search also if no more may happen, with one outcome: so the choices of an execution do not depend on
    /// the order of independent steps.
    fn is_spurious(&mut self, search: &mut dyn Search) -> (bool, bool) {
        if self.threads.current == MAIN || self.settings.switches == Switches::BetweenOperations {
            return (false, false);
        }
        let entry = Entry::spurious();
        if let Some(answer) = self.recall(entry) {
            return (answer != 0, false);
        }
        if self.spins.probes() {
            self.answer(entry, 0);
            return (false, false);
        }
        let is_left = self.threads.totals.spurious < self.most_spurious;
        let happens = self.pick_new(entry, 1 + usize::from(is_left), search) == Some(1);
        self.threads.totals.spurious += u32::from(happens);
        (happens, true)
    }
}
