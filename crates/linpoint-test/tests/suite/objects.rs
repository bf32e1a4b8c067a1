//! Small objects, right and wrong, that several tests share.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Duration;

use linpoint_test::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};
use linpoint_test::{Object, hint, object};

/// A queue under one lock.
#[derive(Default)]
pub(crate) struct MutexQueue {
    items: Mutex<VecDeque<u32>>,
    filled: Condvar,
}

impl MutexQueue {
    pub(crate) fn add(&self, value: u32) {
        self.items.lock().unwrap().push_back(value);
        self.filled.notify_one();
    }

    pub(crate) fn push(&self, value: u32) {
        self.items.lock().unwrap().push_back(value);
    }

    pub(crate) fn try_take(&self) -> Option<u32> {
        self.items.lock().unwrap().pop_front()
    }

    pub(crate) fn take(&self) -> u32 {
        let items = self.items.lock().unwrap();
        let mut items = self
            .filled
            .wait_while(items, |items| items.is_empty())
            .unwrap();
        items.pop_front().unwrap()
    }

    /// The bug of Figure 1: the lock may time out, and the queue then seems empty.
    pub(crate) fn hasty_take(&self) -> Option<u32> {
        match self.items.try_lock_for(Duration::from_millis(1)) {
            Ok(mut items) => items.pop_front(),
            Err(_) => None,
        }
    }
}

/// Nodes that are never freed, so that an index is as good as a pointer. Allocation is not a step.
pub(crate) struct Arena {
    values: Vec<OnceLock<u32>>,
    next: std::sync::atomic::AtomicUsize,
}

impl Arena {
    fn new(size: usize) -> Self {
        Arena {
            values: (0..size).map(|_| OnceLock::new()).collect(),
            next: std::sync::atomic::AtomicUsize::new(1),
        }
    }

    fn alloc(&self, value: u32) -> usize {
        let node = self.next.fetch_add(1, SeqCst);
        self.values[node].set(value).unwrap();
        node
    }

    fn value(&self, node: usize) -> u32 {
        *self.values[node].get().unwrap()
    }
}

const NODES: usize = 16;

/// The queue of Michael and Scott.
pub(crate) struct MichaelScott {
    arena: Arena,
    next: Vec<AtomicUsize>,
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl MichaelScott {
    pub(crate) fn new() -> Self {
        MichaelScott {
            arena: Arena::new(NODES),
            next: (0..NODES).map(|_| AtomicUsize::new(0)).collect(),
            head: AtomicUsize::new(15),
            tail: AtomicUsize::new(15),
        }
    }

    pub(crate) fn enq(&self, value: u32) {
        let node = self.arena.alloc(value);
        loop {
            let tail = self.tail.load(SeqCst);
            let next = self.next[tail].load(SeqCst);
            if self.tail.load(SeqCst) != tail {
                continue;
            }
            if next != 0 {
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
            } else if self.next[tail]
                .compare_exchange(0, node, SeqCst, SeqCst)
                .is_ok()
            {
                let _ = self.tail.compare_exchange(tail, node, SeqCst, SeqCst);
                return;
            }
        }
    }

    pub(crate) fn deq(&self) -> Option<u32> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            let next = self.next[head].load(SeqCst);
            if self.head.load(SeqCst) != head {
                continue;
            }
            if head == tail {
                if next == 0 {
                    return None;
                }
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
            } else {
                let value = self.arena.value(next);
                if self
                    .head
                    .compare_exchange(head, next, SeqCst, SeqCst)
                    .is_ok()
                {
                    return Some(value);
                }
            }
        }
    }
}

/// The stack of Treiber.
pub(crate) struct Treiber {
    arena: Arena,
    below: Vec<std::sync::atomic::AtomicUsize>,
    top: AtomicUsize,
}

impl Treiber {
    pub(crate) fn new() -> Self {
        Treiber {
            arena: Arena::new(NODES),
            below: (0..NODES).map(|_| 0.into()).collect(),
            top: AtomicUsize::new(0),
        }
    }

    pub(crate) fn push(&self, value: u32) {
        let node = self.arena.alloc(value);
        loop {
            let top = self.top.load(SeqCst);
            self.below[node].store(top, SeqCst);
            if self.top.compare_exchange(top, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        loop {
            let top = self.top.load(SeqCst);
            if top == 0 {
                return None;
            }
            let below = self.below[top].load(SeqCst);
            if self
                .top
                .compare_exchange(top, below, SeqCst, SeqCst)
                .is_ok()
            {
                return Some(self.arena.value(top));
            }
        }
    }
}

/// Counters: `inc` in several ways.
#[derive(Default)]
pub(crate) struct Counter {
    count: AtomicU32,
    lock: AtomicBool,
}

impl Counter {
    pub(crate) fn get(&self) -> u32 {
        self.count.load(SeqCst)
    }

    /// Right: tries until no other thread interferes.
    pub(crate) fn cas_inc(&self) {
        loop {
            let count = self.count.load(SeqCst);
            if self
                .count
                .compare_exchange(count, count + 1, SeqCst, SeqCst)
                .is_ok()
            {
                return;
            }
        }
    }

    /// Wrong: Counter1 of the paper.
    pub(crate) fn lost_inc(&self) {
        let count = self.count.load(SeqCst);
        self.count.store(count + 1, SeqCst);
    }

    fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        while self.lock.swap(true, SeqCst) {
            hint::spin_loop();
        }
        let result = work();
        self.lock.store(false, SeqCst);
        result
    }
}

/// A counter under a spin lock.
#[derive(Default)]
pub(crate) struct SpinCounter {
    counter: Counter,
}

impl SpinCounter {
    pub(crate) fn inc(&self) {
        self.counter.locked(|| self.counter.lost_inc());
    }

    pub(crate) fn get(&self) -> u32 {
        self.counter.locked(|| self.counter.get())
    }
}

/// Counter2 of the paper: `get` keeps the lock.
#[derive(Default)]
pub(crate) struct Counter2 {
    lock: Mutex<u32>,
}

impl Counter2 {
    pub(crate) fn inc(&self) {
        *self.lock.lock().unwrap() += 1;
    }

    pub(crate) fn get(&self) -> u32 {
        let guard = self.lock.lock().unwrap();
        let count = *guard;
        std::mem::forget(guard);
        count
    }
}

/// How an [`Event`] computes its new word when a thread begins to wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// From the word that it compares with.
    Sound,
    /// From a second read (root cause A).
    Broken,
}

/// A manual-reset event: bit 0 of the word says whether it is set, the rest counts those who wait.
pub(crate) struct Event {
    word: AtomicU32,
    epoch: AtomicU32,
    waiting: Waiting,
}

impl Event {
    pub(crate) fn new(waiting: Waiting) -> Self {
        Event {
            word: AtomicU32::new(0),
            epoch: AtomicU32::new(0),
            waiting,
        }
    }

    pub(crate) fn set(&self) {
        loop {
            let word = self.word.load(SeqCst);
            if word & 1 == 1 {
                return;
            }
            if self.word.compare_exchange(word, 1, SeqCst, SeqCst).is_ok() {
                if word > 1 {
                    self.epoch.fetch_add(1, SeqCst);
                }
                return;
            }
        }
    }

    pub(crate) fn reset(&self) {
        loop {
            let word = self.word.load(SeqCst);
            if word & 1 == 0
                || self
                    .word
                    .compare_exchange(word, word & !1, SeqCst, SeqCst)
                    .is_ok()
            {
                return;
            }
        }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.word.load(SeqCst) & 1 == 1
    }

    pub(crate) fn wait(&self) {
        loop {
            let epoch = self.epoch.load(SeqCst);
            let word = self.word.load(SeqCst);
            if word & 1 == 1 {
                return;
            }
            let again = match self.waiting {
                Waiting::Broken => self.word.load(SeqCst),
                Waiting::Sound => word,
            };
            if self
                .word
                .compare_exchange(word, again + 2, SeqCst, SeqCst)
                .is_ok()
            {
                while self.epoch.load(SeqCst) == epoch {
                    hint::spin_loop();
                }
            }
        }
    }
}

/// Two slots; `collect` reads one after the other.
#[derive(Default)]
pub(crate) struct TwoSlots {
    x: AtomicBool,
    y: AtomicBool,
}

pub(crate) fn two_slots() -> Object<TwoSlots> {
    object(TwoSlots::default)
        .op0("put_x", |slots| slots.x.store(true, SeqCst))
        .op0("put_y", |slots| slots.y.store(true, SeqCst))
        .op0("collect", |slots| {
            (slots.x.load(SeqCst), slots.y.load(SeqCst))
        })
        .matrix([["put_x"], ["put_y"], ["collect"]])
}

/// The 3x3 test for queues and stacks.
pub(crate) const QUEUE_TEST: [[&str; 3]; 3] = [
    ["enq(1)", "deq", "enq(4)"],
    ["enq(2)", "deq", "deq"],
    ["deq", "enq(3)", "deq"],
];

/// The 3x3 test for counters.
pub(crate) const COUNTER_TEST: [[&str; 3]; 3] = [
    ["inc", "get", "inc"],
    ["inc", "get", "inc"],
    ["get", "inc", "get"],
];

pub(crate) fn mutex_queue() -> Object<MutexQueue> {
    object(MutexQueue::default)
        .op("enq", [1, 2, 3, 4], MutexQueue::push)
        .op0("deq", MutexQueue::try_take)
        .matrix(QUEUE_TEST)
}

pub(crate) fn michael_scott() -> Object<MichaelScott> {
    object(MichaelScott::new)
        .op("enq", [1, 2, 3, 4], MichaelScott::enq)
        .op0("deq", MichaelScott::deq)
}

pub(crate) fn treiber() -> Object<Treiber> {
    object(Treiber::new)
        .op("enq", [1, 2, 3, 4], Treiber::push)
        .op0("deq", Treiber::pop)
        .matrix(QUEUE_TEST)
}

pub(crate) fn cas_counter() -> Object<Counter> {
    object(Counter::default)
        .op0("inc", Counter::cas_inc)
        .op0("get", Counter::get)
}

pub(crate) fn counter1() -> Object<Counter> {
    object(Counter::default)
        .op0("inc", Counter::lost_inc)
        .op0("get", Counter::get)
        .matrix(COUNTER_TEST)
}

pub(crate) fn spin_counter() -> Object<SpinCounter> {
    object(SpinCounter::default)
        .op0("inc", SpinCounter::inc)
        .op0("get", SpinCounter::get)
        .matrix(COUNTER_TEST)
}

pub(crate) fn event(waiting: Waiting) -> Object<Event> {
    object(move || Event::new(waiting))
        .op0("set", Event::set)
        .op0("reset", Event::reset)
        .op0("is_set", Event::is_set)
        .op0("wait", Event::wait)
        .may_block("wait")
}
