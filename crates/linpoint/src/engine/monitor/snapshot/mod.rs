//! Decides snapshots: histories of updates and scans, in one pass over the events.
//!
//! * [`simple`]: two entries change once. The state is a plain value, and each event takes constant time.
//! * [`General`]: all histories in which it is known which update each scan saw; also online.
//!
//! Both are after Amram, Hayoun, Mizrahi and Weiss, *Polynomial-Time Verification and Testing of Implementations of the Snapshot
//! Data Structure* (DISC 2022); each module names what it takes from there and what it corrects. `case` chooses between them,
//! and makes a witness or a contradiction.

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
pub use fault::{Fault, FaultKind};
pub use general::{General, Scanning, Unclear, UpdateEffect};
