//! A watchdog that reports operations which never return to the scheduler: they wait for a lock of `std`, or spin without yielding.
//! It cannot end them, since they occupy the OS thread; but it can print why the test hangs.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Once, Weak};
use std::time::{Duration, Instant};

/// How long operations may run without returning to the scheduler. An execution takes milliseconds.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What an OS thread is doing, for the watchdog to read.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat {
    /// Counts executions.
    executions: AtomicU64,
    /// The operations that run, one bit each; none between executions.
    running: AtomicU64,
    /// The operations in words.
    names: Mutex<Vec<String>>,
}

static ALL: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

impl Heartbeat {
    /// The operations of the test that this OS thread runs from now on.
    pub(crate) fn watch(&self, names: impl Iterator<Item = String>) {
        if let Ok(mut own) = self.names.lock() {
            *own = names.collect();
        }
    }

    /// An execution begins or ends, with these operations running.
    pub(crate) fn execution(&self, running: u64) {
        // Only this OS thread writes, so load and store need not be one step.
        let executions = self.executions.load(Relaxed);
        self.executions.store(executions + 1, Relaxed);
        self.running.store(running, Relaxed);
    }

    /// An operation begins or returns.
    pub(crate) fn toggle(&self, op: usize) {
        let running = self.running.load(Relaxed);
        self.running.store(running ^ 1 << op, Relaxed);
    }
}

/// Registers this OS thread with the watchdog.
pub(crate) fn register() -> Arc<Heartbeat> {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // Without the watchdog only its message is missing.
        let _ = std::thread::Builder::new()
            .name("linpoint watch".to_owned())
            .spawn(keep_watch);
    });
    let heartbeat = Arc::<Heartbeat>::default();
    if let Ok(mut all) = ALL.lock() {
        all.push(Watched {
            heartbeat: Arc::downgrade(&heartbeat),
            seen: (0, 0),
            since: Instant::now(),
        });
    }
    heartbeat
}

fn keep_watch() {
    loop {
        std::thread::sleep(TIMEOUT / 10);
        let Ok(mut all) = ALL.lock() else { return };
        all.retain(|watched| watched.heartbeat.strong_count() > 0);
        for message in all
            .iter_mut()
            .filter_map(|watched| watched.overdue(Instant::now()))
        {
            // Not by `eprintln!`, whose output cargo shows only after the test.
            let _ = writeln!(std::io::stderr(), "{message}");
        }
    }
}

#[derive(Debug)]
struct Watched {
    heartbeat: Weak<Heartbeat>,
    /// The execution and its running operations when they were last looked at.
    seen: (u64, u64),
    since: Instant,
}

impl Watched {
    /// Returns a message about operations that have been running for too long, once.
    fn overdue(&mut self, now: Instant) -> Option<String> {
        let heartbeat = self.heartbeat.upgrade()?;
        let seen = (
            heartbeat.executions.load(Relaxed),
            heartbeat.running.load(Relaxed),
        );
        if seen != self.seen || seen.1 == 0 {
            (self.seen, self.since) = (seen, now);
            return None;
        }
        if now.saturating_duration_since(self.since) < TIMEOUT {
            return None;
        }
        // No test runs for a year, so this does not report the same operations again.
        self.since = now + Duration::from_secs(365 * 86_400);
        let names = heartbeat.names.lock().ok()?;
        let running = (0..names.len()).filter(|&op| seen.1 & 1 << op != 0);
        let running: Vec<&str> = running.map(|op| names[op].as_str()).collect();
        Some(format!(
            "linpoint: {} has not returned to the scheduler for {TIMEOUT:?}. Does it wait for a lock of std, or spin with std::hint? \
             Only the types of linpoint_test are under control.",
            running.join(" or ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_never_return_are_named_once() {
        let heartbeat = Arc::<Heartbeat>::default();
        let start = Instant::now();
        let mut watched = Watched {
            heartbeat: Arc::downgrade(&heartbeat),
            seen: (0, 0),
            since: start,
        };
        *heartbeat.names.lock().expect("no panics") =
            ["A.get", "B.inc"].map(str::to_owned).to_vec();
        assert_eq!(watched.overdue(start + 2 * TIMEOUT), None, "nothing runs");
        heartbeat.running.store(0b10, Relaxed);
        let later = start + 3 * TIMEOUT;
        assert_eq!(watched.overdue(later), None, "it has just begun");
        assert_eq!(watched.overdue(later + TIMEOUT / 2), None);
        let message = watched.overdue(later + TIMEOUT).expect("it hangs");
        assert!(
            message.starts_with("linpoint: B.inc has not returned"),
            "{message}"
        );
        assert_eq!(
            watched.overdue(later + 5 * TIMEOUT),
            None,
            "it was reported"
        );
        heartbeat.executions.store(1, Relaxed);
        assert_eq!(watched.overdue(later + 6 * TIMEOUT), None, "it goes on");
        assert!(watched.overdue(later + 7 * TIMEOUT).is_some());
    }
}
