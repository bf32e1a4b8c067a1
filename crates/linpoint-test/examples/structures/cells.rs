//! Structures of a few cells: snapshots, counters, counts of owners, a log and an allocator.

use linpoint_test::sync::Mutex;
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::PoisonError;

use crate::plan::Variant;

/// What is added to a cell of a snapshot with each change: values are below it.
const CHANGE: u32 = 16;

/// Two cells that are read together, by reading them until they are the same twice. The wrong one does not count changes, so a value
/// that came back looks like one that never left.
pub(crate) struct DoubleCollect {
    cells: [AtomicU32; 2],
    change: u32,
}

impl DoubleCollect {
    pub(crate) fn new(variant: Variant) -> Self {
        DoubleCollect {
            cells: Default::default(),
            change: match variant {
                Variant::Right => CHANGE,
                Variant::Wrong => 0,
            },
        }
    }

    /// Flips the bit of a cell.
    pub(crate) fn flip(&self, cell: usize) {
        let cell = &self.cells[cell];
        loop {
            let old = cell.load(SeqCst);
            let new = (old ^ 1) + self.change;
            if cell.compare_exchange(old, new, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    pub(crate) fn scan(&self) -> [u32; 2] {
        let collect = || self.cells.each_ref().map(|cell| cell.load(SeqCst));
        let mut before = collect();
        loop {
            let now = collect();
            if now == before {
                return now.map(|cell| cell % CHANGE);
            }
            before = now;
        }
    }
}

/// The largest number so far. The wrong one does not look whether a larger one came meanwhile.
pub(crate) struct Maximum {
    largest: AtomicU32,
    variant: Variant,
}

impl Maximum {
    pub(crate) fn new(variant: Variant) -> Self {
        Maximum {
            largest: AtomicU32::new(0),
            variant,
        }
    }

    pub(crate) fn raise(&self, to: u32) {
        loop {
            let largest = self.largest.load(SeqCst);
            if largest >= to {
                return;
            }
            if self.variant == Variant::Wrong {
                return self.largest.store(to, SeqCst);
            }
            let raised = self.largest.compare_exchange(largest, to, SeqCst, SeqCst);
            if raised.is_ok() {
                return;
            }
        }
    }

    pub(crate) fn get(&self) -> u32 {
        self.largest.load(SeqCst)
    }
}

/// A counter in two parts. The wrong one adds them up one after the other.
pub(crate) struct ShardedCounter {
    parts: [Mutex<u32>; 2],
    variant: Variant,
}

impl ShardedCounter {
    pub(crate) fn new(variant: Variant) -> Self {
        ShardedCounter {
            parts: Default::default(),
            variant,
        }
    }

    pub(crate) fn add(&self, part: usize) {
        *self.parts[part]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += part as u32 + 1;
    }

    pub(crate) fn sum(&self) -> u32 {
        let part = |part: usize| {
            self.parts[part]
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if self.variant == Variant::Wrong {
            let first = *part(0);
            return first + *part(1);
        }
        let (first, second) = (part(0), part(1));
        *first + *second
    }
}

/// How many own something; once there is none, it is gone. The wrong one takes a share although the last owner may just leave.
pub(crate) struct Owners {
    count: AtomicU32,
    variant: Variant,
}

impl Owners {
    pub(crate) fn new(variant: Variant) -> Self {
        Owners {
            count: AtomicU32::new(1),
            variant,
        }
    }

    pub(crate) fn share(&self) -> bool {
        let mut count = self.count.load(SeqCst);
        loop {
            if count == 0 {
                return false;
            }
            if self.variant == Variant::Wrong {
                self.count.fetch_add(1, SeqCst);
                return true;
            }
            let shared = self
                .count
                .compare_exchange(count, count + 1, SeqCst, SeqCst);
            match shared {
                Ok(_) => return true,
                Err(found) => count = found,
            }
        }
    }

    /// Whether the last one left.
    pub(crate) fn leave(&self) -> Option<bool> {
        let mut count = self.count.load(SeqCst);
        loop {
            if count == 0 {
                return None;
            }
            let left = self
                .count
                .compare_exchange(count, count - 1, SeqCst, SeqCst);
            match left {
                Ok(_) => return Some(count == 1),
                Err(found) => count = found,
            }
        }
    }
}

/// More than a test appends.
const ENTRIES: usize = 10;

/// A log: entries are written to places that were reserved before, and 0 is one that is not there yet. The wrong one counts an entry
/// as soon as it is reserved.
pub(crate) struct Log {
    entries: [AtomicU32; ENTRIES],
    reserved: AtomicU32,
    written: AtomicU32,
    variant: Variant,
}

impl Log {
    pub(crate) fn new(variant: Variant) -> Self {
        Log {
            entries: Default::default(),
            reserved: AtomicU32::new(0),
            written: AtomicU32::new(0),
            variant,
        }
    }

    pub(crate) fn append(&self, entry: u32) -> u32 {
        let place = self.reserved.fetch_add(1, SeqCst);
        self.entries[place as usize].store(entry, SeqCst);
        if self.variant == Variant::Wrong {
            self.written.fetch_add(1, SeqCst);
            return place;
        }
        // Those before it are counted first.
        while self.written.load(SeqCst) != place {
            linpoint_test::hint::spin_loop();
        }
        self.written.store(place + 1, SeqCst);
        place
    }

    pub(crate) fn last(&self) -> Option<u32> {
        let written = self.written.load(SeqCst);
        let place = written.checked_sub(1)?;
        Some(self.entries[place as usize].load(SeqCst))
    }
}

/// An allocator of three places, one bit each. The wrong one marks a place without looking again.
pub(crate) struct Bitmap {
    used: AtomicU32,
    variant: Variant,
}

impl Bitmap {
    pub(crate) fn new(variant: Variant) -> Self {
        Bitmap {
            used: AtomicU32::new(0),
            variant,
        }
    }

    pub(crate) fn allocate(&self) -> Option<u32> {
        let mut used = self.used.load(SeqCst);
        loop {
            let place = (!used).trailing_zeros();
            if place > 2 {
                return None;
            }
            if self.variant == Variant::Wrong {
                self.used.fetch_or(1 << place, SeqCst);
                return Some(place);
            }
            let marked = self
                .used
                .compare_exchange(used, used | 1 << place, SeqCst, SeqCst);
            match marked {
                Ok(_) => return Some(place),
                Err(found) => used = found,
            }
        }
    }

    pub(crate) fn free(&self, place: u32) -> bool {
        self.used.fetch_and(!(1 << place), SeqCst) >> place & 1 == 1
    }
}
