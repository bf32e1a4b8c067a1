//! A tree of exclusive ors: finds the interval that contains a point, if it is the only one.

use std::ops::Range;

use super::wide_tree::DEGREE;

/// Numbered intervals. A query returns the exclusive or of the numbers of all intervals that contain a point.
///
/// An interval is stored at the highest nodes that lie in it; a query combines all nodes above the point.
#[derive(Debug)]
pub(in crate::engine::monitor) struct XorTree {
    levels: Vec<Vec<u32>>,
}

impl XorTree {
    /// No interval yet, on points below `len`.
    pub(in crate::engine::monitor) fn new(len: usize) -> Self {
        let mut levels = Vec::new();
        let mut len = len.max(1);
        loop {
            let rows = len.div_ceil(DEGREE);
            levels.push(vec![0; rows * DEGREE]);
            if rows == 1 {
                return XorTree { levels };
            }
            len = rows;
        }
    }

    /// Adds the interval `first..=last`, or removes it if it was added.
    pub(in crate::engine::monitor) fn toggle(&mut self, first: usize, last: usize, number: u32) {
        // Numbers are stored plus one: 0 stands for no interval.
        let mark = number + 1;
        let (mut from, mut to) = (first, last + 1);
        for level in &mut self.levels {
            let mut mark_all = |range: Range<usize>| {
                level[range].iter_mut().for_each(|sum| *sum ^= mark);
            };
            let (left, right) = (from / DEGREE, to / DEGREE);
            if left == right {
                mark_all(from..to);
                return;
            }
            mark_all(from..(left + 1) * DEGREE);
            mark_all(right * DEGREE..to);
            (from, to) = (left + 1, right);
            if from == to {
                return;
            }
        }
    }

    /// The number of the interval that contains the point, `None` if none does. At most one interval may contain the point.
    pub(in crate::engine::monitor) fn at(&self, point: usize) -> Option<u32> {
        let mut node = point;
        let mut sum = 0;
        for level in &self.levels {
            sum ^= level[node];
            node /= DEGREE;
        }
        sum.checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::structure::wide_tree::for_lengths;
    use rand::RngExt;

    #[test]
    fn does_as_a_plain_array() {
        for_lengths(|mut rng, len| {
            let mut plain = vec![0u32; len];
            let mut owner = XorTree::new(len);
            for number in 0..300 {
                let (a, b) = (rng.random_range(0..len), rng.random_range(0..len));
                let (first, last) = (a.min(b), a.max(b));
                owner.toggle(first, last, number);
                plain[first..=last]
                    .iter_mut()
                    .for_each(|n| *n ^= number + 1);
                for point in [first, last, rng.random_range(0..len)] {
                    assert_eq!(owner.at(point), plain[point].checked_sub(1));
                }
            }
        });
    }
}
