//! Which schedules to run.
//!
//! | module | what it does |
//! |---|---|
//! | [`dfs`] | every schedule, or those within a bound on preemptions; optionally one of those that lead to equal states |
//! | [`dpor`] | one schedule of each class that differs in the order of independent steps only |
//! | [`random`] | schedules drawn at random |
//! | [`replay`] | one given schedule |

pub(crate) mod dfs;
pub(crate) mod dpor;
mod races;
pub(crate) mod random;
pub(crate) mod replay;

use std::any::Any;

#[cfg(feature = "loom")]
use crate::runtime::execution::Choice;
use crate::runtime::execution::Execution;

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

/// Decides at each point who goes on, and between executions what to try next.
pub(crate) trait Search: Any {
    /// Who goes on.
    fn choose(&mut self, execution: &Execution, point: Point) -> usize;

    /// One of several outcomes that are not a matter of scheduling.
    fn pick(&mut self, execution: &Execution, ways: usize) -> usize;

    /// The last step of the execution is complete.
    fn closed(&mut self, execution: &Execution);

    /// The execution has ended; whether there is another one.
    fn advance(&mut self, execution: &Execution) -> bool;

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

    /// The program did not repeat itself.
    fn uncontrolled(&self) -> Option<&Uncontrolled> {
        None
    }
}

/// A program that does not do the same under the same schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uncontrolled {
    pub(crate) step: usize,
}

impl std::fmt::Display for Uncontrolled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the object did not do the same under the same schedule (step {}): it depends on something that is not under \
             control, such as time, chance, addresses or state that survives between executions",
            self.step
        )
    }
}
