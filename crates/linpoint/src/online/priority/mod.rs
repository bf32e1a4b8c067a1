//! A priority queue in which no value is twice at a time.
//!
//! A value is *critical* from the first return among its operations up to the last call among them if it was taken out,
//! and for ever if not: then it is there whatever the order. **Follows** Lee and Mathur (2024): apart from what is wrong
//! with single values, a history is linearizable exactly if every removal, peek and empty result has a moment within its
//! window at which no value that should have been served instead is critical.
//!
//! What is found at a return may change later. A poll that is open may turn out to have taken a value out that was in the
//! way, and a peek that is open may turn out to have seen a value that was gone. So an operation that has returned is
//! *waiting* while only values block it that open polls may have taken; if they are more than these polls it is a
//! violation at once. An operation that has found its moment is kept as long as a peek is open that was called after it.
//!
//! **Reports** a violation at the latest when all operations have returned that were open when it became certain:
//! waiting operations are looked at one by one, not at what they ask of the open polls together.
//!
//! **Cost:** for each return, what blocks the operation, and what is waiting for it. **Memory:** the values in the queue,
//! what is open, and what happened since the call of the oldest poll or peek that is open. The condition is that of Lee and
//! Mathur; deciding it event by event is ours.

mod values;
mod want;

use std::collections::BTreeSet;

pub(super) use self::values::Served;
use self::values::{Peeked, Values};
use self::want::{Judgement, Want};
use super::{Observable, Online, Op, Stop, Time};
use crate::history::precedes;
use crate::spec::Role;
use crate::value::Value;

/// Polls that never return may have taken anything, so operations may wait for them for ever; no more than this.
const MOST_WAITING: usize = 1000;

/// A monitor of a priority queue.
pub(super) struct Priority<O: Observable> {
    values: Values<O>,
    /// When the open polls and peeks were called.
    polls: BTreeSet<Time>,
    peeks: BTreeSet<Time>,
    /// When polls were called that will never return.
    crashed_polls: BTreeSet<Time>,
    waiting: Vec<Waiting<O>>,
    /// Those that have found a moment.
    fine: Vec<(Want<O>, Moment)>,
    /// How many of these were left when they were last swept: that is done when they have doubled.
    fine_left: usize,
}

/// An operation, and the values in the queue that open polls must have taken for it to be right.
struct Waiting<O: Observable> {
    want: Want<O>,
    needs: Vec<Value>,
}

/// A moment at which nothing blocks an operation, and when it was found.
struct Moment {
    gap: Time,
    found: Time,
}

/// What a return, or a failure, may have changed for operations that returned before.
struct Change {
    /// When the operation was called that is no longer open.
    called: Time,
    /// The value that it was about, and the first return on that value.
    value: Option<(Value, Time)>,
    /// Between which calls the value turned out to have been there still.
    moved: Option<(Time, Time)>,
}

impl<O: Observable> Priority<O> {
    pub(super) fn new(served: Served) -> Self {
        Priority {
            values: Values::new(served),
            polls: BTreeSet::new(),
            peeks: BTreeSet::new(),
            crashed_polls: BTreeSet::new(),
            waiting: Vec::new(),
            fine: Vec::new(),
            fine_left: 0,
        }
    }

    fn judge(&self, want: &Want<O>) -> Judgement {
        want.judge(&self.values, || {
            let mut polls: Vec<Time> = self.open_polls(want).copied().collect();
            polls.sort_unstable();
            polls
        })
    }

    /// When the polls were called that are open, and were when `want` returned.
    fn open_polls(&self, want: &Want<O>) -> impl Iterator<Item = &Time> {
        let open = self.polls.range(..want.until);
        open.chain(self.crashed_polls.range(..want.until))
    }

    fn blocked(&self, want: &Want<O>) -> Stop<O> {
        want.blocked(&self.values, self.open_polls(want).count())
    }

    /// Judges an operation that returns now.
    fn begin(&mut self, want: Want<O>, now: Time) -> Result<(), Stop<O>> {
        match self.judge(&want) {
            Judgement::Fine(gap) => self.found(want, Moment { gap, found: now }),
            Judgement::Blocked => return Err(self.blocked(&want)),
            Judgement::Waits(needs) => {
                let blocks = self.values.held_above(want.value.as_ref());
                let blocks: Vec<&Value> = blocks.map(|(value, _)| value).collect();
                // If all that one needs has happened by its time, then by now: nothing else blocks this one right before
                // its return. So if this one is wrong, so is that one.
                let implies = |other: &Waiting<O>| contains_all(&other.needs, &blocks);
                if !self.waiting.iter().rev().take(4).any(implies) {
                    self.waiting.push(Waiting { want, needs });
                }
            }
        }
        if self.waiting.len() > MOST_WAITING {
            return Err(Stop::cannot_tell(
                "too much depends on what polls did that never returned",
            ));
        }
        Ok(())
    }

    fn found(&mut self, want: Want<O>, moment: Moment) {
        if self.may_change(&moment) {
            self.fine.push((want, moment));
        }
    }

    /// Only a peek that was called after the moment, and before it was found, can still show that something was there.
    fn may_change(&self, moment: &Moment) -> bool {
        self.peeks
            .range(moment.gap + 1..moment.found)
            .next()
            .is_some()
    }

    /// Looks again at those that returned before.
    fn settle(&mut self, change: &Change, now: Time) -> Result<(), Stop<O>> {
        let mut again = Vec::new();
        if let Some((from, until)) = change.moved {
            let stay = self
                .fine
                .extract_if(.., |(_, moment)| (from..until).contains(&moment.gap));
            again.extend(stay.map(|(want, _)| want));
        }
        let values = &self.values;
        let concerned = self.waiting.extract_if(.., |Waiting { want, .. }| {
            let value = change.value.as_ref();
            let is_blocked = value.is_some_and(|(value, first)| {
                *first < want.until && values.is_above(value, want.value.as_ref())
            });
            !precedes(want.until, change.called) || is_blocked
        });
        again.extend(concerned.map(|waiting| waiting.want));
        for mut want in again {
            want.narrow(&self.values);
            match self.judge(&want) {
                Judgement::Fine(gap) => self.found(want, Moment { gap, found: now }),
                Judgement::Waits(needs) => self.waiting.push(Waiting { want, needs }),
                Judgement::Blocked => return Err(self.blocked(&want)),
            }
        }
        self.forget();
        Ok(())
    }

    /// Forgets what is settled, now and then.
    fn forget(&mut self) {
        if values::is_worth_sweeping(self.fine.len(), self.fine_left) {
            let mut fine = std::mem::take(&mut self.fine);
            fine.retain(|(_, moment)| self.may_change(moment));
            self.fine = fine;
            self.fine_left = self.fine.len();
        }
        let oldest_peek = self.peeks.first().copied().unwrap_or(Time::MAX);
        let (waiting, fine) = (&self.waiting, &self.fine);
        let oldest_poll = self.polls.first().copied();
        self.values.forget(oldest_peek, || {
            let waiting = waiting.iter().map(|waiting| waiting.want.from);
            let wants = waiting.chain(fine.iter().map(|(want, _)| want.from));
            wants
                .chain(oldest_poll)
                .min()
                .unwrap_or(Time::MAX)
                .min(oldest_peek)
        });
    }

    fn close(&mut self, op: &Op<O>) {
        self.polls.remove(&op.called);
        self.peeks.remove(&op.called);
    }
}

/// Whether `many` has all of `few`; both are in the order in which they would be served.
fn contains_all(many: &[Value], few: &[&Value]) -> bool {
    let mut many = many.iter();
    few.iter().all(|few| many.any(|value| value == *few))
}

impl<O: Observable> Online<O> for Priority<O> {
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        match &op.pending_role {
            Role::Adds(value) => return self.values.announce(op, value),
            Role::RemovesSome => {
                self.polls.insert(op.called);
            }
            Role::Opaque => {
                self.peeks.insert(op.called);
            }
            _ => {
                return Err(Stop::cannot_tell(format!(
                    "what {op} does cannot be watched"
                )));
            }
        }
        Ok(())
    }

    fn ret(&mut self, op: &Op<O>, role: &Role, now: Time) -> Result<(), Stop<O>> {
        self.close(op);
        let mut change = Change {
            called: op.called,
            value: None,
            moved: None,
        };
        let want = match role {
            Role::Adds(value) => {
                self.values.add(op, value, now);
                return Ok(());
            }
            Role::Removes(value) => {
                let life = self.values.remove(op, value, now)?;
                change.value = Some((value.clone(), life.first.0));
                Some(Want::poll(op, value, life, now))
            }
            Role::Peeks(value) => {
                let Peeked { first, moved } = self.values.peek(op, value, now)?;
                change.value = Some((value.clone(), first));
                change.moved = moved;
                // One that outlives the removal has a moment if the removal has one: that must come later.
                let held = self.values.held(value);
                held.map(|life| Want::peek(op, value, life, now))
            }
            Role::Empty => Some(Want::empty(op, now)),
            _ => {
                return Err(Stop::cannot_tell(format!(
                    "what {op} tells cannot be watched"
                )));
            }
        };
        if let Some(want) = want {
            self.begin(want, now)?;
        }
        // What this operation did not take was there.
        let settled = self.settle(&change, now);
        settled.map_err(|stop| stop.shown_by([Op::clone(op)]))
    }

    fn fail(&mut self, op: &Op<O>, now: Time) -> Result<(), Stop<O>> {
        self.close(op);
        if let Role::Adds(value) = &op.pending_role {
            return self.values.retract(op, value);
        }
        let change = Change {
            called: op.called,
            value: None,
            moved: None,
        };
        let settled = self.settle(&change, now);
        settled.map_err(|stop| stop.since_failed(op))
    }

    fn crash(&mut self, op: &Op<O>) {
        if self.polls.remove(&op.called) {
            self.crashed_polls.insert(op.called);
        }
        self.peeks.remove(&op.called);
    }

    fn is_unsettled(&self) -> bool {
        !self.waiting.is_empty()
    }
}
