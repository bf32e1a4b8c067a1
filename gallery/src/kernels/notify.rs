//! Notifications.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::object;
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Arc, Mutex};

/// `tokio`, `src/sync/notify.rs`, `notify_waiters`: without waiters, it counts its call by a load and a store. A permit that `notify_one`
/// leaves in between is overwritten, and the next waiter sleeps for ever.
pub(super) const TOKIO_NOTIFY: Bug = Bug {
    number: 24,
    name: "tokio",
    buggy: "1.5.0",
    fixed: Some("1.6.0"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Permit {
                state: AtomicUsize::new(0),
                version,
            })
            .op0("notify_one", Permit::notify_one)
            .op0("notify_waiters", Permit::notify_waiters)
            .op0("take permit", Permit::take)
            .finally(["take permit"])
            .matrix([["notify_one"], ["notify_waiters"]])
        })
    },
};

const NOTIFIED: usize = 1;
/// What is left is the number of calls of `notify_waiters`.
const CALL: usize = 2;

/// Without waiters.
struct Permit {
    state: AtomicUsize,
    version: Version,
}

impl Permit {
    fn notify_one(&self) {
        self.state.fetch_or(NOTIFIED, SeqCst);
    }

    fn notify_waiters(&self) {
        match self.version {
            Version::Buggy => {
                let state = self.state.load(SeqCst);
                self.state.store(state + CALL, SeqCst);
            }
            Version::Fixed => {
                self.state.fetch_add(CALL, SeqCst);
            }
        }
    }

    fn take(&self) -> bool {
        self.state.fetch_and(!NOTIFIED, SeqCst) & NOTIFIED != 0
    }
}

/// `tokio`, `src/sync/notify.rs`, `notify_waiters`: it wakes 32 waiters under one hold of the lock, here one. Those who come while it is
/// free are woken as well, so two waits, one after the other, end by one call.
pub(super) const TOKIO_CROWD: Bug = Bug {
    number: 23,
    name: "tokio",
    buggy: "1.25.0",
    fixed: Some("1.26.0"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Crowd {
                waiters: Mutex::new(vec![Arc::default(), Arc::default()]),
                version,
            })
            .op0("notify_waiters", Crowd::notify_waiters)
            .op0_async("wait twice", async |crowd: &Crowd| {
                crowd.wait().await;
                crowd.wait().await;
            })
            .may_block("wait twice")
            .matrix([["notify_waiters"], ["wait twice"]])
        })
    },
};

/// Whether it was notified, and how it is woken.
#[derive(Default)]
struct Waiter(Mutex<(bool, Option<Waker>)>);

struct Crowd {
    waiters: Mutex<Vec<Arc<Waiter>>>,
    version: Version,
}

impl Crowd {
    fn notify_waiters(&self) {
        loop {
            let mut waiters = self.waiters.lock().expect("no holder panics");
            let most = match self.version {
                Version::Buggy => 1,
                Version::Fixed => usize::MAX,
            };
            let first = most.min(waiters.len());
            let woken: Vec<_> = waiters.drain(..first).collect();
            drop(waiters);
            if woken.is_empty() {
                return;
            }
            for waiter in woken {
                let mut waiter = waiter.0.lock().expect("no holder panics");
                waiter.0 = true;
                let waker = waiter.1.take();
                drop(waiter);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            if self.version == Version::Fixed {
                return;
            }
        }
    }

    async fn wait(&self) {
        let waiter: Arc<Waiter> = Arc::default();
        let mut waiters = self.waiters.lock().expect("no holder panics");
        waiters.push(Arc::clone(&waiter));
        drop(waiters);
        poll_fn(|context| {
            let mut waiter = waiter.0.lock().expect("no holder panics");
            if waiter.0 {
                return Poll::Ready(());
            }
            waiter.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
