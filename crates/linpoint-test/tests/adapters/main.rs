//! The same harness over the types of other engines.

// What goes wrong in a test should fail it, also outside the functions that are marked as tests.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "loom")]
mod loomed;
#[cfg(feature = "shuttle")]
mod shuttled;
