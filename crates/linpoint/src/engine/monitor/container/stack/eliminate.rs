//! Elimination of the values of a stack, one after the other, until none is left or all that are left are stuck.
//!
//! After Lee and Mathur (2024), lemma 5.1 and algorithms 6 and 7, with the corrections named in the parent module. A value is
//! eliminated when each of its operations has a gap in its window in which no other remaining value is critical.
//! Eliminating values only uncovers gaps, so the order does not matter.
//!
//! Invariant: a segment in which a single value is critical waits for that value (`peeks`), and is offered again as one
//! without critical values when the value is eliminated. Every segment is handled at most twice.

use super::peeks::PeekIndex;
use super::segments::Segments;
use crate::engine::monitor::structure::{MinTree, StabTree};
use crate::engine::monitor::{Act, CriticalIntervals, Log};

/// The values in the order of their elimination. The others are stuck.
pub(super) fn eliminate(log: &Log<Act>, intervals: &CriticalIntervals) -> Vec<u32> {
    let segments = Segments::new(log, intervals);
    let mut peek_index = (!segments.peeks.is_empty()).then(|| PeekIndex::new(&segments));
    // Windows that have a gap. Needed for peeks only: other windows are found once.
    let mut placed = vec![
        false;
        if peek_index.is_some() {
            segments.whose.len()
        } else {
            0
        }
    ];
    let mut critical = MinTree::new(segments.critical);
    let mut windows = StabTree::new(segments.ends);
    let mut missing = segments.windows;
    let mut order: Vec<u32> = Vec::new();
    let mut eliminated = 0;
    // Segments not handled yet: those in which no value, and those in which a single one is critical.
    let (mut bare, mut single) = (Vec::new(), Vec::new());
    let mut hits = Vec::new();
    loop {
        critical.extract(i32::from(peek_index.is_some()), |segment, count| {
            let list = if count == 0 { &mut bare } else { &mut single };
            list.push(segment as u32);
        });
        if let Some(segment) = bare.pop() {
            let begun = segments.begun[segment as usize] as usize;
            windows.extract(0..begun, segment, &mut hits);
        } else if let (Some(segment), Some(peek_index)) = (single.pop(), &mut peek_index) {
            if !peek_index.extract(segment, &mut hits) {
                bare.push(segment);
            }
        } else {
            return order;
        }
        for window in hits.drain(..) {
            if let Some(placed) = placed.get_mut(window as usize)
                && std::mem::replace(placed, true)
            {
                continue;
            }
            let value = segments.whose[window as usize];
            let missing = &mut missing[value as usize];
            *missing -= 1;
            if *missing == 0 {
                order.push(value);
            }
        }
        for &value in &order[eliminated..] {
            let Some((first, last)) = segments.spans[value as usize].ends() else {
                continue;
            };
            critical.lower(first, last);
            if let Some(peek_index) = &mut peek_index {
                peek_index.eliminate(value, first, last, &mut bare);
            }
        }
        eliminated = order.len();
    }
}
