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

use std::collections::{HashMap, VecDeque};

use super::takes::{Take, Takes};
use super::{EXPLAINED, Observable, Online, Op, Stop, Time};
use crate::claim::{Change, Claim};
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
    takes: Takes<O, Shown>,
    /// The open operations, by their calls.
    open: HashMap<Time, AtCall<O>>,
    /// The last increments that told which step they made. They decide nothing, but explain one that tells the same.
    told: VecDeque<(u64, Op<O>)>,
}

/// What a take shows.
#[derive(Clone)]
struct Shown {
    /// How many steps were made before it.
    step: u64,
    /// The count that the operation saw.
    seen: i64,
}

/// What was known of the count when an operation was called.
struct AtCall<O: Observable> {
    /// How many increments had taken effect.
    steps: u64,
    /// How many of these had returned.
    returned: u64,
    /// The return that forced the last of them.
    last: Option<Op<O>>,
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
            open: HashMap::new(),
            told: VecDeque::new(),
        }
    }

    /// After how many steps the count is `seen`.
    fn steps_to(&self, seen: i64, op: &Op<O>) -> Result<u64, Stop<O>> {
        let Some(by) = self.by else {
            return match seen == self.initial {
                true => Ok(0),
                false => Err(too_high(op, seen, i128::from(self.initial))),
            };
        };
        let distance = i128::from(seen) - i128::from(self.initial);
        let steps = u64::try_from(distance / i128::from(by)).ok();
        let steps = steps.filter(|_| distance % i128::from(by) == 0);
        steps.ok_or_else(|| {
            Stop::violation(Claim::BetweenSteps {
                op: Op::clone(op),
                count: seen,
                initial: self.initial,
                by,
            })
        })
    }

    /// The return of `op`, which saw this count, shows that so many steps were made.
    fn reach(&mut self, steps: u64, seen: i64, op: &Op<O>, now: Time) -> Result<(), Stop<O>> {
        let most = self.most_steps();
        if steps > most {
            return Err(too_high(op, seen, self.count_after(most)));
        }
        while self.steps < steps {
            let step = self.steps;
            if self.takes.take(now, op, Shown { step, seen }).is_err() {
                break;
            }
            self.step(op);
        }
        Ok(())
    }

    /// How many steps there are if all open increments have taken effect.
    fn most_steps(&self) -> u64 {
        self.steps + (self.takes.open() - self.takes.unassigned()) as u64
    }

    fn step(&mut self, op: &Op<O>) {
        self.steps += 1;
        self.last = Some(Op::clone(op));
    }

    fn read(&mut self, op: &Op<O>, seen: i64, now: Time) -> Result<(), Stop<O>> {
        let at_call = self.open.remove(&op.called);
        if let Some(stop) = at_call.and_then(|at_call| self.too_low(op, seen, &at_call)) {
            return Err(stop);
        }
        let steps = self.steps_to(seen, op)?;
        self.reach(steps, seen, op, now)
    }

    /// The violation that `op` saw a lower count than there was when it was called, if that is so.
    fn too_low(&self, op: &Op<O>, seen: i64, at_call: &AtCall<O>) -> Option<Stop<O>> {
        let least = i64::try_from(self.count_after(at_call.steps)).ok()?;
        if seen >= least {
            return None;
        }
        let (op, count) = (Op::clone(op), seen);
        let claim = match &at_call.last {
            Some(last) if at_call.returned < at_call.steps => Claim::CountFell {
                op,
                count,
                least,
                since: Op::clone(last),
            },
            _ => Claim::CountTooLow {
                op,
                count,
                least,
                raised: at_call.returned as usize,
            },
        };
        Some(Stop::violation(claim).shown_by(at_call.last.clone()))
    }

    fn count_after(&self, steps: u64) -> i128 {
        i128::from(self.initial) + i128::from(steps) * i128::from(self.by.unwrap_or(1))
    }

    /// An increment returns that made whichever step.
    fn incremented(&mut self, op: &Op<O>) {
        if !self.takes.settle(op) {
            self.step(op);
        }
    }

    /// An increment returns that found the count at `seen`.
    fn incremented_from(
        &mut self,
        op: &Op<O>,
        seen: i64,
        at_call: Option<&AtCall<O>>,
        now: Time,
    ) -> Result<(), Stop<O>> {
        let too_low = at_call.and_then(|at_call| self.too_low(op, seen, at_call));
        if seen < self.initial
            && let Some(stop) = too_low
        {
            return Err(stop);
        }
        let step = self.steps_to(seen, op)?;
        if step >= self.steps {
            self.dismiss(op)?;
            self.reach(step, seen, op, now)?;
            self.step(op);
            self.remember(step, op);
            return Ok(());
        }
        match self.takes.find(|shown| shown.step == step) {
            Some(which) if self.takes.is_before(op, which) => {
                self.remember(step, op);
                let left = self.takes.settle_with(op, which);
                left.map_err(|take| none_left(op, take))
            }
            Some(_) => Err(too_low.unwrap_or_else(|| self.told_before(op, step, seen))),
            None => Err(self.told_before(op, step, seen)),
        }
    }

    fn remember(&mut self, step: u64, op: &Op<O>) {
        if self.told.len() == EXPLAINED {
            self.told.pop_front();
        }
        self.told.push_back((step, Op::clone(op)));
    }

    /// The violation that `op` tells a step that another increment has made.
    fn told_before(&self, op: &Op<O>, step: u64, count: i64) -> Stop<O> {
        let same = self.told.iter().find(|(told, _)| *told == step);
        let op = Op::clone(op);
        Stop::violation(match same {
            Some((_, other)) => Claim::CountedTwice {
                op,
                other: Op::clone(other),
                count,
            },
            None => Claim::Contradiction {
                op,
                others: self.last.iter().cloned().collect(),
            },
        })
    }

    fn dismiss(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        let left = self.takes.dismiss(op);
        left.map_err(|take| match op.result() {
            Some(_) => none_left(op, take),
            None => {
                let Take { shown_by, note, .. } = take;
                too_high(&shown_by, note.seen, self.count_after(note.step)).since_failed(op)
            }
        })
    }
}

/// The violation that an operation was none of those that must have taken effect before another one returned.
fn none_left<O: Observable>(op: &Op<O>, take: Take<O, Shown>) -> Stop<O> {
    Stop::violation(Claim::NoOther {
        op: Op::clone(op),
        shown_by: take.shown_by,
        change: Change::Raised,
    })
}

/// The violation that `op` saw a higher count than there can have been.
fn too_high<O: Observable>(op: &Op<O>, count: i64, most: i128) -> Stop<O> {
    let op = Op::clone(op);
    Stop::violation(match i64::try_from(most) {
        Ok(most) => Claim::CountTooHigh { op, count, most },
        Err(_) => Claim::Contradiction {
            op,
            others: Vec::new(),
        },
    })
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
        let at_call = AtCall {
            steps: self.steps,
            returned: self.steps - self.takes.unassigned() as u64,
            last: self.last.clone(),
        };
        self.open.insert(op.called, at_call);
        match amount(op)? {
            0 => Ok(()),
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
        let at_call = self.open.remove(&op.called);
        if *self.telling.get_or_insert(seen.is_some()) != seen.is_some() {
            return Err(Stop::cannot_tell(
                "some increments answer the count, others do not",
            ));
        }
        match seen {
            Some(seen) => self.incremented_from(op, seen, at_call.as_ref(), now),
            None => {
                self.incremented(op);
                Ok(())
            }
        }
    }

    fn fail(&mut self, op: &Op<O>, _: Time) -> Result<(), Stop<O>> {
        self.open.remove(&op.called);
        match amount(op)? {
            0 => Ok(()),
            _ => self.dismiss(op),
        }
    }

    fn crash(&mut self, op: &Op<O>) {
        self.open.remove(&op.called);
    }
}
