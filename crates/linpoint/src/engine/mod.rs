//! Engines: each decides parts of histories, without relying on another.
//!
//! An `Engine` says by a `Profile` which parts it can decide, and decides a [`Task`] within a [`Budget`]. All of them
//! give answers of one shape; the portfolio chooses among them, and certifies what they answer.

mod bits;
pub mod brute;
pub mod hitting;
#[doc(hidden)]
pub mod monitor;
mod overlap;
mod profile;
pub(crate) mod search;
mod shortcuts;
mod task;

pub use crate::budget::{Budget, Limit, Progress};
pub(crate) use crate::budget::{Stopwatch, Ticker};
pub(crate) use bits::set_bits;
pub(crate) use overlap::Overlap;
pub(crate) use profile::Profile;
#[doc(hidden)]
pub use shortcuts::Shortcut;
pub(crate) use shortcuts::Shortcuts;
pub(crate) use task::{End, Facts, count_events, first_return_after, until};
pub use task::{Task, TaskOp};

use std::borrow::Cow;

use crate::history::OpId;
use crate::spec::Spec;

/// Decides parts of histories of one specification.
pub(crate) trait Engine<S: Spec>: Sync {
    /// The name of this engine in reports and on the command line.
    fn name(&self) -> &'static str;

    /// Whether this engine may decide such a part. The reason it gives if it cannot stands in reports.
    ///
    /// What a profile does not show may still keep an engine from an answer; then [`decide`](Self::decide) gives up with
    /// [`Cause::NotApplicable`].
    fn admits(&self, profile: &Profile) -> Result<(), NotApplicable> {
        let _ = profile;
        Ok(())
    }

    /// Decides a task within a budget.
    fn decide(&self, task: &Task<'_, S>, evidence: Evidence, budget: &Budget) -> Outcome;
}

/// What an answer that a task is linearizable must come with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// An order of the operations.
    Order,
    /// Nothing: an order may be left out where it costs extra.
    Verdict,
}

/// The end of an engine's work on a task.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The answer, or why there is none.
    pub(crate) answer: Result<Answer, GaveUp>,
    /// How the engine went about it, in words.
    pub(crate) method: Cow<'static, str>,
}

/// What a complete engine found out.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Linearizable, in this order.
    Linearizable {
        /// The operations that take effect, in their order; empty where no order was asked for.
        order: Vec<OpId>,
        /// The least d whose [hitting family](hitting) has this order, if the engine knows it.
        shown_by: Option<usize>,
    },
    /// Not linearizable.
    NotLinearizable {
        /// The longest order found that explains a beginning of the history.
        partial: Vec<OpId>,
        /// How many events that beginning has.
        reached: usize,
        /// Operations that may contradict each other by themselves, if the engine knows some: these, seen as pending where
        /// they are so here.
        contradicting: Option<Vec<TaskOp>>,
        /// The rank of the first return that cannot be explained, if the engine knows it.
        first_bad: Option<u32>,
    },
}

impl Answer {
    /// Linearizable, in this order.
    pub(crate) fn in_order(order: Vec<OpId>) -> Self {
        Answer::Linearizable {
            order,
            shown_by: None,
        }
    }

    /// Not linearizable, and nothing more is known.
    pub(crate) fn nothing_fits() -> Self {
        Answer::explains_only(Vec::new(), 0)
    }

    /// Not linearizable: an order for `reached` events is the most that was found.
    pub(crate) fn explains_only(partial: Vec<OpId>, reached: usize) -> Self {
        Answer::NotLinearizable {
            partial,
            reached,
            contradicting: None,
            first_bad: None,
        }
    }

    /// Whether the history is linearizable.
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Answer::Linearizable { .. })
    }
}

/// An engine stopped without an answer.
#[derive(Clone, Debug)]
pub struct GaveUp {
    /// Why.
    pub cause: Cause,
    /// How many events were shown to be linearizable.
    pub reached: usize,
    /// Some of the states, each as a clause, to which orders lead that explain so many events; empty if the engine keeps no
    /// whole states.
    pub states: Vec<String>,
    /// An order that explains so many events; empty if the engine gives states instead, or knows none.
    pub order: Vec<OpId>,
}

/// The most states that an engine keeps for the case that it gives up.
pub(crate) const MOST_STATES: usize = 3;

impl<C: Into<Cause>> From<C> for GaveUp {
    fn from(cause: C) -> Self {
        GaveUp {
            cause: cause.into(),
            reached: 0,
            states: Vec::new(),
            order: Vec::new(),
        }
    }
}

/// Why an engine gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A limit was hit.
    Limit(Limit),
    /// The engine cannot decide this history, for this reason.
    NotApplicable(&'static str),
    /// The engine was to delay no more operations than so many, and found no witness.
    Depth(usize),
}

impl From<Limit> for Cause {
    fn from(limit: Limit) -> Self {
        Cause::Limit(limit)
    }
}

impl From<NotApplicable> for Cause {
    fn from(NotApplicable(why): NotApplicable) -> Self {
        Cause::NotApplicable(why)
    }
}

/// An engine cannot decide a history, for this reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotApplicable(
    /// The reason, in words.
    pub &'static str,
);
