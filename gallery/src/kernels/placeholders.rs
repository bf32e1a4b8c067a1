//! A cache in which the first thread that misses a key loads its value, and the others wait at a placeholder.

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::sync::atomic::{AtomicBool, Ordering::SeqCst};
use linpoint_test::sync::{Arc, Mutex};
use linpoint_test::{Model, object, thread};

/// `quick_cache`, `src/sync_placeholder.rs`, `insert_with_lifecycle` and `drop_slow`: the waiters are told that the value is there. If another
/// `insert` has taken the place of the placeholder meanwhile, the guard is dropped as if it had never inserted, and the placeholder is
/// terminated before the waiters look at it, who take that for impossible.
pub(super) const QUICK_CACHE_TERMINATED: Bug = Bug {
    number: 18,
    name: "quick_cache",
    buggy: "0.6.1",
    fixed: Some("0.6.2"),
    check: |version| {
        Finding::of_model(&Model::new(move || {
            let cache = Arc::new(Cache::default());
            let waiter = {
                let cache = Arc::clone(&cache);
                thread::spawn(move || cache.wait())
            };
            cache.state.lock().expect("no holder panics").waiter = Some(waiter.thread().clone());
            let inserter = {
                let cache = Arc::clone(&cache);
                thread::spawn(move || cache.overtake())
            };
            cache.insert_by_guard(version);
            inserter.join().expect("it does not panic");
            waiter.join().expect("the waiter panics");
        }))
    },
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Loading {
    #[default]
    Loading,
    Inserted,
    Terminated,
}

#[derive(Default)]
struct State {
    loading: Loading,
    waiter: Option<thread::Thread>,
}

/// A cache with a placeholder for its only key.
#[derive(Default)]
struct Cache {
    /// Whether a value has taken the place of the placeholder.
    is_value: Mutex<bool>,
    state: Mutex<State>,
    notified: AtomicBool,
}

impl Cache {
    /// An insertion without a guard.
    fn overtake(&self) {
        *self.is_value.lock().expect("no holder panics") = true;
    }

    fn insert_by_guard(&self, version: Version) {
        let mut state = self.state.lock().expect("no holder panics");
        state.loading = Loading::Inserted;
        if let Some(waiter) = state.waiter.take() {
            self.notified.store(true, SeqCst);
            waiter.unpark();
        }
        drop(state);
        let was_overtaken =
            std::mem::replace(&mut *self.is_value.lock().expect("no holder panics"), true);
        if was_overtaken && version == Version::Buggy {
            let mut state = self.state.lock().expect("no holder panics");
            state.loading = Loading::Terminated;
        }
    }

    fn wait(&self) {
        while !self.notified.load(SeqCst) {
            thread::park();
        }
        let loading = self.state.lock().expect("no holder panics").loading;
        assert_ne!(
            loading,
            Loading::Terminated,
            "a waiter of a placeholder that is gone"
        );
    }
}

/// `quick_cache`, `src/sync_placeholder.rs`, `JoinFuture::poll`: a future that is polled with another waker looks whether it was notified, and
/// then for its waker in the list. If the value comes in between, the list is empty, which is taken for impossible.
pub(super) const QUICK_CACHE_POLLED: Bug = Bug {
    number: 19,
    name: "quick_cache",
    buggy: "0.6.19",
    fixed: Some("0.6.20"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Waiting {
                waiters: Mutex::new(vec![0]),
                notified: AtomicBool::new(false),
                version,
            })
            .op0("insert", Waiting::insert)
            .op("poll with", [1], |waiting, waker: u32| waiting.poll(waker))
            .matrix([vec!["insert"], vec!["poll with(1)"]])
        })
    },
};

/// A future that waits at a placeholder.
struct Waiting {
    /// The wakers, by number.
    waiters: Mutex<Vec<u32>>,
    notified: AtomicBool,
    version: Version,
}

impl Waiting {
    fn insert(&self) {
        let mut waiters = self.waiters.lock().expect("no waker panics");
        for _waker in waiters.drain(..) {
            self.notified.store(true, SeqCst);
        }
    }

    /// Whether it is ready.
    fn poll(&self, waker: u32) -> bool {
        if self.notified.load(SeqCst) {
            return true;
        }
        let mut waiters = self
            .waiters
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        if self.version == Version::Fixed && self.notified.load(SeqCst) {
            return true;
        }
        let mine = waiters.first_mut();
        *mine.expect("a future that was not notified is in the list") = waker;
        false
    }
}
