//! Slots: objects that hold exactly one value at a time, such as a register, one key of a map or set, or a lock.
//!
//! Three monitors, of which the operations decide: [`Register`] if values are only written and read, [`Bits`] if there are no
//! more than two values, [`Cell`] if values only replace the initial one and are replaced by it.

mod bit;
mod cell;
mod clusters;
mod register;
mod zones;

pub use bit::{Bit, BitState, Bits};
pub use cell::Cell;
pub use register::{Register, Rw};

use super::admit::{Prepared, PreparedLog, relevant};
use super::{Effect, NotApplicable, SlotEffect};
use crate::engine::Facts;
use crate::value::{Value, ValueTable};

/// The number of the value that a slot holds at first.
pub(super) const INITIAL: u32 = 0;

const OVERWRITTEN_AND_EXCHANGED: NotApplicable =
    NotApplicable("values are overwritten and exchanged");

/// What an operation does to a slot.
fn slot_effect(effect: Effect) -> Result<SlotEffect, NotApplicable> {
    match effect {
        Effect::Slot(effect) => Ok(effect),
        _ => Err(NotApplicable(
            "some operation is not a plain read, write or exchange",
        )),
    }
}

/// The operations on a slot, for the monitor that can decide them.
pub(super) fn prepare(
    task: &dyn Facts,
    initial: &Value,
) -> Result<Box<dyn Prepared>, NotApplicable> {
    let mut values = ValueTable::default();
    assert_eq!(values.intern(initial.clone().into()), INITIAL);
    let (mut positions, mut effects) = (Vec::new(), Vec::new());
    let (mut overwrites, mut exchanges) = (false, false);
    for (position, op) in relevant(task) {
        let effect = Effect::of(task.role(op), |value| values.intern(value.into()));
        if effect == Effect::Nothing {
            continue;
        }
        match slot_effect(effect)? {
            SlotEffect::Reads(_) => {}
            SlotEffect::Writes(_) => overwrites = true,
            SlotEffect::Replaces { .. } | SlotEffect::Differs { .. } => exchanges = true,
        }
        // Here and not after the loop, so that a long history is not read in vain.
        if overwrites && exchanges {
            return Err(OVERWRITTEN_AND_EXCHANGED);
        }
        positions.push(position);
        effects.push(effect);
    }
    let ops = positions.into_iter().zip(effects);
    let ops = ops.map(|(position, effect)| (position, task.ops()[position as usize], effect));
    Ok(if !exchanges {
        let register = Register {
            initial: Some(INITIAL),
        };
        Box::new(PreparedLog::new(register, ops)?)
    } else if values.items().len() <= 2 {
        let bit = Bits {
            initially: BitState::Off,
        };
        Box::new(PreparedLog::new(bit, ops)?)
    } else {
        Box::new(PreparedLog::new(Cell, ops)?)
    })
}
