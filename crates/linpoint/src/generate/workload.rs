//! Large logs for benchmarks, linearizable by construction.
//!
//! The workload of Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues* (2024):
//! half of the processes add, half remove, all of them always busy, on one simulated object.

use std::collections::{BinaryHeap, VecDeque};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::engine::monitor::Bit;
use crate::engine::monitor::Rw;
use crate::engine::monitor::{Act, Log};
use crate::history::NEVER;
use crate::spec::Discipline;

/// How much of what to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// How many operations.
    pub ops: usize,
    /// How many processes; every second one produces, the others consume.
    pub processes: usize,
    /// How many of 100 operations of consumers only look.
    pub peek_percent: u32,
    /// Equal seeds give equal logs.
    pub seed: u64,
}

impl Default for Workload {
    fn default() -> Self {
        Workload {
            ops: 100_000,
            processes: 100,
            peek_percent: 0,
            seed: 0,
        }
    }
}

/// What a process has called.
#[derive(Clone, Copy)]
enum Intent {
    Produce,
    Consume,
    Look,
}

/// Where a process is in its operation.
#[derive(Clone, Copy)]
enum ProcessState {
    Idle,
    Called(u32, Intent),
    Done(u32),
}

impl Workload {
    /// A container, and the priority of each value, which matters to priority queues only.
    pub fn container(&self, discipline: Discipline) -> (Log<Act>, Vec<u32>) {
        let mut priorities: Vec<u32> = Vec::new();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ 1);
        let mut line: VecDeque<u32> = VecDeque::new();
        let mut heap: BinaryHeap<(u32, u32)> = BinaryHeap::new();
        let is_heap = matches!(discipline, Discipline::Largest | Discipline::Smallest);
        let log = self.run((Act::Empty, 0), |intent| {
            if let Intent::Produce = intent {
                let value = priorities.len() as u32;
                priorities.push(random.random_range(0..u32::MAX));
                if is_heap {
                    heap.push((priorities[value as usize], value));
                } else {
                    line.push_back(value);
                }
                return (Act::Add, value);
            }
            let looks = matches!(intent, Intent::Look);
            let value = match (discipline, looks) {
                (Discipline::Largest | Discipline::Smallest, true) => heap.peek().map(|top| top.1),
                (Discipline::Largest | Discipline::Smallest, false) => heap.pop().map(|top| top.1),
                (Discipline::Lifo, true) => line.back().copied(),
                (Discipline::Lifo, false) => line.pop_back(),
                (_, true) => line.front().copied(),
                (_, false) => line.pop_front(),
            };
            match value {
                None => (Act::Empty, 0),
                Some(value) if looks => (Act::Peek, value),
                Some(value) => (Act::Remove, value),
            }
        });
        (log, priorities)
    }

    /// A register that producers write and consumers read. Every write is of another value; the first value is 0.
    pub fn register(&self) -> Log<Rw> {
        let (mut held, mut written) = (0, 0);
        self.run((Rw::Read, 0), |intent| match intent {
            Intent::Produce => {
                written += 1;
                held = written;
                (Rw::Write, held)
            }
            Intent::Consume | Intent::Look => (Rw::Read, held),
        })
    }

    /// A set that producers insert into and consumers delete from, keys drawn from `0..keys`; every key is inserted and
    /// deleted once, one after the other, if `keys` is `None`.
    pub fn set(&self, keys: Option<u32>) -> Log<Bit> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ 2);
        let mut on = vec![false; keys.unwrap_or(0) as usize];
        let mut fresh = 0;
        let mut line: VecDeque<u32> = VecDeque::new();
        self.run((Bit::SeesOff, 0), |intent| {
            let Some(keys) = keys else {
                return match intent {
                    Intent::Produce => {
                        line.push_back(fresh);
                        fresh += 1;
                        (Bit::TurnOn, fresh - 1)
                    }
                    Intent::Consume => match line.pop_front() {
                        Some(key) => (Bit::TurnOff, key),
                        None => (Bit::SeesOff, fresh),
                    },
                    Intent::Look => (Bit::SeesOff, fresh),
                };
            };
            let key = random.random_range(0..keys);
            let on = &mut on[key as usize];
            let act = match (intent, *on) {
                (Intent::Produce, false) => Bit::TurnOn,
                (Intent::Consume, true) => Bit::TurnOff,
                (_, true) => Bit::SeesOn,
                (_, false) => Bit::SeesOff,
            };
            match act {
                Bit::TurnOn => *on = true,
                Bit::TurnOff => *on = false,
                _ => {}
            }
            (act, key)
        })
    }

    /// Lets all processes take turns at random; `effect` happens at once and tells what it did.
    fn run<A: Copy>(
        &self,
        nothing: (A, u32),
        mut effect: impl FnMut(Intent) -> (A, u32),
    ) -> Log<A> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut acts = vec![nothing.0; self.ops];
        let mut values = vec![nothing.1; self.ops];
        let mut calls = vec![0; self.ops];
        let mut rets = vec![NEVER; self.ops];
        let mut states = vec![ProcessState::Idle; self.processes];
        let (mut called, mut returned, mut rank) = (0, 0, 0);
        while returned < self.ops {
            let process = random.random_range(0..self.processes);
            states[process] = match states[process] {
                ProcessState::Idle if called == self.ops => continue,
                ProcessState::Idle => {
                    let intent = if process % 2 == 0 {
                        Intent::Produce
                    } else if self.peek_percent > 0
                        && random.random_range(0..100) < self.peek_percent
                    {
                        Intent::Look
                    } else {
                        Intent::Consume
                    };
                    calls[called] = rank;
                    rank += 1;
                    called += 1;
                    ProcessState::Called(called as u32 - 1, intent)
                }
                ProcessState::Called(op, intent) => {
                    (acts[op as usize], values[op as usize]) = effect(intent);
                    ProcessState::Done(op)
                }
                ProcessState::Done(op) => {
                    rets[op as usize] = rank;
                    rank += 1;
                    returned += 1;
                    ProcessState::Idle
                }
            };
        }
        Log::new(acts, values, calls, rets)
    }
}
