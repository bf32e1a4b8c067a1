//! Poisoning, for mutexes and read-write locks.

use std::sync;

use crate::runtime::Handle;
use crate::runtime::access::{Effect, Kind};

/// A lock of `std` that remembers whether a thread panicked while it held the lock.
pub(super) trait Poison {
    fn is_poisoned(&self) -> bool;
    fn clear_poison(&self);
}

impl<T: ?Sized> Poison for sync::Mutex<T> {
    fn is_poisoned(&self) -> bool {
        sync::Mutex::is_poisoned(self)
    }

    fn clear_poison(&self) {
        sync::Mutex::clear_poison(self);
    }
}

impl<T: ?Sized> Poison for sync::RwLock<T> {
    fn is_poisoned(&self) -> bool {
        sync::RwLock::is_poisoned(self)
    }

    fn clear_poison(&self) {
        sync::RwLock::clear_poison(self);
    }
}

/// Reads whether a lock is poisoned, at a scheduling point.
#[track_caller]
pub(super) fn is_poisoned(handle: &Handle, lock: &(impl Poison + ?Sized)) -> bool {
    let turn = handle.look();
    let is_poisoned = lock.is_poisoned();
    turn.describe(|| format!("poisoned: {is_poisoned}"));
    is_poisoned
}

/// Makes a lock unpoisoned, at a scheduling point.
#[track_caller]
pub(super) fn clear(handle: &Handle, lock: &(impl Poison + ?Sized)) {
    let turn = handle.access();
    let was_poisoned = lock.is_poisoned();
    lock.clear_poison();
    let effect = Effect::changed_if(was_poisoned);
    turn.touch(Kind::Write, effect, || "clear poison".to_owned());
}
