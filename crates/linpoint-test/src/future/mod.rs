//! Futures under control: an executor in which every poll, wake-up and time-out is where the scheduler wants it.
//!
//! In a controlled run, a task is a thread of the test. [`block_on`] polls a future, and waits for its waker between polls: a wake-up that
//! is lost is an execution that is stuck. Wakers are scheduling points. Futures, channels and locks that are written against
//! [`std::task`] and the types of [`sync`](crate::sync) run unchanged. Outside of a check, all does what it does on threads.

mod spawn;
mod task;
mod timer;

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use crate::runtime;
use crate::runtime::access::{Effect, Kind};
use task::Task;

pub use spawn::{Aborted, JoinHandle, spawn};
pub use timer::{Elapsed, Sleep, Timeout, sleep, timeout};

/// How the future of an operation is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    /// Polled until it is ready, whenever it is woken.
    ToEnd,
    /// The same, and polled once more with another waker as soon as it waits.
    Repolled,
    /// Dropped where it waits, if that is before it is ready. Then it must not have had an effect.
    CancelSafe,
    /// The same, except that it may have had its effect.
    Cancelled,
}

/// Polls a future until it is ready. Between polls, the thread waits until the waker is used, or until a timer of the future fires.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let task = Task::new();
    loop {
        if let Poll::Ready(output) = poll(future.as_mut(), &task) {
            return output;
        }
        task.wait();
    }
}

fn poll<F: Future>(future: Pin<&mut F>, task: &Task) -> Poll<F::Output> {
    let _entered = task.enter();
    let waker: Waker = task.waker();
    future.poll(&mut Context::from_waker(&waker))
}

/// Drives a future. `Err` if it was dropped before it was ready; whether it must have had its effect.
#[track_caller]
pub(crate) fn drive<F: Future>(future: F, drive: Drive) -> Result<F::Output, bool> {
    match drive {
        Drive::ToEnd => Ok(block_on(future)),
        Drive::Repolled => Ok(repolled(future)),
        Drive::CancelSafe | Drive::Cancelled if !runtime::controlled() => Ok(block_on(future)),
        Drive::CancelSafe | Drive::Cancelled if runtime::is_serial() => serially(future, drive),
        Drive::CancelSafe | Drive::Cancelled => cancelled(future),
    }
}

#[track_caller]
fn repolled<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let first = Task::new();
    if let Poll::Ready(output) = poll(future.as_mut(), &first) {
        return output;
    }
    // Whether it was woken or not.
    first.wait_some_time("is polled again with another waker");
    let second = first.renewed();
    loop {
        if let Poll::Ready(output) = poll(future.as_mut(), &second) {
            return output;
        }
        second.wait();
    }
}

/// Drops the future at one of the points where it waits: before it is woken, or after that and before it is polled.
#[track_caller]
fn cancelled<F: Future>(future: F) -> Result<F::Output, bool> {
    let mut future = pin!(future);
    let task = Task::new();
    loop {
        if let Poll::Ready(output) = poll(future.as_mut(), &task) {
            return Ok(output);
        }
        if !task.wait_some_time("is cancelled") || runtime::pick(2) == 1 {
            return Err(false);
        }
    }
}

/// What a cancellation may amount to in a serial execution: the future is ready before it waits, or has no effect, or, unless it is
/// cancel safe, has its effect and no result.
#[track_caller]
fn serially<F: Future>(future: F, drive: Drive) -> Result<F::Output, bool> {
    let task = Task::new();
    let ways = match drive {
        Drive::Cancelled => 3,
        _ => 2,
    };
    let turn = task.look();
    turn.touch(Kind::Read, Effect::Unchanged, || {
        "may be cancelled".to_owned()
    });
    let way = runtime::pick(ways);
    if way == 1 {
        return Err(false);
    }
    let mut future = pin!(future);
    loop {
        match poll(future.as_mut(), &task) {
            Poll::Ready(_) if way == 2 => return Err(true),
            Poll::Ready(output) => return Ok(output),
            Poll::Pending => {}
        }
        // No other thread runs: it goes on only if it woke itself.
        if !task.wait_some_time("is cancelled") {
            return Err(false);
        }
    }
}

/// Lets other tasks run: ready when it is polled again, for which it wakes its task at once.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
