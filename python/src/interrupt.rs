//! Work without the lock of the interpreter, which Ctrl-C ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::pool::{finished, start};

/// How often the interpreter is asked for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long interrupted work may take to end. After that it ends by itself, unseen.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs `work` on the pool while other threads of Python go on. A signal whose handler raises an exception sets the flag that
/// `work` gets, and the exception is the result.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    pool: &ThreadPool,
    work: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    py.detach(|| {
        let working = start(pool, move || work(flag));
        let mut interrupted: Option<(Instant, PyErr)> = None;
        loop {
            match (working.0.recv_timeout(INTERVAL), &interrupted) {
                (Ok(done), None) => return Ok(finished(done)),
                (Err(RecvTimeoutError::Disconnected), None) => {
                    return Err(PyRuntimeError::new_err("bug: the work was lost"));
                }
                (Err(RecvTimeoutError::Timeout), None) => {
                    if let Err(error) = Python::attach(|py| py.check_signals()) {
                        stop.store(true, Relaxed);
                        interrupted = Some((Instant::now(), error));
                    }
                }
                (Err(RecvTimeoutError::Timeout), Some((since, _)))
                    if since.elapsed() < PATIENCE => {}
                (_, Some(_)) => break,
            }
        }
        match interrupted {
            Some((_, error)) => Err(error),
            None => Err(PyRuntimeError::new_err("bug: the work was lost")),
        }
    })
}
