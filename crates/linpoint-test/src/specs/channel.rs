//! Channels.

use std::collections::VecDeque;
use std::marker::PhantomData;

use linpoint::{Outcomes, Spec};

use super::Value;

/// A channel: first in, first out. It is disconnected for receivers when no message is left and it was closed or its last sender
/// left, and for senders when it was closed or its last receiver left.
#[derive(Clone, Debug)]
pub struct Channel<T = u32> {
    capacity: Option<usize>,
    senders: usize,
    receivers: usize,
    messages: PhantomData<fn() -> T>,
}

/// An operation on a [`Channel`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChannelOp<T = u32> {
    /// Waits for room and sends: [`Sent`](ChannelRet::Sent) or [`Disconnected`](ChannelRet::Disconnected).
    Send(T),
    /// The same without waiting: or [`Full`](ChannelRet::Full).
    TrySend(T),
    /// The same, waiting for some time: or [`TimedOut`](ChannelRet::TimedOut).
    SendTimeout(T),
    /// Waits for a message: [`Received`](ChannelRet::Received) or [`Disconnected`](ChannelRet::Disconnected).
    Recv,
    /// The same without waiting: or [`Empty`](ChannelRet::Empty).
    TryRecv,
    /// The same, waiting for some time: or [`TimedOut`](ChannelRet::TimedOut).
    RecvTimeout,
    /// [`Count`](ChannelRet::Count) of the messages inside.
    Len,
    /// [`Is`](ChannelRet::Is) it empty?
    IsEmpty,
    /// [`Is`](ChannelRet::Is) it disconnected for senders?
    IsClosed,
    /// Another sender comes: [`Done`](ChannelRet::Done).
    CloneSender,
    /// Another receiver comes: [`Done`](ChannelRet::Done).
    CloneReceiver,
    /// A sender leaves: [`Done`](ChannelRet::Done).
    DropSender,
    /// A receiver leaves: [`Done`](ChannelRet::Done).
    DropReceiver,
    /// Nothing more can be sent; what is inside can be received: [`Done`](ChannelRet::Done).
    Close,
}

/// A result of a [`ChannelOp`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChannelRet<T = u32> {
    /// The message is in the channel.
    Sent,
    /// There is no room.
    Full,
    /// This message was taken out.
    Received(T),
    /// There is no message.
    Empty,
    /// No other end is left.
    Disconnected,
    /// The time was up.
    TimedOut,
    /// So many messages.
    Count(usize),
    /// Yes or no.
    Is(bool),
    /// It has no other answer.
    Done,
}

impl<T> ChannelRet<T> {
    /// The result of a send that waits for room.
    pub fn sent<E>(result: Result<(), E>) -> Self {
        match result {
            Ok(()) => ChannelRet::Sent,
            Err(_) => ChannelRet::Disconnected,
        }
    }

    /// The result of a receive that waits for a message.
    pub fn received<E>(result: Result<T, E>) -> Self {
        match result {
            Ok(message) => ChannelRet::Received(message),
            Err(_) => ChannelRet::Disconnected,
        }
    }
}

/// The state of a [`Channel`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChannelState<T = u32> {
    messages: VecDeque<T>,
    senders: usize,
    receivers: usize,
    closed: bool,
}

impl<T> Channel<T> {
    /// A channel without a bound, with so many ends at first.
    pub fn unbounded(senders: usize, receivers: usize) -> Self {
        Channel {
            capacity: None,
            senders,
            receivers,
            messages: PhantomData,
        }
    }

    /// A channel that holds at most `capacity` messages, at least one, with so many ends at first.
    ///
    /// # Panics
    /// If the capacity is zero: see the [module](super) about rendezvous channels.
    pub fn bounded(capacity: usize, senders: usize, receivers: usize) -> Self {
        assert!(
            capacity > 0,
            "a rendezvous channel has no such specification"
        );
        Channel {
            capacity: Some(capacity),
            ..Channel::unbounded(senders, receivers)
        }
    }
}

impl<T: Value> Channel<T> {
    fn send(&self, state: &ChannelState<T>, message: &T, full: Option<ChannelRet<T>>) -> Next<T> {
        let mut next = state.clone();
        if state.closed || state.receivers == 0 {
            return Outcomes::One(ChannelRet::Disconnected, next);
        }
        if self
            .capacity
            .is_some_and(|capacity| state.messages.len() >= capacity)
        {
            return full.map_or(Outcomes::Blocked, |ret| Outcomes::One(ret, next));
        }
        next.messages.push_back(message.clone());
        Outcomes::One(ChannelRet::Sent, next)
    }

    fn recv(state: &ChannelState<T>, empty: Option<ChannelRet<T>>) -> Next<T> {
        let mut next = state.clone();
        match next.messages.pop_front() {
            Some(message) => Outcomes::One(ChannelRet::Received(message), next),
            None if state.closed || state.senders == 0 => {
                Outcomes::One(ChannelRet::Disconnected, next)
            }
            None => empty.map_or(Outcomes::Blocked, |ret| Outcomes::One(ret, next)),
        }
    }
}

type Next<T> = Outcomes<ChannelRet<T>, ChannelState<T>>;

impl<T: Value> Spec for Channel<T> {
    type Op = ChannelOp<T>;
    type Ret = ChannelRet<T>;
    type State = ChannelState<T>;

    fn init(&self) -> ChannelState<T> {
        ChannelState {
            messages: VecDeque::new(),
            senders: self.senders,
            receivers: self.receivers,
            closed: false,
        }
    }

    fn apply(&self, state: &ChannelState<T>, op: &ChannelOp<T>) -> Next<T> {
        let mut next = state.clone();
        let ret = match op {
            ChannelOp::Send(message) => return self.send(state, message, None),
            ChannelOp::TrySend(message) => {
                return self.send(state, message, Some(ChannelRet::Full));
            }
            ChannelOp::SendTimeout(message) => {
                return self.send(state, message, Some(ChannelRet::TimedOut));
            }
            ChannelOp::Recv => return Self::recv(state, None),
            ChannelOp::TryRecv => return Self::recv(state, Some(ChannelRet::Empty)),
            ChannelOp::RecvTimeout => return Self::recv(state, Some(ChannelRet::TimedOut)),
            ChannelOp::Len => ChannelRet::Count(state.messages.len()),
            ChannelOp::IsEmpty => ChannelRet::Is(state.messages.is_empty()),
            ChannelOp::IsClosed => ChannelRet::Is(state.closed || state.receivers == 0),
            ChannelOp::CloneSender => {
                next.senders += 1;
                ChannelRet::Done
            }
            ChannelOp::CloneReceiver => {
                next.receivers += 1;
                ChannelRet::Done
            }
            ChannelOp::DropSender => {
                next.senders = state.senders.saturating_sub(1);
                ChannelRet::Done
            }
            ChannelOp::DropReceiver => {
                next.receivers = state.receivers.saturating_sub(1);
                ChannelRet::Done
            }
            ChannelOp::Close => {
                next.closed = true;
                ChannelRet::Done
            }
        };
        Outcomes::One(ret, next)
    }
}
