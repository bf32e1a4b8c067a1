//! Verifies concurrent algorithms: explores all their executions.
//!
//! An [`Algorithm`] is written down as shared registers, local variables and atomic steps. Its executions are explored
//! breadth-first, together with somebody who watches calls and returns and says when they cannot be linearized any more; so
//! the execution that shows a bug is as short as can be.
//!
//! * [`refine`](refine()) compares any algorithm with any [`Spec`](crate::Spec).
//! * [`verify`](verify()) knows more about snapshots. A snapshot algorithm that treats values as values is linearizable if
//!   and only if all its *simple* executions are: only two entries ever change, once, from 0 to 1. These are fewer by far,
//!   and a monitor of a few bits decides them ([`simple`](crate::engine::monitor::snapshot::simple)). After Amram, Hayoun, Mizrahi and
//!   Weiss, *Polynomial-Time Verification and Testing of Implementations of the Snapshot Data Structure* (DISC 2022).
//!
//! Before a bug is reported, its execution is made once more step by step, without any reduction of states, and the general
//! search must agree that its history is not linearizable.
//!
//! `docs/verify.md` tells what is explored, by which reductions, and how far that goes.

pub mod algorithms;
mod bits;
mod execution;
pub mod laws;
mod method;
mod observe;
mod product;
mod program;
mod refine;
mod search;
pub mod snapshot;
mod table;
#[cfg(test)]
mod tests;
mod verify;

pub use bits::{Bits, Place, width};
pub use execution::{Execution, Row};
pub use method::{Method, Outcome, States, Task, explore, refine};
pub use program::{Algorithm, Bounds, Client, Interface, Reductions, Step};
pub use search::Explored;
pub use verify::{ALGORITHMS, AlgorithmInfo, Plan, Run, Verification, verify};
