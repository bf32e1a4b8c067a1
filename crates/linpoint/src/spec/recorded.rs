//! Specifications of recorded objects: methods and values in, typed operations out.
//!
//! [`Recorded`] is what reading a history from a file needs. What generating one needs is [`Simulated`](super::Simulated).

use std::collections::BTreeMap;

use super::Spec;
use crate::error::Error;
use crate::value::Value;

/// Parameters of a type: `capacity`, `initial`, ...
pub type Params = BTreeMap<String, Value>;

/// The documentation of a method.
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo {
    /// How it is called: `cas([from, to])`.
    pub call: &'static str,
    /// What it answers.
    pub answers: &'static str,
}

/// A call of a recorded history.
#[derive(Clone, Copy, Debug)]
pub struct CallView<'a> {
    /// The process that called.
    pub process: &'a Value,
    /// The method's name.
    pub method: &'a str,
    /// The argument: [`Value::Nil`] for none, a list for several.
    pub argument: &'a Value,
    /// Where in the order of the object the operation took effect, if the history says so; see [`Spec::hint`].
    pub hint: Option<i64>,
}

/// The operations of a history: each call, and its result unless it is pending.
pub type RecordedOps<'i, 'h> = &'i mut dyn Iterator<Item = (CallView<'h>, Option<&'h Value>)>;

/// The reason why a call or a result is not one of an object. The caller adds file and line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The object does not have the method of this name.
    #[error("unknown method {0:?}")]
    UnknownMethod(String),
    /// The argument or the result is not one of the method. The reason is in words: "enqueue takes a value".
    #[error("{0}")]
    Malformed(String),
    /// The specification is a program, and it failed when it was asked.
    #[error("{0}")]
    Specification(String),
}

impl From<String> for DecodeError {
    fn from(reason: String) -> Self {
        DecodeError::Malformed(reason)
    }
}

impl From<&str> for DecodeError {
    fn from(reason: &str) -> Self {
        DecodeError::Malformed(reason.into())
    }
}

impl DecodeError {
    /// Returns the error of the library with this reason.
    ///
    /// This is not an `impl From`: with a second one, `?` no longer determines the error type of closures.
    pub(crate) fn into_error(self) -> Error {
        let reason = self.to_string();
        match self {
            DecodeError::UnknownMethod(method) => Error::unknown_method(&method, reason),
            DecodeError::Malformed(_) => Error::malformed(reason),
            DecodeError::Specification(_) => Error::specification(reason),
        }
    }
}

/// A specification whose operations can be read from recorded histories.
///
/// It translates methods and values into the operations of the [`Spec`]. With it, a
/// [`Checker`](crate::Checker) decides histories that were read from files.
pub trait Recorded: Spec<Ret = Value> {
    /// Whether what a call does depends on the process that makes it.
    ///
    /// If it is `false`, equal calls of different processes are decoded once.
    const DEPENDS_ON_PROCESS: bool = false;

    /// Whether [`fitted_to`](Self::fitted_to) takes long compared with deciding.
    ///
    /// If it is `true`, only histories are fitted to that are known to be violations.
    const FITS_SLOWLY: bool = false;

    /// Whether [`decode_returned`](Self::decode_returned) looks at the result. Events are then not checked online, since the call
    /// does not tell the operation.
    const DEPENDS_ON_RESULT: bool = false;

    /// Returns the operation of a recorded call.
    fn decode(&self, call: CallView<'_>) -> Result<Self::Op, DecodeError>;

    /// Returns the operation of a recorded call with this result; `None` if it is pending.
    ///
    /// Override it where the result names what the operation is about, so that it can be its [key](Spec::key).
    /// [`decode`](Self::decode) then serves calls that have not happened yet.
    fn decode_returned(
        &self,
        call: CallView<'_>,
        result: Option<&Value>,
    ) -> Result<Self::Op, DecodeError> {
        let _ = result;
        self.decode(call)
    }

    /// Returns the result of `op` in the form in which [`apply`](Spec::apply) answers, or the reason why `op` never answers
    /// `result`.
    fn decode_result(&self, op: &Self::Op, result: &Value) -> Result<Value, DecodeError>;

    /// Returns this object with what a history tells and the parameters leave open, if there is such: the number of entries.
    ///
    /// It must decide the history alike, and serves explanations, which then show what the history shows.
    fn fitted_to(&self, history: RecordedOps<'_, '_>) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = history;
        None
    }

    /// Refuses operations each of which has a meaning, but not together: names that cannot be told apart. It is asked before any
    /// operation of a history is decoded.
    fn check_together(&self, history: RecordedOps<'_, '_>) -> Result<(), DecodeError> {
        let _ = history;
        Ok(())
    }

    /// Returns how the roles of all calls of a method follow from the columns of a history, if they do.
    ///
    /// Calls and results that fit the pattern must be well-formed, and must have the [roles](Spec::role) that it states.
    /// Large histories are then decided without decoding each operation.
    fn pattern(&self, method: &str) -> Option<Pattern> {
        let _ = method;
        None
    }
}

/// What all calls of a method have in common. "Without an argument" means that the argument is nil.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pattern {
    /// Adds its argument, which is not nil, to a container, and answers nil, true, or the argument.
    Adds,
    /// Takes its result out of a container, without an argument; nil if there is none.
    Removes,
    /// Sees its result as the next to be served, without an argument; nil if there is none.
    Peeks,
    /// Puts its argument into a slot, and answers nil, true, or the argument.
    Writes,
    /// Answers what a slot holds, without an argument.
    Reads,
    /// Puts its argument, which is not nil, into a set, and answers true or false: whether it is new.
    Inserts,
    /// Takes its argument, which is not nil, out of a set, and answers true or false: whether it was there.
    Deletes,
    /// Answers true or false: whether its argument, which is not nil, is in a set.
    Contains,
}

/// Whether the single value that some formats record for a call of `method` is its result, not its argument.
pub fn value_is_result(method: &str) -> bool {
    const OBSERVERS: &[&str] = &[
        "read",
        "get",
        "scan",
        "size",
        "peek",
        "top",
        "peek_front",
        "peek_back",
        "peekFirst",
        "peekLast",
        "deq",
        "dequeue",
        "pop",
        "poll",
        "take",
        "extract",
        "extract_max",
        "extract_min",
        "pop_front",
        "pop_back",
        "pollFirst",
        "pollLast",
        "get_and_inc",
        "inc_and_get",
    ];
    OBSERVERS.contains(&method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn only_the_variant_makes_an_unknown_method() {
        let unknown = DecodeError::UnknownMethod("push".into()).into_error();
        assert_eq!(unknown.kind(), ErrorKind::UnknownMethod);
        let malformed = DecodeError::from(unknown.to_string()).into_error();
        assert_eq!(malformed.kind(), ErrorKind::Malformed);
        assert_eq!(malformed.to_string(), "unknown method \"push\"");
    }
}
