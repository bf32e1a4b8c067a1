//! Futures of unmodified crates under the controlled scheduler: each poll, each drop and each call is one step.
//!
//! A crate wakes while it holds a lock of its own. A waker of `linpoint_test` is where the scheduler may switch threads, and the next one
//! would wait for the lock for ever. So the wakers that a crate sees only take a note, and what is noted is woken when the call is over.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

thread_local! {
    /// All threads of a test are on one OS thread.
    static NOTED: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
}

struct Notes(Waker);

impl Wake for Notes {
    fn wake(self: Arc<Self>) {
        NOTED.with_borrow_mut(|noted| noted.push(self.0.clone()));
    }
}

fn wake_noted() {
    for waker in NOTED.take() {
        waker.wake();
    }
}

/// Calls the crate, then wakes what it woke.
pub(crate) fn turn<R>(call: impl FnOnce() -> R) -> R {
    let result = call();
    wake_noted();
    result
}

/// Drives a future of the crate, a turn for each poll and for its end.
pub(crate) fn turns<F: Future>(future: F) -> impl Future<Output = F::Output> {
    Turns(Some(Box::pin(future)))
}

struct Turns<F>(Option<Pin<Box<F>>>);

impl<F: Future> Future for Turns<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let waker = Waker::from(Arc::new(Notes(context.waker().clone())));
        let future = self.0.as_mut().expect("it was not dropped");
        turn(|| future.as_mut().poll(&mut Context::from_waker(&waker)))
    }
}

impl<F> Drop for Turns<F> {
    fn drop(&mut self) {
        turn(|| drop(self.0.take()));
    }
}
