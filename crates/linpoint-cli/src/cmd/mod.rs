//! One module for each subcommand.

pub(crate) mod check;
pub(crate) mod conditions;
pub(crate) mod convert;
pub(crate) mod depth;
pub(crate) mod generate;
mod levels;
pub(crate) mod lines;
#[cfg(feature = "mapping")]
pub(crate) mod map;
pub(crate) mod merge;
pub(crate) mod shell;
pub(crate) mod sort;
pub(crate) mod spec;
pub(crate) mod stats;
pub(crate) mod types;
pub(crate) mod verify;
pub(crate) mod verify_proof;
pub(crate) mod watch;
