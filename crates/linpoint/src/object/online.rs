//! What the operations of recorded histories do, for checking them online.

use super::ObjectType;
use crate::spec::{CallView, Kind, Recorded, Role};
use crate::value::Value;

/// What a recorded operation does.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The key that it is about; see [`Spec::key`](crate::Spec::key).
    pub(crate) key: Option<Value>,
    /// Its role; see [`Spec::role`](crate::Spec::role).
    pub(crate) role: Role,
    /// Whether it never changes any state; see [`Spec::is_pure`](crate::Spec::is_pure).
    pub(crate) is_pure: bool,
}

pub(super) trait ReadOps {
    fn known_as(&self) -> Option<Kind>;

    fn reading(&self, call: CallView<'_>, result: Option<&Value>) -> Result<Reading, String>;
}

impl<S: Recorded> ReadOps for S {
    fn known_as(&self) -> Option<Kind> {
        self.kind()
    }

    fn reading(&self, call: CallView<'_>, result: Option<&Value>) -> Result<Reading, String> {
        let op = self.decode(call)?;
        let ret = result.map(|result| self.decode_result(&op, result));
        let ret = ret.transpose()?;
        Ok(Reading {
            key: self.key(&op),
            role: self.role(&op, ret.as_ref()),
            is_pure: self.is_pure(&op, ret.as_ref()),
        })
    }
}

impl ObjectType {
    /// Returns the well-known object that this is, as seen on one key.
    pub(crate) fn known_as(&self) -> Option<Kind> {
        self.0.known_as()
    }

    /// Returns what a recorded operation does, or why it is none of this type; `result` is `None` while it is pending.
    pub(crate) fn reading(
        &self,
        call: CallView<'_>,
        result: Option<&Value>,
    ) -> Result<Reading, String> {
        self.0.reading(call, result)
    }
}
