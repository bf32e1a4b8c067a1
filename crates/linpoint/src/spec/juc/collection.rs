//! Specifies the queues, deques and the set: the state is the sequence of elements in the order in which the class lists
//! them.

use super::argument::{Argument, arguments};
use super::elements::Elements;
use super::methods::{collection_methods, sample};
use super::render::{self, ILLEGAL_ARGUMENT, ILLEGAL_STATE, NO_SUCH_ELEMENT, NULL, text, text_or};
use super::{Bounds, Direction, Function, Relation, ResultForm, Separator, heap};
use crate::spec::{
    CallView, DecodeError, End, Outcomes, Recorded, RecordedOps, Sampler, Simulated, Spec,
    Vocabulary, words,
};
use crate::value::Value;

/// A queue, deque or set of `java.util.concurrent`, at first empty.
#[derive(Clone, Debug)]
pub struct JavaCollection {
    /// Which one.
    pub class: CollectionClass,
    /// The capacity, for classes that are constructed with one.
    pub capacity: Option<usize>,
    /// How results are written, in explanations too.
    pub results: ResultForm,
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
    /// Throws: `remove`, `element`.
    Throw,
    /// Waits until there is one: `take`.
    Wait,
}

/// An operation on a [`JavaCollection`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CollectionOp {
    /// `add`, `offer`, `push`, `put` and the like; a queue grows at this end, a priority queue and a set have their own order.
    Add(End, i64, IfFull),
    /// `addAll`.
    AddAll(Vec<i64>),
    /// `tryTransfer`: fails, since no consumer waits between operations.
    TryTransfer(i64),
    /// `poll`, `remove()`, `pop`, `take` and the like, at this end.
    Take(End, IfNone),
    /// `peek`, `element`, `first` and the like, at this end.
    Look(End, IfNone),
    /// `remove(x)`: the occurrence nearest to this end.
    Remove(End, i64),
    /// `removeAll`.
    RemoveAll(Vec<i64>),
    /// `retainAll`.
    RetainAll(Vec<i64>),
    /// `removeIf`.
    RemoveIf(Function),
    /// `drainTo`: takes out so many from the front, if they are there, and answers how many these were.
    Drain(Option<i64>),
    /// `clear`.
    Clear,
    /// `contains`.
    Contains(i64),
    /// `containsAll`.
    ContainsAll(Vec<i64>),
    /// `isEmpty`.
    IsEmpty,
    /// `size`.
    Size,
    /// `remainingCapacity`.
    RemainingCapacity,
    /// `iterator`, `toArray`, `toString`, `descendingIterator`, `descendingSet`.
    List(Direction, Separator),
    /// `lower`, `floor`, `ceiling`, `higher`.
    Neighbour(Relation, i64),
    /// `headSet`, `tailSet`, `subSet`.
    View(Bounds),
}

impl JavaCollection {
    /// Adds `x` unless the collection is full, or is a set that contains it. Returns whether it was added.
    fn add(&self, elements: &mut Vec<i64>, end: End, x: i64) -> bool {
        if self.is_full(elements.len()) {
            return false;
        }
        match (self.class, end) {
            (CollectionClass::PriorityBlockingQueue, _) => heap::push(elements, x),
            (CollectionClass::ConcurrentSkipListSet, _) => match elements.binary_search(&x) {
                Ok(_) => return false,
                Err(place) => elements.insert(place, x),
            },
            (_, End::Front) => elements.insert(0, x),
            (_, End::Back) => elements.push(x),
        }
        true
    }

    fn is_full(&self, size: usize) -> bool {
        self.capacity.is_some_and(|most| size >= most)
    }

    /// Whether `op` waits as long as there are so many elements.
    fn waits(&self, size: usize, op: &CollectionOp) -> bool {
        match op {
            CollectionOp::Add(_, _, IfFull::Wait) => self.is_full(size),
            CollectionOp::Take(_, IfNone::Wait) => size == 0,
            _ => false,
        }
    }

    fn remove_at(&self, elements: &mut Vec<i64>, i: usize) {
        match self.class {
            CollectionClass::PriorityBlockingQueue => heap::remove_at(elements, i),
            _ => {
                elements.remove(i);
            }
        }
    }

    /// Keeps the elements for which `keep` holds. Returns whether any was removed.
    fn retain(&self, elements: &mut Vec<i64>, keep: impl Fn(i64) -> bool) -> bool {
        let before = elements.len();
        elements.retain(|&x| keep(x));
        let changed = elements.len() < before;
        if changed && self.class == CollectionClass::PriorityBlockingQueue {
            heap::heapify(elements);
        }
        changed
    }

    fn add_all(&self, elements: &mut Vec<i64>, more: &[i64]) -> Value {
        let mut changed = false;
        for &x in more {
            let added = self.add(elements, End::Back, x);
            if !added && self.class != CollectionClass::ConcurrentSkipListSet {
                // The elements added before the exception stay.
                return ILLEGAL_STATE.into();
            }
            changed |= added;
        }
        text(changed)
    }

    fn remaining_capacity(&self, size: usize) -> i64 {
        const MOST: i64 = i32::MAX as i64;
        match self.class {
            // The capacity of these classes is not limited, so the answer does not depend on the size.
            CollectionClass::LinkedTransferQueue | CollectionClass::PriorityBlockingQueue => MOST,
            _ => self.capacity.map_or(MOST, |most| most as i64) - size as i64,
        }
    }

    /// Applies `op`, which does not wait, to `elements` and returns its result.
    fn perform(&self, elements: &mut Vec<i64>, op: &CollectionOp) -> Value {
        let at = |end: &End, elements: &[i64]| match end {
            End::Front => (!elements.is_empty()).then_some(0),
            End::Back => elements.len().checked_sub(1),
        };
        let otherwise = |missing: &IfNone| match missing {
            IfNone::AnswerNull => NULL,
            IfNone::Throw | IfNone::Wait => NO_SUCH_ELEMENT,
        };
        match op {
            CollectionOp::Add(end, x, full) => match (self.add(elements, *end, *x), full) {
                (added, IfFull::AnswerFalse) => text(added),
                (true, IfFull::Throw) => text(true),
                (true, IfFull::ThrowVoid | IfFull::Wait) => Value::Nil,
                (false, _) => ILLEGAL_STATE.into(),
            },
            CollectionOp::AddAll(more) => self.add_all(elements, more),
            CollectionOp::TryTransfer(_) => text(false),
            CollectionOp::Take(end, missing) => {
                let taken = at(end, elements).map(|i| (i, elements[i]));
                if let Some((i, _)) = taken {
                    self.remove_at(elements, i);
                }
                text_or(taken.map(|(_, x)| x), otherwise(missing))
            }
            CollectionOp::Look(end, missing) => {
                text_or(at(end, elements).map(|i| elements[i]), otherwise(missing))
            }
            CollectionOp::Remove(end, x) => {
                let found = match end {
                    End::Front => elements.iter().position(|y| y == x),
                    End::Back => elements.iter().rposition(|y| y == x),
                };
                if let Some(i) = found {
                    self.remove_at(elements, i);
                }
                text(found.is_some())
            }
            CollectionOp::RemoveAll(these) => text(self.retain(elements, |x| !these.contains(&x))),
            CollectionOp::RetainAll(these) => text(self.retain(elements, |x| these.contains(&x))),
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
            CollectionOp::Contains(x) => text(elements.contains(x)),
            CollectionOp::ContainsAll(these) => text(these.iter().all(|x| elements.contains(x))),
            CollectionOp::IsEmpty => text(elements.is_empty()),
            CollectionOp::Size => text(elements.len()),
            CollectionOp::RemainingCapacity => text(self.remaining_capacity(elements.len())),
            CollectionOp::List(Direction::Forward, separator) => {
                render::list(elements.iter(), *separator)
            }
            CollectionOp::List(Direction::Backward, separator) => {
                render::list(elements.iter().rev(), *separator)
            }
            CollectionOp::Neighbour(relation, x) => {
                text_or(relation.find(elements.iter().copied(), *x), NULL)
            }
            CollectionOp::View(bounds) if bounds.are_crossed() => ILLEGAL_ARGUMENT.into(),
            CollectionOp::View(bounds) => render::list(
                elements.iter().filter(|&&x| bounds.contains(x)),
                Separator::CommaBlank,
            ),
        }
    }
}

impl Spec for JavaCollection {
    type Op = CollectionOp;
    type Ret = Value;
    /// The elements in the order in which iterators show them.
    type State = Elements;

    fn init(&self) -> Elements {
        Elements::default()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the collection",
            put: "added",
            taken: "removed",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        words::members("the collection", state.to_vec())
    }

    fn answer_words(&self, _: &CollectionOp, answer: &Value) -> String {
        self.results.answer(answer)
    }

    fn answer_reason(&self, op: &CollectionOp, answer: &str) -> Option<String> {
        match (op, answer.trim_matches('"')) {
            (CollectionOp::Add(..), "false" | ILLEGAL_STATE) => words::limit("full", self.capacity),
            (CollectionOp::Add(..), "true") => words::limit("not full", self.capacity),
            _ => None,
        }
    }

    fn state_value(&self, state: &Elements) -> Value {
        Value::list(state.to_vec().into_iter().map(Value::Int))
    }

    fn apply(&self, state: &Elements, op: &CollectionOp) -> Outcomes<Value, Elements> {
        let mut elements = state.to_vec();
        if self.waits(elements.len(), op) {
            return Outcomes::Blocked;
        }
        let answer = self.perform(&mut elements, op);
        let next = match self.is_pure(op, None) {
            true => state.clone(),
            false => elements.into(),
        };
        Outcomes::One(answer, next)
    }

    fn is_pure(&self, op: &CollectionOp, ret: Option<&Value>) -> bool {
        let answers = |text: &str| ret.and_then(Value::as_text) == Some(text);
        match op {
            CollectionOp::Add(..) => answers("false") || answers(ILLEGAL_STATE),
            // An `addAll` that throws may have added some elements before.
            CollectionOp::AddAll(_) => answers("false"),
            CollectionOp::Take(..) => answers(NULL) || answers(NO_SUCH_ELEMENT),
            CollectionOp::Remove(..)
            | CollectionOp::RemoveAll(_)
            | CollectionOp::RetainAll(_)
            | CollectionOp::RemoveIf(_) => answers("false"),
            CollectionOp::Drain(_) => answers("0"),
            CollectionOp::Clear => false,
            CollectionOp::TryTransfer(_)
            | CollectionOp::Look(..)
            | CollectionOp::Contains(_)
            | CollectionOp::ContainsAll(_)
            | CollectionOp::IsEmpty
            | CollectionOp::Size
            | CollectionOp::RemainingCapacity
            | CollectionOp::List(..)
            | CollectionOp::Neighbour(..)
            | CollectionOp::View(_) => true,
        }
    }

    fn state_after(&self, op: &CollectionOp, ret: &Value) -> Option<Elements> {
        let answers = |text: &str| ret.as_text() == Some(text);
        match op {
            CollectionOp::Clear => Some(Elements::default()),
            CollectionOp::List(direction, separator) => {
                let mut listed = render::listed(ret.as_text()?, *separator)?;
                if *direction == Direction::Backward {
                    listed.reverse();
                }
                Some(listed.into())
            }
            CollectionOp::Take(..) | CollectionOp::Look(..) => {
                (answers(NULL) || answers(NO_SUCH_ELEMENT)).then(Elements::default)
            }
            CollectionOp::IsEmpty => answers("true").then(Elements::default),
            CollectionOp::Size => answers("0").then(Elements::default),
            _ => None,
        }
    }
}

impl Recorded for JavaCollection {
    fn fitted_to(&self, history: RecordedOps<'_, '_>) -> Option<Self> {
        Some(JavaCollection {
            results: ResultForm::of(history),
            ..self.clone()
        })
    }

    fn decode(&self, call: CallView<'_>) -> Result<CollectionOp, DecodeError> {
        use Argument::{Collection, Function, Integer};
        use CollectionOp::*;
        use End::{Back, Front};
        let arguments = arguments(call.argument)?;
        super::methods::check(collection_methods(self.class), call.method, arguments.len())?;
        let is_set = self.class == CollectionClass::ConcurrentSkipListSet;
        Ok(match (call.method, &arguments[..]) {
            ("add", &[Integer(x)]) if is_set => Add(Back, x, IfFull::AnswerFalse),
            ("add", &[Integer(x)]) => Add(Back, x, IfFull::Throw),
            ("offer" | "offerLast", &[Integer(x)]) => Add(Back, x, IfFull::AnswerFalse),
            ("addLast", &[Integer(x)]) => Add(Back, x, IfFull::ThrowVoid),
            ("put" | "putLast", &[Integer(x)]) => Add(Back, x, IfFull::Wait),
            ("putFirst", &[Integer(x)]) => Add(Front, x, IfFull::Wait),
            ("take" | "takeFirst", []) => Take(Front, IfNone::Wait),
            ("takeLast", []) => Take(Back, IfNone::Wait),
            ("offerFirst", &[Integer(x)]) => Add(Front, x, IfFull::AnswerFalse),
            ("push" | "addFirst", &[Integer(x)]) => Add(Front, x, IfFull::ThrowVoid),
            ("addAll", [Collection(c)]) => AddAll(c.clone()),
            ("tryTransfer", &[Integer(x)]) => TryTransfer(x),
            ("poll" | "pollFirst", []) => Take(Front, IfNone::AnswerNull),
            ("pollLast", []) => Take(Back, IfNone::AnswerNull),
            ("remove" | "pop" | "removeFirst", []) => Take(Front, IfNone::Throw),
            ("removeLast", []) => Take(Back, IfNone::Throw),
            ("peek" | "peekFirst", []) => Look(Front, IfNone::AnswerNull),
            ("peekLast", []) => Look(Back, IfNone::AnswerNull),
            ("element" | "getFirst" | "first", []) => Look(Front, IfNone::Throw),
            ("getLast" | "last", []) => Look(Back, IfNone::Throw),
            ("remove" | "removeFirstOccurrence", &[Integer(x)]) => Remove(Front, x),
            ("removeLastOccurrence", &[Integer(x)]) => Remove(Back, x),
            ("removeAll", [Collection(c)]) => RemoveAll(c.clone()),
            ("retainAll", [Collection(c)]) => RetainAll(c.clone()),
            ("removeIf", &[Function(f)]) if !f.has_values() => RemoveIf(f),
            ("drainTo", [Collection(_)]) => Drain(None),
            ("drainTo", &[Collection(_), Integer(most)]) => Drain(Some(most)),
            ("clear", []) => Clear,
            ("contains", &[Integer(x)]) => Contains(x),
            ("containsAll", [Collection(c)]) => ContainsAll(c.clone()),
            ("isEmpty", []) => IsEmpty,
            ("size", []) => Size,
            ("remainingCapacity", []) => RemainingCapacity,
            ("iterator" | "toArray", []) => List(Direction::Forward, Separator::Comma),
            ("toString", []) => List(Direction::Forward, Separator::CommaBlank),
            ("descendingIterator", []) => List(Direction::Backward, Separator::Comma),
            ("descendingSet", []) => List(Direction::Backward, Separator::CommaBlank),
            ("lower", &[Integer(x)]) => Neighbour(Relation::Lower, x),
            ("floor", &[Integer(x)]) => Neighbour(Relation::Floor, x),
            ("ceiling", &[Integer(x)]) => Neighbour(Relation::Ceiling, x),
            ("higher", &[Integer(x)]) => Neighbour(Relation::Higher, x),
            ("headSet", &[Integer(to)]) => View(Bounds(None, Some(to))),
            ("tailSet", &[Integer(from)]) => View(Bounds(Some(from), None)),
            ("subSet", &[Integer(from), Integer(to)]) => View(Bounds(Some(from), Some(to))),
            _ => return Err(super::methods::mismatch(call)),
        })
    }

    fn decode_result(&self, op: &CollectionOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            CollectionOp::Clear | CollectionOp::Add(.., IfFull::ThrowVoid | IfFull::Wait) => {
                render::recorded_void(result)
            }
            _ => render::recorded(result),
        }
    }
}

impl Simulated for JavaCollection {
    fn sample(&self, _: &Elements, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        sample(collection_methods(self.class), sampler)
    }
}
