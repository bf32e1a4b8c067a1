//! Writes a history as the events of Jepsen in JSON, one on each line.

use std::io;

use super::super::Format;
use super::super::jepsen_json::with_integer_keys;
use super::super::{json, write_value};
use super::jepsen::{self, Fields};
use super::refusal;
use crate::history::History;
use crate::value::Value;

pub(super) fn text(history: &History) -> io::Result<String> {
    let mut text = String::new();
    for (index, entry) in jepsen::entries(Format::JepsenJson, history)?
        .iter()
        .enumerate()
    {
        let Fields {
            kind,
            function,
            value,
            process,
            time,
        } = Fields::of(entry, quoted);
        let (function, value) = (quoted(function), checked(value)?);
        text += &format!(
            "{{\"type\":\"{kind}\",\"f\":{function},\"value\":{value},\"process\":{process}"
        );
        if let Some(time) = time {
            text += &format!(",\"time\":{time}");
        }
        text += &format!(",\"index\":{index}}}\n");
    }
    Ok(text)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The JSON of `value`, if it is read as the same value. The keys of maps may be integers.
fn checked(value: &Value) -> io::Result<String> {
    let mut text = Vec::new();
    write_value(value, &mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    match json::value(&text) {
        Ok(read) if with_integer_keys(&read) == *value => Ok(text),
        _ => Err(refusal(format!(
            "jepsen-json has no place for {value}: it would be read as another value; write it as jsonl or parquet"
        ))),
    }
}
