//! Verification of concurrent algorithms by exploring all their executions.
//!
//! An [`Algorithm`] consists of shared registers, local variables and atomic steps. Its executions are explored
//! breadth-first, together with an observer that follows calls and returns and reports the first return that cannot be
//! linearized. Breadth-first search finds a bug in an execution with the fewest moves.
//!
//! * [`refine`](refine()) compares any algorithm with any [`Spec`](crate::Spec).
//! * [`verify`](verify()) is for snapshots. A snapshot algorithm that does not depend on the values it stores is
//!   linearizable if and only if all its *simple* executions are: those in which only two entries ever change, once, from 0
//!   to 1. There are far fewer of these, and a monitor of a few bits decides them
//!   ([`simple`](crate::engine::monitor::snapshot::simple)). After Amram, Hayoun, Mizrahi and Weiss, *Polynomial-Time Verification
//!   and Testing of Implementations of the Snapshot Data Structure* (DISC 2022).
//! * [`queue`]: simple executions of queues, of three values, stand for all as well.
//! * [`strong`]: strong linearizability, as a game.
//!
//! A bug is reported only after its execution was replayed step by step, without any reduction of states, and the general
//! search confirmed that its history is not linearizable.
//!
//! `docs/verify.md` describes what is explored, the reductions, and the sizes that were reached.

pub mod algorithms;
mod bits;
mod execution;
pub mod laws;
mod method;
mod observe;
mod product;
mod program;
pub mod queue;
mod refine;
mod search;
pub mod snapshot;
pub mod strong;
mod table;
#[cfg(test)]
mod tests;
mod verify;

pub use bits::{Bits, Place, width};
pub use execution::{Execution, Row};
pub use method::{Method, Outcome, States, Task, explore, refine};
pub use program::{Algorithm, Bounds, Client, Interface, Reductions, Step};
pub use search::Explored;
pub use verify::{ALGORITHMS, AlgorithmInfo, Exploration, Plan, Verification, verify};
