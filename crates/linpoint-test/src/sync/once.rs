//! Types that are initialised once.

use std::fmt;
use std::ops::Deref;
use std::sync;

use super::atomic::{AtomicBool, Ordering};
use super::{Mutex, PoisonError};
use crate::runtime::Handle;
use crate::runtime::access::{Effect, Kind};
use crate::runtime::memory_event::{Action, remember};

/// As [`std::sync::Once`].
#[derive(Debug, Default)]
pub struct Once {
    done: AtomicBool,
    running: Mutex<()>,
}

impl Once {
    /// A new value, on which nothing has run.
    pub fn new() -> Self {
        Once::default()
    }

    /// Runs `f` unless an earlier call did; waits while another thread runs it.
    ///
    /// # Panics
    /// If an earlier call panicked.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        if self.is_completed() {
            return;
        }
        let Ok(_running) = self.running.lock() else {
            panic!("Once instance has previously been poisoned");
        };
        if !self.is_completed() {
            f();
            self.done.store(true, Ordering::Release);
        }
    }

    /// Whether a call has completed.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

/// As [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    handle: Handle,
    setting: Mutex<()>,
    value: sync::OnceLock<T>,
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> OnceLock<T> {
    /// An empty cell.
    pub fn new() -> Self {
        OnceLock {
            handle: Handle::new(),
            setting: Mutex::new(()),
            value: sync::OnceLock::new(),
        }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let turn = self.handle.look();
        let value = self.value.get();
        remember(&self.handle, Action::Load(Ordering::Acquire));
        turn.describe(|| match value {
            Some(_) => "get: set".to_owned(),
            None => "get: empty".to_owned(),
        });
        value
    }

    /// The value: the mutable borrow is exclusive.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Sets the value, or gives it back if there is one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("bug: initialised twice"));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// The value, which `f` creates if there is none. Waits while another thread creates it.
    #[track_caller]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let _setting = self.setting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.get() {
            return value;
        }
        let value = f();
        let turn = self.handle.access();
        let value = self.value.get_or_init(|| value);
        turn.touch(Kind::Write, Effect::Changed, || "set".to_owned());
        remember(&self.handle, Action::Store(Ordering::Release));
        value
    }

    /// Consumes it and returns the value.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value out: the mutable borrow is exclusive.
    pub fn take(&mut self) -> Option<T> {
        self.value.take()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// As [`std::sync::LazyLock`].
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    make: sync::Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `make` creates when it is first needed.
    pub fn new(make: F) -> Self {
        LazyLock {
            cell: OnceLock::new(),
            make: sync::Mutex::new(Some(make)),
        }
    }

    /// The value.
    ///
    /// # Panics
    /// If an earlier attempt to create it panicked.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.cell.get_or_init(|| {
            let make = match this.make.lock() {
                Ok(mut make) => make.take(),
                Err(_) => None,
            };
            match make {
                Some(make) => make(),
                None => panic!("LazyLock instance has previously been poisoned"),
            }
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyLock").field(&self.cell).finish()
    }
}
