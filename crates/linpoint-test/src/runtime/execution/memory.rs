//! The objects of an execution, and what they were like before: to go on from an earlier choice, what changed after it is taken
//! back.

use std::ops::{Deref, DerefMut};

use super::super::access::Hold;
use super::super::causality::{Clock, Past, Touched};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    /// Creating thread and number: the same in every execution, whatever the schedule.
    pub(crate) name: u32,
    pub(super) hold: Hold,
    /// As the workers found it.
    pub(crate) held_at_start: Hold,
    pub(super) version: u32,
}

/// What happened to an object before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Causes {
    pub(super) clocks: Touched<Clock>,
    pub(super) pasts: Touched<Past>,
}

/// A column of objects that can become what it was.
#[derive(Debug)]
pub(crate) struct Reversible<T> {
    items: Vec<T>,
    /// What was changed since it is remembered, as it was, the latest last.
    before: Vec<(u32, T)>,
    remembers: bool,
}

/// How a column was at some time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    items: usize,
    changes: usize,
}

impl<T> Default for Reversible<T> {
    fn default() -> Self {
        Reversible {
            items: Vec::new(),
            before: Vec::new(),
            remembers: false,
        }
    }
}

impl<T: Copy> Reversible<T> {
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.before.clear();
        self.remembers = false;
    }

    pub(super) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// An item that is about to change.
    #[inline(always)]
    pub(super) fn change(&mut self, index: u32) -> &mut T {
        let item = &mut self.items[index as usize];
        if self.remembers {
            self.before.push((index, *item));
        }
        item
    }

    /// How it is now, from which on changes are remembered.
    pub(super) fn remember(&mut self) -> Moment {
        self.remembers = true;
        Moment {
            items: self.items.len(),
            changes: self.before.len(),
        }
    }

    /// Becomes what it was.
    pub(super) fn return_to(&mut self, moment: Moment) {
        for (index, item) in self.before.drain(moment.changes..).rev() {
            self.items[index as usize] = item;
        }
        self.items.truncate(moment.items);
    }
}

impl<T> Deref for Reversible<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items
    }
}

/// For changes that nobody will take back.
impl<T> DerefMut for Reversible<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_taken_back() {
        let mut column = Reversible::default();
        column.push(1);
        *column.change(0) = 2;
        let first = column.remember();
        column.push(10);
        *column.change(0) = 3;
        let second = column.remember();
        *column.change(0) = 4;
        *column.change(0) = 5;
        *column.change(1) = 11;
        column.push(20);
        *column.change(2) = 21;
        column.return_to(second);
        assert_eq!(*column, [3, 10]);
        *column.change(1) = 12;
        column.return_to(second);
        assert_eq!(*column, [3, 10]);
        column.return_to(first);
        assert_eq!(*column, [2]);
    }
}
