//! A counter that grows by the same amount each time, and is read.
//!
//! **Decides**, at the first event that cannot be explained, by the lazy rule of [`bits`](super::bits) with a number as the
//! state: an increment takes effect when it must return, or when a read shows that some increment has (see
//! [`takes`](super::takes)). So the count is at all times the least possible, and it passes through all numbers: a read is
//! right if the number that it saw is not below the count at its call, and enough increments are open to reach it.
//!
//! Increments that answer the count tell which step they made; they may be watched too, but not together with those that
//! do not.
//!
//! **Cost:** for each event, the increments that must have happened and are open. **Memory:** the number of increments that
//! have taken effect, and the pending operations. That is enough: operations that have returned constrain later ones only
//! through that number. Ours.

use std::collections::HashMap;

use super::takes::Takes;
use super::{Observable, Online, Op, Stop, Time};
use crate::spec::Role;

/// A monitor of a counter.
pub(super) struct Counter<O: Observable> {
    initial: i64,
    /// How much every increment adds, once there was one.
    by: Option<i64>,
    /// Whether increments tell the count, once one has returned.
    telling: Option<bool>,
    /// How many increments have taken effect.
    steps: u64,
    /// The return that forced the last of them.
    last: Option<Op<O>>,
    takes: Takes<O>,
    /// Which of the steps each of the takes is; as many, in the same order.
    taken_steps: Vec<u64>,
    /// The open reads, by their calls, with the number of steps at that time.
    reads: HashMap<Time, u64>,
}

impl<O: Observable> Counter<O> {
    pub(super) fn new(initial: i64) -> Self {
        Counter {
            initial,
            by: None,
            telling: None,
            steps: 0,
            last: None,
            takes: Takes::new(),
            taken_steps: Vec::new(),
            reads: HashMap::new(),
        }
    }

    /// After how many steps the count is `seen`.
    fn steps_to(&self, seen: i64, op: &Op<O>) -> Result<u64, Stop<O>> {
        let distance = i128::from(seen) - i128::from(self.initial);
        let by = i128::from(self.by.unwrap_or(1));
        let steps = u64::try_from(distance / by).ok();
        steps.filter(|_| distance % by == 0 && distance >= 0).ok_or_else(|| {
            let amount = self.by.map_or("nothing".to_owned(), |by| by.to_string());
            let sentence = format!(
                "{op} is impossible: the count began with {}, and all that was ever added at a time is {amount}",
                self.initial
            );
            Stop::violation(op, [], sentence)
        })
    }

    /// The return of `op` shows that so many steps were made.
    fn reach(&mut self, steps: u64, op: &Op<O>, now: Time) -> Result<(), Stop<O>> {
        let before = self.last.clone();
        while self.steps < steps {
            if self.takes.take(now, op).is_err() {
                let sentence = format!(
                    "{op} is impossible: too few increments were called for the count to be that high"
                );
                return Err(Stop::violation(op, before, sentence));
            }
            self.taken_steps.push(self.steps);
            self.step(op);
        }
        Ok(())
    }

    fn step(&mut self, op: &Op<O>) {
        self.steps += 1;
        self.last = Some(Op::clone(op));
    }

    fn read(&mut self, op: &Op<O>, seen: i64, now: Time) -> Result<(), Stop<O>> {
        let at_call = self.reads.remove(&op.called).unwrap_or(0);
        let steps = self.steps_to(seen, op)?;
        if steps < at_call {
            let sentence = format!(
                "{op} is impossible: when it was called the count was higher already, at least {}",
                self.count_after(at_call)
            );
            return Err(Stop::violation(op, self.last.clone(), sentence));
        }
        self.reach(steps, op, now)
    }

    fn count_after(&self, steps: u64) -> i128 {
        i128::from(self.initial) + i128::from(steps) * i128::from(self.by.unwrap_or(1))
    }

    /// An increment returns that made whichever step.
    fn incremented(&mut self, op: &Op<O>) {
        match self.takes.settle(op) {
            Some(which) => {
                self.taken_steps.remove(which);
            }
            None => self.step(op),
        }
    }

    /// An increment returns that found the count at `seen`.
    fn incremented_from(&mut self, op: &Op<O>, seen: i64, now: Time) -> Result<(), Stop<O>> {
        let step = self.steps_to(seen, op)?;
        if step >= self.steps {
            self.dismiss(op)?;
            self.reach(step, op, now)?;
            self.step(op);
            return Ok(());
        }
        let found = self.taken_steps.binary_search(&step).ok();
        match found.filter(|&which| self.takes.is_before(op, which)) {
            Some(which) => {
                self.taken_steps.remove(which);
                let left = self.takes.settle_with(op, which);
                left.map_err(|shown_by| too_few_left(&shown_by, op))
            }
            None => {
                let sentence = format!(
                    "{op} is impossible: when it was called the count was higher already, or another increment found the same"
                );
                Err(Stop::violation(op, self.last.clone(), sentence))
            }
        }
    }

    fn dismiss(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        let left = self.takes.dismiss(op);
        left.map_err(|shown_by| too_few_left(&shown_by, op))
    }
}

fn too_few_left<O: Observable>(shown_by: &Op<O>, op: &Op<O>) -> Stop<O> {
    let sentence = format!(
        "{shown_by} is impossible: too few increments took effect before it, for {op} was none of them"
    );
    Stop::violation(shown_by, [Op::clone(op)], sentence)
}

/// What `op` adds.
fn amount<O: Observable>(op: &Op<O>) -> Result<i64, Stop<O>> {
    match op.pending_role {
        Role::Counts { by, .. } => Ok(by),
        _ => Err(Stop::cannot_tell(format!(
            "what {op} does cannot be watched"
        ))),
    }
}

impl<O: Observable> Online<O> for Counter<O> {
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        match amount(op)? {
            0 => {
                self.reads.insert(op.called, self.steps);
                Ok(())
            }
            by if by > 0 && *self.by.get_or_insert(by) == by => {
                self.takes.call(op);
                let most = self.steps + self.takes.open() as u64;
                if self.count_after(most) > i128::from(i64::MAX) {
                    return Err(Stop::cannot_tell("the count may wrap around"));
                }
                Ok(())
            }
            _ => Err(Stop::cannot_tell(format!(
                "{op} does not add what others added: only a counter that grows by the same amount each time can be watched"
            ))),
        }
    }

    fn ret(&mut self, op: &Op<O>, role: &Role, now: Time) -> Result<(), Stop<O>> {
        let &Role::Counts { by, seen } = role else {
            return Err(Stop::cannot_tell(format!(
                "what {op} tells cannot be watched"
            )));
        };
        match (by, seen) {
            (0, Some(seen)) => return self.read(op, seen, now),
            (0, None) => {
                self.crash(op);
                return Ok(());
            }
            _ => {}
        }
        if *self.telling.get_or_insert(seen.is_some()) != seen.is_some() {
            return Err(Stop::cannot_tell(
                "some increments answer the count, others do not",
            ));
        }
        match seen {
            Some(seen) => self.incremented_from(op, seen, now),
            None => {
                self.incremented(op);
                Ok(())
            }
        }
    }

    fn fail(&mut self, op: &Op<O>, _: Time) -> Result<(), Stop<O>> {
        match amount(op)? {
            0 => {
                self.crash(op);
                Ok(())
            }
            _ => self.dismiss(op),
        }
    }

    fn crash(&mut self, op: &Op<O>) {
        self.reads.remove(&op.called);
    }
}
