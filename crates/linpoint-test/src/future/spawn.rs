//! Tasks that run beside others.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::block_on;
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::thread;

/// A task was aborted, or panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aborted;

struct State<T> {
    result: Option<Result<T, Aborted>>,
    aborted: bool,
    /// The waker of the task.
    task: Option<Waker>,
    /// The waker of the future that waits for its end.
    joiner: Option<Waker>,
}

/// A task; made by [`spawn`]. As a future, it is ready when the task has ended.
pub struct JoinHandle<T>(Arc<Mutex<State<T>>>);

fn locked<T>(state: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a task, which runs beside the others: a [thread](crate::thread::spawn) of the test in a controlled run.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let state = Arc::new(Mutex::new(State {
        result: None,
        aborted: false,
        task: None,
        joiner: None,
    }));
    let mine = Arc::clone(&state);
    thread::spawn(move || {
        let result = {
            let mut future = pin!(future);
            block_on(poll_fn(|context| {
                let mut state = locked(&mine);
                if state.aborted {
                    return Poll::Ready(Err(Aborted));
                }
                state.task = Some(context.waker().clone());
                drop(state);
                future.as_mut().poll(context).map(Ok)
            }))
        };
        let mut state = locked(&mine);
        state.result = Some(result);
        let joiner = state.joiner.take();
        drop(state);
        if let Some(joiner) = joiner {
            joiner.wake();
        }
    });
    JoinHandle(state)
}

impl<T> JoinHandle<T> {
    /// Drops the future of the task where it waits next, unless it has ended by then.
    #[track_caller]
    pub fn abort(&self) {
        let mut state = locked(&self.0);
        state.aborted = true;
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        locked(&self.0).result.is_some()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, Aborted>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = locked(&self.0);
        match state.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                state.joiner = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
