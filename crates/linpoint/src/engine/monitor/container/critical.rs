//! ViolationKind the operations on each value of a container say about when it was there.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::cover;
use super::{Act, Contradiction, Finding, Log, ViolationKind};
use crate::history::NEVER;

/// When one value was in the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CriticalInterval {
    /// The call of its insertion; [`NEVER`] if it can be left out of the history: no operation on it returned.
    pub added: u32,
    /// The first return of any operation on it: it was put in by then.
    pub first_return: u32,
    /// The last call of any operation on it: it was not taken out before. The end, if it was never taken out.
    pub last_call: u32,
    /// The first return of an operation that saw it served; [`NEVER`] if none did. A pending removal counts as if it
    /// returned with the last event: only values that are never taken out outlast it.
    pub first_served: u32,
    /// The return of its removal; [`NEVER`] if it was not taken out, [`OPEN`](Self::OPEN) if the removal is pending.
    pub removal_return: u32,
}

impl CriticalInterval {
    /// The return of a removal that never returned.
    pub const OPEN: u32 = NEVER - 1;

    #[inline]
    fn new(calls: &Calls, returns: &Returns) -> Self {
        CriticalInterval {
            added: calls.added,
            first_return: returns.first_return,
            last_call: calls.last_call,
            first_served: returns.first_served,
            removal_return: returns.removal_return,
        }
    }

    /// Whether it is in the container in all gaps from `first_return` up to `last_call`, and there are such.
    #[inline]
    pub fn is_critical(&self) -> bool {
        self.first_return < self.last_call
    }

    /// Whether it was taken out.
    #[inline]
    pub fn is_removed(&self) -> bool {
        self.removal_return != NEVER
    }

    /// Whether the value is in the history at all.
    #[inline]
    pub fn exists(&self) -> bool {
        self.added != NEVER
    }
}

/// The intervals of all values, by number. ViolationKind calls say about them stands apart from what returns say: two threads find that out
/// at the same time.
#[derive(Clone, Debug)]
pub struct CriticalIntervals {
    calls: Vec<Calls>,
    returns: Vec<Returns>,
    /// Some operation is a peek.
    pub has_peeks: bool,
    /// Some operation found nothing.
    pub has_empties: bool,
    /// Some removal is pending.
    pub has_open: bool,
}

/// ViolationKind the calls of operations on a value say about its interval.
#[derive(Clone, Copy, Debug)]
struct Calls {
    added: u32,
    /// The last call, also of a value that was never taken out, while the intervals are made.
    last_call: u32,
}

/// ViolationKind their returns say.
#[derive(Clone, Copy, Debug)]
struct Returns {
    first_return: u32,
    first_served: u32,
    removal_return: u32,
}

/// The number of the value that an operation is about, or that of a place for those about none. ViolationKind the next operation does is
/// hard to foresee, so all of them are recorded, without a branch.
#[inline]
fn place(act: Act, value: u32, elsewhere: usize) -> usize {
    select_unpredictable(act == Act::Empty, elsewhere, value as usize)
}

impl Calls {
    const NONE: Calls = Calls {
        added: NEVER,
        last_call: 0,
    };

    /// Those of all values and what kinds of operations there are.
    fn of_all(log: &Log<Act>) -> (Vec<Self>, Kinds) {
        let elsewhere = log.distinct as usize;
        let mut all = vec![Calls::NONE; elsewhere + 1];
        let mut kinds = Kinds::default();
        for ((&act, &value), &call) in log.acts.iter().zip(&log.values).zip(log.calls.iter()) {
            let calls = &mut all[place(act, value, elsewhere)];
            calls.added = select_unpredictable(act == Act::Add, call, calls.added);
            // Operations stand in the order of their calls.
            calls.last_call = call;
            kinds.insertions += usize::from(act == Act::Add);
            kinds.has_peeks |= act == Act::Peek;
            kinds.has_empties |= act == Act::Empty;
        }
        all.truncate(elsewhere);
        (all, kinds)
    }
}

impl Returns {
    const NONE: Returns = Returns {
        first_return: NEVER,
        first_served: NEVER,
        removal_return: NEVER,
    };

    /// Those of all values and how many removals there are.
    fn of_all(log: &Log<Act>) -> (Vec<Self>, usize) {
        let elsewhere = log.distinct as usize;
        let mut all = vec![Returns::NONE; elsewhere + 1];
        let mut removals = 0;
        for ((&act, &value), &ret) in log.acts.iter().zip(&log.values).zip(log.rets.iter()) {
            let (adds, removes) = (act == Act::Add, act == Act::Remove);
            let returns = &mut all[place(act, value, elsewhere)];
            returns.first_return = returns.first_return.min(ret);
            returns.first_served = select_unpredictable(adds, NEVER, ret).min(returns.first_served);
            returns.removal_return = select_unpredictable(
                removes,
                ret.min(CriticalInterval::OPEN),
                returns.removal_return,
            );
            removals += usize::from(removes);
        }
        all.truncate(elsewhere);
        (all, removals)
    }
}

/// ViolationKind kinds of operations there are.
#[derive(Default)]
struct Kinds {
    insertions: usize,
    has_peeks: bool,
    has_empties: bool,
}

/// ViolationKind is found out about some values when all operations were recorded.
struct Completed {
    /// How many were put in.
    added: usize,
    /// How many were taken out.
    removed: usize,
    /// The removal of one is pending.
    has_open: bool,
    /// The first one that contradicts itself.
    flaw: Option<(u32, ViolationKind)>,
}

/// Puts together what was recorded about some values, of which `first` is the first one.
fn complete(calls: &mut [Calls], returns: &mut [Returns], first: u32, end: u32) -> Completed {
    let (mut added, mut removed, mut has_open, mut flaw) = (0, 0, false, None);
    for (value, (calls, returns)) in (first..).zip(calls.iter_mut().zip(returns)) {
        let is_removed = returns.removal_return != NEVER;
        added += usize::from(calls.added != NEVER);
        removed += usize::from(is_removed);
        has_open |= returns.removal_return == CriticalInterval::OPEN;
        if returns.first_return == NEVER {
            // No operation on it returned.
            (calls.added, calls.last_call) = (NEVER, NEVER);
            returns.removal_return = NEVER;
            continue;
        }
        let left_by = select_unpredictable(is_removed, end - 1, NEVER);
        returns.first_served = returns.first_served.min(left_by);
        if (calls.added > returns.first_served) | (returns.removal_return < calls.last_call) {
            flaw = flaw.or(Some((
                value,
                what_is_wrong(calls.added, returns.first_served),
            )));
        }
        calls.last_call = select_unpredictable(is_removed, calls.last_call, end);
    }
    Completed {
        added,
        removed,
        has_open,
        flaw,
    }
}

#[cold]
fn what_is_wrong(added: u32, first_served: u32) -> ViolationKind {
    if added == NEVER {
        ViolationKind::NeverAdded
    } else if added > first_served {
        ViolationKind::SeenBeforeAdded
    } else {
        ViolationKind::SeenAfterRemoved
    }
}

/// Why there are no intervals: what is the matter with one value. Others may have other flaws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoIntervals {
    /// This value was put in more than once, so nobody can tell which of them an operation is about.
    Ambiguous(u32),
    /// The operations on one value contradict each other.
    Contradiction(Contradiction),
}

impl CriticalIntervals {
    /// Looks at every operation twice, on both of two threads.
    pub fn of(log: &Log<Act>) -> Result<Self, NoIntervals> {
        let ((mut calls, kinds), (mut returns, removals)) =
            log.both(|| Calls::of_all(log), || Returns::of_all(log));
        let half = if log.is_worth_sharing() {
            calls.len() / 2
        } else {
            0
        };
        let (calls_before, calls_after) = calls.split_at_mut(half);
        let (returns_before, returns_after) = returns.split_at_mut(half);
        let (before, after) = log.both(
            || complete(calls_before, returns_before, 0, log.end()),
            || complete(calls_after, returns_after, half as u32, log.end()),
        );
        // Checked before anything else: two removals are no contradiction then.
        if before.added + after.added != kinds.insertions {
            let value = done_again(log, Act::Add, |_| true);
            return Err(NoIntervals::Ambiguous(
                value.expect("bug: no value is put in twice"),
            ));
        }
        let mut flaw = before.flaw.or(after.flaw);
        if before.removed + after.removed != removals {
            // Those that can be left out of the history are not to blame.
            let exists = |value: u32| returns[value as usize].first_return != NEVER;
            let value = done_again(log, Act::Remove, exists);
            flaw = value
                .map(|value| (value, ViolationKind::RemovedTwice))
                .or(flaw);
        }
        if let Some((value, kind)) = flaw {
            return Err(NoIntervals::Contradiction(cover::contradiction(
                log,
                kind,
                &[value],
                &[],
            )));
        }
        Ok(CriticalIntervals {
            calls,
            returns,
            has_peeks: kinds.has_peeks,
            has_empties: kinds.has_empties,
            has_open: before.has_open | after.has_open,
        })
    }

    /// The interval of a value.
    #[inline]
    pub fn at(&self, value: u32) -> CriticalInterval {
        let value = value as usize;
        CriticalInterval::new(&self.calls[value], &self.returns[value])
    }

    #[inline]
    pub(crate) fn get(&self, value: u32) -> Option<CriticalInterval> {
        ((value as usize) < self.len()).then(|| self.at(value))
    }

    /// All intervals with the numbers of their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, CriticalInterval)> {
        self.within(0..self.len())
    }

    /// Those of the values with these numbers.
    pub(crate) fn within(
        &self,
        values: Range<usize>,
    ) -> impl Iterator<Item = (u32, CriticalInterval)> {
        let numbers = values.start as u32..;
        let intervals = self.calls[values.clone()].iter().zip(&self.returns[values]);
        let intervals =
            numbers.zip(intervals.map(|(calls, returns)| CriticalInterval::new(calls, returns)));
        intervals.filter(|(_, interval)| interval.exists())
    }

    /// How many values have a number.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The same intervals, but with other moments when each value was seen and could leave.
    pub(crate) fn with_moments<E>(
        &self,
        moments: impl Fn(u32, &CriticalInterval) -> Result<(u32, u32), E>,
    ) -> Result<Self, E> {
        let mut changed = self.clone();
        for (value, interval) in self.iter() {
            let (first_served, last_call) = moments(value, &interval)?;
            changed.returns[value as usize].first_served = first_served;
            changed.calls[value as usize].last_call = last_call;
        }
        Ok(changed)
    }
}

/// One of some values with which this was done before.
#[cold]
fn done_again(log: &Log<Act>, wanted: Act, is_one: impl Fn(u32) -> bool) -> Option<u32> {
    let mut is_done = vec![false; log.distinct as usize];
    let columns = log.acts.iter().zip(&log.values);
    let mut values = columns.filter_map(|(&act, &value)| (act == wanted).then_some(value));
    values.find(|&value| is_one(value) && std::mem::replace(&mut is_done[value as usize], true))
}

/// ViolationKind a container's rule says about the intervals, if every interval makes sense by itself; the value that was put in more than
/// once, if there is one.
pub(crate) fn judge<P>(
    intervals: Result<CriticalIntervals, NoIntervals>,
    rule: impl FnOnce(&CriticalIntervals) -> Result<P, Contradiction>,
) -> Result<Finding<P>, u32> {
    let judged = match intervals {
        Ok(intervals) => rule(&intervals),
        Err(NoIntervals::Ambiguous(value)) => return Err(value),
        Err(NoIntervals::Contradiction(contradiction)) => Err(contradiction),
    };
    Ok(match judged {
        Ok(order) => Finding::Linearizable(order),
        Err(contradiction) => Finding::Violation(contradiction),
    })
}

/// The intervals of a log whose values were found to make sense.
pub(crate) fn known(log: &Log<Act>) -> CriticalIntervals {
    CriticalIntervals::of(log)
        .expect("bug: a witness is asked for, and values contradict themselves")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One operation after the other.
    fn in_turn(acts: &[(Act, u32)]) -> Log<Act> {
        let ranks = 0..acts.len() as u32;
        Log::new(
            acts.iter().map(|&(act, _)| act).collect(),
            acts.iter().map(|&(_, value)| value).collect(),
            ranks.clone().map(|i| 2 * i).collect(),
            ranks.map(|i| 2 * i + 1).collect(),
        )
    }

    #[test]
    fn a_value_put_in_twice_may_be_taken_out_twice() {
        let log = in_turn(&[
            (Act::Add, 1),
            (Act::Remove, 1),
            (Act::Remove, 1),
            (Act::Add, 1),
        ]);
        assert_eq!(
            CriticalIntervals::of(&log).unwrap_err(),
            NoIntervals::Ambiguous(1)
        );
    }

    #[test]
    fn what_is_wrong_with_one_value() {
        let wrong = |acts: &[(Act, u32)]| match CriticalIntervals::of(&in_turn(acts)) {
            Err(NoIntervals::Contradiction(contradiction)) => contradiction.kind,
            other => panic!("{other:?}"),
        };
        let (add, remove, peek) = ((Act::Add, 0), (Act::Remove, 0), (Act::Peek, 0));
        assert_eq!(wrong(&[remove]), ViolationKind::NeverAdded);
        assert_eq!(wrong(&[peek, add]), ViolationKind::SeenBeforeAdded);
        assert_eq!(wrong(&[add, remove, peek]), ViolationKind::SeenAfterRemoved);
        assert_eq!(wrong(&[add, remove, remove]), ViolationKind::RemovedTwice);
    }
}
