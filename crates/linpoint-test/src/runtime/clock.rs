//! The clock of a controlled run: it moves only when a thread looks at it or sleeps.
//!
//! A thread that looks again and again sees larger and larger leaps, so a loop until a deadline ends after a few dozen rounds,
//! however far away the deadline is. All threads share the clock, so what one saw is not later than what another sees
//! after it.

use std::time::Duration;

use super::MAX_WORKERS;

/// The clock does not make larger leaps: 2^36 microseconds, 19 hours.
const LARGEST_LEAP: u32 = 36;

/// See the [module](self).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    passed: Duration,
    /// How often each thread has looked.
    looks: [u32; MAX_WORKERS + 1],
}

impl Clock {
    /// The time since the execution began, as a thread sees it that looks now.
    pub(super) fn look(&mut self, thread: usize) -> Duration {
        let looks = &mut self.looks[thread];
        let leap = Duration::from_micros(1 << (*looks).min(LARGEST_LEAP));
        *looks = looks.saturating_add(1);
        self.pass(leap);
        self.passed
    }

    /// Time passes.
    pub(super) fn pass(&mut self, time: Duration) {
        self.passed = self.passed.saturating_add(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_goes_back_and_reaches_any_deadline() {
        let mut clock = Clock::default();
        let mut before = Duration::ZERO;
        for look in 0..200 {
            let now = clock.look(look % 2);
            assert!(now > before);
            before = now;
        }
        assert!(before > Duration::from_secs(3600 * 24 * 30));
    }
}
