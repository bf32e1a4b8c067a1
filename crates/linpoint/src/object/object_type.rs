//! The dynamic wrapper around the types of objects.

use super::check::CheckRecorded;
use super::condition::DecideConditions;
use super::depths::MeasureDepths;
use super::hinted::Erase;
use super::online::ReadOps;
use super::page::RecordedPage;
use super::proof::Proofs;
use super::simulate::Simulate;
use crate::spec::Simulated;

/// A type of object with its Rust type erased, as [`object_type`](super::object_type) returns it.
///
/// A [`Checker`](crate::Checker::check_recorded) decides recorded histories of it, a
/// [`Generator`](crate::generate::Generator) makes some, and an [`OnlineChecker`](crate::OnlineChecker) follows them while
/// they happen.
pub struct ObjectType(pub(super) Box<dyn AnyObject>);

/// All features of an [`ObjectType`]: one trait for each, with a file of its own.
pub(super) trait AnyObject:
    CheckRecorded
    + DecideConditions
    + MeasureDepths
    + ReadOps
    + Simulate
    + RecordedPage
    + Proofs
    + Erase
    + Send
    + Sync
{
}

impl<S: Simulated + 'static> AnyObject for S {}

impl ObjectType {
    /// Erases the Rust type of `object`.
    pub fn new(object: impl Simulated + 'static) -> Self {
        ObjectType(Box::new(object))
    }
}

impl std::fmt::Debug for ObjectType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ObjectType")
    }
}
