//! A mutual exclusion lock.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};
use std::time::{Duration, Instant};

use super::poison;
use crate::runtime::access::{Effect, Kind};
use crate::runtime::memory_event::{Action, remember};
use crate::runtime::{self, Handle, Turn};

/// As [`std::sync::Mutex`]. A thread that locks it twice is stuck.
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    pub(super) handle: Handle,
    pub(super) inner: sync::Mutex<T>,
}

/// As [`std::sync::MutexGuard`]: unlocks when dropped.
#[must_use = "if unused the mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Mutex<T>,
    /// Where it was locked: a destructor does not know where it is called.
    location: &'static Location<'static>,
    /// Empty only while it is dropped, or lent to a condition variable.
    pub(super) inner: Option<sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// A new mutex, unlocked.
    pub fn new(value: T) -> Self {
        Mutex {
            handle: Handle::new(),
            inner: sync::Mutex::new(value),
        }
    }

    /// Consumes it and returns the value.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the mutex is free, and locks it.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let turn = self.handle.wait(Kind::Acquire);
        if turn == Turn::Std {
            return self.guarded(self.inner.lock());
        }
        turn.describe(|| "lock".to_owned());
        self.granted()
    }

    /// Locks the mutex if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let turn = self.handle.access();
        self.attempt(turn)
    }

    /// Waits until the mutex is free, at most for this long, and locks it. A timeout of zero only tries.
    ///
    /// `std` has no such method. In a controlled run, a wait may time out if another thread holds the mutex, and never
    /// otherwise.
    #[track_caller]
    pub fn try_lock_for(&self, timeout: Duration) -> TryLockResult<MutexGuard<'_, T>> {
        if !runtime::controlled() {
            return self.poll_for(timeout);
        }
        if timeout.is_zero() {
            return self.try_lock();
        }
        let turn = self.handle.wait_some_time(Kind::Acquire);
        if !turn.available(Kind::Acquire) {
            turn.times_out(|| "lock: times out".to_owned());
            return Err(TryLockError::WouldBlock);
        }
        self.attempt(turn)
    }

    /// Whether a thread panicked while holding it.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        poison::is_poisoned(&self.handle, &self.inner)
    }

    /// Makes it unpoisoned.
    #[track_caller]
    pub fn clear_poison(&self) {
        poison::clear(&self.handle, &self.inner);
    }

    /// The value: the mutable borrow is exclusive.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    #[track_caller]
    fn attempt(&self, turn: Turn) -> TryLockResult<MutexGuard<'_, T>> {
        if !turn.available(Kind::Acquire) {
            turn.touch(Kind::Read, Effect::Unchanged, || {
                "lock: not free".to_owned()
            });
            return Err(TryLockError::WouldBlock);
        }
        let result = match self.inner.try_lock() {
            Ok(guard) => Ok(self.guard(guard)),
            Err(TryLockError::Poisoned(poison)) => Err(TryLockError::Poisoned(PoisonError::new(
                self.guard(poison.into_inner()),
            ))),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        };
        match result {
            Err(TryLockError::WouldBlock) => {
                turn.touch(Kind::Read, Effect::Unchanged, || {
                    "lock: not free".to_owned()
                });
            }
            _ => turn.touch(Kind::Acquire, Effect::Changed, || "lock".to_owned()),
        }
        result
    }

    #[track_caller]
    fn poll_for(&self, timeout: Duration) -> TryLockResult<MutexGuard<'_, T>> {
        let start = Instant::now();
        loop {
            match self.try_lock() {
                Err(TryLockError::WouldBlock) if start.elapsed() < timeout => {
                    std::thread::yield_now();
                }
                result => return result,
            }
        }
    }

    /// Locks the mutex, which the scheduler has given to this thread.
    #[track_caller]
    pub(super) fn granted(&self) -> LockResult<MutexGuard<'_, T>> {
        loop {
            match self.inner.try_lock() {
                Ok(guard) => return Ok(self.guard(guard)),
                Err(TryLockError::Poisoned(poison)) => {
                    return Err(PoisonError::new(self.guard(poison.into_inner())));
                }
                // A destructor of a thread that was stuck.
                Err(TryLockError::WouldBlock) if std::thread::panicking() => {
                    runtime::wait_to_unwind();
                }
                // Held by another OS thread: the mutex does not belong to this execution.
                Err(TryLockError::WouldBlock) => return self.guarded(self.inner.lock()),
            }
        }
    }

    #[track_caller]
    fn guarded<'a>(
        &'a self,
        result: LockResult<sync::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        match result {
            Ok(guard) => Ok(self.guard(guard)),
            Err(poison) => Err(PoisonError::new(self.guard(poison.into_inner()))),
        }
    }

    #[track_caller]
    pub(super) fn guard<'a>(&'a self, inner: sync::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard {
            lock: self,
            location: Location::caller(),
            inner: Some(inner),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

const LENT: &str = "bug: the guard is lent to a condition variable";

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        remember(&self.lock.handle, Action::ReadGuarded);
        self.inner.as_ref().expect(LENT)
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        remember(&self.lock.handle, Action::WriteGuarded);
        self.inner.as_mut().expect(LENT)
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            let turn = self.lock.handle.give_back(Kind::Release, self.location);
            drop(self.inner.take());
            turn.describe(|| "unlock".to_owned());
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
