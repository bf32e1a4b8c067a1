//! Writes a history as JSON lines.

use std::io::{self, Write};

use super::super::rows::Row;
use super::super::write::{Event, events};
use crate::history::{Call, Clients, History, Ties};
use crate::spec::Params;
use crate::value::Value;

/// Writes `history` as JSON lines: a header, then operations with times where the history has them, and events in their
/// order otherwise. Reading it back gives the same history, but for numbers and map keys that JSON cannot express.
///
/// ```
/// use linpoint::format::write_jsonl;
/// use linpoint::{Call, HistoryBuilder, Ties, Value};
/// let mut builder = HistoryBuilder::new();
/// builder.call(1, 0.into(), Call::new("write", 5))?;
/// builder.ret(2, &0.into(), Value::Nil)?;
/// let mut text = Vec::new();
/// write_jsonl(&builder.finish(Ties::default())?, Some(("register", &Default::default())), &mut text).unwrap();
/// assert_eq!(String::from_utf8_lossy(&text), r#"{"linpoint":1,"type":"register"}
/// {"process":0,"event":"call","method":"write","arg":5}
/// {"process":0,"event":"return","ret":null}
/// "#);
/// # Ok::<(), linpoint::Error>(())
/// ```
pub fn write_jsonl(
    history: &History,
    object_type: Option<(&str, &Params)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Notes and failures have a place among events only.
    let has_events_only = !history.annotations().is_empty() || !history.failed().is_empty();
    let ties = history.ties().filter(|_| !has_events_only);
    write_header(&Header::of(history, object_type, ties), out)?;
    match ties {
        Some(_) => write_operations(history, out),
        None => write_events(history, out),
    }
}

/// What a header says.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct Header<'a> {
    pub(in crate::format) object_type: Option<(&'a str, &'a Params)>,
    pub(in crate::format) ties: Option<Ties>,
    pub(in crate::format) clients: &'a Clients,
    pub(in crate::format) ends_stuck: bool,
}

impl<'a> Header<'a> {
    /// The header of a history whose times are ordered so.
    pub(in crate::format) fn of(
        history: &'a History,
        object_type: Option<(&'a str, &'a Params)>,
        ties: Option<Ties>,
    ) -> Self {
        Header {
            object_type,
            ties,
            clients: history.clients(),
            ends_stuck: history.ends_stuck(),
        }
    }
}

/// The header of a history, on a line of its own.
pub(in crate::format) fn write_header(header: &Header<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"linpoint\":1")?;
    if let Some((name, params)) = header.object_type {
        out.write_all(b",\"type\":")?;
        write_text(name, out)?;
        if !params.is_empty() {
            out.write_all(b",\"params\":")?;
            let pairs = params
                .iter()
                .map(|(name, value)| (name.as_str().into(), value.clone()));
            write_value(&Value::map(pairs), out)?;
        }
    }
    if header.ties == Some(Ties::ReturnFirst) {
        out.write_all(b",\"ties\":\"response-first\"")?;
    }
    if !header.clients.is_empty() {
        out.write_all(b",\"clients\":")?;
        write_value(&Value::map(header.clients.clone()), out)?;
    }
    if header.ends_stuck {
        out.write_all(b",\"stuck\":true")?;
    }
    out.write_all(b"}\n")
}

/// Writes an operation with times on a line of its own.
pub(in crate::format) fn write_row(row: &Row, out: &mut dyn Write) -> io::Result<()> {
    write_process(row.process.as_ref().unwrap_or(&Value::Nil), out)?;
    write_call(&row.object, &row.method, &row.argument, out)?;
    write_hint(row.hint, out)?;
    let called = row.called;
    match row.returned {
        Some(returned) => {
            out.write_all(b",\"ret\":")?;
            write_value(&row.result, out)?;
            writeln!(out, ",\"call\":{called},\"return\":{returned}}}")
        }
        None => writeln!(out, ",\"call\":{called},\"return\":null}}"),
    }
}

fn write_operations(history: &History, out: &mut dyn Write) -> io::Result<()> {
    for op in history.ops() {
        write_process(op.process, out)?;
        write_call(op.object, op.method, op.argument, out)?;
        write_hint(op.hint, out)?;
        let (called, returned) = op.times.unwrap_or_default();
        match op.result {
            Some(result) => {
                out.write_all(b",\"ret\":")?;
                write_value(result, out)?;
                writeln!(out, ",\"call\":{called},\"return\":{returned}}}")?;
            }
            None => writeln!(out, ",\"call\":{called},\"return\":null}}")?,
        }
    }
    Ok(())
}

fn write_events(history: &History, out: &mut dyn Write) -> io::Result<()> {
    for event in events(history) {
        let time = event.time();
        match event {
            Event::Call(op) => write_call_of(op.process, op.object, op.method, op.argument, out)?,
            Event::Return(op) => {
                write_return_of(op.process, op.result.unwrap_or(&Value::Nil), out)?;
                write_hint(op.hint, out)?;
            }
            Event::Note(note) if note.is_crash() => out.write_all(b"{\"event\":\"crash\"")?,
            Event::Note(note) => {
                out.write_all(b"{\"event\":\"note\",\"text\":")?;
                write_text(&note.text, out)?;
            }
            Event::FailedCall(op) => {
                let call = &op.call;
                write_call_of(&op.process, &call.object, &call.method, &call.argument, out)?;
            }
            Event::Failure(op) => {
                write_process(&op.process, out)?;
                out.write_all(b",\"event\":\"fail\"")?;
            }
        }
        if let Some(time) = time {
            write!(out, ",\"time\":{time}")?;
        }
        out.write_all(b"}\n")?;
    }
    write_hints_of_pending(history, out)
}

/// Writes the header of a history of events, which follow it one by one: see [`write_jsonl_call`] and [`write_jsonl_return`].
pub fn write_jsonl_header(
    object_type: Option<(&str, &Params)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let header = Header {
        object_type,
        ties: None,
        clients: &Clients::new(),
        ends_stuck: false,
    };
    write_header(&header, out)
}

/// Writes the event of a call as a JSON line.
pub fn write_jsonl_call(process: &Value, call: &Call, out: &mut dyn Write) -> io::Result<()> {
    let Call {
        object,
        method,
        argument,
    } = call;
    write_call_of(process, object, method, argument, out)?;
    out.write_all(b"}\n")
}

/// Writes the event of the return of a process as a JSON line.
pub fn write_jsonl_return(process: &Value, result: &Value, out: &mut dyn Write) -> io::Result<()> {
    write_return_of(process, result, out)?;
    out.write_all(b"}\n")
}

/// The beginning of a line, up to the process.
fn write_process(process: &Value, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"process\":")?;
    write_value(process, out)
}

/// The event of a call, up to its time.
fn write_call_of(
    process: &Value,
    object: &Value,
    method: &str,
    argument: &Value,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_process(process, out)?;
    out.write_all(b",\"event\":\"call\"")?;
    write_call(object, method, argument, out)
}

/// The event of a return, up to its hint and time.
fn write_return_of(process: &Value, result: &Value, out: &mut dyn Write) -> io::Result<()> {
    write_process(process, out)?;
    out.write_all(b",\"event\":\"return\",\"ret\":")?;
    write_value(result, out)
}

fn write_hint(hint: Option<i64>, out: &mut dyn Write) -> io::Result<()> {
    match hint {
        Some(hint) => write!(out, ",\"hint\":{hint}"),
        None => Ok(()),
    }
}

/// Pending operations have no return that could tell their hints.
fn write_hints_of_pending(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let pending = history.ops().filter(|op| op.result.is_none());
    for (op, hint) in pending.filter_map(|op| Some((op, op.hint?))) {
        write_process(op.process, out)?;
        writeln!(out, ",\"event\":\"crash\",\"hint\":{hint}}}")?;
    }
    Ok(())
}

fn write_call(
    object: &Value,
    method: &str,
    argument: &Value,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !object.is_nil() {
        out.write_all(b",\"object\":")?;
        write_value(object, out)?;
    }
    out.write_all(b",\"method\":")?;
    write_text(method, out)?;
    if !argument.is_nil() {
        out.write_all(b",\"arg\":")?;
        write_value(argument, out)?;
    }
    Ok(())
}

fn write_text(text: &str, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(out, text).map_err(io::Error::from)
}

/// Writes a value as JSON, like [`Value::to_json`], but keeps the text of numbers.
pub fn write_value(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    match value {
        Value::Int(i) => write!(out, "{i}"),
        Value::Number(n) if serde_json::from_str::<serde_json::Number>(n).is_ok() => {
            out.write_all(n.as_bytes())
        }
        Value::List(items) => {
            out.write_all(b"[")?;
            for (i, item) in items.iter().enumerate() {
                out.write_all(if i == 0 { b"" } else { b"," })?;
                write_value(item, out)?;
            }
            out.write_all(b"]")
        }
        Value::Map(pairs) => {
            out.write_all(b"{")?;
            for (i, (key, item)) in pairs.iter().enumerate() {
                out.write_all(if i == 0 { b"" } else { b"," })?;
                match key.as_text() {
                    Some(key) => write_text(key, out)?,
                    None => write_text(&key.to_string(), out)?,
                }
                out.write_all(b":")?;
                write_value(item, out)?;
            }
            out.write_all(b"}")
        }
        other => serde_json::to_writer(out, &other.to_json()).map_err(io::Error::from),
    }
}
