//! The questions that the runtime asks a search. The searches themselves are in [`crate::search`].

use std::any::Any;

#[cfg(feature = "loom")]
use super::execution::Choice;
use super::execution::{Threads, Trace};

/// A point of an execution at which a thread is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// The threads that can go on, one bit each.
    pub(crate) enabled: u16,
    /// The threads that sleep at a hint. They could go on, and would only repeat what they did: searches do not choose them.
    pub(crate) asleep: u16,
    /// The thread that ran last.
    pub(crate) current: u8,
    /// To choose another thread than `current` is a preemption: it is in the middle of an operation and could go on.
    pub(crate) costs: bool,
}

impl Point {
    /// The enabled threads, the running one first.
    pub(crate) fn options(self) -> impl Iterator<Item = usize> {
        let running = usize::from(self.current);
        let current = (self.enabled & 1 << running != 0).then_some(running);
        let others = (0..u16::BITS as usize)
            .filter(move |&thread| thread != running && self.enabled & 1 << thread != 0);
        current.into_iter().chain(others)
    }

    /// The thread that goes on if the search has no reason to choose another: the running one if possible.
    pub(crate) fn default_choice(self) -> usize {
        match self.enabled & 1 << self.current {
            0 => self.enabled.trailing_zeros() as usize,
            _ => usize::from(self.current),
        }
    }
}

/// What a search decides at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The thread that goes on.
    pub(crate) thread: usize,
    /// A later execution may begin as this one, and decide differently here.
    pub(crate) may_change: bool,
    /// From here on no thread is preempted in this execution, so the search is not asked where a thread can go on.
    pub(crate) settled: bool,
}

impl Decision {
    /// A decision that later executions do not change.
    pub(crate) fn now(thread: usize) -> Self {
        Decision {
            thread,
            may_change: false,
            settled: false,
        }
    }
}

/// Chooses a thread at each point, and between executions what to try next.
pub(crate) trait Search: Any {
    /// Chooses a thread; `None` if the choice here was between other threads in an earlier execution.
    fn choose(&mut self, trace: &Trace, threads: &Threads, point: Point) -> Option<Decision>;

    /// Picks one of several outcomes that are not a matter of scheduling; `None` if there were others in an earlier execution.
    fn pick(&mut self, trace: &Trace, ways: usize) -> Option<usize>;

    /// The last step of the execution is complete. Steps of a repeated prefix are not reported again.
    fn closed(&mut self, trace: &Trace);

    /// The execution has ended. Returns with how many of its choices the next one begins, or `None` if there is no next one. The
    /// search is not asked about these choices again. The first choice after them is one whose decision was `may_change`.
    fn advance(&mut self, trace: &Trace) -> Option<usize>;

    /// The schedule that is asked for, if it is a single one.
    #[cfg(feature = "loom")]
    fn given(&self) -> &[Choice] {
        &[]
    }

    /// Whether the execution that just ended was redundant: all that it could show was seen before.
    fn pruned(&self) -> bool {
        false
    }

    /// Whether a bound kept the search from some schedule.
    fn bounded(&self) -> bool {
        false
    }

    /// How much of its executions the search has probably been through, from 0 to 1. It is no proof of anything.
    fn progress(&self) -> f64 {
        0.0
    }
}
