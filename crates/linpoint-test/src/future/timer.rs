//! Timers.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread as std_thread;
use std::time::{Duration, Instant};

use super::task::{self, Clock};

/// Ready after some time; made by [`sleep`].
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    duration: Duration,
    state: State,
}

enum State {
    New,
    /// In a controlled run: fires when the clock of its task says so.
    Waits(Arc<Clock>, Duration),
    /// Outside of one.
    Until(Instant),
}

/// Ready after this long. In a controlled run, the timer may fire whenever its task waits and is not woken; of several timers of a task, the
/// one whose time is up first. A time of zero is up at once.
pub fn sleep(duration: Duration) -> Sleep {
    Sleep {
        duration,
        state: State::New,
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let State::New = this.state {
            this.state = match task::clock() {
                Some(clock) => {
                    let deadline = clock.expect(this.duration);
                    State::Waits(clock, deadline)
                }
                None => {
                    let (waker, duration) = (context.waker().clone(), this.duration);
                    std_thread::spawn(move || {
                        std_thread::sleep(duration);
                        waker.wake();
                    });
                    State::Until(Instant::now() + duration)
                }
            };
        }
        let is_up = match &this.state {
            State::Waits(clock, deadline) => clock.now() >= *deadline,
            State::Until(end) => Instant::now() >= *end,
            State::New => false,
        };
        match is_up {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let State::Waits(clock, deadline) = &self.state {
            clock.forget(*deadline);
        }
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}

/// The time of a [`timeout`] was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Elapsed;

/// A future with a time-out; made by [`timeout`].
#[must_use = "futures do nothing unless polled"]
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    sleep: Sleep,
}

/// Waits for a future, at most for this long; then it is dropped. It is polled before the time is looked at.
pub fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
    Timeout {
        future: Box::pin(future),
        sleep: sleep(duration),
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        let sleep = pin!(&mut self.sleep);
        sleep.poll(context).map(|()| Err(Elapsed))
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("sleep", &self.sleep)
            .finish_non_exhaustive()
    }
}
