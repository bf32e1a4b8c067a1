//! Reads JSON as recorded values: exact numbers, bounded nesting, and messages without serde's vocabulary.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{MAX_DEPTH, number};
use crate::value::{Value, ValueRef};

/// The value that the well-formed JSON `raw` stands for. Numbers that are not 64-bit integers keep all their digits, so no two
/// are confused.
pub(super) fn value(raw: &str) -> Result<Value, String> {
    value_at(raw, MAX_DEPTH)
}

/// Like [`value`], but leaves text where it stands if nothing in it is escaped.
pub(super) fn value_ref(raw: &str) -> Result<ValueRef<'_>, String> {
    if raw.starts_with('"')
        && let Cow::Borrowed(text) = string(raw)?
    {
        return Ok(ValueRef::Text(text));
    }
    value(raw).map(ValueRef::Value)
}

/// The value of a JSON text, as in a history: `1000`, `1e3` and `1000.0` are one number.
///
/// The error says what is wrong with the text.
///
/// ```
/// use linpoint::Value;
/// use linpoint::format::value_of_json;
/// assert_eq!(value_of_json("[1e3, null]"), Ok(Value::list([1000.into(), Value::Nil])));
/// assert_eq!(value_of_json("[1"), Err("not JSON: it is cut off after column 2".to_owned()));
/// ```
pub fn value_of_json(text: &str) -> Result<Value, String> {
    let raw: &RawValue = from_str(text)?;
    value(raw.get())
}

fn value_at(text: &str, depth: usize) -> Result<Value, String> {
    match text.as_bytes().first() {
        Some(b'n') => Ok(Value::Nil),
        Some(b't') => Ok(Value::Bool(true)),
        Some(b'f') => Ok(Value::Bool(false)),
        Some(b'"') => string(text).map(|text| Value::from(text.as_ref())),
        Some(b'[' | b'{') if depth == 0 => Err(format!(
            "a value is nested more than {MAX_DEPTH} levels deep"
        )),
        Some(b'[') => {
            let items: Vec<&RawValue> = from_str(text)?;
            let items = items
                .into_iter()
                .map(|item| value_at(item.get(), depth - 1));
            Ok(Value::list(items.collect::<Result<Vec<_>, _>>()?))
        }
        Some(b'{') => {
            let Pairs(pairs) = from_str(text)?;
            let mut converted = Vec::with_capacity(pairs.len());
            for (key, item) in pairs {
                converted.push((Value::from(key.as_ref()), value_at(item.get(), depth - 1)?));
            }
            converted.sort();
            if let Some(twice) = converted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(format!("key {} is given twice", twice[0].0));
            }
            Ok(Value::map(converted))
        }
        _ => Ok(number::exact(text)),
    }
}

/// The integer, if the well-formed JSON `text` is one that fits 64 bits: `1000`, or `1e3`.
pub(super) fn integer(text: &str) -> Option<i64> {
    match text.parse() {
        Ok(integer) => Some(integer),
        Err(_) if text.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) => {
            number::exact(text).as_int()
        }
        Err(_) => None,
    }
}

/// The text of a JSON string with its quotes; borrowed unless something in it is escaped.
pub(super) fn string(quoted: &str) -> Result<Cow<'_, str>, String> {
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or_else(|| format!("{quoted} is not a string"))?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(inner));
    }
    from_str(quoted).map(Cow::Owned)
}

/// The pairs of an object, in their order.
pub(super) struct Pairs<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    pairs.push((key, value));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}

/// A key of an object; borrowed unless something in it is escaped.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// `serde_json::from_str` with the error in our words.
pub(super) fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| reason(&error))
}

/// The reason of an error, without the line: serde counts lines within the document, readers know those of the file.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let words = text.split(" at line ").next().unwrap_or(&text);
    match error.classify() {
        serde_json::error::Category::Data => in_our_words(words),
        serde_json::error::Category::Eof => {
            format!("not JSON: it is cut off after column {}", error.column())
        }
        _ => format!("not JSON: {words} at column {}", error.column()),
    }
}

/// Replaces serde's words (fields, variants, sequences) by those of JSON.
fn in_our_words(words: &str) -> String {
    if let Some(name) = words.strip_prefix("missing field ") {
        return format!("{} is missing", name.replace('`', "\""));
    }
    if let Some(name) = words.strip_prefix("unknown variant ") {
        return format!("unknown {}", name.replace('`', "\""));
    }
    let kinds = words
        .strip_prefix("invalid type: ")
        .and_then(|rest| rest.split_once(", expected "));
    match kinds {
        Some((found, expected)) => {
            let found = found
                .replace("sequence", "a list")
                .replace("map", "an object")
                .replace("string", "the text")
                .replace("boolean ", "")
                .replace('`', "");
            let expected = expected
                .replace("a sequence", "a list")
                .replace("a string", "text")
                .replace("struct ", "");
            format!("expected {expected}, not {found}")
        }
        None => words.to_owned(),
    }
}

/// The JSON documents of a text with the lines on which they begin: one on each line, or, where the first line is not a
/// whole document, one after the other over several lines.
pub(super) fn documents(text: &str) -> Documents<'_> {
    if spans_lines(text) {
        Documents::Stream {
            text,
            stream: serde_json::Deserializer::from_str(text).into_iter(),
            counted: (0, 1),
        }
    } else {
        Documents::Lines(text.lines().zip(1..))
    }
}

/// Whether the first document does not end on its line.
pub(super) fn spans_lines(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(is_cut_off)
}

/// Whether `text`, a line, ends within a document.
pub(super) fn is_cut_off(text: &str) -> bool {
    // A number that ends too soon is an error at the last byte, not at the end of the input.
    let within_number = text.ends_with(['-', '+', '.', 'e', 'E']);
    serde_json::from_str::<&RawValue>(text)
        .is_err_and(|error| error.is_eof() || within_number && error.column() >= text.len())
}

/// An iterator over documents; see [`documents`].
pub(super) enum Documents<'a> {
    Lines(std::iter::Zip<std::str::Lines<'a>, std::ops::RangeFrom<u64>>),
    Stream {
        text: &'a str,
        stream: serde_json::StreamDeserializer<'a, serde_json::de::StrRead<'a>, &'a RawValue>,
        /// How far lines were counted, and the line there.
        counted: (usize, u64),
    },
}

impl<'a> Iterator for Documents<'a> {
    /// The line and the document. Text that is no document comes as an error and ends the stream.
    type Item = (u64, Result<&'a str, String>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Documents::Lines(lines) => lines
                .find(|(line, _)| !line.trim().is_empty())
                .map(|(text, line)| (line, Ok(text))),
            Documents::Stream {
                text,
                stream,
                counted,
            } => {
                let document = stream.next()?;
                let here = match &document {
                    Ok(raw) => raw.get().as_ptr() as usize - text.as_ptr() as usize,
                    Err(_) => stream.byte_offset(),
                };
                let between = text.as_bytes().get(counted.0..here).unwrap_or_default();
                *counted = (
                    here,
                    counted.1 + memchr::memchr_iter(b'\n', between).count() as u64,
                );
                Some((
                    counted.1,
                    document.map(RawValue::get).map_err(|e| reason(&e)),
                ))
            }
        }
    }
}

/// The items of a text that is one JSON array, with the lines on which they begin; or the line and the reason why it is none.
pub(super) fn items(text: &str) -> Result<Vec<(u64, &str)>, (u64, String)> {
    let items: Vec<&RawValue> = serde_json::from_str(text)
        .map_err(|error: serde_json::Error| (error.line() as u64, reason(&error)))?;
    let (mut counted, mut line) = (0, 1);
    let with_line = items.into_iter().map(|item| {
        let here = item.get().as_ptr() as usize - text.as_ptr() as usize;
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..here]).count() as u64;
        counted = here;
        (line, item.get())
    });
    Ok(with_line.collect())
}

/// Calls `each` with the line and the text of every document of `text`, or of every item if it is one JSON array, until it answers an
/// error.
pub(super) fn each<'a, E>(
    text: &'a str,
    mut each: impl FnMut(u64, Result<&'a str, String>) -> Result<(), E>,
) -> Result<(), E> {
    if text.trim_start().starts_with('[') {
        return match items(text) {
            Ok(items) => items
                .into_iter()
                .try_for_each(|(line, item)| each(line, Ok(item))),
            Err((line, reason)) => each(line, Err(reason)),
        };
    }
    documents(text).try_for_each(|(line, document)| {
        // A line is looked at as a whole, so that nothing may follow its document.
        let document = document.and_then(from_str::<&RawValue>);
        each(line, document.map(RawValue::get))
    })
}
