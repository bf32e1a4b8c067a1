//! Is a live concurrent object linearizable? Runs it, and compares what happened with its own serial behaviour, or with a
//! specification.

mod campaign;
mod check;
mod explain;
pub mod hint;
mod invocation;
mod matrix;
mod minimise;
mod object;
mod observations;
pub mod report;
mod runtime;
mod search;
mod spec;
pub mod stress;
pub mod sync;
pub mod thread;
mod token;

pub use check::{Coverage, Effort, Strategy};
pub use object::{Object, Progress, object};
pub use report::{Failure, FailureKind, Report, Verdict};
pub use stress::{fresh, stress, stress_spec};

/// Maps with a fixed seed: runs are reproducible.
type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::FixedState>;
