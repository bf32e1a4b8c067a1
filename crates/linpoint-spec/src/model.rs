//! The interface between a specification that is asked and the program that answers: a model.

use std::fmt;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use linpoint::Value;
use linpoint::spec::{Kind, Role};
use linpoint::value::Interner;

/// A call as a model sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelCall {
    /// The process that called; nil if the model does not look at it.
    pub process: Value,
    /// The method's name.
    pub method: Box<str>,
    /// The argument: nil for none, a list for several.
    pub argument: Value,
}

/// Why a model did not answer. The text names the file, the line and the reason where the model knows them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(pub String);

impl ModelError {
    /// There is nothing that random clients could call.
    pub(crate) fn no_calls(model: &dyn Model) -> Self {
        ModelError(format!(
            "{}: it does not say which calls clients make: list them, calls = [(\"read\", None), (\"write\", 1)]",
            model.name()
        ))
    }

    /// The same error, with what was asked when it came.
    #[must_use]
    pub fn within(self, asked: &str) -> Self {
        ModelError(format!("{}\n  in {asked}", self.0))
    }
}

/// The number of a state. The model that gave the number knows the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateId(u32);

/// The states of a model, which get their numbers here.
pub struct States<T>(RwLock<Interner<T>>);

impl<T> Default for States<T> {
    fn default() -> Self {
        States(RwLock::default())
    }
}

impl<T> fmt::Debug for States<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = self.0.read().unwrap_or_else(PoisonError::into_inner);
        fmt::Debug::fmt(&states, f)
    }
}

impl<T: Clone + Eq + Hash> States<T> {
    /// The number of `state`. Equal states have equal numbers.
    pub fn number(&self, state: T) -> StateId {
        let mut states = self.0.write().unwrap_or_else(PoisonError::into_inner);
        StateId(states.intern(state))
    }

    /// The number of the state that is made of `state` if it is new. Both must have the same hash.
    pub fn number_of<Q>(&self, state: &Q) -> StateId
    where
        Q: Hash + PartialEq<T> + ?Sized,
        T: for<'a> From<&'a Q>,
    {
        let states = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match states.find(state) {
            Some(number) => StateId(number),
            None => {
                drop(states);
                self.number(T::from(state))
            }
        }
    }

    /// The state with this number, which [`number`](Self::number) returned.
    pub fn get(&self, StateId(number): StateId) -> T {
        let states = self.0.read().unwrap_or_else(PoisonError::into_inner);
        states.get(number).clone()
    }

    /// How many different states there are.
    pub fn count(&self) -> usize {
        let states = self.0.read().unwrap_or_else(PoisonError::into_inner);
        states.len()
    }
}

/// A program that says what an object answers.
///
/// It must be a function of its arguments: the same question has the same answer. [`Asked`](crate::Asked) asks each
/// question once. A model keeps its states and speaks of them by number, so that one compiled specification serves all models;
/// [`States`] gives the numbers. Equal states must have equal numbers: a search that does not see that it was in a state before
/// may not end.
pub trait Model: fmt::Debug + Send + Sync {
    /// The name of the specification, for messages: the file that has it.
    fn name(&self) -> &str;

    /// Whether what a call does depends on the process that makes it.
    fn depends_on_process(&self) -> bool;

    /// The state at the start.
    fn init(&self) -> Result<StateId, ModelError>;

    /// How many different states were numbered so far.
    fn states(&self) -> usize;

    /// What the call may answer in `state`, with the states that it leaves; nothing if it is blocked.
    fn step(&self, state: StateId, call: &ModelCall) -> Result<Vec<(Value, StateId)>, ModelError>;

    /// See [`Spec::key`](linpoint::Spec::key).
    fn key(&self, call: &ModelCall) -> Result<Option<Value>, ModelError>;

    /// See [`Spec::is_pure`](linpoint::Spec::is_pure).
    fn is_pure(&self, call: &ModelCall, result: Option<&Value>) -> Result<bool, ModelError>;

    /// Whether [`is_pure`](Self::is_pure) looks at the argument. If not, it is asked once for all calls of a method.
    fn purity_depends_on_argument(&self) -> bool {
        true
    }

    /// Whether [`is_pure`](Self::is_pure) looks at the result.
    fn purity_depends_on_result(&self) -> bool {
        true
    }

    /// See [`Spec::kind`](linpoint::Spec::kind).
    fn kind(&self) -> Option<Kind>;

    /// See [`Spec::role`](linpoint::Spec::role).
    fn role(&self, call: &ModelCall, result: Option<&Value>) -> Result<Role, ModelError>;

    /// Whether [`refusal`](Self::refusal) may have a reason against a call whose result is not known.
    fn refuses_calls(&self) -> bool {
        true
    }

    /// Whether [`refusal`](Self::refusal) looks at the result.
    fn refuses_results(&self) -> bool {
        true
    }

    /// The reason why the object has no such call, or why the call never has this result; `None` if it may.
    fn refusal(
        &self,
        call: &ModelCall,
        result: Option<&Value>,
    ) -> Result<Option<String>, ModelError>;

    /// The result in the form in which [`step`](Self::step) answers.
    fn normal(&self, result: &Value) -> Value;

    /// The state as a value. Different states have different values.
    fn state_value(&self, state: StateId) -> Result<Value, ModelError>;

    /// What state the object is in, for people.
    fn describe(&self, state: StateId) -> Result<String, ModelError>;

    /// Calls that random clients may make: method and argument. None if the model does not say.
    fn sample_calls(&self) -> &[(String, Value)];

    /// Called when a check is done. The error says how the model was not the function that it must be.
    fn confirm(&self) -> Result<(), ModelError> {
        Ok(())
    }

    /// What it took to answer, in words, besides the number of steps and states.
    fn effort(&self) -> Option<String> {
        None
    }
}

/// Why there is no such call, if its method is not one of these.
#[cfg(any(unix, feature = "starlark"))]
pub(crate) fn unknown_method(call: &ModelCall, methods: &[String]) -> Option<String> {
    let method = &*call.method;
    if methods.iter().any(|known| known == method) {
        return None;
    }
    let known = methods.join(", ");
    Some(format!(
        "unknown method {method:?}: the specification has {known}"
    ))
}
