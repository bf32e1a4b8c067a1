//! Pools of connections.

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::object;
use linpoint_test::sync::Mutex;
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// `sqlx-core`, `src/pool/inner.rs`, `release` and `pop_idle`: a connection can be taken before it is counted as idle, so the count of a
/// pool without idle connections becomes 2^64 - 1, and the reaper, which makes as many rounds, never ends.
pub(super) const SQLX: Bug = Bug {
    number: 13,
    name: "sqlx-core",
    buggy: "0.9.0",
    fixed: Some("mended"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Sqlx {
                idle: Mutex::new(0),
                num_idle: AtomicUsize::new(0),
                version,
            })
            .op0("release", Sqlx::release)
            .op0("acquire", Sqlx::try_acquire)
            .op0("reaper ends", |pool| pool.num_idle.load(SeqCst) <= 1)
            .matrix([vec!["release"], vec!["acquire"], vec!["reaper ends"]])
        })
    },
};

/// A pool of which one connection is in use at first.
struct Sqlx {
    idle: Mutex<usize>,
    num_idle: AtomicUsize,
    version: Version,
}

impl Sqlx {
    fn release(&self) {
        if self.version == Version::Fixed {
            self.num_idle.fetch_add(1, SeqCst);
        }
        *self.idle.lock().expect("no holder panics") += 1;
        if self.version == Version::Buggy {
            self.num_idle.fetch_add(1, SeqCst);
        }
    }

    /// Whether it got a connection depends on the time; only what the reaper sees matters.
    fn try_acquire(&self) {
        let mut idle = self.idle.lock().expect("no holder panics");
        if *idle > 0 {
            *idle -= 1;
            drop(idle);
            self.num_idle.fetch_sub(1, SeqCst);
        }
    }
}

/// `bb8`, `src/inner.rs`, `make_pooled`: between the look for an idle connection and the entry into the queue of those who wait, the lock
/// is free. A connection that comes back then is put aside as idle, and the newcomer waits until its time is up.
pub(super) const BB8: Bug = Bug {
    number: 28,
    name: "bb8",
    buggy: "0.8.0",
    fixed: Some("0.8.1"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Bb8 {
                state: Mutex::default(),
                version,
            })
            .op0("put back", Bb8::put_back)
            .op0_async("get", Bb8::get)
            .may_block("get")
            .matrix([vec!["put back"], vec!["get"]])
        })
    },
};

#[derive(Default)]
struct Bb8State {
    idle: usize,
    waiters: Vec<linpoint_test::sync::Arc<Waiter>>,
}

#[derive(Default)]
struct Waiter(Mutex<(bool, Option<std::task::Waker>)>);

/// A pool of which one connection is in use at first, and that makes no other.
struct Bb8 {
    state: Mutex<Bb8State>,
    version: Version,
}

impl Bb8 {
    fn put_back(&self) {
        let mut state = self.state.lock().expect("no holder panics");
        if state.waiters.is_empty() {
            state.idle += 1;
            return;
        }
        let waiter = state.waiters.remove(0);
        drop(state);
        let mut served = waiter.0.lock().expect("no holder panics");
        served.0 = true;
        if let Some(waker) = served.1.take() {
            waker.wake();
        }
    }

    async fn get(&self) {
        let mut state = self.state.lock().expect("no holder panics");
        if state.idle > 0 {
            state.idle -= 1;
            return;
        }
        if self.version == Version::Buggy {
            drop(state);
            state = self.state.lock().expect("no holder panics");
        }
        let waiter = linpoint_test::sync::Arc::new(Waiter::default());
        state.waiters.push(linpoint_test::sync::Arc::clone(&waiter));
        drop(state);
        std::future::poll_fn(|context| {
            let mut served = waiter.0.lock().expect("no holder panics");
            if served.0 {
                return std::task::Poll::Ready(());
            }
            served.1 = Some(context.waker().clone());
            std::task::Poll::Pending
        })
        .await;
    }
}
