//! Reads events line by line, for checking a history while it is recorded.

use super::line::{EventLineKind, Line, decode};
use crate::error::Error;
use crate::history::{Annotation, Call};
use crate::spec::Params;
use crate::value::Value;

/// What one line of a stream of events says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StreamLine {
    /// A history begins.
    Header {
        /// The type of its objects, if it names one.
        object_type: Option<String>,
        /// The parameters of the type.
        params: Params,
    },
    /// A process calls.
    Call {
        /// The process.
        process: Value,
        /// What it calls.
        call: Call,
    },
    /// The open call of a process returns.
    Return {
        /// The process.
        process: Value,
        /// The method that was called, where it is repeated.
        method: Option<String>,
        /// The result.
        result: Value,
    },
    /// The open call of a process did not happen.
    Fail {
        /// The process.
        process: Value,
    },
    /// The open call of a process stays pending.
    Crash {
        /// The process.
        process: Value,
    },
    /// Something happened beside the operations.
    Note(String),
}

/// Why a stuck end is refused.
const STUCK: &str = "whether operations are stuck for a reason is decided only when the whole history is there: check it with `linpoint check`";

/// Reads one line of JSON; `None` if it is blank. Refuses whole operations and whole histories, which are not events.
///
/// ```
/// use linpoint::format::{StreamLine, stream_line};
/// let line = stream_line(r#"{"process": 0, "event": "return", "ret": 1}"#)?;
/// assert!(matches!(line, Some(StreamLine::Return { .. })));
/// assert!(stream_line(r#"{"method": "read", "ret": 1, "call": 0, "return": 5}"#).is_err());
/// # Ok::<(), linpoint::Error>(())
/// ```
pub fn stream_line(text: &str) -> Result<Option<StreamLine>, Error> {
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    let event = match decode(text).map_err(Error::malformed)? {
        Line::Event(event) => event,
        Line::Header(about) if !about.clients.is_empty() => {
            return Err(Error::malformed(
                "\"clients\" is used only when the whole history is there: check it with `linpoint check`",
            ));
        }
        Line::Header(about) if about.ends_stuck => return Err(Error::malformed(STUCK)),
        Line::Stuck => return Err(Error::malformed(STUCK)),
        Line::Header(about) => {
            return Ok(Some(StreamLine::Header {
                object_type: about.object_type,
                params: about.params,
            }));
        }
        Line::Note { text, .. } => return Ok(Some(StreamLine::Note(text))),
        Line::CrashOfAll { .. } => {
            return Ok(Some(StreamLine::Note(Annotation::CRASH.to_owned())));
        }
        Line::Operation(_) => {
            return Err(Error::malformed(
                "a whole operation, where events are needed: each call and each return on its own line, as they happen",
            ));
        }
        Line::Whole(_) => {
            return Err(Error::malformed(
                "a whole history, where events are needed: each call and each return on its own line, as they happen",
            ));
        }
    };
    if event.hint.is_some() {
        return Err(Error::malformed(
            "\"hint\" is used only when the whole history is there: check it with `linpoint check`",
        ));
    }
    let process = event.process;
    Ok(Some(match event.kind {
        EventLineKind::Call {
            object,
            method,
            argument,
        } => StreamLine::Call {
            process,
            call: Call {
                object,
                method: method.into_owned(),
                argument,
            },
        },
        EventLineKind::Return { method, result } => StreamLine::Return {
            process,
            method: method.map(|method| method.into_owned()),
            result,
        },
        EventLineKind::Fail => StreamLine::Fail { process },
        EventLineKind::Crash => StreamLine::Crash { process },
    }))
}
