//! Specifications of what concurrent programs share, for [`against`](crate::Object::against) and
//! [`against_ends`](crate::Object::against_ends).
//!
//! | specification | what it is |
//! |---|---|
//! | [`Channel`] | a channel with or without a bound, whose ends can be cloned, dropped or closed |
//! | [`Oneshot`] | a channel for one message |
//! | [`Notify`] | a permit that is stored once and taken by a waiter |
//! | [`Semaphore`] | counted permits, with attempts, time-outs and closing |
//! | [`Once`] | a cell that is set once |
//! | [`Map`] | a map with its number of entries |
//!
//! Their operations and results are plain enums over the type of messages, which is `u32` unless said otherwise. An operation that
//! waits at most for some time is one that answers "time is up" in each state in which it could not go on.
//!
//! A rendezvous channel, in which `send` returns only when its message has been received, has no such specification: its two
//! operations take effect together, and none of the two is first. For the same reason a check without a specification reports it.

mod cell;
mod channel;
mod map;
mod semaphore;

pub use cell::{Notify, NotifyOp, Once, OnceOp, OnceRet, Oneshot, OneshotOp, OneshotRet};
pub use channel::{Channel, ChannelOp, ChannelRet, ChannelState};
pub use map::{Map, MapOp, MapRet};
pub use semaphore::{Semaphore, SemaphoreOp, SemaphoreRet, SemaphoreState};

use std::fmt::Debug;
use std::hash::Hash;

/// What messages and values can be: compared, hashed, printed, and sent to other threads.
pub trait Value: Clone + Debug + Eq + Hash + Send + Sync + 'static {}

impl<T: Clone + Debug + Eq + Hash + Send + Sync + 'static> Value for T {}
