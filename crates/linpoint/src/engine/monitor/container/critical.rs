//! Critical intervals: when each value of a container is in it in every linearization.
//!
//! After Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues* (2024), section
//! 3, for logs in which every value is added once. As printed, histories are first extended by removals of all values that
//! are left, in any order; but the order of these removals matters to all containers except bags. Here a value that is never
//! removed is critical up to the end of the log instead. Insertions are counted before removals are: two removals of a
//! value contradict each other only if it is added once, so `add 1`, `remove 1`, `remove 1`, `add 1` is a repeated value and
//! no violation.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::cover;
use crate::engine::monitor::{
    Act, Contradiction, Finding, Log, NotApplicable, REPEATED_VALUE, ViolationKind,
};
use crate::history::{NEVER, precedes};

/// What the operations on one value say about when it is in the container.
///
/// The value is critical in the gaps from `first_return` up to `last_call`, if there are any. Outside them it need not be in
/// the container: all operations on it fit before, or after, each other gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CriticalInterval {
    /// The call of its insertion; [`NEVER`] if no operation on it returned, so that it can be left out of the history.
    pub added: u32,
    /// The first return of an operation on it. It is added before that.
    pub first_return: u32,
    /// The last call of an operation on it. It is removed after that. The end of the log if it is never removed.
    pub last_call: u32,
    /// The first return of a peek or removal of it; [`NEVER`] if there is none. A pending removal counts as if it returned with
    /// the last event.
    pub first_served: u32,
    /// The return of its removal; [`NEVER`] if there is none, [`PENDING`](Self::PENDING) if it is pending.
    pub removal_return: u32,
}

impl CriticalInterval {
    /// The return of a pending removal.
    pub const PENDING: u32 = NEVER - 1;

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

    /// Whether the value is critical in some gap.
    #[inline]
    pub fn is_critical(&self) -> bool {
        precedes(self.first_return, self.last_call)
    }

    /// Whether the value is removed.
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

/// The critical intervals of all values, by number. Two threads read calls and returns at the same time, so the two are
/// stored apart.
#[derive(Clone, Debug)]
pub struct CriticalIntervals {
    calls: Vec<Calls>,
    returns: Vec<Returns>,
    /// Some operation is a peek.
    pub has_peeks: bool,
    /// Some operation found the container empty.
    pub has_empties: bool,
    /// Some removal is pending.
    pub has_pending_removals: bool,
}

/// What the calls of the operations on a value say.
#[derive(Clone, Copy, Debug)]
struct Calls {
    added: u32,
    /// The last call. While the log is read, also of a value that is never removed.
    last_call: u32,
}

/// What the returns of the operations on a value say.
#[derive(Clone, Copy, Debug)]
struct Returns {
    first_return: u32,
    first_served: u32,
    removal_return: u32,
}

/// Where an operation is recorded: at its value, or `elsewhere` if it has none. The kind of the next operation is hard to
/// predict, so this must compile to a conditional move, not a branch.
#[inline]
fn place(act: Act, value: u32, elsewhere: usize) -> usize {
    select_unpredictable(act == Act::Empty, elsewhere, value as usize)
}

impl Calls {
    const NONE: Calls = Calls {
        added: NEVER,
        last_call: 0,
    };

    /// The calls by value, and what kinds of operations there are.
    fn of_all(log: &Log<Act>) -> (Vec<Self>, Kinds) {
        let elsewhere = log.distinct as usize;
        let mut all = vec![Calls::NONE; elsewhere + 1];
        let mut kinds = Kinds::default();
        for ((&act, &value), &call) in log.acts.iter().zip(&log.values).zip(log.calls.iter()) {
            let calls = &mut all[place(act, value, elsewhere)];
            calls.added = select_unpredictable(act == Act::Add, call, calls.added);
            // Operations stand in the order of their calls, so the last one wins.
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

    /// The returns by value, and how many removals there are.
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
                ret.min(CriticalInterval::PENDING),
                returns.removal_return,
            );
            removals += usize::from(removes);
        }
        all.truncate(elsewhere);
        (all, removals)
    }
}

/// What kinds of operations there are.
#[derive(Default)]
struct Kinds {
    insertions: usize,
    has_peeks: bool,
    has_empties: bool,
}

/// What is known of some values after all operations were read.
struct Completed {
    /// How many of them are added.
    added: usize,
    /// How many of them are removed.
    removed: usize,
    /// Some removal is pending.
    has_pending_removals: bool,
    /// The first value whose operations contradict each other.
    flaw: Option<(u32, ViolationKind)>,
}

/// Combines calls and returns of the values from number `first` on.
fn complete(calls: &mut [Calls], returns: &mut [Returns], first: u32, end: u32) -> Completed {
    let (mut added, mut removed, mut has_pending_removals, mut flaw) = (0, 0, false, None);
    for (value, (calls, returns)) in (first..).zip(calls.iter_mut().zip(returns)) {
        let is_removed = returns.removal_return != NEVER;
        added += usize::from(calls.added != NEVER);
        removed += usize::from(is_removed);
        has_pending_removals |= returns.removal_return == CriticalInterval::PENDING;
        if returns.first_return == NEVER {
            // No operation on it returned.
            (calls.added, calls.last_call) = (NEVER, NEVER);
            returns.removal_return = NEVER;
            continue;
        }
        let left_by = select_unpredictable(is_removed, end - 1, NEVER);
        returns.first_served = returns.first_served.min(left_by);
        if precedes(returns.first_served, calls.added)
            | precedes(returns.removal_return, calls.last_call)
        {
            flaw = flaw.or(Some((
                value,
                kind_of_flaw(calls.added, returns.first_served),
            )));
        }
        calls.last_call = select_unpredictable(is_removed, calls.last_call, end);
    }
    Completed {
        added,
        removed,
        has_pending_removals,
        flaw,
    }
}

#[cold]
fn kind_of_flaw(added: u32, first_served: u32) -> ViolationKind {
    if added == NEVER {
        ViolationKind::NeverAdded
    } else if precedes(first_served, added) {
        ViolationKind::SeenBeforeAdded
    } else {
        ViolationKind::SeenAfterRemoved
    }
}

/// Why a log has no critical intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoIntervals {
    /// Some value is added more than once, so it is not known which insertion an operation on it is about.
    RepeatedValue,
    /// The operations on one value contradict each other.
    Contradiction(Contradiction),
}

impl CriticalIntervals {
    /// The critical intervals of a log, in O(n). Large logs are read by two threads.
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
        // Tested before removals are counted: two removals of a value that is added twice are no contradiction.
        if before.added + after.added != kinds.insertions {
            return Err(NoIntervals::RepeatedValue);
        }
        let mut flaw = before.flaw.or(after.flaw);
        if before.removed + after.removed != removals {
            // Values without a returned operation are left out of the history.
            let exists = |value: u32| returns[value as usize].first_return != NEVER;
            let value = removed_again(log, exists);
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
            has_pending_removals: before.has_pending_removals | after.has_pending_removals,
        })
    }

    /// The critical interval of a value.
    #[inline]
    pub fn at(&self, value: u32) -> CriticalInterval {
        let value = value as usize;
        CriticalInterval::new(&self.calls[value], &self.returns[value])
    }

    #[inline]
    pub(in crate::engine::monitor) fn get(&self, value: u32) -> Option<CriticalInterval> {
        ((value as usize) < self.len()).then(|| self.at(value))
    }

    /// All values that are in the history, with their intervals.
    pub fn iter(&self) -> impl Iterator<Item = (u32, CriticalInterval)> {
        self.within(0..self.len())
    }

    /// The same for the values with these numbers.
    pub(in crate::engine::monitor) fn within(
        &self,
        values: Range<usize>,
    ) -> impl Iterator<Item = (u32, CriticalInterval)> {
        let numbers = values.start as u32..;
        let intervals = self.calls[values.clone()].iter().zip(&self.returns[values]);
        let intervals =
            numbers.zip(intervals.map(|(calls, returns)| CriticalInterval::new(calls, returns)));
        intervals.filter(|(_, interval)| interval.exists())
    }

    /// How many numbers of values there are.
    pub(in crate::engine::monitor) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The same intervals with other values of `first_served` and `last_call`.
    pub(in crate::engine::monitor) fn with_moments<E>(
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

/// The first value that `exists` and is removed a second time.
#[cold]
fn removed_again(log: &Log<Act>, exists: impl Fn(u32) -> bool) -> Option<u32> {
    let mut is_removed = vec![false; log.distinct as usize];
    let columns = log.acts.iter().zip(&log.values);
    let mut values = columns.filter_map(|(&act, &value)| (act == Act::Remove).then_some(value));
    values.find(|&value| exists(value) && std::mem::replace(&mut is_removed[value as usize], true))
}

/// Applies the rule of a container to critical intervals, if the operations on each value do not already contradict each
/// other.
pub(in crate::engine::monitor) fn judge<P>(
    intervals: Result<CriticalIntervals, NoIntervals>,
    rule: impl FnOnce(&CriticalIntervals) -> Result<P, Contradiction>,
) -> Result<Finding<P>, NotApplicable> {
    match intervals {
        Ok(intervals) => Ok(rule(&intervals).into()),
        Err(NoIntervals::RepeatedValue) => Err(REPEATED_VALUE),
        Err(NoIntervals::Contradiction(contradiction)) => Ok(Finding::Violation(contradiction)),
    }
}

/// The critical intervals of a log that was found linearizable.
pub(in crate::engine::monitor) fn known(log: &Log<Act>) -> CriticalIntervals {
    CriticalIntervals::of(log).expect("bug: a witness of a log whose values contradict themselves")
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
            NoIntervals::RepeatedValue
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
