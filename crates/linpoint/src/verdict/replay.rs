//! Replays of logs on plain objects of integers, which take much less time than replays on specifications.
//!
//! They are no certificate by themselves: `portfolio/columns` compares what they replay with the specification. The tests
//! below check that each of them allows exactly what the specification allows.

use std::collections::{BinaryHeap, VecDeque};

use crate::engine::monitor::{
    Act, Bit, BitState, Bits, ContainerMonitor, Monitor, PriorityQueue, Register, Rw,
};
use crate::history::NEVER;

/// A monitor whose witnesses can be replayed on an object of integers.
pub(crate) trait Replay: Monitor {
    /// The object.
    type Object<'a>
    where
        Self: 'a;

    /// The object before all operations; values are below `distinct`.
    fn object(&self, distinct: u32) -> Self::Object<'_>;

    /// Lets an operation take effect. Returns whether it can have its result.
    fn apply(object: &mut Self::Object<'_>, act: Self::Act, value: u32) -> bool;

    /// The monitor for values that are numbered anew: what had the number `numbers[n]` has the number `n`.
    fn renumbered(&self, numbers: &[u32]) -> Self;
}

/// A container of integers.
#[derive(Debug)]
pub(crate) enum Container<'a> {
    Queue(VecDeque<u32>),
    Stack(Vec<u32>),
    /// With the priority of each value; larger ones are served first.
    Heap(BinaryHeap<(u32, u32)>, &'a [u32]),
    /// Whether each value is in the bag, and how many are. Invariant: values are added once.
    Bag(Vec<bool>, usize),
}

impl Replay for ContainerMonitor {
    type Object<'a> = Container<'a>;

    fn object(&self, distinct: u32) -> Container<'_> {
        match self {
            ContainerMonitor::Queue(_) => Container::Queue(VecDeque::new()),
            ContainerMonitor::Stack(_) => Container::Stack(Vec::new()),
            ContainerMonitor::Priority(queue) => {
                Container::Heap(BinaryHeap::new(), &queue.priorities)
            }
            ContainerMonitor::Bag(_) => Container::Bag(vec![false; distinct as usize], 0),
        }
    }

    fn apply(container: &mut Container<'_>, act: Act, value: u32) -> bool {
        match container {
            Container::Queue(queue) => match act {
                Act::Add => {
                    queue.push_back(value);
                    true
                }
                Act::Remove => queue.pop_front() == Some(value),
                Act::Peek => queue.front() == Some(&value),
                Act::Empty => queue.is_empty(),
            },
            Container::Stack(stack) => match act {
                Act::Add => {
                    stack.push(value);
                    true
                }
                Act::Remove => stack.pop() == Some(value),
                Act::Peek => stack.last() == Some(&value),
                Act::Empty => stack.is_empty(),
            },
            Container::Heap(heap, priorities) => {
                let urgency = (priorities[value as usize], value);
                match act {
                    Act::Add => {
                        heap.push(urgency);
                        true
                    }
                    Act::Remove => heap.pop() == Some(urgency),
                    Act::Peek => heap.peek() == Some(&urgency),
                    Act::Empty => heap.is_empty(),
                }
            }
            Container::Bag(is_in, count) => {
                let is_in = &mut is_in[value as usize];
                match act {
                    Act::Add => {
                        *count += 1;
                        !std::mem::replace(is_in, true)
                    }
                    Act::Remove => {
                        *count = count.wrapping_sub(1);
                        std::mem::replace(is_in, false)
                    }
                    Act::Peek => *is_in,
                    Act::Empty => *count == 0,
                }
            }
        }
    }

    fn renumbered(&self, numbers: &[u32]) -> Self {
        match self {
            ContainerMonitor::Priority(queue) => {
                let priority = |&number: &u32| queue.priorities[number as usize];
                ContainerMonitor::Priority(PriorityQueue {
                    priorities: numbers.iter().map(priority).collect(),
                })
            }
            other => other.clone(),
        }
    }
}

impl Replay for Register {
    /// The value that is held; [`NEVER`] if it does not occur in the log.
    type Object<'a> = u32;

    fn object(&self, _: u32) -> u32 {
        self.initial.unwrap_or(NEVER)
    }

    fn apply(held: &mut u32, act: Rw, value: u32) -> bool {
        match act {
            Rw::Write => {
                *held = value;
                true
            }
            Rw::Read => *held == value,
        }
    }

    fn renumbered(&self, numbers: &[u32]) -> Self {
        let place = |initial| numbers.iter().position(|&number| number == initial);
        let initial = self.initial.and_then(place);
        Register {
            initial: initial.map(|place| place as u32),
        }
    }
}

impl Replay for Bits {
    /// Whether each key is on.
    type Object<'a> = Vec<bool>;

    fn object(&self, distinct: u32) -> Vec<bool> {
        vec![self.initially == BitState::On; distinct as usize]
    }

    fn apply(is_on: &mut Vec<bool>, act: Bit, key: u32) -> bool {
        let is_on = &mut is_on[key as usize];
        match act {
            Bit::TurnOn => !std::mem::replace(is_on, true),
            Bit::TurnOff => std::mem::replace(is_on, false),
            Bit::SeesOn => *is_on,
            Bit::SeesOff => !*is_on,
        }
    }

    fn renumbered(&self, _: &[u32]) -> Self {
        *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{self, ContainerOp, Discipline, RegisterOp, SetOp, Spec};
    use crate::value::Value;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Compares random runs on the object of integers and on the specification, up to the first operation that is impossible.
    /// `action` makes an operation and its result of an act and a value below 6.
    fn assert_equivalent<M: Replay, S: Spec<Ret = Value>>(
        monitor: &M,
        spec: &S,
        acts: &[M::Act],
        mut action: impl FnMut(M::Act, u32) -> Option<(S::Op, Value)>,
        mut forget: impl FnMut(),
    ) {
        let (mut possible, mut impossible) = (0, 0);
        for seed in 0..20_000 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (mut object, mut states) = (monitor.object(6), vec![spec.init()]);
            forget();
            for _ in 0..30 {
                let act = acts[rng.random_range(0..acts.len())];
                let value = rng.random_range(0..6);
                let Some((op, ret)) = action(act, value) else {
                    continue;
                };
                let steps = states
                    .iter()
                    .flat_map(|state| spec.step(state, &op, Some(&ret)));
                let next: Vec<S::State> = steps.collect();
                let is_possible = M::apply(&mut object, act, value);
                assert_eq!(is_possible, !next.is_empty(), "seed {seed}");
                if !is_possible {
                    impossible += 1;
                    break;
                }
                possible += 1;
                states = next;
            }
        }
        assert!(possible > 5_000 && impossible > 5_000);
    }

    #[test]
    fn containers_allow_what_their_specifications_allow() {
        let values: Vec<Value> = [3, 1, 4, 0, 5, 2].map(Value::Int).to_vec();
        for discipline in [
            Discipline::Fifo,
            Discipline::Lifo,
            Discipline::Largest,
            Discipline::Smallest,
            Discipline::Any,
        ] {
            // Monitors want each value to be added once.
            let added = std::cell::RefCell::new([false; 6]);
            let action = |act, value: u32| {
                let shown = values[value as usize].clone();
                Some(match act {
                    Act::Add => {
                        let mut added = added.borrow_mut();
                        if std::mem::replace(&mut added[value as usize], true) {
                            return None;
                        }
                        (ContainerOp::Add(shown), Value::Nil)
                    }
                    Act::Remove => (ContainerOp::Remove, shown),
                    Act::Peek => (ContainerOp::Peek, shown),
                    Act::Empty => (ContainerOp::Peek, Value::Nil),
                })
            };
            assert_equivalent(
                &ContainerMonitor::new(discipline, &values),
                &spec::Container::unbounded(discipline),
                &[Act::Add, Act::Add, Act::Remove, Act::Peek, Act::Empty],
                action,
                || *added.borrow_mut() = [false; 6],
            );
        }
    }

    #[test]
    fn registers_allow_what_their_specification_allows() {
        let register = spec::Register {
            initial: Value::Int(0),
            cas: false,
        };
        let action = |act, value: u32| {
            let value = Value::Int(value.into());
            Some(match act {
                Rw::Write => (RegisterOp::Write(value), Value::Nil),
                Rw::Read => (RegisterOp::Read, value),
            })
        };
        let monitor = Register { initial: Some(0) };
        let acts = [Rw::Write, Rw::Write, Rw::Read];
        assert_equivalent(&monitor, &register, &acts, action, || ());
    }

    #[test]
    fn bits_allow_what_sets_allow() {
        let action = |act, key: u32| {
            let key = Value::Int(key.into());
            Some(match act {
                Bit::TurnOn => (SetOp::Add(key), Value::Bool(true)),
                Bit::TurnOff => (SetOp::Remove(key), Value::Bool(true)),
                Bit::SeesOn => (SetOp::Contains(key), Value::Bool(true)),
                Bit::SeesOff => (SetOp::Contains(key), Value::Bool(false)),
            })
        };
        let bits = Bits {
            initially: BitState::Off,
        };
        let acts = [
            Bit::TurnOn,
            Bit::TurnOn,
            Bit::TurnOff,
            Bit::SeesOff,
            Bit::SeesOn,
        ];
        assert_equivalent(&bits, &spec::Set, &acts, action, || ());
    }
}
