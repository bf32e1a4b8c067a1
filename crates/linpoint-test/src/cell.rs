//! Shared memory without synchronisation, under control.

use std::cell;

use crate::runtime::Handle;
use crate::runtime::access::{Effect, Kind};
use crate::runtime::memory_event::{Action, remember};

/// As [`std::cell::UnsafeCell`], except that each access is a closure, so that a check sees when it happens: a scheduling point
/// that [`Object::compare`](crate::Object::compare) examines for data races.
///
/// Controlled threads take turns, so that even a wrong object runs without undefined behaviour here, as far as its accesses go
/// through this type.
#[derive(Debug, Default)]
pub struct UnsafeCell<T> {
    handle: Handle,
    inner: cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A new cell with this value.
    pub fn new(value: T) -> Self {
        UnsafeCell {
            handle: Handle::new(),
            inner: cell::UnsafeCell::new(value),
        }
    }

    /// Consumes it and returns the value.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }

    /// Calls `read` with a pointer to the value, which it may read through.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        let turn = self.handle.look();
        remember(&self.handle, Action::ReadCell);
        turn.describe(|| "read".to_owned());
        read(self.inner.get())
    }

    /// Calls `write` with a pointer to the value, which it may write through.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        let turn = self.handle.access();
        turn.touch(Kind::Write, Effect::Changed, || "write".to_owned());
        remember(&self.handle, Action::WriteCell);
        write(self.inner.get())
    }

    /// The value, without a scheduling point: the mutable borrow is exclusive.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}
