//! The memory that this process has, and what the system lets it have.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The memory of this process, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InUse {
    /// What is resident.
    pub(super) resident: u64,
    /// What is mapped, resident or not: the system limits this by `ulimit -v`.
    pub(super) address_space: u64,
}

impl InUse {
    /// The memory in use now; `None` where the system does not report it.
    #[cfg(unix)]
    pub(super) fn now() -> Option<Self> {
        use std::os::unix::fs::FileExt;
        // The file stays open, so that each look costs one system call.
        static STATM: OnceLock<Option<std::fs::File>> = OnceLock::new();
        let statm = STATM.get_or_init(|| std::fs::File::open("/proc/self/statm").ok());
        // Seven numbers of at most twenty digits.
        let mut text = [0; 7 * 21];
        let len = statm.as_ref()?.read_at(&mut text, 0).ok()?;
        InUse::of_statm(std::str::from_utf8(&text[..len]).ok()?)
    }

    /// The memory in use now; `None` where the system does not report it.
    #[cfg(not(unix))]
    pub(super) fn now() -> Option<Self> {
        None
    }

    fn of_statm(statm: &str) -> Option<Self> {
        let mut pages = statm.split(' ').map(|pages| pages.parse::<u64>().ok());
        let mut bytes = || Some(pages.next()?? * page_bytes()?);
        let (address_space, resident) = (bytes()?, bytes()?);
        Some(InUse {
            resident,
            address_space,
        })
    }

    /// The memory in use at `now` or shortly before: costs a system call once in [`FRESH`], for all threads together.
    pub(super) fn lately(now: Instant) -> Option<Self> {
        static START: OnceLock<Instant> = OnceLock::new();
        /// When the memory was last looked at, in nanoseconds since the start; 0 for never.
        static LOOKED: AtomicU64 = AtomicU64::new(0);
        static RESIDENT: AtomicU64 = AtomicU64::new(0);
        static ADDRESS_SPACE: AtomicU64 = AtomicU64::new(0);
        let since = now.saturating_duration_since(*START.get_or_init(|| now));
        let since = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).max(1);
        let looked = LOOKED.load(Relaxed);
        let is_stale = looked == 0 || since.saturating_sub(looked) >= FRESH.as_nanos() as u64;
        let is_ours = is_stale && LOOKED.swap(since, Relaxed) == looked;
        // Nothing was measured yet if another thread is about to do so for the first time.
        if is_ours || RESIDENT.load(Relaxed) == 0 {
            let in_use = InUse::now()?;
            RESIDENT.store(in_use.resident, Relaxed);
            ADDRESS_SPACE.store(in_use.address_space, Relaxed);
            return Some(in_use);
        }
        Some(InUse {
            resident: RESIDENT.load(Relaxed),
            address_space: ADDRESS_SPACE.load(Relaxed),
        })
    }
}

/// How old a measurement of the memory may be: a thread allocates about a megabyte in that time.
const FRESH: Duration = Duration::from_micros(500);

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
pub(super) fn default_limit() -> Option<u64> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = meminfo
            .lines()
            .find(|line| line.starts_with("MemAvailable:"))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib * 1024 / 5 * 4 + InUse::now()?.resident)
    })
}

/// The address space that the system allows (`ulimit -v`), as it was when it was first asked for; `None` if it is not
/// limited, or the system does not tell.
pub(super) fn address_space_limit() -> Option<u64> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
        address_space_of_limits(&limits)
    })
}

/// The soft limit of the address space in the table of limits that Linux gives for a process.
fn address_space_of_limits(limits: &str) -> Option<u64> {
    let row = |line: &str| line.strip_prefix("Max address space").map(str::to_owned);
    let row = limits.lines().find_map(row)?;
    row.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn memory_in_use_agrees_with_what_the_system_reports_in_kilobytes() {
        let reported = |field: &str| -> u64 {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let mut lines = status.lines();
            let line = lines.find(|line| line.starts_with(field)).unwrap();
            let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
            kib * 1024
        };
        // Other tests of this process allocate meanwhile.
        let is_close = |a: u64, b: u64| a < 2 * b && b < 2 * a;
        let in_use = InUse::now().unwrap();
        assert!(is_close(in_use.resident, reported("VmRSS:")));
        assert!(is_close(in_use.address_space, reported("VmSize:")));
        let lately = InUse::lately(Instant::now()).unwrap();
        assert!(is_close(lately.resident, in_use.resident));
    }

    #[test]
    fn the_address_space_is_read_from_the_table_of_limits() {
        let limits = |soft: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max resident set          7                    unlimited            bytes\n\
                 Max address space         {soft:<20} unlimited            bytes\n"
            )
        };
        assert_eq!(
            address_space_of_limits(&limits("104857600")),
            Some(100 << 20)
        );
        assert_eq!(address_space_of_limits(&limits("unlimited")), None);
        assert_eq!(address_space_of_limits(""), None);
    }
}
