//! Shared memory without synchronisation, with the interface by which a tool sees each access.

/// As [`std::cell::UnsafeCell`], except that each access is a closure. The pointer must not be used after the closure has returned.
///
/// ```
/// use linpoint_sync::cell::UnsafeCell;
///
/// let cell = UnsafeCell::new(1);
/// // SAFETY: nothing else has access to the cell.
/// cell.with_mut(|value| unsafe { *value += 1 });
/// assert_eq!(cell.into_inner(), 2);
/// ```
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A new cell with this value.
    pub const fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Consumes it and returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Calls `read` with a pointer to the value, which it may read through.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `write` with a pointer to the value, which it may write through.
    #[inline(always)]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }

    /// The value: the mutable borrow is exclusive.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}
