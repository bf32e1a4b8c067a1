//! Types of objects found by name, with their Rust types erased: [`ObjectType`].
//!
//! Each feature is a file. It holds a small trait, implemented for every type that is [`Recorded`](crate::spec::Recorded) or
//! [`Simulated`](crate::spec::Simulated), and the methods of [`ObjectType`] that call it. A new feature is a new file and
//! one more name in the list of `AnyObject`.
//!
//! | file | feature |
//! |---|---|
//! | `check.rs` | [`Checker::check_recorded`](crate::Checker::check_recorded) |
//! | `condition.rs` | [`Checker::check_conditions`](crate::Checker::check_conditions), what still holds |
//! | `simulate.rs` | simulated objects, for [`Generator`](crate::generate::Generator) |
//! | `depths.rs` | depths of operations, hitting families |
//! | `online.rs` | [`OnlineChecker`](crate::OnlineChecker) of recorded events |
//! | `page.rs` | the data of a [page](crate::report::Page) |
//! | `proof.rs` | [proofs](crate::proof) of verdicts, made and checked |
//!
//! `registry.rs` finds the types by name, `catalog.rs` and `juc.rs` list them.

mod catalog;
mod check;
mod condition;
mod depths;
mod hinted;
mod juc;
mod object_type;
mod online;
mod page;
mod proof;
mod registry;
mod simulate;

pub use check::CheckRecorded;
pub use depths::PartDepths;
pub use object_type::ObjectType;
pub use online::RecordedCall;
pub use registry::{
    TypeInfo, candidate_types, find_type, guess_type, object_type, types, why_no_type,
};
pub use simulate::Simulation;
