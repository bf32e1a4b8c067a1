//! What a checker asks of an object, and the operations that it names in its findings.

use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, OnceLock};

use super::Time;
use crate::spec::{DecodeError, Kind, Role, Spec, Vocabulary};
use crate::value::Value;

/// An object whose operations an [`OnlineChecker`](super::OnlineChecker) can follow.
///
/// Every [`Spec`] is one: its processes are numbers, its calls are operations. So is
/// [`ObjectType`](crate::object::ObjectType), with calls as they are recorded.
pub trait Observable: Send + Sync + 'static {
    /// Identifies a process.
    type Process: Clone + Eq + Hash + fmt::Display + Send + Sync;
    /// A call, as findings name it.
    type Call: Send + Sync;
    /// A result.
    type Ret: Send + Sync;

    /// Returns the well-known object that this is, as seen on one key; see [`Spec::kind`].
    fn kind(&self) -> Option<Kind>;

    /// Returns the words in which explanations speak of this object; see [`Spec::vocabulary`].
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::default()
    }

    /// Returns what an operation does, or the reason why it is none of this object. `ret` is `None` while it is pending.
    fn facts(
        &self,
        process: &Self::Process,
        call: &Self::Call,
        ret: Option<&Self::Ret>,
    ) -> Result<OpFacts, DecodeError>;

    /// Returns the object that is called, where one checker follows several.
    fn object(call: &Self::Call) -> &Value {
        let _ = call;
        &Value::Nil
    }

    /// Writes an operation as sentences name it. `ret` is `None` while it is pending.
    fn describe(
        process: &Self::Process,
        call: &Self::Call,
        ret: Option<&Self::Ret>,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result;
}

/// What is known of an operation.
#[derive(Clone, Debug)]
pub struct OpFacts {
    /// The key that it is about; see [`Spec::key`].
    pub key: Option<Value>,
    /// Its role; see [`Spec::role`].
    pub role: Role,
    /// Whether it never changes any state; see [`Spec::is_pure`].
    pub is_pure: bool,
}

impl OpFacts {
    /// What `spec` says of an operation.
    pub(crate) fn of<S: Spec>(spec: &S, op: &S::Op, ret: Option<&S::Ret>) -> Self {
        OpFacts {
            key: spec.key(op),
            role: spec.role(op, ret),
            is_pure: spec.is_pure(op, ret),
        }
    }
}

impl<S: Spec + 'static> Observable for S {
    type Process = u32;
    type Call = S::Op;
    type Ret = S::Ret;

    fn kind(&self) -> Option<Kind> {
        Spec::kind(self)
    }

    fn vocabulary(&self) -> Vocabulary {
        Spec::vocabulary(self)
    }

    fn facts(&self, _: &u32, op: &S::Op, ret: Option<&S::Ret>) -> Result<OpFacts, DecodeError> {
        Ok(OpFacts::of(self, op, ret))
    }

    fn describe(
        process: &u32,
        op: &S::Op,
        ret: Option<&S::Ret>,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        match ret {
            Some(ret) => write!(f, "{op:?} → {ret:?} by process {process}"),
            None => write!(f, "{op:?} by process {process}"),
        }
    }
}

/// An operation that an [`OnlineChecker`](super::OnlineChecker) has followed. Its text is that of [`Observable::describe`].
pub struct Observed<O: Observable> {
    /// The process that called it.
    pub process: O::Process,
    /// The call.
    pub call: O::Call,
    /// The event of its call. No two operations are called by the same event, so it identifies the operation.
    pub(super) called: Time,
    /// Its role while it is pending: what is known of it at its call.
    pub(super) pending_role: Role,
    pub(super) result: OnceLock<O::Ret>,
}

/// A shared operation. It is remembered as long as a monitor may have to name it.
pub(super) type Op<O> = Arc<Observed<O>>;

impl<O: Observable> Observed<O> {
    /// The result; `None` while it is pending.
    pub fn result(&self) -> Option<&O::Ret> {
        self.result.get()
    }
}

impl<O: Observable> fmt::Display for Observed<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        O::describe(&self.process, &self.call, self.result(), f)
    }
}

impl<O: Observable> fmt::Debug for Observed<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Observed({self})")
    }
}
