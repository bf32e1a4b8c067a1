//! Arguments and results as recorders write them down, for the built-in specifications.

use super::CallView;
use crate::error::Error;
use crate::value::Value;

/// How the complaint about a method begins that the object does not have.
const UNKNOWN_METHOD: &str = "unknown method ";

/// The complaint about a method that the object does not have.
pub(in crate::spec) fn unknown_method(name: &str) -> String {
    format!("{UNKNOWN_METHOD}{name:?}")
}

/// The error for a call or a result that an object refuses for this reason.
pub(crate) fn refused(reason: String) -> Error {
    if reason.starts_with(UNKNOWN_METHOD) {
        Error::unknown_method(reason)
    } else {
        Error::malformed(reason)
    }
}

impl<'a> CallView<'a> {
    /// `op`, if the call has no argument.
    pub(super) fn takes_nothing<T>(self, op: T) -> Result<T, String> {
        match self.argument {
            Value::Nil => Ok(op),
            Value::List(items) if items.is_empty() => Ok(op),
            argument => Err(format!("{} takes no argument, not {argument}", self.method)),
        }
    }

    /// The argument, which must not be nil: that is what an empty container answers.
    pub(super) fn takes_value(self) -> Result<Value, String> {
        match self.argument {
            Value::Nil => Err(format!("{} takes a value", self.method)),
            value => Ok(value.clone()),
        }
    }

    /// The argument, a list of as many items as `names` has words.
    pub(super) fn takes_list<const N: usize>(self, names: &str) -> Result<&'a [Value; N], String> {
        self.argument
            .as_list()
            .and_then(|items| items.try_into().ok())
            .ok_or_else(|| format!("{} takes [{names}], not {}", self.method, self.argument))
    }

    /// The argument, a number from 0 on; `default` if there is none.
    pub(super) fn takes_count(self, default: u64) -> Result<u64, String> {
        match self.argument {
            Value::Nil => Ok(default),
            argument => argument
                .as_int()
                .and_then(|n| u64::try_from(n).ok())
                .ok_or_else(|| format!("{} takes a number, not {argument}", self.method)),
        }
    }

    /// The complaint about a method that the object does not have.
    pub(super) fn unknown<T>(self) -> Result<T, String> {
        Err(unknown_method(self.method))
    }
}

/// The result of a method that answers true or false.
pub(super) fn truth(result: &Value) -> Result<Value, String> {
    match result {
        Value::Bool(_) => Ok(result.clone()),
        _ => Err(format!("the answer is true or false, not {result}")),
    }
}

/// The result of a method that answers true or false, or nil where the recorder does not tell which.
pub(super) fn truth_if_told(result: &Value) -> Result<Value, String> {
    match result {
        Value::Bool(_) | Value::Nil => Ok(result.clone()),
        _ => Err(format!(
            "the answer is true or false, or nil where not told, not {result}"
        )),
    }
}

/// The result of a method that answers a number from 0 on.
pub(super) fn count(result: &Value) -> Result<Value, String> {
    match result {
        Value::Int(0..) => Ok(result.clone()),
        _ => Err(format!("the answer is a number, not {result}")),
    }
}

/// The result of a method that answers an integer.
pub(super) fn integer(result: &Value) -> Result<Value, String> {
    match result {
        Value::Int(_) => Ok(result.clone()),
        _ => Err(format!("the answer is an integer, not {result}")),
    }
}

/// The result of a method that only says that it is done: nil, `true`, "ok", or its argument once more.
///
/// Anything else might say that it is *not* done, or carry information that would be lost.
pub(super) fn done(result: &Value, argument: &[&Value]) -> Result<Value, String> {
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
        Err(format!(
            "the method answers nothing but that it is done, not {result}"
        ))
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
