//! CountdownEvent: is set once it was signalled often enough.

use linpoint_test::sync::{Condvar, Mutex};

use super::{Refused, Seed, lock, wait};

#[derive(Debug)]
pub struct CountdownEvent {
    seed: Seed,
    remaining: Mutex<u32>,
    zero: Condvar,
}

impl CountdownEvent {
    pub fn new(seed: Seed) -> Self {
        CountdownEvent {
            seed,
            remaining: Mutex::new(2),
            zero: Condvar::new(),
        }
    }

    pub fn current_count(&self) -> u32 {
        *lock(&self.remaining)
    }

    pub fn is_set(&self) -> bool {
        self.current_count() == 0
    }

    /// Answers whether that was the last signal.
    pub fn signal(&self, count: u32) -> Result<bool, Refused> {
        let mut remaining = lock(&self.remaining);
        let left = remaining.checked_sub(count).ok_or(Refused)?;
        if self.seed == Seed::Mutant {
            // The lock is let go between reading and writing.
            drop(remaining);
            remaining = lock(&self.remaining);
        }
        *remaining = left;
        if left == 0 {
            self.zero.notify_all();
        }
        Ok(left == 0)
    }

    /// Answers whether the event was not set yet.
    pub fn try_add_count(&self, count: u32) -> bool {
        let mut remaining = lock(&self.remaining);
        let is_open = *remaining > 0;
        *remaining += if is_open { count } else { 0 };
        is_open
    }

    pub fn add_count(&self, count: u32) -> Result<(), Refused> {
        self.try_add_count(count).then_some(()).ok_or(Refused)
    }

    pub fn wait(&self) {
        let mut remaining = lock(&self.remaining);
        while *remaining > 0 {
            remaining = wait(&self.zero, remaining);
        }
    }
}
