//! Decides a class of executions: does every execution that differs from a given one only in the order of independent steps
//! have a serial witness?
//!
//! All executions of a class have the same results. They differ in which operations had returned when another one was
//! called. The decision runs none of them; it searches the orders of returns that respect the causal order of the
//! returning steps:
//!
//! * An operation is called only when a step that must precede a return requires it. A later call makes the history harder
//!   to explain, so no violation is missed.
//! * A return removes the serial orders in which an operation that is not yet called precedes the returning one.
//! * If no serial order is left, the returns so far begin a schedule without a witness.
//!
//! States with the same returns and the same remaining serial orders are visited once.

use std::collections::HashSet;

use smallvec::SmallVec;

use super::serial::{Group, Orders, Serial};
use crate::runtime::MAX_WORKERS;
use crate::runtime::causality::Past;
use crate::runtime::execution::{Choice, Outcome, Trace};

/// A number of operations for each thread.
type Counts = [u8; MAX_WORKERS];

/// A class of executions without a serial witness.
#[derive(Debug)]
pub(crate) struct Violating {
    /// A schedule of an execution of the class that has no witness.
    pub(crate) schedule: Vec<Choice>,
}

/// Decides classes of executions, each once.
#[derive(Debug, Default)]
pub(crate) struct Extensions {
    explained: HashSet<Past, foldhash::fast::FixedState>,
    results: Vec<Outcome>,
}

impl Extensions {
    /// Decides the class of an execution that has ended. Returns an error if an execution of the class has no serial witness.
    pub(crate) fn explained(&mut self, serial: &Serial, trace: &Trace) -> Result<(), Violating> {
        let class = Class::of(trace);
        let key = class.key(trace);
        if self.explained.contains(&key) {
            return Ok(());
        }
        let history = trace.history();
        if history.stuck {
            for op in history.pending() {
                history.only_pending(op, &mut self.results);
                let group = serial.stuck.get(self.results.as_slice());
                class.decide(trace, group)?;
            }
        } else {
            let group = serial.full.get(history.outcomes.as_slice());
            class.decide(trace, group)?;
        }
        self.explained.insert(key);
        Ok(())
    }
}

/// The calls and returns that must precede each return in every execution of the class.
struct Class {
    /// The returns of each thread, in program order.
    returns: Vec<SmallVec<[Return; 4]>>,
}

struct Return {
    op: usize,
    /// The step with the return.
    step: usize,
    /// How many calls and returns of each thread must precede it.
    calls: Counts,
    returns: Counts,
}

impl Class {
    fn of(trace: &Trace) -> Self {
        let threads = trace.layout().threads.len();
        // For each thread, the numbers of the steps with its calls and with its returns.
        let mut call_steps = vec![SmallVec::<[u16; 8]>::new(); threads];
        let mut return_steps = vec![SmallVec::<[(u16, usize); 8]>::new(); threads];
        let mut called = 0u64;
        for (position, step) in trace.steps().iter().enumerate() {
            let thread = usize::from(step.thread);
            if !step.blocked && called & 1 << step.op == 0 {
                called |= 1 << step.op;
                call_steps[thread].push(step.number);
            }
            if step.returns {
                return_steps[thread].push((step.number, position));
            }
        }
        let returns = (0..threads).map(|thread| {
            let base = trace.layout().base(thread);
            let returns = return_steps[thread]
                .iter()
                .enumerate()
                .map(|(index, &(_, step))| {
                    let clock = trace.clock_of(step);
                    let (mut calls, mut returns) = (Counts::default(), Counts::default());
                    for other in 0..threads {
                        let known = clock.0[other];
                        calls[other] =
                            call_steps[other].iter().filter(|&&n| n <= known).count() as u8;
                        returns[other] = return_steps[other]
                            .iter()
                            .filter(|&&(n, _)| n <= known)
                            .count() as u8;
                    }
                    returns[thread] = index as u8;
                    Return {
                        op: base + index,
                        step,
                        calls,
                        returns,
                    }
                });
            returns.collect()
        });
        Class {
            returns: returns.collect(),
        }
    }

    /// A hash of all that the decision depends on.
    fn key(&self, trace: &Trace) -> Past {
        let mut key = Past::default().then(u64::from(trace.history().stuck));
        for outcome in &trace.history().outcomes {
            key = key.then(u64::from(outcome.0));
        }
        for ret in self.returns.iter().flatten() {
            key = key.then(u64::from_le_bytes(ret.calls));
            key = key.then(u64::from_le_bytes(ret.returns));
        }
        key
    }

    fn decide(&self, trace: &Trace, group: Option<&Group>) -> Result<(), Violating> {
        let Some(group) = group else {
            return Err(Violating {
                schedule: trace.schedule().to_vec(),
            });
        };
        let mut walk = Walk {
            class: self,
            group,
            layout_masks: masks(trace),
            seen: HashSet::default(),
            path: Vec::new(),
        };
        match walk.violates(Counts::default(), Counts::default(), &group.all()) {
            false => Ok(()),
            true => Err(Violating {
                schedule: schedule(trace, &walk.path),
            }),
        }
    }
}

/// For each thread and each n, the mask of its first n operations and of the initial sequence.
fn masks(trace: &Trace) -> Vec<SmallVec<[u64; 8]>> {
    let layout = trace.layout();
    let init = (1u64 << layout.init) - 1;
    (0..layout.threads.len())
        .map(|thread| {
            let base = layout.base(thread);
            (0..=layout.threads[thread])
                .map(|count| init | (((1u128 << count) - 1) << base) as u64)
                .collect()
        })
        .collect()
}

/// A depth-first search over the orders of returns.
struct Walk<'a> {
    class: &'a Class,
    group: &'a Group,
    layout_masks: Vec<SmallVec<[u64; 8]>>,
    /// The states that were visited: the number of returns of each thread, and the serial orders that are left.
    seen: HashSet<(Counts, Orders), foldhash::fast::FixedState>,
    /// The steps with the returns up to the present state.
    path: Vec<usize>,
}

impl Walk<'_> {
    /// Whether a state without a serial order can be reached. If so, `path` leads to it.
    fn violates(&mut self, returned: Counts, called: Counts, survivors: &Orders) -> bool {
        let class = self.class;
        for (thread, returns) in class.returns.iter().enumerate() {
            let Some(next) = returns.get(usize::from(returned[thread])) else {
                continue;
            };
            if next
                .returns
                .iter()
                .zip(returned)
                .any(|(&needed, there)| needed > there)
            {
                continue;
            }
            let mut called = called;
            let mut mask = 0;
            for (other, masks) in self.layout_masks.iter().enumerate() {
                called[other] = called[other].max(next.calls[other]);
                mask |= masks[usize::from(called[other])];
            }
            let mut left = survivors.clone();
            for (before, orders) in self.group.prefixes(next.op) {
                if before & !mask != 0 {
                    for (left, orders) in left.iter_mut().zip(orders) {
                        *left &= !orders;
                    }
                }
            }
            self.path.push(next.step);
            if left.iter().all(|&word| word == 0) {
                return true;
            }
            let mut returned = returned;
            returned[thread] += 1;
            if self.seen.insert((returned, left.clone())) && self.violates(returned, called, &left)
            {
                return true;
            }
            self.path.pop();
        }
        false
    }
}

/// Returns the schedule in which these steps come in this order, each as early as its causes allow.
fn schedule(trace: &Trace, path: &[usize]) -> Vec<Choice> {
    let steps = trace.steps();
    let mut order: Vec<usize> = Vec::with_capacity(steps.len());
    let mut done = vec![false; steps.len()];
    for &target in path {
        for step in 0..=target {
            if !done[step] && !steps[step].blocked && trace.happened_before(step, target) {
                done[step] = true;
                order.push(step);
            }
        }
    }
    let acted = |op: u32| steps.iter().any(|step| step.op == op && !step.blocked);
    // Then the other steps, and at the end the calls of operations that were blocked at their first step.
    order.extend((0..steps.len()).filter(|&step| !done[step] && !steps[step].blocked));
    order.extend((0..steps.len()).filter(|&step| steps[step].blocked && !acted(steps[step].op)));
    let mut schedule = Vec::with_capacity(order.len());
    for step in order {
        schedule.push(Choice::Thread(steps[step].thread));
        schedule.extend(steps[step].pick.map(Choice::Pick));
    }
    schedule
}
