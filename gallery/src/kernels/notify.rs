//! Notifications.

use linpoint_gallery::{Bug, Finding, Means, Version};
use linpoint_test::object;
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};

/// `tokio`, `src/sync/notify.rs`, `notify_waiters`: without waiters, it counts its call by a load and a store. A permit that `notify_one`
/// leaves in between is overwritten, and the next waiter sleeps for ever.
pub(super) const TOKIO_NOTIFY: Bug = Bug {
    number: 24,
    name: "tokio",
    buggy: "1.5.0",
    fixed: Some("1.6.0"),
    means: Means::Kernel,
    check: |version| {
        Finding::of_object(|| {
            object(move || Notify {
                state: AtomicUsize::new(0),
                waiting: Mutex::new(0),
                wakes: Condvar::new(),
                version,
            })
            .op0("notify_one", Notify::notify_one)
            .op0("notify_waiters", Notify::notify_waiters)
            .op0("notified", Notify::notified)
            .may_block("notified")
            .matrix([vec!["notify_one", "notified"], vec!["notify_waiters"]])
        })
    },
};

const EMPTY: usize = 0;
const WAITING: usize = 1;
const NOTIFIED: usize = 2;
/// What is left is the number of calls of `notify_waiters`.
const CALL: usize = 4;

fn kind(state: usize) -> usize {
    state % CALL
}

struct Notify {
    state: AtomicUsize,
    /// The waiters that are not notified.
    waiting: Mutex<usize>,
    wakes: Condvar,
    version: Version,
}

impl Notify {
    /// Changes the kind of the state if it is one of these. Returns whether it was.
    fn change(&self, from: &[usize], to: usize) -> bool {
        let next = |state| {
            from.contains(&kind(state))
                .then_some(state - kind(state) + to)
        };
        self.state.fetch_update(SeqCst, SeqCst, next).is_ok()
    }

    fn notify_one(&self) {
        if self.change(&[EMPTY, NOTIFIED], NOTIFIED) {
            return;
        }
        let mut waiting = self.waiting.lock().expect("no holder panics");
        if self.change(&[EMPTY, NOTIFIED], NOTIFIED) {
            return;
        }
        *waiting -= 1;
        if *waiting == 0 {
            self.change(&[WAITING], EMPTY);
        }
        self.wakes.notify_all();
    }

    fn notify_waiters(&self) {
        let mut waiting = self.waiting.lock().expect("no holder panics");
        let state = self.state.load(SeqCst);
        if kind(state) == WAITING {
            *waiting = 0;
            self.state.store(state - WAITING + CALL, SeqCst);
            self.wakes.notify_all();
        } else if self.version == Version::Buggy {
            self.state.store(state + CALL, SeqCst);
        } else {
            self.state.fetch_add(CALL, SeqCst);
        }
    }

    /// For one waiter: with more, each would need a place of its own.
    fn notified(&self) {
        if self.change(&[NOTIFIED], EMPTY) {
            return;
        }
        let mut waiting = self.waiting.lock().expect("no holder panics");
        if self.change(&[NOTIFIED], EMPTY) {
            return;
        }
        self.change(&[EMPTY], WAITING);
        *waiting += 1;
        while *waiting > 0 {
            waiting = self.wakes.wait(waiting).expect("no holder panics");
        }
    }
}
