//! Is a live concurrent object linearizable? Runs it, and compares what happened with its own serial behaviour, or with a
//! specification.

pub mod hint;
pub mod stress;
pub mod sync;
pub mod thread;

pub use stress::{fresh, stress, stress_spec};
