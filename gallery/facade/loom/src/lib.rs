//! The types of `linpoint_test` by the names of `loom`.

pub use linpoint_test::{cell, hint, sync, thread, thread_local};
