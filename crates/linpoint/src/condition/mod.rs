//! Correctness conditions beside linearizability: what still holds of a history that is not linearizable.
//!
//! A [`Condition`] says which order must be kept, and who must see what. `Checker::check_conditions` tells of one history whether it holds, with a
//! [`Witness`] that separate code replays, or with a few operations that contradict it. Strict linearizability, sequential and quiescent
//! consistency and write-linearizability are decided for every type, all others for registers and maps with reads and writes.
//!
//! | file | what it holds |
//! |---|---|
//! | `name.rs`, `guarantees.rs` | conditions as values, and their names |
//! | `lattice.rs` | which condition implies which |
//! | `memory.rs` | reads and writes, and which write each read returns |
//! | `brute/` | the definitions, literally: the reference |
//! | `clusters.rs` | orders of values: linearizable, quiescent, coherent, Δ |
//! | `causal.rs`, `saturate.rs`, `processes.rs` | the causal family and PRAM |
//! | `sessions.rs`, `least.rs` | guarantees of sessions |
//! | `staleness.rs`, `regular.rs` | k and Δ; regular and safe registers |
//! | `sequential.rs`, `quiescent.rs`, `search.rs` | searches for one order, of any type |
//! | `decide.rs`, `check.rs` | the algorithm for each condition; what callers see |
//! | `certify.rs`, `shrink.rs`, `words.rs` | witnesses replayed, cores made small, sentences |
//! | `diagnose.rs` | what still holds of a history, in a few lines |

mod answer;
mod any;
mod brute;
mod causal;
mod certify;
mod check;
mod clusters;
mod decide;
mod diagnose;
mod graph;
mod guarantees;
mod lattice;
mod least;
mod memory;
mod name;
mod processes;
mod quiescent;
mod regular;
mod saturate;
mod search;
mod sequential;
mod sessions;
mod shrink;
mod staleness;
#[cfg(test)]
mod tests;
mod words;

pub use answer::Witness;
pub(crate) use check::Subject;
pub use check::{Decision, Measure, Outcome, Refutation};
pub use diagnose::{Depth, Diagnosis};
pub use guarantees::{Arbitration, Guarantees};
pub use name::Condition;
pub use staleness::{Lateness, Versions};
