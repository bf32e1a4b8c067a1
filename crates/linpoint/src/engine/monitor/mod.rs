//! Monitors: histories of well-known objects, decided in time that grows little faster than their length.
//!
//! Each monitor looks at a [`Log`]: ranks and numbers of values, no more. It answers that the history is linearizable,
//! with what a witness can be made of, or names a few operations that contradict each other by themselves.
//!
//! Terms that all of them use. *Gap* `g` is the time right after the event of rank `g`; an operation may take effect in
//! any gap from its call up to its return. A value is *critical* in a gap if it is in the container there whatever the
//! order; see [`Lives`].

pub mod bag;
mod cover;
mod empties;
mod lives;
mod log;
pub mod online;
#[cfg(test)]
mod trial;

pub use lives::{Life, Lives};
pub use log::{Act, Event, Log};

/// What a monitor found out. `P` is what it knows of the order, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<P = ()> {
    /// Some order explains everything.
    Linearizable(P),
    /// None does.
    Violation(Clash),
}

impl<P> Finding<P> {
    /// Whether the history is linearizable.
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Finding::Linearizable(_))
    }
}

/// Operations that contradict each other, whatever the others did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// What is wrong with them.
    pub what: What,
    /// Their positions, ascending. By themselves they are not linearizable, though fewer of them may already be.
    pub ops: Vec<u32>,
}

/// What is wrong with a few operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A value was seen that nobody put in.
    NeverAdded,
    /// A value was taken out more often than it was put in.
    RemovedTwice,
    /// A value was seen before it was put in.
    SeenBeforeAdded,
    /// A value was seen, or put in, only after it was taken out.
    SeenAfterRemoved,
    /// Nothing was found although something was there all the time.
    NotEmpty,
    /// Values were served in another order than they came in.
    OutOfOrder,
    /// A value was served although a more urgent one was there all the time.
    Overtaken,
    /// Values of a stack lie on each other such that none can be taken out.
    Buried,
}
