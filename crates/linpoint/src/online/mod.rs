//! Online monitors: histories judged while they happen, one event at a time.
//!
//! After each event the question is whether the history so far, with the operations that are still open as pending ones,
//! is linearizable. A monitor remembers what is open and what is still in the object, no more, so a stream may go on for
//! ever. [`Watcher`] is the entry: it takes recorded events of a built-in type, and has a monitor for each object, or for
//! each key of it.
//!
//! | object | monitor | a violation is reported |
//! |---|---|---|
//! | a key of a set, a lock | `bits` | at the event that makes it certain |
//! | a register, a key of a map, each value written once at a time | `register` | at the event that makes it certain |
//! | a counter that grows by one and the same amount | `counter` | at the event that makes it certain |
//! | a snapshot, updates of one entry one after the other | `snapshot` | at the event that makes it certain |
//! | a priority queue, no value in it twice | `priority` | at the latest when all operations that were open at that event have returned |
//!
//! What does not fit makes a monitor say that it cannot tell; it never guesses. `tests.rs` compares each of them with
//! the reference after every event of random histories.

mod bits;
mod counter;
mod observed;
mod priority;
mod register;
mod slot;
mod snapshot;
mod takes;
#[cfg(test)]
mod tests;
mod watcher;

pub use observed::Observed;
pub use watcher::{CannotTell, Notice, Violation, Watcher};

use std::sync::Arc;

use self::priority::{Priority, Served};
use crate::spec::{Kind, Role};

/// The number of an event, counted from 1; 0 is before all of them.
type Time = u64;

/// An operation. It is remembered as long as some monitor may have to name it.
type Op = Arc<Observed>;

/// How many values that are over a monitor keeps, only to explain better.
const EXPLAINED: usize = 64;

/// Watches one object, or one key of it.
///
/// What is known of an operation at its call is its [promise](Observed::promise): its role while pending.
trait Online: Send {
    /// An operation is called.
    fn call(&mut self, op: &Op) -> Result<(), Stop>;

    /// It returns, and turns out to do this.
    fn ret(&mut self, op: &Op, role: &Role, now: Time) -> Result<(), Stop>;

    /// It did not happen.
    fn fail(&mut self, op: &Op, now: Time) -> Result<(), Stop>;

    /// It will never return.
    fn crash(&mut self, op: &Op);

    /// Whether a new monitor would know as much.
    fn is_blank(&self) -> bool {
        false
    }

    /// Whether what open operations did decides about some that have returned.
    fn is_unsettled(&self) -> bool {
        false
    }
}

/// Why a monitor goes no further.
#[derive(Debug)]
enum Stop {
    /// No order explains what happened.
    Violation {
        /// The operation whose result is impossible.
        op: Op,
        /// Why, in words.
        sentence: String,
        /// Those that contradict it.
        others: Vec<Op>,
    },
    /// The object is used in a way that this monitor does not understand.
    CannotTell(String),
}

impl Stop {
    fn violation(op: &Op, others: impl IntoIterator<Item = Op>, sentence: String) -> Self {
        Stop::Violation {
            op: Arc::clone(op),
            sentence,
            others: others.into_iter().collect(),
        }
    }

    fn cannot_tell(reason: impl Into<String>) -> Self {
        Stop::CannotTell(reason.into())
    }
}

/// A monitor for an object of this kind, if there is one.
fn monitor(kind: &Kind) -> Option<Box<dyn Online>> {
    match kind {
        Kind::Slot(initial) => Some(Box::new(slot::Slot::new(initial.clone()))),
        Kind::Counter(initial) => Some(Box::new(counter::Counter::new(*initial))),
        Kind::Snapshot(initial) => Some(Box::new(snapshot::Snapshot::new(initial.clone()))),
        Kind::MaxPriorityQueue => Some(Box::new(Priority::new(Served::Largest))),
        Kind::MinPriorityQueue => Some(Box::new(Priority::new(Served::Smallest))),
        _ => None,
    }
}
