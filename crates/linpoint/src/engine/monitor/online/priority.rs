//! A priority queue in which no value is twice at a time.
//!
//! A value is *critical* from the first return among its operations (`first`) up to the last call among them (`latest`)
//! if it was taken out, and for ever if not: then it is there whatever the order. **Follows** Lee and Mathur (2024): apart
//! from what is wrong with single values, a history is linearizable exactly if every removal, peek and empty result has a
//! moment within its window at which no value that should have been served instead is critical.
//!
//! What is found at a return may change later. A poll that is open may turn out to have taken a value out that was in the
//! way, and a peek that is open may turn out to have seen a value that was gone. So an operation that has returned is
//! *waiting* while only values block it that open polls may have taken; if they are more than these polls it is a
//! violation at once. An operation that has found its moment is kept until the peeks that were open then have returned.
//!
//! **Reports** a violation at the latest when all operations have returned that were open when it became certain:
//! waiting operations are looked at one by one, not at what they ask of the open polls together.
//!
//! **Cost:** for each return, what is waiting, times what blocks it. **Memory:** the values in the queue, what is open, and
//! what happened since the call of the oldest poll or peek that is open.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;

use super::{EXPLAINED, Online, Op, Stop, Time};
use crate::spec::Role;
use crate::value::Value;

/// Crashed polls may have taken anything, so operations may wait for them for ever; no more of them than this.
const MOST_WAITING: usize = 1000;

/// Which values are served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Served {
    Largest,
    Smallest,
}

/// A monitor of a priority queue.
pub(super) struct Priority {
    served: Served,
    /// Values that nobody has seen, and whose insertion is open.
    coming: HashMap<Value, Op>,
    /// Values that are in, whatever the order.
    held: BTreeMap<Value, Life>,
    /// Values that were taken out, as long as they may block something.
    gone: HashMap<Value, Gone>,
    /// When the open polls and peeks were called.
    polls: BTreeSet<Time>,
    peeks: BTreeSet<Time>,
    /// When polls were called that will never return.
    crashed_polls: BTreeSet<Time>,
    waiting: Vec<Want>,
    /// Those that have found a moment.
    fine: Vec<(Want, Moment)>,
    /// How many of these and of those gone were left when they were last swept: they are when they have doubled.
    fine_left: usize,
    gone_left: usize,
    /// The last values that were forgotten, and who took them. They decide nothing, but explain a late removal.
    past: VecDeque<(Value, Op)>,
}

/// What is known of a value.
struct Life {
    add: Op,
    first: (Time, Op),
    latest: (Time, Op),
}

struct Gone {
    life: Life,
    taken: Time,
    by: Op,
}

/// An operation that needs a moment at which nothing blocks it.
struct Want {
    op: Op,
    /// The value that it was served; `None` for an empty result.
    value: Option<Value>,
    /// Whether it took the value out: then its window begins with the last call on the value.
    is_poll: bool,
    /// Its window: after the first of these events and before the second.
    from: Time,
    until: Time,
}

/// A moment at which nothing blocks an operation, and when it was found.
struct Moment {
    gap: Time,
    found: Time,
}

/// What there is to say of an operation now.
enum Judgement {
    /// Nothing blocks it right after this event.
    Fine(Time),
    /// Open polls may have taken what blocks it.
    Waits,
    Blocked,
}

impl Life {
    /// It begins with the return of `op`.
    fn begin(add: Op, op: &Op, now: Time) -> Self {
        let mut life = Life {
            first: (now, Op::clone(op)),
            latest: (add.called, Op::clone(&add)),
            add,
        };
        life.touch(op);
        life
    }

    /// Whether the last call is now that of `op`.
    fn touch(&mut self, op: &Op) -> bool {
        let is_later = op.called > self.latest.0;
        if is_later {
            self.latest = (op.called, Op::clone(op));
        }
        is_later
    }

    fn has_begun(&self, gap: Time) -> bool {
        self.first.0 <= gap
    }
}

impl Gone {
    fn is_critical(&self, gap: Time) -> bool {
        self.life.has_begun(gap) && gap < self.life.latest.0
    }
}

impl Priority {
    pub(super) fn new(served: Served) -> Self {
        Priority {
            served,
            coming: HashMap::new(),
            held: BTreeMap::new(),
            gone: HashMap::new(),
            polls: BTreeSet::new(),
            peeks: BTreeSet::new(),
            crashed_polls: BTreeSet::new(),
            waiting: Vec::new(),
            fine: Vec::new(),
            fine_left: 0,
            gone_left: 0,
            past: VecDeque::new(),
        }
    }

    /// Whether `value` should be served before `limit`, which is `None` for an empty result.
    fn is_above(&self, value: &Value, limit: Option<&Value>) -> bool {
        limit.is_none_or(|limit| match self.served {
            Served::Largest => value > limit,
            Served::Smallest => value < limit,
        })
    }

    /// The values in the queue that should be served before `limit`, most urgent first.
    fn held_above<'a>(
        &'a self,
        limit: Option<&Value>,
    ) -> Box<dyn Iterator<Item = (&'a Value, &'a Life)> + 'a> {
        let bound = limit.map_or(Bound::Unbounded, Bound::Excluded);
        match self.served {
            Served::Largest => {
                Box::new(self.held.range::<Value, _>((bound, Bound::Unbounded)).rev())
            }
            Served::Smallest => Box::new(self.held.range::<Value, _>((Bound::Unbounded, bound))),
        }
    }

    fn judge(&self, want: &Want) -> Judgement {
        let Want { from, until, .. } = *want;
        let limit = want.value.as_ref();
        let last_gap = until - 1;
        if self.is_free(want, last_gap) {
            return Judgement::Fine(last_gap);
        }
        let mut polls: Vec<Time> = self.polls.range(..until).copied().collect();
        polls.extend(self.crashed_polls.range(..until));
        polls.sort_unstable();
        let mut held = Vec::new();
        let mut throughout = 0;
        for (_, life) in self
            .held_above(limit)
            .filter(|(_, life)| life.has_begun(last_gap))
        {
            throughout += usize::from(life.has_begun(from));
            if throughout > polls.len() {
                return Judgement::Blocked;
            }
            held.push(life);
        }
        let gone: Vec<&Gone> = self
            .gone
            .iter()
            .filter(|(value, gone)| gone.life.latest.0 > from && self.is_above(value, limit))
            .map(|(_, gone)| gone)
            .collect();
        // Blocks end at these, and open polls begin.
        let mut gaps = vec![from];
        gaps.extend(gone.iter().map(|gone| gone.life.latest.0));
        gaps.extend(held.iter().map(|life| life.latest.0));
        gaps.extend(&polls);
        gaps.retain(|gap| (from..until).contains(gap));
        let mut may_be_free = false;
        for gap in gaps {
            if gone.iter().any(|gone| gone.is_critical(gap)) {
                continue;
            }
            let mut here = held.iter().filter(|life| life.has_begun(gap)).peekable();
            if here.peek().is_none() {
                return Judgement::Fine(gap);
            }
            let open = polls.partition_point(|&call| call <= gap);
            let mut count = 0;
            may_be_free |= here.all(|life| {
                count += 1;
                life.latest.0 <= gap && count <= open
            });
        }
        if may_be_free {
            Judgement::Waits
        } else {
            Judgement::Blocked
        }
    }

    /// Whether nothing blocks `want` in this gap.
    fn is_free(&self, want: &Want, gap: Time) -> bool {
        let limit = want.value.as_ref();
        want.from <= gap
            && !self.held_above(limit).any(|(_, life)| life.has_begun(gap))
            && !self
                .gone
                .iter()
                .any(|(value, gone)| gone.is_critical(gap) && self.is_above(value, limit))
    }

    /// Looks again at what is waiting. `moved` says that a value turned out to have been there for longer.
    fn settle(&mut self, now: Time, moved: bool) -> Result<(), Stop> {
        let mut again = std::mem::take(&mut self.waiting);
        if moved {
            let fine = std::mem::take(&mut self.fine);
            for (want, moment) in fine {
                if self.is_free(&want, moment.gap) {
                    self.fine.push((want, moment));
                } else {
                    again.push(want);
                }
            }
        }
        for want in again {
            match self.judge(&want) {
                // Only a peek that is open now can still show that something blocks it there.
                Judgement::Fine(_) if self.peeks.is_empty() => {}
                Judgement::Fine(gap) => self.fine.push((want, Moment { gap, found: now })),
                Judgement::Waits => self.waiting.push(want),
                Judgement::Blocked => return Err(self.blocked(&want)),
            }
        }
        if self.waiting.len() > MOST_WAITING {
            return Err(Stop::cannot_tell(
                "too much depends on what polls did that never returned",
            ));
        }
        self.forget();
        Ok(())
    }

    /// Forgets what is settled, now and then.
    fn forget(&mut self) {
        /// Short lists are not worth the while, except in tests, which have no others.
        const FEW: usize = if cfg!(test) { 0 } else { 16 };
        if self.fine.len() > 2 * self.fine_left + FEW {
            let oldest = self.peeks.first().copied().unwrap_or(Time::MAX);
            self.fine.retain(|(_, moment)| oldest < moment.found);
            self.fine_left = self.fine.len();
        }
        if self.gone.len() > 2 * self.gone_left + FEW {
            let open = [self.polls.first(), self.peeks.first()];
            let open = open
                .into_iter()
                .flatten()
                .copied()
                .min()
                .unwrap_or(Time::MAX);
            let wants = self
                .waiting
                .iter()
                .chain(self.fine.iter().map(|(want, _)| want));
            let horizon = wants
                .map(|want| want.from)
                .min()
                .unwrap_or(Time::MAX)
                .min(open);
            let past = &mut self.past;
            self.gone.retain(|value, gone| {
                let stays = gone.taken >= open || gone.life.latest.0 > horizon;
                if !stays {
                    past.push_back((value.clone(), Op::clone(&gone.by)));
                }
                stays
            });
            past.drain(..past.len().saturating_sub(EXPLAINED));
            self.gone_left = self.gone.len();
        }
    }

    fn blocked(&self, want: &Want) -> Stop {
        /// No more than these are named.
        const MOST: usize = 3;
        let limit = want.value.as_ref();
        let gone = self.gone.iter().filter(|(value, gone)| {
            self.is_above(value, limit)
                && gone.life.latest.0 > want.from
                && gone.life.first.0 < gone.life.latest.0.min(want.until)
        });
        let gone = gone.map(|(value, gone)| (value, &gone.life, gone.life.latest.0));
        let held = self
            .held_above(limit)
            .map(|(value, life)| (value, life, Time::MAX));
        let mut blocks: Vec<_> = held
            .filter(|(_, life, _)| life.has_begun(want.until - 1))
            .chain(gone)
            .collect();
        blocks.sort_by_key(|(_, life, end)| (life.first.0, Time::MAX - end));
        let covers = |(_, life, end): &&(&Value, &Life, Time)| {
            life.has_begun(want.from) && *end >= want.until
        };
        let op = &want.op;
        if let Some((value, life, end)) = blocks.iter().find(covers) {
            let (_, first) = &life.first;
            let (_, latest) = &life.latest;
            let (until, others) = match end {
                &Time::MAX => ("nobody took it".to_owned(), vec![first]),
                _ => (format!("{latest} was called after it"), vec![first, latest]),
            };
            let sentence = format!(
                "{op} is impossible: {value} was there all the time, since {first} had returned before, and {until}"
            );
            return Stop::violation(op, others.into_iter().cloned(), sentence);
        }
        let others = blocks
            .iter()
            .take(MOST)
            .map(|(_, life, _)| Op::clone(&life.first.1));
        let named: Vec<String> = blocks
            .iter()
            .take(MOST)
            .map(|(value, ..)| value.to_string())
            .collect();
        let more = match blocks.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let sentence = format!(
            "{op} is impossible: at every moment some of the values that go first was there: {}{more}",
            named.join(", ")
        );
        Stop::violation(op, others, sentence)
    }

    fn added(&mut self, op: &Op, value: &Value, now: Time) {
        // Unless somebody has seen the value before: that return came first.
        if self
            .coming
            .get(value)
            .is_some_and(|add| add.called == op.called)
        {
            self.coming.remove(value);
            let life = Life::begin(Op::clone(op), op, now);
            self.held.insert(value.clone(), life);
        }
    }

    fn removed(&mut self, op: &Op, value: &Value, now: Time) -> Result<(), Stop> {
        if let Some(gone) = self.gone.get(value) {
            return Err(taken_before(op, value, &gone.by));
        }
        let mut life = self.life(op, value, now)?;
        life.touch(op);
        self.waiting.push(Want {
            op: Op::clone(op),
            value: Some(value.clone()),
            is_poll: true,
            from: life.latest.0,
            until: now,
        });
        self.gone.insert(
            value.clone(),
            Gone {
                life,
                taken: now,
                by: Op::clone(op),
            },
        );
        Ok(())
    }

    /// Answers whether a value turned out to have been there for longer.
    fn peeked(&mut self, op: &Op, value: &Value, now: Time) -> Result<bool, Stop> {
        if let Some(gone) = self.gone.get_mut(value) {
            if op.called > gone.taken {
                return Err(taken_before(op, value, &gone.by));
            }
            // It has a moment if the removal has one: that must come later.
            let moved = gone.life.touch(op);
            let from = gone.life.latest.0;
            let fine = self.fine.iter_mut().map(|(want, _)| want);
            for want in self.waiting.iter_mut().chain(fine) {
                if want.is_poll && want.value.as_ref() == Some(value) {
                    want.from = from;
                }
            }
            return Ok(moved);
        }
        let mut life = self.life(op, value, now)?;
        life.touch(op);
        self.waiting.push(Want {
            op: Op::clone(op),
            value: Some(value.clone()),
            is_poll: false,
            from: op.called.max(life.add.called),
            until: now,
        });
        self.held.insert(value.clone(), life);
        Ok(false)
    }

    /// Takes the life of a value that is in.
    fn life(&mut self, op: &Op, value: &Value, now: Time) -> Result<Life, Stop> {
        if let Some(life) = self.held.remove(value) {
            return Ok(life);
        }
        let add = self.coming.remove(value);
        let add = add.ok_or_else(|| {
            let past = self.past.iter().rev().find(|(past, _)| past == value);
            match past {
                Some((_, by)) => taken_before(op, value, by),
                None => {
                    let sentence = format!(
                        "{op} is impossible: {value} was never put in, or taken out long before this was called"
                    );
                    Stop::violation(op, [], sentence)
                }
            }
        })?;
        Ok(Life::begin(add, op, now))
    }

    fn close(&mut self, op: &Op) {
        self.polls.remove(&op.called);
        self.peeks.remove(&op.called);
    }
}

fn taken_before(op: &Op, value: &Value, by: &Op) -> Stop {
    let sentence = format!("{op} is impossible: {value} was put in once, and {by} took it out");
    Stop::violation(op, [Op::clone(by)], sentence)
}

impl Online for Priority {
    fn call(&mut self, op: &Op) -> Result<(), Stop> {
        match &op.promise {
            Role::Adds(value) => {
                let is_known = self.coming.contains_key(value)
                    || self.held.contains_key(value)
                    || self.gone.contains_key(value);
                if is_known {
                    return Err(Stop::cannot_tell(format!(
                        "{op} puts in what may still be there from before"
                    )));
                }
                self.coming.insert(value.clone(), Op::clone(op));
            }
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

    fn ret(&mut self, op: &Op, role: &Role, now: Time) -> Result<(), Stop> {
        self.close(op);
        let mut moved = false;
        match role {
            Role::Adds(value) => {
                self.added(op, value, now);
                return Ok(());
            }
            Role::Removes(value) => self.removed(op, value, now)?,
            Role::Peeks(value) => moved = self.peeked(op, value, now)?,
            Role::Empty => self.waiting.push(Want {
                op: Op::clone(op),
                value: None,
                is_poll: false,
                from: op.called,
                until: now,
            }),
            _ => {
                return Err(Stop::cannot_tell(format!(
                    "what {op} tells cannot be watched"
                )));
            }
        }
        self.settle(now, moved)
    }

    fn fail(&mut self, op: &Op, now: Time) -> Result<(), Stop> {
        self.close(op);
        let Role::Adds(value) = &op.promise else {
            return self.settle(now, false);
        };
        if self
            .coming
            .get(value)
            .is_some_and(|add| add.called == op.called)
        {
            self.coming.remove(value);
            return Ok(());
        }
        let sentence = format!("{value} was seen, but {op} did not happen");
        let held = self.held.get(value);
        let life = held.or_else(|| self.gone.get(value).map(|gone| &gone.life));
        Err(match life {
            Some(life) => Stop::violation(&life.first.1, [Op::clone(op)], sentence),
            None => Stop::violation(op, [], sentence),
        })
    }

    fn crash(&mut self, op: &Op) {
        if self.polls.remove(&op.called) {
            self.crashed_polls.insert(op.called);
        }
        self.peeks.remove(&op.called);
    }

    fn is_unsettled(&self) -> bool {
        !self.waiting.is_empty()
    }
}
