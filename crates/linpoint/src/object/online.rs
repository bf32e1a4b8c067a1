//! Checking recorded events online: an [`ObjectType`] as the object of an [`OnlineChecker`](crate::OnlineChecker).

use std::fmt;
use std::sync::Arc;

use super::ObjectType;
use crate::history::{Call, NEVER, Op, OpId, call_text};
use crate::online::{Observable, Observed, OpFacts};
use crate::spec::{CallView, DecodeError, Kind, Recorded, Vocabulary};
use crate::text::shortened;
use crate::value::Value;

/// A recorded call, as findings name it.
#[derive(Clone, Debug)]
pub struct RecordedCall {
    /// The object; [`Value::Nil`] where the input names none.
    pub object: Value,
    /// The method's name. Calls that the checker remembers can share it.
    pub method: Arc<str>,
    /// The argument: [`Value::Nil`] for none, a list for several.
    pub argument: Value,
    /// The line of the input on which it was called, counted from 1; 0 where unknown.
    pub line: u64,
}

impl From<Call> for RecordedCall {
    fn from(call: Call) -> Self {
        RecordedCall {
            object: call.object,
            method: call.method.into(),
            argument: call.argument,
            line: 0,
        }
    }
}

/// Reads single operations.
pub(super) trait ReadOps {
    fn known_as(&self) -> Option<Kind>;

    fn words(&self) -> Vocabulary;

    fn facts(&self, call: CallView<'_>, result: Option<&Value>) -> Result<OpFacts, DecodeError>;
}

impl<S: Recorded> ReadOps for S {
    fn known_as(&self) -> Option<Kind> {
        self.kind().filter(|_| !S::DEPENDS_ON_RESULT)
    }

    fn words(&self) -> Vocabulary {
        self.vocabulary()
    }

    fn facts(&self, call: CallView<'_>, result: Option<&Value>) -> Result<OpFacts, DecodeError> {
        let op = self.decode(call)?;
        let ret = result.map(|result| self.decode_result(&op, result));
        let facts = OpFacts::of(self, &op, ret.transpose()?.as_ref());
        match self.failure() {
            Some(reason) => Err(DecodeError::Malformed(reason)),
            None => Ok(facts),
        }
    }
}

impl Observed<ObjectType> {
    /// The call and its process, without the result: `write(7) by process 3`.
    pub fn call_text(&self) -> String {
        let text = call_text(&self.call.method, &self.call.argument);
        format!("{} by process {}", shortened(&text), self.process)
    }
}

impl Observable for ObjectType {
    type Process = Value;
    type Call = RecordedCall;
    type Ret = Value;

    fn kind(&self) -> Option<Kind> {
        self.0.known_as()
    }

    fn vocabulary(&self) -> Vocabulary {
        self.0.words()
    }

    fn facts(
        &self,
        process: &Value,
        call: &RecordedCall,
        result: Option<&Value>,
    ) -> Result<OpFacts, DecodeError> {
        let view = CallView {
            process,
            method: &call.method,
            argument: &call.argument,
            hint: None,
        };
        self.0.facts(view, result)
    }

    fn object(call: &RecordedCall) -> &Value {
        &call.object
    }

    fn describe(
        process: &Value,
        call: &RecordedCall,
        result: Option<&Value>,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let op = Op {
            id: OpId(0),
            process,
            object: &call.object,
            method: &call.method,
            argument: &call.argument,
            result,
            call: 0,
            ret: NEVER,
            line: 0,
            times: None,
            hint: None,
        };
        write!(f, "{} by process {process}", shortened(&op.text()))
    }
}
