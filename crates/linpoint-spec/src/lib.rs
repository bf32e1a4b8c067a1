//! Specifications that are written as files instead of Rust.
//!
//! A specification is a small program in [Starlark](https://github.com/bazelbuild/starlark), the dialect of Python that
//! build tools use. It defines the initial state and what each call answers:
//!
//! ```
//! use linpoint::format::{ReadOptions, parse};
//! use linpoint::{Checker, Verdict};
//!
//! let text = r#"
//! def init(params):
//!     return 0
//!
//! def step(state, process, method, arg):
//!     if method == "next":
//!         return (state + 1, state + 1)
//!     return fail("unknown method " + method)
//! "#;
//! let ids = linpoint_spec::parse("ids.spec", text, &Default::default())?;
//! let history = br#"
//! {"process": 0, "method": "next", "ret": 1, "call": 1, "return": 2}
//! {"process": 1, "method": "next", "ret": 1, "call": 3, "return": 4}"#;
//! let recorded = parse(history, &ReadOptions::default()).remove(0)?;
//! let report = Checker::default().check_recorded(&ids, &recorded.history)?;
//! assert!(matches!(report.verdict, Verdict::Violation(_)));
//! # Ok::<(), linpoint::Error>(())
//! ```
//!
//! `docs/specifications.md` describes the language and what a specification may define.
//!
//! A [`command`] is a specification that asks a program in any other language; `docs/model-programs.md` describes how.

/// A specification to begin with, which explains itself.
pub const TEMPLATE: &str = include_str!("template.spec");

mod asked;
mod command;
mod contracts;
#[cfg(feature = "starlark")]
mod data;
mod file;
#[cfg(feature = "starlark")]
mod flat;
mod histories;
mod model;
#[cfg(feature = "starlark")]
mod starlark;

pub use asked::{Asked, Asking, Called};
#[cfg(unix)]
pub use command::CommandModel;
pub use command::{CommandOptions, Running, RunningChecks, command};
pub use contracts::{Contract, Counterexample, MethodAnswers, Taken, Tested, test};
#[cfg(feature = "starlark")]
pub use data::Data;
pub use file::{parse, read, read_text};
pub use histories::small_history;
pub use model::{Model, ModelCall, ModelError, StateId, States};
#[cfg(feature = "starlark")]
pub use starlark::StarlarkModel;
