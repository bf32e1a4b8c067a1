//! Semaphores.

use linpoint::{Outcomes, Spec};

/// A counting semaphore that can be closed.
#[derive(Clone, Debug)]
pub struct Semaphore {
    /// How many permits there are at first.
    pub permits: u32,
}

/// An operation on a [`Semaphore`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreOp {
    /// Waits until so many permits are there and takes them: [`Acquired`](SemaphoreRet::Acquired) or
    /// [`Closed`](SemaphoreRet::Closed).
    Acquire(u32),
    /// The same without waiting: or [`NoPermits`](SemaphoreRet::NoPermits).
    TryAcquire(u32),
    /// The same, waiting for some time: or [`TimedOut`](SemaphoreRet::TimedOut).
    AcquireTimeout(u32),
    /// Adds so many permits: [`Done`](SemaphoreRet::Done).
    Release(u32),
    /// [`Count`](SemaphoreRet::Count) of the permits.
    Available,
    /// Nothing can be acquired any more: [`Done`](SemaphoreRet::Done).
    Close,
}

/// A result of a [`SemaphoreOp`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreRet {
    /// The permits were taken.
    Acquired,
    /// There are too few.
    NoPermits,
    /// The time was up.
    TimedOut,
    /// The semaphore is closed.
    Closed,
    /// So many permits.
    Count(u32),
    /// It has no other answer.
    Done,
}

/// The state of a [`Semaphore`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SemaphoreState {
    permits: u32,
    closed: bool,
}

impl Spec for Semaphore {
    type Op = SemaphoreOp;
    type Ret = SemaphoreRet;
    type State = SemaphoreState;

    fn init(&self) -> SemaphoreState {
        SemaphoreState {
            permits: self.permits,
            closed: false,
        }
    }

    fn apply(
        &self,
        state: &SemaphoreState,
        op: &SemaphoreOp,
    ) -> Outcomes<SemaphoreRet, SemaphoreState> {
        let mut next = state.clone();
        let (permits, otherwise) = match op {
            SemaphoreOp::Acquire(permits) => (permits, None),
            SemaphoreOp::TryAcquire(permits) => (permits, Some(SemaphoreRet::NoPermits)),
            SemaphoreOp::AcquireTimeout(permits) => (permits, Some(SemaphoreRet::TimedOut)),
            SemaphoreOp::Release(permits) => {
                next.permits += permits;
                return Outcomes::One(SemaphoreRet::Done, next);
            }
            SemaphoreOp::Available => {
                return Outcomes::One(SemaphoreRet::Count(state.permits), next);
            }
            SemaphoreOp::Close => {
                next.closed = true;
                return Outcomes::One(SemaphoreRet::Done, next);
            }
        };
        if state.closed {
            return Outcomes::One(SemaphoreRet::Closed, next);
        }
        match state.permits.checked_sub(*permits) {
            Some(rest) => {
                next.permits = rest;
                Outcomes::One(SemaphoreRet::Acquired, next)
            }
            None => otherwise.map_or(Outcomes::Blocked, |ret| Outcomes::One(ret, next)),
        }
    }
}
