//! Snapshots: histories of updates and scans, decided in one pass.
//!
//! * [`simple`]: two entries change once. A plain value as the state, constant work for each event.
//! * [`General`]: any history in which it is plain which update a scan saw, also while it happens.
//!
//! `case.rs` takes recorded operations to the one that fits, and makes an order or names the culprits.

mod case;
mod entry;
mod fault;
mod general;
pub mod simple;
mod simplify;
#[cfg(test)]
mod tests;
mod witness;

pub(crate) use case::Case;
pub use fault::{Fault, What};
pub use general::{Effect, General, Scanning, Unclear};
