//! A barrier: a mutex and a condition, in `std` and here.

use super::{Condvar, Mutex, PoisonError};

/// As [`std::sync::Barrier`].
#[derive(Debug)]
pub struct Barrier {
    state: Mutex<State>,
    passed: Condvar,
    size: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: usize,
    generation: usize,
}

/// Who passed a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it was the last one to come.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for so many threads.
    pub fn new(size: usize) -> Self {
        Barrier {
            state: Mutex::default(),
            passed: Condvar::new(),
            size,
        }
    }

    /// Waits until all have come.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = state.generation;
        state.waiting += 1;
        if state.waiting < self.size {
            while state.generation == generation {
                state = self
                    .passed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            return BarrierWaitResult(false);
        }
        state.waiting = 0;
        state.generation = generation.wrapping_add(1);
        self.passed.notify_all();
        BarrierWaitResult(true)
    }
}
