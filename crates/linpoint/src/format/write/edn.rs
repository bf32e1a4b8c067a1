//! Writes a history as EDN, as Jepsen does it.

use std::fmt::Write;
use std::io;

use super::super::Format;
use super::super::edn::{value as read_value, with_form};
use super::jepsen::{self, Fields};
use super::refusal;
use crate::history::History;
use crate::value::Value;

pub(super) fn text(history: &History) -> io::Result<String> {
    let mut text = String::new();
    for (index, entry) in jepsen::entries(Format::Edn, history)?.iter().enumerate() {
        let Fields {
            kind,
            function,
            value,
            process,
            time,
        } = Fields::of(entry, name);
        let (function, value) = (name(function), checked(value)?);
        text += &format!("{{:type :{kind}, :f {function}, :value {value}, :process {process}");
        if let Some(time) = time {
            text += &format!(", :time {time}");
        }
        text += &format!(", :index {index}}}\n");
    }
    Ok(text)
}

/// A keyword where the name can be one, and text otherwise.
fn name(name: &str) -> String {
    let is_keyword = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || b"-_*!?+<>=".contains(&c));
    match is_keyword {
        true => format!(":{name}"),
        false => quoted(name),
    }
}

/// The EDN of `value`, if it is read as the same value.
fn checked(value: &Value) -> io::Result<String> {
    let text = form(value);
    if with_form(&text, read_value).as_ref() != Ok(value) {
        return Err(refusal(format!(
            "edn has no place for {value}: it would be read as another value; write it as jsonl or parquet"
        )));
    }
    Ok(text)
}

fn form(value: &Value) -> String {
    let spaced = |forms: Vec<String>| forms.join(" ");
    match value {
        Value::Text(text) => quoted(text),
        Value::List(items) => format!("[{}]", spaced(items.iter().map(form).collect())),
        Value::Map(pairs) => {
            let pair = |(key, value): &(Value, Value)| format!("{} {}", form(key), form(value));
            format!("{{{}}}", spaced(pairs.iter().map(pair).collect()))
        }
        plain => plain.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            c if c.is_ascii_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
