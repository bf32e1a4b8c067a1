//! Operations as they are named in reports.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Time;
use crate::history::{NEVER, Op, OpId};
use crate::spec::Role;
use crate::text::shortened;
use crate::value::Value;

/// An operation that a [`Watcher`](super::Watcher) was told of.
#[derive(Debug)]
pub struct Observed {
    /// The process that called it.
    pub process: Value,
    /// The object it was called on; [`Value::Nil`] where the input names none.
    pub object: Value,
    /// The method's name.
    pub method: Arc<str>,
    /// The argument; a list where there are several, [`Value::Nil`] where there is none.
    pub argument: Value,
    /// The line of the input on which it was called, counted from 1; 0 where unknown.
    pub line: u64,
    /// The event of its call. No two operations are called by the same event, so it tells them apart.
    pub(super) called: Time,
    /// Its role while it is open.
    pub(super) promise: Role,
    pub(super) result: OnceLock<Value>,
}

impl Observed {
    /// The result; `None` while it is open.
    pub fn result(&self) -> Option<&Value> {
        self.result.get()
    }

    /// `method(argument) → result`.
    pub fn text(&self) -> String {
        let op = Op {
            id: OpId(0),
            process: &self.process,
            object: &self.object,
            method: &self.method,
            argument: &self.argument,
            result: self.result(),
            call: 0,
            ret: NEVER,
            line: 0,
            times: None,
        };
        op.text()
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        write!(f, "{} by process {}", shortened(&text), self.process)
    }
}
