//! A generator of identifiers of which no two are the same.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;

use super::{
    Appended, CallView, DecodeError, Outcomes, Recorded, Sampler, Simulated, Spec, Vocabulary,
    words,
};
use crate::value::Value;

/// A generator of identifiers.
#[derive(Clone, Debug)]
pub struct UniqueIds;

/// The operation of [`UniqueIds`]: answers an identifier that no operation answered before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Generate;

/// The identifiers that were answered, in any order.
///
/// Cloning takes no time, and adding one takes the time to look for it.
#[derive(Clone, Default)]
pub struct Ids {
    all: Appended,
    /// The sum of the hashes of all. Invariant: it does not depend on their order.
    digest: u64,
}

impl Ids {
    fn contains(&self, id: &Value) -> bool {
        self.all.with(|all| all.contains(id))
    }

    fn with(&self, id: &Value) -> Self {
        let hash = FixedState::with_seed(0).hash_one(id);
        Ids {
            all: self.all.with_appended(id.clone()),
            digest: self.digest.wrapping_add(hash),
        }
    }

    fn sorted(&self) -> Vec<Value> {
        let mut all = self.all.with(<[Value]>::to_vec);
        all.sort();
        all
    }
}

impl PartialEq for Ids {
    fn eq(&self, other: &Self) -> bool {
        (self.digest, self.all.len()) == (other.digest, other.all.len())
            && self.sorted() == other.sorted()
    }
}

impl Eq for Ids {}

impl Hash for Ids {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.digest, self.all.len()).hash(state);
    }
}

impl std::fmt::Debug for Ids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.sorted()).finish()
    }
}

impl Spec for UniqueIds {
    type Op = Generate;
    type Ret = Value;
    type State = Ids;

    fn init(&self) -> Ids {
        Ids::default()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the generator",
            put: "answered",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Ids, _: Option<&Value>) -> String {
        words::members("the set of the ids that were answered", state.sorted())
    }

    fn answer_words(&self, _: &Generate, _: &Value) -> String {
        "another id".to_owned()
    }

    fn state_value(&self, state: &Ids) -> Value {
        Value::list(state.sorted())
    }

    /// Any identifier is possible that was not answered before; this is the smallest number.
    fn apply(&self, state: &Ids, _: &Generate) -> Outcomes<Value, Ids> {
        let fresh = (1..).map(Value::Int).find(|id| !state.contains(id));
        let id = fresh.unwrap_or_default();
        let next = state.with(&id);
        Outcomes::One(id, next)
    }

    /// A pending operation can always be left out, and the others can do without it, so that it does not matter which
    /// identifier it would answer.
    fn step(&self, state: &Ids, op: &Generate, ret: Option<&Value>) -> Vec<Ids> {
        match ret {
            None => self.apply(state, op).answering(None),
            Some(id) if state.contains(id) => Vec::new(),
            Some(id) => vec![state.with(id)],
        }
    }
}

impl Recorded for UniqueIds {
    fn decode(&self, call: CallView<'_>) -> Result<Generate, DecodeError> {
        match call.method {
            "generate" => call.takes_nothing(Generate),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, _: &Generate, result: &Value) -> Result<Value, DecodeError> {
        match result {
            Value::Nil => Err("generate answers an id, not nil".into()),
            id => Ok(id.clone()),
        }
    }
}

impl Simulated for UniqueIds {
    fn sample(&self, _: &Ids, _: u32, _: &mut Sampler) -> (&'static str, Value) {
        ("generate", Value::Nil)
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn any_id_is_answered_once() {
        run(
            &UniqueIds,
            "generate() 7 \n generate() \"a\" \n generate() [1, 2]",
        );
        let given = Ids::default().with(&7.into());
        assert!(
            UniqueIds
                .step(&given, &Generate, Some(&7.into()))
                .is_empty()
        );
    }

    #[test]
    fn the_order_of_ids_leaves_no_trace() {
        let there = Ids::default().with(&1.into()).with(&2.into());
        let here = Ids::default().with(&2.into()).with(&1.into());
        assert_eq!(there, here);
        assert_ne!(here, here.with(&3.into()));
    }
}
