//! Threads that the object or the test starts.
//!
//! The threads of a program are there from the beginning; those that are not started yet wait. A start is an access to the list of
//! threads, since it gives a number to the new thread, by which the objects that it makes are named; so starts do not commute.

use std::cell::{Cell, RefCell};

use super::access::{Effect, Kind};
use super::{Handle, MAX_WORKERS, controlled, give_up, with};

/// What a started thread does; an error is the message of a panic.
pub(crate) type Body = Box<dyn FnOnce() -> Result<(), String>>;

thread_local! {
    /// What the threads will do that were started and have not run yet.
    static BODIES: RefCell<[Option<Body>; MAX_WORKERS]> = RefCell::default();
    /// The threads whose end another one has waited for, one bit each.
    static JOINED: Cell<u16> = const { Cell::new(0) };
    /// Whether more threads were needed than there were.
    static TOO_FEW: Cell<bool> = const { Cell::new(false) };
}

/// An execution begins.
pub(super) fn begin() {
    JOINED.set(0);
    for thread in 0..MAX_WORKERS {
        withdraw(thread);
    }
}

/// Starts a thread that passes `birth` before it runs `body`. Returns its number.
#[track_caller]
pub(crate) fn start(birth: &Handle, body: Body) -> usize {
    let list = with(|execution, _| Handle {
        epoch: execution.epoch(),
        object: execution.list_of_threads(),
    });
    let turn = list.access();
    let started = with(|execution, _| {
        let birth = birth.object(execution);
        execution.report_touch(birth, Kind::Open, Effect::Changed);
        execution.start_thread()
    });
    let Some(thread) = started else {
        TOO_FEW.set(true);
        let is_of_object = with(|execution, _| {
            let layout = execution.trace().layout();
            layout.threads.len() == layout.started
        });
        let why = match is_of_object {
            true => "an object that spawns threads cannot be checked under control",
            false => "more threads are started than a test can have",
        };
        give_up(why);
        panic!("{why}");
    };
    turn.touch(Kind::Write, Effect::Changed, || {
        format!("starts thread {}", super::thread_name(thread))
    });
    BODIES.with_borrow_mut(|bodies| bodies[thread] = Some(body));
    thread
}

/// What a thread does that was started just now.
pub(super) fn body(thread: usize) -> Option<Body> {
    BODIES.with_borrow_mut(|bodies| bodies[thread].take())
}

/// Drops what a thread would have done that has not run.
pub(crate) fn withdraw(thread: usize) {
    drop(body(thread));
}

/// A thread has waited for the end of this one.
pub(crate) fn note_join(thread: usize) {
    if controlled() {
        JOINED.set(JOINED.get() | 1 << thread);
    }
}

/// Whether a thread has waited for the end of this one in the execution that just ended.
pub(crate) fn is_joined(thread: usize) -> bool {
    JOINED.get() & 1 << thread != 0
}

/// Whether more threads were needed since this was asked last.
pub(crate) fn needed_more() -> bool {
    TOO_FEW.take()
}
