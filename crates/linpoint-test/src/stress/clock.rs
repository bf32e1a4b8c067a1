//! When operations are called and return.
//!
//! The order that a clock gives must be *sound*: an operation that is recorded to return before another is called did so,
//! with all that it wrote. Otherwise a correct object could be blamed. The other way round nothing is promised: operations
//! that came one after the other may be recorded as overlapping, which only makes the check more lenient.

use std::sync::atomic::{AtomicI64, Ordering, fence};
use std::time::Instant;

/// Where the times of calls and returns come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// The number of operations that have returned: one counter, which all threads increment. Sound by the memory model of
    /// the language alone, and the cheaper of the two on few cores; threads that do nothing else wait for each other.
    #[default]
    Counter,
    /// The monotonic clock of the system, in nanoseconds. Threads do not touch a common cache line.
    Time,
}

/// A clock that is running.
#[derive(Debug)]
pub(super) struct Ticks {
    clock: Clock,
    counter: CacheAligned<AtomicI64>,
    start: Instant,
}

/// Something on cache lines of its own: also those that processors fetch in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct CacheAligned<T>(pub(super) T);

impl Ticks {
    pub(super) fn start(clock: Clock) -> Self {
        Ticks {
            clock,
            counter: CacheAligned(AtomicI64::new(0)),
            start: Instant::now(),
        }
    }

    /// The time of a call; everything after it in the program happens later.
    ///
    /// *Counter*: how many operations have returned. The increments of all threads are in one order. If `b`, when it is called,
    /// finds `a` among those that were counted, it reads from the increment at the return of `a` or from a later one in an
    /// unbroken chain of increments. So with release there and acquire here all of `a` happens before all of `b`; nothing
    /// of `b` can move above its acquire. Even numbers for calls and odd ones for returns keep the two apart.
    ///
    /// *Time*: the system reads the clock in order with the instructions around it and promises that it never goes back,
    /// on whatever core it is read. The fence keeps what follows from being done earlier.
    #[inline]
    pub(super) fn call(&self) -> i64 {
        match self.clock {
            Clock::Counter => self.counter.0.load(Ordering::Acquire),
            Clock::Time => {
                let now = self.nanoseconds();
                fence(Ordering::SeqCst);
                now
            }
        }
    }

    /// The time of a return; everything before it in the program happened earlier, and everybody can see it.
    ///
    /// *Counter*: one more than what a call would have found a moment ago. Nothing can move below the release.
    ///
    /// *Time*: a processor keeps stores back for a while. Without the fence a reader that begins after this time could still
    /// miss a store of this operation.
    #[inline]
    pub(super) fn ret(&self) -> i64 {
        match self.clock {
            Clock::Counter => self.counter.0.fetch_add(2, Ordering::AcqRel) + 1,
            Clock::Time => {
                fence(Ordering::SeqCst);
                self.nanoseconds()
            }
        }
    }

    #[inline]
    fn nanoseconds(&self) -> i64 {
        self.start.elapsed().as_nanos() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    /// One thread counts up with the weakest stores, the other reads: a read that is called after the return of a store
    /// must not see anything older. Both also write to cells that the other one wants, which is how stores are kept back
    /// longest: without the fence at the return, thousands of reads are wrong where both threads run at the same time.
    #[test]
    fn what_returned_before_a_call_is_seen_by_it() {
        const STORES: u64 = 30_000;
        const CONTENDED: usize = 47;
        for clock in [Clock::Counter, Clock::Time] {
            let ticks = Ticks::start(clock);
            let contended: [CacheAligned<AtomicU64>; CONTENDED] =
                std::array::from_fn(|_| CacheAligned::default());
            let cell = CacheAligned(AtomicU64::new(0));
            let contend = || {
                let cells = contended.iter();
                cells.for_each(|cell| cell.0.store(1, Ordering::Relaxed));
            };
            let store = |value: u64| {
                contend();
                cell.0.store(value, Ordering::Relaxed);
                ticks.ret()
            };
            let (returned, reads) = thread::scope(|scope| {
                let writer = scope.spawn(|| (1..=STORES).map(store).collect::<Vec<_>>());
                let mut reads = Vec::new();
                while reads.last().is_none_or(|&(_, seen)| seen < STORES) {
                    contend();
                    reads.push((ticks.call(), cell.0.load(Ordering::Relaxed)));
                }
                (writer.join().expect("the writer counts"), reads)
            });
            assert!(returned.is_sorted() && reads.is_sorted());
            for (called, seen) in reads {
                let finished = returned.partition_point(|&time| time < called);
                assert!(seen >= finished as u64, "{clock:?}: {seen} < {finished}");
            }
        }
    }
}
