//! An append-only list.

use super::{
    Appended, AtPlace, CallView, DecodeError, Outcomes, Recorded, Role, Sampler, Simulated, Spec,
    Vocabulary, decode, words,
};
use crate::value::Value;

/// An append-only list, at first empty.
#[derive(Clone, Debug)]
pub struct AppendList;

/// An operation on a [`AppendList`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AppendListOp {
    /// Appends the value; answers its index, counted from 0. A recorded nil does not tell.
    Append(Value),
    /// Answers the whole list.
    Read,
    /// Answers the value with this index; nil if there is none.
    Get(u64),
    /// Answers how many values there are.
    Size,
}

impl Spec for AppendList {
    type Op = AppendListOp;
    type Ret = Value;
    type State = Appended;

    fn init(&self) -> Appended {
        Appended::default()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the list",
            put: "appended",
            taken: "removed",
            place: "index",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        state.with(|values| words::members("the list", values))
    }

    fn state_value(&self, state: &Appended) -> Value {
        state.with(|values| Value::list(values.iter().cloned()))
    }

    fn apply(&self, state: &Appended, op: &AppendListOp) -> Outcomes<Value, Appended> {
        let length = Value::Int(state.len() as i64);
        match op {
            AppendListOp::Append(value) => {
                Outcomes::One(length, state.with_appended(value.clone()))
            }
            AppendListOp::Read => Outcomes::One(self.state_value(state), state.clone()),
            AppendListOp::Get(index) => {
                let found = usize::try_from(*index).ok().and_then(|i| state.get(i));
                Outcomes::One(found.unwrap_or_default(), state.clone())
            }
            AppendListOp::Size => Outcomes::One(length, state.clone()),
        }
    }

    /// Makes no list that the result rules out.
    fn step(&self, state: &Appended, op: &AppendListOp, ret: Option<&Value>) -> Vec<Appended> {
        let fits = match (op, ret) {
            (_, None) | (AppendListOp::Append(_), Some(Value::Nil)) => true,
            (AppendListOp::Append(_), Some(ret)) => *ret == Value::Int(state.len() as i64),
            (AppendListOp::Read, Some(Value::List(read))) => state.with(|values| **read == *values),
            (_, ret) => return self.apply(state, op).answering(ret),
        };
        match op {
            _ if !fits => Vec::new(),
            AppendListOp::Append(value) => vec![state.with_appended(value.clone())],
            AppendListOp::Read | AppendListOp::Get(_) | AppendListOp::Size => vec![state.clone()],
        }
    }

    fn state_after(&self, op: &AppendListOp, ret: &Value) -> Option<Appended> {
        match (op, ret) {
            (AppendListOp::Read, Value::List(read)) => Some(read.iter().cloned().collect()),
            _ => None,
        }
    }

    fn place_initially(&self) -> Option<Value> {
        Some(Value::Nil)
    }

    fn places(&self, op: &AppendListOp, ret: Option<&Value>) -> Vec<Value> {
        match (op, ret) {
            (AppendListOp::Append(_), Some(index @ Value::Int(_))) => vec![index.clone()],
            (AppendListOp::Get(index), _) => vec![Value::Int(*index as i64)],
            _ => Vec::new(),
        }
    }

    fn at_place(&self, op: &AppendListOp, ret: Option<&Value>, place: &Value) -> AtPlace {
        // An index that was given out holds the value in a list, so that a nil there differs from nothing.
        let held = |value: &Value| Value::list([value.clone()]);
        match (op, ret) {
            (AppendListOp::Append(value), Some(index)) if index == place => {
                AtPlace::Does(Role::replaces(Value::Nil, held(value)))
            }
            (AppendListOp::Append(_), Some(Value::Int(_))) => AtPlace::Nothing,
            // A pending one may get this index.
            (AppendListOp::Append(value), None) => {
                AtPlace::Does(Role::replaces(Value::Nil, held(value)))
            }
            (AppendListOp::Append(_), Some(_)) => AtPlace::Unknown,
            (AppendListOp::Get(index), Some(found)) if Value::Int(*index as i64) == *place => {
                match found {
                    // The list may hold nil there.
                    Value::Nil => AtPlace::Nothing,
                    found => AtPlace::Does(Role::reads(held(found))),
                }
            }
            _ => AtPlace::Nothing,
        }
    }

    fn is_pure(&self, op: &AppendListOp, _: Option<&Value>) -> bool {
        !matches!(op, AppendListOp::Append(_))
    }
}

impl Recorded for AppendList {
    fn decode(&self, call: CallView<'_>) -> Result<AppendListOp, DecodeError> {
        match call.method {
            "append" => Ok(AppendListOp::Append(call.takes_value()?)),
            "read" => call.takes_nothing(AppendListOp::Read),
            "get" => match call.argument {
                Value::Int(index @ 0..) => Ok(AppendListOp::Get(index.unsigned_abs())),
                other => Err(format!("get takes an index, not {other}").into()),
            },
            "size" => call.takes_nothing(AppendListOp::Size),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &AppendListOp, result: &Value) -> Result<Value, DecodeError> {
        match (op, result) {
            (AppendListOp::Append(_), Value::Nil) => Ok(Value::Nil),
            (AppendListOp::Append(_) | AppendListOp::Size, _) => decode::integer(result),
            // An empty list stands as nil in some histories.
            (AppendListOp::Read, Value::Nil) => Ok(Value::list([])),
            (AppendListOp::Read, Value::List(_)) | (AppendListOp::Get(_), _) => Ok(result.clone()),
            (AppendListOp::Read, _) => Err(format!("read answers a list, not {result}").into()),
        }
    }
}

impl Simulated for AppendList {
    fn sample(&self, state: &Appended, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        match sampler.below(4) {
            0 | 1 => ("append", sampler.value()),
            2 => ("read", Value::Nil),
            _ => ("get", Value::Int(sampler.below(state.len() + 1) as i64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        run(
            &AppendList,
            "
            read() null
            append(5) 0
            append(6) null
            append(5) 2
            read() [5, 6, 5]
            get(1) 6
            get(3) null
            size() 3
            ",
        );
    }
}
