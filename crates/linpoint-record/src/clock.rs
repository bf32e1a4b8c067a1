//! Clocks for the times of calls and returns.
//!
//! Invariant: the recorded order is *sound*. If an operation is recorded to return before another one is called, it did so,
//! and the other one sees all that it wrote; otherwise a correct object could fail. The converse does not hold: operations
//! that do not overlap may be recorded as overlapping, which only makes the check more lenient.

use std::sync::atomic::{AtomicI64, Ordering, fence};

/// Where the times of calls and returns come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// A counter of the operations that have returned, which all threads increment. It is sound by the memory model of the
    /// language alone, and the cheaper clock on few cores. On many cores the threads contend for its cache line.
    #[default]
    Counter,
    /// The monotonic clock of the system, in nanoseconds. Threads share no cache line.
    Time,
}

/// A clock that is running.
#[derive(Debug)]
pub struct Ticks {
    clock: Clock,
    counter: CacheAligned<AtomicI64>,
    start: i64,
}

/// A value on cache lines of its own. The alignment is two lines, since processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CacheAligned<T>(pub T);

impl Ticks {
    /// Starts a clock, at 0.
    pub fn start(clock: Clock) -> Self {
        Ticks {
            clock,
            counter: CacheAligned(AtomicI64::new(0)),
            start: monotonic(),
        }
    }

    /// What [`monotonic`] read when this clock was started.
    pub fn started(&self) -> i64 {
        self.start
    }

    /// The time of a call. Everything after it in the program happens later.
    ///
    /// *Counter*: the number of operations that have returned. The increments of all threads have one order. If the call of
    /// `b` reads a count that includes `a`, it reads from the increment at the return of `a`, or from a later one of the same
    /// release sequence. The increment releases and this load acquires, so all of `a` happens before all of `b`. Calls have
    /// even times and returns odd ones, so the two are never equal.
    ///
    /// *Time*: the system reads the clock in program order and guarantees that it never goes back, on any core. The fence
    /// keeps later instructions from moving before the reading.
    #[inline]
    pub fn call(&self) -> i64 {
        match self.clock {
            Clock::Counter => self.counter.0.load(Ordering::Acquire),
            Clock::Time => {
                let now = self.nanoseconds();
                fence(Ordering::SeqCst);
                now
            }
        }
    }

    /// The time of a return. Everything before it in the program happened earlier and is visible to all threads.
    ///
    /// *Counter*: one more than the time of a call just before. Nothing can move below the release.
    ///
    /// *Time*: a processor delays stores in a buffer. The fence empties it; without the fence a reader that begins after this
    /// time could miss a store of this operation.
    #[inline]
    pub fn ret(&self) -> i64 {
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
        monotonic() - self.start
    }
}

/// The monotonic clock of the system, in nanoseconds. On Linux, all processes of a machine read the same one; elsewhere it counts
/// from its first reading in this process.
#[inline]
pub fn monotonic() -> i64 {
    #[cfg(target_os = "linux")]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec * 1_000_000_000 + now.tv_nsec
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    /// One thread counts up with relaxed stores, the other reads: a read that is called after the return of a store must not
    /// see an older value. Both threads also write to the same cache lines, which delays stores the longest: without the
    /// fence at the return, thousands of reads are wrong if the threads run at the same time.
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
