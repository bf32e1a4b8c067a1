//! Random small logs of containers, and the reference that judges them.

use std::collections::VecDeque;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::random::{self, Subject};
use super::{Act, Clash, Log};
use crate::engine::{Task, brute};
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::{Container, ContainerOp, Discipline, Outcomes, Spec};
use crate::value::Value;
use crate::verdict::certify;

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

/// The log without the returns of some removals, which still tell their values.
pub(super) fn forget_removals(log: &Log<Act>, seed: u64) -> Log<Act> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rets = log.rets.clone();
    for (&act, ret) in log.acts.iter().zip(&mut rets) {
        if act == Act::Remove && rng.random_range(0..3) == 0 {
            *ret = NEVER;
        }
    }
    Log::new(
        log.acts.clone(),
        log.values.clone(),
        log.calls.clone(),
        rets,
    )
}

/// Serves any of the values of the highest priority.
#[derive(Clone, Debug)]
pub(super) struct Ranked(pub(super) Vec<u32>);

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

/// Whether some order explains the log.
pub(super) fn is_linearizable(discipline: Discipline, log: &Log<Act>) -> bool {
    is_linearizable_as(&Container::unbounded(discipline), log)
}

/// Whether some order explains the log of such a container.
pub(super) fn is_linearizable_as<S: Spec<Op = ContainerOp, Ret = Value>>(
    container: &S,
    log: &Log<Act>,
) -> bool {
    let (history, ids) = history(log);
    let task = Task::new(container, &history, &ids);
    brute::try_all_orders(&task, &mut || Ok::<(), ()>(()))
        .unwrap()
        .is_some()
}

/// Replays a witness, given as positions.
pub(super) fn assert_explains(discipline: Discipline, log: &Log<Act>, order: &[u32]) {
    assert_explains_as(&Container::unbounded(discipline), log, order);
}

/// Replays a witness of such a container, given as positions.
pub(super) fn assert_explains_as<S: Spec<Op = ContainerOp, Ret = Value>>(
    container: &S,
    log: &Log<Act>,
    order: &[u32],
) {
    let (history, ids) = history(log);
    let task = Task::new(container, &history, &ids);
    let order: Vec<OpId> = order.iter().map(|&op| OpId(op)).collect();
    if let Err(error) = certify::witness(&task, &order) {
        panic!("{error}\n{order:?}\n{log:#?}");
    }
}

/// The operations of a clash are not linearizable by themselves.
pub(super) fn assert_clashes(discipline: Discipline, log: &Log<Act>, clash: &Clash) {
    assert_clashes_as(&Container::unbounded(discipline), log, clash);
}

/// The operations of a clash are not linearizable by themselves, for such a container.
pub(super) fn assert_clashes_as<S: Spec<Op = ContainerOp, Ret = Value>>(
    container: &S,
    log: &Log<Act>,
    clash: &Clash,
) {
    assert!(clash.ops.is_sorted());
    assert!(
        !is_linearizable_as(container, &log.restricted(&clash.ops)),
        "{clash:?}\n{log:#?}"
    );
}

/// The log as a history, and the operations of it that count. A pending removal whose value is known returns after
/// everything else; unless no operation on the value returned, then none of them counts.
fn history(log: &Log<Act>) -> (TypedHistory<ContainerOp, Value>, Vec<OpId>) {
    let value = |op: usize| Value::from(i64::from(log.values[op]));
    let mut history = TypedHistory::new();
    for event in &log.events {
        let op = event.op();
        if event.is_return() {
            history.ret(
                OpId(op as u32),
                match log.acts[op] {
                    Act::Add | Act::Empty => Value::Nil,
                    Act::Remove | Act::Peek => value(op),
                },
            );
        } else {
            history.call(
                op as u32,
                match log.acts[op] {
                    Act::Add => ContainerOp::Add(value(op)),
                    Act::Remove => ContainerOp::Remove,
                    Act::Peek | Act::Empty => ContainerOp::Peek,
                },
            );
        }
    }
    let is_open = |op: usize| log.acts[op] == Act::Remove && log.is_pending(op);
    let has_returned = |value: u32| {
        (0..log.len())
            .any(|op| log.acts[op] != Act::Empty && log.values[op] == value && !log.is_pending(op))
    };
    let mut ids = Vec::new();
    for op in 0..log.len() {
        if !is_open(op) {
            ids.push(OpId(op as u32));
        } else if has_returned(log.values[op]) {
            ids.push(OpId(op as u32));
            history.ret(OpId(op as u32), value(op));
        }
    }
    (history, ids)
}
