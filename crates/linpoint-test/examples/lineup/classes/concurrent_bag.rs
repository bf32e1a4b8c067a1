//! ConcurrentBag: serves its items in any order, preferably to the thread that added them.

use linpoint_test::sync::Mutex;
use linpoint_test::thread::{self, ThreadId};

use super::lanes::Lanes;
use super::{Seed, lock};

#[derive(Debug)]
pub struct ConcurrentBag {
    seed: Seed,
    lanes: Lanes,
    /// The threads that have added something.
    registered: Mutex<Vec<ThreadId>>,
}

impl ConcurrentBag {
    pub fn new(seed: Seed) -> Self {
        ConcurrentBag {
            seed,
            lanes: Lanes::default(),
            registered: Mutex::default(),
        }
    }

    pub fn add(&self, item: u32) {
        self.register();
        self.lanes.add(item);
    }

    /// Registers this thread when it first adds something. No result depends on it.
    fn register(&self) {
        let id = thread::current().id();
        let mut registered = lock(&self.registered);
        if !registered.contains(&id) {
            registered.push(id);
        }
    }

    pub fn try_take(&self) -> Option<u32> {
        match self.seed {
            // E takes what others added first, which gives them a chance to count wrongly.
            Seed::E => self.lanes.frozen().take_own_last(),
            // J: which item is taken depends on which lists were passed before items came.
            Seed::J => self.lanes.take_one_by_one(),
            _ => self.lanes.frozen().take_own_first(),
        }
    }

    pub fn try_peek(&self) -> Option<u32> {
        self.lanes.frozen().peek()
    }

    pub fn count(&self) -> usize {
        match self.seed {
            // E: a list that was counted may get an item before one that was not loses its own.
            Seed::E => self.lanes.count_one_by_one(),
            _ => self.lanes.frozen().count(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lanes.frozen().count() == 0
    }

    /// All items, in ascending order.
    pub fn to_array(&self) -> Vec<u32> {
        let lanes = self.lanes.frozen().lanes;
        let mut items: Vec<u32> = lanes.iter().flat_map(|lane| lane.iter().copied()).collect();
        items.sort_unstable();
        items
    }
}
