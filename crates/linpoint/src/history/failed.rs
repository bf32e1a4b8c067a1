//! Operations that failed. They did not take effect, so they are not operations of the history, but an explanation can name
//! them.

use super::build::Call;
use super::call_text;
use crate::value::Value;

/// An operation that failed: its process learned that it did not take effect.
///
/// A failed operation never changes whether a history is linearizable; a transaction that reads what a failed one wrote violates
/// every [isolation level](crate::transaction). It has no [`OpId`](super::OpId), since it is left out of all columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedOp {
    /// The process that called it.
    pub process: Value,
    /// The call.
    pub call: Call,
    /// The line of the input on which it was called; 0 where unknown.
    pub line: u32,
    /// The number of calls and returns of the history before its call.
    pub called: u32,
    /// The number of calls and returns of the history before it failed.
    pub failed: u32,
    /// The recorded times of its call and of its failure, where the input has them.
    pub times: (Option<i64>, Option<i64>),
}

impl FailedOp {
    /// `method(argument)`, with the arguments of a list spread out.
    pub fn call_text(&self) -> String {
        call_text(&self.call.method, &self.call.argument)
    }
}
