//! BlockingCollection as a list for each thread: I, which its makers kept and put into the documentation.

use super::Seed;
use super::lanes::Lanes;

/// All items are alike, so that it does not show which one is taken.
#[derive(Debug)]
pub struct ScanningCollection {
    seed: Seed,
    lanes: Lanes,
}

const ITEM: u32 = 1;

impl ScanningCollection {
    pub fn new(seed: Seed) -> Self {
        ScanningCollection {
            seed,
            lanes: Lanes::default(),
        }
    }

    pub fn add(&self) {
        self.lanes.add(ITEM);
    }

    /// I: looks at one list after the other. An item may be added behind its back before the last one that it has not
    /// seen yet is taken; so it may find nothing although the collection was never empty.
    pub fn try_take(&self) -> Option<u32> {
        match self.seed {
            Seed::I => self.lanes.take_one_by_one(),
            _ => self.lanes.frozen().take_own_first(),
        }
    }

    pub fn count(&self) -> usize {
        self.lanes.frozen().count()
    }
}
