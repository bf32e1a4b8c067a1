//! Renders results as Java prints them.

use std::fmt::Display;

use crate::spec::{DecodeError, RecordedOps};
use crate::value::Value;

pub(super) const ILLEGAL_ARGUMENT: &str = "java.lang.IllegalArgumentException";
pub(super) const ILLEGAL_STATE: &str = "java.lang.IllegalStateException";
pub(super) const NO_SUCH_ELEMENT: &str = "java.util.NoSuchElementException";
pub(super) const NULL_POINTER: &str = "java.lang.NullPointerException";
pub(super) const NULL: &str = "null";

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
pub(super) fn list(elements: impl Iterator<Item = impl Display>, separator: Separator) -> Value {
    bracketed('[', elements, separator, ']')
}

/// `{0=1, 2=2}`.
pub(super) fn braces(elements: impl Iterator<Item = impl Display>) -> Value {
    bracketed('{', elements, Separator::CommaBlank, '}')
}

/// The elements of a [`list`].
pub(super) fn listed(text: &str, separator: Separator) -> Option<Vec<i64>> {
    let elements = text.strip_prefix('[')?.strip_suffix(']')?;
    if elements.is_empty() {
        return Some(Vec::new());
    }
    let elements = elements.split(separator.text());
    elements.map(|element| element.parse().ok()).collect()
}

fn bracketed(
    open: char,
    elements: impl Iterator<Item = impl Display>,
    separator: Separator,
    close: char,
) -> Value {
    let separator = separator.text();
    let mut text = String::from(open);
    for (i, element) in elements.enumerate() {
        if i > 0 {
            text.push_str(separator);
        }
        text.push_str(&element.to_string());
    }
    text.push(close);
    Value::from(text)
}

/// `key=value`.
pub(super) fn entry((key, value): (&i64, &i64)) -> String {
    format!("{key}={value}")
}

/// How a history writes results that are integers, booleans or null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResultForm {
    /// As the texts that Java prints.
    #[default]
    Texts,
    /// As such.
    Values,
}

impl ResultForm {
    /// The form that the results of `history` have.
    pub(super) fn of(history: RecordedOps<'_, '_>) -> Self {
        let is_value = |result: &Value| matches!(result, Value::Int(_) | Value::Bool(_));
        match history.filter_map(|(_, result)| result).any(is_value) {
            true => ResultForm::Values,
            false => ResultForm::Texts,
        }
    }

    /// An answer, as the history writes it.
    pub(super) fn answer(self, answer: &Value) -> String {
        let is_value =
            |text: &str| text.parse::<i64>().is_ok() || ["true", "false"].contains(&text);
        match (self, answer.as_text()) {
            (ResultForm::Values, Some(NULL)) => Value::Nil.to_string(),
            (ResultForm::Values, Some(text)) if is_value(text) => text.to_owned(),
            _ => answer.to_string(),
        }
    }
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

/// A listing such as `[1, 2]` or `{1=5,2=6}` with its items in ascending order. Other texts stay as they are.
pub(super) fn sorted(listing: Value) -> Value {
    let text = listing.as_text().unwrap_or_default();
    let brackets = [('[', ']'), ('{', '}')];
    let inner = brackets.into_iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        Some((open, inner, close))
    });
    let Some((open, inner, close)) = inner.filter(|(_, inner, _)| inner.contains(',')) else {
        return listing;
    };
    let separator = if inner.contains(", ") { ", " } else { "," };
    let mut items: Vec<&str> = inner.split(separator).collect();
    let number = |item: &str| {
        item.split('=')
            .next()
            .unwrap_or_default()
            .parse::<i64>()
            .ok()
    };
    items.sort_by_key(|item| (number(item), *item));
    format!("{open}{}{close}", items.join(separator)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::CallView;

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
    fn answers_are_written_as_in_the_history() {
        let form = |result: &Value| {
            let call = CallView {
                process: &Value::Nil,
                method: "size",
                argument: &Value::Nil,
                hint: None,
            };
            ResultForm::of(&mut [(call, Some(result))].into_iter())
        };
        let values = form(&3.into());
        let written = [text(2), text(true), NULL.into(), "[1,2]".into()];
        let told = written.clone().map(|answer| values.answer(&answer));
        assert_eq!(told, ["2", "true", "nil", r#""[1,2]""#]);
        let texts = form(&"3".into());
        let told = written.map(|answer| texts.answer(&answer));
        assert_eq!(told, [r#""2""#, r#""true""#, r#""null""#, r#""[1,2]""#]);
    }

    #[test]
    fn listings_are_spaced_as_in_java() {
        assert_eq!(list([1, 0].iter(), Separator::Comma), "[1,0]".into());
        assert_eq!(list([1, 0].iter(), Separator::CommaBlank), "[1, 0]".into());
        assert_eq!(listed("[1,0]", Separator::Comma), Some(vec![1, 0]));
        assert_eq!(listed("[]", Separator::CommaBlank), Some(Vec::new()));
        assert_eq!(listed("[1, 0]", Separator::Comma), None);
        assert_eq!(
            braces([(&0, &1), (&2, &2)].into_iter().map(entry)),
            "{0=1, 2=2}".into()
        );
    }
}
