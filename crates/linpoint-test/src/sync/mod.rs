//! `std::sync` under control.
//!
//! Outside a controlled run each type does what its namesake in `std` does. Inside, each operation is a scheduling point,
//! and a thread that has to wait is not run until it can go on. Constructors are not `const`: an object is named after the
//! thread that creates it.
//!
//! Memory is sequentially consistent in a controlled run, whatever [`Ordering`](atomic::Ordering) is asked for.

mod arc;
pub mod atomic;
mod barrier;
mod condvar;
pub mod mpsc;
mod mutex;
mod once;
mod poison;
mod rwlock;
mod whole;

pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use once::{LazyLock, Once, OnceLock};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
#[doc(hidden)]
pub use whole::Whole;
