//! What holds one thing at most: a message, a permit, a value.

use std::marker::PhantomData;

use linpoint::{Outcomes, Spec};

use super::Value;

/// A channel for one message. The sender is consumed by sending.
#[derive(Clone, Debug, Default)]
pub struct Oneshot<T = u32>(PhantomData<fn() -> T>);

impl<T> Oneshot<T> {
    /// A channel without a message.
    pub fn new() -> Self {
        Oneshot(PhantomData)
    }
}

/// An operation on a [`Oneshot`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OneshotOp<T = u32> {
    /// [`Sent`](OneshotRet::Sent), or [`Disconnected`](OneshotRet::Disconnected) if the receiver has left or closed.
    Send(T),
    /// The sender leaves without a message: [`Done`](OneshotRet::Done).
    DropSender,
    /// Waits for the message: [`Received`](OneshotRet::Received) or [`Disconnected`](OneshotRet::Disconnected).
    Recv,
    /// The same without waiting: or [`Empty`](OneshotRet::Empty).
    TryRecv,
    /// Nothing more can be sent; a message that is there can be received: [`Done`](OneshotRet::Done).
    Close,
    /// The receiver leaves: [`Done`](OneshotRet::Done).
    DropReceiver,
}

/// A result of a [`OneshotOp`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OneshotRet<T = u32> {
    /// The message is in the channel.
    Sent,
    /// This was the message.
    Received(T),
    /// There is no message yet.
    Empty,
    /// There will be none.
    Disconnected,
    /// It has no other answer.
    Done,
}

impl<T: Value> Spec for Oneshot<T> {
    type Op = OneshotOp<T>;
    type Ret = OneshotRet<T>;
    /// The message; whether the sender can still send; whether the receiver would take it.
    type State = (Option<T>, bool, bool);

    fn init(&self) -> Self::State {
        (None, true, true)
    }

    fn apply(
        &self,
        state: &Self::State,
        op: &OneshotOp<T>,
    ) -> Outcomes<OneshotRet<T>, Self::State> {
        let (message, sends, takes) = state.clone();
        let done = |state| Outcomes::One(OneshotRet::Done, state);
        match op {
            OneshotOp::Send(_) if !takes => {
                Outcomes::One(OneshotRet::Disconnected, (message, false, takes))
            }
            OneshotOp::Send(sent) => {
                Outcomes::One(OneshotRet::Sent, (Some(sent.clone()), false, takes))
            }
            OneshotOp::DropSender => done((message, false, takes)),
            OneshotOp::Close => done((message, sends, false)),
            OneshotOp::DropReceiver => done((None, sends, false)),
            OneshotOp::Recv | OneshotOp::TryRecv => match message {
                Some(message) => Outcomes::One(OneshotRet::Received(message), (None, sends, takes)),
                None if !sends || !takes => {
                    Outcomes::One(OneshotRet::Disconnected, (None, sends, takes))
                }
                None if *op == OneshotOp::Recv => Outcomes::Blocked,
                None => Outcomes::One(OneshotRet::Empty, (None, sends, takes)),
            },
        }
    }
}

/// A permit, as in tokio's `Notify`: stored if no thread waits, once at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notify;

/// An operation on a [`Notify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotifyOp {
    /// Leaves a permit.
    NotifyOne,
    /// Waits for the permit and takes it.
    Notified,
}

impl Spec for Notify {
    type Op = NotifyOp;
    type Ret = ();
    /// Whether there is a permit.
    type State = bool;

    fn init(&self) -> bool {
        false
    }

    fn apply(&self, &permit: &bool, op: &NotifyOp) -> Outcomes<(), bool> {
        match op {
            NotifyOp::NotifyOne => Outcomes::One((), true),
            NotifyOp::Notified if permit => Outcomes::One((), false),
            NotifyOp::Notified => Outcomes::Blocked,
        }
    }
}

/// A cell that is set once.
#[derive(Clone, Debug, Default)]
pub struct Once<T = u32>(PhantomData<fn() -> T>);

impl<T> Once<T> {
    /// An empty cell.
    pub fn new() -> Self {
        Once(PhantomData)
    }
}

/// An operation on a [`Once`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OnceOp<T = u32> {
    /// Sets the value: [`Set`](OnceRet::Set), whether it was empty.
    Set(T),
    /// [`Got`](OnceRet::Got) the value, if there is one.
    Get,
    /// [`Got`](OnceRet::Got) the value, which is set to this one if there is none.
    GetOrInit(T),
    /// Waits until there is a value, and [`Got`](OnceRet::Got) it.
    Wait,
}

/// A result of a [`OnceOp`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OnceRet<T = u32> {
    /// Whether it was empty.
    Set(bool),
    /// The value, if there is one.
    Got(Option<T>),
}

impl<T: Value> Spec for Once<T> {
    type Op = OnceOp<T>;
    type Ret = OnceRet<T>;
    type State = Option<T>;

    fn init(&self) -> Option<T> {
        None
    }

    fn apply(&self, state: &Option<T>, op: &OnceOp<T>) -> Outcomes<OnceRet<T>, Option<T>> {
        let or = |value: &T| state.clone().or_else(|| Some(value.clone()));
        match op {
            OnceOp::Set(value) => Outcomes::One(OnceRet::Set(state.is_none()), or(value)),
            OnceOp::Get => Outcomes::One(OnceRet::Got(state.clone()), state.clone()),
            OnceOp::GetOrInit(value) => Outcomes::One(OnceRet::Got(or(value)), or(value)),
            OnceOp::Wait if state.is_none() => Outcomes::Blocked,
            OnceOp::Wait => Outcomes::One(OnceRet::Got(state.clone()), state.clone()),
        }
    }
}
