//! Implicit trees of degree 16: few levels, and the children of a node in one cache line.

/// How many children a node has.
pub(in crate::engine::monitor) const DEGREE: usize = 16;

/// The children of one node.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(in crate::engine::monitor) struct Row(pub(in crate::engine::monitor) [i32; DEGREE]);

impl Row {
    /// Bit `i` is set where the number at `i` is above `limit`.
    #[inline]
    pub(in crate::engine::monitor) fn above(&self, limit: i32) -> u32 {
        (0..DEGREE).fold(0, |bits, i| bits | u32::from(self.0[i] > limit) << i)
    }

    #[inline]
    pub(in crate::engine::monitor) fn min(&self) -> i32 {
        self.0.iter().fold(i32::MAX, |min, &n| min.min(n))
    }

    #[inline]
    pub(in crate::engine::monitor) fn max(&self) -> i32 {
        self.0.iter().fold(i32::MIN, |max, &n| max.max(n))
    }

    /// Adds `n` to all numbers at positions of the range.
    #[inline]
    pub(in crate::engine::monitor) fn add(&mut self, range: std::ops::Range<usize>, n: i32) {
        // Without branches: this becomes a few vector instructions.
        for (i, number) in self.0.iter_mut().enumerate() {
            *number += if range.start <= i && i < range.end {
                n
            } else {
                0
            };
        }
    }
}

/// The lowest level of a tree: numbers in rows.
#[derive(Clone, Debug)]
pub(in crate::engine::monitor) struct Leaves {
    rows: Vec<Row>,
    len: usize,
    filler: i32,
}

impl Leaves {
    /// No numbers yet, with room for `capacity`. Unused places of the last row hold `filler`.
    pub(in crate::engine::monitor) fn with_capacity(capacity: usize, filler: i32) -> Self {
        Leaves {
            rows: Vec::with_capacity(capacity.div_ceil(DEGREE)),
            len: 0,
            filler,
        }
    }

    pub(in crate::engine::monitor) fn push(&mut self, number: i32) {
        let place = self.len % DEGREE;
        if place == 0 {
            self.rows.push(Row([self.filler; DEGREE]));
        }
        self.rows[self.len / DEGREE].0[place] = number;
        self.len += 1;
    }

    pub(in crate::engine::monitor) fn get(&self, i: usize) -> i32 {
        self.rows[i / DEGREE].0[i % DEGREE]
    }

    pub(in crate::engine::monitor) fn set(&mut self, i: usize, number: i32) {
        self.rows[i / DEGREE].0[i % DEGREE] = number;
    }

    /// All levels of the tree over these leaves, the lowest first; the last has one row. `sum_up` returns what a node holds,
    /// given its children, and may change them.
    pub(in crate::engine::monitor) fn levels(
        self,
        mut sum_up: impl FnMut(&mut Row) -> i32,
    ) -> Vec<Vec<Row>> {
        let mut leaves = self;
        let filler = leaves.filler;
        let mut levels = Vec::new();
        loop {
            let mut nodes = Leaves::with_capacity(leaves.rows.len(), filler);
            leaves
                .rows
                .iter_mut()
                .for_each(|row| nodes.push(sum_up(row)));
            let is_root = leaves.rows.len() <= 1;
            levels.push(leaves.rows);
            if is_root {
                return levels;
            }
            leaves = nodes;
        }
    }
}

/// For tests: calls `test` with lengths of trees of one level and of several, full and not, each with its own randomness.
#[cfg(test)]
pub(in crate::engine::monitor) fn for_lengths(
    mut test: impl FnMut(rand_chacha::ChaCha8Rng, usize),
) {
    use rand::SeedableRng;
    for (seed, len) in (0u64..).zip([1, 15, 16, 17, 256, 257, 5000]) {
        test(rand_chacha::ChaCha8Rng::seed_from_u64(seed), len);
    }
}
