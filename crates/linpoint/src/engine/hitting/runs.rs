//! Follows the runs of a specification over a schedule, as sets of states with numbers.
//!
//! A schedule explains a history if some run does: a run chooses one of the outcomes of each operation, and for a pending
//! operation also whether it takes effect. All runs are followed at once as a set of states.

use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

use crate::engine::{Facts, Task};
use crate::history::{NEVER, OpId};
use crate::spec::Spec;
use crate::value::Interner;

/// The runs of a specification over the operations of a task, which are numbered by their positions in the task.
pub(super) trait Runs {
    /// Returns the number of the initial set of states.
    fn start(&mut self) -> u32;

    /// Returns the number of the set after one more operation; `None` if the operation cannot have its result.
    fn step(&mut self, states: u32, op: u32) -> Option<u32>;
}

/// Runs in which every result fits: the order alone counts.
pub(super) struct AnyResult;

impl Runs for AnyResult {
    fn start(&mut self) -> u32 {
        0
    }

    fn step(&mut self, _: u32, _: u32) -> Option<u32> {
        Some(0)
    }
}

/// Sets of states, numbered.
pub(super) struct StateSets<'a, S: Spec> {
    task: &'a Task<'a, S>,
    states: Interner<S::State>,
    sets: Interner<SmallVec<[u32; 2]>>,
    known: HashMap<(u32, u32), Option<u32>, foldhash::fast::FixedState>,
}

impl<'a, S: Spec> StateSets<'a, S> {
    pub(super) fn new(task: &'a Task<'a, S>) -> Self {
        StateSets {
            task,
            states: Interner::default(),
            sets: Interner::default(),
            known: HashMap::default(),
        }
    }

    /// The states of a set.
    pub(super) fn states(&self, set: u32) -> impl Iterator<Item = &S::State> {
        let states = self.sets.get(set).iter();
        states.map(|&state| self.states.get(state))
    }

    fn successors(&mut self, states: u32, op: u32) -> Option<u32> {
        let (operation, ret) = self.task.action(op as usize);
        let before = self.sets.get(states).clone();
        let mut after: SmallVec<[u32; 2]> = SmallVec::new();
        if self.task.ops[op as usize].ret == NEVER {
            after.extend_from_slice(&before);
        }
        for state in before {
            let next = self.task.spec.step(self.states.get(state), operation, ret);
            for state in next {
                after.push(self.states.intern(state));
            }
        }
        if after.len() > 1 {
            after.sort_unstable();
            after.dedup();
        }
        (!after.is_empty()).then(|| self.sets.intern(after))
    }
}

impl<S: Spec> Runs for StateSets<'_, S> {
    fn start(&mut self) -> u32 {
        let initial = self.states.intern(self.task.spec.init());
        self.sets.intern(smallvec![initial])
    }

    fn step(&mut self, states: u32, op: u32) -> Option<u32> {
        let key = (states, self.task.class(self.task.ops[op as usize]));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let next = self.successors(states, op);
        self.known.insert(key, next);
        next
    }
}

/// Returns the operations of a schedule that take effect in some run that explains all results, in their order; `None` if no
/// run does.
pub(super) fn witness<S: Spec>(task: &Task<'_, S>, schedule: &[u32]) -> Option<Vec<OpId>> {
    // A layer holds the states after one operation, each with the index of its predecessor in the layer before and whether
    // the operation took effect.
    let mut layers: Vec<Vec<(S::State, usize, bool)>> = vec![vec![(task.spec.init(), 0, false)]];
    for &op in schedule {
        let (operation, ret) = task.action(op as usize);
        let is_pending = task.ops[op as usize].ret == NEVER;
        let mut layer: Vec<(S::State, usize, bool)> = Vec::new();
        for (from, (state, ..)) in layers.last()?.iter().enumerate() {
            let stays = is_pending.then(|| (state.clone(), from, false));
            let steps = task.spec.step(state, operation, ret);
            let steps = steps.into_iter().map(|next| (next, from, true));
            for next in stays.into_iter().chain(steps) {
                if !layer.iter().any(|known| known.0 == next.0) {
                    layer.push(next);
                }
            }
        }
        if layer.is_empty() {
            return None;
        }
        layers.push(layer);
    }
    let mut order = Vec::new();
    let mut at = 0;
    for (layer, &op) in layers[1..].iter().zip(schedule).rev() {
        let (_, from, took_effect) = layer[at];
        if took_effect {
            order.push(task.ops[op as usize].id);
        }
        at = from;
    }
    order.reverse();
    Some(order)
}
