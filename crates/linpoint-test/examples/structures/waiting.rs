//! Structures whose operations wait: a semaphore, a buffer, a barrier, a latch, a lock for readers and writers, the lock of Peterson,
//! and a value that is made once.

use std::sync::PoisonError;

use linpoint_test::hint::spin_loop;
use linpoint_test::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex, MutexGuard};

use crate::plan::Variant;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}

/// A semaphore. The wrong one notifies only if there was no permit before, so of two threads that wait, one may sleep on.
pub(crate) struct Semaphore {
    permits: Mutex<u32>,
    released: Condvar,
    variant: Variant,
}

impl Semaphore {
    pub(crate) fn new(variant: Variant) -> Self {
        Semaphore {
            permits: Mutex::new(0),
            released: Condvar::new(),
            variant,
        }
    }

    pub(crate) fn acquire(&self) {
        let mut permits = lock(&self.permits);
        while *permits == 0 {
            permits = wait(&self.released, permits);
        }
        *permits -= 1;
    }

    pub(crate) fn release(&self) {
        let mut permits = lock(&self.permits);
        *permits += 1;
        if self.variant == Variant::Right || *permits == 1 {
            self.released.notify_one();
        }
    }
}

/// A buffer for one value. Those that put and those that take wait for the same condition, and the wrong one notifies only one of
/// them: perhaps one that cannot go on.
pub(crate) struct Buffer {
    value: Mutex<Option<u32>>,
    changed: Condvar,
    variant: Variant,
}

impl Buffer {
    pub(crate) fn new(variant: Variant) -> Self {
        Buffer {
            value: Mutex::new(None),
            changed: Condvar::new(),
            variant,
        }
    }

    fn notify(&self) {
        match self.variant {
            Variant::Right => self.changed.notify_all(),
            Variant::Wrong => self.changed.notify_one(),
        }
    }

    pub(crate) fn put(&self, new: u32) {
        let mut value = lock(&self.value);
        while value.is_some() {
            value = wait(&self.changed, value);
        }
        *value = Some(new);
        self.notify();
    }

    pub(crate) fn take(&self) -> u32 {
        let mut value = lock(&self.value);
        loop {
            match value.take() {
                Some(taken) => {
                    self.notify();
                    return taken;
                }
                None => value = wait(&self.changed, value),
            }
        }
    }
}

/// A latch: all that wait pass once it is open. The wrong one looks whether it is open before it takes the lock,
/// and may miss the moment.
pub(crate) struct Latch {
    is_open: AtomicBool,
    waiters: Mutex<u32>,
    opened: Condvar,
    variant: Variant,
}

impl Latch {
    pub(crate) fn new(variant: Variant) -> Self {
        Latch {
            is_open: AtomicBool::new(false),
            waiters: Mutex::new(0),
            opened: Condvar::new(),
            variant,
        }
    }

    pub(crate) fn wait(&self) {
        if self.variant == Variant::Wrong {
            if !self.is_open.load(SeqCst) {
                drop(wait(&self.opened, lock(&self.waiters)));
            }
            return;
        }
        let mut waiters = lock(&self.waiters);
        *waiters += 1;
        while !self.is_open.load(SeqCst) {
            waiters = wait(&self.opened, waiters);
        }
        *waiters -= 1;
    }

    pub(crate) fn open(&self) {
        let _waiters = lock(&self.waiters);
        self.is_open.store(true, SeqCst);
        self.opened.notify_all();
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(SeqCst)
    }
}

/// Two words under a lock for one writer or many readers. In the wrong one a writer looks for readers before it comes in, and not
/// again.
pub(crate) struct ReadWrite {
    /// How many read; all bits are set while one writes.
    state: AtomicU32,
    words: [AtomicU32; 2],
    variant: Variant,
}

const WRITES: u32 = u32::MAX;

impl ReadWrite {
    pub(crate) fn new(variant: Variant) -> Self {
        ReadWrite {
            state: AtomicU32::new(0),
            words: Default::default(),
            variant,
        }
    }

    pub(crate) fn write(&self, value: u32) {
        loop {
            if self.variant == Variant::Wrong {
                if self.state.load(SeqCst) == 0 {
                    self.state.store(WRITES, SeqCst);
                    break;
                }
            } else if self
                .state
                .compare_exchange(0, WRITES, SeqCst, SeqCst)
                .is_ok()
            {
                break;
            }
            spin_loop();
        }
        for word in &self.words {
            word.store(value, SeqCst);
        }
        self.state.store(0, SeqCst);
    }

    pub(crate) fn read(&self) -> [u32; 2] {
        loop {
            let state = self.state.load(SeqCst);
            let is_in = state != WRITES
                && self
                    .state
                    .compare_exchange(state, state + 1, SeqCst, SeqCst)
                    .is_ok();
            if is_in {
                break;
            }
            spin_loop();
        }
        let words = self.words.each_ref().map(|word| word.load(SeqCst));
        self.state.fetch_sub(1, SeqCst);
        words
    }
}

/// A counter for two threads under the lock of Peterson. In the wrong one a thread says who may go first before it says that it wants
/// to.
pub(crate) struct Peterson {
    wants: [AtomicBool; 2],
    first: AtomicUsize,
    count: AtomicU32,
    variant: Variant,
}

impl Peterson {
    pub(crate) fn new(variant: Variant) -> Self {
        Peterson {
            wants: Default::default(),
            first: AtomicUsize::new(0),
            count: AtomicU32::new(0),
            variant,
        }
    }

    pub(crate) fn increment(&self, me: usize) -> u32 {
        let other = 1 - me;
        if self.variant == Variant::Wrong {
            self.first.store(other, SeqCst);
            self.wants[me].store(true, SeqCst);
        } else {
            self.wants[me].store(true, SeqCst);
            self.first.store(other, SeqCst);
        }
        while self.wants[other].load(SeqCst) && self.first.load(SeqCst) == other {
            spin_loop();
        }
        let count = self.count.load(SeqCst);
        self.count.store(count + 1, SeqCst);
        self.wants[me].store(false, SeqCst);
        count
    }
}

const EMPTY: u32 = 0;
const BEING_MADE: u32 = 1;
const READY: u32 = 2;

/// A value that is made by the first that asks for it. In the wrong one others do not wait until it is made.
pub(crate) struct Lazy {
    state: AtomicU32,
    value: AtomicU32,
    variant: Variant,
}

impl Lazy {
    pub(crate) fn new(variant: Variant) -> Self {
        Lazy {
            state: AtomicU32::new(EMPTY),
            value: AtomicU32::new(0),
            variant,
        }
    }

    pub(crate) fn get_or_make(&self, value: u32) -> u32 {
        let begun = self
            .state
            .compare_exchange(EMPTY, BEING_MADE, SeqCst, SeqCst);
        if begun.is_ok() {
            self.value.store(value, SeqCst);
            self.state.store(READY, SeqCst);
            return value;
        }
        while self.variant == Variant::Right && self.state.load(SeqCst) != READY {
            spin_loop();
        }
        self.value.load(SeqCst)
    }

    pub(crate) fn get(&self) -> Option<u32> {
        let is_made = self.state.load(SeqCst) == READY;
        is_made.then(|| self.value.load(SeqCst))
    }
}
