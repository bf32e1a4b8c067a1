//! `std::sync::atomic` under control.

use std::fmt;
use std::sync::atomic as std_atomic;

pub use std_atomic::{Ordering, compiler_fence};

use crate::runtime::access::{Effect, Kind};
use crate::runtime::memory_event::{Action, remember, remember_fence};
use crate::runtime::{Handle, Turn, spurious};

/// A fence. It does nothing in a controlled run, where memory is sequentially consistent.
pub fn fence(order: Ordering) {
    if crate::runtime::controlled() {
        remember_fence(order);
    } else {
        std_atomic::fence(order);
    }
}

/// What all atomic types have: loads, stores, exchanges.
macro_rules! atomic_cell {
    ($(#[$doc:meta])* $name:ident $(<$generic:ident>)?, $value:ty) => {
        $(#[$doc])*
        pub struct $name $(<$generic>)? {
            handle: Handle,
            inner: std_atomic::$name $(<$generic>)?,
        }

        impl $(<$generic>)? $name $(<$generic>)? {
            /// A new atomic with this value.
            pub fn new(value: $value) -> Self {
                Self { handle: Handle::new(), inner: std_atomic::$name::new(value) }
            }

            /// The value, without a scheduling point: the mutable borrow is exclusive.
            pub fn get_mut(&mut self) -> &mut $value {
                self.inner.get_mut()
            }

            /// The same for a closure, as in `loom`.
            pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $value) -> R) -> R {
                change(self.get_mut())
            }

            /// Consumes it and returns the value.
            pub fn into_inner(self) -> $value {
                self.inner.into_inner()
            }

            /// Reads the value.
            #[track_caller]
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                let turn = self.handle.look();
                let value = self.inner.load(order);
                remember(&self.handle, Action::Load(order));
                turn.describe(|| format!("load {value:?}"));
                value
            }

            /// Writes a value.
            #[track_caller]
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                let turn = self.handle.access();
                if let Turn::Scheduled(_) = turn {
                    let old = self.inner.swap(value, Ordering::SeqCst);
                    let action = Action::Store(order);
                    turn.write(&self.handle, action, old != value, || {
                        format!("store {value:?}")
                    });
                } else {
                    self.inner.store(value, order);
                }
            }

            /// Writes a value; returns the value before.
            #[track_caller]
            #[inline]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                let turn = self.handle.access();
                let old = self.inner.swap(value, order);
                let action = Action::Update(order);
                turn.write(&self.handle, action, old != value, || {
                    format!("swap {old:?} -> {value:?}")
                });
                old
            }

            /// Writes `new` if the value is `current`; returns the value before.
            #[track_caller]
            #[inline]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let turn = self.handle.access();
                self.exchange(turn, current, new, [success, failure])
            }

            /// A compare-exchange in the turn that the thread has.
            #[inline]
            fn exchange(
                &self,
                turn: Turn,
                current: $value,
                new: $value,
                [success, failure]: [Ordering; 2],
            ) -> Result<$value, $value> {
                let result = self.inner.compare_exchange(current, new, success, failure);
                match result {
                    Ok(_) => {
                        let action = Action::Update(success);
                        turn.write(&self.handle, action, current != new, || {
                            format!("cas {current:?} -> {new:?}")
                        });
                    }
                    Err(found) => {
                        turn.touch(Kind::Read, Effect::Unchanged, || {
                            format!("cas {current:?} -> {new:?} fails on {found:?}")
                        });
                        remember(&self.handle, Action::FailedUpdate(failure));
                    }
                }
                result
            }

            /// As [`compare_exchange`](Self::compare_exchange). In a controlled run it fails for no reason only if that is
            /// [asked for](crate::Object::spurious).
            #[track_caller]
            #[inline]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if !crate::runtime::controlled() {
                    return self.inner.compare_exchange_weak(current, new, success, failure);
                }
                let turn = self.handle.access();
                let is_expected = self.inner.load(Ordering::SeqCst) == current;
                if is_expected && spurious::are_tried() && spurious::fails() {
                    turn.touch(Kind::Read, Effect::Unchanged, || {
                        format!("cas {current:?} -> {new:?} fails spuriously")
                    });
                    remember(&self.handle, Action::FailedUpdate(failure));
                    return Err(current);
                }
                self.exchange(turn, current, new, [success, failure])
            }

            /// Replaces the value by what `f` makes of it. Tries again while another thread interferes; ends if `f` returns `None`.
            #[track_caller]
            #[inline]
            pub fn fetch_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut old = self.load(fetch_order);
                while let Some(new) = f(old) {
                    match self.compare_exchange_weak(old, new, set_order, fetch_order) {
                        Ok(value) => return Ok(value),
                        Err(found) => old = found,
                    }
                }
                Err(old)
            }
        }

        impl $(<$generic>)? fmt::Debug for $name $(<$generic>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl $(<$generic>)? From<$value> for $name $(<$generic>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

/// Operations that combine the value with another.
macro_rules! fetch {
    ($name:ident, $value:ty, $($(#[$doc:meta])* $method:ident),*) => {
        impl $name {
            $(
                $(#[$doc])*
                #[track_caller]
                #[inline]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    let turn = self.handle.access();
                    let old = self.inner.$method(value, order);
                    if let Turn::Scheduled(_) = turn {
                        let new = self.inner.load(Ordering::SeqCst);
                        turn.write(&self.handle, Action::Update(order), old != new, || {
                            format!("{} {value:?}: {old:?} -> {new:?}", stringify!($method))
                        });
                    }
                    old
                }
            )*
        }
    };
}

macro_rules! atomic_integer {
    ($($name:ident, $value:ident;)*) => {
        $(
            atomic_cell!(
                #[doc = concat!("An atomic `", stringify!($value), "`.")]
                $name, $value
            );

            fetch!(
                $name, $value,
                /// Adds, wrapping around; returns the value before.
                fetch_add,
                /// Subtracts, wrapping around; returns the value before.
                fetch_sub,
                /// Bitwise and; returns the value before.
                fetch_and,
                /// Bitwise nand; returns the value before.
                fetch_nand,
                /// Bitwise or; returns the value before.
                fetch_or,
                /// Bitwise exclusive or; returns the value before.
                fetch_xor,
                /// The larger value; returns the value before.
                fetch_max,
                /// The smaller value; returns the value before.
                fetch_min
            );

            impl Default for $name {
                fn default() -> Self {
                    Self::new($value::default())
                }
            }
        )*
    };
}

atomic_integer! {
    AtomicU8, u8;
    AtomicU16, u16;
    AtomicU32, u32;
    AtomicU64, u64;
    AtomicUsize, usize;
    AtomicI8, i8;
    AtomicI16, i16;
    AtomicI32, i32;
    AtomicI64, i64;
    AtomicIsize, isize;
}

atomic_cell!(
    /// An atomic `bool`.
    AtomicBool, bool
);

fetch!(
    AtomicBool, bool,
    /// Logical and; returns the value before.
    fetch_and,
    /// Logical nand; returns the value before.
    fetch_nand,
    /// Logical or; returns the value before.
    fetch_or,
    /// Logical exclusive or; returns the value before.
    fetch_xor
);

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

atomic_cell!(
    /// An atomic pointer.
    AtomicPtr<T>, *mut T
);

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
