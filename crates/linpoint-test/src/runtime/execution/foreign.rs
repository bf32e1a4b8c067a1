//! Executions whose threads a foreign scheduler runs: it gives the threads that can go on, and this module chooses one.

use super::super::MAIN;
use super::super::access::{Effect, Kind};
use super::super::coroutine::Switch;
#[cfg(feature = "loom")]
use super::super::history::History;
use super::super::search::Search;
#[cfg(feature = "shuttle")]
use super::Switches;
#[cfg(feature = "loom")]
use super::{Choice, Outcome};
use super::{Entry, Execution, Foreign, ObjectName, Pending};

/// The object that every step of a foreign thread touches: what the step really touches is not known.
const WORLD: u32 = 0;

/// Whether the running thread lets others go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yields {
    No,
    Yes,
}

impl Yields {
    #[cfg(feature = "shuttle")]
    pub(crate) fn of(yields: bool) -> Self {
        match yields {
            true => Yields::Yes,
            false => Yields::No,
        }
    }
}

impl Execution {
    /// The workers may run; the main thread waits for them.
    pub(crate) fn release(&mut self) {
        self.insert(ObjectName::external(0));
        self.threads.expect(MAIN, Pending::Join);
        self.threads.released = true;
    }

    /// Whether the workers run.
    pub(crate) fn released(&self) -> bool {
        self.threads.released
    }

    /// How many workers the test has.
    #[cfg(feature = "shuttle")]
    pub(crate) fn workers(&self) -> usize {
        self.trace.layout().threads.len()
    }

    /// The workers that are in the middle of an operation, one bit each.
    #[cfg(feature = "shuttle")]
    pub(crate) fn inside(&self) -> u16 {
        (0..self.workers())
            .filter(|&thread| self.threads.is_inside(thread))
            .fold(0, |mask, thread| mask | 1 << thread)
    }

    /// Whether the execution is serial.
    #[cfg(feature = "shuttle")]
    pub(crate) fn is_serial(&self) -> bool {
        self.settings.switches == Switches::BetweenOperations
    }

    /// The running thread stands before an operation.
    pub(crate) fn stand_before(&mut self, op: usize) {
        self.threads
            .expect(self.threads.current, Pending::Start(op as u32));
    }

    /// The operation of the running thread.
    #[cfg(feature = "loom")]
    pub(crate) fn running_op(&mut self) -> usize {
        let op = self.threads.running().op;
        op.expect("bug: a thread runs without an operation") as usize
    }

    /// Forgets everything and starts anew with the main thread.
    #[cfg(feature = "loom")]
    pub(crate) fn restart(&mut self) {
        let layout = self.trace.layout().clone();
        self.reset(self.epoch, &layout, self.settings, 0);
    }

    /// A thread that we do not schedule calls an operation.
    #[cfg(feature = "loom")]
    pub(crate) fn calls(&mut self, thread: usize, op: usize) {
        self.threads.expect(thread, Pending::Start(op as u32));
        self.begin(thread);
    }

    /// A thread that we do not schedule returns from an operation.
    #[cfg(feature = "loom")]
    pub(crate) fn returns(&mut self, thread: usize, op: usize, outcome: Outcome) {
        self.threads.current = thread;
        self.finish(op, outcome);
    }

    /// Becomes an execution of which loom has kept the history.
    #[cfg(feature = "loom")]
    pub(crate) fn show(&mut self, history: &History, schedule: Vec<Choice>, repetitions: u64) {
        self.trace.show(history, schedule, repetitions);
    }

    /// Chooses one of the threads that can go on, one bit each.
    pub(crate) fn next_of(
        &mut self,
        ready: u16,
        yields: Yields,
        search: &mut dyn Search,
    ) -> Switch {
        let current = self.threads.current;
        let entry = Entry::foreign(ready, yields);
        for index in 0..self.trace.layout().threads.len() {
            if !self.threads.is_inside(index) {
                continue;
            }
            let foreign = match ready & 1 << index {
                0 => Foreign::Waits,
                _ if yields == Yields::Yes && index == current => Foreign::Yields,
                _ => Foreign::Ready,
            };
            self.threads.expect(index, Pending::Foreign(foreign));
        }
        let switch = self.next(search);
        if let Switch::To(chosen) = switch
            && chosen != MAIN
        {
            if !self.threads.is_inside(chosen) {
                // From now on it is in the middle of its operation.
                self.threads
                    .expect(chosen, Pending::Foreign(Foreign::Ready));
                self.describe(|| "begins".to_owned());
            } else {
                self.touch(WORLD, Kind::Write, Effect::Changed);
                self.describe(|| "goes on".to_owned());
            }
        }
        self.answer_with(entry, usize::MAX, switch);
        switch
    }
}
