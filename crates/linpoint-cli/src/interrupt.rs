//! Ctrl-C, or a request to terminate: the first one ends the work and reports what was found, a later one ends the program.
//!
//! A terminal that is closed is no such request: the report would be lost, and under `nohup` the work must continue.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use linpoint::engine::Budget;
use signal_hook::consts::{SIGABRT, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};
use signal_hook::low_level::emulate_default_handler;

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

/// A specification that builds a deep value and compares, prints or hashes it may overflow the stack, by which the standard
/// library ends the program with a message and `SIGABRT`. Such an end has the exit code of a specification that fails.
pub(crate) fn expect_failed_specifications() {
    let always = Arc::new(AtomicBool::new(true));
    // Without the handler the program ends as well, with another code.
    let _ = register_conditional_shutdown(SIGABRT, Exit::Malformed.code().into(), always);
}

/// How long after the first signal another one is taken for the same request. `timeout` sends its signal to the program and
/// then to the group in which the program is.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// A flag that Ctrl-C sets.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let impatient = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Without handlers a signal still ends the program, only without a report.
        let _ = register_conditional_shutdown(signal, 128 + signal, Arc::clone(&impatient))
            .and_then(|_| register(signal, Arc::clone(&flag)));
    }
    let first = Arc::clone(&flag);
    let watch = move || {
        while !first.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(SAME_REQUEST);
        impatient.store(true, Relaxed);
    };
    // Without the thread the first signal still ends the work, and no later one ends the program.
    let _ = std::thread::Builder::new().spawn(watch);
    flag
}

/// Lets signals end a command that has nothing to report before it is done. `clean_up` removes what it leaves behind.
pub(crate) fn end_after(clean_up: fn()) {
    let received = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&received);
    let watch = move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let signal = seen.load(Relaxed);
            if signal != 0 {
                clean_up();
                // The program ends by the signal, as shells expect.
                let _ = emulate_default_handler(signal as i32);
                std::process::exit(128 + signal as i32);
            }
        }
    };
    // Without the thread or a handler the signal still ends the program, and a temporary file stays.
    if std::thread::Builder::new().spawn(watch).is_ok() {
        for signal in [SIGINT, SIGTERM] {
            let _ = register_usize(signal, Arc::clone(&received), signal as usize);
        }
    }
}

/// Ends the program as `end` says if `stop` is set while an input is read, which may take long: a large file, or a standard
/// input that never ends. The caller locks `run` while it does anything else, and takes the run out when all is read.
pub(crate) fn end_reading_on<R: Send + 'static>(
    stop: Arc<AtomicBool>,
    run: Arc<Mutex<Option<R>>>,
    end: fn(R) -> anyhow::Result<Exit>,
) {
    let watch = move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            // What is done under the lock ends by itself when `stop` is set.
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            if run.is_none() {
                return;
            }
            if stop.load(Relaxed)
                && let Some(run) = run.take()
            {
                eprintln!("linpoint: interrupted while reading");
                let exit = end(run).unwrap_or_else(|error| {
                    eprintln!("linpoint: {error:#}");
                    Exit::of_error(&error)
                });
                std::process::exit(exit.code().into());
            }
        }
    };
    // Without this thread a signal ends the run when all is read.
    let _ = std::thread::Builder::new().spawn(watch);
}

/// Takes the run out when all is read. If it was taken already, the thread that has it ends the program.
pub(crate) fn all_is_read<R>(run: &Mutex<Option<R>>) -> R {
    let taken = run.lock().unwrap_or_else(PoisonError::into_inner).take();
    taken.unwrap_or_else(|| {
        loop {
            std::thread::park();
        }
    })
}
