//! Reads the arguments of Java methods.

use super::Function;
use crate::spec::DecodeError;
use crate::value::Value;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Integer(i64),
    Collection(Vec<i64>),
    Map(Vec<(i64, i64)>),
    Function(Function),
}

/// Returns the arguments of a call. A single integer may be recorded without a list.
pub(super) fn arguments(recorded: &Value) -> Result<Vec<Argument>, DecodeError> {
    match recorded {
        Value::Nil => Ok(Vec::new()),
        Value::List(items) => items.iter().map(argument).collect(),
        single => Ok(vec![argument(single)?]),
    }
}

fn argument(recorded: &Value) -> Result<Argument, DecodeError> {
    match recorded {
        Value::List(items) => {
            let items = items.iter().map(integer).collect::<Result<_, _>>()?;
            Ok(Argument::Collection(items))
        }
        Value::Map(pairs) => {
            if let Some(function) = Function::of(pairs) {
                return function.map(Argument::Function);
            }
            let pairs = pairs.iter().map(|(k, v)| Ok((integer(k)?, integer(v)?)));
            Ok(Argument::Map(pairs.collect::<Result<_, DecodeError>>()?))
        }
        single => integer(single).map(Argument::Integer),
    }
}

fn integer(recorded: &Value) -> Result<i64, DecodeError> {
    match recorded {
        Value::Int(i) => Some(*i),
        // The keys of a JSON object are text.
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
    .ok_or_else(|| format!("an element is an integer, not {recorded}").into())
}
