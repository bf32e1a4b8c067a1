// Objects whose source is the same under every engine: this file is included where `sync` is one of theirs.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32 as PlainU32, AtomicUsize as PlainUsize};

use self::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use self::sync::{Condvar, Mutex};

/// An operation of any of the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Puts a value in; counters count.
    Put(u32),
    /// Takes a value out; counters tell.
    Take,
    /// Of an event.
    Set,
    Reset,
    IsSet,
    Wait,
}

pub trait Tested: Send + Sync + 'static {
    fn make() -> Self;
    fn run(&self, op: Op) -> Option<u32>;
}

pub trait Container: Send + Sync + 'static {
    fn new() -> Self;
    fn put(&self, value: u32);
    fn take(&self) -> Option<u32>;
}

impl<C: Container> Tested for C {
    fn make() -> Self {
        C::new()
    }

    fn run(&self, op: Op) -> Option<u32> {
        match op {
            Op::Put(value) => {
                self.put(value);
                None
            }
            Op::Take => self.take(),
            _ => unreachable!("a container is no event"),
        }
    }
}

/// A queue under one lock.
pub struct MutexQueue(Mutex<VecDeque<u32>>);

impl Container for MutexQueue {
    fn new() -> Self {
        MutexQueue(Mutex::new(VecDeque::new()))
    }

    fn put(&self, value: u32) {
        self.0.lock().expect("no thread panics here").push_back(value);
    }

    fn take(&self) -> Option<u32> {
        self.0.lock().expect("no thread panics here").pop_front()
    }
}

const NODES: usize = 8;

/// The values of nodes, which are never used again; making one is not a step.
struct Nodes {
    values: [PlainU32; NODES],
    used: PlainUsize,
}

impl Nodes {
    fn new() -> Self {
        Nodes { values: Default::default(), used: PlainUsize::new(1) }
    }

    fn make(&self, value: u32) -> usize {
        let node = self.used.fetch_add(1, SeqCst);
        self.values[node].store(value, SeqCst);
        node
    }

    fn value(&self, node: usize) -> u32 {
        self.values[node].load(SeqCst)
    }
}

/// The queue of Michael and Scott.
pub struct MichaelScott {
    nodes: Nodes,
    next: [AtomicUsize; NODES],
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl Container for MichaelScott {
    fn new() -> Self {
        // The last node is the first dummy; 0 is none.
        MichaelScott {
            nodes: Nodes::new(),
            next: std::array::from_fn(|_| AtomicUsize::new(0)),
            head: AtomicUsize::new(NODES - 1),
            tail: AtomicUsize::new(NODES - 1),
        }
    }

    fn put(&self, value: u32) {
        let node = self.nodes.make(value);
        loop {
            let tail = self.tail.load(SeqCst);
            let next = self.next[tail].load(SeqCst);
            if next != 0 {
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
            } else if self.next[tail].compare_exchange(0, node, SeqCst, SeqCst).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, SeqCst, SeqCst);
                return;
            }
        }
    }

    fn take(&self) -> Option<u32> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            let next = self.next[head].load(SeqCst);
            if head == tail {
                if next == 0 {
                    return None;
                }
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
            } else if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(self.nodes.value(next));
            }
        }
    }
}

/// The stack of Treiber.
pub struct Treiber {
    nodes: Nodes,
    below: [PlainUsize; NODES],
    top: AtomicUsize,
}

impl Container for Treiber {
    fn new() -> Self {
        Treiber { nodes: Nodes::new(), below: Default::default(), top: AtomicUsize::new(0) }
    }

    fn put(&self, value: u32) {
        let node = self.nodes.make(value);
        loop {
            let top = self.top.load(SeqCst);
            self.below[node].store(top, SeqCst);
            if self.top.compare_exchange(top, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn take(&self) -> Option<u32> {
        loop {
            let top = self.top.load(SeqCst);
            if top == 0 {
                return None;
            }
            let below = self.below[top].load(SeqCst);
            if self.top.compare_exchange(top, below, SeqCst, SeqCst).is_ok() {
                return Some(self.nodes.value(top));
            }
        }
    }
}

/// A counter: what is put in is counted, what is taken out is the count.
pub struct CasCounter(AtomicU32);

impl Container for CasCounter {
    fn new() -> Self {
        CasCounter(AtomicU32::new(0))
    }

    fn put(&self, _: u32) {
        loop {
            let count = self.0.load(SeqCst);
            if self.0.compare_exchange(count, count + 1, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn take(&self) -> Option<u32> {
        // A write of nothing: loom lets plain reads see old values, even of sequentially consistent writes.
        Some(self.0.fetch_add(0, SeqCst))
    }
}

/// Counter1 of the paper: increments are lost.
pub struct LostCounter(AtomicU32);

impl Container for LostCounter {
    fn new() -> Self {
        LostCounter(AtomicU32::new(0))
    }

    fn put(&self, _: u32) {
        let count = self.0.load(SeqCst);
        self.0.store(count + 1, SeqCst);
    }

    fn take(&self) -> Option<u32> {
        Some(self.0.load(SeqCst))
    }
}

/// A counter under a spin lock.
pub struct SpinCounter {
    lock: AtomicBool,
    count: AtomicU32,
}

impl SpinCounter {
    fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        while self.lock.swap(true, SeqCst) {
            self::hint::spin_loop();
        }
        let result = work();
        self.lock.store(false, SeqCst);
        result
    }
}

impl Container for SpinCounter {
    fn new() -> Self {
        SpinCounter { lock: AtomicBool::new(false), count: AtomicU32::new(0) }
    }

    fn put(&self, _: u32) {
        self.locked(|| self.count.store(self.count.load(SeqCst) + 1, SeqCst));
    }

    fn take(&self) -> Option<u32> {
        Some(self.locked(|| self.count.load(SeqCst)))
    }
}

/// A manual-reset event.
pub struct Event {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Tested for Event {
    fn make() -> Self {
        Event { set: Mutex::new(false), changed: Condvar::new() }
    }

    fn run(&self, op: Op) -> Option<u32> {
        let mut set = self.set.lock().expect("no thread panics here");
        match op {
            Op::Set => {
                *set = true;
                self.changed.notify_all();
            }
            Op::Reset => *set = false,
            Op::IsSet => return Some(u32::from(*set)),
            Op::Wait => {
                while !*set {
                    set = self.changed.wait(set).expect("no thread panics here");
                }
            }
            Op::Put(_) | Op::Take => unreachable!("an event is no container"),
        }
        None
    }
}
