//! What the operations on each value of a container say about when it was there.

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

/// Why there are no lives.
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
        let (mut has_peeks, mut has_empties, mut has_open) = (false, false, false);
        let end = log.end();
        let columns = log.acts.iter().zip(&log.values);
        for ((&act, &value), (&call, &ret)) in columns.zip(log.calls.iter().zip(&log.rets)) {
            if act == Act::Empty {
                has_empties = true;
                continue;
            }
            let life = &mut lives[value as usize];
            life.in_by = life.in_by.min(ret);
            life.out_from = life.out_from.max(call);
            match act {
                // All insertions are counted before anything is judged: two removals of a value that was put in twice
                // are no contradiction.
                Act::Add if life.added != NEVER => return Err(NoLives::Ambiguous(value)),
                Act::Add => life.added = call,
                Act::Remove => {
                    has_open |= ret == NEVER;
                    life.removed_by = match life.removed_by {
                        NEVER => ret.min(Life::OPEN),
                        _ => Life::TWICE,
                    };
                    life.seen_by = life.seen_by.min(ret.min(end - 1));
                }
                _ => {
                    has_peeks = true;
                    life.seen_by = life.seen_by.min(ret);
                }
            }
        }
        for (value, life) in (0u32..).zip(&mut lives) {
            if life.in_by == NEVER {
                *life = Life::FORGOTTEN;
                continue;
            }
            if life.added > life.seen_by || life.removed_by < life.out_from {
                let what = if life.removed_by == Life::TWICE {
                    What::RemovedTwice
                } else if !life.exists() {
                    What::NeverAdded
                } else if life.added > life.seen_by {
                    What::SeenBeforeAdded
                } else {
                    What::SeenAfterRemoved
                };
                return Err(NoLives::Clash(cover::clash(log, what, &[value], &[])));
            }
            if !life.is_removed() {
                life.out_from = end;
            }
        }
        Ok(Lives {
            lives,
            has_peeks,
            has_empties,
            has_open,
        })
    }

    /// All lives with the numbers of their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Life)> {
        (0u32..).zip(&self.lives).filter(|(_, life)| life.exists())
    }
}

/// What a container's rule says about the lives, if every life makes sense by itself; the value that was put in more than
/// once, if there is one.
pub(super) fn judge<P>(
    log: &Log<Act>,
    rule: impl FnOnce(&Lives) -> Result<P, Clash>,
) -> Result<Finding<P>, u32> {
    let judged = match Lives::of(log) {
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
