//! Conditions of histories of any type: searches for one order.

use std::collections::HashMap;

use super::Condition;
use super::answer::{Answer, Decided, Why, Witness};
use super::memory::{deadline, stretches};
use super::quiescent;
use super::sequential::{self, Keeps, Object};
use crate::engine::Budget;
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::{Kind, Role, Spec, advance};
use crate::value::Value;

/// A history of any type.
pub(super) struct Any<'a, S: Spec> {
    pub(super) spec: &'a S,
    pub(super) history: &'a TypedHistory<S::Op, S::Ret>,
    stretches: Vec<u32>,
    /// See [`MemoryOp::deadline`](super::memory::MemoryOp::deadline).
    deadlines: Vec<u32>,
}

impl<'a, S: Spec> Any<'a, S> {
    /// A history during which the whole system crashed at these ranks.
    pub(super) fn of(
        spec: &'a S,
        history: &'a TypedHistory<S::Op, S::Ret>,
        crashes: &[u32],
    ) -> Self {
        let (calls, rets) = (history.calls(), history.rets());
        let open = calls.iter().zip(rets);
        Any {
            spec,
            history,
            stretches: stretches(calls, rets),
            deadlines: open
                .map(|(&call, &ret)| deadline(crashes, call, ret))
                .collect(),
        }
    }

    pub(super) fn all(&self) -> Vec<OpId> {
        (0..self.history.len() as u32).map(OpId).collect()
    }

    /// Decides a condition of these operations, in the order of their calls; `None` if it is for registers and maps only.
    pub(super) fn decide(
        &self,
        ops: &[OpId],
        condition: Condition,
        budget: &Budget,
    ) -> Option<Decided> {
        match condition {
            Condition::Strict => Some(self.in_order(ops, Keeps::TimeAndCrashes, budget)),
            Condition::Sequential => Some(self.in_order(ops, Keeps::Processes, budget)),
            Condition::WriteLinearizable => Some(self.in_order(ops, Keeps::TimeOfWrites, budget)),
            Condition::Quiescent => Some(self.quiescent(ops, budget)),
            _ => None,
        }
    }

    fn in_order(&self, ops: &[OpId], keeps: Keeps, budget: &Budget) -> Decided {
        sequential::of_any(self.spec, self.history, ops, &self.deadlines, keeps, budget)
    }

    fn quiescent(&self, ops: &[OpId], budget: &Budget) -> Decided {
        let mut by_stretch: Vec<Vec<u32>> = Vec::new();
        let mut last = None;
        for (i, id) in (0u32..).zip(ops) {
            let stretch = self.stretches[id.index()];
            if last != Some(stretch) {
                by_stretch.push(Vec::new());
            }
            last = Some(stretch);
            by_stretch
                .last_mut()
                .expect("bug: a stretch was added")
                .push(i);
        }
        let object = Object {
            spec: self.spec,
            history: self.history,
            ops,
        };
        let is_pending = |i: u32| self.is_pending(ops[i as usize]);
        quiescent::decide(
            &object,
            &by_stretch,
            &is_pending,
            &|i| ops[i as usize],
            budget,
        )
    }

    fn is_pending(&self, id: OpId) -> bool {
        self.history.rets()[id.index()] == NEVER
    }

    fn is_pure(&self, id: OpId) -> bool {
        let action = self.history.action(id);
        self.spec.is_pure(&action.op, action.ret.as_ref())
    }

    /// Whether an order shows that a condition holds.
    pub(super) fn shows(&self, condition: Condition, witness: &Witness) -> bool {
        let Witness::Order(order) = witness else {
            return false;
        };
        let mut places = vec![0u32; self.history.len()];
        for &id in order {
            places[id.index()] += 1;
        }
        let needed = |id: OpId| u32::from(!self.is_pending(id) || places[id.index()] == 1);
        if !self
            .all()
            .into_iter()
            .all(|id| places[id.index()] == needed(id) || self.may_miss(id, &places))
        {
            return false;
        }
        let (calls, rets) = (self.history.calls(), self.history.rets());
        let keeps_processes = || {
            let mut last: HashMap<u32, u32> = HashMap::new();
            order.iter().all(|&id| {
                let call = calls[id.index()];
                last.insert(self.history.process(id), call)
                    .is_none_or(|last| last < call)
            })
        };
        let keeps_time = |ends: &[u32], counts: &dyn Fn(OpId) -> bool| {
            let mut first = NEVER;
            let mut counted = order.iter().rev().filter(|&&id| counts(id));
            counted.all(|id| {
                let keeps = calls[id.index()] < first;
                first = first.min(ends[id.index()]);
                keeps
            })
        };
        let keeps = match condition {
            Condition::Strict => {
                keeps_time(rets, &|_| true) && keeps_time(&self.deadlines, &|_| true)
            }
            Condition::Sequential => keeps_processes(),
            Condition::WriteLinearizable => {
                keeps_processes() && keeps_time(rets, &|id| !self.is_pure(id))
            }
            Condition::Quiescent => order.is_sorted_by_key(|id| self.stretches[id.index()]),
            _ => false,
        };
        keeps && self.replays(order)
    }

    /// Whether a pending operation is missing.
    fn may_miss(&self, id: OpId, places: &[u32]) -> bool {
        self.is_pending(id) && places[id.index()] == 0
    }

    fn replays(&self, order: &[OpId]) -> bool {
        let mut states: HashMap<u32, Vec<S::State>> = HashMap::new();
        order.iter().all(|&id| {
            let object = self.history.object_column()[id.index()];
            let states = states
                .entry(object)
                .or_insert_with(|| vec![self.spec.init()]);
            let action = self.history.action(id);
            advance(self.spec, states, &action.op, action.ret.as_ref());
            !states.is_empty()
        })
    }

    /// Leaves out operations that change nothing, and all operations on a value of a container, as long as the rest violates the
    /// condition. Returns the rest, and whether no more can be left out.
    pub(super) fn shrink(&self, condition: Condition, budget: &Budget) -> (Vec<OpId>, bool) {
        let mut kept = self.all();
        let fails = |ops: &[OpId]| {
            let decided = self.decide(ops, condition, budget);
            matches!(decided, Some(Ok(Answer::Fails(Why::NoOrder))))
        };
        let mut size = self.units(&kept).len().div_ceil(4).max(1);
        loop {
            let (mut place, mut is_less) = (0, false);
            loop {
                let units = self.units(&kept);
                if place >= units.len() {
                    break;
                }
                if budget.check().is_err() {
                    return (kept, false);
                }
                let gone: Vec<OpId> = units[place..units.len().min(place + size)]
                    .iter()
                    .flatten()
                    .copied()
                    .collect();
                let rest: Vec<OpId> = kept
                    .iter()
                    .copied()
                    .filter(|id| !gone.contains(id))
                    .collect();
                if fails(&rest) {
                    kept = rest;
                    is_less = true;
                } else {
                    place += size;
                }
            }
            if size == 1 && !is_less {
                return (kept, true);
            }
            size = (size / 2).max(1);
        }
    }

    /// What can be left out together of these operations.
    fn units(&self, kept: &[OpId]) -> Vec<Vec<OpId>> {
        let is_container = matches!(
            self.spec.kind(),
            Some(
                Kind::Queue
                    | Kind::Stack
                    | Kind::Deque
                    | Kind::Bag
                    | Kind::MaxPriorityQueue
                    | Kind::MinPriorityQueue
            )
        );
        let mut of_value: HashMap<Value, Vec<OpId>> = HashMap::new();
        let mut units = Vec::new();
        for &id in kept {
            let action = self.history.action(id);
            match self.spec.role(&action.op, action.ret.as_ref()) {
                Role::Adds(value) | Role::Removes(value) | Role::Peeks(value) if is_container => {
                    of_value.entry(value).or_default().push(id);
                }
                _ if self.is_pure(id) => units.push(vec![id]),
                _ => {}
            }
        }
        let mut values: Vec<Vec<OpId>> = of_value.into_values().collect();
        values.sort_unstable();
        values.extend(units);
        values
    }
}
