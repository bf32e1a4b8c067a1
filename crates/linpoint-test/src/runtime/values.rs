//! Values of threads and of whole executions: what `thread_local!` and `statics!` declare.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{MODE, Mode, give_up};
use crate::Map;

/// A declaration, by its address.
type Key = usize;

/// A static, with what makes its value.
#[derive(Clone, Copy)]
struct Known {
    key: Key,
    make: fn() -> &'static dyn Any,
}

thread_local! {
    static LOCALS: RefCell<Map<(usize, Key), Rc<dyn Any>>> = RefCell::default();
    static STATICS: RefCell<Map<Key, &'static dyn Any>> = RefCell::default();
    /// The statics that executions have used, in the order in which they were found.
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
    static FOUND: Cell<bool> = const { Cell::new(false) };
}

/// An execution begins: there are no values.
pub(super) fn begin() {
    drop(LOCALS.take());
    STATICS.with_borrow_mut(Map::clear);
}

/// The main thread makes the values of all statics that are known, so that they do not depend on which thread is first to use one.
pub(super) fn make_statics() {
    let known = KNOWN.with_borrow(Vec::clone);
    for Known { key, make } in known {
        if find(key).is_none() {
            let value = make();
            STATICS.with_borrow_mut(|statics| statics.insert(key, value));
        }
    }
}

fn find(key: Key) -> Option<&'static dyn Any> {
    STATICS.with_borrow(|statics| statics.get(&key).copied())
}

/// The value of a static in this execution. If it is used for the first time, the execution is given up, and the test begins again with the
/// static known.
pub(crate) fn of_execution(key: Key, make: fn() -> &'static dyn Any) -> &'static dyn Any {
    if let Some(value) = find(key) {
        return value;
    }
    KNOWN.with_borrow_mut(|known| known.push(Known { key, make }));
    if MODE.get() == Mode::Controlled {
        FOUND.set(true);
        give_up("a static was used for the first time");
    }
    let value = make();
    STATICS.with_borrow_mut(|statics| statics.insert(key, value));
    value
}

/// Whether statics were found since this was asked last, so that the test must begin again.
pub(crate) fn found_statics() -> bool {
    FOUND.take()
}

/// The value of a thread, if there is one.
pub(crate) fn of_thread(thread: usize, key: Key) -> Option<Rc<dyn Any>> {
    LOCALS.with_borrow(|locals| locals.get(&(thread, key)).cloned())
}

/// Sets the value of a thread.
pub(crate) fn set(thread: usize, key: Key, value: Rc<dyn Any>) {
    let before = LOCALS.with_borrow_mut(|locals| locals.insert((thread, key), value));
    drop(before);
}

/// Drops the values of a thread that ends. Their destructors may make new ones.
pub(crate) fn drop_of(thread: usize) {
    for _ in 0..8 {
        let mut keys: Vec<Key> = LOCALS.with_borrow(|locals| {
            let mine = locals.keys().filter(|(owner, _)| *owner == thread);
            mine.map(|&(_, key)| key).collect()
        });
        if keys.is_empty() {
            return;
        }
        // In an order that does not depend on the map: that of their declarations.
        keys.sort_unstable();
        for key in keys {
            let value = LOCALS.with_borrow_mut(|locals| locals.remove(&(thread, key)));
            drop(value);
        }
    }
}
