//! Decodes arguments and results as recorders write them, for the built-in specifications.

use std::collections::HashMap;

use super::{CallView, DecodeError};
use crate::value::Value;

impl<'a> CallView<'a> {
    /// `op`, if the call has no argument.
    pub(super) fn takes_nothing<T>(self, op: T) -> Result<T, DecodeError> {
        match self.argument {
            Value::Nil => Ok(op),
            Value::List(items) if items.is_empty() => Ok(op),
            argument => Err(format!("{} takes no argument, not {argument}", self.method).into()),
        }
    }

    /// The argument, which must not be nil: that is what an empty container answers.
    pub(super) fn takes_value(self) -> Result<Value, DecodeError> {
        match self.argument {
            Value::Nil => Err(format!("{} takes a value", self.method).into()),
            value => Ok(value.clone()),
        }
    }

    /// The argument, a list of as many items as `names` has words.
    pub(super) fn takes_list<const N: usize>(
        self,
        names: &str,
    ) -> Result<&'a [Value; N], DecodeError> {
        self.argument
            .as_list()
            .and_then(|items| items.try_into().ok())
            .ok_or_else(|| format!("{} takes [{names}], not {}", self.method, self.argument).into())
    }

    /// The argument, a number from 0 on; `default` if there is none.
    pub(super) fn takes_count(self, default: u64) -> Result<u64, DecodeError> {
        match self.argument {
            Value::Nil => Ok(default),
            argument => argument
                .as_int()
                .and_then(|n| u64::try_from(n).ok())
                .ok_or_else(|| format!("{} takes a number, not {argument}", self.method).into()),
        }
    }

    /// The owner of a lock that the call is made for: the argument, or the process where there is none.
    pub(super) fn owner(self) -> Value {
        match self.argument {
            Value::Nil => self.process.clone(),
            owner => owner.clone(),
        }
    }

    /// The error about a method that the object does not have.
    pub(super) fn unknown<T>(self) -> Result<T, DecodeError> {
        Err(DecodeError::UnknownMethod(self.method.into()))
    }
}

/// The result of a method that answers true or false.
pub(super) fn truth(result: &Value) -> Result<Value, DecodeError> {
    match result {
        Value::Bool(_) => Ok(result.clone()),
        _ => Err(format!("the answer is true or false, not {result}").into()),
    }
}

/// The result of a method that answers true or false, or nil where the recorder omits the answer.
pub(super) fn truth_if_told(result: &Value) -> Result<Value, DecodeError> {
    match result {
        Value::Bool(_) | Value::Nil => Ok(result.clone()),
        _ => {
            Err(format!("the answer is true or false, or nil where not told, not {result}").into())
        }
    }
}

/// The result of a method that takes a lock: as [`done`], or a fencing token, a positive integer, which is not looked at.
pub(super) fn taken(result: &Value, argument: &[&Value]) -> Result<Value, DecodeError> {
    match result {
        Value::Int(1..) => Ok(Value::Nil),
        _ => done(result, argument),
    }
}

/// A name of an account or a log: an integer or text. Text that is an integer means the integer, since the keys of a JSON object
/// are text.
pub(super) fn name(recorded: &Value) -> Option<Value> {
    match recorded {
        Value::Int(_) => Some(recorded.clone()),
        Value::Text(text) => Some(match text.parse::<i64>() {
            Ok(number) if number.to_string() == **text => Value::Int(number),
            _ => recorded.clone(),
        }),
        _ => None,
    }
}

/// The integers that are [names](name) of a history, as recorded, to refuse one that has 1 and "1": these are two names in EDN, but
/// in JSON the key "1" of an object may mean either.
#[derive(Default)]
pub(super) struct Names(HashMap<i64, Value>);

impl Names {
    /// Adds a name that is not the key of a map.
    pub(super) fn add(&mut self, recorded: &Value) -> Result<(), DecodeError> {
        let Some(Value::Int(number)) = name(recorded) else {
            return Ok(());
        };
        let known = self.0.entry(number).or_insert_with(|| recorded.clone());
        match *known == *recorded {
            true => Ok(()),
            false => Err(format!(
                "the history has the names {number} and \"{number}\", which are one as keys of JSON objects: rename one of them"
            )
            .into()),
        }
    }

    /// Adds the keys of a map. If all are text, they may be from JSON, and then mean integers too.
    pub(super) fn add_keys(&mut self, map: &[(Value, Value)]) -> Result<(), DecodeError> {
        let is_exact = map.iter().any(|(key, _)| matches!(key, Value::Int(_)));
        let mut keys = map.iter().map(|(key, _)| key).filter(|_| is_exact);
        keys.try_for_each(|key| self.add(key))
    }
}

/// The result of a method that answers an integer. One that the method never answers, such as a size of -1, is a violation and no
/// malformed input: a broken object may give it.
pub(super) fn integer(result: &Value) -> Result<Value, DecodeError> {
    match result {
        Value::Int(_) => Ok(result.clone()),
        _ => Err(format!("the answer is an integer, not {result}").into()),
    }
}

/// The result of a method that only says that it is done: nil, `true`, "ok", or its argument once more.
///
/// Any other result might mean that it is *not* done, or carry information that would be lost.
pub(super) fn done(result: &Value, argument: &[&Value]) -> Result<Value, DecodeError> {
    let echo = argument.contains(&result)
        || result
            .as_list()
            .is_some_and(|items| !items.is_empty() && items.iter().eq(argument.iter().copied()));
    let ok = result
        .as_text()
        .is_some_and(|text| text.eq_ignore_ascii_case("ok"));
    if echo || ok || matches!(result, Value::Nil | Value::Bool(true)) {
        Ok(Value::Nil)
    } else {
        Err(format!("the method answers nothing but that it is done, not {result}").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_not_taken_for_done() {
        let (k, v) = (Value::from("k"), Value::from(1));
        let pair = Value::list([k.clone(), v.clone()]);
        for result in [Value::Nil, true.into(), "OK".into(), v.clone(), pair] {
            assert_eq!(done(&result, &[&k, &v]), Ok(Value::Nil));
        }
        for result in [false.into(), 2.into(), "fail".into(), Value::list([])] {
            assert!(done(&result, &[&k, &v]).is_err(), "{result}");
        }
    }
}
