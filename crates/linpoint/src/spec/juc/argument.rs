//! Reads the arguments of Java methods.

use super::{Element, Function};
use crate::spec::DecodeError;
use crate::value::Value;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Single(Element),
    Collection(Vec<Element>),
    Map(Vec<(Element, Element)>, PairOrder),
    Function(Function),
}

/// Whether the order of the pairs is that in which Java iterates over the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairOrder {
    /// They are written as a list.
    Known,
    /// They are written as an object, whose order does not count.
    Unknown,
}

/// Returns the arguments of a call. A single one that is neither null nor a list may be recorded without a list.
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
            let pairs = items.iter().map(pair).collect::<Option<Vec<_>>>();
            if let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) {
                let pairs = pairs
                    .into_iter()
                    .map(|(k, v)| Ok((Element::of(k)?, Element::of(v)?)));
                let pairs = pairs.collect::<Result<_, DecodeError>>()?;
                return Ok(Argument::Map(pairs, PairOrder::Known));
            }
            let items = items.iter().map(Element::of).collect::<Result<_, _>>()?;
            Ok(Argument::Collection(items))
        }
        Value::Map(pairs) => {
            if let Some(function) = Function::of(pairs) {
                return function.map(Argument::Function);
            }
            let pairs = pairs
                .iter()
                .map(|(k, v)| Ok((object_key(k)?, Element::of(v)?)));
            let pairs = pairs.collect::<Result<_, DecodeError>>()?;
            Ok(Argument::Map(pairs, PairOrder::Unknown))
        }
        single => Element::of(single).map(Argument::Single),
    }
}

/// The items of a list of two.
pub(super) fn pair(recorded: &Value) -> Option<(&Value, &Value)> {
    match recorded.as_list()? {
        [key, value] => Some((key, value)),
        _ => None,
    }
}

/// The integer that a key of a JSON object looks like: such keys are text.
pub(super) fn looks_like_integer(key: &Value) -> Option<i64> {
    key.as_text()?.parse().ok()
}

fn object_key(recorded: &Value) -> Result<Element, DecodeError> {
    match looks_like_integer(recorded) {
        Some(integer) => Ok(Element::Int(integer)),
        None => Element::of(recorded),
    }
}
