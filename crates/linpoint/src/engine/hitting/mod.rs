//! Strong hitting families: schedules that delay a few operations as long as they can.
//!
//! Decides whether a history is linearizable by trying schedules that delay few operations first, and measures how many
//! must be delayed. After Ozkan, Majumdar and Niksic, *Checking Linearizability Using Hitting Families*
//! (PPoPP 2019), with corrections of its Algorithm 1 ([`Rule::Printed`]), and without constructing the schedules one by one
//! ([`ShownBy`]).
//!
//! A schedule is an order of all operations that obeys real time. It *strongly hits* d operations if they are in their
//! order and each is as late as possible ([`strongly_hits`]). The d-th family contains such a schedule for every d operations.
//! A pending operation takes effect at its place in the schedule or not at all.
//!
//! [`Depths`] has three different numbers:
//!
//! * *shown by d*: the least d whose family contains a schedule that explains the history. It depends on the family.
//! * *linearizability depth*: the least d such that, for some d operations, all schedules that strongly hit them do.
//! * *width*: the least b such that a schedule with at most b operations delayed at any time does.
//!
//! Tested against the definitions on random small orders, and against [`brute`](crate::engine::brute) on random
//! histories; every witness is replayed.

mod blocks;
mod count;
mod depth;
mod engine;
mod enumerate;
mod family;
mod insert;
mod lazy;
mod listing;
mod measure;
mod poset;
mod runs;
#[cfg(test)]
mod tests;

pub use blocks::{blocks, family_size, strongly_hits};
pub use count::{Count, schedule_count};
pub(crate) use engine::Hitting;
pub use family::{Family, Index, Rule, Schedule, Schedules};
pub use listing::{ListedSchedule, Listing};
pub use measure::{Depths, Evaluation, Extent};
pub use poset::{Base, Poset};

use std::borrow::Cow;

use crate::engine::{Budget, Cause, Facts, GaveUp, Limit, MOST_STATES, Task, Ticker};
use crate::history::{History, OpId};
use crate::spec::Spec;

use depth::DepthResult;
use family::Maker;
use lazy::{Cost, FamilyWalk, Walked};
use runs::StateSets;

/// The name of this engine in reports.
pub(crate) const NAME: &str = "hitting";

/// Returns the schedules of the d-th canonical family of a history, with ties broken by return. Equal ones may occur several
/// times.
///
/// ```
/// use linpoint::engine::hitting::schedules;
/// use linpoint::format::{ReadOptions, parse};
/// let text = r#"
/// {"process": 0, "method": "write", "arg": 1, "call": 0, "return": 5}
/// {"process": 1, "method": "read", "ret": null, "call": 1, "return": 2}
/// {"process": 1, "method": "read", "ret": 1, "call": 3, "return": 4}
/// "#;
/// let history = parse(text.as_bytes(), &ReadOptions::default()).remove(0)?.history;
/// let orders: Vec<Vec<u32>> = schedules(&history, 1).map(|order| order.iter().map(|id| id.0).collect()).collect();
/// // Each of the two processes is delayed once.
/// assert_eq!(orders, [[1, 2, 0], [0, 1, 2]]);
/// # Ok::<(), linpoint::Error>(())
/// ```
pub fn schedules(history: &History, d: usize) -> impl Iterator<Item = Vec<OpId>> + use<> {
    let schedules = Family::default().schedules_of(Cow::Owned(Poset::of(history)), d);
    schedules.map(|schedule| schedule.order.into_iter().map(OpId).collect())
}

/// Returns the real-time order of the operations of a task, which are numbered by their positions in the task.
fn poset_of<S: Spec>(task: &Task<'_, S>) -> Poset {
    let process = |id| task.history.process(id);
    let ops = task.ops.iter().map(|op| (op.call, op.ret, process(op.id)));
    Poset::new(&ops.collect::<Vec<_>>())
}

/// A schedule that explains a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The least d whose family contains such a schedule.
    pub d: usize,
    /// The operations that take effect, in their order.
    pub order: Vec<OpId>,
}

/// Operations to be delayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delayed {
    /// The linearizability depth.
    pub depth: usize,
    /// Every schedule that strongly hits these operations explains the history. Their number is the depth, except that there
    /// are none, and the depth is one, if every schedule explains the history.
    pub tuple: Vec<OpId>,
    /// One of these schedules: the operations that take effect, in their order.
    pub order: Vec<OpId>,
}

/// The result of measuring one of the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured<T> {
    /// The number.
    Is(T),
    /// The number is above this limit.
    Above(usize),
    /// The number does not exist: the history is not linearizable.
    Never,
    /// A limit was hit first.
    Unknown(Limit),
}

impl<T> Measured<T> {
    /// Applies a function to the number.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Measured<U> {
        match self {
            Measured::Is(known) => Measured::Is(change(known)),
            Measured::Above(most) => Measured::Above(most),
            Measured::Never => Measured::Never,
            Measured::Unknown(limit) => Measured::Unknown(limit),
        }
    }

    /// The number, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Measured::Is(known) => Some(known),
            _ => None,
        }
    }
}

/// A walk of a canonical family from small d to large ones.
///
/// ```
/// use linpoint::engine::hitting::{Base, Family, Measured, ShownBy};
/// use linpoint::engine::{Budget, Task};
/// use linpoint::spec::{Register, RegisterOp::*};
/// use linpoint::{TypedHistory, Value};
/// // A write takes effect only after a concurrent read that returns later.
/// let mut history = TypedHistory::new();
/// let write = history.call(0, Write(Value::from(1)));
/// let read = history.call(1, Read);
/// history.ret(write, Value::Nil);
/// history.ret(read, Value::Nil);
/// let register = Register { initial: Value::Nil, cas: false };
/// let task = Task::new(&register, &history, &[write, read]);
/// let mut shown_by = ShownBy::new(&task, Family::default());
/// let Measured::Is(shown) = shown_by.up_to(1, &Budget::default()) else { panic!() };
/// assert_eq!((shown.d, shown.order), (1, vec![read, write]));
/// ```
pub struct ShownBy<'a, S: Spec> {
    task: &'a Task<'a, S>,
    walk: FamilyWalk,
    runs: StateSets<'a, S>,
}

impl<S: Spec> std::fmt::Debug for ShownBy<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ShownBy({} nodes)", self.nodes())
    }
}

impl<'a, S: Spec> ShownBy<'a, S> {
    /// Starts a walk of a canonical family. Ignores the [rule](Family::rule) of `family`: families of other rules cannot be
    /// searched without constructing all schedules.
    pub fn new(task: &'a Task<'a, S>, family: Family) -> Self {
        Self::with_cost(task, family, Cost::Sum)
    }

    fn with_cost(task: &'a Task<'a, S>, family: Family, cost: Cost) -> Self {
        let mut runs = StateSets::new(task);
        ShownBy {
            walk: FamilyWalk::new(poset_of(task), family, cost, &mut runs),
            task,
            runs,
        }
    }

    /// Continues the walk up to `d`. Once it has returned [`Measured::Is`], further calls return the same.
    pub fn up_to(&mut self, d: usize, budget: &Budget) -> Measured<Shown> {
        let found = self.walk.go_on(d, &mut self.runs, &mut Ticker::new(budget));
        match found {
            Ok(Walked::Shown(cost, schedule)) => {
                let order = runs::witness(self.task, &schedule);
                Measured::Is(Shown {
                    d: cost.max(1),
                    order: order.expect("bug: a schedule that was shown to fit does not"),
                })
            }
            Ok(Walked::NotYet) => Measured::Above(d),
            Ok(Walked::Never) => Measured::Never,
            Err(limit) => Measured::Unknown(limit),
        }
    }

    /// What the engine knows when it gives up for this reason.
    fn gave_up(&self, cause: Cause) -> GaveUp {
        let furthest = self.walk.furthest();
        let next = self.task.ops.iter().find(|op| op.ret == furthest.ret);
        let Some(&next) = next else {
            return GaveUp::from(cause);
        };
        let key = self.task.key(next);
        let words = |state| self.task.spec.state_words(state, key.as_ref());
        let states = furthest.sets.iter().flat_map(|&set| self.runs.states(set));
        GaveUp {
            cause,
            reached: self.task.events_until(next.ret) - 1,
            states: states.take(MOST_STATES).map(words).collect(),
            order: Vec::new(),
        }
    }

    /// The number of prefixes of schedules found so far.
    pub fn nodes(&self) -> usize {
        self.walk.nodes()
    }
}

/// Measures the width: the least b such that some schedule with at most b operations delayed at any time explains the history.
/// An operation is delayed from where it is passed over in the base order until it takes effect.
pub fn width<S: Spec>(task: &Task<'_, S>, base: Base, budget: &Budget) -> Measured<usize> {
    let family = Family {
        base,
        index: Index::Tuples,
        ..Family::default()
    };
    let mut walk = ShownBy::with_cost(task, family, Cost::Most);
    let found = walk
        .walk
        .go_on(usize::MAX, &mut walk.runs, &mut Ticker::new(budget));
    match found {
        Ok(Walked::Shown(cost, _)) => Measured::Is(cost),
        Ok(Walked::NotYet | Walked::Never) => Measured::Never,
        Err(limit) => Measured::Unknown(limit),
    }
}

/// Measures the linearizability depth up to `most`, with the operations that prove it.
///
/// ```
/// use linpoint::engine::hitting::{Measured, depth};
/// use linpoint::engine::{Budget, Task};
/// use linpoint::spec::{Register, RegisterOp::*};
/// use linpoint::{TypedHistory, Value};
/// let mut history = TypedHistory::new();
/// let write = history.call(0, Write(Value::from(1)));
/// let read = history.call(1, Read);
/// history.ret(read, Value::Nil);
/// history.ret(write, Value::Nil);
/// let register = Register { initial: Value::Nil, cas: false };
/// let task = Task::new(&register, &history, &[write, read]);
/// let Measured::Is(delayed) = depth(&task, 5, &Budget::default()) else { panic!() };
/// assert_eq!((delayed.depth, delayed.tuple), (1, vec![write]));
/// ```
pub fn depth<S: Spec>(task: &Task<'_, S>, most: usize, budget: &Budget) -> Measured<Delayed> {
    let mut runs = StateSets::new(task);
    let poset = poset_of(task);
    match depth::shortest_tuple(&poset, &mut runs, most, &mut Ticker::new(budget)) {
        Ok(DepthResult::Tuple(tuple)) => {
            let schedule = Maker::new(Cow::Owned(poset), Family::default()).schedule(None, &tuple);
            let order = runs::witness(task, &schedule);
            Measured::Is(Delayed {
                depth: tuple.len().max(1),
                tuple: tuple.iter().map(|&op| task.ops[op as usize].id).collect(),
                order: order.expect("bug: a schedule that hits the tuple explains nothing"),
            })
        }
        Ok(DepthResult::NotYet) => Measured::Above(most),
        Ok(DepthResult::Never) => Measured::Never,
        Err(limit) => Measured::Unknown(limit),
    }
}

/// Whether every schedule that strongly hits these operations explains the history. The tuple must be
/// [feasible](Poset::is_feasible).
pub fn always_explains<S: Spec>(
    task: &Task<'_, S>,
    tuple: &[OpId],
    budget: &Budget,
) -> Result<bool, Limit> {
    let place = |id: &OpId| {
        task.ops
            .iter()
            .position(|op| op.id == *id)
            .map(|i| i as u32)
    };
    let Some(tuple) = tuple.iter().map(place).collect::<Option<Vec<u32>>>() else {
        return Ok(false);
    };
    let mut runs = StateSets::new(task);
    depth::always_explains(&poset_of(task), &mut runs, &tuple, &mut Ticker::new(budget))
}
