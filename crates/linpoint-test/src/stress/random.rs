//! The random choices of a thread: operations, arguments, pauses.

/// The random choices of one thread; equal seeds give equal choices.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    fresh: i64,
    step: i64,
}

impl Random {
    /// The choices of one of several threads.
    pub(super) fn new(seed: u64, thread: usize, threads: usize) -> Self {
        let mut random = Random {
            state: seed ^ (thread as u64 + 1).wrapping_mul(0xd134_2543_de82_ef95),
            fresh: thread as i64 + 1,
            step: threads as i64,
        };
        random.next_u64();
        random
    }

    /// Restarts the fresh values, for a new object.
    pub(super) fn restart(&mut self) {
        self.fresh = (self.fresh - 1) % self.step + 1;
    }

    /// Returns a random number (SplitMix64).
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `bound`; 0 if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a value that no thread of this run had before.
    #[inline]
    pub fn fresh(&mut self) -> i64 {
        let value = self.fresh;
        self.fresh += self.step;
        value
    }
}

/// Distinct arguments, for [`op`](super::Stress::op). Histories of containers are decided fastest if no value repeats.
#[inline]
pub fn fresh(random: &mut Random) -> i64 {
    random.fresh()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn fresh_values_are_distinct_across_threads_and_start_again() {
        let mut threads: Vec<Random> = (0..3).map(|thread| Random::new(7, thread, 3)).collect();
        for _ in 0..2 {
            let mut seen = HashSet::new();
            for random in &mut threads {
                random.restart();
                assert!((0..100).all(|_| seen.insert(fresh(random))));
            }
            assert_eq!(seen.iter().max(), Some(&300));
        }
    }

    #[test]
    fn choices_stay_below_their_bound_and_reach_all() {
        let mut random = Random::new(1, 0, 1);
        let seen: HashSet<u64> = (0..1000).map(|_| random.below(7)).collect();
        assert_eq!(seen, (0..7).collect());
        assert_eq!(random.below(0), 0);
    }
}
