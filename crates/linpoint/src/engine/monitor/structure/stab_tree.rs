//! Intervals by their left ends, of which those that contain a point are taken out.

use std::ops::Range;

use super::wide_tree::{DEGREE, Leaves, Row, bits};

/// The right ends (exclusive) of intervals in the order of their left ends, as a tree of maxima.
#[derive(Debug)]
pub(crate) struct StabTree {
    levels: Vec<Vec<Row>>,
}

/// The end of what is taken out: it reaches nothing.
const OUT: i32 = i32::MIN;

impl StabTree {
    /// Leaves to be filled with the ends.
    pub(crate) fn leaves(capacity: usize) -> Leaves {
        Leaves::with_capacity(capacity, OUT)
    }

    pub(crate) fn new(leaves: Leaves) -> Self {
        StabTree {
            levels: leaves.levels(|row| row.max()),
        }
    }

    /// Takes out the intervals at positions of the range that end after `point`, into `taken`.
    pub(crate) fn take(&mut self, range: Range<usize>, point: u32, taken: &mut Vec<u32>) {
        if !range.is_empty() && !self.levels[0].is_empty() {
            take_below(&mut self.levels, 0, &range, point as i32, taken);
        }
    }
}

/// Takes out what is below a row of the top level. Returns the furthest end of the rest.
fn take_below(
    levels: &mut [Vec<Row>],
    row: usize,
    range: &Range<usize>,
    point: i32,
    taken: &mut Vec<u32>,
) -> i32 {
    let width = DEGREE.pow(levels.len() as u32 - 1);
    let (top, below) = levels.split_last_mut().expect("bug: a tree without levels");
    let nodes = &mut top[row];
    // The nodes of this row that the range meets.
    let first = row * DEGREE;
    let start = (range.start / width).clamp(first, first + DEGREE) - first;
    let end = range.end.div_ceil(width).clamp(first, first + DEGREE) - first;
    let met = (1u32 << end) - (1u32 << start);
    for i in bits(nodes.above(point) & met) {
        let node = first + i;
        nodes.0[i] = if below.is_empty() {
            taken.push(node as u32);
            OUT
        } else {
            take_below(below, node, range, point, taken)
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
            let mut reach = StabTree::new(leaves);
            for round in 0..300 {
                let point = 1000 - 3 * round;
                let (a, b) = (rng.random_range(0..=len), rng.random_range(0..=len));
                let range = a.min(b)..a.max(b);
                let mut expected = Vec::new();
                for i in range.clone().filter(|&i| plain[i] > point as i32) {
                    expected.push(i as u32);
                }
                expected.iter().for_each(|&i| plain[i as usize] = OUT);
                let mut taken = Vec::new();
                reach.take(range, point, &mut taken);
                assert_eq!(taken, expected);
            }
        });
    }
}
