//! ConcurrentQueue: first in, first out.

use std::collections::VecDeque;
use std::time::Duration;

use linpoint_test::sync::Mutex;

use super::{Seed, lock};

#[derive(Debug)]
pub struct ConcurrentQueue {
    seed: Seed,
    items: Mutex<VecDeque<u32>>,
}

impl ConcurrentQueue {
    pub fn new(seed: Seed) -> Self {
        ConcurrentQueue {
            seed,
            items: Mutex::default(),
        }
    }

    pub fn count(&self) -> usize {
        lock(&self.items).len()
    }

    pub fn is_empty(&self) -> bool {
        lock(&self.items).is_empty()
    }

    pub fn enqueue(&self, item: u32) {
        lock(&self.items).push_back(item);
    }

    pub fn to_array(&self) -> Vec<u32> {
        lock(&self.items).iter().copied().collect()
    }

    pub fn try_dequeue(&self) -> Option<u32> {
        if self.seed == Seed::B {
            // B: a lock that could not be had in time passes for an empty queue.
            return self
                .items
                .try_lock_for(Duration::from_millis(1))
                .ok()?
                .pop_front();
        }
        lock(&self.items).pop_front()
    }

    pub fn try_peek(&self) -> Option<u32> {
        lock(&self.items).front().copied()
    }
}
