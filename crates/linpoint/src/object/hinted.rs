//! Objects whose histories say where in the order of the object operations took effect.
//!
//! The object is asked by numbers, so that engines are compiled once for all types with hints.

use std::hash::Hash;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::ObjectType;
use crate::spec::{
    CallView, DecodeError, Detail, Outcomes, Recorded, RecordedOps, Sampler, Simulated, Spec,
    Vocabulary,
};
use crate::value::{Interner, Value};

pub(super) trait Erase {
    /// The object, asked by numbers.
    fn erase(self: Box<Self>) -> Box<dyn Erased>;
}

impl<S: Simulated + 'static> Erase for S {
    fn erase(self: Box<Self>) -> Box<dyn Erased> {
        Box::new(Numbered {
            object: *self,
            states: Table::default(),
            ops: Table::default(),
        })
    }
}

impl ObjectType {
    /// The same object, with operations that take effect in the order of their hints.
    ///
    /// An operation with a smaller [hint](crate::history::Op::hint) takes effect before one with a larger hint; operations with
    /// equal hints, and those without one, are ordered by nothing else than real time. The object must be made so for
    /// histories that [have hints](crate::History::has_hints); otherwise these are not looked at.
    ///
    /// ```
    /// use linpoint::format::{ReadOptions, parse};
    /// use linpoint::{Checker, Verdict, object_type};
    ///
    /// let text = br#"{"process": 0, "method": "write", "arg": 1, "call": 1, "return": 2, "hint": 20}
    /// {"process": 1, "method": "read", "ret": null, "call": 3, "return": 4, "hint": 10}"#;
    /// let recorded = parse(text, &ReadOptions::default()).remove(0)?;
    /// let register = object_type("register", &Default::default())?.with_hints();
    /// let report = Checker::default().check_recorded(&register, &recorded.history)?;
    /// assert!(matches!(report.verdict, Verdict::Violation(_)));
    /// # Ok::<(), linpoint::Error>(())
    /// ```
    #[must_use]
    pub fn with_hints(self) -> Self {
        ObjectType::new(Hinted {
            object: self.0.erase(),
        })
    }
}

/// A recorded object whose operations and states have numbers.
pub(super) trait Erased: Send + Sync {
    fn init(&self) -> u32;
    fn check_together(&self, history: RecordedOps<'_, '_>) -> Result<(), DecodeError>;
    fn decode(&self, call: CallView<'_>) -> Result<u32, DecodeError>;
    fn decode_result(&self, op: u32, result: &Value) -> Result<Value, DecodeError>;
    fn apply(&self, state: u32, op: u32) -> Outcomes<Value, u32>;
    fn step(&self, state: u32, op: u32, ret: Option<&Value>) -> Vec<u32>;
    fn is_pure(&self, op: u32, ret: Option<&Value>) -> bool;
    fn stands_for(&self, state: u32, other: u32) -> bool;
    fn state_value(&self, state: u32) -> Value;
    fn state_words(&self, state: u32, key: Option<&Value>) -> String;
    fn answer_words(&self, before: u32, op: u32, answer: &Value) -> String;
    fn answer_reason(&self, op: u32, answer: &str) -> Option<String>;
    fn details(&self, op: u32, ret: Option<&Value>) -> Vec<Detail>;
    fn vocabulary(&self) -> Vocabulary;
    fn failure(&self) -> Option<String>;
    fn effort(&self) -> Option<String>;
    fn sample(&self, state: u32, process: u32, sampler: &mut Sampler) -> (&str, Value);
}

struct Numbered<S: Spec> {
    object: S,
    states: Table<S::State>,
    ops: Table<S::Op>,
}

struct Table<T>(RwLock<Interner<T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table(RwLock::default())
    }
}

impl<T: Eq + Hash> Table<T> {
    fn read(&self) -> RwLockReadGuard<'_, Interner<T>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self, item: T) -> u32 {
        if let Some(known) = self.read().find(&item) {
            return known;
        }
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        table.intern(item)
    }
}

impl<S: Simulated> Erased for Numbered<S> {
    fn init(&self) -> u32 {
        self.states.number(self.object.init())
    }

    fn check_together(&self, history: RecordedOps<'_, '_>) -> Result<(), DecodeError> {
        self.object.check_together(history)
    }

    fn decode(&self, call: CallView<'_>) -> Result<u32, DecodeError> {
        Ok(self.ops.number(self.object.decode(call)?))
    }

    fn decode_result(&self, op: u32, result: &Value) -> Result<Value, DecodeError> {
        self.object.decode_result(self.ops.read().get(op), result)
    }

    fn apply(&self, state: u32, op: u32) -> Outcomes<Value, u32> {
        let outcomes = {
            let (states, ops) = (self.states.read(), self.ops.read());
            self.object.apply(states.get(state), ops.get(op))
        };
        match outcomes {
            Outcomes::Blocked => Outcomes::Blocked,
            Outcomes::One(answer, next) => Outcomes::One(answer, self.states.number(next)),
            Outcomes::Many(all) => {
                let numbered = |(answer, next)| (answer, self.states.number(next));
                Outcomes::Many(all.into_iter().map(numbered).collect())
            }
        }
    }

    fn step(&self, state: u32, op: u32, ret: Option<&Value>) -> Vec<u32> {
        let next = {
            let (states, ops) = (self.states.read(), self.ops.read());
            self.object.step(states.get(state), ops.get(op), ret)
        };
        let numbered = next.into_iter().map(|next| self.states.number(next));
        numbered.collect()
    }

    fn is_pure(&self, op: u32, ret: Option<&Value>) -> bool {
        self.object.is_pure(self.ops.read().get(op), ret)
    }

    fn state_value(&self, state: u32) -> Value {
        self.object.state_value(self.states.read().get(state))
    }

    fn stands_for(&self, state: u32, other: u32) -> bool {
        let states = self.states.read();
        self.object.stands_for(states.get(state), states.get(other))
    }

    fn state_words(&self, state: u32, key: Option<&Value>) -> String {
        self.object.state_words(self.states.read().get(state), key)
    }

    fn answer_words(&self, before: u32, op: u32, answer: &Value) -> String {
        let (states, ops) = (self.states.read(), self.ops.read());
        self.object
            .answer_words(states.get(before), ops.get(op), answer)
    }

    fn answer_reason(&self, op: u32, answer: &str) -> Option<String> {
        self.object.answer_reason(self.ops.read().get(op), answer)
    }

    fn details(&self, op: u32, ret: Option<&Value>) -> Vec<Detail> {
        self.object.details(self.ops.read().get(op), ret)
    }

    fn vocabulary(&self) -> Vocabulary {
        self.object.vocabulary()
    }

    fn failure(&self) -> Option<String> {
        self.object.failure()
    }

    fn effort(&self) -> Option<String> {
        self.object.effort()
    }

    fn sample(&self, state: u32, process: u32, sampler: &mut Sampler) -> (&str, Value) {
        let state = self.states.read().get(state).clone();
        self.object.sample(&state, process, sampler)
    }
}

struct Hinted {
    object: Box<dyn Erased>,
}

/// An operation with its hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct HintedOp {
    op: u32,
    hint: Option<i64>,
}

/// A state, and the largest hint of the operations that led there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct HintedState {
    state: u32,
    largest: Option<i64>,
}

impl HintedState {
    /// The state after an operation with this hint; `None` if one with a larger hint took effect before.
    fn after(self, op: &HintedOp) -> Option<impl Fn(u32) -> HintedState> {
        let is_late = op.hint.is_some() && op.hint < self.largest;
        let largest = self.largest.max(op.hint);
        (!is_late).then_some(move |state| HintedState { state, largest })
    }
}

impl Spec for Hinted {
    type Op = HintedOp;
    type Ret = Value;
    type State = HintedState;

    fn init(&self) -> HintedState {
        HintedState {
            state: self.object.init(),
            largest: None,
        }
    }

    fn apply(&self, state: &HintedState, op: &HintedOp) -> Outcomes<Value, HintedState> {
        let Some(after) = state.after(op) else {
            return Outcomes::Blocked;
        };
        match self.object.apply(state.state, op.op) {
            Outcomes::Blocked => Outcomes::Blocked,
            Outcomes::One(answer, next) => Outcomes::One(answer, after(next)),
            Outcomes::Many(all) => {
                let all = all.into_iter().map(|(answer, next)| (answer, after(next)));
                Outcomes::Many(all.collect())
            }
        }
    }

    fn step(&self, state: &HintedState, op: &HintedOp, ret: Option<&Value>) -> Vec<HintedState> {
        let Some(after) = state.after(op) else {
            return Vec::new();
        };
        let next = self.object.step(state.state, op.op, ret);
        next.into_iter().map(after).collect()
    }

    fn state_value(&self, state: &HintedState) -> Value {
        let largest = state.largest.map_or(Value::Nil, Value::Int);
        Value::list([self.object.state_value(state.state), largest])
    }

    fn is_pure(&self, op: &HintedOp, ret: Option<&Value>) -> bool {
        op.hint.is_none() && self.object.is_pure(op.op, ret)
    }

    fn hint(&self, op: &HintedOp, _: Option<&Value>) -> Option<i64> {
        op.hint
    }

    fn details(&self, op: &HintedOp, ret: Option<&Value>) -> Vec<Detail> {
        self.object.details(op.op, ret)
    }

    fn vocabulary(&self) -> Vocabulary {
        self.object.vocabulary()
    }

    fn stands_for(&self, state: &HintedState, other: &HintedState) -> bool {
        state.largest == other.largest && self.object.stands_for(state.state, other.state)
    }

    fn state_words(&self, state: &HintedState, key: Option<&Value>) -> String {
        let words = self.object.state_words(state.state, key);
        match state.largest {
            Some(hint) => format!("{words} as of number {hint}"),
            None => format!("{words} before any number"),
        }
    }

    fn answer_words(&self, before: &HintedState, op: &HintedOp, answer: &Value) -> String {
        self.object.answer_words(before.state, op.op, answer)
    }

    fn answer_reason(&self, op: &HintedOp, answer: &str) -> Option<String> {
        self.object.answer_reason(op.op, answer)
    }

    fn failure(&self) -> Option<String> {
        self.object.failure()
    }

    fn effort(&self) -> Option<String> {
        self.object.effort()
    }
}

impl Recorded for Hinted {
    const DEPENDS_ON_PROCESS: bool = true;

    fn check_together(&self, history: RecordedOps<'_, '_>) -> Result<(), DecodeError> {
        self.object.check_together(history)
    }

    fn decode(&self, call: CallView<'_>) -> Result<HintedOp, DecodeError> {
        Ok(HintedOp {
            op: self.object.decode(call)?,
            hint: call.hint,
        })
    }

    fn decode_result(&self, op: &HintedOp, result: &Value) -> Result<Value, DecodeError> {
        self.object.decode_result(op.op, result)
    }
}

impl Simulated for Hinted {
    fn sample(&self, state: &HintedState, process: u32, sampler: &mut Sampler) -> (&str, Value) {
        self.object.sample(state.state, process, sampler)
    }
}
