//! The questions that the runtime asks a search. The searches themselves are in [`crate::search`].

use std::any::Any;

#[cfg(feature = "loom")]
use super::execution::Choice;
use super::execution::{Threads, Trace};

/// A moment at which somebody must go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// Who may, one bit per thread.
    pub(crate) enabled: u16,
    /// Who ran last.
    pub(crate) current: u8,
    /// Anybody but `current` is a preemption: it stands in the middle of an operation and could go on.
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

    /// Who goes on if nobody has a reason to choose another.
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
    /// Who goes on.
    pub(crate) thread: usize,
    /// The next execution may begin as this one, and decide otherwise here.
    pub(crate) may_change: bool,
    /// From here on nobody is preempted in this execution: the search need not be asked where that is the only choice.
    pub(crate) settled: bool,
}

impl Decision {
    /// For this execution.
    pub(crate) fn now(thread: usize) -> Self {
        Decision {
            thread,
            may_change: false,
            settled: false,
        }
    }
}

/// Decides at each point who goes on, and between executions what to try next.
pub(crate) trait Search: Any {
    /// Who goes on; `None` if something else was offered here before.
    fn choose(&mut self, trace: &Trace, threads: &Threads, point: Point) -> Option<Decision>;

    /// One of several outcomes that are not a matter of scheduling; `None` if there were others here before.
    fn pick(&mut self, trace: &Trace, ways: usize) -> Option<usize>;

    /// The last step of the execution is complete, and the execution before did not begin with it.
    fn closed(&mut self, trace: &Trace);

    /// The execution has ended. The next one, if there is one, begins with so many of its choices; about them nothing is
    /// asked again. The one after them was said to be one that may change.
    fn advance(&mut self, trace: &Trace) -> Option<usize>;

    /// The schedule that is asked for, if it is a single one.
    #[cfg(feature = "loom")]
    fn given(&self) -> &[Choice] {
        &[]
    }

    /// Whether the execution that just ended was left to itself because everything it could show was seen before.
    fn pruned(&self) -> bool {
        false
    }

    /// Whether a bound kept it from something.
    fn bounded(&self) -> bool {
        false
    }
}
