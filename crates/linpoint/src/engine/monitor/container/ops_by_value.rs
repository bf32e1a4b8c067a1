//! The operations on each value of a container, as an index for making witnesses.

use super::critical::CriticalIntervals;
use crate::engine::monitor::structure::counting_sort;
use crate::engine::monitor::{Act, Log};
use crate::history::NEVER;

/// The operations on each value, by number.
#[derive(Debug)]
pub(super) struct OpsByValue {
    adds: Vec<u32>,
    removes: Vec<u32>,
    /// Where in `peeks` those of each value end; empty if the log has no peeks.
    ends: Vec<u32>,
    peeks: Vec<u32>,
}

impl OpsByValue {
    pub(super) fn of(log: &Log<Act>, intervals: &CriticalIntervals) -> Self {
        let values = log.distinct as usize;
        let mut adds = vec![NEVER; values];
        let mut removes = vec![NEVER; values];
        for (op, (&act, &value)) in (0u32..).zip(log.acts.iter().zip(&log.values)) {
            match act {
                Act::Add => adds[value as usize] = op,
                Act::Remove => removes[value as usize] = op,
                Act::Peek | Act::Empty => {}
            }
        }
        let (peeks, ends) = if intervals.has_peeks {
            peeks_by_value(log)
        } else {
            (Vec::new(), Vec::new())
        };
        OpsByValue {
            adds,
            removes,
            ends,
            peeks,
        }
    }

    /// The insertions of all values.
    pub(super) fn adds(&self) -> &[u32] {
        &self.adds
    }

    /// The insertion of a value.
    #[inline]
    pub(super) fn add(&self, value: u32) -> u32 {
        self.adds[value as usize]
    }

    /// The removal of a value. The value must be removed.
    #[inline]
    pub(super) fn remove(&self, value: u32) -> u32 {
        self.removes[value as usize]
    }

    /// The peeks of a value, in the order of their calls.
    #[inline]
    pub(super) fn peeks(&self, value: u32) -> &[u32] {
        let value = value as usize;
        match self.ends.get(value) {
            None => &[],
            Some(&end) => {
                let start = value.checked_sub(1).map_or(0, |before| self.ends[before]);
                &self.peeks[start as usize..end as usize]
            }
        }
    }
}

/// The peeks sorted by value, and where those of each value end.
fn peeks_by_value(log: &Log<Act>) -> (Vec<u32>, Vec<u32>) {
    let peeks = (0..log.len() as u32).filter(|&op| log.acts[op as usize] == Act::Peek);
    let value = |op: u32| log.values[op as usize];
    counting_sort(peeks, log.distinct as usize, value)
}
