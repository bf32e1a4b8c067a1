//! Finds out whether a recorded history is simple, and translates it for the monitor of simple histories.
//!
//! Simple histories are those of Amram et al. (2022), see `simple`. That an update which writes what its entry holds may be ignored
//! if no other update of the entry overlaps it is ours.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::case::{Act, Case, INITIAL};
use super::simple::{self, Side, SimpleEvent};
use crate::engine::TaskOp;
use crate::history::precedes;

/// The two entries that change, each with the value that it gets; fewer if fewer change.
pub(super) type Changes = [Option<(u32, u32)>; 2];

/// The two entries that change and the values that they get, if no other one does, each changes once, and updates of one
/// entry do not overlap.
pub(super) fn simple_entries(acts: impl Iterator<Item = (TaskOp, Act)>) -> Option<Changes> {
    let mut changed: Changes = [None; 2];
    let mut busy_until: HashMap<u32, u32, _> = HashMap::with_hasher(FixedState::default());
    for (op, act) in acts {
        let Act::Update { entry, value } = act else {
            continue;
        };
        let earlier = busy_until.insert(entry, op.ret);
        if earlier.is_some_and(|ret| !precedes(ret, op.call)) {
            return None;
        }
        let known = changed
            .iter()
            .flatten()
            .find(|(number, _)| *number == entry);
        match known {
            Some((_, now)) if *now == value => {}
            Some(_) => return None,
            None if value == INITIAL => {}
            None => *changed.iter_mut().find(|place| place.is_none())? = Some((entry, value)),
        }
    }
    Some(changed)
}

impl Case {
    /// The events for the monitor of simple histories, and the number of slots that they use. `None` if the history is not simple
    /// or too many scans are open at a time.
    pub(super) fn simple_events(&self) -> Option<(Vec<SimpleEvent>, u32)> {
        let entries = self.simple?;
        let side = |entry: u32, value: u32| {
            let changes = Some((entry, value));
            Side::BOTH
                .into_iter()
                .find(|&side| entries[side as usize] == changes)
        };
        let mut free: Vec<u32> = (0..simple::SLOTS).rev().collect();
        let (mut slots, mut used) = (HashMap::with_hasher(FixedState::default()), 0);
        let mut events = Vec::with_capacity(self.log.end() as usize);
        for event in self.log.events() {
            let op = event.op();
            events.push(match (self.log.acts[op], event.is_return()) {
                (Act::Update { entry, value }, is_return) => match side(entry, value) {
                    None => SimpleEvent::OTHER,
                    Some(side) if is_return => SimpleEvent::update_returned(side),
                    Some(side) => SimpleEvent::update_called(side),
                },
                (Act::Scan { .. }, false) => {
                    let slot = free.pop()?;
                    slots.insert(op, slot);
                    used = used.max(slot + 1);
                    SimpleEvent::scan_called(slot)
                }
                (act @ Act::Scan { .. }, true) => {
                    let slot = slots.remove(&op)?;
                    free.push(slot);
                    let values = self.values(act);
                    let mut ones = [false; 2];
                    for (entry, &value) in
                        (0u32..).zip(values).filter(|(_, value)| **value != INITIAL)
                    {
                        ones[side(entry, value)? as usize] = true;
                    }
                    SimpleEvent::scan_returned(slot, ones)
                }
            });
        }
        Some((events, used))
    }
}
