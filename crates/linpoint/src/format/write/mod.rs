//! Writes histories in the formats of other tools. Each format has a file of its own, and [`write()`] chooses it.
//!
//! A writer asks the reader of its format what it would read, operation by operation. So whatever is written is read back as the same
//! history, and what a format has no place for is refused, not lost.

#[cfg(feature = "edn")]
mod edn;
mod events;
mod jepsen;
mod jepsen_json;
mod operations;
mod porcupine;
#[cfg(test)]
mod tests;
mod violat;

use std::io::{self, Write};

pub(super) use self::events::{Event, events};
use super::{Format, json, snapshot, write_jsonl, write_value};
use crate::history::{History, OpId, Ties};
use crate::spec::Params;
use crate::value::Value;

/// Writes `history` in one of the [formats that linpoint writes](Format::WRITTEN).
///
/// Reading it back gives the same history, but for numbers and map keys that JSON cannot express, which become text as
/// [`Format::Jsonl`] and [`Format::Parquet`]. What any other format has no place for, such as hints or values of some kinds, is an
/// error of kind [`io::ErrorKind::Unsupported`] that names it, and nothing is written then.
///
/// ```
/// use linpoint::format::{Format, write};
/// use linpoint::{Call, HistoryBuilder, Ties, Value};
/// let mut builder = HistoryBuilder::new();
/// builder.call(1, 0.into(), Call::new("write", 5))?;
/// builder.ret(2, &0.into(), Value::Nil)?;
/// let history = builder.finish(Ties::default())?;
/// let mut text = Vec::new();
/// write(Format::JepsenJson, &history, None, &mut text).unwrap();
/// assert_eq!(String::from_utf8_lossy(&text), r#"{"type":"invoke","f":"write","value":5,"process":0,"index":0}
/// {"type":"ok","f":"write","value":5,"process":0,"index":1}
/// "#);
/// # Ok::<(), linpoint::Error>(())
/// ```
pub fn write(
    format: Format,
    history: &History,
    object_type: Option<(&str, &Params)>,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    refuse_parts(format, history)?;
    // Text is complete before the first byte is written, so that nothing is written of what is refused.
    let text = match format {
        Format::Jsonl => return write_jsonl(history, object_type, out),
        #[cfg(feature = "parquet")]
        Format::Parquet => return super::parquet::write(history, object_type, out),
        #[cfg(feature = "edn")]
        Format::Edn => edn::text(history),
        Format::JepsenJson => jepsen_json::text(history),
        Format::Porcupine => porcupine::text(history),
        Format::Violat => violat::text(history, object_type),
        Format::Operations => operations::text(history, object_type),
        Format::Snapshot => snapshot::text(history, object_type),
        other => {
            other.require().map_err(|error| refusal(error.reason()))?;
            let written = Format::WRITTEN.map(Format::name).join(", ");
            let reason = format!("histories are written as {written}, not as {other}");
            Err(refusal(reason))
        }
    }?;
    out.write_all(text.as_bytes())
}

impl Format {
    /// The formats that [`write()`] writes.
    pub const WRITTEN: [Format; 8] = [
        Format::Jsonl,
        Format::Edn,
        Format::JepsenJson,
        Format::Porcupine,
        Format::Violat,
        Format::Operations,
        Format::Snapshot,
        Format::Parquet,
    ];

    /// Whether a file that is written holds any number of histories, not one only.
    pub fn holds_several(self) -> bool {
        matches!(self, Format::Jsonl | Format::Violat)
    }

    /// Whether a file that is written tells that the object is of a type with these parameters. Users name it where it does not.
    ///
    /// ```
    /// use linpoint::format::Format;
    /// assert!(Format::Jsonl.tells_type(&Default::default()));
    /// assert!(!Format::Edn.tells_type(&Default::default()));
    /// ```
    pub fn tells_type(self, params: &Params) -> bool {
        match self {
            Format::Edn | Format::JepsenJson | Format::Porcupine => false,
            Format::Operations => params.is_empty(),
            _ => true,
        }
    }
}

/// What a history may have that not every format has a place for.
#[derive(Clone, Copy)]
enum Part {
    Stuck,
    Clients,
    Hints,
    Objects,
    Notes,
    Failures,
    Times,
}

impl Part {
    fn is_in(self, history: &History) -> bool {
        match self {
            Part::Stuck => history.ends_stuck(),
            Part::Clients => !history.clients().is_empty(),
            Part::Hints => history.has_hints(),
            Part::Objects => has_objects(history),
            Part::Notes => !history.annotations().is_empty(),
            Part::Failures => !history.failed().is_empty(),
            Part::Times => has_times(history),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Part::Stuck => "an end that is stuck",
            Part::Clients => "calls that overlap another one of their client",
            Part::Hints => "hints",
            Part::Objects => "objects with names",
            Part::Notes => "notes",
            Part::Failures => "failed operations",
            Part::Times => "times",
        }
    }
}

fn refuse_parts(format: Format, history: &History) -> io::Result<()> {
    let without_place: &[Part] = match format {
        Format::Edn | Format::JepsenJson => &[Part::Stuck, Part::Clients, Part::Hints],
        Format::Porcupine | Format::Operations => &[
            Part::Stuck,
            Part::Clients,
            Part::Hints,
            Part::Objects,
            Part::Notes,
            Part::Failures,
        ],
        Format::Violat | Format::Snapshot => &[
            Part::Stuck,
            Part::Clients,
            Part::Hints,
            Part::Objects,
            Part::Notes,
            Part::Failures,
            Part::Times,
        ],
        _ => &[],
    };
    match without_place.iter().find(|part| part.is_in(history)) {
        Some(part) => Err(refusal(format!(
            "{format} has no place for {}, which this history has: write it as jsonl or parquet",
            part.name()
        ))),
        None => Ok(()),
    }
}

/// Whether some operation names its object.
fn has_objects(history: &History) -> bool {
    let of_failed = history.failed().iter().map(|op| &op.call.object);
    let mut objects = history.objects().iter().chain(of_failed);
    objects.any(|object| !object.is_nil())
}

fn has_times(history: &History) -> bool {
    !history.is_empty() && history.times(0).is_some()
}

fn refusal(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, reason.into())
}

/// The error about an operation that a format has no place for.
fn refuse_op(format: Format, history: &History, op: OpId, why: &str) -> io::Error {
    let op = history.describe(op);
    refusal(format!("{format} has no place for {op}: {why}"))
}

/// The times of the operations, if the order of events follows from them as they are read; `None` if the history has none. Others are
/// refused.
fn order_of_times(format: Format, history: &History) -> io::Result<Option<Ties>> {
    match history.ties() {
        Some(Ties::CallFirst) => Ok(Some(Ties::CallFirst)),
        None if !has_times(history) => Ok(None),
        _ => Err(refusal(format!(
            "{format} has no place for the order of this history: it does not follow from its times, invocation first; \
             write it as jsonl or parquet"
        ))),
    }
}

/// The JSON of `value`, if it is read as the same value.
fn json_text(value: &Value) -> Option<String> {
    let mut text = Vec::new();
    write_value(value, &mut text).ok()?;
    let text = String::from_utf8(text).ok()?;
    (json::value(&text).as_ref() == Ok(value)).then_some(text)
}
