//! Ctrl-C, or a request to terminate: the first one ends the work and reports what was found, the second one ends the
//! program.
//!
//! A terminal that is closed is no such request: the report would be lost, and under `nohup` the work must continue.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

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
