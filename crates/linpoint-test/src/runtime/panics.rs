//! Panics that are not printed: those of the object, which are results, and those that unwind an execution that is over.

use std::any::Any;
use std::cell::Cell;
use std::panic;
use std::sync::Once;

/// Unwinds a thread whose execution is over.
struct Stop;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// While this value exists, panics of this OS thread are not printed. Other threads are not affected.
pub(crate) struct Quiet {
    before: bool,
}

impl Quiet {
    pub(crate) fn new() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(install_hook);
        Quiet {
            before: QUIET.replace(true),
        }
    }
}

/// Installs a panic hook that prints nothing for threads that are quiet.
pub(crate) fn install_hook() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !QUIET.get() {
            before(info);
        }
    }));
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(self.before);
    }
}

/// Ends the running thread of an execution that is over.
// Inlined, since unwinding takes time for each frame.
#[inline(always)]
pub(crate) fn stop() -> ! {
    panic::resume_unwind(Box::new(Stop))
}

/// Whether this panic unwinds an execution that is over.
pub(crate) fn is_stop(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Stop>()
}

/// The message of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is not text".to_owned())
}
