//! Verdicts: linearizable with a witness, a violation with a core, or undecided with the limit that was hit.

pub(crate) mod certify;
mod explain;
mod pairs;
mod reduce;
pub(crate) mod replay;
mod sweep;
mod wording;

pub(crate) use explain::{Known, violation};
#[cfg(test)]
pub(crate) use reduce::prefix;

use std::time::Duration;

use crate::engine::Task;
use crate::history::{NEVER, OpId};
use crate::spec::Spec;
use crate::value::Value;

/// What was decided about a history or one of its parts.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Some order of the operations explains every result.
    Linearizable(Witness),
    /// No order does.
    Violation(Violation),
    /// A limit was hit first.
    Undecided(Undecided),
}

/// An order of operations that explains every result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The operations, in the order in which they took effect; pending ones that are missing never did. Empty where
    /// [witnesses are omitted](crate::portfolio::Witnesses::Omitted).
    pub order: Vec<OpId>,
}

/// Why there is no witness.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The operation whose return cannot be explained: up to its return the history is not linearizable, before it is.
    pub last: OpId,
    /// How many calls and returns of the part stand before and at that return.
    pub prefix_events: usize,
    /// Whether every shorter beginning is linearizable; `false` if the budget ended before that was known.
    pub shortest: bool,
    /// The longest order that explains a beginning of the history.
    pub partial: Vec<OpId>,
    /// The few operations that contradict each other.
    pub core: Core,
}

impl Violation {
    /// A violation as an engine found it, without core, and without prefix unless the engine knows the rank of the first
    /// return that cannot be explained.
    pub(crate) fn unreduced<S: Spec>(
        task: &Task<'_, S>,
        partial: Vec<OpId>,
        first_bad: Option<u32>,
    ) -> Self {
        let returned = || task.ops.iter().filter(|op| op.ret != NEVER);
        let cut = first_bad.unwrap_or(NEVER - 1);
        Violation {
            last: returned()
                .filter(|op| op.ret <= cut)
                .max_by_key(|op| op.ret)
                .map_or(OpId(0), |op| op.id),
            prefix_events: task.events_until(cut),
            shortest: first_bad.is_some(),
            partial,
            core: Core {
                ops: returned().map(|op| op.id).collect(),
                relaxed: task
                    .ops
                    .iter()
                    .filter(|op| op.ret == NEVER)
                    .map(|op| op.id)
                    .collect(),
                minimal: false,
                certified: false,
                sentence: "no order of these operations explains their results".into(),
            },
        }
    }
}

/// Operations whose recorded results and times contradict each other, whatever the other operations did.
#[derive(Clone, Debug)]
pub struct Core {
    /// The operations that contradict each other, in the order of their calls.
    pub ops: Vec<OpId>,
    /// Operations that may still have happened, as if pending, with any result: they do not help either.
    pub relaxed: Vec<OpId>,
    /// Whether no further reduction keeps the contradiction; `false` if the budget ended first.
    pub minimal: bool,
    /// Whether an independent check confirmed the core; `false` if it was too large for one.
    pub certified: bool,
    /// One sentence that says what is wrong.
    pub sentence: String,
}

/// Why nothing was decided.
#[derive(Clone, Debug)]
pub struct Undecided {
    /// The limit.
    pub limit: Limit,
    /// The engine that hit it.
    pub engine: &'static str,
    /// How many calls and returns of the part were shown to be linearizable.
    pub prefix_events: usize,
    /// How many there are.
    pub events: usize,
}

/// A limit on resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The time for this history is over.
    Time(Duration),
    /// The time for all histories of a run is over.
    TotalTime(Duration),
    /// More memory would have been needed than this many bytes.
    Memory(u64),
    /// Somebody asked to stop.
    Cancelled,
    /// The engine that was asked for cannot decide this history, for this reason.
    Engine(&'static str),
    /// The engine that was asked for was to delay no more operations than so many, and found no witness.
    Depth(usize),
}

/// The verdict on one part of a history, and how it came about.
#[derive(Clone, Debug)]
pub struct PartReport {
    /// The object; nil where the history names none.
    pub object: Value,
    /// The object's number in the history.
    pub object_number: u32,
    /// The key, where the object was split by keys.
    pub key: Option<Value>,
    /// How many operations the part has.
    pub ops: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The engine that decided, or hit the limit.
    pub engine: &'static str,
    /// Why this engine.
    pub reason: String,
    /// The least d whose [hitting family](crate::engine::hitting) has the witness, where that engine decided.
    pub shown_by: Option<usize>,
}

/// The verdict on a whole history.
#[derive(Clone, Debug)]
pub struct Report {
    /// The verdict: any violation wins; else any undecided part; else linearizable with a witness of the whole history.
    pub verdict: Verdict,
    /// The parts that were looked at.
    pub parts: Vec<PartReport>,
    /// How many further parts were not, because a violation was found before.
    pub skipped: usize,
}
