//! Finds operations during which no other one returned.

use crate::history::EventKind;

/// The operations that are open after some events. Each is known by its number.
#[derive(Debug, Default)]
pub(crate) struct Overlap {
    /// With each open operation: whether something returned since its call.
    open: Vec<(u32, bool)>,
}

impl Overlap {
    /// Begins with these open operations, during which something may have returned.
    pub(crate) fn of_open(open: impl Iterator<Item = u32>) -> Self {
        Overlap {
            open: open.map(|op| (op, true)).collect(),
        }
    }

    /// Takes the next event. Returns whether the operation returns and nothing else did since its call.
    pub(crate) fn event(&mut self, op: u32, kind: EventKind) -> bool {
        if kind == EventKind::Call {
            self.open.push((op, false));
            return false;
        }
        let place = self.open.iter().position(|&(other, _)| other == op);
        let has_returned = place.is_none_or(|place| self.open.remove(place).1);
        self.open.iter_mut().for_each(|(_, other)| *other = true);
        !has_returned
    }

    /// How many operations are open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// The open operations, in the order of their calls.
    pub(crate) fn open(&self) -> Vec<u32> {
        self.open.iter().map(|&(op, _)| op).collect()
    }
}
