//! Linearizability checking.

pub mod engine;
pub mod error;
pub mod format;
pub mod generate;
pub mod history;
pub mod portfolio;
pub mod spec;
pub mod value;
pub mod verdict;

pub use error::{Error, ErrorKind};
pub use history::{
    Call, History, HistoryBuilder, OpId, Operation, Partitioning, Ties, TypedHistory,
};
pub use portfolio::{Checker, Config, Cores, EngineChoice};
pub use spec::{Outcomes, Spec, object_type};
pub use value::Value;
pub use verdict::{Report, Verdict};
