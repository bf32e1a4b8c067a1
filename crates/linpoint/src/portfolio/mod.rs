//! The public entry: one check, the right engine behind it.
//!
//! A history is split into parts; `choose` makes a plan for each, a list of engines with reasons; `run` carries the
//! plan out, certifies the answer and makes a verdict of it; `merge` joins the verdicts of the parts; `stuck` looks for the
//! reasons for which the operations of stuck histories wait.

mod check;
mod choose;
mod columns;
mod config;
mod depths;
mod merge;
mod prove;
mod run;
mod stuck;

pub use check::Checker;
pub use choose::EngineChoice;
pub use config::{Config, Cores, OnViolation, Witnesses};
pub(crate) use depths::measure_depths;
pub(crate) use prove::Subject;
