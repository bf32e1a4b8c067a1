//! What is declared outside of functions: a value for each thread, or for each execution.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::OnceLock;
use std::thread as std_thread;

use super::AccessError;
use crate::runtime::{self, values};

/// As [`std::thread::LocalKey`]; declared by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    std: &'static std_thread::LocalKey<T>,
    init: fn() -> T,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(std: &'static std_thread::LocalKey<T>, init: fn() -> T) -> Self {
        LocalKey { std, init }
    }

    /// Calls `f` with the value of the calling thread, which is made when it is first used.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let Some(thread) = runtime::current() else {
            return self.std.with(f);
        };
        let key = std::ptr::from_ref(self).addr();
        let known = values::of_thread(thread, key).and_then(|value| value.downcast::<T>().ok());
        let value = known.unwrap_or_else(|| {
            let value = Rc::new((self.init)());
            values::set(thread, key, Rc::<T>::clone(&value));
            value
        });
        f(&value)
    }

    /// As [`with`](Self::with); outside of a controlled run, an error if the value was destroyed already.
    ///
    /// # Errors
    /// If the value was destroyed already.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        match runtime::controlled() {
            true => Ok(self.with(f)),
            false => self.std.try_with(f),
        }
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// A copy of the value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// The value, which the default replaces.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// The value, which another one replaces.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with the value.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with the value, to change it.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// A static that begins anew in each execution; declared by [`statics!`](crate::statics).
pub struct Static<T: 'static> {
    std: OnceLock<T>,
    init: fn() -> T,
    /// The same, for the runtime.
    make: fn() -> &'static dyn Any,
}

impl<T: Send + Sync + 'static> Static<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T, make: fn() -> &'static dyn Any) -> Self {
        Static {
            std: OnceLock::new(),
            init,
            make,
        }
    }
}

impl<T: Send + Sync + 'static> Deref for Static<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let outside = || self.std.get_or_init(self.init);
        if !runtime::in_execution() {
            return outside();
        }
        let key = std::ptr::from_ref(self).addr();
        let value = values::of_execution(key, self.make);
        value.downcast_ref().unwrap_or_else(outside)
    }
}

impl<T: fmt::Debug + Send + Sync + 'static> fmt::Debug for Static<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// As [`std::thread_local!`]. In a controlled run, each thread of the test has a value, in each execution a new one.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!($(#[$meta])* $vis static $name: $type = $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$meta])*
        $vis static $name: $crate::thread::LocalKey<$type> = {
            fn init() -> $type {
                $init
            }
            ::std::thread_local! {
                static STD: $type = init();
            }
            $crate::thread::LocalKey::new(&STD, init)
        };
        $($crate::thread_local!($($rest)*);)?
    };
}

/// Statics whose values are made anew in each execution of a controlled run: `statics! { static COUNT: AtomicU32 = AtomicU32::new(0); }`.
/// Outside of one, each is made once, when it is first used.
///
/// A static of the types of [`sync`](crate::sync) has to be declared so, since its constructors are not `const`. Its value is not dropped
/// when the execution ends: a long search of a test with statics needs memory for those of all executions.
#[macro_export]
macro_rules! statics {
    () => {};
    ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $(#[$meta])*
        $vis static $name: $crate::thread::Static<$type> = {
            fn init() -> $type {
                $init
            }
            fn make() -> &'static dyn ::std::any::Any {
                ::std::boxed::Box::leak(::std::boxed::Box::new(init()))
            }
            $crate::thread::Static::new(init, make)
        };
        $crate::statics!($($rest)*);
    };
}
