//! A map from keys to values.

use super::{
    CallView, DecodeError, Entries, Kind, Need, Outcomes, Recorded, Role, Sampler, Simulated, Spec,
    Vocabulary, decode, words,
};
use crate::value::Value;

/// A key-value map. Reads, appends and comparisons find [`missing`](Self::missing) under a missing key. A key that was given
/// that value is present nevertheless, which [`Delete`](KeyValueOp::Delete) tells.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// What operations find under a missing key.
    pub missing: Value,
}

/// An operation on a [`KeyValue`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyValueOp {
    /// Answers what the key holds.
    Get(Value),
    /// Lets the key hold the value; answers nil.
    Put(Value, Value),
    /// Appends to the text that the key holds, where nil counts as no text; answers nil.
    Append(Value, Value),
    /// Lets the key hold the second value if it holds the first; answers whether it did.
    Cas(Value, Value, Value),
    /// Removes the key; answers whether it was present. A recorded nil does not tell.
    Delete(Value),
}

impl KeyValueOp {
    fn key(&self) -> &Value {
        match self {
            KeyValueOp::Get(key)
            | KeyValueOp::Put(key, _)
            | KeyValueOp::Append(key, _)
            | KeyValueOp::Cas(key, ..)
            | KeyValueOp::Delete(key) => key,
        }
    }
}

impl KeyValue {
    /// Whether some append of `text` leaves [`missing`](Self::missing) under a key that is present.
    fn append_can_make_missing(&self, text: &Value) -> bool {
        let missing = self.missing.as_text();
        missing.is_some_and(|missing| missing.ends_with(&*text.plain_text()))
    }
}

fn with(state: &Entries, key: &Value, value: Option<Value>) -> Entries {
    let mut next = state.clone();
    next.set(key, value);
    next
}

impl Spec for KeyValue {
    type Op = KeyValueOp;
    type Ret = Value;
    /// The keys that are present.
    type State = Entries;

    fn init(&self) -> Entries {
        Entries::default()
    }

    fn vocabulary(&self) -> Vocabulary {
        words::MAP
    }

    fn state_words(&self, state: &Self::State, key: Option<&Value>) -> String {
        match key.map(|key| (key, state.get(key))) {
            Some((key, Some(value))) => format!("key {key} held {value}"),
            Some((key, None)) => format!("key {key} was missing"),
            None => format!("the map held {state:?}"),
        }
    }

    fn state_value(&self, state: &Entries) -> Value {
        state.as_pairs()
    }

    fn apply(&self, state: &Entries, op: &KeyValueOp) -> Outcomes<Value, Entries> {
        let present = state.get(op.key());
        let held = present.unwrap_or(&self.missing);
        match op {
            KeyValueOp::Get(_) => Outcomes::One(held.clone(), state.clone()),
            KeyValueOp::Put(key, value) => {
                Outcomes::One(Value::Nil, with(state, key, Some(value.clone())))
            }
            KeyValueOp::Append(key, more) => {
                Outcomes::One(Value::Nil, with(state, key, Some(held.appended(more))))
            }
            KeyValueOp::Cas(key, from, to) if from == held => {
                Outcomes::One(Value::Bool(true), with(state, key, Some(to.clone())))
            }
            KeyValueOp::Cas(..) => Outcomes::One(Value::Bool(false), state.clone()),
            KeyValueOp::Delete(key) => {
                Outcomes::One(Value::Bool(present.is_some()), with(state, key, None))
            }
        }
    }

    fn step(&self, state: &Entries, op: &KeyValueOp, ret: Option<&Value>) -> Vec<Entries> {
        let untold = matches!((op, ret), (KeyValueOp::Delete(_), Some(Value::Nil)));
        self.apply(state, op)
            .answering(if untold { None } else { ret })
    }

    fn key(&self, op: &KeyValueOp) -> Option<Value> {
        Some(op.key().clone())
    }

    fn is_pure(&self, op: &KeyValueOp, ret: Option<&Value>) -> bool {
        match op {
            KeyValueOp::Get(_) => true,
            KeyValueOp::Put(..) | KeyValueOp::Append(..) => false,
            // A missing key is present afterwards, although it reads as before.
            KeyValueOp::Cas(_, from, to) => {
                from == to && *from != self.missing || ret == Some(&Value::Bool(false))
            }
            KeyValueOp::Delete(_) => ret == Some(&Value::Bool(false)),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Slot(self.missing.clone()))
    }

    /// On one key, a missing key is a slot that holds [`missing`](Self::missing). That is all there is to tell apart as long
    /// as no operation can leave the same value under a key that is present; those that can are opaque.
    fn role(&self, op: &KeyValueOp, ret: Option<&Value>) -> Role {
        match (op, ret) {
            (KeyValueOp::Get(_), Some(value)) => Role::reads(value.clone()),
            (KeyValueOp::Get(_), None) => Role::Opaque,
            (KeyValueOp::Put(_, value), _) if *value == self.missing => Role::Opaque,
            (KeyValueOp::Put(_, value), _) => Role::writes(value.clone()),
            (KeyValueOp::Append(_, text), _) if self.append_can_make_missing(text) => Role::Opaque,
            (KeyValueOp::Append(_, text), _) => Role::Appends(text.clone()),
            (KeyValueOp::Cas(_, from, _), Some(Value::Bool(false))) => Role::differs(from.clone()),
            (KeyValueOp::Cas(_, _, to), _) if *to == self.missing => Role::Opaque,
            // A pending operation that fails has no effect, so only its success counts.
            (KeyValueOp::Cas(_, from, to), _) => Role::replaces(from.clone(), to.clone()),
            (KeyValueOp::Delete(_), Some(Value::Bool(false))) => Role::reads(self.missing.clone()),
            (KeyValueOp::Delete(_), Some(Value::Bool(true))) => Role::Slot {
                needs: Need::IsNot(self.missing.clone()),
                leaves: Some(self.missing.clone()),
            },
            (KeyValueOp::Delete(_), _) => Role::writes(self.missing.clone()),
        }
    }
}

impl Recorded for KeyValue {
    fn decode(&self, call: CallView<'_>) -> Result<KeyValueOp, DecodeError> {
        match call.method {
            "get" | "read" => Ok(KeyValueOp::Get(call.takes_value()?)),
            "put" | "write" | "set" => {
                let [key, value] = call.takes_list("key, value")?;
                Ok(KeyValueOp::Put(key.clone(), value.clone()))
            }
            "append" => {
                let [key, text] = call.takes_list("key, text")?;
                Ok(KeyValueOp::Append(key.clone(), text.clone()))
            }
            "cas" | "compare_and_set" => {
                let [key, from, to] = call.takes_list("key, from, to")?;
                Ok(KeyValueOp::Cas(key.clone(), from.clone(), to.clone()))
            }
            "delete" | "remove" => Ok(KeyValueOp::Delete(call.takes_value()?)),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &KeyValueOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            KeyValueOp::Get(_) => Ok(result.clone()),
            KeyValueOp::Put(key, value) | KeyValueOp::Append(key, value) => {
                decode::done(result, &[key, value])
            }
            KeyValueOp::Cas(..) => decode::truth(result),
            KeyValueOp::Delete(_) => decode::truth_if_told(result),
        }
    }
}

impl Simulated for KeyValue {
    fn sample(&self, _: &Entries, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        let key = Value::Int(sampler.below(10) as i64);
        match sampler.below(8) {
            0..4 => ("get", key),
            4..6 => ("put", Value::list([key, sampler.value()])),
            6 => ("cas", Value::list([key, sampler.guess(), sampler.value()])),
            _ => ("delete", key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        let map = KeyValue {
            missing: Value::Nil,
        };
        run(
            &map,
            r#"
            get("a") null
            put(["a", 1]) null
            get("a") 1
            get("b") null
            cas(["a", 2, 3]) false
            cas(["a", 1, 3]) true
            delete("a") true
            delete("a") false
            delete("a") null
            cas(["a", null, 5]) true
            get("a") 5
            put(["a", null]) null
            get("a") null
            delete("a") true
            delete("a") false
            cas(["a", null, null]) true
            delete("a") true
            append(["a", ""]) null
            get("a") ""
            cas(["a", null, 5]) false
            delete("a") true
            append(["c", "x"]) null
            append(["c", "y"]) null
            get("c") "xy"
            "#,
        );
    }

    #[test]
    fn a_missing_key_may_hold_text() {
        let map = KeyValue {
            missing: Value::from(""),
        };
        run(
            &map,
            r#"
            get("a") ""
            append(["a", "x 0 0 y"]) null
            get("a") "x 0 0 y"
            delete("a") true
            append(["a", ""]) null
            get("a") ""
            delete("a") true
            delete("a") false
            "#,
        );
    }
}
