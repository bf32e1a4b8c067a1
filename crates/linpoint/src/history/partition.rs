//! Splits a history into parts that can be checked separately.
//!
//! Linearizability is local: a history is linearizable exactly when the operations of each object are (Herlihy and
//! Wing). Where operations with different keys of one object do not affect each other, the same holds for keys (Horn and
//! Kroening call it P-compositionality).

use super::{OpId, TypedHistory};
use crate::spec::Spec;
use crate::value::{Interner, Value};

/// How a history is split into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Partitioning {
    /// By object, and by key where the specification has keys.
    #[default]
    ByKey,
    /// By object only.
    ByObject,
}

/// The number of the key of all operations if the history is not split by keys. Invariant: no key has this number, since
/// there are fewer keys than operations.
const NO_KEY: u32 = u32::MAX;

/// The operations of one object, or of one key of it.
#[derive(Clone, Debug)]
pub struct Part {
    /// The object's number in the history.
    pub object: u32,
    /// The key, where the object was split by keys.
    pub key: Option<Value>,
    /// Its operations, in the order of their calls.
    pub ops: Vec<OpId>,
}

/// The parts of `history`, in order of first appearance.
pub(crate) fn partition<S: Spec>(
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
    how: Partitioning,
) -> Vec<Part> {
    let keys = match how {
        Partitioning::ByKey => key_numbers(spec, history),
        Partitioning::ByObject => None,
    };
    let mut groups: Interner<(u32, u32)> = Interner::default();
    let mut parts: Vec<Part> = Vec::new();
    for (i, (&object, &action)) in
        (0u32..).zip(history.object_column().iter().zip(history.action_column()))
    {
        let key = keys
            .as_ref()
            .map_or(NO_KEY, |(_, key_of)| key_of[action as usize]);
        let group = groups.intern((object, key)) as usize;
        if group == parts.len() {
            let key = keys.as_ref().map(|(keys, _)| keys.get(key).clone());
            parts.push(Part {
                object,
                key,
                ops: Vec::new(),
            });
        }
        parts[group].ops.push(OpId(i));
    }
    parts
}

/// The keys that occur and the key of each action, if every action has one.
fn key_numbers<S: Spec>(
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
) -> Option<(Interner<Value>, Vec<u32>)> {
    let mut keys = Interner::default();
    let key_of = history
        .actions()
        .iter()
        .map(|action| Some(keys.intern(spec.key(&action.op)?)))
        .collect::<Option<Vec<_>>>()?;
    Some((keys, key_of))
}
