//! A broadcast channel.

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::object;
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};

/// `tokio`, `src/sync/broadcast.rs`, `send` and `rx_unlock`: a reader that leaves a slot notifies the sender without the lock of the
/// condition variable. A sender that has seen the reader and does not sleep yet misses it.
pub(super) const TOKIO_BROADCAST: Bug = Bug {
    number: 25,
    name: "tokio",
    buggy: "0.2.10",
    fixed: Some("0.2.11"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Slot {
                lock: AtomicUsize::new(0),
                tail: Mutex::new(()),
                readers_left: Condvar::new(),
                version,
            })
            .op0("begin to read", Slot::begin)
            .op0("end reading", Slot::end)
            .op0("send", Slot::send)
            .may_block("send")
            .init(["begin to read"])
            .matrix([vec!["end reading"], vec!["send"]])
        })
    },
};

/// A place of the ring. The lowest bit of `lock` is that of the sender, and each reader counts 2.
struct Slot {
    lock: AtomicUsize,
    tail: Mutex<()>,
    readers_left: Condvar,
    version: Version,
}

impl Slot {
    fn begin(&self) {
        self.lock.fetch_add(2, SeqCst);
    }

    fn end(&self) {
        let before = self.lock.fetch_sub(2, SeqCst);
        match self.version {
            Version::Buggy if before & 1 == 1 => self.readers_left.notify_one(),
            Version::Fixed if before == 3 => {
                drop(self.tail.lock().expect("no holder panics"));
                self.readers_left.notify_all();
            }
            _ => {}
        }
    }

    fn send(&self) {
        let mut tail = self.tail.lock().expect("no holder panics");
        let mut before = self.lock.fetch_or(1, SeqCst);
        while before & !1 != 0 {
            tail = self.readers_left.wait(tail).expect("no holder panics");
            before = self.lock.load(SeqCst);
        }
        self.lock.store(0, SeqCst);
    }
}
