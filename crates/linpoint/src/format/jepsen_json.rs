//! Reads Jepsen histories in JSON, as elle-cli takes them and as other test suites write them: one object for each event, on lines
//! or in one array. Their meaning is that of [`super::jepsen`].

use super::jepsen::{self, Entry, EventType, FailedCas, JepsenEvent};
use super::{ReadOptions, RecordedHistory, Sink, json, number};
use crate::engine::Ticker;
use crate::error::Error;
use crate::value::Value;

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    sink.put(read_history(text, options));
}

fn read_history(text: &str, options: &ReadOptions) -> Result<RecordedHistory, Error> {
    let mut entries = Vec::new();
    let budget = options.budget();
    let mut ticker = Ticker::new(&budget);
    json::each(text, |line, document| {
        let at = |reason: String| Error::malformed(reason).at_line(line);
        let allowed = ticker.tick();
        allowed.map_err(|limit| Error::limit(limit).at_line(line))?;
        let event = document.and_then(json::value).map_err(at)?;
        entries.push((line, read_event(&event).map_err(at)?));
        Ok(())
    })?;
    jepsen::record(entries, FailedCas::NotRun, options)
}

fn read_event(event: &Value) -> Result<Entry, String> {
    if event.as_map().is_none() {
        return Err(format!("an event is an object, not {}", event.kind_name()));
    }
    let name = |key: &str| match event.get(key) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Text(name)) => Ok(Some(name.to_string())),
        Some(other) => Err(format!("{key:?} must be text, not {other}")),
    };
    let process = event.get("process").ok_or("\"process\" is missing")?;
    let function = name("f")?;
    let time = number::time("\"time\"", event.get("time"))?;
    let value = event.get("value").map_or(Value::Nil, with_integer_keys);
    if !matches!(process, Value::Int(_) | Value::Number(_)) {
        return Ok(Entry::Other {
            process: process.plain_text().into_owned(),
            function: function.unwrap_or_default(),
            value,
            time,
        });
    }
    let kind = name("type")?.ok_or("\"type\" is missing")?;
    Ok(Entry::Client(JepsenEvent {
        process: process.clone(),
        kind: EventType::named(&kind)?,
        object: Value::Nil,
        function: function.ok_or("\"f\" is missing")?,
        value,
        time,
        index: event.get("index").and_then(Value::as_int),
    }))
}

/// The same value, with the keys of its maps that are integers as such: JSON has no other keys than text, so a map of Jepsen that is
/// keyed by integers, such as the balances of accounts, lost that.
pub(super) fn with_integer_keys(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::list(items.iter().map(with_integer_keys)),
        Value::Map(pairs) => Value::map(pairs.iter().map(|(key, inner)| {
            let integer = key.as_text().and_then(|text| {
                let integer: i64 = text.parse().ok()?;
                (integer.to_string() == text).then_some(Value::Int(integer))
            });
            let key = integer.unwrap_or_else(|| key.clone());
            (key, with_integer_keys(inner))
        })),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IndependentKeys, Note, parse};
    use super::*;

    const LINES: &str = r#"
{"type":"invoke","f":"write","value":1,"process":0,"time":10,"index":0}
{"type":"invoke","f":"read","value":null,"process":1,"time":11,"index":1}
{"type":"info","f":"start","process":"nemesis","value":"cut n1"}
{"type":"ok","f":"read","value":1,"process":1}
{"type":"info","f":"write","value":1,"process":0,"error":"timeout"}
{"type":"invoke","f":"cas","value":[7,2],"process":5}
{"type":"fail","f":"cas","value":[7,2],"process":5}
{"type":"invoke","f":"read","process":5}
{"type":"ok","f":"read","value":{"0":5,"x":{"-1":2,"01":3}},"process":5}
"#;

    fn read_one(text: &str) -> Result<RecordedHistory, Error> {
        parse(text.as_bytes(), &ReadOptions::default()).remove(0)
    }

    #[test]
    fn lines_and_arrays_are_the_same() {
        let lines = read_one(LINES).unwrap();
        let texts: Vec<_> = lines.history.ops().map(|op| op.text()).collect();
        assert_eq!(
            texts,
            [
                "write(1) → ?",
                "read() → 1",
                r#"read() → {0: 5, "x": {-1: 2, "01": 3}}"#
            ]
        );
        assert_eq!(
            lines.history.annotations()[0].text,
            "nemesis start \"cut n1\""
        );
        assert_eq!(lines.history.failed()[0].call_text(), "cas(7, 2)");
        assert_eq!(lines.invocations, [0, 1, 7]);
        let array = format!("[{}]", LINES.trim().replace("}\n{", "},\n{"));
        let array = read_one(&array).unwrap();
        assert_eq!(array.invocations, lines.invocations);
        let again: Vec<_> = array.history.ops().map(|op| op.text()).collect();
        assert_eq!(again, texts);
    }

    #[test]
    fn independent_keys_are_detected() {
        let text = r#"[{"type":"invoke","f":"read","value":[3,null],"process":0},{"type":"ok","f":"read","value":[3,7],"process":0}]"#;
        let recorded = read_one(text).unwrap();
        assert_eq!(recorded.notes, [Note::IndependentKeys]);
        let options = ReadOptions {
            independent: IndependentKeys::Always,
            ..ReadOptions::default()
        };
        assert!(parse(text.as_bytes(), &options).remove(0).is_ok());
    }

    #[test]
    fn refusals_name_the_line_and_the_reason() {
        let first = r#"{"type":"invoke","f":"read","process":0}"#;
        let cases = [
            (r#"{"type":"ok","f":"read"}"#, "\"process\" is missing"),
            (r#"{"f":"read","process":0}"#, "\"type\" is missing"),
            (r#"{"type":"ok","process":0}"#, "\"f\" is missing"),
            (
                r#"{"type":"okay","f":"read","process":0}"#,
                "unknown event type \"okay\"; known are invoke, ok, fail, info",
            ),
            (
                r#"{"type":"ok","f":3,"process":0}"#,
                "\"f\" must be text, not 3",
            ),
            (
                r#"{"type":"ok","f":"read","process":0,"time":1.5}"#,
                "\"time\" must be a 64-bit integer, not 1.5: times are integers, such as nanoseconds since the start of the run; \
                 multiply times in seconds by 1000000000 and round them down for calls, up for returns",
            ),
            ("3", "an event is an object, not an integer"),
            (
                r#"{"type":"ok","f":"write","process":0}"#,
                "process 0 completes \"write\" but had invoked \"read\"",
            ),
        ];
        for (line, reason) in cases {
            let error = read_one(&format!("{first}\n{line}\n")).unwrap_err();
            assert_eq!(error.to_string(), format!("line 2: {reason}"));
        }
    }
}
