//! A stabbing tree: extracts the intervals that contain a point.

use std::ops::Range;

use super::wide_tree::{DEGREE, Leaves, Row};
use crate::engine::set_bits;

/// The exclusive right ends of intervals, in the order of their left ends, as a tree of maxima. The caller knows how many
/// intervals begin at or before a point.
#[derive(Debug)]
pub(in crate::engine::monitor) struct StabTree {
    levels: Vec<Vec<Row>>,
}

/// The end of an extracted interval: before every point.
const OUT: i32 = i32::MIN;

impl StabTree {
    /// Leaves to be filled with the ends.
    pub(in crate::engine::monitor) fn leaves(capacity: usize) -> Leaves {
        Leaves::with_capacity(capacity, OUT)
    }

    pub(in crate::engine::monitor) fn new(leaves: Leaves) -> Self {
        StabTree {
            levels: leaves.levels(|row| row.max()),
        }
    }

    /// Moves the positions of the intervals in the range that end after `point` to `found`.
    pub(in crate::engine::monitor) fn extract(
        &mut self,
        range: Range<usize>,
        point: u32,
        found: &mut Vec<u32>,
    ) {
        if !range.is_empty() && !self.levels[0].is_empty() {
            extract_below(&mut self.levels, 0, &range, point as i32, found);
        }
    }
}

/// Extracts intervals below a row of the top level. Returns the furthest end of the rest.
fn extract_below(
    levels: &mut [Vec<Row>],
    row: usize,
    range: &Range<usize>,
    point: i32,
    found: &mut Vec<u32>,
) -> i32 {
    let width = DEGREE.pow(levels.len() as u32 - 1);
    let (top, below) = levels.split_last_mut().expect("bug: a tree without levels");
    let nodes = &mut top[row];
    // The nodes of this row that the range meets.
    let first = row * DEGREE;
    let start = (range.start / width).clamp(first, first + DEGREE) - first;
    let end = range.end.div_ceil(width).clamp(first, first + DEGREE) - first;
    let met = (1u32 << end) - (1u32 << start);
    for i in set_bits((nodes.above(point) & met).into()) {
        let node = first + i;
        nodes.0[i] = if below.is_empty() {
            found.push(node as u32);
            OUT
        } else {
            extract_below(below, node, range, point, found)
        };
    }
    nodes.max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::structure::wide_tree::for_lengths;
    use rand::RngExt;

    #[test]
    fn does_as_a_plain_array() {
        for_lengths(|mut rng, len| {
            let mut plain: Vec<i32> = (0..len).map(|_| rng.random_range(0..1000)).collect();
            let mut leaves = StabTree::leaves(len);
            plain.iter().for_each(|&end| leaves.push(end));
            let mut tree = StabTree::new(leaves);
            for round in 0..300 {
                let point = 1000 - 3 * round;
                let (a, b) = (rng.random_range(0..=len), rng.random_range(0..=len));
                let range = a.min(b)..a.max(b);
                let mut expected = Vec::new();
                for i in range.clone().filter(|&i| plain[i] > point as i32) {
                    expected.push(i as u32);
                }
                expected.iter().for_each(|&i| plain[i as usize] = OUT);
                let mut found = Vec::new();
                tree.extract(range, point, &mut found);
                assert_eq!(found, expected);
            }
        });
    }
}
