//! A readers-writer lock in a word, with a place to sleep beside it.

use std::time::Duration;

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::object;
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};

/// `parking_lot`, `src/raw_rwlock.rs`, `wait_for_readers`: a writer that gives up takes back its bit and the bit that says that it sleeps.
/// The last reader may have taken back the second one already, and then the word wraps around and nothing ever gets the lock again.
pub(super) const PARKING_LOT: Bug = Bug {
    number: 14,
    name: "parking_lot",
    buggy: "0.12.3",
    fixed: Some("0.12.4"),
    check: |version| {
        Finding::of_object(|| {
            object(move || RwLock {
                word: AtomicUsize::new(0),
                sleeper: Mutex::new(Sleeper::None),
                wakes: Condvar::new(),
                version,
            })
            .op0("read", RwLock::read)
            .op0("unlock", RwLock::unlock_shared)
            .op0("try_write_for", RwLock::try_write_for)
            .op0("is free", |lock| lock.word.load(SeqCst) == 0)
            .init(["read"])
            .finally(["is free"])
            .matrix([vec!["unlock"], vec!["try_write_for"]])
        })
    },
};

const WRITER_PARKED: usize = 0b0010;
const WRITER: usize = 0b1000;
const READER: usize = 0b1_0000;
const READERS: usize = !(READER - 1);

/// The writer that sleeps until the readers have left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sleeper {
    None,
    Sleeps,
    Woken,
}

struct RwLock {
    word: AtomicUsize,
    sleeper: Mutex<Sleeper>,
    wakes: Condvar,
    version: Version,
}

impl RwLock {
    fn read(&self) {
        self.word.fetch_add(READER, SeqCst);
    }

    fn unlock_shared(&self) {
        let word = self.word.fetch_sub(READER, SeqCst);
        if word & (READERS | WRITER_PARKED) == READER | WRITER_PARKED {
            let mut sleeper = self.sleeper.lock().expect("no holder panics");
            self.word.fetch_and(!WRITER_PARKED, SeqCst);
            if *sleeper == Sleeper::Sleeps {
                *sleeper = Sleeper::Woken;
                self.wakes.notify_one();
            }
        }
    }

    /// Locks and unlocks, or gives up when the time is over. Which of them depends on the time.
    fn try_write_for(&self) {
        self.word.fetch_or(WRITER, SeqCst);
        if self.wait_for_readers() {
            self.word.fetch_and(!WRITER, SeqCst);
        }
    }

    fn wait_for_readers(&self) -> bool {
        loop {
            let word = self.word.load(SeqCst);
            if word & READERS == 0 {
                return true;
            }
            if word & WRITER_PARKED == 0 {
                let parked = word | WRITER_PARKED;
                if self
                    .word
                    .compare_exchange(word, parked, SeqCst, SeqCst)
                    .is_err()
                {
                    continue;
                }
            }
            if self.sleeps_too_long() {
                let bits = match self.version {
                    Version::Buggy => WRITER | WRITER_PARKED,
                    Version::Fixed => WRITER,
                };
                self.word.fetch_sub(bits, SeqCst);
                return false;
            }
        }
    }

    /// Sleeps until the readers have left. Returns whether the time was up before.
    fn sleeps_too_long(&self) -> bool {
        let mut sleeper = self.sleeper.lock().expect("no holder panics");
        let word = self.word.load(SeqCst);
        if word & READERS == 0 || word & WRITER_PARKED == 0 {
            return false;
        }
        *sleeper = Sleeper::Sleeps;
        loop {
            let waited = self.wakes.wait_timeout(sleeper, Duration::from_millis(1));
            let (held, result) = waited.expect("no holder panics");
            sleeper = held;
            if *sleeper == Sleeper::Woken || result.timed_out() {
                break;
            }
        }
        let timed_out = *sleeper == Sleeper::Sleeps;
        *sleeper = Sleeper::None;
        if timed_out && self.version == Version::Fixed {
            self.word.fetch_and(!WRITER_PARKED, SeqCst);
        }
        timed_out
    }
}
