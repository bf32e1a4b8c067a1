//! A queue in which no value is twice at a time.
//!
//! A value is *held* from the first return among its operations until a removal of it returns. What an open removal took
//! out is not known: it may be a held value, or nothing yet. Held values are kept in the order of their first returns. If an
//! insertion was called after that of another value had returned, then both are in this order.
//!
//! **Order.** When a removal returns `b`, everything that had been put in before the insertion of `b` was called must have been
//! taken out by then: it is *due*, with this moment as its deadline. So what is due is a beginning of the held values, with
//! deadlines that do not fall, and each needs a removal of its own that was called before its deadline. There are such removals
//! if and only if the i-th open removal, in the order of calls, was called before the i-th deadline, for all i: whatever the
//! assignment, i removals were called before that deadline, and giving the i-th removal to the i-th value puts no other
//! constraint on the others. A removal that returns a value that is due must have been called before its deadline itself.
//!
//! **Empty results.** A value that was taken out is *critical* from its first return to the call of the removal: then it is in the
//! queue whatever the order. An empty result needs a moment of its operation, a *gap* between two events, in which no value that
//! was taken out is critical and at least as many open removals had been called as values are held that had been put in: those
//! must all have been taken out. As before, the i-th of these values then goes to the i-th removal, so what several empty results
//! and the deadlines ask for never contradicts itself. (That a queue is linearizable if it is without its empty results and each of
//! them has a gap in no critical interval: Lee and Mathur, 2024, lemma 3.4.) Between two first returns the last gap is the best one,
//! and a gap that is no good never gets good again. Of gaps that follow the same held values, the last one is the best.
//!
//! **Reports** a violation at the event that makes it certain. A peek that sees a value is not understood.
//!
//! **Cost:** for each event, what is open and the logarithm of what is held. **Memory:** the values in the queue and what is open: of
//! the gaps no more are kept than removals are open. Following all of this event by event is ours.

mod cover;
mod gaps;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use self::cover::{Cover, Critical};
use self::gaps::Gaps;
use super::past::Past;
use super::{Observable, Online, Op, Stop, Time};
use crate::claim::Claim;
use crate::spec::Role;
use crate::value::Value;

/// Removals that never return may have taken anything, so empty results may wait for them for ever; no more than this.
const MOST_WAITING: usize = 1000;

/// A monitor of a queue.
pub(super) struct Queue<O: Observable> {
    /// Values whose insertion is pending, and which no removal has returned.
    coming: HashMap<Value, Op<O>>,
    /// Pending insertions whose value was taken out already, by their call, and who took it out.
    ahead: HashMap<Time, Op<O>>,
    /// What is in the queue unless an open removal took it out, by the first return.
    held: BTreeMap<Time, Held<O>>,
    /// When the held values were first returned.
    places: HashMap<Value, Time>,
    /// When the removals were called that are open, those included that will never return.
    removals: BTreeSet<Time>,
    /// The first ones of the held values: those that must have been taken out.
    due: Vec<Due<O>>,
    /// In which pending empty results can still take effect.
    gaps: Gaps,
    /// Empty results that are right only if open removals took values out.
    waiting: Vec<Waiting<O>>,
    cover: Cover<O>,
    past: Past<O>,
}

/// The insertion of a value that was taken out, and when the value was critical.
type Taken<O> = (Op<O>, Option<(Time, Time)>);

/// A value in the queue.
struct Held<O: Observable> {
    value: Value,
    add: Op<O>,
}

/// A held value that must have been taken out.
struct Due<O: Observable> {
    /// Its first return.
    first: Time,
    /// When it must have been taken out.
    deadline: Time,
    /// A value that was put in later and taken out then, its insertion and its removal.
    later: Value,
    later_add: Op<O>,
    by: Op<O>,
}

/// An empty result, and the gaps in which it can have taken effect.
struct Waiting<O: Observable> {
    op: Op<O>,
    until: Time,
    gaps: Gaps,
}

impl<O: Observable> Queue<O> {
    pub(super) fn new() -> Self {
        Queue {
            coming: HashMap::new(),
            ahead: HashMap::new(),
            held: BTreeMap::new(),
            places: HashMap::new(),
            removals: BTreeSet::new(),
            due: Vec::new(),
            gaps: Gaps::default(),
            waiting: Vec::new(),
            cover: Cover::new(),
            past: Past::new(),
        }
    }

    /// The insertion `op` of `value` returns.
    fn add(&mut self, op: &Op<O>, value: &Value, now: Time) {
        if self.ahead.remove(&op.called).is_some() {
            return;
        }
        self.coming.remove(value);
        self.gaps.push(now - 1, &self.held, &self.removals);
        self.places.insert(value.clone(), now);
        let held = Held {
            value: value.clone(),
            add: Op::clone(op),
        };
        self.held.insert(now, held);
    }

    /// `op` took `value` out.
    fn remove(&mut self, op: &Op<O>, value: &Value, now: Time) -> Result<(), Stop<O>> {
        self.removals.remove(&op.called);
        let (add, critical) = if let Some(add) = self.coming.remove(value) {
            self.ahead.insert(add.called, Op::clone(op));
            (add, None)
        } else if let Some(first) = self.places.remove(value) {
            self.take(first, op)?
        } else {
            let there = self.held.values().map(|held| &held.value);
            return Err(self.past.unknown(op, value, there));
        };
        self.past.add(value.clone(), Op::clone(op));
        self.demand(&add, value, op, now);
        self.check_due(op)?;
        self.narrow(critical, op)
    }

    /// Takes out what was first returned at `first`.
    fn take(&mut self, first: Time, op: &Op<O>) -> Result<Taken<O>, Stop<O>> {
        let Some(Held { value, add }) = self.held.remove(&first) else {
            unreachable!("bug: a held value has no place");
        };
        if let Ok(found) = self.due.binary_search_by_key(&first, |due| due.first) {
            let due = self.due.remove(found);
            if due.deadline < op.called {
                return Err(Stop::violation(Claim::Overtaken {
                    first: value,
                    second: due.later,
                    op: due.by,
                })
                .shown_by([add, due.later_add, Op::clone(op)]));
            }
        }
        if first >= op.called {
            return Ok((add, None));
        }
        self.cover.add(Critical {
            from: first,
            until: op.called,
            value,
            shown_by: [Op::clone(&add), Op::clone(op)],
        });
        Ok((add, Some((first, op.called))))
    }

    /// What was in the queue when the insertion of `value` was called must have been taken out by now.
    fn demand(&mut self, add: &Op<O>, value: &Value, by: &Op<O>, now: Time) {
        let last = self.due.last().map_or(0, |due| due.first);
        if last >= add.called {
            return;
        }
        // More than there are removals cannot have been taken out: one that was not is enough to know.
        let enough = self.removals.len() + 1;
        let earlier = self.held.range(last + 1..add.called).take(enough);
        self.due.extend(earlier.map(|(&first, _)| Due {
            first,
            deadline: now,
            later: value.clone(),
            later_add: Op::clone(add),
            by: Op::clone(by),
        }));
    }

    /// Whether open removals may have taken out all that is due. `op` is the one that is not open any more.
    fn check_due(&self, op: &Op<O>) -> Result<(), Stop<O>> {
        let mut removals = self.removals.iter();
        let too_late = |due: &&Due<O>| removals.next().is_none_or(|&call| due.deadline < call);
        let Some(due) = self.due.iter().find(too_late) else {
            return Ok(());
        };
        let in_time = self.removals.range(..due.deadline).count();
        let dues = self.due.iter().filter(|other| other.first <= due.first);
        let first: Vec<&Held<O>> = dues.filter_map(|due| self.held.get(&due.first)).collect();
        let claim = match first.last() {
            Some(held) if in_time == 0 => Claim::Overtaken {
                first: held.value.clone(),
                second: due.later.clone(),
                op: Op::clone(&due.by),
            },
            // Each by itself may have been taken out, but not all of them.
            _ => Claim::Contradiction {
                op: Op::clone(&due.by),
                others: first
                    .iter()
                    .map(|held| &held.add)
                    .chain([&due.later_add])
                    .map(Op::clone)
                    .collect(),
            },
        };
        let adds = first.iter().map(|held| Op::clone(&held.add));
        let now = (op.called != due.by.called).then_some(op);
        let shown_by = adds.chain([&due.later_add].into_iter().chain(now).map(Op::clone));
        Err(Stop::violation(claim).shown_by(shown_by))
    }

    /// A removal is no longer open, and what it took out was critical then: some gaps may be no good any more.
    fn narrow(&mut self, critical: Option<(Time, Time)>, op: &Op<O>) -> Result<(), Stop<O>> {
        let (held, removals) = (&self.held, &self.removals);
        self.gaps.narrow(critical, held, removals);
        for waiting in &mut self.waiting {
            waiting.gaps.narrow(critical, held, removals);
        }
        if let Some(waiting) = self.waiting.iter().find(|one| one.gaps.is_empty()) {
            let blocked = self.not_empty(&waiting.op, waiting.until);
            return Err(blocked.shown_by([Op::clone(op)]));
        }
        let held = &self.held;
        self.waiting
            .retain(|waiting| !waiting.gaps.is_settled(held));
        Ok(())
    }

    /// `op` found the queue empty.
    fn empty(&mut self, op: &Op<O>, now: Time) -> Result<(), Stop<O>> {
        if self.removals.remove(&op.called) {
            self.check_due(op)?;
            self.narrow(None, op)?;
        }
        let mut gaps = self.gaps.since(op.called);
        gaps.push(now - 1, &self.held, &self.removals);
        if gaps.is_empty() {
            return Err(self.not_empty(op, now));
        }
        let held = &self.held;
        let implies = |other: &Waiting<O>| other.gaps.imply(&gaps, held);
        if gaps.is_settled(held) || self.waiting.iter().any(implies) {
            return Ok(());
        }
        if self.waiting.len() >= MOST_WAITING {
            return Err(Stop::cannot_tell(
                "too much depends on what removals did that never returned",
            ));
        }
        self.waiting.push(Waiting {
            op: Op::clone(op),
            until: now,
            gaps,
        });
        Ok(())
    }

    /// The violation that the queue cannot have been empty at any moment of `op`, which returned at `until`.
    fn not_empty(&self, op: &Op<O>, until: Time) -> Stop<O> {
        // One of these was there since the last of them was put in.
        let most = self.removals.range(..until).count() + 1;
        let held: Vec<_> = self.held.range(..until).take(most).collect();
        let since = match held.last() {
            Some((first, _)) if held.len() == most => **first,
            _ => until,
        };
        let values = held.iter().filter(|_| since < until);
        let adds: Vec<Op<O>> = values
            .clone()
            .map(|(_, held)| Op::clone(&held.add))
            .collect();
        let values = values.map(|(_, held)| held.value.clone());
        match self.cover.all(op.called, since) {
            Some(critical) => {
                let shown_by: Vec<Op<O>> = critical
                    .iter()
                    .flat_map(|critical| critical.shown_by.iter().cloned())
                    .chain(adds)
                    .collect();
                let before = critical.iter().map(|critical| critical.value.clone());
                Stop::violation(Claim::NotEmpty {
                    op: Op::clone(op),
                    values: before.chain(values).collect(),
                })
                .shown_by(shown_by)
            }
            // What was there has been forgotten in part.
            None => Stop::violation(Claim::Contradiction {
                op: Op::clone(op),
                others: Vec::new(),
            })
            .shown_by(adds),
        }
    }
}

impl<O: Observable> Online<O> for Queue<O> {
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        match &op.pending_role {
            Role::Adds(value) => {
                if self.coming.contains_key(value) || self.places.contains_key(value) {
                    return Err(Stop::cannot_tell(format!(
                        "{op} puts in what may still be there from before"
                    )));
                }
                self.coming.insert(value.clone(), Op::clone(op));
            }
            Role::RemovesSome => {
                self.removals.insert(op.called);
            }
            Role::Opaque => {}
            _ => {
                return Err(Stop::cannot_tell(format!(
                    "what {op} does cannot be watched"
                )));
            }
        }
        Ok(())
    }

    fn ret(&mut self, op: &Op<O>, role: &Role, now: Time) -> Result<(), Stop<O>> {
        match role {
            Role::Adds(value) => {
                self.add(op, value, now);
                Ok(())
            }
            Role::Removes(value) => self.remove(op, value, now),
            Role::Empty => self.empty(op, now),
            _ => Err(Stop::cannot_tell(format!(
                "what {op} tells cannot be watched"
            ))),
        }
    }

    fn fail(&mut self, op: &Op<O>, _: Time) -> Result<(), Stop<O>> {
        if let Role::Adds(value) = &op.pending_role {
            let Some(by) = self.ahead.remove(&op.called) else {
                self.coming.remove(value);
                return Ok(());
            };
            let there = self.held.values().map(|held| &held.value);
            let claim = self.past.never_put(&by, value, there);
            return Err(Stop::violation(claim).since_failed(op));
        }
        if !self.removals.remove(&op.called) {
            return Ok(());
        }
        let settled = self.check_due(op).and_then(|()| self.narrow(None, op));
        settled.map_err(|stop| stop.since_failed(op))
    }

    fn crash(&mut self, op: &Op<O>) {
        self.ahead.remove(&op.called);
    }
}
