//! All orders of a few operations, by plain enumeration.
//!
//! It asks the specification and nothing else, and shares no code with the engines or with what explains violations.

use std::collections::HashMap;

use crate::history::{NEVER, OpId};
use crate::spec::Spec;

/// An operation that orders are made of.
pub(super) struct Given<'a, S: Spec> {
    pub(super) id: OpId,
    pub(super) call: u32,
    /// An operation that never returns may be left out of an order.
    pub(super) ret: u32,
    pub(super) op: &'a S::Op,
    /// The result that it has; `None` for any.
    pub(super) result: Option<&'a S::Ret>,
}

/// Which operations took effect, by position.
type Taken = u32;

/// All orders of some operations that obey real time and explain the results.
pub(super) struct AllOrders<'a, S: Spec> {
    spec: &'a S,
    ops: Vec<Given<'a, S>>,
    /// Where beginnings of orders lead, and whether some whole order goes on from there.
    reached: HashMap<(Taken, S::State), bool>,
}

impl<'a, S: Spec> AllOrders<'a, S> {
    pub(super) fn of(spec: &'a S, ops: Vec<Given<'a, S>>) -> Self {
        Self::from(spec, spec.init(), ops)
    }

    /// The same, for an object that is in some state at first.
    pub(super) fn from(spec: &'a S, state: S::State, ops: Vec<Given<'a, S>>) -> Self {
        assert!(ops.len() <= Taken::BITS as usize, "the history is small");
        let mut all = AllOrders {
            spec,
            ops,
            reached: HashMap::new(),
        };
        all.reach(0, state);
        all
    }

    /// Extends the beginning of an order in all ways. Returns whether some whole order begins so.
    fn reach(&mut self, taken: Taken, state: S::State) -> bool {
        let key = (taken, state);
        if let Some(&known) = self.reached.get(&key) {
            return known;
        }
        let mut leads_to_order = self.is_whole(taken);
        for i in 0..self.ops.len() {
            if !self.can_be_next(i, taken) {
                continue;
            }
            let Given { op, result, .. } = self.ops[i];
            for next in self.spec.step(&key.1, op, result) {
                leads_to_order |= self.reach(taken | 1 << i, next);
            }
        }
        self.reached.insert(key, leads_to_order);
        leads_to_order
    }

    fn is_whole(&self, taken: Taken) -> bool {
        let has_taken = |i: usize| taken & 1 << i != 0;
        (0..self.ops.len()).all(|i| has_taken(i) || self.ops[i].ret == NEVER)
    }

    fn can_be_next(&self, i: usize, taken: Taken) -> bool {
        let is_first = |j: usize| taken & 1 << j != 0 || self.ops[j].ret > self.ops[i].call;
        taken & 1 << i == 0 && (0..self.ops.len()).all(is_first)
    }

    fn position(&self, id: OpId) -> Option<usize> {
        self.ops.iter().position(|op| op.id == id)
    }

    /// Whether there is no order at all.
    pub(super) fn is_empty(&self) -> bool {
        !self.reached.values().any(|&leads_to_order| leads_to_order)
    }

    /// All states that an attempt at an order meets, whether it can be completed or not.
    pub(super) fn met(&self) -> impl Iterator<Item = &S::State> {
        self.reached.keys().map(|(_, state)| state)
    }

    /// What is reached on the way of some order.
    fn on_the_way(&self) -> impl Iterator<Item = (Taken, &S::State)> {
        let reached = self.reached.iter().filter(|(_, leads)| **leads);
        reached.map(|((taken, state), _)| (*taken, state))
    }

    /// The states that the object may be in, in some order, at some moment between two events.
    pub(super) fn states_between(&self, from: u32, to: u32) -> impl Iterator<Item = &S::State> {
        self.on_the_way()
            .filter(move |(taken, _)| {
                (0..self.ops.len()).all(|i| match taken & 1 << i {
                    0 => self.ops[i].ret > from,
                    _ => self.ops[i].call < to,
                })
            })
            .map(|(_, state)| state)
    }

    /// Whether one operation takes effect before the other one in every order that has the other one.
    pub(super) fn always_before(&self, first: OpId, second: OpId) -> bool {
        let (Some(first), Some(second)) = (self.position(first), self.position(second)) else {
            panic!("the operations are part of the orders");
        };
        self.on_the_way()
            .all(|(taken, _)| taken & 1 << second == 0 || taken & 1 << first != 0)
    }

    /// How an operation, which must be open, takes effect in the orders: the state before, and what it answers.
    pub(super) fn effects(&self, id: OpId) -> Vec<(S::State, S::Ret)> {
        let Some(i) = self.position(id) else {
            panic!("the operation is part of the orders");
        };
        let mut effects = Vec::new();
        for (taken, state) in self.on_the_way() {
            if !self.can_be_next(i, taken) {
                continue;
            }
            for (answer, next) in self.spec.apply(state, self.ops[i].op).into_pairs() {
                if self.reached.get(&(taken | 1 << i, next)) == Some(&true) {
                    effects.push((state.clone(), answer));
                }
            }
        }
        effects
    }

    /// What whole orders have, and the states that they lead to.
    pub(super) fn wholes(&self) -> impl Iterator<Item = (Vec<OpId>, &S::State)> {
        let whole = self.on_the_way().filter(|(taken, _)| self.is_whole(*taken));
        whole.map(|(taken, state)| {
            let taken = (0..self.ops.len()).filter(|i| taken & 1 << i != 0);
            (taken.map(|i| self.ops[i].id).collect(), state)
        })
    }

    /// The states that whole orders lead to.
    pub(super) fn ends(&self) -> Vec<&S::State> {
        let whole = self.on_the_way().filter(|(taken, _)| self.is_whole(*taken));
        whole.map(|(_, state)| state).collect()
    }

    /// Whether every whole order leads to a state that `is_listed`, or passes such a state when all operations that
    /// returned have taken effect, or could do so after such an order.
    pub(super) fn all_continue(&self, is_listed: impl Fn(&S::State) -> bool) -> bool {
        let is_start = |taken: Taken, state: &S::State| self.is_whole(taken) && is_listed(state);
        let mut reached: Vec<(Taken, &S::State)> = self
            .on_the_way()
            .filter(|&(taken, state)| is_start(taken, state))
            .collect();
        let mut done = 0;
        while done < reached.len() {
            let (taken, state) = reached[done];
            done += 1;
            for i in (0..self.ops.len()).filter(|&i| self.can_be_next(i, taken)) {
                let Given { op, result, .. } = self.ops[i];
                for next in self.spec.step(state, op, result) {
                    let key = (taken | 1 << i, next);
                    let known = self.reached.get_key_value(&key);
                    if let Some(((taken, state), _)) = known
                        && !reached.contains(&(*taken, state))
                    {
                        reached.push((*taken, state));
                    }
                }
            }
        }
        let mut whole = self.on_the_way().filter(|(taken, _)| self.is_whole(*taken));
        whole.all(|at| reached.contains(&at))
    }
}
