//! The interface between a specification that is asked and the program that answers: a model.

use std::hash::Hash;

use linpoint::Value;
use linpoint::spec::{Kind, Role};

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

/// A program that says what an object answers.
///
/// It must be a function of its arguments: the same question has the same answer. [`Asked`](crate::Asked) asks each
/// question once.
pub trait Model: Send + Sync {
    /// A state of the object.
    type State: Clone + Eq + Hash + Send + Sync;

    /// Whether what a call does depends on the process that makes it.
    fn depends_on_process(&self) -> bool;

    /// The state at the start.
    fn init(&self) -> Result<Self::State, ModelError>;

    /// What the call may answer in `state`, with the states that it leaves; nothing if it is blocked.
    fn step(
        &self,
        state: &Self::State,
        call: &ModelCall,
    ) -> Result<Vec<(Value, Self::State)>, ModelError>;

    /// See [`Spec::key`](linpoint::Spec::key).
    fn key(&self, call: &ModelCall) -> Result<Option<Value>, ModelError>;

    /// See [`Spec::is_pure`](linpoint::Spec::is_pure).
    fn is_pure(&self, call: &ModelCall, result: Option<&Value>) -> Result<bool, ModelError>;

    /// See [`Spec::kind`](linpoint::Spec::kind).
    fn kind(&self) -> Option<Kind>;

    /// See [`Spec::role`](linpoint::Spec::role).
    fn role(&self, call: &ModelCall, result: Option<&Value>) -> Result<Role, ModelError>;

    /// The reason why the object has no such call, or why the call never has this result; `None` if it may.
    fn refusal(
        &self,
        call: &ModelCall,
        result: Option<&Value>,
    ) -> Result<Option<String>, ModelError>;

    /// The result in the form in which [`step`](Self::step) answers.
    fn normal(&self, result: &Value) -> Value;

    /// The state as a value. Different states have different values.
    fn state_value(&self, state: &Self::State) -> Value;

    /// What state the object is in, for people.
    fn describe(&self, state: &Self::State) -> Result<String, ModelError>;

    /// Calls that random clients may make: method and argument. None if the model does not say.
    fn sample_calls(&self) -> &[(String, Value)];
}
