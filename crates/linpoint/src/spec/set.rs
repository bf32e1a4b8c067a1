//! A set.

use super::{
    AtPlace, CallView, DecodeError, Keys, Kind, Outcomes, Pattern, Recorded, Role, Sampler,
    Simulated, Spec, Vocabulary, decode, words,
};
use crate::value::Value;

/// A set, at first empty.
#[derive(Clone, Debug)]
pub struct Set;

/// An operation on a [`Set`]. A recorded nil of an insertion or removal does not tell the answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SetOp {
    /// Puts the value in; answers whether it is new.
    Add(Value),
    /// Takes the value out; answers whether it was there.
    Remove(Value),
    /// Answers whether the value is there.
    Contains(Value),
    /// Answers all values, sorted.
    Read,
    /// Answers how many values there are.
    Size,
}

impl Spec for Set {
    type Op = SetOp;
    type Ret = Value;
    /// The members, sorted.
    type State = Vec<Value>;

    fn init(&self) -> Vec<Value> {
        Vec::new()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the set",
            put: "added",
            taken: "removed",
            place: "member",
            keys: Keys::Members,
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, key: Option<&Value>) -> String {
        match key {
            Some(key) => self.vocabulary().two_states(state.contains(key), Some(key)),
            None => words::members("the set", state),
        }
    }

    fn state_value(&self, state: &Vec<Value>) -> Value {
        Value::list(state.iter().cloned())
    }

    fn apply(&self, state: &Vec<Value>, op: &SetOp) -> Outcomes<Value, Vec<Value>> {
        let mut next = state.clone();
        let answer = match op {
            SetOp::Add(value) => match state.binary_search(value) {
                Ok(_) => Value::Bool(false),
                Err(place) => {
                    next.insert(place, value.clone());
                    Value::Bool(true)
                }
            },
            SetOp::Remove(value) => match state.binary_search(value) {
                Ok(place) => {
                    next.remove(place);
                    Value::Bool(true)
                }
                Err(_) => Value::Bool(false),
            },
            SetOp::Contains(value) => Value::Bool(state.binary_search(value).is_ok()),
            SetOp::Read => Value::list(state.iter().cloned()),
            SetOp::Size => Value::Int(state.len() as i64),
        };
        Outcomes::One(answer, next)
    }

    fn step(&self, state: &Vec<Value>, op: &SetOp, ret: Option<&Value>) -> Vec<Vec<Value>> {
        self.apply(state, op)
            .answering(ret.filter(|ret| !ret.is_nil()))
    }

    fn key(&self, op: &SetOp) -> Option<Value> {
        match op {
            SetOp::Add(value) | SetOp::Remove(value) | SetOp::Contains(value) => {
                Some(value.clone())
            }
            SetOp::Read | SetOp::Size => None,
        }
    }

    fn place_initially(&self) -> Option<Value> {
        Some(Value::Bool(false))
    }

    fn places(&self, op: &SetOp, _: Option<&Value>) -> Vec<Value> {
        self.key(op).into_iter().collect()
    }

    fn at_place(&self, op: &SetOp, ret: Option<&Value>, place: &Value) -> AtPlace {
        match (op, ret) {
            (SetOp::Read, Some(Value::List(members))) => {
                AtPlace::Does(Role::reads(Value::Bool(members.contains(place))))
            }
            (SetOp::Read | SetOp::Size, _) => AtPlace::Nothing,
            _ if self.key(op).as_ref() != Some(place) => AtPlace::Nothing,
            (SetOp::Contains(_), None) => AtPlace::Nothing,
            _ => AtPlace::Does(self.role(op, ret)),
        }
    }

    fn is_pure(&self, op: &SetOp, ret: Option<&Value>) -> bool {
        match op {
            SetOp::Add(_) | SetOp::Remove(_) => ret == Some(&Value::Bool(false)),
            SetOp::Contains(_) | SetOp::Read | SetOp::Size => true,
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Slot(Value::Bool(false)))
    }

    fn role(&self, op: &SetOp, ret: Option<&Value>) -> Role {
        let becomes = match op {
            SetOp::Add(_) => Value::Bool(true),
            SetOp::Remove(_) => Value::Bool(false),
            SetOp::Contains(_) => {
                return ret.map_or(Role::Opaque, |ret| Role::reads(ret.clone()));
            }
            SetOp::Read | SetOp::Size => return Role::Opaque,
        };
        match ret {
            Some(Value::Nil) => Role::writes(becomes),
            Some(Value::Bool(false)) => Role::reads(becomes),
            // A pending operation that fails has no effect, so only its success counts.
            _ => Role::replaces(Value::Bool(becomes == Value::Bool(false)), becomes),
        }
    }
}

impl Recorded for Set {
    fn decode(&self, call: CallView<'_>) -> Result<SetOp, DecodeError> {
        match call.method {
            "add" | "insert" => Ok(SetOp::Add(call.takes_value()?)),
            "remove" | "delete" => Ok(SetOp::Remove(call.takes_value()?)),
            "contains" => Ok(SetOp::Contains(call.takes_value()?)),
            "read" => call.takes_nothing(SetOp::Read),
            "size" => call.takes_nothing(SetOp::Size),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &SetOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            SetOp::Add(value) | SetOp::Remove(value)
                if result == value && result.as_bool().is_none() =>
            {
                // An echo of the argument does not tell.
                Ok(Value::Nil)
            }
            SetOp::Add(_) | SetOp::Remove(_) => decode::truth_if_told(result),
            SetOp::Contains(_) => decode::truth(result),
            SetOp::Read => {
                let mut members = result
                    .as_list()
                    .ok_or_else(|| format!("read answers a list, not {result}"))?
                    .to_vec();
                members.sort();
                Ok(Value::list(members))
            }
            SetOp::Size => decode::integer(result),
        }
    }

    fn pattern(&self, method: &str) -> Option<Pattern> {
        match method {
            "add" | "insert" => Some(Pattern::Inserts),
            "remove" | "delete" => Some(Pattern::Deletes),
            "contains" => Some(Pattern::Contains),
            _ => None,
        }
    }
}

impl Simulated for Set {
    fn sample(&self, _: &Vec<Value>, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        let method = sampler.pick(&["add", "remove", "contains"]);
        (method, Value::Int(sampler.below(10) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        run(
            &Set,
            "
            contains(1) false
            add(1) true
            insert(1) false
            add(1) null
            add(2) 2
            contains(2) true
            read() [2, 1]
            size() 2
            remove(1) true
            delete(1) false
            remove(2) null
            size() 0
            ",
        );
    }
}
