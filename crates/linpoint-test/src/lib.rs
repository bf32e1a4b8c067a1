//! Is a live concurrent object linearizable? Runs it, and compares what happened with its own serial behaviour, or with a
//! specification.

pub mod hint;
mod runtime;
mod search;
pub mod stress;
pub mod sync;
pub mod thread;

pub use stress::{fresh, stress, stress_spec};

/// Maps with a fixed seed: runs are reproducible.
type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::FixedState>;
