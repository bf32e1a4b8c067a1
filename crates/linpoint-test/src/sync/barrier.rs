//! A barrier, made of a mutex and a condition variable as in `std`.

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

/// The result of a wait at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether the thread arrived last.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for this many threads.
    pub fn new(size: usize) -> Self {
        Barrier {
            state: Mutex::default(),
            passed: Condvar::without_spurious(),
            size,
        }
    }

    /// Waits until all threads have arrived.
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
