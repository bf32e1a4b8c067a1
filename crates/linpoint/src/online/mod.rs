//! Online monitors: histories decided while they happen, one event at a time.
//!
//! After each event, the question is whether the history so far, with the operations that have not returned as pending
//! ones, is linearizable. [`OnlineChecker`] is the entry. It knows neither lines nor formats: the caller describes
//! operations, either as the operations of a [`Spec`](crate::Spec) or as the calls of an
//! [`ObjectType`](crate::object::ObjectType).
//!
//! A monitor remembers the pending operations, and of the others what a pending or a later one may still contradict; it
//! forgets the rest, so a stream may be endless. The header of each monitor says what that is and why it is enough.
//!
//! | object | monitor | a violation is reported |
//! |---|---|---|
//! | a key of a set, a lock | `bits` | at the event that makes it certain |
//! | a register, a key of a map, each value written once at a time | `register` | at the event that makes it certain |
//! | a counter that grows by one and the same amount | `counter` | at the event that makes it certain |
//! | a semaphore, no attempt at it fails | `permits` | at the event that makes it certain |
//! | a snapshot, updates of one entry one after the other | `snapshot` | at the event that makes it certain |
//! | a queue, no value in it twice, no peeks that see a value | `queue` | at the event that makes it certain |
//! | a priority queue, no value in it twice | `priority` | at the latest when all operations that were pending at that event have returned |
//!
//! A monitor that does not understand an operation reports that it cannot tell; it never guesses. `tests.rs` compares each
//! of them with the reference after every event of random histories.

mod bits;
mod checker;
mod counter;
mod finding;
mod observable;
mod past;
mod permits;
mod priority;
mod queue;
mod recorded;
mod register;
mod slot;
mod snapshot;
mod takes;
#[cfg(test)]
mod tests;

pub use checker::OnlineChecker;
pub use finding::{CannotTell, Finding, Violation};
pub use observable::{Observable, Observed, OpFacts};
pub(crate) use recorded::{Explained, explain};

use std::sync::Arc;

use self::observable::Op;
use self::priority::{Priority, Served};
use crate::claim::Claim;
use crate::spec::{Kind, Role};

/// The number of an event, counted from 1; 0 is before all of them.
type Time = u64;

/// How many values that no longer matter a monitor keeps, to name the operations of a contradiction.
const EXPLAINED: usize = 64;

/// A monitor of one object, or of one key of it.
///
/// What is known of an operation at its call is its [pending role](Observed::pending_role).
trait Online<O: Observable>: Send {
    /// An operation is called.
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>>;

    /// It returns, and has this role.
    fn ret(&mut self, op: &Op<O>, role: &Role, now: Time) -> Result<(), Stop<O>>;

    /// It did not take effect, and never will.
    fn fail(&mut self, op: &Op<O>, now: Time) -> Result<(), Stop<O>>;

    /// It will never return.
    fn crash(&mut self, op: &Op<O>);

    /// Whether a new monitor would decide the same from here on.
    fn is_blank(&self) -> bool {
        false
    }

    /// Whether the verdict depends on what pending operations did.
    fn is_unsettled(&self) -> bool {
        false
    }
}

/// Why a monitor goes no further.
enum Stop<O: Observable> {
    /// No order explains what happened.
    Violation {
        /// Why. It is about one operation.
        claim: Claim<Op<O>>,
        /// Operations that contradict it: those that the claim names, and some that show what it says.
        others: Vec<Op<O>>,
        /// The operation whose failure brought it to light, if one did.
        failed: Option<Op<O>>,
    },
    /// The object is used in a way that this monitor does not understand.
    CannotTell(String),
}

impl<O: Observable> Stop<O> {
    fn violation(claim: Claim<Op<O>>) -> Self {
        Stop::Violation {
            others: claim.others().into_iter().cloned().collect(),
            claim,
            failed: None,
        }
    }

    /// The same violation; these operations, too, show what the claim says.
    fn shown_by(mut self, shown_by: impl IntoIterator<Item = Op<O>>) -> Self {
        if let Stop::Violation { others, .. } = &mut self {
            others.extend(shown_by);
            others.sort_by_key(|other| other.called);
            others.dedup_by_key(|other| other.called);
        }
        self
    }

    /// The same violation, which this operation brought to light when it failed.
    fn since_failed(mut self, op: &Op<O>) -> Self {
        if let Stop::Violation { failed, .. } = &mut self {
            *failed = Some(Arc::clone(op));
        }
        self
    }

    fn cannot_tell(reason: impl Into<String>) -> Self {
        Stop::CannotTell(reason.into())
    }
}

/// A monitor for an object of this kind, if there is one.
fn monitor<O: Observable>(kind: &Kind, object: &Arc<O>) -> Option<Box<dyn Online<O>>> {
    match kind {
        Kind::Slot(initial) => Some(Box::new(slot::Slot::new(initial.clone()))),
        Kind::Counter(initial) => Some(Box::new(counter::Counter::new(*initial))),
        Kind::Snapshot(initial) => Some(Box::new(snapshot::Snapshot::new(
            initial.clone(),
            Arc::clone(object),
        ))),
        Kind::Semaphore(permits) => Some(Box::new(permits::Permits::new(*permits))),
        Kind::Queue => Some(Box::new(queue::Queue::new())),
        Kind::MaxPriorityQueue => Some(Box::new(Priority::new(Served::Largest))),
        Kind::MinPriorityQueue => Some(Box::new(Priority::new(Served::Smallest))),
        _ => None,
    }
}

/// Whether the monitor of such an object finds the words for violations of recorded histories, too. Of the others, checks know
/// more: they say in more cases why, or with fewer operations.
fn explains(kind: &Kind) -> bool {
    !matches!(kind, Kind::Queue | Kind::Semaphore(_))
}
