//! What a history as a whole tells about how it is written. Verdicts do not depend on it.

use super::Element;
use super::render::{NULL, Strings};
use crate::spec::{CallView, RecordedOps};
use crate::value::Value;

/// How a history writes elements and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HistoryForm {
    results: ResultForm,
    strings: Strings,
    texts: Texts,
    keys: Keys,
}

/// How results are written that are integers, booleans or null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum ResultForm {
    /// As the texts that Java prints.
    #[default]
    Texts,
    /// As such.
    Values,
}

/// What the elements that are texts look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Texts {
    /// Like anything.
    #[default]
    Any,
    /// Neither like other elements nor like a part of a listing, so that answers tell them from these.
    Plain,
}

/// The kinds of keys of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Keys {
    #[default]
    Any,
    /// Java can compare any two of them.
    Alike,
}

impl HistoryForm {
    /// The form that this history has.
    pub(super) fn of(history: RecordedOps<'_, '_>) -> Self {
        let mut form = HistoryForm {
            results: ResultForm::Texts,
            strings: Strings::Bare,
            texts: Texts::Plain,
            keys: Keys::Alike,
        };
        let mut known: Option<Element> = None;
        for (call, result) in history {
            if matches!(result, Some(Value::Int(_) | Value::Bool(_))) {
                form.results = ResultForm::Values;
            }
            if result
                .and_then(Value::as_text)
                .is_some_and(|text| text.contains('"'))
            {
                form.strings = Strings::Quoted;
            }
            if !has_plain_texts(call.argument) {
                form.texts = Texts::Any;
            }
            let key = key_argument(call).and_then(|key| Element::of(key).ok());
            let Some(key) = key.filter(|key| !key.is_null()) else {
                continue;
            };
            if !known.get_or_insert(key.clone()).compares_with(&key) {
                form.keys = Keys::Any;
            }
        }
        form
    }

    /// An answer, as the history writes it.
    pub(super) fn answer(self, answer: &Value) -> String {
        let is_value =
            |text: &str| text.parse::<i64>().is_ok() || ["true", "false"].contains(&text);
        match (self.results, answer.as_text()) {
            (ResultForm::Values, Some(NULL)) => Value::Nil.to_string(),
            (ResultForm::Values, Some(text)) if is_value(text) => text.to_owned(),
            _ => answer.to_string(),
        }
    }

    /// How listings are written.
    pub(super) fn strings(self) -> Strings {
        self.strings
    }

    /// Whether no other element looks in answers as `element` does.
    pub(super) fn tells(self, element: &Element) -> bool {
        match element {
            Element::Text(text) => is_plain(text),
            _ => self.has_plain_texts(),
        }
    }

    /// Whether an integer of an answer is an integer, and not a text.
    pub(super) fn has_plain_texts(self) -> bool {
        self.texts == Texts::Plain
    }

    /// Whether Java can compare any two keys.
    pub(super) fn has_comparable_keys(self) -> bool {
        self.keys == Keys::Alike
    }
}

/// The first argument of a call on a map, if it is a key.
pub(super) fn key_argument<'a>(call: CallView<'a>) -> Option<&'a Value> {
    let first = match call.argument {
        Value::List(arguments) => arguments.first()?,
        single => single,
    };
    let has_key = !["contains", "containsValue", "putAll", "replaceAll"].contains(&call.method);
    has_key.then_some(first)
}

/// Whether the text looks like no other element, and like no part of a listing.
fn is_plain(text: &str) -> bool {
    let is_like_another = text.parse::<i64>().is_ok() || ["true", "false", ""].contains(&text);
    !is_like_another && !text.contains(',')
}

fn has_plain_texts(argument: &Value) -> bool {
    match argument {
        Value::Text(text) => is_plain(text),
        Value::List(items) => items.iter().all(has_plain_texts),
        // The keys of objects that look like integers are integers.
        Value::Map(pairs) => pairs.iter().all(|(key, value)| {
            let is_plain_key = key.as_text().is_none_or(|key| !key.contains(','));
            is_plain_key && !key.as_text().is_some_and(str::is_empty) && has_plain_texts(value)
        }),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(calls: &[(&str, Value, Value)]) -> HistoryForm {
        let mut ops = calls.iter().map(|(method, argument, result)| {
            let call = CallView {
                process: &Value::Nil,
                method,
                argument,
                hint: None,
            };
            (call, Some(result))
        });
        HistoryForm::of(&mut ops)
    }

    #[test]
    fn answers_are_written_as_in_the_history() {
        let values = form(&[("size", Value::Nil, 3.into())]);
        let written: [Value; 4] = ["2".into(), "true".into(), NULL.into(), "[1,2]".into()];
        let told = written.clone().map(|answer| values.answer(&answer));
        assert_eq!(told, ["2", "true", "nil", r#""[1,2]""#]);
        let texts = form(&[("size", Value::Nil, "3".into())]);
        let told = written.map(|answer| texts.answer(&answer));
        assert_eq!(told, [r#""2""#, r#""true""#, r#""null""#, r#""[1,2]""#]);
    }

    #[test]
    fn texts_that_look_like_other_elements_are_noticed() {
        let one = Element::Int(1);
        let is_told =
            |x: &str| form(&[("add", Value::list([x.into()]), "true".into())]).tells(&one);
        assert!(is_told("a") && is_told("1 2"));
        for text in ["1", "-7", "true", "", "1,2"] {
            assert!(!is_told(text), "{text:?}");
        }
        assert!(!HistoryForm::default().tells(&one));
    }

    #[test]
    fn keys_of_several_kinds_are_noticed() {
        let get = |key: Value| ("get", Value::list([key]), "null".into());
        assert!(form(&[get("a".into()), get("b".into()), get(Value::Nil)]).has_comparable_keys());
        assert!(!form(&[get("a".into()), get(1.into())]).has_comparable_keys());
        let value = ("containsValue", 1.into(), "false".into());
        assert!(form(&[get("a".into()), value]).has_comparable_keys());
    }
}
