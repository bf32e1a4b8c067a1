//! What the operations on each value of a container say about when it was there.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::cover;
use super::{Act, Clash, Finding, Log, What};
use crate::history::NEVER;

/// When one value was in the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The call of its insertion; [`NEVER`] if it can be left out of the history: no operation on it returned.
    pub added: u32,
    /// The first return of any operation on it: it was put in by then.
    pub in_by: u32,
    /// The last call of any operation on it: it was not taken out before. The end, if it was never taken out.
    pub out_from: u32,
    /// The first return of an operation that saw it served; [`NEVER`] if none did. A pending removal counts as if it
    /// returned with the last event: only values that are never taken out outlast it.
    pub seen_by: u32,
    /// The return of its removal; [`NEVER`] if it was not taken out, [`OPEN`](Self::OPEN) if the removal is pending.
    pub removed_by: u32,
}

impl Life {
    /// The return of a removal that never returned.
    pub const OPEN: u32 = NEVER - 1;

    #[inline]
    fn new(entry: &Entry, stay: &Stay) -> Self {
        Life {
            added: entry.added,
            in_by: entry.in_by,
            out_from: stay.out_from,
            seen_by: stay.seen_by,
            removed_by: stay.removed_by,
        }
    }

    /// Whether it is in the container in all gaps from `in_by` up to `out_from`, and there are such.
    #[inline]
    pub fn is_critical(&self) -> bool {
        self.in_by < self.out_from
    }

    /// Whether it was taken out.
    #[inline]
    pub fn is_removed(&self) -> bool {
        self.removed_by != NEVER
    }

    /// Whether the value is in the history at all.
    #[inline]
    pub fn exists(&self) -> bool {
        self.added != NEVER
    }
}

/// The lives of all values, by number. How a value came in stands apart from what became of it: two threads find that out at
/// the same time.
#[derive(Clone, Debug)]
pub struct Lives {
    entries: Vec<Entry>,
    stays: Vec<Stay>,
    /// Some operation is a peek.
    pub has_peeks: bool,
    /// Some operation found nothing.
    pub has_empties: bool,
    /// Some removal is pending.
    pub has_open: bool,
}

/// How a value came in.
#[derive(Clone, Copy, Debug)]
struct Entry {
    added: u32,
    /// The return of its insertion, while the lives are made.
    in_by: u32,
}

/// What became of a value.
#[derive(Clone, Copy, Debug)]
struct Stay {
    /// Does not know of the insertion while the lives are made.
    out_from: u32,
    seen_by: u32,
    removed_by: u32,
}

impl Entry {
    const NONE: Entry = Entry {
        added: NEVER,
        in_by: NEVER,
    };

    /// The entries of all values and how many insertions there are. Of several insertions of a value the last one counts.
    fn of_all(log: &Log<Act>) -> (Vec<Self>, usize) {
        // Other operations are recorded as well, in a place of their own: what comes next is hard to foresee.
        let elsewhere = log.distinct as usize;
        let mut entries = vec![Entry::NONE; elsewhere + 1];
        let mut insertions = 0;
        let columns = log.acts.iter().zip(&log.values);
        for ((&act, &value), (&call, &ret)) in columns.zip(log.calls.iter().zip(log.rets.iter())) {
            let adds = act == Act::Add;
            insertions += usize::from(adds);
            let place = select_unpredictable(adds, value as usize, elsewhere);
            entries[place] = Entry {
                added: call,
                in_by: ret,
            };
        }
        entries.truncate(elsewhere);
        (entries, insertions)
    }
}

impl Stay {
    /// The return of the removal, while the lives are made, if there are two of them. No return is the first event.
    const TWICE: u32 = 0;

    const NONE: Stay = Stay {
        out_from: 0,
        seen_by: NEVER,
        removed_by: NEVER,
    };

    /// The stays of all values and what kinds of operations there are.
    fn of_all(log: &Log<Act>) -> (Vec<Self>, Kinds) {
        let elsewhere = log.distinct as usize;
        let mut stays = vec![Stay::NONE; elsewhere + 1];
        let mut kinds = Kinds::default();
        let columns = log.acts.iter().zip(&log.values);
        for ((&act, &value), (&call, &ret)) in columns.zip(log.calls.iter().zip(log.rets.iter())) {
            let (removes, peeks) = (act == Act::Remove, act == Act::Peek);
            let place = select_unpredictable(removes | peeks, value as usize, elsewhere);
            let stay = &mut stays[place];
            let is_removed = stay.removed_by != NEVER;
            let removed_by = select_unpredictable(is_removed, Stay::TWICE, ret.min(Life::OPEN));
            stay.removed_by = select_unpredictable(removes, removed_by, stay.removed_by);
            stay.seen_by = stay.seen_by.min(ret);
            stay.out_from = stay.out_from.max(call);
            kinds.peeks |= peeks;
            kinds.empties |= act == Act::Empty;
            kinds.open_removals |= removes & (ret == NEVER);
        }
        stays.truncate(elsewhere);
        (stays, kinds)
    }
}

/// What kinds of operations there are.
#[derive(Default)]
struct Kinds {
    peeks: bool,
    empties: bool,
    open_removals: bool,
}

/// What is found out about some values when all operations were recorded.
struct Completed {
    /// How many were put in.
    added: usize,
    /// The first one that contradicts itself.
    flaw: Option<(u32, What)>,
}

/// Puts together what was recorded about some values, of which `first` is the first one.
fn complete(entries: &mut [Entry], stays: &mut [Stay], first: u32, end: u32) -> Completed {
    let (mut added, mut flaw) = (0, None);
    for (value, (entry, stay)) in (first..).zip(entries.iter_mut().zip(stays)) {
        let exists = entry.added != NEVER;
        added += usize::from(exists);
        entry.in_by = entry.in_by.min(stay.seen_by);
        if entry.in_by == NEVER {
            // No operation on it returned.
            (entry.added, stay.out_from) = (NEVER, NEVER);
            (stay.seen_by, stay.removed_by) = (NEVER, NEVER);
            continue;
        }
        let is_removed = stay.removed_by != NEVER;
        let left_by = select_unpredictable(is_removed, end - 1, NEVER);
        stay.seen_by = stay.seen_by.min(left_by);
        let last_call = stay
            .out_from
            .max(select_unpredictable(exists, entry.added, 0));
        if (entry.added > stay.seen_by) | (stay.removed_by < last_call) {
            flaw = flaw.or(Some((value, what_is_wrong(entry, stay))));
        }
        stay.out_from = select_unpredictable(is_removed, last_call, end);
    }
    Completed { added, flaw }
}

#[cold]
fn what_is_wrong(entry: &Entry, stay: &Stay) -> What {
    if stay.removed_by == Stay::TWICE {
        What::RemovedTwice
    } else if entry.added == NEVER {
        What::NeverAdded
    } else if entry.added > stay.seen_by {
        What::SeenBeforeAdded
    } else {
        What::SeenAfterRemoved
    }
}

/// Why there are no lives: what is the matter with one value. Others may have other flaws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLives {
    /// This value was put in more than once, so nobody can tell which of them an operation is about.
    Ambiguous(u32),
    /// The operations on one value contradict each other.
    Clash(Clash),
}

impl Lives {
    /// Looks at every operation twice, on both of two threads.
    pub fn of(log: &Log<Act>) -> Result<Self, NoLives> {
        let ((mut entries, insertions), (mut stays, kinds)) =
            log.both(|| Entry::of_all(log), || Stay::of_all(log));
        let half = if log.is_worth_sharing() {
            entries.len() / 2
        } else {
            0
        };
        let (entries_before, entries_after) = entries.split_at_mut(half);
        let (stays_before, stays_after) = stays.split_at_mut(half);
        let (before, after) = log.both(
            || complete(entries_before, stays_before, 0, log.end()),
            || complete(entries_after, stays_after, half as u32, log.end()),
        );
        // Checked before anything else: two removals are no contradiction then.
        if before.added + after.added != insertions {
            return Err(NoLives::Ambiguous(added_again(log)));
        }
        if let Some((value, what)) = before.flaw.or(after.flaw) {
            return Err(NoLives::Clash(cover::clash(log, what, &[value], &[])));
        }
        Ok(Lives {
            entries,
            stays,
            has_peeks: kinds.peeks,
            has_empties: kinds.empties,
            has_open: kinds.open_removals,
        })
    }

    /// The life of a value.
    #[inline]
    pub fn at(&self, value: u32) -> Life {
        let (entry, stay) = (&self.entries[value as usize], &self.stays[value as usize]);
        Life::new(entry, stay)
    }

    #[inline]
    pub(super) fn get(&self, value: u32) -> Option<Life> {
        let entry = self.entries.get(value as usize)?;
        Some(Life::new(entry, &self.stays[value as usize]))
    }

    /// All lives with the numbers of their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Life)> {
        self.within(0..self.entries.len())
    }

    /// Those of the values with these numbers.
    pub(super) fn within(&self, values: Range<usize>) -> impl Iterator<Item = (u32, Life)> {
        let numbers = values.start as u32..;
        let lives = self.entries[values.clone()].iter().zip(&self.stays[values]);
        let lives = numbers.zip(lives.map(|(entry, stay)| Life::new(entry, stay)));
        lives.filter(|(_, life)| life.exists())
    }

    /// How many values have a number.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The same lives, but with other moments when each value was seen and could leave.
    pub(super) fn with_moments<E>(
        &self,
        moments: impl Fn(u32, &Life) -> Result<(u32, u32), E>,
    ) -> Result<Self, E> {
        let mut changed = self.clone();
        for (value, life) in self.iter() {
            let stay = &mut changed.stays[value as usize];
            (stay.seen_by, stay.out_from) = moments(value, &life)?;
        }
        Ok(changed)
    }
}

/// A value that was put in before.
#[cold]
fn added_again(log: &Log<Act>) -> u32 {
    let mut added = vec![false; log.distinct as usize];
    let mut columns = log.acts.iter().zip(&log.values);
    let again = columns.find(|&(&act, &value)| {
        act == Act::Add && std::mem::replace(&mut added[value as usize], true)
    });
    *again.expect("bug: no value is put in twice").1
}

/// What a container's rule says about the lives, if every life makes sense by itself; the value that was put in more than
/// once, if there is one.
pub(super) fn judge<P>(
    lives: Result<Lives, NoLives>,
    rule: impl FnOnce(&Lives) -> Result<P, Clash>,
) -> Result<Finding<P>, u32> {
    let judged = match lives {
        Ok(lives) => rule(&lives),
        Err(NoLives::Ambiguous(value)) => return Err(value),
        Err(NoLives::Clash(clash)) => Err(clash),
    };
    Ok(match judged {
        Ok(order) => Finding::Linearizable(order),
        Err(clash) => Finding::Violation(clash),
    })
}

/// The lives of a log whose values were found to make sense.
pub(super) fn known(log: &Log<Act>) -> Lives {
    Lives::of(log).expect("bug: a witness is asked for, and values contradict themselves")
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
        assert_eq!(Lives::of(&log).unwrap_err(), NoLives::Ambiguous(1));
    }

    #[test]
    fn what_is_wrong_with_one_value() {
        let wrong = |acts: &[(Act, u32)]| match Lives::of(&in_turn(acts)) {
            Err(NoLives::Clash(clash)) => clash.what,
            other => panic!("{other:?}"),
        };
        let (add, remove, peek) = ((Act::Add, 0), (Act::Remove, 0), (Act::Peek, 0));
        assert_eq!(wrong(&[remove]), What::NeverAdded);
        assert_eq!(wrong(&[peek, add]), What::SeenBeforeAdded);
        assert_eq!(wrong(&[add, remove, peek]), What::SeenAfterRemoved);
        assert_eq!(wrong(&[add, remove, remove]), What::RemovedTwice);
    }
}
