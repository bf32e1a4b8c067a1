//! Translates EDN forms into recorded values.

use std::borrow::Cow;

use clojure_reader::edn::{Edn, read_string};
use clojure_reader::error::Code;

use super::super::MAX_DEPTH;
use crate::value::Value;

/// Parses one form and hands it to `take`.
pub(in crate::format) fn with_form<T>(
    text: &str,
    take: impl FnOnce(&Edn<'_>) -> Result<T, String>,
) -> Result<T, String> {
    // The parser knows fewer escapes than Clojure prints, and takes `##NaN` for a tag of the value after it.
    let parsed = if text.contains("##") {
        Err(Code::InvalidEscape)
    } else {
        read_string(text).map_err(|error| error.code)
    };
    match parsed {
        Ok(edn) => take(&edn),
        Err(code @ (Code::InvalidEscape | Code::InvalidChar)) => {
            let plain = without_escapes(text).ok_or_else(|| reason(&code))?;
            let edn = read_string(&plain).map_err(|error| reason(&error.code))?;
            take(&edn)
        }
        Err(code) => Err(reason(&code)),
    }
}

fn reason(code: &Code) -> String {
    let words = match code {
        Code::HashMapDuplicateKey => "a map has the same key twice",
        Code::SetDuplicateKey => "a set has the same element twice",
        Code::InvalidChar => "a character is not known",
        Code::InvalidEscape => "an escape in a string is not known",
        Code::InvalidKeyword => "a keyword has no name",
        Code::InvalidNumber | Code::InvalidRadix(_) => "a number is malformed",
        Code::InvalidTag => "a tag is malformed",
        Code::UnexpectedEOF => "a map has a key without a value, or something does not end",
        Code::UnmatchedDelimiter(c) => return format!("not EDN: {c:?} closes nothing"),
        other => return format!("not EDN: {other:?}"),
    };
    format!("not EDN: {words}")
}

/// The recorded value of a form. Keywords, symbols and characters become text, sets become sorted lists, tags are
/// dropped, and numbers that are not 64-bit integers keep their digits.
pub(in crate::format) fn value(edn: &Edn<'_>) -> Result<Value, String> {
    value_at(edn, MAX_DEPTH)
}

fn value_at(edn: &Edn<'_>, depth: usize) -> Result<Value, String> {
    // Tags nest too, and the splitter does not count them.
    let inner = depth
        .checked_sub(1)
        .ok_or_else(|| format!("a value is nested more than {MAX_DEPTH} levels deep"))?;
    let list = |items: &mut dyn Iterator<Item = &Edn<'_>>| {
        items
            .map(|item| value_at(item, inner))
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(match edn {
        Edn::Nil => Value::Nil,
        Edn::Bool(b) => Value::Bool(*b),
        Edn::Int(i) => Value::Int(*i),
        Edn::Key(text) | Edn::Symbol(text) | Edn::Str(text) => Value::from(text.as_ref()),
        Edn::Char(c) => Value::from(c.to_string()),
        Edn::Vector(items) | Edn::List(items) => Value::list(list(&mut items.iter())?),
        Edn::Set(items) => {
            let mut items = list(&mut items.iter())?;
            items.sort();
            Value::list(items)
        }
        Edn::Map(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(key, item)| Ok((value_at(key, inner)?, value_at(item, inner)?)));
            Value::map(pairs.collect::<Result<Vec<_>, String>>()?)
        }
        Edn::Tagged(_, item) => value_at(item, inner)?,
        Edn::BigInt(i) => match i64::try_from(i) {
            Ok(i) => Value::Int(i),
            Err(_) => Value::number(i.to_string()),
        },
        Edn::Double(d) => Value::number(format!("{:?}", d.0)),
        Edn::BigDec(d) => Value::number(d.to_string()),
        Edn::Rational((n, d)) => Value::number(format!("{n}/{d}")),
        other => return Err(format!("a value of this kind is not known: {other:?}")),
    })
}

/// The same text with `\u00e9`, `\b` and `\f` in strings and characters replaced by what they stand for, and with
/// `##NaN` and its like as symbols; `None` where an escape stands for nothing.
fn without_escapes(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut context = Context::Character;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            let (decoded, length) = replacement(&rest[1..], context)?;
            plain.push_str(&decoded);
            rest = &rest[1 + length..];
            continue;
        }
        if c == '"' {
            context = match context {
                Context::Character => Context::String,
                Context::String => Context::Character,
            };
        }
        if c == '#' && context == Context::Character && rest.starts_with("##") {
            rest = &rest[2..];
            continue;
        }
        plain.push(c);
        rest = &rest[c.len_utf8()..];
    }
    Some(plain)
}

/// Where a backslash stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// In a string, where it begins an escape.
    String,
    /// Outside strings, where it begins a character literal.
    Character,
}

/// Returns the text that replaces the escape or character literal whose text after the backslash begins `after`, and the
/// length of the replaced text without the backslash.
fn replacement(after: &str, context: Context) -> Option<(Cow<'_, str>, usize)> {
    let in_string = context == Context::String;
    let first = after.chars().next()?;
    let word = after
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(after.len());
    let is_code =
        after.len() > 4 && first == 'u' && after.as_bytes()[1..5].iter().all(u8::is_ascii_hexdigit);
    let (c, length) = match first {
        'u' if is_code && (in_string || word == 5) => code_point(after)?,
        'b' if in_string => ('\u{8}', 1),
        'f' if in_string => ('\u{c}', 1),
        _ if !in_string && &after[..word] == "backspace" => ('\u{8}', word),
        _ if !in_string && &after[..word] == "formfeed" => ('\u{c}', word),
        // The parser knows all other escapes.
        _ => {
            let length = first.len_utf8();
            return Some((format!("\\{first}").into(), length));
        }
    };
    let quoted = match c {
        '"' | '\\' => format!("\\{c}"),
        c if in_string => c.to_string(),
        // The character itself would end the literal early; a string of it has the same value.
        c => format!("\"{c}\""),
    };
    Some((quoted.into(), length))
}

/// The character of `u00e9`, or of two of these that make a surrogate pair, and the length of its text.
fn code_point(text: &str) -> Option<(char, usize)> {
    let unit = |text: &str| u32::from_str_radix(text.strip_prefix('u')?.get(..4)?, 16).ok();
    let high = unit(text)?;
    if !(0xd800..0xdc00).contains(&high) {
        return Some((char::from_u32(high)?, 5));
    }
    let low = unit(text[5..].strip_prefix('\\')?)?;
    let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?, 11))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        with_form(text, value)
    }

    #[test]
    fn forms_become_values() {
        let cases = [
            (
                "[1 nil true :a b \\c \"d\"]",
                r#"[1, nil, true, "a", "b", "c", "d"]"#,
            ),
            ("#{3 1 2}", "[1, 2, 3]"),
            ("{:b 1, :a (2)}", r#"{"a": [2], "b": 1}"#),
            ("#inst \"2020-01-01\"", r#""2020-01-01""#),
            (
                "[1N 12345678901234567890123N 1.5 1.0 2/3 0x10]",
                "[1, 12345678901234567890123, 1.5, 1.0, 2/3, 16]",
            ),
            ("#object[Foo 0x1a \"x\"]", r#"["Foo", 26, "x"]"#),
            (r#""a\n\u00e9\b""#, r#""a\né\u{8}""#),
            (r#""\ud83d\ude00\\u0041""#, r#""😀\\u0041""#),
            (
                r"[\u0041 \u0022 \formfeed \a]",
                r#"["A", "\"", "\u{c}", "a"]"#,
            ),
            ("##NaN", r#""NaN""#),
        ];
        for (text, expected) in cases {
            assert_eq!(
                read(text).map(|value| value.to_string()),
                Ok(expected.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn malformed_forms_are_refused() {
        let cases = [
            (
                "{:a}",
                "not EDN: a map has a key without a value, or something does not end",
            ),
            ("{:a 1 :a 2}", "not EDN: a map has the same key twice"),
            (r#""\q""#, "not EDN: an escape in a string is not known"),
            (r#""\ud83d""#, "not EDN: an escape in a string is not known"),
            ("[1}", "not EDN: '}' closes nothing"),
            ("1x", "not EDN: a number is malformed"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), Err(expected.to_owned()), "{text}");
        }
        let tags = format!("{}1", "#a ".repeat(100_000));
        assert_eq!(
            read(&tags),
            Err("a value is nested more than 128 levels deep".to_owned())
        );
    }
}
