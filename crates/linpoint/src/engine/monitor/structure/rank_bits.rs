//! A bit vector with rank: how many bits up to a position are set, in constant time.

/// A set of ranks. The caller must call [`index`](Self::index) after the last [`set`](Self::set) and before the first
/// [`count_to`](Self::count_to).
pub(in crate::engine::monitor) struct RankBits {
    words: Vec<Word>,
}

/// 64 bits, next to the number of bits set before them, so that a count reads one cache line.
#[derive(Clone, Copy)]
struct Word {
    bits: u64,
    before: u32,
}

impl RankBits {
    /// No ranks, of those up to and including `last`.
    pub(in crate::engine::monitor) fn new(last: u32) -> Self {
        let none = Word { bits: 0, before: 0 };
        RankBits {
            words: vec![none; last as usize / 64 + 1],
        }
    }

    /// Adds a rank.
    #[inline]
    pub(in crate::engine::monitor) fn set(&mut self, rank: u32) {
        self.words[rank as usize / 64].bits |= 1 << (rank % 64);
    }

    /// Counts the bits before each word.
    pub(in crate::engine::monitor) fn index(&mut self) {
        let mut total = 0;
        for word in &mut self.words {
            word.before = total;
            total += word.bits.count_ones();
        }
    }

    /// How many ranks up to and including this one are in the set.
    #[inline]
    pub(in crate::engine::monitor) fn count_to(&self, rank: u32) -> u32 {
        let word = self.words[rank as usize / 64];
        word.before + (word.bits << (63 - rank % 64)).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_ranks_of_the_set() {
        let ranks = [0, 1, 63, 64, 200, 640];
        let mut bits = RankBits::new(640);
        ranks.iter().for_each(|&rank| bits.set(rank));
        bits.index();
        for rank in 0..=640 {
            let expected = ranks.iter().filter(|&&other| other <= rank).count();
            assert_eq!(bits.count_to(rank) as usize, expected);
        }
    }
}
