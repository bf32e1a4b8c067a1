//! Lists of items, one for each thread: what ConcurrentBag and one version of BlockingCollection are made of.

use linpoint_test::sync::{Mutex, MutexGuard};
use linpoint_test::thread::{self, ThreadId};

use super::lock;

type Lane = Vec<u32>;

/// At least as many lists as a test has threads.
const LANES: usize = 4;

#[derive(Debug, Default)]
pub struct Lanes {
    /// Whose lists they are: threads get theirs when they first need it.
    owners: Mutex<Vec<ThreadId>>,
    lanes: [Mutex<Lane>; LANES],
}

/// All lists at once. No thread gets a new list meanwhile.
pub struct Frozen<'a> {
    owners: MutexGuard<'a, Vec<ThreadId>>,
    pub lanes: Vec<MutexGuard<'a, Lane>>,
}

/// The number of the list of this thread.
fn own(owners: &mut Vec<ThreadId>) -> usize {
    let id = thread::current().id();
    let known = owners.iter().position(|&owner| owner == id);
    known.unwrap_or_else(|| {
        owners.push(id);
        owners.len() - 1
    }) % LANES
}

/// All lists, from one on.
fn in_order(first: usize) -> impl Iterator<Item = usize> {
    (0..LANES).map(move |step| (first + step) % LANES)
}

impl Lanes {
    /// Adds to the own list.
    pub fn add(&self, item: u32) {
        let mut owners = lock(&self.owners);
        // Locked before the others may look: who sees the new owner sees the item too.
        let mut lane = lock(&self.lanes[own(&mut owners)]);
        drop(owners);
        lane.push(item);
    }

    pub fn frozen(&self) -> Frozen<'_> {
        Frozen {
            owners: lock(&self.owners),
            lanes: self.lanes.iter().map(lock).collect(),
        }
    }

    /// How many items there are, one list after the other.
    pub fn count_one_by_one(&self) -> usize {
        self.lanes.iter().map(|lane| lock(lane).len()).sum()
    }

    /// Takes from the own list, else from the first list that has something when it is looked at.
    pub fn take_one_by_one(&self) -> Option<u32> {
        let own = own(&mut lock(&self.owners));
        in_order(own).find_map(|lane| lock(&self.lanes[lane]).pop())
    }
}

impl Frozen<'_> {
    pub fn count(&self) -> usize {
        self.lanes.iter().map(|lane| lane.len()).sum()
    }

    /// Takes from the own list, else from the next one that has something.
    pub fn take_own_first(&mut self) -> Option<u32> {
        in_order(own(&mut self.owners)).find_map(|lane| self.lanes[lane].pop())
    }

    /// Takes from the next list that has something, and from the own one if there is no other.
    pub fn take_own_last(&mut self) -> Option<u32> {
        in_order(own(&mut self.owners) + 1).find_map(|lane| self.lanes[lane].pop())
    }

    /// What would be taken, the own list first.
    pub fn peek(&mut self) -> Option<u32> {
        in_order(own(&mut self.owners)).find_map(|lane| self.lanes[lane].last().copied())
    }
}
