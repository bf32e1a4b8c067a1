//! For tests: random logs of containers.

use std::collections::VecDeque;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{self as testing, Fate, Model, Subject};
use crate::engine::monitor::{Act, Log};
use crate::history::NEVER;
use crate::spec::{Container, ContainerOp, Discipline, Outcomes, Spec};
use crate::value::Value;

/// A container without a limit.
pub(in crate::engine::monitor) const fn unbounded(discipline: Discipline) -> Container {
    Container {
        discipline,
        capacity: None,
    }
}

impl Model for Container {
    type Act = Act;
    type Spec = Container;

    fn spec(&self) -> Container {
        self.clone()
    }

    fn op(&self, act: Act, value: u32) -> ContainerOp {
        match act {
            Act::Add => ContainerOp::Add(Value::from(i64::from(value))),
            Act::Remove => ContainerOp::Remove,
            Act::Peek | Act::Empty => ContainerOp::Peek,
        }
    }

    fn ret(&self, act: Act, value: u32) -> Value {
        match act {
            Act::Add if self.capacity.is_some() => Value::Bool(true),
            Act::Add | Act::Empty => Value::Nil,
            Act::Remove | Act::Peek => Value::from(i64::from(value)),
        }
    }

    /// A pending removal whose value is known removes it at the end, unless no operation on the value returned: then none of
    /// them takes effect.
    fn fate(&self, log: &Log<Act>, op: usize) -> Fate {
        let is_about_it =
            |&other: &usize| log.acts[other] != Act::Empty && log.values[other] == log.values[op];
        let returned = |other: usize| !log.is_pending(other);
        match log.acts[op] {
            Act::Remove if (0..log.len()).filter(is_about_it).any(returned) => Fate::ReturnsLast,
            Act::Remove => Fate::Absent,
            _ => Fate::Open,
        }
    }
}

impl Subject for Container {
    fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Act, u32)> {
        if rng.random_range(0..4) == 0 {
            arbitrary_acts(ops, rng)
        } else {
            sequential_acts(self, ops, rng)
        }
    }

    fn may_be_pending(&self, act: Act) -> bool {
        act == Act::Add
    }

    fn may_move(&self, act: Act) -> bool {
        act != Act::Add
    }
}

fn arbitrary_acts(ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Act, u32)> {
    let mut fresh: Vec<u32> = (0..ops as u32).collect();
    fresh.shuffle(rng);
    (0..ops)
        .map(|_| match rng.random_range(0..8) {
            0..=2 => (Act::Add, fresh.pop().unwrap()),
            3..=5 => (Act::Remove, rng.random_range(0..ops as u32)),
            6 => (Act::Peek, rng.random_range(0..ops as u32)),
            _ => (Act::Empty, 0),
        })
        .collect()
}

/// A sequential run of the container.
fn sequential_acts(container: &Container, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Act, u32)> {
    let room = container.capacity.unwrap_or(usize::MAX);
    let mut fresh: Vec<u32> = (0..ops as u32).collect();
    fresh.shuffle(rng);
    let mut held: VecDeque<u32> = VecDeque::new();
    (0..ops)
        .map(|_| {
            if rng.random_range(0..5) < 2 && held.len() < room {
                let value = fresh.pop().unwrap();
                held.push_back(value);
                return (Act::Add, value);
            }
            let next = match container.discipline {
                Discipline::Fifo => (!held.is_empty()).then_some(0),
                Discipline::Lifo => held.len().checked_sub(1),
                Discipline::Largest => (0..held.len()).max_by_key(|&i| held[i]),
                Discipline::Smallest => (0..held.len()).min_by_key(|&i| held[i]),
                Discipline::Any => (!held.is_empty()).then(|| rng.random_range(0..held.len())),
            };
            match next {
                None => (Act::Empty, 0),
                Some(i) if rng.random_range(0..4) == 0 => (Act::Peek, held[i]),
                Some(i) => (Act::Remove, held.remove(i).unwrap()),
            }
        })
        .collect()
}

/// Judges random logs with and without the returns of some removals: a linearizable log must stay linearizable.
pub(in crate::engine::monitor) fn assert_pending_removals_may_happen(
    container: &Container,
    judge: impl Fn(&Log<Act>) -> bool,
) {
    let mut seed = 0;
    testing::for_random_logs(container, |log| {
        seed += 1;
        let before = judge(&log);
        let after = judge(&forget_removals(&log, seed));
        assert!(after || !before, "{log:#?}");
    });
}

/// The log without the returns of some removals, whose values stay known.
fn forget_removals(log: &Log<Act>, seed: u64) -> Log<Act> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rets = log.rets.to_vec();
    for (&act, ret) in log.acts.iter().zip(&mut rets) {
        if act == Act::Remove && rng.random_range(0..3) == 0 {
            *ret = NEVER;
        }
    }
    Log::new(
        log.acts.clone(),
        log.values.clone(),
        log.calls.to_vec(),
        rets,
    )
}

/// The specification of a priority queue with these priorities, by value: serves any of the values of the highest one.
#[derive(Clone, Debug)]
pub(in crate::engine::monitor) struct Ranked(pub(in crate::engine::monitor) Vec<u32>);

impl Spec for Ranked {
    type Op = ContainerOp;
    type Ret = Value;
    type State = Vec<Value>;

    fn init(&self) -> Vec<Value> {
        Vec::new()
    }

    fn apply(&self, state: &Vec<Value>, op: &ContainerOp) -> Outcomes<Value, Vec<Value>> {
        if let ContainerOp::Add(value) = op {
            let mut next = state.clone();
            next.push(value.clone());
            return Outcomes::One(Value::Nil, next);
        }
        let priority = |value: &Value| match value {
            Value::Int(value) => self.0[*value as usize],
            _ => unreachable!("values of logs are numbers"),
        };
        let Some(highest) = state.iter().map(priority).max() else {
            return Outcomes::One(Value::Nil, state.clone());
        };
        let served = (0..state.len()).filter(|&i| priority(&state[i]) == highest);
        Outcomes::Many(
            served
                .map(|i| {
                    let mut next = state.clone();
                    let value = state[i].clone();
                    if *op == ContainerOp::Remove {
                        next.remove(i);
                    }
                    (value, next)
                })
                .collect(),
        )
    }
}

impl Model for Ranked {
    type Act = Act;
    type Spec = Ranked;

    fn spec(&self) -> Ranked {
        self.clone()
    }

    fn op(&self, act: Act, value: u32) -> ContainerOp {
        unbounded(Discipline::Largest).op(act, value)
    }

    fn ret(&self, act: Act, value: u32) -> Value {
        unbounded(Discipline::Largest).ret(act, value)
    }

    fn fate(&self, log: &Log<Act>, op: usize) -> Fate {
        unbounded(Discipline::Largest).fate(log, op)
    }
}
