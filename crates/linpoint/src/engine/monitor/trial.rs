//! Random small logs of containers, and the reference that judges them.

use std::collections::VecDeque;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::random::{self, Subject};
use super::{Act, Clash, Log};
use crate::spec::{Container, ContainerOp, Discipline};
use crate::value::Value;

impl Subject for Discipline {
    type Act = Act;
    type Spec = Container;

    fn spec(&self) -> Container {
        Container::unbounded(*self)
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
            Act::Add | Act::Empty => Value::Nil,
            Act::Remove | Act::Peek => Value::from(i64::from(value)),
        }
    }

    fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Act, u32)> {
        if rng.random_range(0..4) == 0 {
            arbitrary_acts(ops, rng)
        } else {
            sequential_acts(*self, ops, usize::MAX, rng)
        }
    }

    fn may_be_pending(&self, act: Act) -> bool {
        act == Act::Add
    }

    fn may_move(&self, act: Act) -> bool {
        act != Act::Add
    }
}

/// Calls `test` with random logs of a container. With peeks, empty results, values that stay, values that nobody put in,
/// and pending insertions, but no value is put in twice.
pub(super) fn for_random_logs(discipline: Discipline, test: impl FnMut(Log<Act>)) {
    random::for_random_logs(&discipline, test);
}

pub(super) fn arbitrary_acts(ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Act, u32)> {
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

/// A run of the container itself, with room for so many values.
pub(super) fn sequential_acts(
    discipline: Discipline,
    ops: usize,
    room: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<(Act, u32)> {
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
            let next = match discipline {
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

/// Whether some order explains the log.
pub(super) fn is_linearizable(discipline: Discipline, log: &Log<Act>) -> bool {
    random::is_linearizable(&discipline, log)
}

/// Replays a witness, given as positions.
pub(super) fn assert_explains(discipline: Discipline, log: &Log<Act>, order: &[u32]) {
    random::assert_explains(&discipline, log, order);
}

/// The operations of a clash are not linearizable by themselves.
pub(super) fn assert_clashes(discipline: Discipline, log: &Log<Act>, clash: &Clash) {
    random::assert_clashes(&discipline, log, clash);
}
