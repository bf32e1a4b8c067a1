//! Monitors: each decides the histories of one well-known object in O(n) or O(n log n).
//!
//! A [`Monitor`] sees a [`Log`]: for each operation what it does, with which value number, and the ranks of call and return.
//! It returns a [`Finding`]: the history is linearizable, with what a witness is made of, or a few operations contradict
//! each other whatever the others did. Where it is not exact it returns [`NotApplicable`] with the reason, never a guess.
//!
//! `choose` is the table from the kind of an object to its monitor. The operations come from a `Source`: a decoded task
//! (`Monitored`) or the columns of a recorded history (`portfolio/columns`).
//!
//! Terms. Ranks number all calls and returns of a history in their order. *Gap* `g` is the time between the events of ranks
//! `g` and `g + 1`; an operation may take effect in each gap from its call up to the one before its return. A value is
//! *critical* in a gap if it is in the container there in every linearization; see [`CriticalInterval`]. A violation that a
//! monitor reports stays one in every history that contains the same operations on the same values: deleting all operations
//! on a value from a linearizable history of a container or register leaves a linearizable history (Lee and Mathur, *Efficient
//! Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues*, 2024, proposition 3.5).
//!
//! Every monitor is compared with the search over all orders, [`brute`](crate::engine::brute), on random histories; its
//! witnesses are replayed, and its contradictions are checked to have no order.

mod admit;
mod container;
mod count;
mod effect;
mod engine;
mod log;
mod slot;
pub mod snapshot;
mod structure;
mod sweep_order;
#[cfg(test)]
mod testing;

pub(crate) use admit::{Monitored, relevant};
pub(crate) use container::ContainerMonitor;
pub use container::{
    Bag, CriticalInterval, CriticalIntervals, EliminationOrder, Multiset, PriorityQueue, Queue,
    Stack,
};
pub use count::{Count, Counter, Permits, Semaphore};
pub use effect::{Effect, Reading, SlotEffect};
pub(crate) use engine::Monitors;
pub use log::{Act, Event, Log};
pub use slot::{Bit, BitState, Bits, Cell, Register, Rw};

pub use crate::engine::{Evidence, NotApplicable};
use crate::spec::{Discipline, Kind};
use crate::value::Value;

/// The name of this engine.
pub(crate) const NAME: &str = "monitor";

/// Bytes that deciding may take for each operation: what the most expensive monitor takes.
pub(crate) const BYTES: u64 = 100;

/// Decides the histories of one object.
pub trait Monitor {
    /// What an operation does.
    type Act: Copy;

    /// What [`decide`](Self::decide) found out about the order that [`witness`](Self::witness) would have to find out again.
    type Proof;

    /// What kind of object it decides.
    fn name(&self) -> &'static str;

    /// What an operation does in the terms of this monitor, or why it cannot decide histories with such operations.
    fn read(&self, effect: Effect) -> Result<Reading<Self::Act>, NotApplicable>;

    /// Decides a log, or says why it cannot.
    fn decide(&self, log: &Log<Self::Act>) -> Result<Finding<Self::Proof>, NotApplicable>;

    /// A linearization of a log that [`decide`](Self::decide) found linearizable, as positions in the log. Pending operations
    /// that are missing did not take effect.
    fn witness(&self, log: &Log<Self::Act>, proof: &Self::Proof) -> Vec<u32>;

    /// Decides a log, with a linearization of it if `evidence` asks for one.
    fn judge(
        &self,
        log: &Log<Self::Act>,
        evidence: Evidence,
    ) -> Result<Finding<Option<Vec<u32>>>, NotApplicable> {
        Ok(match self.decide(log)? {
            Finding::Linearizable(proof) => Finding::Linearizable(match evidence {
                Evidence::Verdict => None,
                Evidence::Order => Some(self.witness(log, &proof)),
            }),
            Finding::Violation(contradiction) => Finding::Violation(contradiction),
        })
    }
}

/// Where the operations of a history come from, and what becomes of them once the monitor is known.
pub(crate) trait Source: Sized {
    /// What is made of the operations.
    type Answer;

    /// Operations on a container that serves its values in this order.
    fn container(self, discipline: Discipline) -> Result<Self::Answer, NotApplicable>;

    /// Operations on a slot that holds this value at first. Which monitor decides them depends on the operations.
    fn slot(self, initial: &Value) -> Result<Self::Answer, NotApplicable>;

    /// Operations of which each is read by itself.
    fn plain<M: Monitor + 'static>(self, monitor: M) -> Result<Self::Answer, NotApplicable>;

    /// Operations on a snapshot, of which each has many values.
    fn snapshot(self) -> Result<Self::Answer, NotApplicable>;
}

/// The monitor for each kind of object. All kinds are listed, so that a new one has to be given its monitor here.
pub(crate) fn choose<S: Source>(kind: &Kind, source: S) -> Result<S::Answer, NotApplicable> {
    match kind {
        Kind::Queue => source.container(Discipline::Fifo),
        Kind::Stack => source.container(Discipline::Lifo),
        Kind::MaxPriorityQueue => source.container(Discipline::Largest),
        Kind::MinPriorityQueue => source.container(Discipline::Smallest),
        Kind::Bag => source.container(Discipline::Any),
        Kind::Slot(initial) => source.slot(initial),
        Kind::Counter(initial) => source.plain(Counter { initial: *initial }),
        Kind::Semaphore(permits) => source.plain(Semaphore { permits: *permits }),
        Kind::Snapshot(_) => source.snapshot(),
        Kind::Deque => Err(NotApplicable("no monitor knows deques")),
        Kind::Limited(kind) => choose(kind, source),
    }
}

/// Why logs in which a value is added or written more than once are not decided.
const REPEATED_VALUE: NotApplicable = NotApplicable("values are put in more than once");

/// Whether some monitor decides objects of this kind.
pub(crate) fn knows(kind: &Kind) -> Result<(), NotApplicable> {
    /// Takes every monitor, for no operations.
    struct Nothing;

    impl Source for Nothing {
        type Answer = ();

        fn container(self, _: Discipline) -> Result<(), NotApplicable> {
            Ok(())
        }

        fn slot(self, _: &Value) -> Result<(), NotApplicable> {
            Ok(())
        }

        fn plain<M: Monitor + 'static>(self, _: M) -> Result<(), NotApplicable> {
            Ok(())
        }

        fn snapshot(self) -> Result<(), NotApplicable> {
            Ok(())
        }
    }

    choose(kind, Nothing)
}

/// What a monitor found out. `P` is what it knows of the order, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<P = ()> {
    /// The history is linearizable.
    Linearizable(P),
    /// The history is not linearizable, and these operations are not by themselves.
    Violation(Contradiction),
}

impl<P> Finding<P> {
    /// Whether the history is linearizable.
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Finding::Linearizable(_))
    }
}

impl<P> From<Result<P, Contradiction>> for Finding<P> {
    fn from(result: Result<P, Contradiction>) -> Self {
        match result {
            Ok(proof) => Finding::Linearizable(proof),
            Err(contradiction) => Finding::Violation(contradiction),
        }
    }
}

/// Operations that contradict each other, whatever the others did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// What is wrong with them.
    pub kind: ViolationKind,
    /// Their positions, ascending. By themselves they are not linearizable; some of them may already not be.
    pub ops: Vec<u32>,
    /// The last rank that counts: operations that returned later are seen as pending. The end of the log if nothing is cut
    /// off.
    pub cut: u32,
}

/// What is wrong with a few operations, some of which are given by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// A value was seen that was never added.
    NeverAdded,
    /// A value was removed more often than it was added.
    RemovedTwice,
    /// A value was seen before it was added.
    SeenBeforeAdded,
    /// A value was seen, or added, only after it was removed.
    SeenAfterRemoved,
    /// This operation found the container empty although at each moment some value was in it.
    NotEmpty(u32),
    /// A queue served values in another order than they were added.
    OutOfOrder,
    /// This operation saw a value served although at each moment one of higher priority was there.
    Overtaken(u32),
    /// A value was seen after it was overwritten, or before it was written.
    Replaced,
    /// A bit was found on, or off, when it was not.
    WrongState,
    /// Two values were held at the same time where there is room for one.
    Crowded,
    /// A count was seen that cannot have been reached, or had been passed.
    Miscounted,
    /// More permits were taken than there can have been.
    NoPermits,
    /// Values of a stack lie on each other such that none can be removed.
    Buried,
}

impl ViolationKind {
    /// Whether the operations on one value contradict each other, so that operations on other values cannot matter.
    pub(crate) fn is_about_one_value(self) -> bool {
        use ViolationKind::{NeverAdded, RemovedTwice, SeenAfterRemoved, SeenBeforeAdded};
        matches!(
            self,
            NeverAdded | RemovedTwice | SeenBeforeAdded | SeenAfterRemoved
        )
    }
}

/// What a monitor found out about a task, in positions of the task.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    /// Linearizable, in this order if one was asked for.
    Linearizable(Option<Vec<u32>>),
    /// Not linearizable. Mostly these operations are not by themselves.
    Violation(Vec<ContradictingOp>),
    /// Not linearizable. These operations are not by themselves, and the last return among them is the first event that
    /// cannot be explained.
    FirstViolation(Vec<ContradictingOp>),
}

/// An operation that may be part of a contradiction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContradictingOp {
    /// Its position.
    pub(crate) position: u32,
    /// Its return does not count: it is to be seen as pending.
    pub(crate) is_pending: bool,
}

impl ContradictingOp {
    /// With its return.
    fn whole(position: u32) -> Self {
        ContradictingOp {
            position,
            is_pending: false,
        }
    }
}
