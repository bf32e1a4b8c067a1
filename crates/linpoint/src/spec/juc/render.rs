//! Renders results as Java prints them.

use std::fmt::Display;

use super::Element;
use crate::spec::DecodeError;
use crate::value::Value;

pub(super) const CLASS_CAST: &str = "java.lang.ClassCastException";
pub(super) const ILLEGAL_ARGUMENT: &str = "java.lang.IllegalArgumentException";
pub(super) const ILLEGAL_STATE: &str = "java.lang.IllegalStateException";
pub(super) const INTERRUPTED: &str = "java.lang.InterruptedException";
pub(super) const NO_SUCH_ELEMENT: &str = "java.util.NoSuchElementException";
pub(super) const NULL_POINTER: &str = "java.lang.NullPointerException";
pub(super) const NULL: &str = "null";

/// The texts that cannot be told from other answers if they are elements.
pub(super) const CANNOT_BE_TOLD: [&str; 7] = [
    CLASS_CAST,
    ILLEGAL_ARGUMENT,
    ILLEGAL_STATE,
    INTERRUPTED,
    NO_SUCH_ELEMENT,
    NULL_POINTER,
    NULL,
];

/// How strings are written in listings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Strings {
    /// As `toString` does.
    #[default]
    Bare,
    /// As the Java recorder does.
    Quoted,
}

impl Strings {
    pub(super) const ALL: [Strings; 2] = [Strings::Bare, Strings::Quoted];
}

/// What stands between the elements of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Separator {
    /// A comma: arrays, iterators, enumerations.
    Comma,
    /// A comma and a blank: what `toString` makes of collections and views.
    CommaBlank,
}

impl Separator {
    fn text(self) -> &'static str {
        match self {
            Separator::Comma => ",",
            Separator::CommaBlank => ", ",
        }
    }
}

/// The direction of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// In the order of the collection.
    Forward,
    /// From the end.
    Backward,
}

pub(super) fn text(result: impl Display) -> Value {
    Value::from(result.to_string())
}

pub(super) fn text_or(result: Option<impl Display>, otherwise: &str) -> Value {
    result.map_or_else(|| Value::from(otherwise), text)
}

/// `[1,0,2]` or `[1, 0, 2]`.
pub(super) fn list<'a>(
    elements: impl Iterator<Item = &'a Element>,
    separator: Separator,
    strings: Strings,
) -> Value {
    let show = |element: &Element, listing: &mut String| element.show(strings, listing);
    bracketed(['[', ']'], elements, separator, show)
}

/// `[0=1, 2=2]`.
pub(super) fn entries<'a>(
    pairs: impl Iterator<Item = (&'a Element, &'a Element)>,
    strings: Strings,
) -> Value {
    let show = |pair, listing: &mut String| listing.push_str(&entry(pair, strings));
    bracketed(['[', ']'], pairs, Separator::CommaBlank, show)
}

/// `{0=1, 2=2}`.
pub(super) fn braces<'a>(
    pairs: impl Iterator<Item = (&'a Element, &'a Element)>,
    strings: Strings,
) -> Value {
    let show = |pair, listing: &mut String| listing.push_str(&entry(pair, strings));
    bracketed(['{', '}'], pairs, Separator::CommaBlank, show)
}

/// The elements of a [`list`] of integers.
pub(super) fn listed(text: &str, separator: Separator) -> Option<Vec<Element>> {
    let elements = text.strip_prefix('[')?.strip_suffix(']')?;
    if elements.is_empty() {
        return Some(Vec::new());
    }
    let elements = elements.split(separator.text());
    let integers = elements.map(|element| element.parse().ok().map(Element::Int));
    integers.collect()
}

fn bracketed<T>(
    [open, close]: [char; 2],
    elements: impl Iterator<Item = T>,
    separator: Separator,
    show: impl Fn(T, &mut String),
) -> Value {
    let separator = separator.text();
    let mut text = String::from(open);
    for (i, element) in elements.enumerate() {
        if i > 0 {
            text.push_str(separator);
        }
        show(element, &mut text);
    }
    text.push(close);
    Value::from(text)
}

/// `key=value`.
pub(super) fn entry((key, value): (&Element, &Element), strings: Strings) -> String {
    let mut text = String::new();
    key.show(strings, &mut text);
    text.push('=');
    value.show(strings, &mut text);
    text
}

/// Returns a recorded result of a method that is not void, in the form of these specifications.
pub(super) fn recorded(result: &Value) -> Result<Value, DecodeError> {
    match result {
        Value::Text(_) => Ok(result.clone()),
        // Some formats record null, booleans and integers instead of the text.
        Value::Nil => Ok(Value::from(NULL)),
        Value::Bool(_) | Value::Int(_) => Ok(text(result)),
        _ => Err(format!("a result is the text that Java prints, not {result}").into()),
    }
}

/// Returns a recorded result of a void method: nil, or the name of the exception that it threw.
pub(super) fn recorded_void(result: &Value) -> Result<Value, DecodeError> {
    match result {
        Value::Nil => Ok(Value::Nil),
        Value::Text(text) if text.starts_with("java.") => Ok(result.clone()),
        _ => Err(format!("a void method has no result {result}").into()),
    }
}

/// A listing such as `[1, 2]` or `{1=5, 2=6}` with what stands between its separators in ascending order. Other texts stay as
/// they are.
pub(super) fn sorted(listing: Value, separator: Separator) -> Value {
    let text = listing.as_text().unwrap_or_default();
    let brackets = [('[', ']'), ('{', '}')];
    let inner = brackets.into_iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        Some((open, inner, close))
    });
    let separator = separator.text();
    let Some((open, inner, close)) = inner.filter(|(_, inner, _)| inner.contains(separator)) else {
        return listing;
    };
    let mut items: Vec<&str> = inner.split(separator).collect();
    let number = |item: &str| {
        let first = item.split('=').next().unwrap_or_default();
        first.parse::<i64>().ok()
    };
    items.sort_by_key(|item| (number(item), *item));
    format!("{open}{}{close}", items.join(separator)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_told_from_nothing() {
        assert_eq!(recorded(&Value::Nil), Ok("null".into()));
        assert_eq!(recorded(&Value::Int(3)), Ok("3".into()));
        assert_eq!(recorded(&Value::Bool(true)), Ok("true".into()));
        assert!(recorded(&Value::list([])).is_err());
        assert_eq!(recorded_void(&Value::Nil), Ok(Value::Nil));
        assert_eq!(
            recorded_void(&ILLEGAL_STATE.into()),
            Ok(ILLEGAL_STATE.into())
        );
        assert!(recorded_void(&"true".into()).is_err());
    }

    #[test]
    fn listings_are_spaced_as_in_java() {
        let integers = [1, 0].map(Element::Int);
        let list = |separator| list(integers.iter(), separator, Strings::Bare);
        assert_eq!(list(Separator::Comma), "[1,0]".into());
        assert_eq!(list(Separator::CommaBlank), "[1, 0]".into());
        assert_eq!(listed("[1,0]", Separator::Comma), Some(integers.to_vec()));
        assert_eq!(listed("[]", Separator::CommaBlank), Some(Vec::new()));
        assert_eq!(listed("[1, 0]", Separator::Comma), None);
        assert_eq!(listed("[a]", Separator::Comma), None);
    }

    #[test]
    fn strings_of_entries_may_be_quoted() {
        let element = |recorded: Value| Element::of(&recorded).expect("an element");
        let (a, one, no) = (element("a".into()), Element::Int(1), element(false.into()));
        let pairs = [(&a, &one), (&one, &no)];
        let entries = |strings| entries(pairs.into_iter(), strings);
        assert_eq!(entries(Strings::Bare), "[a=1, 1=false]".into());
        assert_eq!(entries(Strings::Quoted), "[\"a\"=1, 1=false]".into());
        let braces = |strings| braces(pairs.into_iter(), strings);
        assert_eq!(braces(Strings::Bare), "{a=1, 1=false}".into());
        assert_eq!(braces(Strings::Quoted), "{\"a\"=1, 1=false}".into());
    }
}
