//! The interface between the search and a specification: operations and states as integers.

use crate::engine::{Facts, Shortcut, Task, TaskOp};
use crate::spec::{Foresight, Spec};
use crate::value::Interner;

/// A specification applied to the operations of one task.
pub(super) trait Machine {
    /// Returns the initial state of a key; `None` if the task is known not to be linearizable.
    fn start(&mut self, key: usize) -> Option<u32>;

    /// Appends to `out` the states that the operation can leave if it takes effect in `state`, the state of its key.
    fn successors(&mut self, state: u32, op: u32, out: &mut Vec<u32>);

    /// Whether the operation may take effect at once in any state where it can: if a linearization exists, one exists in
    /// which it does.
    fn is_harmless(&self, state: u32, op: u32) -> bool;

    /// Lets the operation take effect, from `state` to `next`. Returns the normal form of `next`, or `None` if no linearization
    /// can follow. In both cases the operation counts as having taken effect until it is retracted.
    fn commit(&mut self, op: u32, state: u32, next: u32) -> Option<u32>;

    /// Undoes the operation, which must be the last one that took effect.
    fn retract(&mut self, op: u32);

    /// The bytes by which tables may grow when the operation leaves a new state.
    fn growth(&self, op: u32) -> usize;

    /// The state that the operation leaves, if the operation and its result tell it whatever was before, and if no operation
    /// that changes states takes effect before a return forces a choice.
    fn told(&mut self, op: u32) -> Option<u32> {
        let _ = op;
        None
    }

    /// A state of the key of the operation as a clause; `None` if the machine does not keep whole states.
    fn state_words(&self, state: u32, op: u32) -> Option<String> {
        let _ = (state, op);
        None
    }
}

impl<M: Machine + ?Sized> Machine for &mut M {
    fn start(&mut self, key: usize) -> Option<u32> {
        (**self).start(key)
    }
    fn successors(&mut self, state: u32, op: u32, out: &mut Vec<u32>) {
        (**self).successors(state, op, out);
    }
    fn is_harmless(&self, state: u32, op: u32) -> bool {
        (**self).is_harmless(state, op)
    }
    fn commit(&mut self, op: u32, state: u32, next: u32) -> Option<u32> {
        (**self).commit(op, state, next)
    }
    fn retract(&mut self, op: u32) {
        (**self).retract(op);
    }
    fn growth(&self, op: u32) -> usize {
        (**self).growth(op)
    }
    fn told(&mut self, op: u32) -> Option<u32> {
        (**self).told(op)
    }
    fn state_words(&self, state: u32, op: u32) -> Option<String> {
        (**self).state_words(state, op)
    }
}

/// Any specification: states are interned, and recent steps remembered.
pub(super) struct Interned<'a, S: Spec> {
    task: &'a Task<'a, S>,
    states: Interner<S::State>,
    /// By operation: whether it may take effect at once in any state where it can.
    harmless: Vec<bool>,
    /// Steps with one result, by state and action: direct-mapped, so that its size never grows.
    recent: Vec<(u64, u32)>,
    classes: &'a [u32],
    /// Whether some operations that change states take effect as soon as they can.
    has_eager: bool,
    /// What the results of the task tell about states.
    foresight: Option<Box<dyn Foresight<S>>>,
}

/// The key of an unused entry. Invariant: no step has this key, since no state has the number `u32::MAX`.
const NO_STEP: u64 = u64::MAX;

impl<'a, S: Spec> Interned<'a, S> {
    /// `classes` numbers the operations of the task such that operations with equal numbers have equal effects. The `eager`
    /// operations take effect as soon as they can.
    pub(super) fn new(task: &'a Task<'a, S>, classes: &'a [u32], eager: &[u32]) -> Self {
        // A pure operation changes no state, so moving it within a linearization to a state where it fits gives another one.
        let at_once = task.shortcuts().has(Shortcut::PureOperations);
        let is_harmless = |&op: &TaskOp| at_once && task.is_pure(op);
        let mut harmless: Vec<bool> = task.ops.iter().map(is_harmless).collect();
        eager.iter().for_each(|&op| harmless[op as usize] = true);
        let slots = (task.ops.len() * 4).next_power_of_two().clamp(64, 1 << 16);
        let foresight = match task.shortcuts().has(Shortcut::ImpliedOrder) {
            true => {
                let actions = (0..task.ops.len()).map(|op| task.action(op));
                let mut answers = actions.filter_map(|(op, ret)| Some((op, ret?)));
                task.spec.foresight(&mut answers)
            }
            false => None,
        };
        Interned {
            task,
            states: Interner::default(),
            harmless,
            recent: vec![(NO_STEP, 0); slots],
            classes,
            has_eager: !eager.is_empty(),
            foresight,
        }
    }
}

impl<S: Spec> Machine for Interned<'_, S> {
    // The state of a key is the state of the object if only operations on that key took effect.
    fn start(&mut self, _: usize) -> Option<u32> {
        Some(self.states.intern(self.task.spec.init()))
    }

    fn successors(&mut self, state: u32, op: u32, out: &mut Vec<u32>) {
        let key = u64::from(state) << 32 | u64::from(self.classes[op as usize]);
        // Multiplying by an odd constant spreads neighbours over the table.
        let slot =
            (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize & (self.recent.len() - 1);
        if self.recent[slot].0 == key {
            out.push(self.recent[slot].1);
            return;
        }
        let (operation, ret) = self.task.action(op as usize);
        let from = self.states.get(state);
        let mut next = self.task.spec.step(from, operation, ret);
        if let Some(foresight) = &self.foresight {
            next.retain(|next| foresight.allows(from, operation, next));
        }
        let single = next.len() == 1;
        out.extend(next.into_iter().map(|next| self.states.intern(next)));
        if let (true, Some(&next)) = (single, out.last()) {
            self.recent[slot] = (key, next);
        }
    }

    fn is_harmless(&self, _: u32, op: u32) -> bool {
        self.harmless[op as usize]
    }

    fn commit(&mut self, _: u32, _: u32, next: u32) -> Option<u32> {
        Some(next)
    }

    fn retract(&mut self, _: u32) {}

    fn growth(&self, _: u32) -> usize {
        self.states.growth()
    }

    fn told(&mut self, op: u32) -> Option<u32> {
        let (operation, ret) = self.task.action(op as usize);
        let state = self.task.spec.state_after(operation, ret?);
        let state = state.filter(|_| !self.has_eager)?;
        Some(self.states.intern(state))
    }

    fn state_words(&self, state: u32, op: u32) -> Option<String> {
        let key = self.task.key(self.task.ops[op as usize]);
        let state = self.states.get(state);
        Some(self.task.spec.state_words(state, key.as_ref()))
    }
}
