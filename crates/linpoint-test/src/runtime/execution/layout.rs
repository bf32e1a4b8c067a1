//! The operations of a test by number, and their results.

use super::super::MAIN;

/// How operations are numbered: those of the initial sequence, then thread by thread, then those of the final sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) init: usize,
    pub(crate) threads: Vec<usize>,
    pub(crate) last: usize,
    /// How many threads start by themselves; the others wait until one of them starts them.
    pub(crate) started: usize,
}

impl Layout {
    pub(crate) fn ops(&self) -> usize {
        self.init + self.threads.iter().sum::<usize>() + self.last
    }

    /// How many serial executions there are if none is stuck.
    pub(crate) fn serial_executions(&self) -> u64 {
        let mut count = 1u128;
        let mut placed = 0;
        for &ops in &self.threads {
            for own in 1..=ops as u128 {
                placed += 1;
                // A binomial coefficient at each step, so that the division leaves nothing.
                count = match count.checked_mul(placed) {
                    Some(product) => product / own,
                    None => return u64::MAX,
                };
            }
        }
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    pub(crate) fn base(&self, thread: usize) -> usize {
        self.init + self.threads[..thread].iter().sum::<usize>()
    }

    /// The operations of a thread; of the initial and final sequence for [`MAIN`].
    pub(crate) fn of_thread(&self, thread: usize) -> std::ops::Range<usize> {
        let base = self.base(thread);
        base..base + self.threads[thread]
    }

    pub(crate) fn finals(&self) -> std::ops::Range<usize> {
        self.ops() - self.last..self.ops()
    }

    /// The thread that runs an operation.
    pub(crate) fn thread_of(&self, op: usize) -> usize {
        (0..self.threads.len())
            .find(|&thread| self.of_thread(thread).contains(&op))
            .unwrap_or(MAIN)
    }
}

/// The result of an operation, by number; see [`Outcome::value`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Outcome(pub(crate) u32);

impl Outcome {
    pub(crate) const ABSENT: Outcome = Outcome(0);
    pub(crate) const PENDING: Outcome = Outcome(1);

    pub(crate) fn returned(number: u32) -> Outcome {
        Outcome(number + 2)
    }

    /// The number of the result, if it returned.
    pub(crate) fn value(self) -> Option<u32> {
        self.0.checked_sub(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_executions_are_counted_without_running_them() {
        let count = |threads: &[usize]| {
            Layout {
                init: 2,
                threads: threads.to_vec(),
                last: 1,
                started: threads.len(),
            }
            .serial_executions()
        };
        assert_eq!(count(&[3, 3, 3]), 1_680);
        assert_eq!(count(&[4, 4, 4]), 34_650);
        assert_eq!(count(&[3, 3, 3, 3]), 369_600);
        assert_eq!(count(&[2, 0, 1]), 3);
        assert_eq!(count(&[8; 8]), u64::MAX);
    }
}
