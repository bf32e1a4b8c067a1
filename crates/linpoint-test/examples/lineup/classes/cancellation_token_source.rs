//! CancellationTokenSource: callbacks that run once it is cancelled, or at once if it is already.

use linpoint_test::sync::Mutex;
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::{Seed, lock};

const OPEN: u32 = 0;
/// The callbacks run.
const NOTIFYING: u32 = 1;
/// The callbacks have run.
const COMPLETE: u32 = 2;

#[derive(Debug, Default)]
struct Callbacks {
    registered: u32,
    /// What the callbacks increment.
    counter: u32,
}

#[derive(Debug)]
pub struct CancellationTokenSource {
    seed: Seed,
    /// It only grows.
    state: AtomicU32,
    callbacks: Mutex<Callbacks>,
}

impl CancellationTokenSource {
    pub fn new(seed: Seed) -> Self {
        CancellationTokenSource {
            seed,
            state: AtomicU32::new(OPEN),
            callbacks: Mutex::default(),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.state.load(SeqCst) >= NOTIFYING
    }

    /// Registers a callback that increments the counter, and answers the counter.
    pub fn increment(&self) -> u32 {
        let is_cancelled = self.is_cancelled();
        let mut callbacks = lock(&self.callbacks);
        if is_cancelled || self.is_cancelled() {
            callbacks.counter += 1;
        } else {
            if self.seed == Seed::Mutant {
                // Cancellation may come between the look and the registration; then the callback is never run.
                drop(callbacks);
                callbacks = lock(&self.callbacks);
            }
            callbacks.registered += 1;
        }
        callbacks.counter
    }

    /// Runs the callbacks, and answers the counter.
    pub fn cancel(&self) -> u32 {
        let mut callbacks = lock(&self.callbacks);
        if !self.is_cancelled() {
            self.state.store(NOTIFYING, SeqCst);
            callbacks.counter += callbacks.registered;
            self.state.store(COMPLETE, SeqCst);
        }
        callbacks.counter
    }
}
