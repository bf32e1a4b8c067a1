//! A channel that hands messages over to receivers that wait.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::ends::{cloned, owned};
use linpoint_test::object_with;
use linpoint_test::sync::{Arc, Mutex};

/// `kanal`, `src/future.rs`, `Drop for ReceiveFuture`: a sender hands its message over to a receiver that waits. If the future of the receiver is
/// dropped before it is polled again, the message is gone.
pub(super) const KANAL: Bug = Bug {
    number: 5,
    name: "kanal",
    buggy: "0.1.1",
    fixed: Some("mended"),
    check: |version| {
        Finding::of_object(|| {
            object_with(move || {
                let state: Arc<Mutex<State>> = Arc::default();
                let receiver = Receiver {
                    state: Arc::clone(&state),
                    version,
                };
                (cloned(Sender(state)), owned(receiver))
            })
            .on("send", [1], |sender: &mut Sender, message| {
                sender.send(message)
            })
            .on0_async("recv", async |receiver: &mut Receiver| {
                Recv {
                    receiver,
                    waits: false,
                }
                .await
            })
            .may_block("recv")
            .cancel_safe("recv")
            .on0("try_recv", |receiver: &mut Receiver| {
                let mut state = receiver.state.lock().expect("no holder panics");
                (!state.queue.is_empty()).then(|| state.queue.remove(0))
            })
            .matrix([vec!["send(1)"], vec!["recv cancelled", "try_recv"]])
        })
    },
};

#[derive(Default)]
struct State {
    queue: Vec<u32>,
    /// The receiver that waits.
    waker: Option<Waker>,
    /// What was handed over to it.
    handed: Option<u32>,
}

#[derive(Clone)]
struct Sender(Arc<Mutex<State>>);

impl Sender {
    fn send(&self, message: u32) {
        let mut state = self.0.lock().expect("no holder panics");
        match state.waker.take() {
            Some(waker) => {
                state.handed = Some(message);
                drop(state);
                waker.wake();
            }
            None => state.queue.push(message),
        }
    }
}

struct Receiver {
    state: Arc<Mutex<State>>,
    version: Version,
}

struct Recv<'a> {
    receiver: &'a mut Receiver,
    waits: bool,
}

impl Future for Recv<'_> {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        let receiver = Arc::clone(&self.receiver.state);
        let mut state = receiver.lock().expect("no holder panics");
        if let Some(message) = state.handed.take() {
            self.waits = false;
            return Poll::Ready(message);
        }
        if !state.queue.is_empty() {
            return Poll::Ready(state.queue.remove(0));
        }
        state.waker = Some(context.waker().clone());
        self.waits = true;
        Poll::Pending
    }
}

impl Drop for Recv<'_> {
    fn drop(&mut self) {
        if !self.waits {
            return;
        }
        let mut state = self.receiver.state.lock().expect("no holder panics");
        state.waker = None;
        if let Some(message) = state.handed.take()
            && self.receiver.version == Version::Fixed
        {
            state.queue.insert(0, message);
        }
    }
}
