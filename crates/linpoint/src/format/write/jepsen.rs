//! Translates a history into the events of Jepsen, for the writers of EDN and JSON: the way back of [`super::super::jepsen`].

use std::io;

use super::super::jepsen::{Entry, EventType, JepsenEvent, Role, note_text};
use super::super::{Format, jepsen_keys, value_of_json};
use super::{Event, events, has_objects, refusal, refuse_op};
use crate::history::{Annotation, History, Op};
use crate::value::Value;

/// The fields of an entry, as both formats have them.
pub(super) struct Fields<'e> {
    pub(super) kind: &'static str,
    pub(super) function: &'e str,
    pub(super) value: &'e Value,
    pub(super) process: String,
    pub(super) time: Option<i64>,
}

impl<'e> Fields<'e> {
    /// The fields of `entry`. Processes that are no clients have names, which `name` writes.
    pub(super) fn of(entry: &'e Entry, name: impl Fn(&str) -> String) -> Self {
        match entry {
            Entry::Client(event) => Fields {
                kind: event.kind.name(),
                function: &event.function,
                value: &event.value,
                process: event.process.to_string(),
                time: event.time,
            },
            Entry::Other {
                process,
                function,
                value,
                time,
            } => Fields {
                kind: "info",
                function,
                value,
                process: name(process),
                time: *time,
            },
        }
    }
}

/// The entries that are read as `history`. Objects become keys of `jepsen.independent`.
pub(super) fn entries(format: Format, history: &History) -> io::Result<Vec<Entry>> {
    let has_keys = has_objects(history);
    let client = |process: &Value, kind, object: &Value, function: &str, value: Value, time| {
        Entry::Client(JepsenEvent {
            process: process.clone(),
            kind,
            object: Value::Nil,
            function: function.to_owned(),
            value: match has_keys {
                true => Value::list([object.clone(), value]),
                false => value,
            },
            time,
            index: None,
        })
    };
    let of_op = |op: &Op<'_>, kind, value: Value, time| {
        client(op.process, kind, op.object, op.method, value, time)
    };
    let mut entries = Vec::new();
    for event in events(history) {
        let time = event.time();
        entries.push(match event {
            Event::Call(op) => {
                let invoked = invoked(op.process, op.method, op.argument);
                let value = invoked.map_err(|why| refuse_op(format, history, op.id, &why))?;
                of_op(&op, EventType::Invoke, value, time)
            }
            Event::Return(op) => {
                let result = op.result.unwrap_or(&Value::Nil);
                let completed = Role::of(op.method).completion(op.argument, result);
                let value = completed.ok_or_else(|| {
                    let why = "one value cannot tell both its argument and its result";
                    refuse_op(format, history, op.id, why)
                })?;
                of_op(&op, EventType::Ok, value, time)
            }
            Event::FailedCall(op) => {
                let call = &op.call;
                let value = invoked(&op.process, &call.method, &call.argument).map_err(|why| {
                    let text = op.call_text();
                    refusal(format!(
                        "{format} has no place for {text}, which failed: {why}"
                    ))
                })?;
                let kind = EventType::Invoke;
                client(&op.process, kind, &call.object, &call.method, value, time)
            }
            Event::Failure(op) => {
                let (call, kind) = (&op.call, EventType::Fail);
                let value = call.argument.clone();
                client(&op.process, kind, &call.object, &call.method, value, time)
            }
            Event::Note(note) => entry_of_note(note),
        });
    }
    let pending = history.ops().filter(|op| op.result.is_none());
    entries.extend(pending.map(|op| of_op(&op, EventType::Info, op.argument.clone(), None)));
    let numbered: Vec<(u64, Entry)> = (0..).zip(entries).collect();
    match (has_keys, jepsen_keys::are_independent(&numbered)) {
        (true, false) => Err(refusal(format!(
            "{format} has no place for the objects of this history: nothing tells that its values are pairs with keys, since no \
             operation only reads, or one has an argument; write it as jsonl or parquet"
        ))),
        (false, true) => Err(refusal(format!(
            "{format} has no place for the values of this history: they would be read as pairs of a key and a value; write it as \
             jsonl or parquet"
        ))),
        _ => Ok(numbered.into_iter().map(|(_, entry)| entry).collect()),
    }
}

/// The value of an invocation, or the reason why there is none.
fn invoked(process: &Value, method: &str, argument: &Value) -> Result<Value, String> {
    if process.as_int().is_none() {
        return Err("clients of Jepsen are numbers".to_owned());
    }
    if method == "drain" {
        return Err("a drain is read as dequeues".to_owned());
    }
    if Role::of(method).argument(argument.clone()) != *argument {
        return Err(format!("{method:?} has no argument in Jepsen"));
    }
    Ok(argument.clone())
}

/// The entry that is read as this note: process, function and value, if its text has the three.
fn entry_of_note(note: &Annotation) -> Entry {
    let mut words = note.text.splitn(3, ' ');
    let process = words.next().unwrap_or_default();
    let function = words.next().unwrap_or_default();
    let value = words.next().map(value_of_json);
    let parts = match value {
        None => Some((process, function, Value::Nil)),
        Some(value) => value.ok().map(|value| (process, function, value)),
    };
    let tells = |(process, function, value): &(&str, &str, Value)| {
        note_text(process, function, value) == note.text
    };
    let (process, function, value) = parts.filter(tells).unwrap_or((&note.text, "", Value::Nil));
    Entry::Other {
        process: process.to_owned(),
        function: function.to_owned(),
        value,
        time: note.time,
    }
}
