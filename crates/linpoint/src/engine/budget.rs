//! Limits on time and memory, cancellation, and progress: the only place that looks at the clock.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

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
    cancelled: Arc<AtomicBool>,
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
            memory: memory.or_else(default_memory),
            cancelled: Arc::default(),
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

    /// How much is done.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the limit if the time is over or the check was cancelled.
    pub fn check(&self) -> Result<(), Limit> {
        if self.cancelled.load(Relaxed) {
            return Err(Limit::Cancelled);
        }
        let is_over = |deadline: &(Instant, Duration)| Instant::now() >= deadline.0;
        if let Some((_, total)) = self.total.filter(is_over) {
            return Err(Limit::TotalTime(total));
        }
        match self.timeout.filter(is_over) {
            Some((_, timeout)) => Err(Limit::Time(timeout)),
            None => Ok(()),
        }
    }

    /// Returns the limit if `more` bytes on top of the resident memory exceed it.
    pub fn reserve(&self, more: u64) -> Result<(), Limit> {
        match self.memory {
            Some(limit) if resident_bytes().unwrap_or(0).saturating_add(more) > limit => {
                Err(Limit::Memory(limit))
            }
            _ => Ok(()),
        }
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
    pub(crate) fn left(&self) -> Duration {
        let left =
            |(deadline, _): (Instant, Duration)| deadline.saturating_duration_since(Instant::now());
        let limits = [self.timeout, self.total];
        let limits = limits.into_iter().flatten().map(left);
        limits.min().unwrap_or(Duration::MAX)
    }

    /// This budget with at most `time` from now on. If this budget has a time limit, the slice reports that one when it
    /// ends.
    pub(crate) fn slice(&self, time: Duration) -> Budget {
        let now = Instant::now();
        let left = self.timeout.map_or(time, |(deadline, _)| {
            deadline.saturating_duration_since(now).min(time)
        });
        let limit = self.timeout.map_or(left, |(_, limit)| limit);
        Budget {
            timeout: now.checked_add(left).map(|deadline| (deadline, limit)),
            total: self.total,
            memory: self.memory,
            cancelled: Arc::clone(&self.cancelled),
            progress: Progress::default(),
        }
    }
}

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

/// Checks a budget at every so many steps, so that hot loops can call it at each step.
#[derive(Debug)]
pub(crate) struct Ticker<'a> {
    budget: &'a Budget,
    steps: u32,
}

impl<'a> Ticker<'a> {
    /// Steps between two looks at the clock: some microseconds of search.
    const CLOCK_STEPS: u32 = 128;
    /// Steps between two looks at the memory in use, each of which costs a system call.
    const MEMORY_STEPS: u32 = 1 << 14;

    pub(crate) fn new(budget: &'a Budget) -> Self {
        Ticker { budget, steps: 0 }
    }

    pub(crate) fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// Counts one step of work; returns the limit if a look shows that one was hit.
    pub(crate) fn tick(&mut self) -> Result<(), Limit> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(Self::CLOCK_STEPS) {
            self.budget.check()?;
            if self.steps.is_multiple_of(Self::MEMORY_STEPS) {
                self.budget.reserve(0)?;
            }
        }
        Ok(())
    }
}

/// The resident memory of this process; `None` where the system does not report it.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * page_bytes()?)
}

/// The size of a page of memory, which does not change while the process runs.
fn page_bytes() -> Option<u64> {
    static PAGE: OnceLock<Option<u64>> = OnceLock::new();
    *PAGE.get_or_init(|| page_bytes_of(&std::fs::read("/proc/self/auxv").ok()?))
}

/// The size of a page in the auxiliary vector that Linux gives to a process: pairs of machine words, a type and a
/// value.
fn page_bytes_of(auxiliary_vector: &[u8]) -> Option<u64> {
    const AT_PAGESZ: usize = 6;
    const WORD: usize = size_of::<usize>();
    let word = |bytes: &[u8]| Some(usize::from_ne_bytes(bytes.try_into().ok()?));
    auxiliary_vector
        .chunks_exact(2 * WORD)
        .map(|pair| pair.split_at(WORD))
        .find(|(kind, _)| word(kind) == Some(AT_PAGESZ))
        .and_then(|(_, bytes)| word(bytes))
        .map(|bytes| bytes as u64)
}

/// The memory limit where none is configured: four fifths of the memory that was available when it was first asked for,
/// plus what this process had by then.
fn default_memory() -> Option<u64> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    *LIMIT.get_or_init(available_memory)
}

fn available_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024 / 5 * 4 + resident_bytes()?)
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
    fn the_page_size_is_read_from_the_auxiliary_vector() {
        let vector = |pairs: &[[usize; 2]]| -> Vec<u8> {
            let words = pairs.iter().flatten();
            words.flat_map(|word| word.to_ne_bytes()).collect()
        };
        let pages_of_16_kib = vector(&[[33, 6], [6, 1 << 14], [0, 0]]);
        assert_eq!(page_bytes_of(&pages_of_16_kib), Some(1 << 14));
        assert_eq!(page_bytes_of(&vector(&[[33, 6], [0, 0]])), None);
        assert_eq!(page_bytes_of(&[6]), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn resident_memory_agrees_with_what_the_system_reports_in_kilobytes() {
        let reported = || -> u64 {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let mut lines = status.lines();
            let line = lines.find(|line| line.starts_with("VmRSS:")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        // Other tests of this process allocate meanwhile.
        let (resident, reported) = (resident_bytes().unwrap(), reported() * 1024);
        assert!(resident < 2 * reported && reported < 2 * resident);
    }
}
