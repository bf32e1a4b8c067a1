//! Built-in types without their Rust types: found by name, used through one interface.

mod any;
mod catalog;
mod juc;
mod registry;

pub use any::{AnyObject, PartDepths, Reading, Simulation};
pub use registry::{ObjectType, TypeInfo, find_type, guess_type, object_type, types};
