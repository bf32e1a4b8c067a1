//! Limits on time and memory, cancellation, and progress: the only place that looks at the clock.

mod memory;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use self::memory::InUse;
use crate::text::{show_bytes, show_duration};

/// A limit on resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The time for this history is over.
    Time(Duration),
    /// The time for all histories of a run is over.
    TotalTime(Duration),
    /// More memory would have been needed than this many bytes.
    Memory(u64),
    /// More address space would have been needed than the system allows, which is this many bytes.
    AddressSpace(u64),
    /// The check was cancelled.
    Cancelled,
    /// A table cannot hold more, for this reason.
    Capacity(&'static str),
}

/// Which limit was hit, as part of a sentence.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Time(time) => write!(f, "the time limit of {} came first", show_duration(*time)),
            Limit::TotalTime(time) => {
                let time = show_duration(*time);
                write!(f, "the time limit of {time} for all histories came first")
            }
            Limit::Memory(bytes) => {
                write!(f, "the memory limit of {} came first", show_bytes(*bytes))
            }
            Limit::AddressSpace(bytes) => {
                let bytes = show_bytes(*bytes);
                write!(
                    f,
                    "the address space of {bytes} that `ulimit -v` allows came first"
                )
            }
            Limit::Cancelled => f.write_str("interrupted"),
            Limit::Capacity(why) => f.write_str(why),
        }
    }
}

/// The limits of a check, shared by all threads that work on it.
#[derive(Debug)]
pub struct Budget {
    timeout: Option<(Instant, Duration)>,
    /// When the time for all histories of a run is over, and how long it was.
    total: Option<(Instant, Duration)>,
    memory: Option<u64>,
    /// The address space that the system allows this process.
    address_space: Option<u64>,
    cancelled: Arc<AtomicBool>,
    /// Whether memory was ever refused to this budget or a slice of it.
    refused_memory: Arc<AtomicBool>,
    progress: Progress,
}

/// How much of a check is done, for displays of progress.
#[derive(Debug, Default)]
pub struct Progress {
    /// Calls and returns in the whole history.
    pub total: AtomicU64,
    /// Calls and returns explained so far.
    pub done: AtomicU64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget::new(None, None)
    }
}

impl Budget {
    /// A budget that starts now. Without a memory limit, four fifths of what the machine has left are taken as one.
    pub fn new(timeout: Option<Duration>, memory: Option<u64>) -> Self {
        Budget {
            // A timeout that the clock cannot express is no limit.
            timeout: timeout
                .and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout))),
            total: None,
            memory: memory.or_else(memory::default_limit),
            address_space: Budget::address_space(),
            cancelled: Arc::default(),
            refused_memory: Arc::default(),
            progress: Progress::default(),
        }
    }

    /// The same budget, which also ends when `flag` is set.
    #[must_use]
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled = flag;
        self
    }

    /// The same budget, one of several that share `total`, which began at `start`.
    #[must_use]
    pub fn within_total(mut self, start: Instant, total: Duration) -> Self {
        self.total = start.checked_add(total).map(|deadline| (deadline, total));
        self
    }

    /// The same budget, of whose time so much was spent already.
    #[must_use]
    pub fn after(mut self, spent: Duration) -> Self {
        self.timeout = self.timeout.map(|(deadline, limit)| {
            let earlier = deadline.checked_sub(spent);
            (earlier.unwrap_or_else(Instant::now), limit)
        });
        self
    }

    /// A budget with the same limits whose time starts now.
    pub(crate) fn restarted(&self) -> Budget {
        Budget::new(self.timeout.map(|(_, limit)| limit), self.memory)
    }

    /// The address space that the system allows this process (`ulimit -v`), in bytes; `None` if it is not limited. Every
    /// budget ends before it is used up.
    pub fn address_space() -> Option<u64> {
        memory::address_space_limit()
    }

    /// How much is done.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the limit if the time is over, the check was cancelled, or more memory is in use than allowed. Cheap: the
    /// memory in use is measured about once in a millisecond.
    pub fn check(&self) -> Result<(), Limit> {
        self.check_at(Instant::now())
    }

    fn check_at(&self, now: Instant) -> Result<(), Limit> {
        if self.cancelled.load(Relaxed) {
            return Err(Limit::Cancelled);
        }
        let is_over = |deadline: &(Instant, Duration)| now >= deadline.0;
        if let Some((_, total)) = self.total.filter(is_over) {
            return Err(Limit::TotalTime(total));
        }
        if let Some((_, timeout)) = self.timeout.filter(is_over) {
            return Err(Limit::Time(timeout));
        }
        InUse::lately(now).map_or(Ok(()), |in_use| self.allows(in_use, 0))
    }

    /// Returns the limit if `more` bytes on top of the memory in use exceed it.
    pub fn reserve(&self, more: u64) -> Result<(), Limit> {
        InUse::now().map_or(Ok(()), |in_use| self.allows(in_use, more))
    }

    /// How many bytes more the process may have; `None` where nothing limits it or the system does not tell.
    pub fn memory_left(&self) -> Option<u64> {
        let in_use = InUse::now()?;
        let of_memory = self
            .memory
            .map(|limit| limit.saturating_sub(in_use.resident));
        let of_address_space = self
            .address_space
            .map(|limit| (limit / 4 * 3).saturating_sub(in_use.address_space));
        [of_memory, of_address_space].into_iter().flatten().min()
    }

    fn allows(&self, in_use: InUse, more: u64) -> Result<(), Limit> {
        let allowed = self.exceeded(in_use, more).map_or(Ok(()), Err);
        if allowed.is_err() {
            self.refused_memory.store(true, Relaxed);
        }
        allowed
    }

    /// The limit of memory that is exceeded by `more` bytes on top of those in use.
    fn exceeded(&self, in_use: InUse, more: u64) -> Option<Limit> {
        if let Some(limit) = self.memory
            && in_use.resident.saturating_add(more) > limit
        {
            return Some(Limit::Memory(limit));
        }
        // What is not asked for in advance, such as a list that doubles its capacity, must fit into the rest.
        if let Some(limit) = self.address_space
            && in_use.address_space.saturating_add(more) > limit / 4 * 3
        {
            return Some(Limit::AddressSpace(limit));
        }
        None
    }

    /// The limit that keeps work from going on, or that kept some of it from being done.
    pub(crate) fn stopped_by(&self) -> Option<Limit> {
        let refused = || {
            let limit = self.memory.map(Limit::Memory);
            let limit = limit.or_else(|| self.address_space.map(Limit::AddressSpace));
            limit.filter(|_| self.refused_memory.load(Relaxed))
        };
        self.check().err().or_else(refused)
    }

    /// Returns the limit if `ops` operations that take `bytes` each exceed it. Few operations are not checked, because
    /// a check costs a system call.
    pub(crate) fn reserve_for(&self, ops: usize, bytes: u64) -> Result<(), Limit> {
        const FEW: usize = 1 << 14;
        if ops < FEW {
            return Ok(());
        }
        self.reserve(ops as u64 * bytes)
    }

    /// The time that is left; [`Duration::MAX`] without a time limit.
    pub fn left(&self) -> Duration {
        let left =
            |(deadline, _): (Instant, Duration)| deadline.saturating_duration_since(Instant::now());
        let limits = [self.timeout, self.total];
        let limits = limits.into_iter().flatten().map(left);
        limits.min().unwrap_or(Duration::MAX)
    }

    /// The memory of this budget, without limits on time, for steps that are quick.
    pub(crate) fn of_memory(&self) -> Budget {
        Budget {
            timeout: None,
            total: None,
            cancelled: Arc::default(),
            ..self.slice(Duration::ZERO)
        }
    }

    /// The same as a slice, but with at least a [`GRACE`], even if the time is over or the check was cancelled: what is
    /// known by then is to be told.
    pub(crate) fn slice_with_grace(&self, time: Duration) -> Budget {
        let slice = self.slice(time);
        if slice.left() >= GRACE && self.check() != Err(Limit::Cancelled) {
            return slice;
        }
        let limit = slice.timeout.map_or(GRACE, |(_, limit)| limit);
        Budget {
            timeout: Instant::now().checked_add(GRACE).map(|end| (end, limit)),
            total: None,
            cancelled: Arc::default(),
            ..slice
        }
    }

    /// This budget with at most `time` from now on. If this budget has a time limit, the slice reports that one when it
    /// ends.
    #[must_use]
    pub fn slice(&self, time: Duration) -> Budget {
        let now = Instant::now();
        let left = self.timeout.map_or(time, |(deadline, _)| {
            deadline.saturating_duration_since(now).min(time)
        });
        let limit = self.timeout.map_or(left, |(_, limit)| limit);
        Budget {
            timeout: now.checked_add(left).map(|deadline| (deadline, limit)),
            total: self.total,
            memory: self.memory,
            address_space: self.address_space,
            cancelled: Arc::clone(&self.cancelled),
            refused_memory: Arc::clone(&self.refused_memory),
            progress: Progress::default(),
        }
    }
}

/// The time for telling what is known when a limit was hit.
const GRACE: Duration = Duration::from_millis(100);

/// Measures how long something takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
    pub(crate) fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// The time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Looks at a budget at every so many steps, so that hot loops can call it at each step.
#[derive(Debug)]
pub(crate) struct Ticker<'a> {
    budget: &'a Budget,
    pace: Pace,
}

impl<'a> Ticker<'a> {
    pub(crate) fn new(budget: &'a Budget) -> Self {
        Ticker {
            budget,
            pace: Pace::default(),
        }
    }

    pub(crate) fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// Counts one step of work; returns the limit if a look shows that one was hit.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), Limit> {
        self.pace.step(self.budget)
    }
}

/// Counts the steps between two looks at a budget. The fewer, the longer a step takes: a long step usually takes much
/// memory too.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Steps until the next look.
    left: u32,
    /// Steps between the last two looks.
    interval: u32,
    looked: Instant,
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            left: Self::FIRST_STEPS,
            interval: Self::FIRST_STEPS,
            looked: Instant::now(),
        }
    }
}

impl Pace {
    /// The steps before the first look: few, since each may take much memory.
    const FIRST_STEPS: u32 = 16;
    /// The most steps between two looks.
    const MOST_STEPS: u32 = 128;
    /// The time between two looks, within a factor of four, unless that is longer than the most steps take.
    const TIME: Duration = Duration::from_micros(100);

    /// Counts one step of work; returns the limit if a look at `budget` shows that one was hit.
    #[inline]
    pub(crate) fn step(&mut self, budget: &Budget) -> Result<(), Limit> {
        self.left -= 1;
        if self.left > 0 {
            return Ok(());
        }
        self.look(budget, Instant::now())
    }

    fn look(&mut self, budget: &Budget, now: Instant) -> Result<(), Limit> {
        let time = now.saturating_duration_since(self.looked);
        self.looked = now;
        if time < Self::TIME / 2 {
            self.interval = (self.interval * 2).min(Self::MOST_STEPS);
        } else if time > Self::TIME * 2 {
            self.interval = (self.interval / 4).max(1);
        }
        self.left = self.interval;
        budget.check_at(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_reported() {
        assert_eq!(Budget::default().check(), Ok(()));
        let budget = Budget::new(Some(Duration::ZERO), Some(1));
        assert_eq!(budget.check(), Err(Limit::Time(Duration::ZERO)));
        if cfg!(target_os = "linux") {
            assert_eq!(budget.reserve(1), Err(Limit::Memory(1)));
        }
        let total = Duration::from_nanos(1);
        let budget = budget.within_total(Instant::now() - total, total);
        assert_eq!(budget.check(), Err(Limit::TotalTime(total)));
        assert_eq!(budget.left(), Duration::ZERO);
        let budget = budget.cancelled_by(Arc::new(AtomicBool::new(true)));
        assert_eq!(budget.check(), Err(Limit::Cancelled));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn every_look_at_a_budget_sees_the_memory() {
        let budget = Budget::new(None, Some(1));
        assert_eq!(budget.check(), Err(Limit::Memory(1)));
        let slice = budget.slice(Duration::from_secs(60));
        assert_eq!(slice.check(), Err(Limit::Memory(1)));
        let mut ticker = Ticker::new(&budget);
        let ticks = (1..).find(|_| ticker.tick().is_err());
        assert_eq!(ticks, Some(Pace::FIRST_STEPS));
    }

    #[test]
    fn steps_between_two_looks_depend_on_how_long_they_take() {
        let budget = Budget::default();
        let mut pace = Pace::default();
        let mut now = pace.looked;
        let mut intervals = |step: Duration| -> Vec<u32> {
            let look = |_| {
                now += step * pace.interval;
                assert_eq!(pace.look(&budget, now), Ok(()));
                pace.interval
            };
            (0..8).map(look).collect()
        };
        let quick = intervals(Duration::from_nanos(10));
        assert_eq!(quick, [32, 64, 128, 128, 128, 128, 128, 128]);
        let slow = intervals(Duration::from_millis(1));
        assert_eq!(slow, [32, 8, 2, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn memory_that_would_exceed_a_limit_is_refused() {
        let budget = Budget::new(None, Some(1000));
        let in_use = InUse {
            resident: 900,
            address_space: 5000,
        };
        assert_eq!(budget.allows(in_use, 100), Ok(()));
        assert_eq!(budget.allows(in_use, 101), Err(Limit::Memory(1000)));
        assert_eq!(budget.allows(in_use, u64::MAX), Err(Limit::Memory(1000)));
    }

    #[test]
    fn a_quarter_of_the_address_space_is_kept_free() {
        let budget = Budget {
            address_space: Some(4000),
            ..Budget::new(None, Some(1 << 50))
        };
        let in_use = InUse {
            resident: 900,
            address_space: 2900,
        };
        assert_eq!(budget.allows(in_use, 100), Ok(()));
        let refused = Err(Limit::AddressSpace(4000));
        assert_eq!(budget.allows(in_use, 101), refused);
        assert_eq!(budget.slice(Duration::ZERO).allows(in_use, 101), refused);
    }

    #[test]
    fn memory_that_was_refused_to_a_slice_is_remembered() {
        let budget = Budget::new(None, Some(1 << 50));
        assert_eq!(budget.stopped_by(), None);
        let slice = budget.slice(Duration::from_secs(60));
        let refused = slice.reserve(1 << 51);
        if cfg!(target_os = "linux") {
            assert_eq!(refused, Err(Limit::Memory(1 << 50)));
            assert_eq!(budget.stopped_by(), Some(Limit::Memory(1 << 50)));
        }
    }
}
