//! Ctrl-C, or a request to terminate: the first one ends the work and reports what was found, the second one ends the
//! program.
//!
//! A terminal that is closed is no such request: the report would be lost, and under `nohup` the work must continue.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use linpoint::engine::Budget;
use signal_hook::consts::{SIGABRT, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::exit::Exit;

/// Where the address space is limited, an allocation may fail in spite of the budget, by which the standard library ends the
/// program with a message and `SIGABRT`. Such an end has the exit code of a limit.
pub(crate) fn expect_failed_allocations() {
    if Budget::address_space().is_some() {
        let always = Arc::new(AtomicBool::new(true));
        // Without the handler the program ends as well, with another code.
        let _ = register_conditional_shutdown(SIGABRT, Exit::UNDECIDED.into(), always);
    }
}

/// A flag that Ctrl-C sets.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag not yet set. Without handlers a signal still ends the program,
        // only without a report.
        let _ = register_conditional_shutdown(signal, 128 + signal, Arc::clone(&flag))
            .and_then(|_| register(signal, Arc::clone(&flag)));
    }
    flag
}
