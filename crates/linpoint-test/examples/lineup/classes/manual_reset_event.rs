//! ManualResetEvent: threads wait until it is set; it stays set until it is reset.

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};

use super::{Seed, lock, wait};

/// One word says whether the event is set and how many threads wait for it; those who set it wake them.
#[derive(Debug)]
pub struct ManualResetEvent {
    seed: Seed,
    /// `SET`, plus `WAITER` for each thread that waits.
    word: AtomicU32,
    /// How often waiting threads were woken.
    wakes: Mutex<u32>,
    woken: Condvar,
}

const SET: u32 = 1;
const WAITER: u32 = 2;

impl ManualResetEvent {
    pub fn new(seed: Seed) -> Self {
        ManualResetEvent {
            seed,
            word: AtomicU32::new(0),
            wakes: Mutex::new(0),
            woken: Condvar::new(),
        }
    }

    pub fn set(&self) {
        loop {
            let word = self.word.load(SeqCst);
            if word & SET != 0 {
                return;
            }
            if self.swap(word, SET) {
                if word >= WAITER {
                    *lock(&self.wakes) += 1;
                    self.woken.notify_all();
                }
                return;
            }
        }
    }

    pub fn reset(&self) {
        loop {
            let word = self.word.load(SeqCst);
            if word & SET == 0 || self.swap(word, word & !SET) {
                return;
            }
        }
    }

    pub fn is_set(&self) -> bool {
        self.word.load(SeqCst) & SET != 0
    }

    pub fn wait(&self) {
        loop {
            let wakes = *lock(&self.wakes);
            let word = self.word.load(SeqCst);
            if word & SET != 0 {
                return;
            }
            // A: the new word is computed from a second read. If the event was set before that read and reset
            // after it, the swap succeeds and sets the event again, and no thread wakes this one.
            let basis = match self.seed {
                Seed::A => self.word.load(SeqCst),
                _ => word,
            };
            if !self.swap(word, basis + WAITER) {
                continue;
            }
            let mut now = lock(&self.wakes);
            while *now == wakes {
                now = wait(&self.woken, now);
            }
        }
    }

    fn swap(&self, from: u32, to: u32) -> bool {
        self.word.compare_exchange(from, to, SeqCst, SeqCst).is_ok()
    }
}
