//! Peeks of a stack, which can also take effect where only their own value is critical.
//!
//! After Lee and Mathur (2024), algorithm 7.

use super::segments::Segments;
use crate::engine::monitor::structure::{StabTree, XorTree};
use crate::history::NEVER;

/// An index of the peeks on critical values, by value and by segment.
#[derive(Debug)]
pub(super) struct PeekIndex {
    owner: XorTree,
    /// Where the peeks of each value begin in the columns below; one more for the end.
    starts: Vec<u32>,
    /// The windows of the peeks on critical values, by value and left end.
    windows: Vec<u32>,
    /// The segments in which they begin.
    begins: Vec<u32>,
    /// Where they end.
    ends: StabTree,
    /// The segments that wait for each value to be eliminated, as linked lists: the head by value, the next by segment.
    last_waiting: Vec<u32>,
    waiting_before: Vec<u32>,
}

impl PeekIndex {
    pub(super) fn new(segments: &Segments) -> Self {
        let (values, count) = (segments.spans.len(), segments.begun.len());
        let mut owner = XorTree::new(count);
        for (value, span) in (0u32..).zip(&segments.spans) {
            if let Some((first, last)) = span.ends() {
                owner.toggle(first, last, value);
            }
        }
        let mut starts = vec![0; values + 1];
        for &(window, _) in &segments.peeks {
            starts[segments.whose[window as usize] as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut windows = vec![0; segments.peeks.len()];
        let mut begins = vec![0; segments.peeks.len()];
        for &(window, begin) in &segments.peeks {
            let place = &mut next[segments.whose[window as usize] as usize];
            windows[*place as usize] = window;
            begins[*place as usize] = begin;
            *place += 1;
        }
        let mut ends = StabTree::leaves(windows.len());
        for &window in &windows {
            ends.push(segments.ends.get(window as usize));
        }
        PeekIndex {
            owner,
            starts,
            windows,
            begins,
            ends: StabTree::new(ends),
            last_waiting: vec![NEVER; values],
            waiting_before: vec![NEVER; count],
        }
    }

    /// Moves the peeks on the only critical value of a segment whose windows contain the segment to `found`. The segment then
    /// waits for the value to be eliminated. Returns false if it is already.
    pub(super) fn extract(&mut self, segment: u32, found: &mut Vec<u32>) -> bool {
        let Some(value) = self.owner.at(segment as usize) else {
            return false;
        };
        let v = value as usize;
        self.waiting_before[segment as usize] = self.last_waiting[v];
        self.last_waiting[v] = segment;
        let (start, end) = (self.starts[v] as usize, self.starts[v + 1] as usize);
        let begun = self.begins[start..end].partition_point(|&begin| begin <= segment);
        let before = found.len();
        self.ends.extract(start..start + begun, segment, found);
        for peek in &mut found[before..] {
            *peek = self.windows[*peek as usize];
        }
        true
    }

    /// Removes a critical value. Segments that waited for it are added to `bare`.
    pub(super) fn eliminate(&mut self, value: u32, first: usize, last: usize, bare: &mut Vec<u32>) {
        self.owner.toggle(first, last, value);
        let mut waiting = self.last_waiting[value as usize];
        while waiting != NEVER {
            bare.push(waiting);
            waiting = self.waiting_before[waiting as usize];
        }
    }
}
