//! The checks that use a program, which end it when it hangs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use linpoint::Budget;

/// The limits of all checks that run now and ask the same program.
#[derive(Debug, Default)]
pub struct RunningChecks(Mutex<Numbered>);

#[derive(Debug, Default)]
struct Numbered {
    next: u64,
    running: Vec<(u64, Budget)>,
}

/// A check that runs until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Running<'a> {
    checks: &'a RunningChecks,
    number: u64,
}

impl RunningChecks {
    /// A check with this budget runs until the result is dropped.
    pub fn enter(&self, budget: &Budget) -> Running<'_> {
        let mut checks = self.lock();
        let number = checks.next;
        checks.next += 1;
        // The same limits.
        checks.running.push((number, budget.slice(Duration::MAX)));
        Running {
            checks: self,
            number,
        }
    }

    /// The limit that ended the last check, if there are checks and all of them hit a limit.
    #[cfg(unix)]
    pub(super) fn limit(&self) -> Option<linpoint::Limit> {
        let checks = self.lock();
        let limits = checks
            .running
            .iter()
            .map(|(_, budget)| budget.check().err());
        let limits: Option<Vec<_>> = limits.collect();
        limits?.pop()
    }

    fn lock(&self) -> MutexGuard<'_, Numbered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let number = self.number;
        self.checks
            .lock()
            .running
            .retain(|&(other, _)| other != number);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use linpoint::Limit;

    use super::*;

    #[test]
    fn all_checks_must_be_over() {
        let checks = RunningChecks::default();
        assert_eq!(checks.limit(), None);
        let over = checks.enter(&Budget::new(Some(Duration::ZERO), None));
        assert_eq!(checks.limit(), Some(Limit::Time(Duration::ZERO)));
        let endless = checks.enter(&Budget::default());
        assert_eq!(checks.limit(), None);
        drop(endless);
        assert_eq!(checks.limit(), Some(Limit::Time(Duration::ZERO)));
        drop(over);
        assert_eq!(checks.limit(), None);
    }
}
