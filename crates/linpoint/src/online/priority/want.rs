//! What an operation that was served needs: a moment at which no more urgent value was there.

use super::super::{Observable, Op, Stop, Time};
use super::values::{Life, Values};
use crate::claim::Claim;
use crate::value::Value;

/// An operation that needs a moment at which nothing blocks it.
pub(super) struct Want<O: Observable> {
    op: Op<O>,
    /// The value that it was served; `None` for an empty result.
    pub(super) value: Option<Value>,
    /// Whether it took the value out: then its window begins with the last call on the value.
    is_poll: bool,
    /// Its window: after the first of these events and before the second.
    pub(super) from: Time,
    pub(super) until: Time,
    /// The operation whose call is the first of these events.
    since: Op<O>,
}

/// What there is to say of an operation now.
pub(super) enum Judgement {
    /// Nothing blocks it right after this event.
    Fine(Time),
    /// Open polls may have taken what blocks it: at least these values, most urgent first, whatever the moment.
    Waits(Vec<Value>),
    Blocked,
}

impl<O: Observable> Want<O> {
    pub(super) fn poll(op: &Op<O>, value: &Value, life: &Life<O>, now: Time) -> Self {
        Want {
            op: Op::clone(op),
            value: Some(value.clone()),
            is_poll: true,
            from: life.latest.0,
            until: now,
            since: Op::clone(&life.latest.1),
        }
    }

    pub(super) fn peek(op: &Op<O>, value: &Value, life: &Life<O>, now: Time) -> Self {
        let since = match life.add.called > op.called {
            true => &life.add,
            false => op,
        };
        Want {
            op: Op::clone(op),
            value: Some(value.clone()),
            is_poll: false,
            from: since.called,
            until: now,
            since: Op::clone(since),
        }
    }

    pub(super) fn empty(op: &Op<O>, now: Time) -> Self {
        Want {
            op: Op::clone(op),
            value: None,
            is_poll: false,
            from: op.called,
            until: now,
            since: Op::clone(op),
        }
    }

    /// Cuts the window to what is known now.
    pub(super) fn narrow(&mut self, values: &Values<O>) {
        if let Some(value) = self.value.as_ref().filter(|_| self.is_poll) {
            // A value that is forgotten has not been seen again.
            if let Some((from, since)) = values.latest(value) {
                (self.from, self.since) = (*from, Op::clone(since));
            }
        }
    }

    /// Judges it, where `polls` are the calls of the polls, ascending, that are open and were when it returned.
    pub(super) fn judge(&self, values: &Values<O>, polls: impl FnOnce() -> Vec<Time>) -> Judgement {
        let limit = self.value.as_ref();
        let (from, last) = (self.from, self.until - 1);
        let gone: Vec<&Life<O>> = values
            .gone_above(limit, from)
            .map(|(_, life)| life)
            .filter(|life| life.has_begun(last))
            .collect();
        // Of those that are gone.
        let is_clear = |gap: Time| {
            let critical = |life: &&Life<O>| life.has_begun(gap) && gap < life.latest.0;
            !gone.iter().any(critical)
        };
        let mut held = values
            .held_above(limit)
            .filter(|(_, life)| life.has_begun(last))
            .peekable();
        if held.peek().is_none() && from <= last && is_clear(last) {
            return Judgement::Fine(last);
        }
        let polls = polls();
        let mut blocks: Vec<(&Value, &Life<O>)> = Vec::new();
        let mut throughout = 0;
        for (value, life) in held {
            throughout += usize::from(life.has_begun(from));
            if throughout > polls.len() {
                return Judgement::Blocked;
            }
            blocks.push((value, life));
        }
        // Values stop being critical at these, and open polls begin.
        let mut gaps = vec![from];
        gaps.extend(gone.iter().map(|life| life.latest.0));
        gaps.extend(blocks.iter().map(|(_, life)| life.latest.0));
        gaps.extend(&polls);
        gaps.retain(|gap| (from..=last).contains(gap));
        gaps.sort_unstable();
        let mut first_chance = None;
        for gap in gaps.into_iter().filter(|&gap| is_clear(gap)) {
            let mut here = blocks
                .iter()
                .filter(|(_, life)| life.has_begun(gap))
                .peekable();
            if here.peek().is_none() {
                return Judgement::Fine(gap);
            }
            let open = polls.partition_point(|&call| call <= gap);
            let may_be_taken = |count: usize, life: &Life<O>| life.latest.0 <= gap && count < open;
            let mut here = here.enumerate();
            if here.all(|(count, (_, life))| may_be_taken(count, life)) {
                first_chance.get_or_insert(gap);
            }
        }
        // Later there are more values to be taken.
        first_chance.map_or(Judgement::Blocked, |gap| {
            let here = blocks.iter().filter(|(_, life)| life.has_begun(gap));
            Judgement::Waits(here.map(|(value, _)| Value::clone(value)).collect())
        })
    }

    /// The violation: something blocks it at every moment, although `polls` may have taken values that are open.
    pub(super) fn blocked(&self, values: &Values<O>, polls: usize) -> Stop<O> {
        let limit = self.value.as_ref();
        let gone = values
            .gone_above(limit, self.from)
            .map(|(value, life)| (value, life, life.latest.0));
        let held = values
            .held_above(limit)
            .map(|(value, life)| (value, life, Time::MAX));
        let all = held
            .chain(gone)
            .filter(|(_, life, _)| life.has_begun(self.until - 1));
        let mut blocks: Vec<_> = all.collect();
        blocks.sort_by_key(|(_, life, end)| (life.first.0, Time::MAX - end));
        let covers = |(_, life, end): &&(&Value, &Life<O>, Time)| {
            life.has_begun(self.from) && *end >= self.until
        };
        // One that is seen again after this operation cannot have been taken by then.
        let is_sure = |(_, life, _): &&(&Value, &Life<O>, Time)| life.latest.0 >= self.until;
        let covering: Vec<_> = blocks.iter().filter(covers).copied().collect();
        let blocks = match covering.iter().find(is_sure) {
            Some(sure) => vec![*sure],
            None if covering.len() > polls => covering[..=polls].to_vec(),
            None => blocks,
        };
        let named = blocks
            .iter()
            .map(|(value, ..)| Value::clone(value))
            .collect();
        let op = Op::clone(&self.op);
        let claim = match limit {
            None => Claim::NotEmpty { op, values: named },
            Some(_) => Claim::PassedOver {
                op,
                urgent: named,
                how: values.served.how(),
            },
        };
        let shown_by = blocks.iter().flat_map(|(_, life, end)| {
            let until = (*end != Time::MAX).then_some(&life.latest.1);
            [&life.first.1].into_iter().chain(until)
        });
        let since = (self.since.called != self.op.called).then_some(&self.since);
        Stop::violation(claim).shown_by(shown_by.chain(since).cloned())
    }
}
