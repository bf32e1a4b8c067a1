//! What a history holds beside its operations, as JSON in the metadata of a file: notes and failed operations.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::super::json;
use super::super::jsonl::write_value;
use crate::history::{Annotation, Call, FailedOp};
use crate::value::Value;

/// A note: the number of events before it, its text, and its time where it has one.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum StoredNote {
    Timed(u32, String, i64),
    Untimed(u32, String),
}

pub(super) fn notes_to_json(notes: &[Annotation]) -> serde_json::Result<String> {
    let stored = |note: &Annotation| match note.time {
        Some(time) => StoredNote::Timed(note.rank, note.text.clone(), time),
        None => StoredNote::Untimed(note.rank, note.text.clone()),
    };
    serde_json::to_string(&notes.iter().map(stored).collect::<Vec<_>>())
}

pub(super) fn notes_from_json(text: &str) -> Result<Vec<Annotation>, String> {
    let stored: Vec<StoredNote> = json::from_str(text)?;
    let note = |stored| {
        let (rank, text, time) = match stored {
            StoredNote::Timed(rank, text, time) => (rank, text, Some(time)),
            StoredNote::Untimed(rank, text) => (rank, text, None),
        };
        Annotation { rank, text, time }
    };
    Ok(stored.into_iter().map(note).collect())
}

/// A failed operation: its call, the numbers of events before its call and before its failure, and its times.
#[derive(Deserialize, Serialize)]
struct StoredFailure {
    process: Box<RawValue>,
    object: Box<RawValue>,
    method: String,
    argument: Box<RawValue>,
    called: u32,
    failed: u32,
    times: (Option<i64>, Option<i64>),
}

pub(super) fn failures_to_json(failures: &[FailedOp]) -> serde_json::Result<String> {
    let raw = |value: &Value| {
        let mut text = Vec::new();
        write_value(value, &mut text).expect("bug: writing to memory failed");
        let text = String::from_utf8(text).expect("bug: JSON is text");
        RawValue::from_string(text)
    };
    let stored = failures.iter().map(|op| {
        Ok(StoredFailure {
            process: raw(&op.process)?,
            object: raw(&op.call.object)?,
            method: op.call.method.clone(),
            argument: raw(&op.call.argument)?,
            called: op.called,
            failed: op.failed,
            times: op.times,
        })
    });
    serde_json::to_string(&stored.collect::<serde_json::Result<Vec<_>>>()?)
}

pub(super) fn failures_from_json(text: &str) -> Result<Vec<FailedOp>, String> {
    let stored: Vec<StoredFailure> = json::from_str(text)?;
    let failure = |stored: StoredFailure| {
        Ok(FailedOp {
            process: json::value(stored.process.get())?,
            call: Call {
                object: json::value(stored.object.get())?,
                method: stored.method,
                argument: json::value(stored.argument.get())?,
            },
            line: 0,
            called: stored.called,
            failed: stored.failed,
            times: stored.times,
        })
    };
    stored.into_iter().map(failure).collect()
}
