//! Structures under locks: a map under a ticket lock, a counter under a lock of Mellor-Crummey and Scott, and the queue of Michael and
//! Scott with two locks.

use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use linpoint_test::hint::spin_loop;
use linpoint_test::sync::Mutex;
use linpoint_test::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};

use crate::plan::Variant;

/// A set of two keys under a ticket lock. The wrong one looks for a key without the lock before it inserts it.
pub(crate) struct TicketMap {
    next: AtomicU32,
    serving: AtomicU32,
    keys: [AtomicBool; 2],
    variant: Variant,
}

impl TicketMap {
    pub(crate) fn new(variant: Variant) -> Self {
        TicketMap {
            next: AtomicU32::new(0),
            serving: AtomicU32::new(0),
            keys: Default::default(),
            variant,
        }
    }

    fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        let ticket = self.next.fetch_add(1, SeqCst);
        while self.serving.load(SeqCst) != ticket {
            spin_loop();
        }
        let result = work();
        self.serving.store(ticket + 1, SeqCst);
        result
    }

    pub(crate) fn insert(&self, key: usize) -> bool {
        let key = &self.keys[key];
        if self.variant == Variant::Wrong {
            let is_new = !key.load(SeqCst);
            self.locked(|| key.store(true, SeqCst));
            return is_new;
        }
        self.locked(|| {
            let is_new = !key.load(SeqCst);
            key.store(true, SeqCst);
            is_new
        })
    }

    pub(crate) fn remove(&self, key: usize) -> bool {
        self.locked(|| {
            let was_in = self.keys[key].load(SeqCst);
            self.keys[key].store(false, SeqCst);
            was_in
        })
    }

    pub(crate) fn get(&self, key: usize) -> bool {
        self.locked(|| self.keys[key].load(SeqCst))
    }
}

struct Waiter {
    is_locked: AtomicBool,
    /// 0, or the place of the next one.
    next: AtomicUsize,
}

/// A counter under a queue lock. The wrong lock does not wait for a successor that has come and not linked itself yet.
pub(crate) struct Mcs {
    /// 0, or the place of the last one that waits.
    tail: AtomicUsize,
    waiters: StdMutex<Vec<Arc<Waiter>>>,
    count: AtomicU32,
    variant: Variant,
}

impl Mcs {
    pub(crate) fn new(variant: Variant) -> Self {
        Mcs {
            tail: AtomicUsize::new(0),
            waiters: StdMutex::default(),
            count: AtomicU32::new(0),
            variant,
        }
    }

    fn waiter(&self, place: usize) -> Arc<Waiter> {
        let waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&waiters[place - 1])
    }

    fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        let me = Arc::new(Waiter {
            is_locked: AtomicBool::new(true),
            next: AtomicUsize::new(0),
        });
        let place = {
            let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
            waiters.push(Arc::clone(&me));
            waiters.len()
        };
        let before = self.tail.swap(place, SeqCst);
        if before != 0 {
            self.waiter(before).next.store(place, SeqCst);
            while me.is_locked.load(SeqCst) {
                spin_loop();
            }
        }
        let result = work();
        let mut next = me.next.load(SeqCst);
        if next == 0 {
            if self.tail.compare_exchange(place, 0, SeqCst, SeqCst).is_ok() {
                return result;
            }
            if self.variant == Variant::Wrong {
                return result;
            }
            while next == 0 {
                spin_loop();
                next = me.next.load(SeqCst);
            }
        }
        self.waiter(next).is_locked.store(false, SeqCst);
        result
    }

    pub(crate) fn increment(&self) -> u32 {
        self.locked(|| {
            let count = self.count.load(SeqCst);
            self.count.store(count + 1, SeqCst);
            count
        })
    }

    pub(crate) fn get(&self) -> u32 {
        self.locked(|| self.count.load(SeqCst))
    }
}

struct Node {
    value: u32,
    /// 0, or the place of the next one.
    next: AtomicUsize,
}

/// The queue with one lock for each end. The wrong one counts its values outside of the locks.
pub(crate) struct TwoLockQueue {
    nodes: StdMutex<Vec<Arc<Node>>>,
    /// The place of the node before the first value.
    head: Mutex<usize>,
    tail: Mutex<usize>,
    count: AtomicU32,
    variant: Variant,
}

impl TwoLockQueue {
    pub(crate) fn new(variant: Variant) -> Self {
        let queue = TwoLockQueue {
            nodes: StdMutex::default(),
            head: Mutex::new(1),
            tail: Mutex::new(1),
            count: AtomicU32::new(0),
            variant,
        };
        queue.add(0);
        queue
    }

    fn add(&self, value: u32) -> usize {
        let node = Arc::new(Node {
            value,
            next: AtomicUsize::new(0),
        });
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.push(node);
        nodes.len()
    }

    fn node(&self, place: usize) -> Arc<Node> {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&nodes[place - 1])
    }

    pub(crate) fn enqueue(&self, value: u32) {
        let place = self.add(value);
        {
            let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
            self.node(*tail).next.store(place, SeqCst);
            *tail = place;
        }
        if self.variant == Variant::Wrong {
            self.count.fetch_add(1, SeqCst);
        }
    }

    pub(crate) fn dequeue(&self) -> Option<u32> {
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.node(*head).next.load(SeqCst);
        if next == 0 {
            return None;
        }
        *head = next;
        if self.variant == Variant::Wrong {
            self.count.fetch_sub(1, SeqCst);
        }
        Some(self.node(next).value)
    }

    pub(crate) fn len(&self) -> u32 {
        if self.variant == Variant::Wrong {
            return self.count.load(SeqCst);
        }
        let head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        let _tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut place, mut count) = (*head, 0);
        loop {
            place = self.node(place).next.load(SeqCst);
            if place == 0 {
                return count;
            }
            count += 1;
        }
    }
}
