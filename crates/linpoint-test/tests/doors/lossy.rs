//! A channel in the manner of crates that people use, with errors that such crates had.

use std::collections::VecDeque;

use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Arc, Condvar, Mutex};

/// What is wrong with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    None,
    /// `try_recv` looks for a message first, and whether a sender is left then.
    LooksTwice,
    /// `len` subtracts two counters that it reads one after the other.
    LenUnderflows,
    /// The last sender to leave wakes no receiver.
    SilentDrop,
    /// A clone of a sender is not counted.
    UncountedClone,
}

struct Shared {
    queue: Mutex<VecDeque<u32>>,
    filled: Condvar,
    senders: AtomicUsize,
    sent: AtomicUsize,
    received: AtomicUsize,
    bug: Bug,
}

pub(crate) struct Sender(Arc<Shared>);

pub(crate) struct Receiver(Arc<Shared>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Nothing {
    Empty,
    Disconnected,
}

pub(crate) fn channel(bug: Bug) -> (Sender, Receiver) {
    let shared = Arc::new(Shared {
        queue: Mutex::default(),
        filled: Condvar::new(),
        senders: AtomicUsize::new(1),
        sent: AtomicUsize::new(0),
        received: AtomicUsize::new(0),
        bug,
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl Sender {
    pub(crate) fn send(&mut self, message: u32) {
        let mut queue = self.0.queue.lock().unwrap();
        queue.push_back(message);
        if self.0.bug == Bug::LenUnderflows {
            drop(queue);
            self.0.sent.fetch_add(1, SeqCst);
        }
        self.0.filled.notify_one();
    }
}

impl Clone for Sender {
    fn clone(&self) -> Self {
        if self.0.bug != Bug::UncountedClone {
            self.0.senders.fetch_add(1, SeqCst);
        }
        Sender(Arc::clone(&self.0))
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let queue = self.0.queue.lock();
        let last = self.0.senders.fetch_sub(1, SeqCst) == 1;
        if last && self.0.bug != Bug::SilentDrop {
            self.0.filled.notify_all();
        }
        drop(queue);
    }
}

impl Receiver {
    pub(crate) fn recv(&mut self) -> Option<u32> {
        let mut queue = self.0.queue.lock().unwrap();
        loop {
            if let Some(message) = queue.pop_front() {
                return Some(message);
            }
            if self.0.senders.load(SeqCst) == 0 {
                return None;
            }
            queue = self.0.filled.wait(queue).unwrap();
        }
    }

    pub(crate) fn try_recv(&mut self) -> Result<u32, Nothing> {
        let mut queue = self.0.queue.lock().unwrap();
        let message = queue.pop_front();
        if self.0.bug == Bug::LooksTwice {
            drop(queue);
        }
        match message {
            Some(message) => {
                self.0.received.fetch_add(1, SeqCst);
                Ok(message)
            }
            None if self.0.senders.load(SeqCst) == 0 => Err(Nothing::Disconnected),
            None => Err(Nothing::Empty),
        }
    }

    pub(crate) fn len(&mut self) -> usize {
        match self.0.bug {
            Bug::LenUnderflows => {
                let sent = self.0.sent.load(SeqCst);
                sent.wrapping_sub(self.0.received.load(SeqCst))
            }
            _ => self.0.queue.lock().unwrap().len(),
        }
    }
}
