//! Engines of others, under the same harness.

#[cfg(feature = "loom")]
pub(crate) mod loom;
#[cfg(feature = "shuttle")]
pub(crate) mod shuttle;
