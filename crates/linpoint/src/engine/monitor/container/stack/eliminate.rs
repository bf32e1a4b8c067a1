//! The elimination: values that nothing lies on at the wrong time are taken away, until none is left or all are stuck.
//!
//! A value can go if each of its operations has a gap in its window in which no other value left is critical. Taking
//! values away only uncovers gaps, so the order does not matter (Lee and Mathur 2024, lemma 5.1).

use super::peeks::PeekIndex;
use super::segments::Segments;
use crate::engine::monitor::container::{Act, CriticalIntervals, Log};
use crate::engine::monitor::structure::{MinTree, StabTree};

/// The values in the order in which they went. The others are stuck.
pub(super) fn eliminate(log: &Log<Act>, intervals: &CriticalIntervals) -> Vec<u32> {
    let segments = Segments::new(log, intervals);
    let mut peek_index = (!segments.peeks.is_empty()).then(|| PeekIndex::new(&segments));
    // Only peeks are found in two ways.
    let mut placed = vec![
        false;
        if peek_index.is_some() {
            segments.whose.len()
        } else {
            0
        }
    ];
    let mut critical = MinTree::new(segments.critical);
    let mut reach = StabTree::new(segments.ends);
    let mut missing = segments.windows;
    let mut order: Vec<u32> = Vec::new();
    let mut gone = 0;
    // Segments in which no value, and in which a single one is critical, not looked at yet.
    let (mut bare, mut single) = (Vec::new(), Vec::new());
    let mut hits = Vec::new();
    loop {
        critical.take(i32::from(peek_index.is_some()), |segment, count| {
            let list = if count == 0 { &mut bare } else { &mut single };
            list.push(segment as u32);
        });
        if let Some(segment) = bare.pop() {
            let begun = segments.begun[segment as usize] as usize;
            reach.take(0..begun, segment, &mut hits);
        } else if let (Some(segment), Some(peek_index)) = (single.pop(), &mut peek_index) {
            if !peek_index.take(segment, &mut hits) {
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
        for &value in &order[gone..] {
            let Some((first, last)) = segments.spans[value as usize].ends() else {
                continue;
            };
            critical.lower(first, last);
            if let Some(peek_index) = &mut peek_index {
                peek_index.forget(value, first, last, &mut bare);
            }
        }
        gone = order.len();
    }
}
