//! Histories of snapshots as one sequence of events, as the tests of Amram et al. (DISC 2022) are written.
//!
//! ```text
//! startUpdate!0,1;startScan!2;endUpdate!0,1;endScan!2,1,0;
//! ```
//!
//! Each event is ended by `;`, and blanks and lines between events do not matter. An update is by a process, which is also the
//! entry, with a value; its end repeats both. The end of a scan has the values of the entries from 0 on; those left out hold
//! the initial value, 0. What never ends is pending.

use std::io;

use super::{ReadOptions, RecordedHistory, Sink, StreamLine};
use crate::error::Error;
use crate::history::{Call, EventKind, History, HistoryBuilder, OpId, events_in_order};
use crate::spec::Params;
use crate::value::Value;

/// The type of all these histories.
const TYPE: &str = "snapshot";

/// How events begin.
const NAMES: [&str; 4] = ["startUpdate!", "endUpdate!", "startScan!", "endScan!"];

/// Whether a text begins with such an event.
pub(super) fn begins(text: &str) -> bool {
    NAMES.iter().any(|name| text.starts_with(name))
}

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    sink.put(read_history(text, options));
}

fn read_history(text: &str, options: &ReadOptions) -> Result<RecordedHistory, Error> {
    let mut builder = options.builder();
    let mut line = 1;
    let mut rest = text;
    let mut number = 0;
    loop {
        let blank = rest.len() - rest.trim_start().len();
        line += memchr::memchr_iter(b'\n', &rest.as_bytes()[..blank]).count() as u64;
        rest = &rest[blank..];
        if rest.is_empty() {
            break;
        }
        number += 1;
        let refuse =
            |reason: &str| Error::malformed(format!("event {number}: {reason}")).at_line(line);
        let (event, after) = rest
            .split_once(';')
            .ok_or_else(|| refuse("it does not end with \";\""))?;
        let taken = take(&mut builder, line, event.trim_end());
        taken.map_err(|error| {
            let reason = format!("event {number}: {}", error.reason());
            error.with_reason(reason).at_line(line)
        })?;
        line += memchr::memchr_iter(b'\n', event.as_bytes()).count() as u64;
        rest = after;
    }
    Ok(RecordedHistory {
        history: builder.finish(options.ties.unwrap_or_default())?,
        object_type: Some((TYPE.to_owned(), Params::new())),
        ..RecordedHistory::default()
    })
}

fn take(builder: &mut HistoryBuilder, line: u64, text: &str) -> Result<(), Error> {
    match event(text).map_err(Error::malformed)? {
        StreamLine::Call { process, call } => builder.call(line, process, call),
        StreamLine::Return {
            process,
            method,
            result,
        } => {
            let (called, argument) = builder.open_call(&process).unzip();
            if let (Some(called), Some(method)) = (called, method.as_deref())
                && called != method
            {
                let reason = format!("process {process} ends its {method} within its {called}");
                return Err(Error::malformed(reason));
            }
            let is_update = called == Some("update");
            if let Some(argument) = argument.filter(|argument| is_update && **argument != result) {
                let reason = format!("the update began with {argument}, not with {result}");
                return Err(Error::malformed(reason));
            }
            let result = if is_update { Value::Nil } else { result };
            builder.ret(line, &process, result)
        }
        _ => Ok(()),
    }
}

/// Reads one event of a snapshot, without its `;`; `None` if it is blank. The end of an update tells the value once more.
///
/// ```
/// use linpoint::format::{StreamLine, snapshot_event};
/// assert!(matches!(snapshot_event("startScan!2")?, Some(StreamLine::Call { .. })));
/// # Ok::<(), linpoint::Error>(())
/// ```
pub fn snapshot_event(text: &str) -> Result<Option<StreamLine>, Error> {
    match text.trim_ascii() {
        "" => Ok(None),
        text => event(text).map(Some).map_err(Error::malformed),
    }
}

fn event(text: &str) -> Result<StreamLine, String> {
    let unknown = || {
        let seen: String = text.chars().take(30).collect();
        format!(
            "{seen:?} is none of startUpdate!P,V, endUpdate!P,V, startScan!P and endScan!P,V0,V1,..."
        )
    };
    let (name, numbers) = text.split_once('!').ok_or_else(unknown)?;
    let integer = |text: &str| {
        let number = text.trim().parse::<i64>().map(Value::Int);
        number.map_err(|_| format!("{text:?} is no integer"))
    };
    let mut numbers = numbers.split(',').map(integer);
    let process = numbers.next().ok_or_else(unknown)??;
    let values = numbers.collect::<Result<Vec<Value>, String>>()?;
    match (name, values.as_slice()) {
        ("startUpdate", [value]) => Ok(StreamLine::Call {
            process,
            call: Call::new("update", value.clone()),
        }),
        ("startScan", []) => Ok(StreamLine::Call {
            process,
            call: Call::new("scan", Value::Nil),
        }),
        ("endUpdate", [value]) => Ok(StreamLine::Return {
            process,
            method: Some("update".to_owned()),
            result: value.clone(),
        }),
        ("endScan", _) => Ok(StreamLine::Return {
            process,
            method: Some("scan".to_owned()),
            result: Value::list(values),
        }),
        _ => Err(unknown()),
    }
}

/// The text of a history, if it is one of a snapshot that holds integers, 0 at first.
pub(super) fn text(history: &History, object_type: Option<(&str, &Params)>) -> io::Result<String> {
    let refuse = |what: String| {
        let reason =
            format!("only snapshots of integers, 0 at first, are written in this format: {what}");
        io::Error::new(io::ErrorKind::Unsupported, reason)
    };
    let initial = object_type.and_then(|(_, params)| params.get("initial"));
    if let Some(initial) = initial.filter(|value| **value != Value::Int(0)) {
        return Err(refuse(format!("here entries hold {initial}")));
    }
    let mut text = String::new();
    for (op, kind) in events_in_order(history.calls(), history.rets()) {
        let op = history.op(OpId(op));
        let unfit = || refuse(format!("not {} by process {}", op.text(), op.process));
        let process = op.process.as_int().filter(|&p| p >= 0).ok_or_else(unfit)?;
        match op.method {
            "update" => {
                let value = match op.argument.as_list() {
                    Some([entry, value]) if entry == op.process => value,
                    _ => op.argument,
                };
                let value = value.as_int().ok_or_else(unfit)?;
                let name = match kind {
                    EventKind::Call => "startUpdate",
                    EventKind::Return => "endUpdate",
                };
                text += &format!("{name}!{process},{value};");
            }
            "scan" if kind == EventKind::Call => text += &format!("startScan!{process};"),
            "scan" => {
                text += &format!("endScan!{process}");
                for value in op.result.and_then(Value::as_list).ok_or_else(unfit)? {
                    text += &format!(",{}", value.as_int().ok_or_else(unfit)?);
                }
                text.push(';');
            }
            _ => return Err(unfit()),
        }
    }
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, parse};

    fn read_text(text: &str) -> Result<RecordedHistory, Error> {
        parse(text.as_bytes(), &ReadOptions::default()).remove(0)
    }

    const TEXT: &str =
        "startUpdate!0,1;startScan!2;endUpdate!0,1;startUpdate!1,-7;endScan!2,1,0;startScan!0;";

    #[test]
    fn events_become_operations() {
        let recorded = read_text(TEXT).unwrap();
        let texts: Vec<_> = recorded.history.ops().map(|op| op.text()).collect();
        assert_eq!(
            texts,
            [
                "update(1)",
                "scan() → [1, 0]",
                "update(-7) → ?",
                "scan() → ?"
            ]
        );
        assert_eq!(
            recorded.object_type,
            Some(("snapshot".to_owned(), Params::new()))
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        let again = super::text(&read_text(TEXT).unwrap().history, None).unwrap();
        assert_eq!(again, format!("{TEXT}\n"));
        let queue = br#"{"process": 0, "method": "enq", "arg": 3, "call": 0, "return": 5}"#;
        let queue = parse(queue, &ReadOptions::default()).remove(0).unwrap();
        let error = super::text(&queue.history, None).unwrap_err();
        assert!(
            error.to_string().ends_with("not enq(3) by process 0"),
            "{error}"
        );
    }

    #[test]
    fn refusals_name_event_and_reason() {
        let cases = [
            (
                "startUpdate!0,1",
                "line 1: event 1: it does not end with \";\"",
            ),
            (
                "startScan!0;\n startScan!x;",
                "line 2: event 2: \"x\" is no integer",
            ),
            (
                "startScan!0;endUpdate!0,1;",
                "line 1: event 2: process 0 ends its update within its scan",
            ),
            (
                "startUpdate!0,1;\nendUpdate!0,0;",
                "line 2: event 2: the update began with 1, not with 0",
            ),
            (
                "endScan!3,0;",
                "line 1: event 1: process 3 returns without an open call",
            ),
            (
                "startScan!0,1;",
                "line 1: event 1: \"startScan!0,1\" is none of startUpdate!P,V, endUpdate!P,V, startScan!P and endScan!P,V0,V1,...",
            ),
        ];
        for (text, reason) in cases {
            let options = ReadOptions {
                format: Some(Format::Snapshot),
                ..ReadOptions::default()
            };
            let error = parse(text.as_bytes(), &options).remove(0).unwrap_err();
            assert_eq!(error.to_string(), reason);
        }
    }
}
