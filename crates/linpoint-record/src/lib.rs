#![doc = include_str!("../README.md")]
//!
//! # What a history may claim
//!
//! A history that orders operations which overlapped makes a correct system look wrong. Three rules keep it sound, whatever records:
//!
//! - The time of a call is read before the operation begins, that of a return after it ended, and the rest of the operation is between
//!   the two. [`Ticks`] has the argument for both clocks.
//! - What may have happened stays open. An operation that is dropped, or whose end is [unknown](Operation::unknown), may take effect at
//!   any later time; its process goes on under another name. Only what certainly did not happen is [failed](Operation::failed).
//! - A file has each call before the operation begins, so what a killed program had asked for is known.
//!
//! Logs of several programs become one history with `linpoint merge`.

mod clock;
mod header;
mod json;
mod memory;
mod recorder;
mod sink;

pub use clock::{CacheAligned, Clock, Ticks, monotonic};
pub use header::Header;
pub use json::{Json, RawJson};
pub use memory::Recording;
pub use recorder::{Operation, Process, Recorder};
