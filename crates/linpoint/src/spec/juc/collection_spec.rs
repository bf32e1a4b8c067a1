//! Specifies the queues, deques and the set for the engines, and reads their calls.

use super::argument::{Argument, arguments};
use super::methods::{self, collection_methods};
use super::render::{
    self, CLASS_CAST, ILLEGAL_STATE, INTERRUPTED, NO_SUCH_ELEMENT, NULL, NULL_POINTER, Strings,
};
use super::{
    Bounds, CollectionClass, CollectionOp, Direction, Element, Elements, HistoryForm, IfFull,
    IfNone, JavaCollection, Relation, Separator,
};
use crate::spec::{
    CallView, DecodeError, End, Outcomes, Recorded, RecordedOps, Sampler, Simulated, Spec,
    Vocabulary, words,
};
use crate::value::Value;

/// Whether a call may wait, so that it may be interrupted.
fn may_wait(op: &CollectionOp) -> bool {
    matches!(
        op,
        CollectionOp::Add(.., IfFull::Wait | IfFull::TimeOut)
            | CollectionOp::Take(_, IfNone::Wait | IfNone::TimeOut)
    )
}

/// The operation of a call that has null where it takes a collection or a function, if it is one.
fn of_null(method: &str, arguments: &[Argument]) -> Option<CollectionOp> {
    const TAKE_OBJECTS: [&str; 6] = [
        "addAll",
        "removeAll",
        "retainAll",
        "containsAll",
        "removeIf",
        "drainTo",
    ];
    let is_null = arguments.first() == Some(&Argument::Single(Element::Null));
    (is_null && TAKE_OBJECTS.contains(&method)).then_some(CollectionOp::OfNull)
}

impl JavaCollection {
    /// The operation of a call with a timeout, if it is one. It behaves as the one without at some moment until it returns.
    fn timed(
        &self,
        method: &str,
        arguments: &[Argument],
    ) -> Result<Option<CollectionOp>, DecodeError> {
        use Argument::Single;
        use CollectionOp::{Add, OfNull, Take};
        let never_waits = matches!(
            self.class,
            CollectionClass::LinkedTransferQueue | CollectionClass::PriorityBlockingQueue
        );
        let (op, unit) = match (method, arguments) {
            ("offer" | "offerLast", [Single(x), Single(Element::Int(_)), Single(unit)]) => {
                (Add(End::Back, x.clone(), IfFull::TimeOut), unit)
            }
            ("offerFirst", [Single(x), Single(Element::Int(_)), Single(unit)]) => {
                (Add(End::Front, x.clone(), IfFull::TimeOut), unit)
            }
            ("poll" | "pollFirst", [Single(Element::Int(_)), Single(unit)]) => {
                (Take(End::Front, IfNone::TimeOut), unit)
            }
            ("pollLast", [Single(Element::Int(_)), Single(unit)]) => {
                (Take(End::Back, IfNone::TimeOut), unit)
            }
            _ => return Ok(None),
        };
        methods::check_unit(unit)?;
        Ok(Some(match op {
            // An insertion that never waits does not look at the unit.
            Add(end, x, _) if never_waits => Add(end, x, IfFull::AnswerFalse),
            _ if unit.is_null() => OfNull,
            op => op,
        }))
    }

    /// The elements that a listing of integers shows.
    fn listed(&self, ret: &Value, direction: Direction, separator: Separator) -> Option<Elements> {
        let text = ret.as_text().filter(|_| self.form.has_plain_texts())?;
        let mut listed = render::listed(text, separator)?;
        if direction == Direction::Backward {
            listed.reverse();
        }
        Some(listed.into())
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
        words::members("the collection", state.to_vec().iter().map(Element::value))
    }

    fn answer_words(&self, _: &Self::State, _: &CollectionOp, answer: &Value) -> String {
        self.form.answer(answer)
    }

    fn answer_reason(&self, op: &CollectionOp, answer: &str) -> Option<String> {
        match (op, answer.trim_matches('"')) {
            (CollectionOp::Add(..), "false" | ILLEGAL_STATE) => words::limit("full", self.capacity),
            (CollectionOp::Add(..), "true") => words::limit("not full", self.capacity),
            _ => None,
        }
    }

    fn state_value(&self, state: &Elements) -> Value {
        Value::list(state.to_vec().iter().map(Element::value))
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

    /// A listing may be written in two ways, and a call that waits may be interrupted at any time.
    fn step(&self, state: &Elements, op: &CollectionOp, ret: Option<&Value>) -> Vec<Elements> {
        let is_shown = |ret: &Value| {
            let elements = state.to_vec();
            let mut listings = Strings::ALL.into_iter();
            listings.any(|strings| self.listing(&elements, op, strings).as_ref() == Some(ret))
        };
        match ret.and_then(Value::as_text) {
            Some(INTERRUPTED) if may_wait(op) => vec![state.clone()],
            Some(text) if text.starts_with('[') && ret.is_some_and(is_shown) => vec![state.clone()],
            _ => self.apply(state, op).answering(ret),
        }
    }

    fn is_pure(&self, op: &CollectionOp, ret: Option<&Value>) -> bool {
        let answers = |text: &str| ret.and_then(Value::as_text) == Some(text);
        match op {
            CollectionOp::Add(..) => {
                let refusals = [
                    "false",
                    ILLEGAL_STATE,
                    NULL_POINTER,
                    CLASS_CAST,
                    INTERRUPTED,
                ];
                refusals.into_iter().any(answers)
            }
            // An `addAll` that throws may have added some elements before.
            CollectionOp::AddAll(_) => answers("false"),
            CollectionOp::Take(..) => [NULL, NO_SUCH_ELEMENT, INTERRUPTED]
                .into_iter()
                .any(answers),
            CollectionOp::Remove(..)
            | CollectionOp::RemoveAll(_)
            | CollectionOp::RetainAll(_)
            | CollectionOp::RemoveIf(_) => answers("false"),
            CollectionOp::Drain(_) => answers("0"),
            CollectionOp::Clear => false,
            CollectionOp::TryTransfer(_)
            | CollectionOp::HasWaitingConsumer
            | CollectionOp::WaitingConsumers
            | CollectionOp::Look(..)
            | CollectionOp::Contains(_)
            | CollectionOp::ContainsAll(_)
            | CollectionOp::IsEmpty
            | CollectionOp::Size
            | CollectionOp::RemainingCapacity
            | CollectionOp::Print
            | CollectionOp::List(..)
            | CollectionOp::Neighbour(..)
            | CollectionOp::View(_)
            | CollectionOp::OfNull => true,
        }
    }

    fn state_after(&self, op: &CollectionOp, ret: &Value) -> Option<Elements> {
        let answers = |text: &str| ret.as_text() == Some(text);
        match op {
            CollectionOp::Clear => Some(Elements::default()),
            CollectionOp::Print => self.listed(ret, Direction::Forward, Separator::CommaBlank),
            CollectionOp::List(direction, separator) => self.listed(ret, *direction, *separator),
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
            form: HistoryForm::of(history),
            ..self.clone()
        })
    }

    fn check_together(&self, history: RecordedOps<'_, '_>) -> Result<(), DecodeError> {
        match self.class {
            CollectionClass::LinkedTransferQueue => methods::check_consumers(history),
            _ => Ok(()),
        }
    }

    fn decode(&self, call: CallView<'_>) -> Result<CollectionOp, DecodeError> {
        use Argument::{Collection, Function, Single};
        use CollectionOp::*;
        use End::{Back, Front};
        let arguments = arguments(call.argument)?;
        if self.class == CollectionClass::LinkedTransferQueue {
            methods::check_transfer(call.method, arguments.len())?;
        }
        methods::check(collection_methods(self.class), call.method, arguments.len())?;
        let is_set = self.class == CollectionClass::ConcurrentSkipListSet;
        if let Some(op) = of_null(call.method, &arguments) {
            return Ok(op);
        }
        if let Some(op) = self.timed(call.method, &arguments)? {
            return Ok(op);
        }
        Ok(match (call.method, &arguments[..]) {
            ("add", [Single(x)]) if is_set => Add(Back, x.clone(), IfFull::AnswerFalse),
            ("add", [Single(x)]) => Add(Back, x.clone(), IfFull::Throw),
            ("offer" | "offerLast", [Single(x)]) => Add(Back, x.clone(), IfFull::AnswerFalse),
            ("addLast", [Single(x)]) => Add(Back, x.clone(), IfFull::ThrowVoid),
            ("put" | "putLast", [Single(x)]) => Add(Back, x.clone(), IfFull::Wait),
            ("putFirst", [Single(x)]) => Add(Front, x.clone(), IfFull::Wait),
            ("take" | "takeFirst", []) => Take(Front, IfNone::Wait),
            ("takeLast", []) => Take(Back, IfNone::Wait),
            ("offerFirst", [Single(x)]) => Add(Front, x.clone(), IfFull::AnswerFalse),
            ("push" | "addFirst", [Single(x)]) => Add(Front, x.clone(), IfFull::ThrowVoid),
            ("addAll", [Collection(c)]) => AddAll(c.clone()),
            ("tryTransfer", [Single(x)]) => TryTransfer(x.clone()),
            ("hasWaitingConsumer", []) => HasWaitingConsumer,
            ("getWaitingConsumerCount", []) => WaitingConsumers,
            ("poll" | "pollFirst", []) => Take(Front, IfNone::AnswerNull),
            ("pollLast", []) => Take(Back, IfNone::AnswerNull),
            ("remove" | "pop" | "removeFirst", []) => Take(Front, IfNone::Throw),
            ("removeLast", []) => Take(Back, IfNone::Throw),
            ("peek" | "peekFirst", []) => Look(Front, IfNone::AnswerNull),
            ("peekLast", []) => Look(Back, IfNone::AnswerNull),
            ("element" | "getFirst" | "first", []) => Look(Front, IfNone::Throw),
            ("getLast" | "last", []) => Look(Back, IfNone::Throw),
            ("remove" | "removeFirstOccurrence", [Single(x)]) => Remove(Front, x.clone()),
            ("removeLastOccurrence", [Single(x)]) => Remove(Back, x.clone()),
            ("removeAll", [Collection(c)]) => RemoveAll(c.clone()),
            ("retainAll", [Collection(c)]) => RetainAll(c.clone()),
            ("removeIf", &[Function(f)]) if !f.has_values() => RemoveIf(f),
            ("drainTo", [Collection(_)]) => Drain(None),
            ("drainTo", &[Collection(_), Single(Element::Int(most))]) => Drain(Some(most)),
            ("clear", []) => Clear,
            ("contains", [Single(x)]) => Contains(x.clone()),
            ("containsAll", [Collection(c)]) => ContainsAll(c.clone()),
            ("isEmpty", []) => IsEmpty,
            ("size", []) => Size,
            ("remainingCapacity", []) => RemainingCapacity,
            ("toString", []) => Print,
            ("iterator" | "toArray", []) => List(Direction::Forward, Separator::Comma),
            ("clone", []) => List(Direction::Forward, Separator::CommaBlank),
            ("descendingIterator", []) => List(Direction::Backward, Separator::Comma),
            ("descendingSet", []) => List(Direction::Backward, Separator::CommaBlank),
            ("lower", [Single(x)]) => Neighbour(Relation::Lower, x.clone()),
            ("floor", [Single(x)]) => Neighbour(Relation::Floor, x.clone()),
            ("ceiling", [Single(x)]) => Neighbour(Relation::Ceiling, x.clone()),
            ("higher", [Single(x)]) => Neighbour(Relation::Higher, x.clone()),
            (method, arguments) => match Bounds::of(method, arguments) {
                Some(bounds) => View(bounds),
                None => return Err(methods::mismatch(call)),
            },
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
        methods::sample(methods::sampled_methods(self.class), sampler)
    }
}
