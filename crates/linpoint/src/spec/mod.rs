//! Sequential specifications: what an object answers if its operations are applied one after the other.
//!
//! A [`Spec`] is a state and a function from state and operation to result and next state. That is all that the general
//! search needs. The other methods of the trait are optional knowledge: each lets the engines decide faster or explain
//! better, and none can change a verdict if it keeps its contract.

mod append_list;
mod appended;
mod bank;
mod bank_state;
mod blocking_counter;
mod container;
mod counter;
mod decode;
mod deque;
mod detail;
mod entries;
pub mod etcd;
mod fenced_lock;
pub mod juc;
mod kafka_log;
mod key_value;
#[cfg(test)]
pub(crate) mod laws;
mod multi_register;
mod mutex;
mod recorded;
mod reentrant_mutex;
mod register;
mod rw_lock;
mod semaphore;
mod set;
mod simulated;
mod snapshot;
mod unique_ids;
mod words;

pub use append_list::{AppendList, AppendListOp};
pub use appended::Appended;
pub(crate) use bank::balances_of;
pub use bank::{Bank, BankOp, Overdraft};
pub use bank_state::{BankState, Bounds};
pub use blocking_counter::{BlockingCounter, BlockingCounterOp};
pub use container::{Container, ContainerOp, Discipline};
pub use counter::{Counter, CounterOp};
pub use deque::{Deque, DequeOp, End};
pub use detail::Detail;
pub use entries::Entries;
pub use etcd::{Etcd, EtcdOp};
pub use fenced_lock::{FencedLock, FencedLockOp, FencedLockState};
pub use kafka_log::{KafkaLog, KafkaStep, Logs, Record};
pub use key_value::{KeyValue, KeyValueOp};
pub use multi_register::{MicroOp, MultiRegister};
pub use mutex::{Mutex, MutexOp};
pub use recorded::{
    CallView, DecodeError, MethodInfo, Params, Pattern, Recorded, RecordedOps, value_is_result,
};
pub use reentrant_mutex::{ReentrantMutex, ReentrantMutexOp};
pub use register::{Register, RegisterOp};
pub use rw_lock::{Access, Holders, RwLock, RwLockOp};
pub use semaphore::{Semaphore, SemaphoreOp};
pub use set::{Set, SetOp};
pub use simulated::{Sampler, Simulated};
pub(crate) use snapshot::MOST_ENTRIES;
pub use snapshot::{Snapshot, SnapshotOp, Writers};
pub use unique_ids::{Answered, Generate, UniqueIds};
pub use words::{Keys, Vocabulary};

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use crate::error::Error;
use crate::value::Value;

/// A sequential specification.
///
/// The required part is a dozen lines. A counter whose `Inc` answers what it counted before:
///
/// ```
/// use linpoint::{Outcomes, Spec};
///
/// #[derive(Debug)]
/// struct Counter;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// enum Op { Inc, Get }
///
/// impl Spec for Counter {
///     type Op = Op;
///     type Ret = u64;
///     type State = u64;
///
///     fn init(&self) -> u64 { 0 }
///
///     fn apply(&self, &count: &u64, op: &Op) -> Outcomes<u64, u64> {
///         match op {
///             Op::Inc => Outcomes::One(count, count + 1), // the answer, the next state
///             Op::Get => Outcomes::One(count, count),
///         }
///     }
/// }
/// # assert_eq!(Counter.step(&1, &Op::Get, Some(&1)), [1]);
/// ```
pub trait Spec: Send + Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// A result.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;
    /// A state of the object.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The state at the start.
    fn init(&self) -> Self::State;

    /// What `op` may answer in `state`, and the state it leaves.
    ///
    /// Several outcomes make a nondeterministic specification; [`Outcomes::Blocked`] means that the operation cannot take
    /// effect in this state (the acquire of a held lock).
    fn apply(&self, state: &Self::State, op: &Self::Op) -> Outcomes<Self::Ret, Self::State>;

    /// The states that `op` may leave when its result is `ret`; `None` stands for any result (a pending operation);
    /// one of the states may then [stand for](Self::stands_for) others, of which it leaves open what the result tells.
    ///
    /// Override it only where the outcomes are too many to list, or where a recorded result may tell less than the
    /// object answers; [`apply`](Self::apply) then serves explanations and simulations alone.
    fn step(
        &self,
        state: &Self::State,
        op: &Self::Op,
        ret: Option<&Self::Ret>,
    ) -> Vec<Self::State> {
        self.apply(state, op).answering(ret)
    }

    /// Whether `state` stands for `other`: it is the same, or it leaves open what `other` tells, so that whatever is possible from
    /// `other` on is possible from `state` on.
    ///
    /// Override it where [`step`](Self::step) leaves open what the result of a pending operation tells.
    fn stands_for(&self, state: &Self::State, other: &Self::State) -> bool {
        state == other
    }

    /// Adds to `next` what [`step`](Self::step) returns. The caller no longer needs `state`, so that it may be changed in place.
    ///
    /// Override it where states grow large, or where objects are asked often: witnesses are replayed with it, and nothing
    /// need be allocated.
    fn step_into(
        &self,
        state: Self::State,
        op: &Self::Op,
        ret: Option<&Self::Ret>,
        next: &mut Vec<Self::State>,
    ) {
        next.extend(self.step(&state, op, ret));
    }

    /// The state as people and files write it: the contents of a queue, the value of a register.
    ///
    /// Different states must have different values, also [as JSON](Value::to_json). [Proofs](crate::proof) list states in this
    /// form and are refused where two states look alike.
    fn state_value(&self, state: &Self::State) -> Value {
        Value::from(format!("{state:?}"))
    }

    /// A key such that operations with different keys do not affect each other: each key is then checked by itself.
    ///
    /// Used only when every operation of a history has one.
    fn key(&self, op: &Self::Op) -> Option<Value> {
        let _ = op;
        None
    }

    /// Whether `op`, when it answers `ret` (any result, for `None`), leaves *every* state as it was.
    fn is_pure(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> bool {
        let _ = (op, ret);
        false
    }

    /// The state that `op` leaves when it answers `ret`, if that is the same whatever the state was before: a read of the whole
    /// object tells it, and so does an operation that finds the object empty.
    ///
    /// Explanations of long histories begin at such operations, close to what is wrong.
    fn state_after(&self, op: &Self::Op, ret: &Self::Ret) -> Option<Self::State> {
        let _ = (op, ret);
        None
    }

    /// Which well-known object this is, as seen on one key. Makes [`role`](Self::role) count.
    fn kind(&self) -> Option<Kind> {
        None
    }

    /// What `op` with this result does to an object of [`kind`](Self::kind); `ret` is `None` while pending.
    fn role(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> Role {
        let _ = (op, ret);
        Role::Opaque
    }

    /// Where in the order of the object `op` took effect, as the system itself numbered it when it answered `ret`: a revision,
    /// a log sequence number, a commit timestamp. `None` if the number is not known.
    ///
    /// In every sequential run that [`step`](Self::step) allows, the numbers of successive operations must not decrease. So a
    /// search needs to try only orders in which they do not. A specification with hints must not have a [kind](Self::kind), which
    /// would allow other orders.
    fn hint(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> Option<i64> {
        let _ = (op, ret);
        None
    }

    /// What `op` leaves when it takes effect, by which later answers can [show](Self::shows) that it did: a key with its value.
    fn marks(&self, op: &Self::Op) -> Vec<Value> {
        let _ = op;
        Vec::new()
    }

    /// The [marks](Self::marks) that the answer `ret` shows, each with a [hint](Self::hint): an operation with this mark took
    /// effect with this hint, and did so before.
    ///
    /// If only one operation has the mark, this tells where it took effect, although it never returned.
    fn shows(&self, op: &Self::Op, ret: &Self::Ret) -> Vec<(Value, i64)> {
        let _ = (op, ret);
        Vec::new()
    }

    /// What these answers tell about the states between them, if that rules out orders that a search would follow for long.
    ///
    /// `answers` are the operations that returned, with their results, of the history that is decided, in no certain order.
    fn foresight(
        &self,
        answers: &mut dyn Iterator<Item = (&Self::Op, &Self::Ret)>,
    ) -> Option<Box<dyn Foresight<Self>>>
    where
        Self: Sized,
    {
        let _ = answers;
        None
    }

    /// What each place of the object holds at first, if it has [places](Self::places).
    fn place_initially(&self) -> Option<Value> {
        None
    }

    /// The places of the object that `op` with this result names: a member of a set, an index of a list, a register of several.
    ///
    /// Places explain violations of objects that are not split by [key](Self::key), because some operations are about the whole.
    fn places(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> Vec<Value> {
        let _ = (op, ret);
        Vec::new()
    }

    /// What `op` with this result says about one place.
    ///
    /// In every sequential run of the object, the operations must do with the place what this method says, as if it were a
    /// [slot](Kind::Slot).
    fn at_place(&self, op: &Self::Op, ret: Option<&Self::Ret>, place: &Value) -> AtPlace {
        let _ = (op, ret, place);
        AtPlace::Unknown
    }

    /// What `op` with this result says about the object, for explanations; `ret` is `None` while pending.
    fn details(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> Vec<Detail> {
        let _ = (op, ret);
        Vec::new()
    }

    /// The words in which explanations speak of this object.
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::default()
    }

    /// A clause, in the past tense, that says what state the object was in: "the queue held [1, 2]". Where a history was
    /// split by [key](Self::key), it is about that key alone: "key 7 held 3".
    fn state_words(&self, state: &Self::State, key: Option<&Value>) -> String {
        let _ = key;
        format!("the state was {state:?}")
    }

    /// An answer of `op` as explanations write it. Different answers must look different, unless they are too many for
    /// [`apply`](Self::apply) to list: the words are then true of all that the operation may answer in the state `before` it.
    fn answer_words(&self, before: &Self::State, op: &Self::Op, answer: &Self::Ret) -> String {
        let _ = (before, op);
        format!("{answer:?}")
    }

    /// Why `op` gives this answer, written as by [`answer_words`](Self::answer_words), where states do not show it: a clause,
    /// in the past tense, that is true in every state in which it does. "It was full, with a capacity of 2".
    fn answer_reason(&self, op: &Self::Op, answer: &str) -> Option<String> {
        let _ = (op, answer);
        None
    }

    /// Why this specification cannot be relied on any more, if that is so: a program that it asks failed.
    ///
    /// Checkers ask this after they have decided, and return the reason as an error instead of a verdict. From the failure on,
    /// the methods of the specification may return anything.
    fn failure(&self) -> Option<String> {
        None
    }

    /// What it took to ask a program, in words, for those who want to know why a check takes long.
    fn effort(&self) -> Option<String> {
        None
    }
}

/// What the answers of a history tell about the states between them; see [`Spec::foresight`].
pub trait Foresight<S: Spec> {
    /// Whether `op` may lead from `state` to `next`, if all those answers are to come or were given: if it is `false`, no
    /// linearization has this step.
    fn allows(&self, state: &S::State, op: &S::Op, next: &S::State) -> bool;
}

/// The result of work with a specification, unless the specification failed meanwhile.
pub(crate) fn unless_failed<T>(spec: &impl Spec, result: Result<T, Error>) -> Result<T, Error> {
    match spec.failure() {
        Some(reason) => Err(Error::specification(reason)),
        None => result,
    }
}

/// Lets `op` with this result take effect in an object that may be in any of these states.
#[inline]
pub(crate) fn advance<S: Spec>(
    spec: &S,
    states: &mut Vec<S::State>,
    op: &S::Op,
    ret: Option<&S::Ret>,
) {
    match (states.pop(), states.is_empty()) {
        (None, _) => {}
        (Some(only), true) => spec.step_into(only, op, ret, states),
        (Some(last), false) => {
            states.push(last);
            let next = states.iter().flat_map(|state| spec.step(state, op, ret));
            let next: HashSet<S::State> = next.collect();
            *states = next.into_iter().collect();
        }
    }
}

/// What an operation may answer in a state, with the states it leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcomes<R, S> {
    /// It cannot take effect now.
    Blocked,
    /// Exactly one: the answer, then the next state.
    One(R, S),
    /// Any of these: answers with their next states.
    Many(Vec<(R, S)>),
}

impl<R, S> Outcomes<R, S> {
    /// All answers with the states that they leave.
    pub fn into_pairs(self) -> Vec<(R, S)> {
        match self {
            Outcomes::Blocked => Vec::new(),
            Outcomes::One(answer, next) => vec![(answer, next)],
            Outcomes::Many(all) => all,
        }
    }
}

impl<R: PartialEq, S> Outcomes<R, S> {
    /// The states left by the outcomes that answer `ret`; by all of them, for `None`.
    pub fn answering(self, ret: Option<&R>) -> Vec<S> {
        let fits = |answer: &R| ret.is_none_or(|ret| ret == answer);
        match self {
            Outcomes::Blocked => Vec::new(),
            Outcomes::One(answer, next) if fits(&answer) => vec![next],
            Outcomes::One(..) => Vec::new(),
            Outcomes::Many(all) => all
                .into_iter()
                .filter(|(answer, _)| fits(answer))
                .map(|(_, next)| next)
                .collect(),
        }
    }
}

/// Well-known objects whose [roles](Role) the engines understand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Holds exactly one value, at first this one: registers, one key of a map or a set, a lock.
    ///
    /// Every operation is fully described by [`Role::Slot`] or [`Role::Appends`], or is opaque.
    Slot(Value),
    /// First in, first out.
    Queue,
    /// Last in, first out.
    Stack,
    /// Insertion and removal at both ends.
    Deque,
    /// The largest value is served first.
    MaxPriorityQueue,
    /// The smallest value is served first.
    MinPriorityQueue,
    /// Any value may be served.
    Bag,
    /// Counts from this number on; every operation is [`Role::Counts`], or is opaque.
    Counter(i64),
    /// Counts from this number on and never falls below zero: an operation that would make it waits.
    Semaphore(u64),
    /// Entries that hold this value at first, are updated one by one, and scanned all at once; every operation is
    /// [`Role::Updates`] or [`Role::Scans`], but for scans that are pending.
    Snapshot(Value),
    /// As this kind, but for a limit on what it holds: an insertion that it refuses changes nothing and is opaque.
    Limited(Box<Kind>),
}

impl Kind {
    /// The kind without its limit. If that cannot explain what the operations with a role did, this kind cannot either.
    pub fn without_limit(&self) -> &Kind {
        match self {
            Kind::Limited(kind) => kind.without_limit(),
            kind => kind,
        }
    }
}

/// What one operation, with its recorded result, does.
///
/// For the containers, the operations on one value are those that add, remove or peek it, and deleting all of them
/// from a sequential run must leave a correct run; an operation for which that is not so (`size`, an insertion refused
/// because the container was full) is [`Role::Opaque`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Nothing is known.
    Opaque,
    /// On a [slot](Kind::Slot): possible exactly when the slot is as needed, and leaves what it says.
    Slot {
        /// What the slot must hold.
        needs: Need,
        /// What it holds afterwards; `None` leaves it as it was.
        leaves: Option<Value>,
    },
    /// On a [slot](Kind::Slot): always possible, and [appends](Value::appended) to what the slot holds.
    Appends(Value),
    /// Puts the value in.
    Adds(Value),
    /// Takes the value out.
    Removes(Value),
    /// Takes out a value that is not recorded: a pending removal.
    RemovesSome,
    /// Sees the value as the next to be served and leaves it there.
    Peeks(Value),
    /// Found the container empty.
    Empty,
    /// Changes the count of a [counter](Kind::Counter) or a [semaphore](Kind::Semaphore).
    Counts {
        /// What it adds.
        by: i64,
        /// The count before that, if the result tells it.
        seen: Option<i64>,
    },
    /// Changes one entry of a [snapshot](Kind::Snapshot).
    Updates {
        /// The entry.
        entry: u32,
        /// What it holds then; `None` for what it held at first.
        value: Option<Value>,
    },
    /// Sees all entries of a [snapshot](Kind::Snapshot) at once; `None` is what an entry held at first, and entries that are
    /// left out at the end hold that too.
    Scans(Vec<Option<Value>>),
}

/// What an operation says about a [place](Spec::places) of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtPlace {
    /// It neither saw nor changed it.
    Nothing,
    /// It does this, a [`Role::Slot`].
    Does(Role),
    /// That is not known.
    Unknown,
}

/// What a [slot](Kind::Slot) must hold for an operation to be possible.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// Anything.
    Anything,
    /// This value.
    Is(Value),
    /// Any value but this one.
    IsNot(Value),
}

impl Role {
    /// Sees `value` in the slot.
    pub fn reads(value: Value) -> Self {
        Role::Slot {
            needs: Need::Is(value),
            leaves: None,
        }
    }

    /// Puts `value` into the slot, whatever was there.
    pub fn writes(value: Value) -> Self {
        Role::Slot {
            needs: Need::Anything,
            leaves: Some(value),
        }
    }

    /// Finds `from` in the slot and puts `to` there.
    pub fn replaces(from: Value, to: Value) -> Self {
        Role::Slot {
            needs: Need::Is(from),
            leaves: Some(to),
        }
    }

    /// Sees that the slot holds something other than `value`.
    pub fn differs(value: Value) -> Self {
        Role::Slot {
            needs: Need::IsNot(value),
            leaves: None,
        }
    }
}
