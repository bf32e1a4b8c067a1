//! The shared objects of an execution, and how to take back what happened to them after a checkpoint.

use std::ops::Deref;

use super::super::access::{Effect, Hold, Kind};
use super::super::causality::{Clock, Past, Touched};
use super::super::{MAIN, MAX_WORKERS};
use super::Causality;
use crate::Map;

/// How many objects an execution can have: their numbers have 24 bits.
pub(super) const MOST_OBJECTS: u32 = 1 << 24;

/// The name of an object: the same in every execution of a test, whatever the schedule. The upper 8 bits say what made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectName(u32);

/// What made an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Creator {
    /// The constructor of the object under test, or its initial sequence.
    Main,
    /// An operation of this thread.
    Worker(usize),
    /// Code outside of the execution, or the runtime.
    Other,
}

impl ObjectName {
    const EXTERNAL: u32 = 0xFF;
    const PERMIT: u32 = 0xFE;
    const THREADS: u32 = 0xFD;

    fn new(creator: u32, number: u32) -> Self {
        debug_assert!(number < MOST_OBJECTS);
        ObjectName(creator << 24 | number)
    }

    pub(super) fn created(thread: usize, number: u32) -> Self {
        ObjectName::new(thread as u32, number)
    }

    /// An object that was made outside of the execution.
    pub(super) fn external(number: u32) -> Self {
        ObjectName::new(ObjectName::EXTERNAL, number)
    }

    /// The permit of a thread.
    pub(super) fn permit(thread: usize) -> Self {
        ObjectName::new(ObjectName::PERMIT, thread as u32)
    }

    /// The list of threads, which each start of a thread changes.
    pub(super) fn threads() -> Self {
        ObjectName::new(ObjectName::THREADS, 0)
    }

    /// What made it.
    pub(crate) fn creator(self) -> Creator {
        match (self.0 >> 24) as usize {
            MAIN => Creator::Main,
            thread if thread < MAX_WORKERS => Creator::Worker(thread),
            _ => Creator::Other,
        }
    }

    /// Its number among the objects of its creator, from 1.
    pub(crate) fn number(self) -> u32 {
        (self.0 & (MOST_OBJECTS - 1)) + 1
    }

    /// Creator and number as one number.
    pub(crate) fn code(self) -> u64 {
        u64::from(self.0)
    }
}

#[derive(Clone, Copy, Debug)]
struct Object {
    name: ObjectName,
    hold: Hold,
    /// Grows with each change.
    version: u32,
}

/// The causal past of the steps that touched an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Causes {
    pub(super) clocks: Touched<Clock>,
    pub(super) pasts: Touched<Past>,
}

/// The shared objects of an execution.
#[derive(Debug, Default)]
pub(super) struct Memory {
    objects: Reversible<Object>,
    /// One for each object, if causality is computed.
    causes: Reversible<Causes>,
    /// Objects that were made outside of the execution, by their addresses in this one.
    external: Map<usize, u32>,
    /// The same in the order in which they appear. In an execution that repeats a prefix, those that will appear are in it, too.
    external_order: Vec<u32>,
}

/// An earlier state of a [`Memory`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemoryMark {
    objects: Mark,
    causes: Mark,
}

impl Memory {
    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.causes.clear();
        self.external.clear();
        self.external_order.clear();
    }

    /// Adds an object; `None` if there are too many.
    pub(super) fn insert(&mut self, name: ObjectName, causality: Causality) -> Option<u32> {
        let object = u32::try_from(self.objects.len()).ok();
        let object = object.filter(|&object| object < MOST_OBJECTS)?;
        self.objects.push(Object {
            name,
            hold: 0,
            version: 0,
        });
        if causality != Causality::Ignored {
            self.causes.push(Causes::default());
        }
        Some(object)
    }

    /// The object with this address that was made outside; its number if it appears for the first time.
    pub(super) fn external(&mut self, address: usize) -> Result<u32, u32> {
        if let Some(&object) = self.external.get(&address) {
            return Ok(object);
        }
        let number = self.external.len();
        match self.external_order.get(number) {
            Some(&object) => {
                self.external.insert(address, object);
                Ok(object)
            }
            None => Err(number as u32),
        }
    }

    /// The object with this address appears for the first time.
    pub(super) fn add_external(&mut self, address: usize, object: u32) {
        self.external_order.push(object);
        self.external.insert(address, object);
    }

    /// Whether a thread that waits for this access can have it now.
    #[inline(always)]
    pub(super) fn available(&self, object: u32, kind: Kind) -> bool {
        kind.enabled(self.objects[object as usize].hold)
    }

    /// Changes the object as an access of this kind does. Returns its name and its version afterwards.
    #[inline(always)]
    pub(super) fn touch(&mut self, object: u32, kind: Kind, effect: Effect) -> (ObjectName, u32) {
        let object = self.objects.change(object);
        object.hold = kind.apply(object.hold);
        object.version += u32::from(effect.is_change());
        (object.name, object.version)
    }

    /// How many objects there are.
    pub(super) fn len(&self) -> u32 {
        self.objects.len() as u32
    }

    pub(super) fn name(&self, object: u32) -> ObjectName {
        self.objects[object as usize].name
    }

    #[inline(always)]
    pub(super) fn version(&self, object: u32) -> u32 {
        self.objects[object as usize].version
    }

    /// Which threads hold the objects, in the order of their numbers.
    pub(super) fn holds(&self) -> impl Iterator<Item = Hold> + '_ {
        self.objects.iter().map(|object| object.hold)
    }

    pub(super) fn causes(&self, object: u32) -> &Causes {
        &self.causes[object as usize]
    }

    pub(super) fn change_causes(&mut self, object: u32) -> &mut Causes {
        self.causes.change(object)
    }

    /// Marks the present state, to go back to it later.
    pub(super) fn checkpoint(&mut self) -> MemoryMark {
        MemoryMark {
            objects: self.objects.mark(),
            causes: self.causes.mark(),
        }
    }

    /// Goes back to an earlier state. The addresses of external objects are forgotten: another execution begins.
    pub(super) fn return_to(&mut self, mark: MemoryMark) {
        self.objects.return_to(mark.objects);
        self.causes.return_to(mark.causes);
        let objects = self.objects.len();
        self.external.clear();
        self.external_order
            .retain(|&object| (object as usize) < objects);
    }
}

/// A list of items whose changes can be taken back.
#[derive(Debug)]
struct Reversible<T> {
    items: Vec<T>,
    /// The items that were changed since the first mark, as they were before, the latest change last.
    before: Vec<(u32, T)>,
    is_marked: bool,
}

/// An earlier state of a [`Reversible`].
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    items: usize,
    changes: usize,
}

impl<T> Default for Reversible<T> {
    fn default() -> Self {
        Reversible {
            items: Vec::new(),
            before: Vec::new(),
            is_marked: false,
        }
    }
}

impl<T: Copy> Reversible<T> {
    fn clear(&mut self) {
        self.items.clear();
        self.before.clear();
        self.is_marked = false;
    }

    fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// An item that is about to change.
    #[inline(always)]
    fn change(&mut self, index: u32) -> &mut T {
        let item = &mut self.items[index as usize];
        if self.is_marked {
            self.before.push((index, *item));
        }
        item
    }

    /// Marks the present state. Changes are recorded from the first mark on.
    fn mark(&mut self) -> Mark {
        self.is_marked = true;
        Mark {
            items: self.items.len(),
            changes: self.before.len(),
        }
    }

    /// Goes back to an earlier state.
    fn return_to(&mut self, mark: Mark) {
        for (index, item) in self.before.drain(mark.changes..).rev() {
            self.items[index as usize] = item;
        }
        self.items.truncate(mark.items);
    }
}

impl<T> Deref for Reversible<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items
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
        let first = column.mark();
        column.push(10);
        *column.change(0) = 3;
        let second = column.mark();
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
