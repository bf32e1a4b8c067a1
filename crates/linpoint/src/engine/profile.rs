//! Profiles: the facts about a part by which its engine is chosen.

use super::{End, Facts, Task};
use crate::spec::{Kind, Spec};

/// The facts about a part by which its engine is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// The kind of the object; `None` if its specification names none, or if the part has several keys.
    pub(crate) kind: Option<Kind>,
    /// Whether the last operation answers that it is blocked.
    pub(crate) end: End,
}

impl Profile {
    /// The profile of a task.
    pub(crate) fn of<S: Spec>(task: &Task<'_, S>) -> Self {
        Profile {
            kind: task.kind().cloned(),
            end: task.end(),
        }
    }
}
