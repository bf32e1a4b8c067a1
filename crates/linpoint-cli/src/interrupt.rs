//! Ctrl-C: the first one ends the work and reports what was found, the second one ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A flag that Ctrl-C sets.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    // Without a handler Ctrl-C still ends the program, only without a report.
    let _ = ctrlc::set_handler(move || {
        if set.swap(true, Relaxed) {
            std::process::exit(130);
        }
    });
    flag
}
