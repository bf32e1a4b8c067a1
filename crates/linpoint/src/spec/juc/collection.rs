//! What the queues, deques and the set do: the state is the sequence of elements in the order in which the class lists them.

use super::render::{
    self, CLASS_CAST, ILLEGAL_STATE, NO_SUCH_ELEMENT, NULL, NULL_POINTER, Strings, text, text_or,
};
use super::{Bounds, Direction, Element, Function, HistoryForm, Relation, Separator, heap};
use crate::spec::End;
use crate::value::Value;

/// A queue, deque or set of `java.util.concurrent`, at first empty.
#[derive(Clone, Debug)]
pub struct JavaCollection {
    /// Which one.
    pub class: CollectionClass,
    /// The capacity, for classes that are constructed with one.
    pub capacity: Option<usize>,
    /// How the history is written, if that is known.
    pub form: HistoryForm,
}

/// The classes of [`JavaCollection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in Java")]
pub enum CollectionClass {
    ArrayBlockingQueue,
    ConcurrentLinkedDeque,
    ConcurrentLinkedQueue,
    ConcurrentSkipListSet,
    LinkedBlockingDeque,
    LinkedBlockingQueue,
    LinkedTransferQueue,
    PriorityBlockingQueue,
}

/// What an insertion does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IfFull {
    /// Answers whether it was done: `offer`.
    AnswerFalse,
    /// Waits for some time, unless it is interrupted, and answers whether it was done: `offer(x, timeout, unit)`.
    TimeOut,
    /// Answers `true` or throws: `add`.
    Throw,
    /// Answers nothing or throws: `addFirst`, `push`.
    ThrowVoid,
    /// Waits until there is room, and answers nothing: `put`.
    Wait,
}

/// What an operation on the first or last element does where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IfNone {
    /// Answers `null`: `poll`, `peek`.
    AnswerNull,
    /// Waits for some time, unless it is interrupted, and answers `null`: `poll(timeout, unit)`.
    TimeOut,
    /// Throws: `remove`, `element`.
    Throw,
    /// Waits until there is one: `take`.
    Wait,
}

/// An operation on a [`JavaCollection`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CollectionOp {
    /// `add`, `offer`, `push`, `put` and the like; a queue grows at this end, a priority queue and a set have their own order.
    Add(End, Element, IfFull),
    /// `addAll`.
    AddAll(Vec<Element>),
    /// `tryTransfer`: fails, since no consumer waits.
    TryTransfer(Element),
    /// `hasWaitingConsumer`: none does.
    HasWaitingConsumer,
    /// `getWaitingConsumerCount`: none does.
    WaitingConsumers,
    /// `poll`, `remove()`, `pop`, `take` and the like, at this end.
    Take(End, IfNone),
    /// `peek`, `element`, `first` and the like, at this end.
    Look(End, IfNone),
    /// `remove(x)`: the occurrence nearest to this end.
    Remove(End, Element),
    /// `removeAll`.
    RemoveAll(Vec<Element>),
    /// `retainAll`.
    RetainAll(Vec<Element>),
    /// `removeIf`.
    RemoveIf(Function),
    /// `drainTo`: takes out so many from the front, if they are there, and answers how many these were.
    Drain(Option<i64>),
    /// `clear`.
    Clear,
    /// `contains`.
    Contains(Element),
    /// `containsAll`.
    ContainsAll(Vec<Element>),
    /// `isEmpty`.
    IsEmpty,
    /// `size`.
    Size,
    /// `remainingCapacity`.
    RemainingCapacity,
    /// `toString`.
    Print,
    /// `iterator`, `toArray`, `clone`, `descendingIterator`, `descendingSet`.
    List(Direction, Separator),
    /// `lower`, `floor`, `ceiling`, `higher`.
    Neighbour(Relation, Element),
    /// `headSet`, `tailSet`, `subSet`.
    View(Bounds),
    /// Any method with null where it takes a collection, a function or a unit of time.
    OfNull,
}

/// The name of an exception.
type Thrown = &'static str;

impl JavaCollection {
    /// Whether the elements are compared with each other.
    fn is_sorted(&self) -> bool {
        matches!(
            self.class,
            CollectionClass::ConcurrentSkipListSet | CollectionClass::PriorityBlockingQueue
        )
    }

    /// What is thrown when `x` is compared with the elements, any two of which compare.
    fn compare(&self, elements: &[Element], x: &Element) -> Result<(), Thrown> {
        if x.is_null() {
            return Err(NULL_POINTER);
        }
        match elements.first() {
            Some(held) if self.is_sorted() && !held.compares_with(x) => Err(CLASS_CAST),
            _ => Ok(()),
        }
    }

    /// What is thrown when `x` is looked for.
    fn look_for(&self, elements: &[Element], x: &Element) -> Result<(), Thrown> {
        match self.class {
            CollectionClass::ConcurrentSkipListSet => self.compare(elements, x),
            _ => Ok(()),
        }
    }

    /// Adds `x` unless the collection is full, or is a set that contains it. Returns whether it was added.
    fn add(&self, elements: &mut Vec<Element>, end: End, x: &Element) -> Result<bool, Thrown> {
        self.compare(elements, x)?;
        if self.is_full(elements.len()) {
            return Ok(false);
        }
        match (self.class, end) {
            (CollectionClass::PriorityBlockingQueue, _) => heap::push(elements, x.clone()),
            (CollectionClass::ConcurrentSkipListSet, _) => match elements.binary_search(x) {
                Ok(_) => return Ok(false),
                Err(place) => elements.insert(place, x.clone()),
            },
            (_, End::Front) => elements.insert(0, x.clone()),
            (_, End::Back) => elements.push(x.clone()),
        }
        Ok(true)
    }

    fn is_full(&self, size: usize) -> bool {
        self.capacity.is_some_and(|most| size >= most)
    }

    /// Whether `op` waits as long as there are so many elements.
    pub(super) fn waits(&self, size: usize, op: &CollectionOp) -> bool {
        match op {
            CollectionOp::Add(_, x, IfFull::Wait) => self.is_full(size) && !x.is_null(),
            CollectionOp::Take(_, IfNone::Wait) => size == 0,
            _ => false,
        }
    }

    fn remove_at(&self, elements: &mut Vec<Element>, i: usize) {
        match self.class {
            CollectionClass::PriorityBlockingQueue => heap::remove_at(elements, i),
            _ => {
                elements.remove(i);
            }
        }
    }

    /// Removes the occurrence of `x` that is nearest to this end. Returns whether there was one.
    fn remove(&self, elements: &mut Vec<Element>, end: End, x: &Element) -> Result<bool, Thrown> {
        self.look_for(elements, x)?;
        if x.is_null() && self.class == CollectionClass::ConcurrentLinkedDeque {
            return Err(NULL_POINTER);
        }
        let found = match end {
            End::Front => elements.iter().position(|y| y == x),
            End::Back => elements.iter().rposition(|y| y == x),
        };
        if let Some(i) = found {
            self.remove_at(elements, i);
        }
        Ok(found.is_some())
    }

    /// Keeps the elements for which `keep` holds. Returns whether any was removed.
    fn retain(&self, elements: &mut Vec<Element>, keep: impl Fn(&Element) -> bool) -> bool {
        let before = elements.len();
        elements.retain(keep);
        let changed = elements.len() < before;
        if changed && self.class == CollectionClass::PriorityBlockingQueue {
            heap::heapify(elements);
        }
        changed
    }

    fn add_all(&self, elements: &mut Vec<Element>, more: &[Element]) -> Result<bool, Thrown> {
        let reads_all_before = matches!(
            self.class,
            CollectionClass::ConcurrentLinkedDeque
                | CollectionClass::ConcurrentLinkedQueue
                | CollectionClass::LinkedBlockingDeque
        );
        if reads_all_before && more.iter().any(Element::is_null) {
            return Err(NULL_POINTER);
        }
        let mut changed = false;
        // The elements added before an exception stay.
        for x in more {
            let added = self.add(elements, End::Back, x)?;
            if !added && self.class != CollectionClass::ConcurrentSkipListSet {
                return Err(ILLEGAL_STATE);
            }
            changed |= added;
        }
        Ok(changed)
    }

    fn remove_all(&self, elements: &mut Vec<Element>, these: &[Element]) -> Result<bool, Thrown> {
        if self.class != CollectionClass::ConcurrentSkipListSet {
            return Ok(self.retain(elements, |x| !these.contains(x)));
        }
        let mut changed = false;
        // The elements removed before an exception stay so.
        for x in these {
            changed |= self.remove(elements, End::Front, x)?;
        }
        Ok(changed)
    }

    fn contains_all(&self, elements: &[Element], these: &[Element]) -> Result<bool, Thrown> {
        for x in these {
            self.look_for(elements, x)?;
            if !elements.contains(x) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn remaining_capacity(&self, size: usize) -> i64 {
        const MOST: i64 = i32::MAX as i64;
        match self.class {
            // The capacity of these classes is not limited, so the answer does not depend on the size.
            CollectionClass::LinkedTransferQueue | CollectionClass::PriorityBlockingQueue => MOST,
            _ => self.capacity.map_or(MOST, |most| most as i64) - size as i64,
        }
    }

    /// What `op` answers if it lists elements and strings are written in this way.
    pub(super) fn listing(
        &self,
        elements: &[Element],
        op: &CollectionOp,
        strings: Strings,
    ) -> Option<Value> {
        Some(match op {
            CollectionOp::Print => {
                render::list(elements.iter(), Separator::CommaBlank, Strings::Bare)
            }
            CollectionOp::List(Direction::Forward, separator) => {
                render::list(elements.iter(), *separator, strings)
            }
            CollectionOp::List(Direction::Backward, separator) => {
                render::list(elements.iter().rev(), *separator, strings)
            }
            CollectionOp::View(bounds) => match bounds.exception(elements.first()) {
                Some(thrown) => thrown.into(),
                None => {
                    let part = elements.iter().filter(|x| bounds.contains(x));
                    render::list(part, Separator::CommaBlank, strings)
                }
            },
            _ => return None,
        })
    }

    /// Applies `op`, which does not wait, to `elements` and returns its result.
    pub(super) fn perform(&self, elements: &mut Vec<Element>, op: &CollectionOp) -> Value {
        let answer = self.answer(elements, op);
        answer.unwrap_or_else(Value::from)
    }

    fn answer(&self, elements: &mut Vec<Element>, op: &CollectionOp) -> Result<Value, Thrown> {
        let at = |end: &End, elements: &[Element]| match end {
            End::Front => (!elements.is_empty()).then_some(0),
            End::Back => elements.len().checked_sub(1),
        };
        let otherwise = |missing: &IfNone| match missing {
            IfNone::AnswerNull | IfNone::TimeOut => NULL,
            IfNone::Throw | IfNone::Wait => NO_SUCH_ELEMENT,
        };
        Ok(match op {
            CollectionOp::Add(end, x, full) => match (self.add(elements, *end, x)?, full) {
                (added, IfFull::AnswerFalse | IfFull::TimeOut) => text(added),
                (true, IfFull::Throw) => text(true),
                (true, IfFull::ThrowVoid | IfFull::Wait) => Value::Nil,
                (false, _) => return Err(ILLEGAL_STATE),
            },
            CollectionOp::AddAll(more) => text(self.add_all(elements, more)?),
            CollectionOp::TryTransfer(x) if x.is_null() => return Err(NULL_POINTER),
            CollectionOp::TryTransfer(_) | CollectionOp::HasWaitingConsumer => text(false),
            CollectionOp::WaitingConsumers => text(0),
            CollectionOp::Take(end, missing) => match at(end, elements) {
                Some(i) => {
                    let taken = text(&elements[i]);
                    self.remove_at(elements, i);
                    taken
                }
                None => otherwise(missing).into(),
            },
            CollectionOp::Look(end, missing) => {
                text_or(at(end, elements).map(|i| &elements[i]), otherwise(missing))
            }
            CollectionOp::Remove(end, x) => text(self.remove(elements, *end, x)?),
            CollectionOp::RemoveAll(these) => text(self.remove_all(elements, these)?),
            CollectionOp::RetainAll(these) => text(self.retain(elements, |x| these.contains(x))),
            CollectionOp::RemoveIf(function) => {
                text(self.retain(elements, |x| function.holds(x) == Some(false)))
            }
            CollectionOp::Drain(most) => {
                let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(0));
                let count = most.min(elements.len());
                (0..count).for_each(|_| self.remove_at(elements, 0));
                text(count)
            }
            CollectionOp::Clear => {
                elements.clear();
                Value::Nil
            }
            CollectionOp::Contains(x) => {
                self.look_for(elements, x)?;
                text(elements.contains(x))
            }
            CollectionOp::ContainsAll(these) => text(self.contains_all(elements, these)?),
            CollectionOp::IsEmpty => text(elements.is_empty()),
            CollectionOp::Size => text(elements.len()),
            CollectionOp::RemainingCapacity => text(self.remaining_capacity(elements.len())),
            CollectionOp::Neighbour(relation, x) => {
                self.compare(elements, x)?;
                text_or(relation.find(elements.iter(), x), NULL)
            }
            CollectionOp::OfNull => return Err(NULL_POINTER),
            CollectionOp::Print | CollectionOp::List(..) | CollectionOp::View(_) => {
                let listing = self.listing(elements, op, self.form.strings());
                listing.expect("bug: an operation that lists elements has no listing")
            }
        })
    }
}
