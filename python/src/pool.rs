//! The threads that decide.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use linpoint::Error;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool that all checks share, and the process that started it: a process made by a fork has none of its threads.
static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process; one of its own if a number of threads is asked for.
pub(crate) fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>, Error> {
    let start = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map(Arc::new)
            .map_err(|error| Error::unreadable(format!("threads cannot be started: {error}")))
    };
    if let Some(threads) = threads {
        return start(threads);
    }
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match &*shared {
        Some((starter, pool)) if *starter == process => return Ok(Arc::clone(pool)),
        _ => {}
    }
    let pool = start(0)?;
    // Dropping a pool of another process would wait for threads that are not there.
    std::mem::forget(shared.replace((process, Arc::clone(&pool))));
    Ok(pool)
}

/// Work on a thread of a pool.
pub(crate) struct Working<T>(pub(crate) Receiver<std::thread::Result<T>>);

/// Starts `work` on a thread of the pool.
pub(crate) fn start<T: Send + 'static>(
    pool: &ThreadPool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Working<T> {
    let (sender, receiver) = sync_channel(1);
    pool.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(work));
        // There is no receiver after an interrupt.
        let _ = sender.send(done);
    });
    Working(receiver)
}

/// The result of work that is done. A panic goes on here.
pub(crate) fn finished<T>(done: std::thread::Result<T>) -> T {
    done.unwrap_or_else(|panic| resume_unwind(panic))
}
