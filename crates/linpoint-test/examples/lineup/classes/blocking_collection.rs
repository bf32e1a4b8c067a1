//! BlockingCollection: `take` waits until an item is added, or until adding is complete.

use std::collections::VecDeque;
use std::time::Duration;

use linpoint_test::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};

use super::{Refused, Seed, lock, wait};

#[derive(Debug, Default)]
struct State {
    items: VecDeque<u32>,
    is_completed: bool,
}

#[derive(Debug)]
pub struct BlockingCollection {
    seed: Seed,
    state: Mutex<State>,
    changed: Condvar,
    /// H: how many items there are.
    counter: AtomicI32,
    /// K: cancellation was requested.
    is_requested: AtomicBool,
}

impl BlockingCollection {
    pub fn new(seed: Seed) -> Self {
        BlockingCollection {
            seed,
            state: Mutex::default(),
            changed: Condvar::new(),
            counter: AtomicI32::new(0),
            is_requested: AtomicBool::new(false),
        }
    }

    pub fn count(&self) -> i32 {
        let count = match self.seed {
            Seed::H => self.counter.load(SeqCst),
            _ => lock(&self.state).items.len() as i32,
        };
        self.done(count)
    }

    pub fn to_array(&self) -> Vec<u32> {
        let items = lock(&self.state).items.iter().copied().collect();
        self.done(items)
    }

    pub fn is_adding_completed(&self) -> bool {
        let is_completed = lock(&self.state).is_completed;
        self.done(is_completed)
    }

    /// Whether nothing is left, and nothing more will come.
    pub fn is_completed(&self) -> bool {
        let state = lock(&self.state);
        let is_over = state.is_completed && state.items.is_empty();
        drop(state);
        self.done(is_over)
    }

    pub fn complete_adding(&self) {
        lock(&self.state).is_completed = true;
        self.changed.notify_all();
        self.done(())
    }

    pub fn add(&self, item: u32) -> Result<(), Refused> {
        let mut state = lock(&self.state);
        if state.is_completed {
            drop(state);
            return self.done(Err(Refused));
        }
        if self.seed == Seed::D2 {
            // D: adding is checked in one critical section and done in another one; completion may come between.
            drop(state);
            state = lock(&self.state);
        }
        state.items.push_back(item);
        drop(state);
        self.changed.notify_one();
        self.counted(1);
        self.done(Ok(()))
    }

    pub fn try_add(&self, item: u32) -> bool {
        self.add(item).is_ok()
    }

    /// `TryAdd(1)`: waits for room for a while. There is always room, since the collection has no bound.
    pub fn try_add_for(&self, item: u32, _: Duration) -> bool {
        self.try_add(item)
    }

    pub fn take(&self) -> Result<u32, Refused> {
        let mut state = lock(&self.state);
        let taken = loop {
            if let Some(item) = state.items.pop_front() {
                break Ok(item);
            }
            if state.is_completed {
                break Err(Refused);
            }
            if self.seed == Seed::D {
                // D: the lock is let go between the look and the sleep; a thread that does not sleep yet is not woken.
                drop(state);
                state = lock(&self.state);
            }
            state = wait(&self.changed, state);
        };
        drop(state);
        self.counted(if taken.is_ok() { -1 } else { 0 });
        self.done(taken)
    }

    /// Takes as an iterator does: it ends where there is nothing more.
    pub fn take_with_enum(&self) -> Option<u32> {
        self.take().ok()
    }

    pub fn try_take(&self) -> Option<u32> {
        let taken = lock(&self.state).items.pop_front();
        self.counted(if taken.is_some() { -1 } else { 0 });
        self.done(taken)
    }

    /// `TryTake(1)`: waits for a while.
    pub fn try_take_for(&self, timeout: Duration) -> Option<u32> {
        let is_waiting = |state: &mut State| state.items.is_empty() && !state.is_completed;
        let waited = self
            .changed
            .wait_timeout_while(lock(&self.state), timeout, is_waiting);
        let (mut state, _) = waited.expect("no holder panics");
        let taken = state.items.pop_front();
        drop(state);
        self.counted(if taken.is_some() { -1 } else { 0 });
        self.done(taken)
    }

    /// Nothing more is to be added.
    pub fn cancel(&self) {
        if self.seed == Seed::K {
            // K: only asks for it.
            self.is_requested.store(true, SeqCst);
        } else {
            self.complete_adding();
        }
    }

    /// H: the counter follows after the items.
    fn counted(&self, change: i32) {
        if self.seed == Seed::H && change != 0 {
            self.counter.fetch_add(change, SeqCst);
        }
    }

    /// K: the next operation to finish applies a cancellation that was requested.
    fn done<R>(&self, result: R) -> R {
        if self.seed == Seed::K && self.is_requested.swap(false, SeqCst) {
            lock(&self.state).is_completed = true;
            self.changed.notify_all();
        }
        result
    }
}
