//! A condition variable.

use std::sync::{self, LockResult, PoisonError};
use std::time::{Duration, Instant};

use super::{Mutex, MutexGuard};
use crate::runtime::execution::{Notify, Wakeup};
use crate::runtime::{self, Handle, Spurious, Timeout, Turn};

/// As [`std::sync::Condvar`]. In a controlled run there are no spurious wake-ups unless they are
/// [asked for](crate::Object::spurious), and [`notify_one`](Self::notify_one) is tried with every thread that waits.
#[derive(Debug, Default)]
pub struct Condvar {
    handle: Handle,
    spurious: Spurious,
    inner: sync::Condvar,
}

/// Whether a wait ended because its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it did.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A new condition variable.
    pub fn new() -> Self {
        Condvar {
            handle: Handle::new(),
            spurious: Spurious::Possible,
            inner: sync::Condvar::new(),
        }
    }

    /// The same without spurious wake-ups: part of a type whose operations do not show them.
    pub(super) fn without_spurious() -> Self {
        Condvar {
            spurious: Spurious::Never,
            ..Condvar::new()
        }
    }

    /// Unlocks the mutex, waits for a notification, locks the mutex again.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        match self.controlled(guard, Timeout::Never) {
            Ok((result, _)) => result,
            Err(mut guard) => {
                let (lock, inner) = (guard.lock, lent(&mut guard));
                rewrap(lock, self.inner.wait(inner))
            }
        }
    }

    /// Waits while `condition` holds.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits, at most for this long. In a controlled run, a wait that is not notified may time out.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (result, timed_out) = match self.controlled(guard, Timeout::Possible) {
            Ok((result, wakeup)) => (result, wakeup == Wakeup::TimeOut),
            Err(mut guard) => {
                let (lock, inner) = (guard.lock, lent(&mut guard));
                match self.inner.wait_timeout(inner, timeout) {
                    Ok((guard, result)) => (Ok(lock.guard(guard)), result.timed_out()),
                    Err(poison) => {
                        let (guard, result) = poison.into_inner();
                        (Err(PoisonError::new(lock.guard(guard))), result.timed_out())
                    }
                }
            }
        };
        let timed_out = WaitTimeoutResult(timed_out);
        match result {
            Ok(guard) => Ok((guard, timed_out)),
            Err(poison) => Err(PoisonError::new((poison.into_inner(), timed_out))),
        }
    }

    /// Waits while `condition` holds, at most for this long.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let start = Instant::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            // A controlled run has no clock: after one timeout, the whole time has passed.
            let left = match runtime::controlled() {
                true => Some(timeout),
                false => timeout.checked_sub(start.elapsed()),
            };
            let Some(left) = left else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            let (again, result) = self.wait_timeout(guard, left)?;
            guard = again;
            if runtime::controlled() && result.timed_out() {
                let timed_out = condition(&mut *guard);
                return Ok((guard, WaitTimeoutResult(timed_out)));
            }
        }
    }

    /// Wakes one of the threads that wait.
    #[track_caller]
    pub fn notify_one(&self) {
        if runtime::notify(&self.handle, Notify::One) == Turn::Std {
            self.inner.notify_one();
        }
    }

    /// Wakes all threads that wait.
    #[track_caller]
    pub fn notify_all(&self) {
        if runtime::notify(&self.handle, Notify::All) == Turn::Std {
            self.inner.notify_all();
        }
    }

    /// Waits in a controlled run, and returns what ended the wait. Outside of one, returns the guard.
    #[track_caller]
    #[inline(always)]
    #[allow(clippy::type_complexity)]
    fn controlled<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Timeout,
    ) -> Result<(LockResult<MutexGuard<'a, T>>, Wakeup), MutexGuard<'a, T>> {
        if !runtime::controlled() {
            return Err(guard);
        }
        let lock = guard.lock;
        let turn = runtime::begin_wait(&self.handle, &lock.handle, self.spurious, move || {
            let inner = guard.inner.take();
            // A thread that is stuck here has one frame less to clean up when it unwinds.
            std::mem::forget(guard);
            drop(inner);
        });
        let wakeup = runtime::end_wait(turn, &lock.handle, timeout);
        turn.describe(|| {
            let words = match wakeup {
                Wakeup::Notification => "wakes up, and locks",
                Wakeup::Spurious => "wakes up spuriously, and locks",
                Wakeup::TimeOut => "times out, and locks",
            };
            words.to_owned()
        });
        Ok((lock.granted(), wakeup))
    }
}

fn lent<'a, T>(guard: &mut MutexGuard<'a, T>) -> sync::MutexGuard<'a, T> {
    guard.inner.take().expect("bug: the guard was lent twice")
}

#[track_caller]
fn rewrap<'a, T>(
    lock: &'a Mutex<T>,
    result: LockResult<sync::MutexGuard<'a, T>>,
) -> LockResult<MutexGuard<'a, T>> {
    match result {
        Ok(guard) => Ok(lock.guard(guard)),
        Err(poison) => Err(PoisonError::new(lock.guard(poison.into_inner()))),
    }
}
