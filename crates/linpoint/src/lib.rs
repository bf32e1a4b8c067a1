//! Is a concurrent history linearizable? Decides it, with a proof either way.
//!
//! A *history* is what the clients of an object saw: calls and returns in the order of time. It is *linearizable* if every
//! operation can be given a moment between its call and its return so that a sequential object, in the order of these
//! moments, would have given the same results.
//!
//! # Your own object
//!
//! Describe it as a [`Spec`], record what happened in a [`TypedHistory`], and ask a [`Checker`]:
//!
//! ```
//! use linpoint::{Checker, Outcomes, Spec, TypedHistory, Verdict};
//!
//! /// A cell that can be set once; `Set` answers whether it did.
//! struct OnceCell;
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! enum Op { Set(u32), Get }
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! enum Ret { Done(bool), Held(Option<u32>) }
//!
//! impl Spec for OnceCell {
//!     type Op = Op;
//!     type Ret = Ret;
//!     type State = Option<u32>;
//!
//!     fn init(&self) -> Option<u32> { None }
//!
//!     fn apply(&self, state: &Option<u32>, op: &Op) -> Outcomes<Ret, Option<u32>> {
//!         match (op, state) {
//!             (Op::Get, _) => Outcomes::One(Ret::Held(*state), *state),
//!             (Op::Set(value), None) => Outcomes::One(Ret::Done(true), Some(*value)),
//!             (Op::Set(_), Some(_)) => Outcomes::One(Ret::Done(false), *state),
//!         }
//!     }
//! }
//!
//! let mut history = TypedHistory::new();
//! let first = history.call(0, Op::Set(1));
//! let second = history.call(1, Op::Set(2));
//! history.ret(first, Ret::Done(true));
//! history.ret(second, Ret::Done(true)); // both claim to have set it
//!
//! let report = Checker::default().check(&OnceCell, &history)?;
//! let Verdict::Violation(violation) = report.verdict else { panic!() };
//! // When `first` had returned, the cell held 1, whatever the order: the core starts from there.
//! assert_eq!(violation.core.anchor().map(|anchor| anchor.after), Some(first));
//! assert_eq!(violation.core.ops(), [second]);
//! assert!(violation.core.is_certified());
//! println!("{}", violation.core.sentence());
//! # Ok::<(), linpoint::Error>(())
//! ```
//!
//! Limits are part of the [`Config`]; when one is hit, the verdict is [`Verdict::Undecided`].
//!
//! # Recorded histories
//!
//! [`format::read`] reads files, archives and directories of histories in several formats; [`object_type`] gives the
//! built-in types by name. A [`History`] of one is [checked](Checker::check_recorded) like a typed one:
//!
//! ```
//! use linpoint::format::{ReadOptions, parse};
//! use linpoint::{Checker, Verdict, object_type};
//!
//! let text = r#"
//! {"process": 0, "method": "enq", "arg": 1, "call": 0, "return": 1}
//! {"process": 0, "method": "enq", "arg": 2, "call": 2, "return": 3}
//! {"process": 1, "method": "deq", "ret": 2, "call": 4, "return": 5}
//! "#;
//! let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0)?;
//! let queue = object_type("queue", &Default::default())?;
//! let checker = Checker::default();
//! let report = checker.check_recorded(&queue, &recorded.history)?;
//! assert!(matches!(report.verdict, Verdict::Violation(_)));
//! # Ok::<(), linpoint::Error>(())
//! ```
//!
//! A type of your own can be read from files as well: implement [`spec::Recorded`] for it (`examples/recorded.rs`).
//!
//! # Where to look
//!
//! | module | what it holds |
//! |---|---|
//! | [`history`] | histories, how they are built, ordered and split |
//! | [`spec`] | the [`Spec`] trait and the built-in types |
//! | [`mod@format`] | readers and writers |
//! | [`portfolio`] | the [`Checker`] |
//! | [`explore`] | verification of algorithms by exploring all executions |
//! | [`engine`] | what decides, and its [budget](engine::Budget) |
//! | [`condition`] | conditions beside linearizability, and what still holds |
//! | [`verdict`] | verdicts and their evidence |
//! | [`transaction`] | isolation levels of transactions |
//! | [`proof`] | proofs of verdicts, and their check without any engine |
//! | [`report`] | a page that shows them |
//! | [`online`] | the [`OnlineChecker`], for histories that are still happening |
//! | [`object`] | the built-in types by name |
//! | [`generate`] | histories from simulated objects |
//! | [`text`] | times and sizes as texts |

mod budget;
mod claim;
pub mod condition;
pub mod engine;
pub mod error;
pub mod explore;
pub mod format;
pub mod generate;
pub mod history;
pub mod object;
pub mod online;
pub mod portfolio;
pub mod proof;
pub mod report;
pub mod spec;
pub mod text;
pub mod transaction;
pub mod value;
pub mod verdict;

pub use engine::{Budget, Limit};
pub use error::{Error, ErrorKind};
pub use history::{
    Call, History, HistoryBuilder, OpId, Operation, Partitioning, Ties, TypedHistory,
};
pub use object::{ObjectType, object_type};
pub use online::{Finding, OnlineChecker};
pub use portfolio::{Checker, Config, Cores, EngineChoice, OnViolation, Witnesses};
pub use spec::{Outcomes, Params, Spec};
pub use value::Value;
pub use verdict::{Core, PartReport, Report, Stuck, Undecided, Verdict, Violation, Witness};
