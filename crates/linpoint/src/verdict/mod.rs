//! Verdicts: linearizable with a witness, a violation with a core, or undecided with the limit that was hit.

mod anchor;
pub(crate) mod certify;
mod configurations;
mod core;
mod details;
mod explain;
mod held;
mod late;
mod pairs;
mod projection;
mod propose;
mod prove;
mod reduce;
pub(crate) mod replay;
mod stuck;
#[cfg(test)]
mod tests;
mod used_up;

pub use self::core::{Confirmation, Core, HarnessEvidence};
pub use anchor::{Anchor, Possible};
pub(crate) use explain::{EngineFindings, violation};
pub(crate) use prove::{Unproven, refute};
#[cfg(test)]
pub(crate) use reduce::prefix;
pub use stuck::Stuck;
#[cfg(test)]
pub(crate) use {configurations::has_no_order, tests::random::for_each_part};

use std::fmt;

pub use crate::claim::{Change, Claim, Detailed, Listed, PlaceConflict, Since, UsedUp};
pub use crate::engine::{Cause, Limit};
use crate::engine::{Task, TaskOp};
use crate::history::{NEVER, OpId, Partitioning};
use crate::spec::{Spec, Vocabulary};
use crate::value::Value;

/// What was decided about a history or one of its parts.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each part, and a box would be in the way of matching"
)]
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
    /// The least d whose [hitting family](crate::engine::hitting) has this order, where that engine decided.
    pub shown_by: Option<usize>,
    /// For a history that [ends stuck](crate::History::ends_stuck), why each pending operation waits. Empty for all others.
    pub stuck: Vec<StuckWitness>,
}

/// Why operations wait at the end of a history that [ends stuck](crate::History::ends_stuck).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckWitness {
    /// The pending operations that wait, all of them the same call.
    pub blocked: Vec<OpId>,
    /// The operations that returned, on their object or key, in an order that explains all results and leads to a state in which
    /// these are blocked. Empty where [witnesses are omitted](crate::portfolio::Witnesses::Omitted).
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
    /// What was possible when that operation returned; `None` if the limits ended before that was known.
    pub possible: Option<Possible>,
    /// The few operations that contradict each other.
    pub core: Core,
    /// The pending operation of a history that [ends stuck](crate::History::ends_stuck) which waits, although no order of the
    /// operations that returned leads to a state in which it is blocked. The history would be linearizable if it did not end stuck.
    ///
    /// `None` if it would not.
    pub blocked: Option<OpId>,
}

impl Violation {
    /// Says that the violation is that this pending operation waits: it is the last one of the core, or an operation that returned
    /// has a result that only pending operations could explain. `describe` names an operation.
    pub(crate) fn blame(&mut self, blocked: OpId, describe: &dyn Fn(OpId) -> String) {
        self.blocked = Some(blocked);
        if self.last != blocked {
            // It has no part in the contradiction, but it would matter if it took effect.
            self.core.relaxed.retain(|&id| id != blocked);
            let why = "the history ends stuck, so what never returned took no effect";
            self.core.sentence = format!("{}; {why}", self.core.sentence);
            return;
        }
        let states = self.possible.as_ref().map(|possible| &possible.states);
        let claim = Claim::NotBlocked {
            op: blocked,
            states: states.cloned().unwrap_or_default(),
        };
        self.core.sentence = claim.sentence(&Vocabulary::default(), &|id| describe(*id));
        self.core.claim = claim;
    }

    /// A violation as an engine found it, without core, and without prefix unless the engine knows the rank of the
    /// first return that cannot be explained.
    pub(crate) fn unreduced<S: Spec>(
        task: &Task<'_, S>,
        partial: Vec<OpId>,
        first_bad: Option<u32>,
    ) -> Self {
        let cut = first_bad.unwrap_or(NEVER - 1);
        let ids = |ops: &mut dyn Iterator<Item = &TaskOp>| ops.map(|op| op.id).collect::<Vec<_>>();
        let ops = ids(&mut task.ops.iter().filter(|op| op.ret != NEVER));
        let relaxed = ids(&mut task.ops.iter().filter(|op| op.ret == NEVER));
        let ended = task.ops.iter().filter(|op| op.ret <= cut);
        let last = ended.max_by_key(|op| op.ret).map_or(OpId(0), |op| op.id);
        Violation {
            last,
            prefix_events: task.events_until(cut),
            shortest: first_bad.is_some(),
            partial,
            possible: None,
            core: Core {
                anchor: None,
                ops,
                premises: Vec::new(),
                relaxed,
                cut,
                place: None,
                minimal: false,
                stopped_by: None,
                confirmation: Confirmation::Unconfirmed,
                claim: Claim::Contradiction {
                    op: last,
                    others: Vec::new(),
                },
                sentence: "no order of these operations explains their results".into(),
            },
            blocked: None,
        }
    }
}

/// Why nothing was decided.
#[derive(Clone, Debug)]
pub struct Undecided {
    /// Why: mostly a limit.
    pub cause: Cause,
    /// The engine that gave up.
    pub engine: &'static str,
    /// How many calls and returns of the part were shown to be linearizable.
    pub prefix_events: usize,
    /// How many there are.
    pub events: usize,
    /// Where the orders end that were tried; `None` if the engine does not know.
    pub stuck: Option<Stuck>,
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
    /// How the history was split into parts.
    pub partitioning: Partitioning,
}

/// Why nothing was decided, by which engine, and which prefix is known to be linearizable, as part of a sentence.
impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Undecided {
            cause,
            engine,
            prefix_events,
            events,
            ..
        } = self;
        match cause {
            Cause::NotApplicable(why) => write!(f, "engine {engine} cannot tell: {why}"),
            Cause::Depth(d) => write!(f, "no witness up to d = {d} (engine {engine})"),
            Cause::Limit(limit) => write!(
                f,
                "{limit} (engine {engine}; the first {prefix_events} of {events} events are linearizable)"
            ),
        }
    }
}
