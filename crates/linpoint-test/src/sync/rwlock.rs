//! A lock for one writer or many readers.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use super::poison;
use crate::runtime::access::{Effect, Kind};
use crate::runtime::memory_event::{Action, remember};
use crate::runtime::{self, Handle, Turn};

/// As [`std::sync::RwLock`].
#[derive(Default)]
pub struct RwLock<T: ?Sized> {
    handle: Handle,
    inner: sync::RwLock<T>,
}

/// As [`std::sync::RwLockReadGuard`]: gives the share back when dropped.
#[must_use = "if unused the lock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    handle: &'a Handle,
    location: &'static Location<'static>,
    inner: Option<sync::RwLockReadGuard<'a, T>>,
}

/// As [`std::sync::RwLockWriteGuard`]: unlocks when dropped.
#[must_use = "if unused the lock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    handle: &'a Handle,
    location: &'static Location<'static>,
    inner: Option<sync::RwLockWriteGuard<'a, T>>,
}

impl<T> RwLock<T> {
    /// A new lock, unlocked.
    pub fn new(value: T) -> Self {
        RwLock {
            handle: Handle::new(),
            inner: sync::RwLock::new(value),
        }
    }

    /// Consumes it and returns the value.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

/// Reading and writing are the same but for the names.
macro_rules! side {
    ($lock:ident, $try_lock:ident, $guard:ident, $take:expr, $give:expr, $verb:literal) => {
        impl<T: ?Sized> RwLock<T> {
            #[doc = concat!("Waits until it may ", $verb, ", and locks.")]
            #[track_caller]
            pub fn $lock(&self) -> LockResult<$guard<'_, T>> {
                let turn = self.handle.wait($take);
                if turn == Turn::Std {
                    return match self.inner.$lock() {
                        Ok(guard) => Ok(self.guard_for(guard)),
                        Err(poison) => Err(PoisonError::new(self.guard_for(poison.into_inner()))),
                    };
                }
                turn.describe(|| concat!("lock to ", $verb).to_owned());
                loop {
                    match self.inner.$try_lock() {
                        Ok(guard) => return Ok(self.guard_for(guard)),
                        Err(TryLockError::Poisoned(poison)) => {
                            return Err(PoisonError::new(self.guard_for(poison.into_inner())));
                        }
                        // A destructor of a thread that was stuck.
                        Err(TryLockError::WouldBlock) if std::thread::panicking() => {
                            runtime::wait_to_unwind();
                        }
                        // Held by another OS thread: the lock does not belong to this execution.
                        Err(TryLockError::WouldBlock) => {
                            return match self.inner.$lock() {
                                Ok(guard) => Ok(self.guard_for(guard)),
                                Err(poison) => {
                                    Err(PoisonError::new(self.guard_for(poison.into_inner())))
                                }
                            };
                        }
                    }
                }
            }

            #[doc = concat!("Locks if it may ", $verb, " at once.")]
            #[track_caller]
            pub fn $try_lock(&self) -> TryLockResult<$guard<'_, T>> {
                let turn = self.handle.access();
                let result = match self.inner.$try_lock() {
                    Ok(guard) => Ok(self.guard_for(guard)),
                    Err(TryLockError::Poisoned(poison)) => Err(TryLockError::Poisoned(
                        PoisonError::new(self.guard_for(poison.into_inner())),
                    )),
                    Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
                };
                match result {
                    Err(TryLockError::WouldBlock) => {
                        turn.touch(Kind::Read, Effect::Unchanged, || {
                            concat!("lock to ", $verb, ": not free").to_owned()
                        })
                    }
                    _ => turn.touch($take, Effect::Changed, || {
                        concat!("lock to ", $verb).to_owned()
                    }),
                }
                result
            }
        }

        impl<'a, T: ?Sized> Guard<'a, $guard<'a, T>> for RwLock<T>
        where
            T: 'a,
        {
            type Inner = <$guard<'a, T> as Wraps>::Inner;

            #[track_caller]
            fn guard_for(&'a self, inner: Self::Inner) -> $guard<'a, T> {
                $guard {
                    handle: &self.handle,
                    location: Location::caller(),
                    inner: Some(inner),
                }
            }
        }

        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                remember(self.handle, Action::ReadGuarded);
                self.inner.as_ref().expect("bug: used while dropped")
            }
        }

        impl<T: ?Sized> Drop for $guard<'_, T> {
            fn drop(&mut self) {
                let turn = self.handle.give_back($give, self.location);
                drop(self.inner.take());
                turn.describe(|| "unlock".to_owned());
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

/// Which guard of `std` a guard wraps.
trait Wraps {
    type Inner;
}

impl<'a, T: ?Sized> Wraps for RwLockReadGuard<'a, T> {
    type Inner = sync::RwLockReadGuard<'a, T>;
}

impl<'a, T: ?Sized> Wraps for RwLockWriteGuard<'a, T> {
    type Inner = sync::RwLockWriteGuard<'a, T>;
}

trait Guard<'a, G> {
    type Inner;

    #[track_caller]
    fn guard_for(&'a self, inner: Self::Inner) -> G;
}

side!(
    read,
    try_read,
    RwLockReadGuard,
    Kind::Share,
    Kind::Unshare,
    "read"
);
side!(
    write,
    try_write,
    RwLockWriteGuard,
    Kind::Acquire,
    Kind::Release,
    "write"
);

impl<T: ?Sized> RwLock<T> {
    /// Whether a thread panicked while writing.
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
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        remember(self.handle, Action::WriteGuarded);
        self.inner.as_mut().expect("bug: used while dropped")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}
