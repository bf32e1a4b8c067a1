//! Decides tasks with several independent keys in one search.
//!
//! Ours. By the contract of [`Spec::key`](crate::Spec::key), operations on different keys commute, and whether an operation
//! is possible depends only on the operations on its own key. So the search keeps one state for each key, and:
//!
//! * **Candidates.** When the return of `r` forces a choice, the search tries only operations on the key of `r`. In any
//!   linearization from here, let `x` be the first operation on that key. It takes effect at `r` or before, so it is open
//!   now, and the operations before it are on other keys and open now as well. `x` overlaps these and commutes with them, so
//!   moving it to the front gives a linearization.
//! * **Backjumping.** The steps on a key between two choices on it depend only on the first choice. So when a return has no
//!   candidate, only another choice on its own key can help: the search goes back to the latest one, past choices on other
//!   keys. A choice is exhausted only by failures on its own key, so the memo stores only the part of the configuration that
//!   belongs to that key.
//! * **Resumption.** A choice on another key that was undone on the way back recurs unchanged. The search resumes it at its
//!   current alternative: the earlier ones failed, and would fail again.
//!
//! Going back costs the steps that other keys made since, but no second search among them.

use super::implied::Implied;
use super::machine::Machine;
use super::slot::SlotMachine;
use crate::engine::{Facts, Shortcut, Shortcuts, TaskOp};
use crate::history::EventKind;
use crate::spec::{Detail, Kind, Role};
use crate::value::{Interner, Value};

/// The keys of a task in which every operation has one.
pub(super) struct Independent {
    /// By operation of the task.
    places: Vec<OpOfKey>,
    /// The operations of each key, in the order of the task.
    ops: Vec<Vec<u32>>,
}

/// An operation, by its key and its position among the operations of that key.
#[derive(Clone, Copy)]
struct OpOfKey {
    key: u32,
    number: u32,
}

impl Independent {
    /// Returns the keys of a task; `None` unless the specification declares them independent and every operation has one.
    pub(super) fn of(task: &dyn Facts) -> Option<Self> {
        if !task.has_independent_keys() || !task.shortcuts().has(Shortcut::IndependentKeys) {
            return None;
        }
        let mut keys: Interner<Value> = Interner::default();
        let mut places = Vec::with_capacity(task.ops().len());
        let mut ops: Vec<Vec<u32>> = Vec::new();
        for (i, &op) in (0u32..).zip(task.ops()) {
            let key = keys.intern(task.key(op)?);
            if key as usize == ops.len() {
                ops.push(Vec::new());
            }
            let of_key = &mut ops[key as usize];
            places.push(OpOfKey {
                key,
                number: of_key.len() as u32,
            });
            of_key.push(i);
        }
        Some(Independent { places, ops })
    }

    /// The number of keys.
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// The key of each operation.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.places.iter().map(|place| place.key).collect()
    }

    /// What every linearization obeys: the facts about each key, in positions of the task.
    pub(super) fn implied(&self, task: &dyn Facts) -> Implied {
        let mut implied = Implied::default();
        for ops in &self.ops {
            implied.add_key(&Implied::of(&OneKey::new(task, ops)), ops);
        }
        implied
    }
}

/// The operations of a task that are on one key.
struct OneKey<'a> {
    task: &'a dyn Facts,
    ops: Vec<TaskOp>,
}

impl<'a> OneKey<'a> {
    fn new(task: &'a dyn Facts, ops: &[u32]) -> Self {
        OneKey {
            task,
            ops: ops.iter().map(|&op| task.ops()[op as usize]).collect(),
        }
    }
}

impl Facts for OneKey<'_> {
    fn ops(&self) -> &[TaskOp] {
        &self.ops
    }
    fn kind(&self) -> Option<&Kind> {
        self.task.kind_of_keys()
    }
    fn kind_of_keys(&self) -> Option<&Kind> {
        self.task.kind_of_keys()
    }
    fn has_independent_keys(&self) -> bool {
        false
    }
    fn key(&self, op: TaskOp) -> Option<Value> {
        self.task.key(op)
    }
    fn role(&self, op: TaskOp) -> Role {
        self.task.role(op)
    }
    fn is_pure(&self, op: TaskOp) -> bool {
        self.task.is_pure(op)
    }
    fn hint(&self, op: TaskOp) -> Option<i64> {
        self.task.hint(op)
    }
    fn marks(&self, op: TaskOp) -> Vec<Value> {
        self.task.marks(op)
    }
    fn shows(&self, op: TaskOp) -> Vec<(Value, i64)> {
        self.task.shows(op)
    }
    fn details(&self, op: TaskOp) -> Vec<Detail> {
        self.task.details(op)
    }
    fn class(&self, op: TaskOp) -> u32 {
        self.task.class(op)
    }
    fn shortcuts(&self) -> Shortcuts {
        self.task.shortcuts()
    }
}

/// A machine for each key.
pub(super) struct ByKey<'a, M> {
    machines: Vec<M>,
    places: &'a [OpOfKey],
}

impl<'a> ByKey<'a, SlotMachine> {
    /// Returns the machine of a task; `None` unless every operation has the role of an operation on a slot.
    pub(super) fn slots(
        task: &dyn Facts,
        keys: &'a Independent,
        events: &[(u32, EventKind)],
    ) -> Option<Self> {
        let mut events_of = vec![Vec::new(); keys.len()];
        for &(op, kind) in events {
            let OpOfKey { key, number } = keys.places[op as usize];
            events_of[key as usize].push((number, kind));
        }
        let machines = keys
            .ops
            .iter()
            .zip(&events_of)
            .map(|(ops, events)| SlotMachine::new(&OneKey::new(task, ops), events));
        Some(ByKey {
            machines: machines.collect::<Option<_>>()?,
            places: &keys.places,
        })
    }
}

impl<M: Machine> ByKey<'_, M> {
    fn of(&self, op: u32) -> (&M, u32) {
        let OpOfKey { key, number } = self.places[op as usize];
        (&self.machines[key as usize], number)
    }

    fn of_mut(&mut self, op: u32) -> (&mut M, u32) {
        let OpOfKey { key, number } = self.places[op as usize];
        (&mut self.machines[key as usize], number)
    }
}

impl<M: Machine> Machine for ByKey<'_, M> {
    fn start(&mut self, key: usize) -> Option<u32> {
        self.machines[key].start(0)
    }
    fn successors(&mut self, state: u32, op: u32, out: &mut Vec<u32>) {
        let (machine, op) = self.of_mut(op);
        machine.successors(state, op, out);
    }
    fn is_harmless(&self, state: u32, op: u32) -> bool {
        let (machine, op) = self.of(op);
        machine.is_harmless(state, op)
    }
    fn commit(&mut self, op: u32, state: u32, next: u32) -> Option<u32> {
        let (machine, op) = self.of_mut(op);
        machine.commit(op, state, next)
    }
    fn retract(&mut self, op: u32) {
        let (machine, op) = self.of_mut(op);
        machine.retract(op);
    }
    fn growth(&self, op: u32) -> usize {
        let (machine, op) = self.of(op);
        machine.growth(op)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};
    use std::time::Duration;

    use super::super::decide;
    use crate::engine::{Budget, Task, brute};
    use crate::history::{OpId, TypedHistory};
    use crate::spec::{Kind, Outcomes, Role, Sampler, Spec};
    use crate::value::Value;

    /// A queue for each key.
    #[derive(Debug)]
    struct Queues {
        kind: Option<Kind>,
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum Op {
        Add(usize, usize),
        Remove(usize),
    }

    impl Spec for Queues {
        type Op = Op;
        type Ret = Option<usize>;
        type State = BTreeMap<usize, VecDeque<usize>>;

        fn init(&self) -> Self::State {
            BTreeMap::new()
        }

        fn apply(&self, state: &Self::State, op: &Op) -> Outcomes<Self::Ret, Self::State> {
            let mut next = state.clone();
            let answer = match op {
                Op::Add(key, value) => {
                    next.entry(*key).or_default().push_back(*value);
                    None
                }
                Op::Remove(key) => next.get_mut(key).and_then(VecDeque::pop_front),
            };
            next.retain(|_, queue| !queue.is_empty());
            Outcomes::One(answer, next)
        }

        fn key(&self, op: &Op) -> Option<Value> {
            let (Op::Add(key, _) | Op::Remove(key)) = op;
            Some(Value::Int(*key as i64))
        }

        fn kind(&self) -> Option<Kind> {
            self.kind.clone()
        }

        fn role(&self, op: &Op, ret: Option<&Self::Ret>) -> Role {
            match (op, ret) {
                (Op::Add(_, value), _) => Role::Adds(Value::Int(*value as i64)),
                (Op::Remove(_), Some(Some(value))) => Role::Removes(Value::Int(*value as i64)),
                (Op::Remove(_), Some(None)) => Role::Empty,
                (Op::Remove(_), None) => Role::RemovesSome,
            }
        }
    }

    type Queued = TypedHistory<Op, Option<usize>>;

    fn all(history: &Queued) -> Vec<OpId> {
        (0..history.len() as u32).map(OpId).collect()
    }

    /// Four processes on three keys; now and then a result is wrong, or an operation never returns.
    fn random_history(spec: &Queues, seed: u64) -> Queued {
        let mut sampler = Sampler::new(seed, None);
        let mut history = Queued::new();
        let mut state = spec.init();
        // The open operation of each process, and its answer once it took effect.
        let mut open = vec![None; 4];
        let wrong_per_mille = sampler.pick(&[0, 30, 200]);
        let keys = 1 + sampler.below(3);
        let mut process = 0;
        while history.len() < 9 || process != 0 {
            process = sampler.below(4);
            open[process] = match open[process].take() {
                None if sampler.below(10) == 0 => None,
                None => {
                    let key = sampler.below(keys);
                    let op = match sampler.below(2) {
                        0 => Op::Add(key, sampler.below(6)),
                        _ => Op::Remove(key),
                    };
                    Some((history.call(process as u32, op.clone()), op, None))
                }
                Some((id, op, None)) => {
                    let Outcomes::One(answer, next) = spec.apply(&state, &op) else {
                        unreachable!("bug: a queue has one answer")
                    };
                    state = next;
                    Some((id, op, Some(answer)))
                }
                Some((id, op, Some(answer))) => {
                    let is_wrong =
                        matches!(op, Op::Remove(_)) && sampler.below(1000) < wrong_per_mille;
                    let wrong = Some(sampler.below(6)).filter(|&value| value != 5);
                    history.ret(id, if is_wrong { wrong } else { answer });
                    None
                }
            };
        }
        history
    }

    #[test]
    fn agrees_with_brute() {
        for kind in [None, Some(Kind::Queue)] {
            let spec = Queues { kind };
            let mut verdicts = [0; 2];
            for seed in 0..2000 {
                let history = random_history(&spec, seed);
                let task = Task::new(&spec, &history, &all(&history));
                let expected = brute::try_all_orders(&task, &mut || Ok::<_, ()>(()));
                let expected = expected.unwrap().is_some();
                let found = decide(&task, &Budget::default()).unwrap();
                assert_eq!(found.is_linearizable(), expected, "seed {seed}");
                verdicts[usize::from(expected)] += 1;
            }
            assert!(verdicts.iter().all(|&count| count > 200), "{verdicts:?}");
        }
    }

    /// On every key, two overlapping insertions, and removals that tell that the one that returned last came first.
    ///
    /// The keys that choose first are the last to find out, so going back passes the choices of all others.
    fn nested(keys: usize, last_answer: usize) -> Queued {
        let mut history = Queued::new();
        let mut adds = Vec::new();
        for value in [0, 1] {
            let ops = (0..keys).map(|key| (value * keys + key, Op::Add(key, value)));
            adds.extend(ops.map(|(process, op)| history.call(process as u32, op)));
        }
        let (firsts, seconds) = adds.split_at(keys);
        let returns = firsts.iter().chain(seconds.iter().rev());
        returns.for_each(|&add| history.ret(add, None));
        for value in [1, 0] {
            for key in (0..keys).rev() {
                let is_last = (value, key) == (0, 0);
                let remove = history.call(0, Op::Remove(key));
                history.ret(remove, Some(if is_last { last_answer } else { value }));
            }
        }
        history
    }

    #[test]
    fn searches_among_the_orders_of_one_key_at_a_time() {
        let spec = Queues { kind: None };
        for (last_answer, expected) in [(0, true), (1, false)] {
            let history = nested(30, last_answer);
            let task = Task::new(&spec, &history, &all(&history));
            let budget = Budget::new(Some(Duration::from_secs(30)), None);
            let found = decide(&task, &budget).expect("in time");
            assert_eq!(found.is_linearizable(), expected);
        }
    }
}
