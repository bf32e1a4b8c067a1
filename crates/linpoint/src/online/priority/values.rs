//! The values of a priority queue: those that come, those that are in, those that are gone.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use super::super::past::{Past, taken_before};
use super::super::{Observable, Op, Stop, Time};
use crate::claim::Claim;
use crate::history::precedes;
use crate::value::Value;

/// Which values are served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Served {
    Largest,
    Smallest,
}

/// What is known of a value.
pub(super) struct Life<O: Observable> {
    pub(super) add: Op<O>,
    /// The first return among its operations.
    pub(super) first: (Time, Op<O>),
    /// The last call among its operations that returned.
    pub(super) latest: (Time, Op<O>),
}

impl<O: Observable> Life<O> {
    /// It begins with the return of `op`.
    fn begin(add: Op<O>, op: &Op<O>, now: Time) -> Self {
        let mut life = Life {
            first: (now, Op::clone(op)),
            latest: (add.called, Op::clone(&add)),
            add,
        };
        life.touch(op);
        life
    }

    /// `op` is one of its operations.
    fn touch(&mut self, op: &Op<O>) {
        if op.called > self.latest.0 {
            self.latest = (op.called, Op::clone(op));
        }
    }

    /// Whether it was there right after the event `gap`, unless it was taken out before.
    pub(super) fn has_begun(&self, gap: Time) -> bool {
        self.first.0 <= gap
    }
}

/// A value that was taken out.
struct Gone<O: Observable> {
    life: Life<O>,
    taken: Time,
    by: Op<O>,
}

/// What a peek shows of its value.
pub(super) struct Peeked {
    /// The first return on the value.
    pub(super) first: Time,
    /// If the value was gone: between which calls it turns out to have been there still.
    pub(super) moved: Option<(Time, Time)>,
}

/// The values of a priority queue.
pub(super) struct Values<O: Observable> {
    pub(super) served: Served,
    /// Those whose insertion is pending, and which no operation has returned.
    coming: HashMap<Value, Op<O>>,
    /// Those that are in, whatever the order.
    held: BTreeMap<Value, Life<O>>,
    /// Those that were taken out, as long as they may block an operation or be seen by a pending peek.
    gone: HashMap<Value, Gone<O>>,
    /// The same by their last call, when they stop being critical.
    ends: BTreeMap<Time, Value>,
    /// How many were left when they were last swept.
    gone_left: usize,
    /// The last ones that were forgotten.
    past: Past<O>,
}

/// Whether a list of which so many were left last time has grown enough to be swept again.
pub(super) fn is_worth_sweeping(now: usize, left: usize) -> bool {
    /// Short lists are not worth the while, except in tests, which have no others.
    const FEW: usize = if cfg!(test) { 0 } else { 16 };
    now > 2 * left + FEW
}

impl Served {
    /// How values compare that are served before others.
    pub(super) fn how(self) -> &'static str {
        match self {
            Served::Largest => "larger",
            Served::Smallest => "smaller",
        }
    }
}

impl<O: Observable> Values<O> {
    pub(super) fn new(served: Served) -> Self {
        Values {
            served,
            coming: HashMap::new(),
            held: BTreeMap::new(),
            gone: HashMap::new(),
            ends: BTreeMap::new(),
            gone_left: 0,
            past: Past::new(),
        }
    }

    /// Whether `value` should be served before `limit`, which is `None` for an empty result.
    pub(super) fn is_above(&self, value: &Value, limit: Option<&Value>) -> bool {
        limit.is_none_or(|limit| match self.served {
            Served::Largest => value > limit,
            Served::Smallest => value < limit,
        })
    }

    /// Those in the queue that should be served before `limit`, most urgent first.
    pub(super) fn held_above<'a>(
        &'a self,
        limit: Option<&Value>,
    ) -> Box<dyn Iterator<Item = (&'a Value, &'a Life<O>)> + 'a> {
        let bound = limit.map_or(Bound::Unbounded, Bound::Excluded);
        match self.served {
            Served::Largest => {
                Box::new(self.held.range::<Value, _>((bound, Bound::Unbounded)).rev())
            }
            Served::Smallest => Box::new(self.held.range::<Value, _>((Bound::Unbounded, bound))),
        }
    }

    /// Those gone that should have been served before `limit` and were critical after the event `from`.
    pub(super) fn gone_above<'a>(
        &'a self,
        limit: Option<&'a Value>,
        from: Time,
    ) -> impl Iterator<Item = (&'a Value, &'a Life<O>)> {
        let later = self.ends.range(from + 1..);
        let above = later.filter(move |(_, value)| self.is_above(value, limit));
        let lives = above.filter_map(|(_, value)| Some((value, &self.gone.get(value)?.life)));
        lives.filter(move |(_, life)| precedes(life.first.0, life.latest.0))
    }

    pub(super) fn held(&self, value: &Value) -> Option<&Life<O>> {
        self.held.get(value)
    }

    /// The last call on a value that is gone, and its operation.
    pub(super) fn latest(&self, value: &Value) -> Option<&(Time, Op<O>)> {
        self.gone.get(value).map(|gone| &gone.life.latest)
    }

    /// The insertion `op` of `value` is called.
    pub(super) fn announce(&mut self, op: &Op<O>, value: &Value) -> Result<(), Stop<O>> {
        let is_known = self.coming.contains_key(value)
            || self.held.contains_key(value)
            || self.gone.contains_key(value);
        if is_known {
            return Err(Stop::cannot_tell(format!(
                "{op} puts in what may still be there from before"
            )));
        }
        self.coming.insert(value.clone(), Op::clone(op));
        Ok(())
    }

    /// The insertion `op` did not happen.
    pub(super) fn retract(&mut self, op: &Op<O>, value: &Value) -> Result<(), Stop<O>> {
        if self.is_coming(op, value) {
            self.coming.remove(value);
            return Ok(());
        }
        let held = self.held.get(value);
        let life = held.or_else(|| self.gone.get(value).map(|gone| &gone.life));
        let claim = match life {
            Some(life) => self.never_put(&life.first.1, value),
            None => Claim::Contradiction {
                op: Op::clone(op),
                others: Vec::new(),
            },
        };
        Err(Stop::violation(claim).since_failed(op))
    }

    /// The insertion `op` returns.
    pub(super) fn add(&mut self, op: &Op<O>, value: &Value, now: Time) {
        // Unless an operation has returned the value before: that return is the first one.
        if self.is_coming(op, value) {
            self.coming.remove(value);
            let life = Life::begin(Op::clone(op), op, now);
            self.held.insert(value.clone(), life);
        }
    }

    fn is_coming(&self, op: &Op<O>, value: &Value) -> bool {
        let add = self.coming.get(value);
        add.is_some_and(|add| add.called == op.called)
    }

    /// `op` took `value` out.
    pub(super) fn remove(
        &mut self,
        op: &Op<O>,
        value: &Value,
        now: Time,
    ) -> Result<&Life<O>, Stop<O>> {
        if let Some(gone) = self.gone.get(value) {
            return Err(taken_before(op, value, &gone.by));
        }
        let mut life = self.take(op, value, now)?;
        life.touch(op);
        self.ends.insert(life.latest.0, value.clone());
        let gone = Gone {
            life,
            taken: now,
            by: Op::clone(op),
        };
        Ok(&self.gone.entry(value.clone()).or_insert(gone).life)
    }

    /// `op` saw `value`.
    pub(super) fn peek(&mut self, op: &Op<O>, value: &Value, now: Time) -> Result<Peeked, Stop<O>> {
        if let Some(gone) = self.gone.get_mut(value) {
            if precedes(gone.taken, op.called) {
                return Err(taken_before(op, value, &gone.by));
            }
            let (first, before) = (gone.life.first.0, gone.life.latest.0);
            gone.life.touch(op);
            let after = gone.life.latest.0;
            if before == after {
                return Ok(Peeked { first, moved: None });
            }
            self.ends.remove(&before);
            self.ends.insert(after, value.clone());
            return Ok(Peeked {
                first,
                moved: Some((before, after)),
            });
        }
        let mut life = self.take(op, value, now)?;
        life.touch(op);
        let first = life.first.0;
        self.held.insert(value.clone(), life);
        Ok(Peeked { first, moved: None })
    }

    /// The life of a value that is in, which is no longer kept here.
    fn take(&mut self, op: &Op<O>, value: &Value, now: Time) -> Result<Life<O>, Stop<O>> {
        if let Some(life) = self.held.remove(value) {
            return Ok(life);
        }
        match self.coming.remove(value) {
            Some(add) => Ok(Life::begin(add, op, now)),
            None => Err(self.unknown(op, value)),
        }
    }

    /// `op` saw a value that is not, or no longer, known.
    fn unknown(&self, op: &Op<O>, value: &Value) -> Stop<O> {
        self.past.unknown(op, value, self.known())
    }

    /// That no insertion of `value` was called before `op` returned.
    fn never_put(&self, op: &Op<O>, value: &Value) -> Claim<Op<O>> {
        self.past.never_put(op, value, self.known())
    }

    /// Values that were put in: what is pending, and was not seen, may not have been.
    fn known(&self) -> impl Iterator<Item = &Value> {
        self.held.keys().chain(self.gone.keys())
    }

    /// Forgets, now and then, what is gone and neither can be seen by a peek that is open nor blocks anything after
    /// `horizon`, the earliest time that an operation without a verdict may fall on.
    pub(super) fn forget(&mut self, oldest_peek: Time, horizon: impl FnOnce() -> Time) {
        if !is_worth_sweeping(self.gone.len(), self.gone_left) {
            return;
        }
        let horizon = horizon();
        let (ends, past) = (&mut self.ends, &mut self.past);
        self.gone.retain(|value, gone| {
            let end = gone.life.latest.0;
            let stays = !precedes(gone.taken, oldest_peek) || end > horizon;
            if !stays {
                ends.remove(&end);
                past.add(value.clone(), Op::clone(&gone.by));
            }
            stays
        });
        self.gone_left = self.gone.len();
    }
}
