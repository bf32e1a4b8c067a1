//! The same object by default and under control.

#![allow(clippy::unwrap_used)]
#![cfg(not(any(loom, shuttle)))]

use std::collections::VecDeque;

use linpoint_sync::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_sync::sync::{Condvar, Mutex};
use linpoint_sync::thread;

linpoint_sync::statics! {
    static MADE: AtomicUsize = AtomicUsize::new(0);
}

/// A queue whose readers may wait.
#[derive(Debug)]
struct Queue {
    items: Mutex<VecDeque<u32>>,
    added: Condvar,
}

impl Queue {
    fn new() -> Self {
        MADE.fetch_add(1, SeqCst);
        Queue {
            items: Mutex::new(VecDeque::new()),
            added: Condvar::new(),
        }
    }

    fn add(&self, item: u32) {
        self.items.lock().unwrap().push_back(item);
        self.added.notify_one();
    }

    fn take(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        loop {
            match items.pop_front() {
                Some(item) => return item,
                None => items = self.added.wait(items).unwrap(),
            }
        }
    }
}

#[test]
fn it_runs_on_real_threads() {
    let queue = std::sync::Arc::new(Queue::new());
    let other = std::sync::Arc::clone(&queue);
    let taker = thread::spawn(move || [other.take(), other.take()]);
    queue.add(1);
    queue.add(2);
    assert_eq!(taker.join().unwrap(), [1, 2]);
    assert!(MADE.load(SeqCst) >= 1);
}

#[test]
#[cfg(linpoint)]
fn it_is_checked_under_control() {
    linpoint_test::object(Queue::new)
        .op("add", [1, 2], |queue, item| queue.add(item))
        .op0("take", Queue::take)
        .may_block("take")
        .all(2, 2)
        .run();
}

#[test]
#[cfg(not(linpoint))]
fn by_default_the_types_are_those_of_std() {
    use std::any::TypeId;
    assert_eq!(
        TypeId::of::<Mutex<u32>>(),
        TypeId::of::<std::sync::Mutex<u32>>()
    );
    assert_eq!(
        TypeId::of::<AtomicUsize>(),
        TypeId::of::<std::sync::atomic::AtomicUsize>()
    );
    assert_eq!(size_of::<linpoint_sync::cell::UnsafeCell<u32>>(), 4);
}
