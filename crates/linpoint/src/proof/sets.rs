//! Follows an inductive argument that some operations have no order: after each return, a set that holds every possible
//! configuration.
//!
//! A configuration is the operations that took effect and did not return yet, together with the state. At a return of `o`
//! the checker lets open operations take effect, in every order, until `o` has; the listed set must cover what it finds. One
//! configuration *covers* another with the same state if it differs from it only in fewer pending operations that took effect:
//! what can happen after the other can happen after it too. Of pending operations that are equal, the one that was called
//! first takes effect first.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::PartOp;
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::Spec;

/// The most configurations that are looked at for one return, so that a file cannot take all memory. Proofs are made with
/// fewer.
const MOST_CONFIGURATIONS: usize = 1_000_000;

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

    fn with(&self, op: PartOp) -> Self {
        let mut more = self.clone();
        let group = match op.ret {
            NEVER => &mut more.pending,
            _ => &mut more.returning,
        };
        group.insert(group.partition_point(|&other| other < op.id), op.id);
        more
    }

    fn group(&self, op: PartOp) -> &[OpId] {
        match op.ret {
            NEVER => &self.pending,
            _ => &self.returning,
        }
    }

    /// The same without an operation that returns now; `None` if it did not take effect.
    fn after_return(mut self, op: OpId) -> Option<Self> {
        let place = self.returning.binary_search(&op).ok()?;
        self.returning.remove(place);
        Some(self)
    }
}

/// A set of configurations, none of which covers another.
struct Configurations<S: Spec> {
    /// For a state and the returning operations that took effect: the sets of pending ones.
    by_state: HashMap<(Numbers, S::State), Vec<Numbers>>,
}

impl<S: Spec> Configurations<S> {
    fn new() -> Self {
        Configurations {
            by_state: HashMap::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.by_state.is_empty()
    }

    fn len(&self) -> usize {
        self.by_state.values().map(Vec::len).sum()
    }

    fn iter(&self) -> impl Iterator<Item = (Taken, &S::State)> {
        self.by_state.iter().flat_map(|((returning, state), all)| {
            all.iter().map(move |pending| {
                let taken = Taken {
                    returning: returning.clone(),
                    pending: pending.clone(),
                };
                (taken, state)
            })
        })
    }

    /// Adds a configuration unless one that is there covers it; returns whether it was added.
    fn insert(&mut self, taken: Taken, state: S::State) -> bool {
        let Taken { returning, pending } = taken;
        let all = self.by_state.entry((returning, state)).or_default();
        if all.iter().any(|other| is_subset(other, &pending)) {
            return false;
        }
        all.retain(|other| !is_subset(&pending, other));
        all.push(pending);
        true
    }

    fn covers(&self, taken: &Taken, state: &S::State) -> bool {
        // The key is cloned because a tuple cannot be looked up by borrowed parts.
        let key = (taken.returning.clone(), state.clone());
        let all = self.by_state.get(&key);
        all.is_some_and(|all| all.iter().any(|other| is_subset(other, &taken.pending)))
    }
}

/// Whether every item of `part` is in `whole`; both ascend.
fn is_subset(part: &[OpId], whole: &[OpId]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|item| whole.any(|other| other == item))
}

/// The argument so far.
pub(super) struct Induction<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    /// The operations that were called and did not return, in the order of their calls.
    open: Vec<PartOp>,
    possible: Configurations<S>,
    /// The size of the largest set.
    largest: usize,
}

impl<'a, S: Spec> Induction<'a, S> {
    /// Begins with the initial state.
    pub(super) fn new(spec: &'a S, history: &'a TypedHistory<S::Op, S::Ret>) -> Self {
        let mut possible = Configurations::new();
        possible.insert(Taken::default(), spec.init());
        Induction {
            spec,
            history,
            open: Vec::new(),
            possible,
            largest: 1,
        }
    }

    /// Whether no configuration is possible.
    pub(super) fn is_contradiction(&self) -> bool {
        self.possible.is_empty()
    }

    /// The size of the largest set so far.
    pub(super) fn largest(&self) -> usize {
        self.largest
    }

    /// An operation is called.
    pub(super) fn call(&mut self, op: PartOp) {
        self.open.push(op);
    }

    /// An operation returns. The next set is made of the configurations in which it had taken effect already, and of those
    /// that are listed in `added`. The error says what is missing from it, or what does not belong there.
    pub(super) fn ret(&mut self, op: PartOp, added: &[Json]) -> Result<(), String> {
        let reached = self.reached(op)?;
        let mut states: HashMap<String, &S::State> = HashMap::new();
        for (_, state) in reached.iter() {
            let text = self.spec.state_value(state).to_json().to_string();
            let known = states.entry(text).or_insert(state);
            if *known != state {
                let text = self.spec.state_value(state);
                return Err(format!("two different states are both written as {text}"));
            }
        }
        self.open.retain(|other| other.id != op.id);
        let mut listed = Configurations::new();
        for (taken, state) in self.possible.iter() {
            if let Some(taken) = taken.after_return(op.id) {
                listed.insert(taken, state.clone());
            }
        }
        for configuration in added {
            let (taken, state) = self.listed(configuration)?;
            let Some(&state) = states.get(&state.to_string()) else {
                return Err(format!(
                    "the state {state} does not follow from the set before"
                ));
            };
            listed.insert(taken, state.clone());
        }
        for (taken, state) in reached.iter() {
            if !listed.covers(&taken, state) {
                let numbers = |ops: &[OpId]| ops.iter().map(|op| op.0).collect::<Vec<_>>();
                return Err(format!(
                    "a configuration is missing: state {} after operations {:?} took effect",
                    self.spec.state_value(state),
                    [numbers(&taken.returning), numbers(&taken.pending)].concat()
                ));
            }
        }
        self.largest = self.largest.max(listed.len());
        self.possible = listed;
        Ok(())
    }

    /// All configurations in which `op` took effect, which is then forgotten. The error says that there are too many.
    fn reached(&self, op: PartOp) -> Result<Configurations<S>, String> {
        let mut found = 0;
        let mut seen = Configurations::<S>::new();
        let mut frontier = Vec::new();
        for (taken, state) in self.possible.iter() {
            seen.insert(taken.clone(), state.clone());
            if !taken.has(op) {
                frontier.push((taken, state.clone()));
            }
        }
        while let Some((taken, state)) = frontier.pop() {
            for (i, &next) in self.open.iter().enumerate() {
                if taken.has(next) || self.has_earlier_equal(i, &taken) {
                    continue;
                }
                let with_next = taken.with(next);
                let (operation, ret) = next.action(self.history);
                for state in self.spec.step(&state, operation, ret) {
                    if !seen.insert(with_next.clone(), state.clone()) {
                        continue;
                    }
                    found += 1;
                    if found > MOST_CONFIGURATIONS {
                        return Err(format!(
                            "more than {MOST_CONFIGURATIONS} configurations follow: it is not checked"
                        ));
                    }
                    if next.id != op.id {
                        frontier.push((with_next.clone(), state));
                    }
                }
            }
        }
        let mut reached = Configurations::new();
        for (taken, state) in seen.iter() {
            if let Some(taken) = taken.after_return(op.id) {
                reached.insert(taken, state.clone());
            }
        }
        Ok(reached)
    }

    /// Whether an equal operation, pending like the open operation at `i` and called before it, did not take effect yet.
    fn has_earlier_equal(&self, i: usize, taken: &Taken) -> bool {
        let is_pending = |op: PartOp| op.ret == NEVER;
        let action = |op: PartOp| op.action(self.history).0;
        let op = self.open[i];
        is_pending(op)
            && self.open[..i]
                .iter()
                .any(|&other| is_pending(other) && !taken.has(other) && action(other) == action(op))
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
            let found = self.open.iter().find(|op| u64::from(op.id.0) == number);
            let Some(&op) = found.filter(|op| !taken.has(**op)) else {
                return Err(format!("operation {number} is not open, or listed twice"));
            };
            taken = taken.with(op);
        }
        Ok((taken, state))
    }
}
