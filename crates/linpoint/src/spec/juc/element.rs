//! One element, key or value.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::render::{CANNOT_BE_TOLD, Strings};
use crate::spec::DecodeError;
use crate::value::Value;

/// An element of a collection, a key or a value of a map, or null where one is expected.
///
/// All integers count as objects of one class, `Integer` or `Long`. The order is that of `compareTo` for two that Java can compare,
/// and any for others.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Element {
    /// None of these classes has it as an element, but calls have it as an argument.
    Null,
    /// A `Boolean`.
    Bool(bool),
    /// An `Integer` or a `Long`.
    Int(i64),
    /// A `String`.
    Text(Arc<String>),
}

impl Element {
    /// The element that an argument of a call is.
    pub(super) fn of(recorded: &Value) -> Result<Self, DecodeError> {
        match recorded {
            Value::Nil => Ok(Element::Null),
            Value::Bool(truth) => Ok(Element::Bool(*truth)),
            Value::Int(integer) => Ok(Element::Int(*integer)),
            Value::Text(text) if CANNOT_BE_TOLD.contains(&text.as_str()) => Err(format!(
                "the text {recorded} cannot be an element: in answers it looks like null or an exception"
            )
            .into()),
            Value::Text(text) => Ok(Element::Text(text.clone())),
            Value::Number(_) | Value::List(_) | Value::Map(_) => Err(format!(
                "an element is null, true, false, an integer of 64 bits or a text, not {recorded}"
            )
            .into()),
        }
    }

    /// The argument that stands for it.
    pub(super) fn value(&self) -> Value {
        match self {
            Element::Null => Value::Nil,
            Element::Bool(truth) => Value::Bool(*truth),
            Element::Int(integer) => Value::Int(*integer),
            Element::Text(text) => Value::Text(text.clone()),
        }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Element::Null
    }

    /// Whether `compareTo` does not throw.
    pub(super) fn compares_with(&self, other: &Element) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// What the functions of the Java recorder take it for: the lowest 32 bits of an integer, and the length of any other text.
    pub(super) fn number(&self) -> i32 {
        let length = |text: &str| text.encode_utf16().count() as i32;
        match self {
            Element::Null => 0,
            Element::Bool(truth) => length(&truth.to_string()),
            Element::Int(integer) => *integer as i32,
            Element::Text(text) => length(text),
        }
    }

    /// Adds what a listing shows of it to `listing`.
    pub(super) fn show(&self, strings: Strings, listing: &mut String) {
        use fmt::Write;
        // Writing to a string does not fail.
        let _ = match (self, strings) {
            (Element::Text(text), Strings::Quoted) => write!(listing, "{}", Quoted(text)),
            _ => write!(listing, "{self}"),
        };
    }
}

/// A string with quotes, as the Java recorder writes it: what is not ASCII is escaped.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for unit in self.0.encode_utf16() {
            match u8::try_from(unit) {
                Ok(byte @ (b'"' | b'\\')) => write!(f, "\\{}", char::from(byte))?,
                Ok(byte @ b' '..=b'~') => write!(f, "{}", char::from(byte))?,
                _ => write!(f, "\\u{unit:04x}")?,
            }
        }
        f.write_str("\"")
    }
}

/// As `toString` has it.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Null => f.write_str("null"),
            Element::Bool(truth) => truth.fmt(f),
            Element::Int(integer) => integer.fmt(f),
            Element::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value(), f)
    }
}

impl From<i64> for Element {
    fn from(integer: i64) -> Self {
        Element::Int(integer)
    }
}

impl Ord for Element {
    fn cmp(&self, other: &Self) -> Ordering {
        let kind = |element: &Element| match element {
            Element::Null => 0,
            Element::Bool(_) => 1,
            Element::Int(_) => 2,
            Element::Text(_) => 3,
        };
        match (self, other) {
            (Element::Bool(a), Element::Bool(b)) => a.cmp(b),
            (Element::Int(a), Element::Int(b)) => a.cmp(b),
            (Element::Text(a), Element::Text(b)) => a.encode_utf16().cmp(b.encode_utf16()),
            _ => kind(self).cmp(&kind(other)),
        }
    }
}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(recorded: impl Into<Value>) -> Element {
        Element::of(&recorded.into()).expect("an element")
    }

    #[test]
    fn elements_are_ordered_as_compare_to_does() {
        assert!(element(-1) < element(0) && element(i64::MIN) < element(i64::MAX));
        assert!(element(false) < element(true));
        assert!(element("10") < element("9") && element("") < element("a"));
        assert!(element("B") < element("a"));
        // The first of two code units is smaller, the code point is larger.
        assert!(element("\u{1f600}") < element("\u{ff5e}"));
        assert!(element("a").compares_with(&element("b")));
        assert!(!element("1").compares_with(&element(1)));
        assert_ne!(element("1"), element(1));
    }

    #[test]
    fn functions_take_elements_for_numbers() {
        let numbers = [
            (element(1 << 32 | 5), 5),
            (element(true), 4),
            (element(false), 5),
            (Element::Null, 0),
            (element("a\u{1f600}"), 3),
        ];
        for (element, number) in numbers {
            assert_eq!(element.number(), number, "{element:?}");
        }
    }

    #[test]
    fn strings_are_quoted_as_the_recorder_does() {
        let mut shown = String::new();
        element("a\"\\b\né\u{1f600}~ ").show(Strings::Quoted, &mut shown);
        assert_eq!(shown, r#""a\"\\b\u000a\u00e9\ud83d\ude00~ ""#);
        let mut shown = String::new();
        element("a\"b").show(Strings::Bare, &mut shown);
        assert_eq!(shown, "a\"b");
        let mut shown = String::new();
        element(7).show(Strings::Quoted, &mut shown);
        assert_eq!(shown, "7");
    }

    #[test]
    fn what_cannot_be_an_element_is_refused() {
        let reason = |recorded: Value| Element::of(&recorded).unwrap_err().to_string();
        assert_eq!(
            reason(Value::number("1.5")),
            "an element is null, true, false, an integer of 64 bits or a text, not 1.5"
        );
        assert_eq!(
            reason("null".into()),
            "the text \"null\" cannot be an element: in answers it looks like null or an exception"
        );
        assert_eq!(
            reason(Value::list([])),
            "an element is null, true, false, an integer of 64 bits or a text, not []"
        );
    }
}
