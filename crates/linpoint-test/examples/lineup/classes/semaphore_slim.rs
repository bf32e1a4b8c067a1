//! SemaphoreSlim: a number of permits; `wait` takes one, and waits until there is one.

use linpoint_test::sync::{Condvar, Mutex};

use super::{Seed, lock, wait};

#[derive(Debug)]
pub struct SemaphoreSlim {
    seed: Seed,
    permits: Mutex<u32>,
    released: Condvar,
}

impl SemaphoreSlim {
    pub fn new(seed: Seed) -> Self {
        SemaphoreSlim {
            seed,
            permits: Mutex::new(0),
            released: Condvar::new(),
        }
    }

    pub fn current_count(&self) -> u32 {
        *lock(&self.permits)
    }

    /// Answers how many permits there were.
    pub fn release(&self, count: u32) -> u32 {
        let mut permits = lock(&self.permits);
        let before = *permits;
        *permits += count;
        // The mutant wakes one thread, however many permits there are.
        let waking = if self.seed == Seed::Mutant { 1 } else { count };
        (0..waking).for_each(|_| self.released.notify_one());
        before
    }

    pub fn wait(&self) {
        let mut permits = lock(&self.permits);
        while *permits == 0 {
            permits = wait(&self.released, permits);
        }
        *permits -= 1;
    }

    /// `Wait(0)`: does not wait.
    pub fn try_wait(&self) -> bool {
        let mut permits = lock(&self.permits);
        let is_free = *permits > 0;
        *permits -= u32::from(is_free);
        is_free
    }
}
