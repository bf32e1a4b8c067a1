//! Threads that sleep under a key.

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::object;
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};

/// `papaya`, `src/raw/mod.rs`, `wait_copied` and `copy_at_incremental`: a thread that waits for the copy of an entry sleeps under the pointer
/// that it has read, and is woken under the pointer that was copied. If the value was replaced in between, they differ.
pub(super) const PAPAYA: Bug = Bug {
    number: 22,
    name: "papaya",
    buggy: "0.1.1",
    fixed: Some("0.1.2"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Entry {
                word: AtomicUsize::new(FIRST),
                sleeping: Mutex::default(),
                wakes: Condvar::new(),
                version,
            })
            .op0("replace", Entry::replace)
            .op0("copy", Entry::copy)
            .op0("wait_copied", Entry::wait_copied)
            .may_block("wait_copied")
            .matrix([vec!["replace", "copy"], vec!["wait_copied"]])
        })
    },
};

const COPYING: usize = 1;
const COPIED: usize = 2;
/// Pointers to values, with room for the bits.
const FIRST: usize = 4;
const SECOND: usize = 8;

/// An entry of a table that is being copied.
struct Entry {
    word: AtomicUsize,
    /// The keys under which threads sleep.
    sleeping: Mutex<Vec<usize>>,
    wakes: Condvar,
    version: Version,
}

impl Entry {
    /// The key is the pointer, or the place of the entry, of which there is one.
    fn key(&self, word: usize) -> usize {
        match self.version {
            Version::Buggy => word & !(COPYING | COPIED),
            Version::Fixed => 0,
        }
    }

    /// Replaces the value unless it is being copied.
    fn replace(&self) -> bool {
        let replaced = self.word.compare_exchange(FIRST, SECOND, SeqCst, SeqCst);
        replaced.is_ok()
    }

    fn copy(&self) {
        let word = self.word.fetch_or(COPYING, SeqCst);
        self.word.store(word | COPYING | COPIED, SeqCst);
        let mut sleeping = self.sleeping.lock().expect("no holder panics");
        sleeping.retain(|key| *key != self.key(word));
        self.wakes.notify_all();
    }

    fn wait_copied(&self) {
        let word = self.word.load(SeqCst);
        if word & COPIED != 0 {
            return;
        }
        let key = self.key(word);
        self.sleeping.lock().expect("no holder panics").push(key);
        if self.word.load(SeqCst) & COPIED != 0 {
            return;
        }
        let mut sleeping = self.sleeping.lock().expect("no holder panics");
        while sleeping.contains(&key) {
            sleeping = self.wakes.wait(sleeping).expect("no holder panics");
        }
    }
}
