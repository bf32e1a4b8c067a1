//! When values that were taken out had been in the queue whatever the order: this explains why it was not empty.

use std::collections::VecDeque;

use super::super::{Observable, Op, Time};
use crate::value::Value;

/// How many are kept of each queue: there may be many queues.
const MOST: usize = 16;

/// A value that was taken out, and was in the queue between these events whatever the order.
pub(super) struct Critical<O: Observable> {
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) value: Value,
    /// Its insertion and its removal.
    pub(super) shown_by: [Op<O>; 2],
}

/// The last ones, none of which is within another.
pub(super) struct Cover<O: Observable>(VecDeque<Critical<O>>);

impl<O: Observable> Cover<O> {
    pub(super) fn new() -> Self {
        Cover(VecDeque::new())
    }

    pub(super) fn add(&mut self, new: Critical<O>) {
        let is_within = |one: &Critical<O>, other: &Critical<O>| {
            other.from <= one.from && one.until <= other.until
        };
        if self.0.iter().any(|one| is_within(&new, one)) {
            return;
        }
        self.0.retain(|one| !is_within(one, &new));
        let place = self.0.partition_point(|one| one.from < new.from);
        self.0.insert(place, new);
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// Values of which one was there in each gap after `from` and before `until`, as few as possible; `None` if these are not
    /// known.
    pub(super) fn all(&self, from: Time, until: Time) -> Option<Vec<&Critical<O>>> {
        let mut all = Vec::new();
        let mut covered = from;
        while covered < until {
            let there = self.0.iter().filter(|one| one.from <= covered);
            let furthest = there.max_by_key(|one| one.until)?;
            if furthest.until <= covered {
                return None;
            }
            covered = furthest.until;
            all.push(furthest);
        }
        Some(all)
    }
}
