//! A tree of minima: lowers ranges of numbers by one, and extracts those that have become small.

use super::wide_tree::{DEGREE, Leaves, Row};
use crate::engine::set_bits;

/// Numbers, as a tree of minima.
///
/// Invariant: every node is stored relative to its parent, and the least of siblings is 0. So lowering a subtree changes only
/// its root, and nothing has to be pushed down.
#[derive(Debug)]
pub(in crate::engine::monitor) struct MinTree {
    levels: Vec<Vec<Row>>,
    /// The least of all numbers.
    least: i32,
}

/// What is added to a number when it is extracted: more than any limit.
const OUT: i32 = 1 << 29;

impl MinTree {
    /// Leaves to be filled with the numbers.
    pub(in crate::engine::monitor) fn leaves(capacity: usize) -> Leaves {
        Leaves::with_capacity(capacity, OUT)
    }

    pub(in crate::engine::monitor) fn new(leaves: Leaves) -> Self {
        let mut least = OUT;
        let levels = leaves.levels(|row| {
            least = normalise(row);
            least
        });
        // The row summed up last is the root, which has no parent: its minimum is that of all numbers.
        MinTree { levels, least }
    }

    /// Lowers the numbers at `first..=last` by one.
    pub(in crate::engine::monitor) fn lower(&mut self, first: usize, last: usize) {
        let (mut first, mut last) = (first, last);
        // On each level the two outermost nodes change by these, all between them by -1.
        let (mut by_first, mut by_last) = (-1, -1);
        for level in &mut self.levels {
            let (left, right) = (first / DEGREE, last / DEGREE);
            let (from, to) = (first % DEGREE, last % DEGREE);
            if left == right {
                let row = &mut level[left];
                row.0[from] += by_first;
                if from < to {
                    row.0[to] += by_last;
                    row.add(from + 1..to, -1);
                }
                by_first = normalise(row);
                if by_first == 0 {
                    return;
                }
            } else {
                let row = &mut level[left];
                row.0[from] += by_first;
                row.add(from + 1..DEGREE, -1);
                by_first = normalise(row);
                let row = &mut level[right];
                row.0[to] += by_last;
                row.add(0..to, -1);
                by_last = normalise(row);
            }
            (first, last) = (left, right);
        }
        self.least += by_first;
    }

    /// Extracts all numbers up to `limit`, and calls `each` with their positions and what they are.
    pub(in crate::engine::monitor) fn extract(
        &mut self,
        limit: i32,
        mut each: impl FnMut(usize, i32),
    ) {
        if self.least <= limit {
            self.least += extract_below(&mut self.levels, 0, limit - self.least, &mut |i, rest| {
                each(i, limit - rest);
            });
        }
    }
}

/// Extracts the numbers below a row of the top level that are at most `limit`, relative to that row. Calls `each` with their
/// positions and by how much they are below the limit. Returns by how much the least of all numbers below the row grew.
fn extract_below(
    levels: &mut [Vec<Row>],
    row: usize,
    limit: i32,
    each: &mut impl FnMut(usize, i32),
) -> i32 {
    let (top, below) = levels.split_last_mut().expect("bug: a tree without levels");
    let nodes = &mut top[row];
    for i in set_bits((!nodes.above(limit) & 0xffff).into()) {
        let (node, rest) = (row * DEGREE + i, limit - nodes.0[i]);
        nodes.0[i] += if below.is_empty() {
            each(node, rest);
            OUT
        } else {
            extract_below(below, node, rest, each)
        };
    }
    normalise(nodes)
}

/// Makes the least number of the row zero; returns what it was.
#[inline]
fn normalise(row: &mut Row) -> i32 {
    let min = row.min();
    if min != 0 {
        row.add(0..DEGREE, -min);
    }
    min
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::structure::wide_tree::for_lengths;
    use rand::RngExt;

    #[test]
    fn does_as_a_plain_array() {
        for_lengths(|mut rng, len| {
            let mut plain: Vec<i32> = (0..len).map(|_| rng.random_range(0..60)).collect();
            let mut leaves = MinTree::leaves(len);
            plain.iter().for_each(|&number| leaves.push(number));
            let mut tree = MinTree::new(leaves);
            for _ in 0..300 {
                let mut expected = Vec::new();
                for (i, number) in plain.iter_mut().enumerate().filter(|(_, n)| **n <= 1) {
                    expected.push((i, *number));
                    *number = OUT;
                }
                let mut taken = Vec::new();
                tree.extract(1, |i, number| taken.push((i, number)));
                assert_eq!(taken, expected);
                let (a, b) = (rng.random_range(0..len), rng.random_range(0..len));
                let (first, last) = (a.min(b), a.max(b));
                plain[first..=last].iter_mut().for_each(|n| *n -= 1);
                tree.lower(first, last);
            }
        });
    }
}
