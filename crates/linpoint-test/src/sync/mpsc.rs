//! `std::sync::mpsc` under control: a queue with a mutex and condition variables.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use super::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A channel without a bound.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Shared::new(None);
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// A channel that holds at most this many messages. If it holds none, a sender waits until its message is received.
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let shared = Shared::new(Some(bound));
    (SyncSender(Arc::clone(&shared)), Receiver(shared))
}

/// As [`std::sync::mpsc::Sender`].
pub struct Sender<T>(Arc<Shared<T>>);

/// As [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(Arc<Shared<T>>);

/// As [`std::sync::mpsc::Receiver`].
pub struct Receiver<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Mutex<State<T>>,
    /// A message came, or the last sender left.
    filled: Condvar,
    /// A message was taken, a receiver waits, or the receiver left.
    taken: Condvar,
}

struct State<T> {
    queue: VecDeque<T>,
    bound: Option<usize>,
    senders: usize,
    receiver: bool,
    /// Messages sent and received so far.
    sent: u64,
    received: u64,
    /// A receiver stands ready.
    receiving: bool,
}

impl<T> State<T> {
    fn full(&self) -> bool {
        match self.bound {
            None => false,
            Some(0) => !self.queue.is_empty(),
            Some(bound) => self.queue.len() >= bound,
        }
    }

    fn push(&mut self, message: T) -> u64 {
        self.queue.push_back(message);
        self.sent += 1;
        self.sent
    }
}

impl<T> Shared<T> {
    fn new(bound: Option<usize>) -> Arc<Self> {
        Arc::new(Shared {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                bound,
                senders: 1,
                receiver: true,
                sent: 0,
                received: 0,
                receiving: false,
            }),
            filled: Condvar::without_spurious(),
            taken: Condvar::without_spurious(),
        })
    }

    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut state = self.lock();
        while state.receiver && state.full() {
            state = self
                .taken
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if !state.receiver {
            return Err(SendError(message));
        }
        let number = state.push(message);
        self.filled.notify_one();
        if state.bound == Some(0) {
            while state.receiver && state.received < number {
                state = self
                    .taken
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            if state.received < number
                && let Some(message) = state.queue.pop_back()
            {
                return Err(SendError(message));
            }
        }
        Ok(())
    }

    #[track_caller]
    fn add_sender(&self) {
        self.lock().senders += 1;
    }

    #[track_caller]
    fn drop_sender(&self) {
        let mut state = self.lock();
        state.senders -= 1;
        if state.senders == 0 {
            self.filled.notify_all();
        }
    }
}

impl<T> Sender<T> {
    /// Sends a message; never waits.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.send(message)
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, when there is room.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.send(message)
    }

    /// Sends a message if there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let mut state = self.0.lock();
        if !state.receiver {
            return Err(TrySendError::Disconnected(message));
        }
        if state.full() || state.bound == Some(0) && !state.receiving {
            return Err(TrySendError::Full(message));
        }
        state.push(message);
        self.0.filled.notify_one();
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut state = self.0.lock();
        loop {
            if let Some(message) = self.take(&mut state) {
                return Ok(message);
            }
            if state.senders == 0 {
                return Err(RecvError);
            }
            state.receiving = true;
            state = self
                .0
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.receiving = false;
        }
    }

    /// Waits for a message, but not longer than this.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let mut state = self.0.lock();
        state.receiving = true;
        let waited = self
            .0
            .filled
            .wait_timeout_while(state, timeout, |state| {
                state.queue.is_empty() && state.senders > 0
            })
            .unwrap_or_else(PoisonError::into_inner);
        state = waited.0;
        state.receiving = false;
        match self.take(&mut state) {
            Some(message) => Ok(message),
            None if state.senders == 0 => Err(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// A message, if there is one.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.0.lock();
        match self.take(&mut state) {
            Some(message) => Ok(message),
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Messages until the last sender has left.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// The messages that are there.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }

    #[track_caller]
    fn take(&self, state: &mut State<T>) -> Option<T> {
        let message = state.queue.pop_front()?;
        state.received += 1;
        if state.bound.is_some() {
            self.0.taken.notify_all();
        }
        Some(message)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.add_sender();
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        self.0.add_sender();
        SyncSender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.drop_sender();
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.0.drop_sender();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.receiver = false;
        self.0.taken.notify_all();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender { .. }")
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SyncSender { .. }")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver { .. }")
    }
}
