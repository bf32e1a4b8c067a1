//! Monitors: histories of well-known objects, decided in time that grows little faster than their length.
//!
//! Each monitor looks at a [`Log`]: ranks and numbers of values, no more. It answers that the history is linearizable,
//! with what a witness can be made of, or names a few operations that contradict each other by themselves.
//!
//! Terms that all of them use. *Gap* `g` is the time right after the event of rank `g`; an operation may take effect in
//! any gap from its call up to its return. A value is *critical* in a gap if it is in the container there whatever the
//! order; see [`CriticalIntervals`].

mod admit;
pub mod container;
pub mod count;
mod engine;
mod log;
pub mod slot;
pub mod snapshot;
pub(crate) mod structure;
mod sweep_order;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use admit::{Monitored, knows, relevant};
pub(crate) use container::ContainerMonitor;
pub(crate) use container::disambiguate::Refusal;
pub(crate) use engine::Monitors;
pub use log::{Act, Event, Log};

/// The name of this engine.
pub(crate) const NAME: &str = "monitor";

/// Bytes that deciding may take for each operation: what the most expensive monitor takes.
pub(crate) const BYTES: u64 = 100;

/// ViolationKind a monitor found out. `P` is what it knows of the order, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<P = ()> {
    /// Some order explains everything.
    Linearizable(P),
    /// None does.
    Violation(Contradiction),
}

impl<P> Finding<P> {
    /// Whether the history is linearizable.
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Finding::Linearizable(_))
    }
}

/// Operations that contradict each other, whatever the others did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// ViolationKind is wrong with them.
    pub kind: ViolationKind,
    /// Their positions, ascending. By themselves they are not linearizable, though fewer of them may already be.
    pub ops: Vec<u32>,
    /// The rank after which nothing counts: operations that returned later are to be seen as pending. The end of the log
    /// where nothing is cut off.
    pub cut: u32,
}

/// ViolationKind is wrong with a few operations, some of which are given by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// A value was seen that nobody put in.
    NeverAdded,
    /// A value was taken out more often than it was put in.
    RemovedTwice,
    /// A value was seen before it was put in.
    SeenBeforeAdded,
    /// A value was seen, or put in, only after it was taken out.
    SeenAfterRemoved,
    /// This operation found nothing although something was there all the time.
    NotEmpty(u32),
    /// Values were served in another order than they came in.
    OutOfOrder,
    /// This operation saw a value served although a more urgent one was there all the time.
    Overtaken(u32),
    /// A value was seen after another one had replaced it, or before that was there.
    Replaced,
    /// Something was found on, or off, that cannot have been.
    WrongState,
    /// Two values were at once where there is room for one.
    Crowded,
    /// A count was seen that cannot have been reached, or had been passed.
    Miscounted,
    /// Permits were taken that nobody can have given.
    NoPermits,
    /// Values of a stack lie on each other such that none can be taken out.
    Buried,
}

impl ViolationKind {
    /// Whether it is wrong whatever happened to other values.
    pub(crate) fn is_about_one_value(self) -> bool {
        matches!(
            self,
            ViolationKind::NeverAdded
                | ViolationKind::RemovedTwice
                | ViolationKind::SeenBeforeAdded
                | ViolationKind::SeenAfterRemoved
        )
    }
}

/// ViolationKind the monitors found out about a task, in its positions.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    /// Linearizable, in this order if one was wanted.
    Linearizable(Option<Vec<u32>>),
    /// Not linearizable; most often these operations are not by themselves.
    Violation(Vec<Suspect>),
    /// Not linearizable; these operations are not by themselves, and the last return among them is the first event that
    /// cannot be explained.
    FirstViolation(Vec<Suspect>),
}

/// An operation that may contradict others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspect {
    /// Its position.
    pub(crate) position: u32,
    /// Its return does not count: see it as pending.
    pub(crate) is_open: bool,
}

impl Suspect {
    /// With its return.
    fn whole(position: u32) -> Self {
        Suspect {
            position,
            is_open: false,
        }
    }
}
