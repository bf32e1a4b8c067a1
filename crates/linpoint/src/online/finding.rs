//! What a checker reports.

use std::fmt;
use std::sync::Arc;

use super::{Observable, Observed};
use crate::claim::Claim;
use crate::spec::Vocabulary;
use crate::value::Value;

/// What an event brought to light.
pub enum Finding<O: Observable> {
    /// The history so far is not linearizable. This object, or key, is not followed any further.
    Violation(Box<Violation<O>>),
    /// This object, or key, is used in a way that no monitor understands, and is not followed any further.
    CannotTell(CannotTell),
}

/// A history of an object, or of one key of it, that is not linearizable.
pub struct Violation<O: Observable> {
    /// The object; [`Value::Nil`] where there is only one.
    pub object: Value,
    /// The key, where each key is checked by itself.
    pub key: Option<Value>,
    /// The operation whose result is impossible.
    pub op: Arc<Observed<O>>,
    /// Why, as data. A check of the recorded history makes the same claim.
    pub claim: Claim<Arc<Observed<O>>>,
    /// The words for this object.
    pub words: Vocabulary,
    /// Operations that contradict it: those that the claim names, and some that show what it says. They help to find the
    /// cause; they are not a proof by themselves.
    pub others: Vec<Arc<Observed<O>>>,
    /// The operation whose failure brought the violation to light, if one did.
    pub failed: Option<Arc<Observed<O>>>,
}

impl<O: Observable> Violation<O> {
    /// Why, in words.
    pub fn sentence(&self) -> String {
        self.claim.sentence(&self.words, &|op| op.to_string())
    }
}

/// An object, or one key of it, of which no verdict can be given.
#[derive(Clone, Debug)]
pub struct CannotTell {
    /// The object; [`Value::Nil`] where there is only one.
    pub object: Value,
    /// The key, where each key is checked by itself.
    pub key: Option<Value>,
    /// Why, in words.
    pub reason: String,
}

impl<O: Observable> fmt::Debug for Finding<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Violation(violation) => violation.fmt(f),
            Finding::CannotTell(untold) => untold.fmt(f),
        }
    }
}

impl<O: Observable> fmt::Debug for Violation<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Violation")
            .field("object", &self.object)
            .field("key", &self.key)
            .field("op", &self.op)
            .field("claim", &self.claim)
            .field("others", &self.others)
            .finish()
    }
}
