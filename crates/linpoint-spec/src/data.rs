//! Values of a specification file, which tells lists from tuples.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use linpoint::Value;

/// A state, an argument or an answer of a specification file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Data {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// Another number: its digits.
    Number(Arc<str>),
    /// A text.
    Text(Arc<str>),
    /// A list.
    List(Arc<[Data]>),
    /// A tuple.
    Tuple(Arc<[Data]>),
    /// A dictionary. Invariant: sorted by key, so that equal dictionaries are equal.
    Dict(Arc<[(Data, Data)]>),
}

impl Data {
    /// Whether it has the same form as a value: no tuples.
    fn is_plain(&self) -> bool {
        match self {
            Data::Tuple(_) => false,
            Data::List(items) => items.iter().all(Data::is_plain),
            Data::Dict(pairs) => pairs
                .iter()
                .all(|(key, value)| key.is_plain() && value.is_plain()),
            _ => true,
        }
    }

    /// A value that no other data has: the same, or its text if it has tuples.
    pub(crate) fn distinct_value(&self) -> Value {
        match self.is_plain() {
            true => self.to_value(),
            false => Value::from(self.to_string()),
        }
    }

    /// The value of an answer. Tuples are lists, as histories have none.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Data::None => Value::Nil,
            Data::Bool(truth) => Value::Bool(*truth),
            Data::Int(number) => Value::Int(*number),
            Data::Number(digits) => Value::number(digits.as_ref()),
            Data::Text(text) => Value::from(text.as_ref()),
            Data::List(items) | Data::Tuple(items) => Value::list(items.iter().map(Data::to_value)),
            Data::Dict(pairs) => Value::map(
                pairs
                    .iter()
                    .map(|(key, value)| (key.to_value(), value.to_value())),
            ),
        }
    }
}

/// The digits of a number that is no integer of 64 bits, in the one way in which [`float_digits`] writes them.
pub(crate) fn normal_digits(digits: &str) -> Cow<'_, str> {
    let is_integer = digits
        .trim_start_matches('-')
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(float) if !is_integer => float_digits(float).into(),
        _ => digits.into(),
    }
}

/// The digits of a floating-point number. One without a fraction is not an integer: `1.0` and `1` differ, as in a history.
pub(crate) fn float_digits(float: f64) -> String {
    format!("{float:?}")
}

/// As the specification file writes it.
impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Data::None => f.write_str("None"),
            Data::Bool(true) => f.write_str("True"),
            Data::Bool(false) => f.write_str("False"),
            Data::Int(number) => write!(f, "{number}"),
            Data::Number(digits) => f.write_str(digits),
            Data::Text(text) => write!(f, "{text:?}"),
            Data::List(items) => list(f, "[", items, "]"),
            Data::Tuple(items) if items.len() == 1 => list(f, "(", items, ",)"),
            Data::Tuple(items) => list(f, "(", items, ")"),
            Data::Dict(pairs) => {
                f.write_str("{")?;
                for (i, (key, value)) in pairs.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{key}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, open: &str, items: &[Data], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (i, item) in items.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    f.write_str(close)
}
