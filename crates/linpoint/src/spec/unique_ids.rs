//! A generator of identifiers of which no two are the same.

use super::{
    CallView, DecodeError, Keys, Kind, Outcomes, Recorded, Role, Sampler, Simulated, Spec,
    Vocabulary, words,
};
use crate::value::Value;

/// A generator of identifiers.
#[derive(Clone, Debug)]
pub struct UniqueIds;

/// An operation on [`UniqueIds`]: answers an identifier that no operation answered before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Generate {
    /// Answers this one.
    Id(Value),
    /// Is pending. It does nothing to the others: they can do without it, and it can always be left out.
    Pending,
    /// Answers any one.
    Fresh,
}

impl Spec for UniqueIds {
    type Op = Generate;
    type Ret = Value;
    /// The identifiers that were answered, sorted.
    type State = Vec<Value>;

    fn init(&self) -> Vec<Value> {
        Vec::new()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the set of ids that were answered",
            put: "answered",
            taken: "withdrawn",
            place: "id",
            keys: Keys::Members,
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Vec<Value>, key: Option<&Value>) -> String {
        match key {
            Some(key) => self.vocabulary().two_states(state.contains(key), Some(key)),
            None => words::members(self.vocabulary().object, state),
        }
    }

    fn state_value(&self, state: &Vec<Value>) -> Value {
        Value::list(state.iter().cloned())
    }

    /// Of the identifiers that may be answered, this lists the smallest number.
    fn apply(&self, state: &Vec<Value>, op: &Generate) -> Outcomes<Value, Vec<Value>> {
        let id = match op {
            Generate::Pending => return Outcomes::One(Value::Nil, state.clone()),
            Generate::Id(id) => id.clone(),
            Generate::Fresh => {
                let is_new = |id: &Value| state.binary_search(id).is_err();
                let mut numbers = (1..).map(Value::Int);
                numbers.find(is_new).unwrap_or_default()
            }
        };
        match state.binary_search(&id) {
            Ok(_) => Outcomes::Blocked,
            Err(place) => {
                let mut next = state.clone();
                next.insert(place, id.clone());
                Outcomes::One(id, next)
            }
        }
    }

    fn step(&self, state: &Vec<Value>, op: &Generate, ret: Option<&Value>) -> Vec<Vec<Value>> {
        match (op, ret) {
            (Generate::Fresh, Some(id)) => self.step(state, &Generate::Id(id.clone()), ret),
            _ => self.apply(state, op).answering(ret),
        }
    }

    fn key(&self, op: &Generate) -> Option<Value> {
        match op {
            Generate::Id(id) => Some(id.clone()),
            Generate::Pending => Some(Value::Nil),
            Generate::Fresh => None,
        }
    }

    fn is_pure(&self, op: &Generate, _: Option<&Value>) -> bool {
        *op == Generate::Pending
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Slot(Value::Bool(false)))
    }

    fn role(&self, op: &Generate, _: Option<&Value>) -> Role {
        match op {
            Generate::Id(_) => Role::replaces(Value::Bool(false), Value::Bool(true)),
            Generate::Pending | Generate::Fresh => Role::Opaque,
        }
    }
}

impl Recorded for UniqueIds {
    const DEPENDS_ON_RESULT: bool = true;

    fn decode(&self, call: CallView<'_>) -> Result<Generate, DecodeError> {
        match call.method {
            "generate" => call.takes_nothing(Generate::Fresh),
            _ => call.unknown(),
        }
    }

    fn decode_returned(
        &self,
        call: CallView<'_>,
        result: Option<&Value>,
    ) -> Result<Generate, DecodeError> {
        self.decode(call)?;
        Ok(match result {
            Some(id) => Generate::Id(id.clone()),
            None => Generate::Pending,
        })
    }

    fn decode_result(&self, _: &Generate, result: &Value) -> Result<Value, DecodeError> {
        match result {
            Value::Nil => Err("generate answers an id, not nil".into()),
            id => Ok(id.clone()),
        }
    }
}

impl Simulated for UniqueIds {
    fn sample(&self, _: &Vec<Value>, _: u32, _: &mut Sampler) -> (&'static str, Value) {
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
        let given = vec![Value::from(7)];
        let again = Generate::Id(7.into());
        assert_eq!(UniqueIds.apply(&given, &again), Outcomes::Blocked);
        assert_eq!(UniqueIds.step(&given, &Generate::Pending, None), [given]);
    }
}
