//! Marked ranks, to be counted.

/// Some marked ranks.
pub(crate) struct RankBits {
    words: Vec<Word>,
}

/// The marks of 64 ranks, next to the number of those before them: one look at memory counts.
#[derive(Clone, Copy)]
struct Word {
    bits: u64,
    before: u32,
}

impl RankBits {
    /// No marks, at ranks up to and including `last`.
    pub(crate) fn none(last: u32) -> Self {
        let none = Word { bits: 0, before: 0 };
        RankBits {
            words: vec![none; last as usize / 64 + 1],
        }
    }

    /// RankBits a rank. To be [settled](Self::settle) before anything is counted.
    #[inline]
    pub(crate) fn mark(&mut self, rank: u32) {
        self.words[rank as usize / 64].bits |= 1 << (rank % 64);
    }

    /// Makes what was marked count.
    pub(crate) fn settle(&mut self) {
        let mut total = 0;
        for word in &mut self.words {
            word.before = total;
            total += word.bits.count_ones();
        }
    }

    /// How many ranks up to and including this one are marked.
    #[inline]
    pub(crate) fn up_to(&self, rank: u32) -> u32 {
        let word = self.words[rank as usize / 64];
        word.before + (word.bits << (63 - rank % 64)).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted() {
        let marked = [0, 1, 63, 64, 200, 640];
        let mut marks = RankBits::none(640);
        marked.iter().for_each(|&rank| marks.mark(rank));
        marks.settle();
        for rank in 0..=640 {
            let expected = marked.iter().filter(|&&other| other <= rank).count();
            assert_eq!(marks.up_to(rank) as usize, expected);
        }
    }
}
