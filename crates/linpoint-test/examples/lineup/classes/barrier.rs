//! Barrier: threads wait for each other, phase by phase.

use linpoint_test::sync::{Condvar, Mutex};

use super::{Refused, lock, wait};

#[derive(Debug)]
struct State {
    participants: u32,
    /// How many of them have not come yet.
    remaining: u32,
    phase: u32,
    is_cancelled: bool,
}

impl State {
    fn next_phase_if_complete(&mut self, reached: &Condvar) {
        if self.remaining == 0 && self.participants > 0 {
            self.remaining = self.participants;
            self.phase += 1;
            reached.notify_all();
        }
    }
}

/// A cyclic barrier for two.
#[derive(Debug)]
pub struct Barrier {
    state: Mutex<State>,
    reached: Condvar,
}

impl Barrier {
    pub fn new() -> Self {
        Barrier {
            state: Mutex::new(State {
                participants: 2,
                remaining: 2,
                phase: 0,
                is_cancelled: false,
            }),
            reached: Condvar::new(),
        }
    }

    /// L: arrives at the barrier, and waits until all threads have. Two calls that wait for each other have no serial order,
    /// since neither returns by itself: a correct barrier is not linearizable.
    pub fn signal_and_wait(&self) -> Result<(), Refused> {
        let phase = self.signal();
        self.wait_for(phase + 1)
    }

    /// The first half: comes to the barrier, and answers the phase.
    pub fn signal(&self) -> u32 {
        let mut state = lock(&self.state);
        let phase = state.phase;
        state.remaining = state.remaining.saturating_sub(1);
        state.next_phase_if_complete(&self.reached);
        phase
    }

    /// The second half: waits until a phase is reached, or the token cancelled.
    pub fn wait_for(&self, phase: u32) -> Result<(), Refused> {
        let mut state = lock(&self.state);
        while state.phase < phase {
            if state.is_cancelled {
                return Err(Refused);
            }
            state = wait(&self.reached, state);
        }
        Ok(())
    }

    /// Cancels the token that all calls are given: those that wait end, and later ones do not wait.
    pub fn cancel_token(&self) {
        lock(&self.state).is_cancelled = true;
        self.reached.notify_all();
    }

    pub fn participants_remaining(&self) -> u32 {
        lock(&self.state).remaining
    }

    pub fn participant_count(&self) -> u32 {
        lock(&self.state).participants
    }

    pub fn current_phase_number(&self) -> u32 {
        lock(&self.state).phase
    }

    /// Answers the phase from which on the new one takes part.
    pub fn add_participant(&self) -> u32 {
        let mut state = lock(&self.state);
        state.participants += 1;
        state.remaining += 1;
        state.phase
    }

    pub fn remove_participant(&self) -> Result<(), Refused> {
        let mut state = lock(&self.state);
        if state.participants == 0 || state.remaining == 0 {
            return Err(Refused);
        }
        state.participants -= 1;
        state.remaining -= 1;
        state.next_phase_if_complete(&self.reached);
        Ok(())
    }
}
