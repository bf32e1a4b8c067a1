//! ConcurrentLinkedList: a list with two ends, each with a lock of its own.

use std::collections::BTreeMap;
use std::sync::Mutex as Plain;

use linpoint_test::sync::atomic::{AtomicI32, Ordering::SeqCst};
use linpoint_test::sync::{Mutex, MutexGuard};

use super::{Seed, lock};

#[derive(Debug)]
pub struct ConcurrentLinkedList {
    seed: Seed,
    front: Mutex<()>,
    back: Mutex<()>,
    /// The items are those from `first` up to, but not including, `end`.
    first: AtomicI32,
    end: AtomicI32,
    /// What lies in a place is read and written by those only who hold the lock of its end.
    places: Plain<BTreeMap<i32, u32>>,
}

/// The locks that an operation holds.
type Held<'a> = (Option<MutexGuard<'a, ()>>, Option<MutexGuard<'a, ()>>);

impl ConcurrentLinkedList {
    pub fn new(seed: Seed) -> Self {
        ConcurrentLinkedList {
            seed,
            front: Mutex::new(()),
            back: Mutex::new(()),
            first: AtomicI32::new(0),
            end: AtomicI32::new(0),
            places: Plain::default(),
        }
    }

    fn both(&self) -> Held<'_> {
        let front = lock(&self.front);
        (Some(front), Some(lock(&self.back)))
    }

    /// C: each end has its own lock, but the last item is at both ends: it is removed twice.
    fn at_front(&self) -> Held<'_> {
        match self.seed {
            Seed::C => (Some(lock(&self.front)), None),
            _ => self.both(),
        }
    }

    fn at_back(&self) -> Held<'_> {
        match self.seed {
            Seed::C => (None, Some(lock(&self.back))),
            _ => self.both(),
        }
    }

    fn put(&self, place: i32, item: u32) {
        let mut places = self.places.lock().expect("no holder panics");
        places.insert(place, item);
    }

    fn item(&self, place: i32) -> Option<u32> {
        let places = self.places.lock().expect("no holder panics");
        places.get(&place).copied()
    }

    pub fn count(&self) -> i32 {
        let _held = self.both();
        self.end.load(SeqCst) - self.first.load(SeqCst)
    }

    pub fn add_first(&self, item: u32) {
        let _held = self.at_front();
        let place = self.first.load(SeqCst) - 1;
        self.put(place, item);
        self.first.store(place, SeqCst);
    }

    pub fn add_last(&self, item: u32) {
        let _held = self.at_back();
        let place = self.end.load(SeqCst);
        self.put(place, item);
        self.end.store(place + 1, SeqCst);
    }

    pub fn remove_first(&self) -> Option<u32> {
        let _held = self.at_front();
        let place = self.first.load(SeqCst);
        if place >= self.end.load(SeqCst) {
            return None;
        }
        self.first.store(place + 1, SeqCst);
        self.item(place)
    }

    pub fn remove_last(&self) -> Option<u32> {
        let _held = self.at_back();
        let place = self.end.load(SeqCst) - 1;
        if self.first.load(SeqCst) > place {
            return None;
        }
        self.end.store(place, SeqCst);
        self.item(place)
    }

    /// Removes everything, and answers it from the front.
    pub fn remove_list(&self) -> Vec<u32> {
        let _held = self.both();
        let (first, end) = (self.first.load(SeqCst), self.end.load(SeqCst));
        self.first.store(end, SeqCst);
        (first..end).filter_map(|place| self.item(place)).collect()
    }
}
