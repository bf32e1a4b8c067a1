//! `std::time` under control.
//!
//! In a controlled run the threads share a clock, which starts with the execution. It moves only when a thread looks at it or
//! sleeps: by a microsecond at the first look of a thread, and by twice as much at each later one. So a loop until a deadline ends
//! after a few dozen rounds, however far away the deadline is, and the same schedule shows the same times.

use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::OnceLock;
use std::time as std_time;

pub use std_time::Duration;

use crate::runtime;

/// As [`std::time::Instant`]. See the [module](self) for how time passes in a controlled run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(std_time::Instant);

impl Instant {
    /// The time now.
    pub fn now() -> Self {
        static START: OnceLock<std_time::Instant> = OnceLock::new();
        Instant(match runtime::look_at_clock() {
            None => std_time::Instant::now(),
            Some(passed) => {
                let start = *START.get_or_init(std_time::Instant::now);
                start.checked_add(passed).unwrap_or(start)
            }
        })
    }

    /// The time since this instant.
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// The time since an earlier instant; zero if it is later.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.duration_since(earlier.0)
    }

    /// The time since an earlier instant; `None` if it is later.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// The time since an earlier instant; zero if it is later.
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// A later instant, if it can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// An earlier instant, if it can be represented.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, duration: Duration) -> Instant {
        Instant(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, duration: Duration) -> Instant {
        Instant(self.0 - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}
