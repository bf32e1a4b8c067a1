//! What the operations on each value of a container say about when it was there.

use std::hint::select_unpredictable;

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

    /// The call of the insertion, while the lives are made, if there are two of them.
    const AGAIN: u32 = NEVER - 1;

    /// The return of the removal, while the lives are made, if there are two of them. No return is the first event.
    const TWICE: u32 = 0;

    /// Before any operation on it was looked at.
    const UNKNOWN: Life = Life {
        out_from: 0,
        ..Life::FORGOTTEN
    };

    /// No event is part of it.
    const FORGOTTEN: Life = Life {
        added: NEVER,
        in_by: NEVER,
        out_from: NEVER,
        seen_by: NEVER,
        removed_by: NEVER,
    };

    /// Takes account of an operation, as far as it goes without knowing the others.
    ///
    /// Chooses values, not ways to go: what the next operation does is hard to foresee.
    #[inline]
    fn record(&mut self, act: Act, call: u32, ret: u32) {
        let adds = act == Act::Add;
        if act == Act::Peek {
            self.seen_by = self.seen_by.min(ret);
        } else {
            let removed_by =
                select_unpredictable(self.is_removed(), Life::TWICE, ret.min(Life::OPEN));
            let added = select_unpredictable(self.exists(), Life::AGAIN, call);
            self.added = select_unpredictable(adds, added, self.added);
            self.removed_by = select_unpredictable(adds, self.removed_by, removed_by);
        }
        self.in_by = self.in_by.min(ret);
        self.out_from = self.out_from.max(call);
    }

    /// Once all operations on it were recorded.
    #[inline]
    fn complete(&mut self, end: u32) -> Result<(), What> {
        if self.in_by == NEVER {
            *self = Life::FORGOTTEN;
            return Ok(());
        }
        let is_removed = self.is_removed();
        let left_by = select_unpredictable(is_removed, self.removed_by.min(end - 1), NEVER);
        self.seen_by = self.seen_by.min(left_by);
        if (self.added > self.seen_by) | (self.removed_by < self.out_from) {
            return Err(if self.removed_by == Life::TWICE {
                What::RemovedTwice
            } else if !self.exists() {
                What::NeverAdded
            } else if self.added > self.seen_by {
                What::SeenBeforeAdded
            } else {
                What::SeenAfterRemoved
            });
        }
        self.out_from = select_unpredictable(is_removed, self.out_from, end);
        Ok(())
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

/// The lives of all values, by number.
#[derive(Clone, Debug)]
pub struct Lives {
    lives: Vec<Life>,
    /// Some operation is a peek.
    pub has_peeks: bool,
    /// Some operation found nothing.
    pub has_empties: bool,
    /// Some removal is pending.
    pub has_open: bool,
}

/// Why there are no lives: what is the matter with one value. Others may have other flaws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLives {
    /// This value was put in more than once, so nobody can tell which of them an operation is about.
    Ambiguous(u32),
    /// The operations on one value contradict each other.
    Clash(Clash),
}

impl std::ops::Index<u32> for Lives {
    type Output = Life;

    #[inline]
    fn index(&self, value: u32) -> &Life {
        &self.lives[value as usize]
    }
}

impl Lives {
    /// Looks at every operation once.
    pub fn of(log: &Log<Act>) -> Result<Self, NoLives> {
        let mut lives = vec![Life::UNKNOWN; log.distinct as usize];
        let columns = log.acts.iter().zip(&log.values);
        for ((&act, &value), (&call, &ret)) in columns.zip(log.calls.iter().zip(log.rets.iter())) {
            if act == Act::Empty {
                continue;
            }
            lives[value as usize].record(act, call, ret);
        }
        for (value, life) in (0u32..).zip(&mut lives) {
            // Checked before anything else: two removals are no contradiction then.
            if life.added == Life::AGAIN {
                return Err(NoLives::Ambiguous(value));
            }
            if let Err(what) = life.complete(log.end()) {
                return Err(NoLives::Clash(cover::clash(log, what, &[value], &[])));
            }
        }
        let has = |wanted: Act| log.acts.contains(&wanted);
        let is_open = |(&act, &ret): (&Act, &u32)| act == Act::Remove && ret == NEVER;
        let has_pending = (log.end() as usize) < 2 * log.len();
        let (has_peeks, has_empties) = (has(Act::Peek), has(Act::Empty));
        let has_open = has_pending && log.acts.iter().zip(log.rets.iter()).any(is_open);
        Ok(Lives {
            lives,
            has_peeks,
            has_empties,
            has_open,
        })
    }

    #[inline]
    pub(super) fn get(&self, value: u32) -> Option<&Life> {
        self.lives.get(value as usize)
    }

    /// All lives with the numbers of their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Life)> {
        (0u32..).zip(&self.lives).filter(|(_, life)| life.exists())
    }

    /// The same, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Life)> {
        let lives = (0u32..).zip(&mut self.lives);
        lives.filter(|(_, life)| life.exists())
    }
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
