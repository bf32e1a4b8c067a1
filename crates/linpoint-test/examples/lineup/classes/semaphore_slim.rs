//! SemaphoreSlim: a number of permits; `wait` takes one, and waits until there is one.

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};

use super::{Seed, lock, wait};

#[derive(Debug)]
pub struct SemaphoreSlim {
    seed: Seed,
    /// Written by holders of the lock, and read by all.
    permits: AtomicU32,
    lock: Mutex<()>,
    released: Condvar,
}

impl SemaphoreSlim {
    pub fn new(seed: Seed) -> Self {
        SemaphoreSlim {
            seed,
            permits: AtomicU32::new(0),
            lock: Mutex::new(()),
            released: Condvar::new(),
        }
    }

    pub fn current_count(&self) -> u32 {
        self.permits.load(SeqCst)
    }

    /// Answers how many permits there were.
    pub fn release(&self, count: u32) -> u32 {
        let _held = lock(&self.lock);
        let before = self.permits.load(SeqCst);
        self.permits.store(before + count, SeqCst);
        // The mutant wakes one thread, however many permits there are.
        let waking = if self.seed == Seed::Mutant { 1 } else { count };
        (0..waking).for_each(|_| self.released.notify_one());
        before
    }

    pub fn wait(&self) {
        let mut held = lock(&self.lock);
        loop {
            let permits = self.permits.load(SeqCst);
            if permits > 0 {
                self.permits.store(permits - 1, SeqCst);
                return;
            }
            held = wait(&self.released, held);
        }
    }

    /// `Wait(0)`: does not wait. Looks before it locks, to save the lock if there is no permit, and once more with the lock.
    pub fn try_wait(&self) -> bool {
        if self.permits.load(SeqCst) == 0 {
            return false;
        }
        let _held = lock(&self.lock);
        let permits = self.permits.load(SeqCst);
        if permits > 0 {
            self.permits.store(permits - 1, SeqCst);
        }
        permits > 0
    }
}
