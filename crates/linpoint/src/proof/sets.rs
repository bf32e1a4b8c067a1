//! Follows an inductive argument that some operations have no order: after each return, a set that covers every possible
//! configuration.
//!
//! A configuration is the open operations that took effect, together with the state. At a return of `o`, open operations
//! take effect in every order until `o` has. One configuration *covers* another with the same state if it differs from it
//! only in fewer pending operations that took effect: what can happen after the other can happen after it too. Operations
//! that return and change no state take effect [as soon as they can](Induction::saturated). Of pending operations that are
//! equal, the one that was called first takes effect first. `docs/proofs.md` says why this is sound.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde_json::Value as Json;

use super::PartOp;
use super::states::{StateId, States};
use crate::budget::{Budget, Limit, Ticker};
use crate::history::{EventKind, NEVER, OpId, TypedHistory, events_in_order};
use crate::spec::Spec;

/// The numbers of operations, in ascending order.
type Numbers = Vec<OpId>;

/// Operations that took effect and are open: those that return, and pending ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Taken {
    returning: Numbers,
    pending: Numbers,
}

impl Taken {
    fn has(&self, op: PartOp) -> bool {
        self.group(op).binary_search(&op.id).is_ok()
    }

    fn insert(&mut self, op: PartOp) {
        let group = match op.ret {
            NEVER => &mut self.pending,
            _ => &mut self.returning,
        };
        group.insert(group.partition_point(|&other| other < op.id), op.id);
    }

    fn group(&self, op: PartOp) -> &[OpId] {
        match op.ret {
            NEVER => &self.pending,
            _ => &self.returning,
        }
    }

    /// All operations, in ascending order.
    fn ops(&self) -> Numbers {
        let mut ops = [&self.returning[..], &self.pending[..]].concat();
        ops.sort_unstable();
        ops
    }
}

/// A set of configurations, none of which covers another.
#[derive(Default)]
struct Configurations {
    /// For a state and the returning operations that took effect: the sets of pending ones.
    by_state: HashMap<(StateId, Numbers), Vec<Numbers>, FixedState>,
}

impl Configurations {
    fn is_empty(&self) -> bool {
        self.by_state.is_empty()
    }

    fn len(&self) -> usize {
        self.by_state.values().map(Vec::len).sum()
    }

    fn iter(&self) -> impl Iterator<Item = (Taken, StateId)> {
        self.by_state.iter().flat_map(|((state, returning), all)| {
            all.iter().map(move |pending| {
                let taken = Taken {
                    returning: returning.clone(),
                    pending: pending.clone(),
                };
                (taken, *state)
            })
        })
    }

    /// Adds a configuration unless one that is there covers it; returns whether it was added.
    fn insert(&mut self, taken: Taken, state: StateId) -> bool {
        let Taken { returning, pending } = taken;
        let all = self.by_state.entry((state, returning)).or_default();
        if all.iter().any(|other| is_subset(other, &pending)) {
            return false;
        }
        all.retain(|other| !is_subset(&pending, other));
        all.push(pending);
        true
    }

    fn covers(&self, taken: &Taken, state: StateId) -> bool {
        // The key is cloned because a tuple cannot be looked up by borrowed parts.
        let all = self.by_state.get(&(state, taken.returning.clone()));
        all.is_some_and(|all| all.iter().any(|other| is_subset(other, &taken.pending)))
    }
}

/// Whether every item of `part` is in `whole`; both ascend.
fn is_subset(part: &[OpId], whole: &[OpId]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|item| whole.any(|other| other == item))
}

/// An operation that was called and did not return.
#[derive(Clone, Copy)]
struct Open {
    op: PartOp,
    /// The first open operation that is pending and equal to this one, which is pending: itself if there is no other.
    equal: Option<OpId>,
    /// Whether it returns, and never changes a state with its result.
    is_pure: bool,
}

/// Why a walk ended before the argument did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// More configurations followed at one return than this.
    TooMany(usize),
    /// A limit was hit.
    Limit(Limit),
}

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Self {
        Stopped::Limit(limit)
    }
}

/// The argument so far.
pub(crate) struct Induction<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    /// In the order of their calls.
    open: Vec<Open>,
    states: States<'a, S>,
    possible: Configurations,
    /// The size of the largest set.
    largest: usize,
    /// The most configurations that are looked at for one return.
    most: usize,
    ticker: Ticker<'a>,
}

/// What follows from a set at a return.
#[derive(Default)]
struct Closing {
    /// The configurations in which the operation took effect, and was forgotten.
    reached: Configurations,
    /// Those in which it did not take effect yet.
    seen: Configurations,
    /// Those of them that were not continued yet.
    frontier: Vec<(Taken, StateId)>,
    /// How many configurations were added.
    added: usize,
}

impl<'a, S: Spec> Induction<'a, S> {
    /// Begins with the initial state.
    pub(crate) fn new(
        spec: &'a S,
        history: &'a TypedHistory<S::Op, S::Ret>,
        most: usize,
        budget: &'a Budget,
    ) -> Self {
        let mut states = States::new(spec, history);
        let mut possible = Configurations::default();
        possible.insert(Taken::default(), states.id(spec.init()));
        Induction {
            spec,
            history,
            open: Vec::new(),
            states,
            possible,
            largest: 1,
            most,
            ticker: Ticker::new(budget),
        }
    }

    /// Whether no configuration is possible.
    pub(crate) fn is_contradiction(&self) -> bool {
        self.possible.is_empty()
    }

    /// The size of the largest set so far.
    pub(super) fn largest(&self) -> usize {
        self.largest
    }

    /// The configurations of the set: the open operations that took effect, and the state as it is written.
    pub(crate) fn set(&self) -> impl Iterator<Item = (Vec<OpId>, Json)> {
        let written = |state| self.spec.state_value(self.states.get(state)).to_json();
        let set = self.possible.iter();
        set.map(move |(taken, state)| (taken.ops(), written(state)))
    }

    /// An operation is called.
    pub(crate) fn call(&mut self, op: PartOp) {
        let (operation, ret) = op.action(self.history);
        let is_pending = op.ret == NEVER;
        let is_equal =
            |open: &&Open| open.op.ret == NEVER && open.op.action(self.history).0 == operation;
        let equal = is_pending.then(|| {
            let earlier = self.open.iter().find(is_equal);
            earlier.map_or(op.id, |open| open.op.id)
        });
        let is_pure = !is_pending && self.spec.is_pure(operation, ret);
        self.open.push(Open { op, equal, is_pure });
    }

    /// An operation returns: the set becomes the one that follows.
    pub(crate) fn ret(&mut self, op: PartOp) -> Result<(), Stopped> {
        let mut closing = Closing::default();
        for (taken, state) in std::mem::take(&mut self.possible).iter() {
            self.add(taken, state, op, &mut closing)?;
        }
        while let Some((taken, state)) = closing.frontier.pop() {
            // Of equal pending operations, only the first that did not take effect is tried.
            let mut tried: Vec<OpId> = Vec::new();
            for i in 0..self.open.len() {
                let Open {
                    op: next, equal, ..
                } = self.open[i];
                if taken.has(next) {
                    continue;
                }
                if let Some(first) = equal {
                    if tried.contains(&first) {
                        continue;
                    }
                    tried.push(first);
                }
                self.ticker.tick()?;
                for state in self.states.after(state, next).to_vec() {
                    let mut taken = taken.clone();
                    taken.insert(next);
                    self.add(taken, state, op, &mut closing)?;
                }
            }
        }
        self.open.retain(|open| open.op.id != op.id);
        self.possible = closing.reached;
        self.largest = self.largest.max(self.possible.len());
        self.forget_states();
        Ok(())
    }

    /// Adds a configuration that follows at the return of `op`.
    fn add(
        &mut self,
        taken: Taken,
        state: StateId,
        op: PartOp,
        closing: &mut Closing,
    ) -> Result<(), Stopped> {
        self.ticker.tick()?;
        let mut taken = self.saturated(taken, state);
        let is_new = match taken.returning.binary_search(&op.id) {
            Ok(place) => {
                taken.returning.remove(place);
                closing.reached.insert(taken, state)
            }
            Err(_) => {
                let is_new = closing.seen.insert(taken.clone(), state);
                if is_new {
                    closing.frontier.push((taken, state));
                }
                is_new
            }
        };
        closing.added += usize::from(is_new);
        match closing.added > self.most {
            true => Err(Stopped::TooMany(self.most)),
            false => Ok(()),
        }
    }

    /// The same configuration, in which all open operations took effect that return, never change a state, and can have
    /// their results in this one.
    fn saturated(&mut self, mut taken: Taken, state: StateId) -> Taken {
        for open in self.open.iter().filter(|open| open.is_pure) {
            if !taken.has(open.op) && !self.states.after(state, open.op).is_empty() {
                taken.insert(open.op);
            }
        }
        taken
    }

    /// Forgets the states that the set does not have, now and then.
    fn forget_states(&mut self) {
        if !self.states.are_many() {
            return;
        }
        let sets: Vec<_> = std::mem::take(&mut self.possible.by_state)
            .into_iter()
            .collect();
        let needed = sets.iter().map(|((state, _), _)| *state).collect();
        let renumbered = self.states.forget_all_but(needed).into_iter().zip(sets);
        self.possible.by_state = renumbered
            .map(|(state, ((_, returning), all))| ((state, returning), all))
            .collect();
    }

    /// Takes a set that the file lists instead of the one that followed at the last return. The error says what is missing
    /// from it, or what does not belong there.
    pub(super) fn replace(&mut self, listed: &[Json]) -> Result<(), String> {
        let mut states: HashMap<String, StateId> = HashMap::new();
        for &(state, _) in self.possible.by_state.keys() {
            let written = self.spec.state_value(self.states.get(state));
            let known = states.entry(written.to_json().to_string());
            if *known.or_insert(state) != state {
                return Err(format!(
                    "two different states are both written as {written}"
                ));
            }
        }
        let mut set = Configurations::default();
        for configuration in listed {
            let (taken, state) = self.listed(configuration)?;
            let Some(&state) = states.get(&state.to_string()) else {
                return Err(format!(
                    "the state {state} does not follow from the set before"
                ));
            };
            set.insert(self.saturated(taken, state), state);
        }
        let following: Vec<_> = self.possible.iter().collect();
        for (taken, state) in following {
            let taken = self.saturated(taken, state);
            if !set.covers(&taken, state) {
                let ops: Vec<u32> = taken.ops().into_iter().map(|op| op.0).collect();
                return Err(format!(
                    "a configuration is missing: state {} after operations {ops:?} took effect",
                    self.spec.state_value(self.states.get(state)),
                ));
            }
        }
        self.possible = set;
        Ok(())
    }

    /// A configuration as the file lists it: the numbers of operations, and the state.
    fn listed<'j>(&self, configuration: &'j Json) -> Result<(Taken, &'j Json), String> {
        let malformed = || format!("a configuration is [[operations], state], not {configuration}");
        let Some([Json::Array(ops), state]) = configuration.as_array().map(Vec::as_slice) else {
            return Err(malformed());
        };
        let mut taken = Taken::default();
        for number in ops {
            let number = number.as_u64().ok_or_else(malformed)?;
            let mut open = self.open.iter().map(|open| open.op);
            let found = open.find(|op| u64::from(op.id.0) == number);
            let Some(op) = found.filter(|op| !taken.has(*op)) else {
                return Err(format!("operation {number} is not open, or listed twice"));
            };
            taken.insert(op);
        }
        Ok((taken, state))
    }
}

/// The calls and returns of operations, in their order.
pub(crate) fn events(ops: &[PartOp]) -> impl Iterator<Item = (PartOp, EventKind)> {
    let calls: Vec<u32> = ops.iter().map(|op| op.call).collect();
    let rets: Vec<u32> = ops.iter().map(|op| op.ret).collect();
    let events = events_in_order(&calls, &rets).into_iter();
    events.map(|(position, kind)| (ops[position as usize], kind))
}
