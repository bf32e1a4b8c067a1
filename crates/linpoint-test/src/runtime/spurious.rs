//! What may happen for no reason: a wait that ends without a notification, and a weak compare-exchange that fails although the value is
//! the expected one.
//!
//! They are choices of the search if the program [asks for it](super::program::Program::most_spurious). Whether a wait of a condition
//! variable will end spuriously is chosen when it begins: such a thread waits for the mutex alone, and can be taken for one that woke up at
//! once. So the execution without the spurious wake-up is tried as well, and is stuck if nothing else wakes the thread.

use std::cell::Cell;

use super::{controlled, with};

thread_local! {
    /// Whether these events are choices in the execution of this OS thread.
    static TRIED: Cell<bool> = const { Cell::new(false) };
    /// Whether one could have happened in it.
    static POSSIBLE: Cell<bool> = const { Cell::new(false) };
}

/// An execution begins on this OS thread, with at most so many of these events.
pub(super) fn begin(most: u32) {
    TRIED.set(most > 0);
    POSSIBLE.set(false);
}

/// Whether one of these events could have happened in the execution that has ended.
pub(super) fn were_possible() -> bool {
    POSSIBLE.get()
}

/// The running thread comes to where one could happen. Returns whether they are choices of the search.
#[inline(always)]
pub(crate) fn are_tried() -> bool {
    POSSIBLE.set(true);
    TRIED.get() && controlled() && !std::thread::panicking()
}

/// Whether the access that the running thread has begun fails for no reason. Requires that they [are tried](are_tried).
pub(crate) fn fails() -> bool {
    with(|execution, search| execution.fails_spuriously(search))
}

/// The running thread has begun to wait for a condition: whether the wait ends without a notification. Requires that they
/// [are tried](are_tried).
pub(super) fn wakes() {
    with(|execution, search| execution.wakes_spuriously(search));
}
