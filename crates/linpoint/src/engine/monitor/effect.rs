//! What operations do, with values as numbers: the one translation of roles for all monitors.

use crate::spec::{Need, Role};
use crate::value::Value;

/// What one operation does. Numbers stand for values; equal values have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Adds the value to a container.
    Adds(u32),
    /// Removes the value from a container.
    Removes(u32),
    /// Removes a value that is not known: a pending removal.
    RemovesUnknown,
    /// Sees the value as the next to be served.
    Peeks(u32),
    /// Finds a container empty.
    FindsEmpty,
    /// Reads or changes a slot.
    Slot(SlotEffect),
    /// Is possible in every state and changes none.
    Nothing,
    /// Changes a count.
    Counts(super::Count),
    /// Something else.
    Other,
}

/// What one operation does to a slot, which holds one value at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotEffect {
    /// Finds the value and leaves it there.
    Reads(u32),
    /// Puts the value in, whatever the slot holds.
    Writes(u32),
    /// Finds one value and leaves another.
    Replaces {
        /// The value that it finds.
        from: u32,
        /// The value that it leaves.
        to: u32,
    },
    /// Finds something else than the value.
    Differs {
        /// The value that the slot does not hold.
        from: u32,
        /// The value that it leaves; `None` if it changes nothing.
        to: Option<u32>,
    },
}

impl Effect {
    /// What an operation with this role does; `number` gives values their numbers.
    pub(crate) fn of(role: Role, mut number: impl FnMut(Value) -> u32) -> Self {
        match role {
            Role::Adds(value) => Effect::Adds(number(value)),
            Role::Removes(value) => Effect::Removes(number(value)),
            Role::RemovesSome => Effect::RemovesUnknown,
            Role::Peeks(value) => Effect::Peeks(number(value)),
            Role::Empty => Effect::FindsEmpty,
            Role::Slot { needs, leaves } => {
                let to = leaves.map(&mut number);
                Effect::Slot(match (needs, to) {
                    (Need::Anything, None) => return Effect::Nothing,
                    (Need::Anything, Some(to)) => SlotEffect::Writes(to),
                    (Need::IsNot(value), to) => SlotEffect::Differs {
                        from: number(value),
                        to,
                    },
                    (Need::Is(value), to) => {
                        let from = number(value);
                        match to {
                            Some(to) if to != from => SlotEffect::Replaces { from, to },
                            _ => SlotEffect::Reads(from),
                        }
                    }
                })
            }
            Role::Counts { by, seen } => Effect::Counts(super::Count { by, seen }),
            // Scans see many values; `snapshot` reads these roles itself.
            Role::Updates { .. } | Role::Scans(_) => Effect::Other,
            Role::Appends(_) | Role::Opaque => Effect::Other,
        }
    }
}

/// What a monitor reads of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading<A> {
    /// What it does.
    pub act: A,
    /// With which value. `None` for all operations of a monitor that knows no values; where only this operation has none,
    /// [`NO_VALUE`](Self::NO_VALUE).
    pub value: Option<u32>,
}

impl<A> Reading<A> {
    /// The number that stands where an operation has no value but others have.
    pub const NO_VALUE: u32 = 0;

    /// An operation with a value.
    pub fn of(act: A, value: u32) -> Self {
        Reading {
            act,
            value: Some(value),
        }
    }

    /// An operation without a value, where others have one.
    pub fn without_value(act: A) -> Self {
        Reading::of(act, Self::NO_VALUE)
    }
}
