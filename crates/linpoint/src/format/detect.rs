//! Detects the format from the first lines of a text.
//!
//! The rules look at the first thing that is not blank, in this order:
//!
//! 1. `{` and then `"` or `}`, or `[`, `{` and `"`: JSON. Keys `schema` and `events` make it [`Format::Violat`], a `type` of
//!    Jepsen [`Format::JepsenJson`], `Input`, `Call` and `Return` or `Kind`, `Value` and `Id` [`Format::Porcupine`], anything
//!    else [`Format::Jsonl`].
//! 2. Another `{`, or `[`, `(`, `;`, `#_`, or `#` with a brace on the same line: EDN. A first map with `:key`
//!    and `:f` of `:get`, `:put` or `:append` makes it [`Format::PorcupineKv`], anything else [`Format::Edn`].
//! 3. A `jepsen.util` among the first lines: [`Format::JepsenLog`].
//! 4. One of the four names of events with a `!`: [`Format::Snapshot`].
//! 5. A line of at least four fields of which the last two are a time and a time, `inf` or `-`, or `#` with the name of a
//!    type, or a line of FPTLin: [`Format::Operations`]. Before them, lines that begin with `#` or `//` are comments.

use serde_json::value::RawValue;

use super::fptlin::FptlinLine;
use super::rational::Rational;
use super::{Format, json, snapshot};
use crate::error::Error;
use crate::object::find_type;

/// How many lines are searched for a mark of Jepsen's log: other things may be logged before the first operation.
const LOG_LINES: usize = 100;

/// The format of `text`, which is not blank.
pub(super) fn detect(text: &str) -> Result<Format, Error> {
    let (index, line) = text
        .lines()
        .enumerate()
        .find(|(_, line)| !line.trim().is_empty())
        .unwrap_or_default();
    let start = text.trim_start();
    if let Some(inside) = start.strip_prefix('{') {
        return Ok(match inside.trim_start().chars().next() {
            Some('"' | '}') => {
                return json_format(start).map_err(|error| error.at_line(index as u64 + 1));
            }
            _ => edn_format(start),
        });
    }
    let is_json_array = start
        .strip_prefix('[')
        .and_then(|inside| inside.trim_start().strip_prefix('{'))
        .is_some_and(|inside| inside.trim_start().starts_with('"'));
    if is_json_array {
        return json_format(start).map_err(|error| error.at_line(index as u64 + 1));
    }
    let tagged = start.starts_with("#_") || (start.starts_with('#') && line.contains('{'));
    if start.starts_with(['[', '(', ';']) || tagged {
        return Ok(edn_format(start));
    }
    if text
        .lines()
        .take(LOG_LINES)
        .any(|line| line.contains("jepsen.util"))
    {
        return Ok(Format::JepsenLog);
    }
    if snapshot::begins(start) {
        return Ok(Format::Snapshot);
    }
    if looks_like_operations(text) {
        return Ok(Format::Operations);
    }
    let seen: String = line.trim().chars().take(40).collect();
    Err(Error::malformed(format!(
        "cannot tell the format of an input that begins with {seen:?}; name it with --format, or say how to read it with --map"
    ))
    .at_line(index as u64 + 1))
}

/// The first object tells, or that of the first item of an array.
fn json_format(text: &str) -> Result<Format, Error> {
    let first = match text.strip_prefix('[') {
        Some(inside) => {
            let mut items = serde_json::Deserializer::from_str(inside).into_iter::<&RawValue>();
            items.next().and_then(|item| Some(item.ok()?.get()))
        }
        None => json::documents(text)
            .next()
            .and_then(|(_, document)| document.ok()),
    };
    let keys = first.and_then(|document| json::from_str::<json::Pairs<'_>>(document).ok());
    let find = |name: &str| {
        let mut pairs = keys.iter().flat_map(|json::Pairs(pairs)| pairs);
        let found = pairs.find(|(key, _): &&(_, &RawValue)| key == name);
        found.map(|(_, value)| value.get())
    };
    let has = |names: &[&str]| names.iter().all(|name| find(name).is_some());
    let of_jepsen = ["\"invoke\"", "\"ok\"", "\"fail\"", "\"info\""];
    if has(&["schema", "events"]) {
        return Ok(Format::Violat);
    }
    if find("type").is_some_and(|kind| of_jepsen.contains(&kind)) && !has(&["linpoint"]) {
        return Ok(Format::JepsenJson);
    }
    if has(&["Input", "Call", "Return"]) || has(&["Kind", "Value", "Id"]) {
        return Ok(Format::Porcupine);
    }
    let of_jsonl = ["linpoint", "event", "method", "ops", "process", "type"];
    let names: Vec<&str> = keys
        .iter()
        .flat_map(|json::Pairs(pairs)| pairs)
        .map(|(key, _)| key.as_ref())
        .collect();
    if names.is_empty() || of_jsonl.iter().any(|name| names.contains(name)) {
        return Ok(Format::Jsonl);
    }
    Err(Error::malformed(format!(
        "the fields {} are those of no format: say what they are with --map (`linpoint map guess` proposes a mapping)",
        names.join(", ")
    )))
}

/// The first map tells; its keys need no parser to be seen.
fn edn_format(text: &str) -> Format {
    let first_map = text.split('}').next().unwrap_or_default();
    let words: Vec<&str> = first_map
        .split(|c: char| c.is_whitespace() || ",{[(".contains(c))
        .collect();
    let is_kv = words
        .windows(2)
        .any(|pair| matches!(pair, [":f", ":get" | ":put" | ":append"]));
    if is_kv && words.contains(&":key") {
        Format::PorcupineKv
    } else {
        Format::Edn
    }
}

/// Comments alone do, too: they are a history without operations.
fn looks_like_operations(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.find(|line| {
        let is_comment = line.starts_with('#') || line.starts_with("//");
        !is_comment || names_type(line)
    });
    first.is_none_or(|line| names_type(line) || looks_like_operation(line))
}

fn names_type(line: &str) -> bool {
    let name = line.strip_prefix('#').map(str::trim);
    name.is_some_and(|name| find_type(name).is_some())
}

fn looks_like_operation(line: &str) -> bool {
    let fields: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|field| !field.is_empty())
        .collect();
    match fields.as_slice() {
        [_, _, .., call, ret] => {
            let is_time = |field: &str| Rational::parse(field).is_some();
            is_time(call) && (is_time(ret) || matches!(*ret, "inf" | "-"))
                || matches!(FptlinLine::of(&fields), Some(Ok(_)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        let cases = [
            ("\n{\"linpoint\":1}", Format::Jsonl),
            ("{ \"method\": \"read\", \"call\": 0}", Format::Jsonl),
            ("{\"ops\":[", Format::Jsonl),
            ("{\n\"schema\":{},\n\"events\":[]\n}", Format::Violat),
            ("[ {\"method\": \"read\", \"call\": 0}", Format::Jsonl),
            (
                "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}",
                Format::JepsenJson,
            ),
            ("[{\"type\":\"ok\",\"f\":\"read\"},\n", Format::JepsenJson),
            ("{\"linpoint\":1,\"type\":\"ok\"}", Format::Jsonl),
            (
                "{\"ClientId\":0,\"Input\":{},\"Call\":1,\"Output\":{},\"Return\":2}",
                Format::Porcupine,
            ),
            (
                "[{\"Kind\":false,\"Value\":{},\"Id\":0}]",
                Format::Porcupine,
            ),
            ("{:type :invoke, :f :read}", Format::Edn),
            ("{:type :invoke, :f :read, :key 3}", Format::Edn),
            ("; a comment\n[{:type :invoke}]", Format::Edn),
            ("#jepsen.history.Op{:type :invoke}", Format::Edn),
            ("#_x {:type :invoke}", Format::Edn),
            (
                "{:process 0, :type :invoke, :f :get, :key \"0\"}",
                Format::PorcupineKv,
            ),
            (
                "INFO  jepsen.core - x\nINFO  jepsen.util - 4\t:invoke",
                Format::JepsenLog,
            ),
            ("# stack\npush 1 2 3", Format::Operations),
            ("// comment", Format::Operations),
            ("// comment\n\n# a stack\npush 1 2 3", Format::Operations),
            ("# queue\nenq 1 x 3", Format::Operations),
            ("push 1 2 inf", Format::Operations),
            ("0, push, 1, 2, 3", Format::Operations),
        ];
        for (text, format) in cases {
            assert_eq!(detect(text).unwrap(), format, "{text}");
        }
    }

    #[test]
    fn what_fits_nothing_is_refused() {
        assert_eq!(
            detect("\nhello world\n").unwrap_err().to_string(),
            "line 2: cannot tell the format of an input that begins with \"hello world\"; name it with --format, or say how to read it with --map"
        );
        let error = detect("\n[{\"op\":\"read\",\"start\":3}]").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: the fields op, start are those of no format: say what they are with --map (`linpoint map guess` proposes a mapping)"
        );
        for text in [
            "# A heading\n\nThis is some text.",
            "#!/bin/sh\nls -l",
            "// code\nfn main() {}",
        ] {
            let error = detect(text).unwrap_err().to_string();
            assert!(
                error.starts_with("line 1: cannot tell the format of"),
                "{error}"
            );
        }
    }
}
