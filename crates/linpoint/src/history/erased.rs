//! Specifications and histories without their types.
//!
//! Engines that decide long histories are compiled for each specification. What explains, proves and shows a verdict asks
//! the specification far less often. It is compiled once for each type of results, with the operations of a history as
//! numbers and with states of which nothing is known.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Action, TypedHistory};
use crate::spec::{AtPlace, Detail, Kind, Outcomes, Role, Spec, Vocabulary};
use crate::value::Value;

/// A specification and a history of it, both without their types.
#[derive(Debug)]
pub(crate) struct Erasure<'a, S: Spec> {
    numbered: Numbered<'a, S>,
    history: ErasedHistory<S::Ret>,
}

/// A history without the type of its operations.
pub(crate) type ErasedHistory<R> = TypedHistory<OpNumber, R>;

impl<'a, S: Spec> Erasure<'a, S> {
    pub(crate) fn of(spec: &'a S, history: &'a TypedHistory<S::Op, S::Ret>) -> Self {
        Erasure {
            numbered: Numbered {
                spec,
                actions: history.actions(),
            },
            history: history.with_numbers(),
        }
    }

    /// The specification, which knows the operations of [`history`](Self::history) only.
    pub(crate) fn spec(&self) -> Erased<'_, S::Ret> {
        Erased(&self.numbered)
    }

    /// The same history, of the erased specification.
    pub(crate) fn history(&self) -> &ErasedHistory<S::Ret> {
        &self.history
    }
}

/// An operation of an erased history: the number of its action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpNumber(pub(super) u32);

/// A state of an erased specification.
#[derive(Clone)]
pub(crate) struct ErasedState(Arc<dyn AnyState + Send + Sync>);

trait AnyState: Any + fmt::Debug {
    fn equals(&self, other: &dyn Any) -> bool;
    fn hash_to(&self, hasher: &mut dyn Hasher);
}

impl<T: Any + Eq + Hash + fmt::Debug> AnyState for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn hash_to(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl ErasedState {
    fn of(state: impl AnyState + Send + Sync) -> Self {
        ErasedState(Arc::new(state))
    }

    fn get<T: Any>(&self) -> &T {
        let state: &dyn Any = &*self.0;
        state.downcast_ref().expect(ONE_TYPE)
    }

    fn into_state<T: Any + Clone + Send + Sync>(self) -> T {
        let state: Arc<dyn Any + Send + Sync> = self.0;
        Arc::unwrap_or_clone(state.downcast().expect(ONE_TYPE))
    }
}

/// Invariant: the states of an erased specification are given to no other one.
const ONE_TYPE: &str = "bug: a state of another specification";

impl PartialEq for ErasedState {
    fn eq(&self, other: &Self) -> bool {
        let state: &dyn Any = &*other.0;
        Arc::ptr_eq(&self.0, &other.0) || self.0.equals(state)
    }
}

impl Eq for ErasedState {}

impl Hash for ErasedState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_to(hasher);
    }
}

impl fmt::Debug for ErasedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A specification that knows the operations of one history by their numbers.
#[derive(Debug)]
struct Numbered<'a, S: Spec> {
    spec: &'a S,
    actions: &'a [Action<S::Op, S::Ret>],
}

impl<S: Spec> Numbered<'_, S> {
    fn op(&self, OpNumber(number): OpNumber) -> &S::Op {
        &self.actions[number as usize].op
    }
}

/// A specification without its type.
#[derive(Clone, Copy)]
pub(crate) struct Erased<'a, R>(&'a (dyn AnySpec<R> + 'a));

impl<R> fmt::Debug for Erased<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Erased").finish_non_exhaustive()
    }
}

/// The methods of [`Spec`], for operations by number.
trait AnySpec<R>: Send + Sync {
    fn init(&self) -> ErasedState;
    fn apply(&self, state: &ErasedState, op: OpNumber) -> Outcomes<R, ErasedState>;
    fn step(&self, state: &ErasedState, op: OpNumber, ret: Option<&R>) -> Vec<ErasedState>;
    fn step_into(
        &self,
        state: ErasedState,
        op: OpNumber,
        ret: Option<&R>,
        next: &mut Vec<ErasedState>,
    );
    fn state_value(&self, state: &ErasedState) -> Value;
    fn key(&self, op: OpNumber) -> Option<Value>;
    fn is_pure(&self, op: OpNumber, ret: Option<&R>) -> bool;
    fn state_after(&self, op: OpNumber, ret: &R) -> Option<ErasedState>;
    fn kind(&self) -> Option<Kind>;
    fn role(&self, op: OpNumber, ret: Option<&R>) -> Role;
    fn hint(&self, op: OpNumber, ret: Option<&R>) -> Option<i64>;
    fn marks(&self, op: OpNumber) -> Vec<Value>;
    fn shows(&self, op: OpNumber, ret: &R) -> Vec<(Value, i64)>;
    fn place_initially(&self) -> Option<Value>;
    fn places(&self, op: OpNumber, ret: Option<&R>) -> Vec<Value>;
    fn at_place(&self, op: OpNumber, ret: Option<&R>, place: &Value) -> AtPlace;
    fn details(&self, op: OpNumber, ret: Option<&R>) -> Vec<Detail>;
    fn vocabulary(&self) -> Vocabulary;
    fn stands_for(&self, state: &ErasedState, other: &ErasedState) -> bool;
    fn state_words(&self, state: &ErasedState, key: Option<&Value>) -> String;
    fn answer_words(&self, before: &ErasedState, op: OpNumber, answer: &R) -> String;
    fn answer_reason(&self, op: OpNumber, answer: &str) -> Option<String>;
    fn failure(&self) -> Option<String>;
    fn effort(&self) -> Option<String>;
}

impl<S: Spec> AnySpec<S::Ret> for Numbered<'_, S> {
    fn init(&self) -> ErasedState {
        ErasedState::of(self.spec.init())
    }

    fn apply(&self, state: &ErasedState, op: OpNumber) -> Outcomes<S::Ret, ErasedState> {
        match self.spec.apply(state.get(), self.op(op)) {
            Outcomes::Blocked => Outcomes::Blocked,
            Outcomes::One(answer, next) => Outcomes::One(answer, ErasedState::of(next)),
            Outcomes::Many(all) => {
                let erased = |(answer, next)| (answer, ErasedState::of(next));
                Outcomes::Many(all.into_iter().map(erased).collect())
            }
        }
    }

    fn step(&self, state: &ErasedState, op: OpNumber, ret: Option<&S::Ret>) -> Vec<ErasedState> {
        let next = self.spec.step(state.get(), self.op(op), ret);
        next.into_iter().map(ErasedState::of).collect()
    }

    fn step_into(
        &self,
        state: ErasedState,
        op: OpNumber,
        ret: Option<&S::Ret>,
        next: &mut Vec<ErasedState>,
    ) {
        let mut left = Vec::new();
        let op = self.op(op);
        self.spec.step_into(state.into_state(), op, ret, &mut left);
        next.extend(left.into_iter().map(ErasedState::of));
    }

    fn state_value(&self, state: &ErasedState) -> Value {
        self.spec.state_value(state.get())
    }

    fn key(&self, op: OpNumber) -> Option<Value> {
        self.spec.key(self.op(op))
    }

    fn is_pure(&self, op: OpNumber, ret: Option<&S::Ret>) -> bool {
        self.spec.is_pure(self.op(op), ret)
    }

    fn state_after(&self, op: OpNumber, ret: &S::Ret) -> Option<ErasedState> {
        self.spec.state_after(self.op(op), ret).map(ErasedState::of)
    }

    fn kind(&self) -> Option<Kind> {
        self.spec.kind()
    }

    fn role(&self, op: OpNumber, ret: Option<&S::Ret>) -> Role {
        self.spec.role(self.op(op), ret)
    }

    fn hint(&self, op: OpNumber, ret: Option<&S::Ret>) -> Option<i64> {
        self.spec.hint(self.op(op), ret)
    }

    fn marks(&self, op: OpNumber) -> Vec<Value> {
        self.spec.marks(self.op(op))
    }

    fn shows(&self, op: OpNumber, ret: &S::Ret) -> Vec<(Value, i64)> {
        self.spec.shows(self.op(op), ret)
    }

    fn place_initially(&self) -> Option<Value> {
        self.spec.place_initially()
    }

    fn places(&self, op: OpNumber, ret: Option<&S::Ret>) -> Vec<Value> {
        self.spec.places(self.op(op), ret)
    }

    fn at_place(&self, op: OpNumber, ret: Option<&S::Ret>, place: &Value) -> AtPlace {
        self.spec.at_place(self.op(op), ret, place)
    }

    fn details(&self, op: OpNumber, ret: Option<&S::Ret>) -> Vec<Detail> {
        self.spec.details(self.op(op), ret)
    }

    fn vocabulary(&self) -> Vocabulary {
        self.spec.vocabulary()
    }

    fn stands_for(&self, state: &ErasedState, other: &ErasedState) -> bool {
        self.spec.stands_for(state.get(), other.get())
    }

    fn state_words(&self, state: &ErasedState, key: Option<&Value>) -> String {
        self.spec.state_words(state.get(), key)
    }

    fn answer_words(&self, before: &ErasedState, op: OpNumber, answer: &S::Ret) -> String {
        self.spec.answer_words(before.get(), self.op(op), answer)
    }

    fn answer_reason(&self, op: OpNumber, answer: &str) -> Option<String> {
        self.spec.answer_reason(self.op(op), answer)
    }

    fn failure(&self) -> Option<String> {
        self.spec.failure()
    }

    fn effort(&self) -> Option<String> {
        self.spec.effort()
    }
}

impl<R: Clone + Eq + Hash + fmt::Debug + Send + Sync> Spec for Erased<'_, R> {
    type Op = OpNumber;
    type Ret = R;
    type State = ErasedState;

    fn init(&self) -> ErasedState {
        self.0.init()
    }

    fn apply(&self, state: &ErasedState, &op: &OpNumber) -> Outcomes<R, ErasedState> {
        self.0.apply(state, op)
    }

    fn step(&self, state: &ErasedState, &op: &OpNumber, ret: Option<&R>) -> Vec<ErasedState> {
        self.0.step(state, op, ret)
    }

    fn step_into(
        &self,
        state: ErasedState,
        &op: &OpNumber,
        ret: Option<&R>,
        next: &mut Vec<ErasedState>,
    ) {
        self.0.step_into(state, op, ret, next);
    }

    fn state_value(&self, state: &ErasedState) -> Value {
        self.0.state_value(state)
    }

    fn key(&self, &op: &OpNumber) -> Option<Value> {
        self.0.key(op)
    }

    fn is_pure(&self, &op: &OpNumber, ret: Option<&R>) -> bool {
        self.0.is_pure(op, ret)
    }

    fn state_after(&self, &op: &OpNumber, ret: &R) -> Option<ErasedState> {
        self.0.state_after(op, ret)
    }

    fn kind(&self) -> Option<Kind> {
        self.0.kind()
    }

    fn role(&self, &op: &OpNumber, ret: Option<&R>) -> Role {
        self.0.role(op, ret)
    }

    fn hint(&self, &op: &OpNumber, ret: Option<&R>) -> Option<i64> {
        self.0.hint(op, ret)
    }

    fn marks(&self, &op: &OpNumber) -> Vec<Value> {
        self.0.marks(op)
    }

    fn shows(&self, &op: &OpNumber, ret: &R) -> Vec<(Value, i64)> {
        self.0.shows(op, ret)
    }

    fn place_initially(&self) -> Option<Value> {
        self.0.place_initially()
    }

    fn places(&self, &op: &OpNumber, ret: Option<&R>) -> Vec<Value> {
        self.0.places(op, ret)
    }

    fn at_place(&self, &op: &OpNumber, ret: Option<&R>, place: &Value) -> AtPlace {
        self.0.at_place(op, ret, place)
    }

    fn details(&self, &op: &OpNumber, ret: Option<&R>) -> Vec<Detail> {
        self.0.details(op, ret)
    }

    fn vocabulary(&self) -> Vocabulary {
        self.0.vocabulary()
    }

    fn stands_for(&self, state: &ErasedState, other: &ErasedState) -> bool {
        self.0.stands_for(state, other)
    }

    fn state_words(&self, state: &ErasedState, key: Option<&Value>) -> String {
        self.0.state_words(state, key)
    }

    fn answer_words(&self, before: &ErasedState, &op: &OpNumber, answer: &R) -> String {
        self.0.answer_words(before, op, answer)
    }

    fn answer_reason(&self, &op: &OpNumber, answer: &str) -> Option<String> {
        self.0.answer_reason(op, answer)
    }

    fn failure(&self) -> Option<String> {
        self.0.failure()
    }

    fn effort(&self) -> Option<String> {
        self.0.effort()
    }
}
