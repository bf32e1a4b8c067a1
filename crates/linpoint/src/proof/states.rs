//! The states that a walk over configurations meets, each kept once.
//!
//! States may be large, and many configurations share one. So configurations name states by number, and what an operation
//! does in a state is asked once.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::PartOp;
use crate::history::{OpId, TypedHistory};
use crate::spec::Spec;

/// The number of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StateId(u32);

/// States by number.
pub(super) struct States<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    all: Vec<S::State>,
    ids: HashTable<StateId>,
    /// The states that an operation leads to from a state, as far as that was asked.
    steps: HashMap<(StateId, OpId), Vec<StateId>, FixedState>,
    hasher: FixedState,
    /// How many states and steps are kept before those that are not needed are forgotten.
    most: usize,
}

impl<'a, S: Spec> States<'a, S> {
    /// How many states and steps are always kept.
    const FEW: usize = 256;

    pub(super) fn new(spec: &'a S, history: &'a TypedHistory<S::Op, S::Ret>) -> Self {
        States {
            spec,
            history,
            all: Vec::new(),
            ids: HashTable::new(),
            steps: HashMap::default(),
            hasher: FixedState::default(),
            most: Self::FEW,
        }
    }

    pub(super) fn get(&self, id: StateId) -> &S::State {
        &self.all[id.0 as usize]
    }

    /// The number of a state, which is a new one if the state was not met before.
    pub(super) fn id(&mut self, state: S::State) -> StateId {
        let (all, hasher) = (&self.all, &self.hasher);
        let hash = hasher.hash_one(&state);
        let is_same = |id: &StateId| all[id.0 as usize] == state;
        if let Some(&id) = self.ids.find(hash, is_same) {
            return id;
        }
        let id = StateId(u32::try_from(all.len()).expect("bug: more states than a walk may meet"));
        let rehash = |id: &StateId| hasher.hash_one(&all[id.0 as usize]);
        self.ids.insert_unique(hash, id, rehash);
        self.all.push(state);
        id
    }

    /// The states that `op` leads to from a state, with its result.
    pub(super) fn after(&mut self, state: StateId, op: PartOp) -> &[StateId] {
        // Looked up twice, since what is not found must be able to change the table.
        if !self.steps.contains_key(&(state, op.id)) {
            let (operation, ret) = op.action(self.history);
            let states = self.spec.step(self.get(state), operation, ret);
            let ids = states.into_iter().map(|state| self.id(state)).collect();
            self.steps.insert((state, op.id), ids);
        }
        &self.steps[&(state, op.id)]
    }

    /// Whether so many states are kept that those which are not needed should be forgotten.
    pub(super) fn are_many(&self) -> bool {
        self.all.len() + self.steps.len() > self.most
    }

    /// Forgets all states but those that are needed. Returns their new numbers, in the same order.
    pub(super) fn forget_all_but(&mut self, needed: Vec<StateId>) -> Vec<StateId> {
        let mut all: Vec<Option<S::State>> = self.all.drain(..).map(Some).collect();
        self.ids.clear();
        self.steps.clear();
        let mut renumbered: HashMap<StateId, StateId, FixedState> = HashMap::default();
        let new = needed.into_iter().map(|old| {
            if let Some(state) = all[old.0 as usize].take() {
                renumbered.insert(old, self.id(state));
            }
            renumbered[&old]
        });
        let new: Vec<StateId> = new.collect();
        self.most = Self::FEW.max(4 * self.all.len());
        new
    }
}
