//! Shared memory without synchronisation, under control.

use std::cell;

use crate::runtime::access::{Effect, Kind};
use crate::runtime::memory_event::{Action, remember_cell};
use crate::runtime::{self, Handle};

/// As [`std::cell::UnsafeCell`], except that each access is a closure, so that a check sees when it happens. It is a scheduling point. Two
/// accesses by different threads, one of which writes, are a data race unless one happens before the other, and a check that
/// comes to one fails. The pointer must not be used after the closure has returned.
///
/// Controlled threads take turns, so that even a wrong object runs without undefined behaviour here, as far as its accesses go
/// through this type.
///
/// What happens before what follows from the orderings that the program asks for, although executions are sequentially consistent: a
/// spin lock that is given back by a relaxed store does not order those who take it.
///
/// ```
/// use linpoint_test::FailureKind;
/// use linpoint_test::cell::UnsafeCell;
/// use linpoint_test::sync::atomic::{AtomicBool, Ordering::{self, Acquire, Relaxed, Release}};
///
/// #[derive(Default)]
/// struct Mailbox {
///     message: UnsafeCell<u32>,
///     is_there: AtomicBool,
/// }
///
/// let check = |order: Ordering| {
///     linpoint_test::object(Mailbox::default)
///         .op0("put", move |mailbox: &Mailbox| {
///             mailbox.message.with_mut(|message| unsafe { *message = 7 });
///             mailbox.is_there.store(true, order);
///         })
///         .op0("get", |mailbox| {
///             mailbox.is_there.load(Acquire).then(|| mailbox.message.with(|message| unsafe { *message }))
///         })
///         .matrix([["put"], ["get"]])
///         .check()
/// };
/// assert!(check(Release).passed());
/// assert_eq!(check(Relaxed).failure().unwrap().kind, FailureKind::DataRace);
/// ```
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
        turn.describe(|| "read".to_owned());
        self.during(Action::ReadCell, || read(self.inner.get()))
    }

    /// Calls `write` with a pointer to the value, which it may write through.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        let turn = self.handle.access();
        turn.touch(Kind::Write, Effect::Changed, || "write".to_owned());
        self.during(Action::WriteCell, || write(self.inner.get()))
    }

    /// The access lasts as long as its closure runs.
    fn during<R>(&self, action: Action, access: impl FnOnce() -> R) -> R {
        remember_cell(&self.handle, action);
        let steps = runtime::steps();
        let result = access();
        if runtime::steps() != steps {
            remember_cell(&self.handle, action);
        }
        result
    }

    /// The value, without a scheduling point: the mutable borrow is exclusive.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}
