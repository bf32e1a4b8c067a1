//! CancellationTokenSource: callbacks that run once it is cancelled, or at once if it is already.

use linpoint_test::sync::Mutex;

use super::{Seed, lock};

#[derive(Debug, Default)]
struct State {
    is_cancelled: bool,
    registered: u32,
    /// What the callbacks increment.
    counter: u32,
}

#[derive(Debug)]
pub struct CancellationTokenSource {
    seed: Seed,
    state: Mutex<State>,
}

impl CancellationTokenSource {
    pub fn new(seed: Seed) -> Self {
        CancellationTokenSource {
            seed,
            state: Mutex::default(),
        }
    }

    /// Registers a callback that increments the counter, and answers the counter.
    pub fn increment(&self) -> u32 {
        let mut state = lock(&self.state);
        if state.is_cancelled {
            state.counter += 1;
        } else {
            if self.seed == Seed::Mutant {
                // Cancellation may come between the look and the registration; then the callback is never run.
                drop(state);
                state = lock(&self.state);
            }
            state.registered += 1;
        }
        state.counter
    }

    /// Runs the callbacks, and answers the counter.
    pub fn cancel(&self) -> u32 {
        let mut state = lock(&self.state);
        if !state.is_cancelled {
            state.is_cancelled = true;
            state.counter += state.registered;
        }
        state.counter
    }
}
