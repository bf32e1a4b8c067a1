//! The happens-before order: vector clocks compare two steps, hashes of causal pasts compare two executions.

use super::MAX_WORKERS;
use super::access::Kind;

/// A vector clock: for each thread, the number of its steps that happened before, the step itself included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock(pub(crate) [u16; MAX_WORKERS]);

impl Clock {
    pub(crate) fn join(&mut self, other: &Clock) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    /// Whether the step of `thread` with this number (from 1) happened before.
    pub(crate) fn includes(&self, thread: usize, number: u16) -> bool {
        self.0[thread] >= number
    }
}

/// A hash of a causal past. It has 128 bits, so that collisions are negligible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Past(u64, u64);

impl Past {
    /// The past of a thread that has done nothing yet.
    pub(crate) fn of_thread(index: usize) -> Past {
        Past::default().then(index as u64 + 1)
    }

    #[must_use]
    pub(crate) fn then(self, value: u64) -> Past {
        Past(
            fold(self.0 ^ value, 0x9E37_79B9_7F4A_7C15),
            fold(self.1.wrapping_add(value), 0xD1B5_4A32_D192_ED03),
        )
    }

    #[must_use]
    pub(crate) fn with(self, other: Past) -> Past {
        self.then(other.0).then(other.1)
    }

    /// Adds a past. The order of additions does not matter.
    fn add(&mut self, other: Past) {
        self.0 = self.0.wrapping_add(other.0);
        self.1 = self.1.wrapping_add(other.1);
    }
}

fn fold(value: u64, multiplier: u64) -> u64 {
    let product = u128::from(value ^ 0x2545_F491_4F6C_DD1D) * u128::from(multiplier);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The steps that touched an object, in separate groups by the kinds of access that later steps conflict with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touched<T> {
    writes: T,
    reads: T,
    /// By kinds that do not conflict with each other: of an object, all are shares of a lock or all waits for a condition.
    shared: T,
}

impl Touched<Clock> {
    pub(crate) fn join_into(&self, clock: &mut Clock, kind: Kind) {
        clock.join(&self.writes);
        if kind.conflicts(Kind::Read) {
            clock.join(&self.reads);
        }
        if !kind.is_shared() {
            clock.join(&self.shared);
        }
    }

    pub(crate) fn note(&mut self, clock: &Clock, kind: Kind) {
        match kind {
            Kind::Read | Kind::Pass => self.reads.join(clock),
            _ if kind.is_shared() => self.shared.join(clock),
            _ => self.writes = *clock,
        }
    }
}

impl Touched<Past> {
    #[must_use]
    pub(crate) fn extend(&self, mut past: Past, kind: Kind) -> Past {
        past = past.with(self.writes);
        if kind.conflicts(Kind::Read) {
            past = past.with(self.reads);
        }
        if !kind.is_shared() {
            past = past.with(self.shared);
        }
        past
    }

    pub(crate) fn note(&mut self, past: Past, kind: Kind) {
        match kind {
            Kind::Read | Kind::Pass => self.reads.add(past),
            _ if kind.is_shared() => self.shared.add(past),
            _ => {
                *self = Touched {
                    writes: past,
                    ..Touched::default()
                }
            }
        }
    }
}

impl Past {
    /// The low half of the hash.
    pub(crate) fn low(self) -> u64 {
        self.0
    }
}
