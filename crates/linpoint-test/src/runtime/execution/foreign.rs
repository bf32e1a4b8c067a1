//! An execution whose threads another scheduler runs: it knows who could go on, and asks here who does.

use super::super::MAIN;
use super::super::access::Kind;
use super::super::coroutine::Switch;
#[cfg(feature = "loom")]
use super::super::history::History;
#[cfg(feature = "loom")]
use super::{Choice, End, Outcome};
use super::{Execution, Guest, Pending, Question};
use crate::runtime::search::Search;

/// The object that every step of a guest touches, for want of better knowledge.
const WORLD: u32 = 0;

impl Execution {
    /// The workers may run; the main thread waits for them.
    pub(crate) fn release(&mut self) {
        self.insert(WORLD);
        self.expect(MAIN, Pending::Join);
        self.now.workers = true;
    }

    /// Whether it is for the workers to run.
    pub(crate) fn released(&self) -> bool {
        self.now.workers
    }

    /// The running thread stands before an operation.
    pub(crate) fn stand_before(&mut self, op: usize) {
        self.expect(self.now.current, Pending::Start(op as u32));
    }

    /// The operation of the running thread.
    #[cfg(feature = "loom")]
    pub(crate) fn running(&self) -> usize {
        let op = self.now.threads[self.now.current].op;
        op.expect("bug: a thread runs without an operation") as usize
    }

    /// Forgets everything and starts anew with the main thread.
    #[cfg(feature = "loom")]
    pub(crate) fn restart(&mut self) {
        let layout = self.layout.clone();
        self.reset(self.epoch, &layout, self.settings, 0);
    }

    /// A thread whose turns are not ours to give calls an operation.
    #[cfg(feature = "loom")]
    pub(crate) fn calls(&mut self, thread: usize, op: usize) {
        self.expect(thread, Pending::Start(op as u32));
        self.begin(thread);
    }

    /// It returns from it.
    #[cfg(feature = "loom")]
    pub(crate) fn returns(&mut self, thread: usize, op: usize, outcome: Outcome) {
        self.now.current = thread;
        self.finish(op, outcome);
    }

    /// Becomes an execution that was recorded before.
    #[cfg(feature = "loom")]
    pub(crate) fn show(&mut self, history: &History, schedule: Vec<Choice>, repetitions: u64) {
        self.outcomes.clone_from(&history.outcomes);
        self.before.clone_from(&history.before);
        self.events.clone_from(&history.events);
        self.steps.clear();
        self.schedule = schedule;
        self.repetitions = repetitions;
        self.end = End::Complete;
    }

    /// Who goes on of those who could (one bit per thread); `yields` if the running thread would rather not.
    pub(crate) fn next_of(&mut self, ready: u16, yields: bool, search: &mut dyn Search) -> Switch {
        let current = self.now.current;
        let question = Question::guest(ready, yields);
        for index in 0..self.layout.threads.len() {
            if !self.inside(index) {
                continue;
            }
            let guest = match ready & 1 << index {
                0 => Guest::Waits,
                _ if yields && index == current => Guest::Yields,
                _ => Guest::Ready,
            };
            self.expect(index, Pending::Guest(guest));
        }
        let switch = self.next(search);
        if let Switch::To(chosen) = switch
            && chosen != MAIN
        {
            if !self.inside(chosen) {
                // From now on it is in the middle of its operation.
                self.expect(chosen, Pending::Guest(Guest::Ready));
                self.describe(|| "begins".to_owned());
            } else {
                self.touch(WORLD, Kind::Write, false, true);
                self.describe(|| "goes on".to_owned());
            }
        }
        self.answer_with(question, usize::MAX, switch);
        switch
    }
}
