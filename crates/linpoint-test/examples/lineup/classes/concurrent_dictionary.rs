//! ConcurrentDictionary: a map whose keys are spread over stripes, each with a lock of its own.

use std::collections::BTreeMap;

use linpoint_test::sync::{Mutex, MutexGuard};

use super::{Refused, Seed, lock};

type Stripe = BTreeMap<u32, u32>;

#[derive(Debug)]
pub struct ConcurrentDictionary {
    seed: Seed,
    stripes: [Mutex<Stripe>; 2],
}

impl ConcurrentDictionary {
    pub fn new(seed: Seed) -> Self {
        ConcurrentDictionary {
            seed,
            stripes: [Stripe::new(), Stripe::new()].map(Mutex::new),
        }
    }

    fn stripe(&self, key: u32) -> MutexGuard<'_, Stripe> {
        lock(&self.stripes[(key / 10) as usize % self.stripes.len()])
    }

    /// All stripes at once.
    fn frozen(&self) -> [MutexGuard<'_, Stripe>; 2] {
        // Always in the same order: no thread that holds a later lock waits for an earlier one.
        let [first, second] = &self.stripes;
        [lock(first), lock(second)]
    }

    pub fn count(&self) -> usize {
        match self.seed {
            // One stripe after the other: an element may move behind the count.
            Seed::Mutant => self.stripes.iter().map(|stripe| lock(stripe).len()).sum(),
            _ => self.frozen().iter().map(|stripe| stripe.len()).sum(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.frozen().iter().all(|stripe| stripe.is_empty())
    }

    pub fn clear(&self) {
        self.frozen().iter_mut().for_each(|stripe| stripe.clear());
    }

    pub fn try_add(&self, key: u32) -> bool {
        let mut stripe = self.stripe(key);
        let is_new = !stripe.contains_key(&key);
        stripe.entry(key).or_insert(1);
        is_new
    }

    pub fn try_remove(&self, key: u32) -> Option<u32> {
        self.stripe(key).remove(&key)
    }

    pub fn try_get(&self, key: u32) -> Option<u32> {
        self.stripe(key).get(&key).copied()
    }

    pub fn get(&self, key: u32) -> Result<u32, Refused> {
        self.try_get(key).ok_or(Refused)
    }

    pub fn set(&self, key: u32) {
        self.stripe(key).insert(key, 2);
    }

    /// Replaces 1 by 3.
    pub fn try_update(&self, key: u32) -> bool {
        let mut stripe = self.stripe(key);
        let is_one = stripe.get(&key) == Some(&1);
        if is_one {
            stripe.insert(key, 3);
        }
        is_one
    }

    pub fn contains_key(&self, key: u32) -> bool {
        self.stripe(key).contains_key(&key)
    }
}
