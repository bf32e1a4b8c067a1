//! Decodes one JSON line, independently of the lines around it.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::super::merge::LogClock;
use super::super::{ReadOptions, json};
use super::fields::{Fields, Key, Keys, missing, named};
use crate::error::{Error, did_you_mean};
use crate::history::{Clients, HistoryBuilder, OperationParts, Ties};
use crate::spec::{Params, value_is_result};
use crate::value::{Value, ValueRef};

/// What a line says.
pub(super) enum Line<'a> {
    Operation(Operation<'a>),
    Event(EventLine<'a>),
    Note {
        text: String,
        time: Option<i64>,
    },
    /// The whole system crashed.
    CrashOfAll {
        time: Option<i64>,
    },
    /// The history ends here, stuck.
    Stuck,
    Header(Box<About>),
    Whole(Box<Whole<'a>>),
}

/// An operation with times.
pub(super) struct Operation<'a> {
    pub(super) process: Option<ValueRef<'a>>,
    pub(super) object: ValueRef<'a>,
    pub(super) method: Cow<'a, str>,
    pub(super) argument: ValueRef<'a>,
    pub(super) result: ValueRef<'a>,
    pub(super) called: i64,
    pub(super) returned: Option<i64>,
    pub(super) hint: Option<i64>,
    /// Whether it speaks of `value`, `inv` and `res`.
    single_value: bool,
}

impl Operation<'_> {
    /// Adds it to the history.
    #[inline]
    pub(super) fn add_to(self, builder: &mut HistoryBuilder, line: u64) -> Result<(), Error> {
        let parts = OperationParts {
            process: self.process,
            object: self.object,
            method: &self.method,
            argument: self.argument,
            result: self.result,
            called: self.called,
            returned: self.returned,
        };
        builder.operation_parts(line, parts)?;
        if let Some(hint) = self.hint {
            builder.hint(hint);
        }
        Ok(())
    }
}

/// Something that a process did.
pub(super) struct EventLine<'a> {
    pub(super) process: Value,
    pub(super) kind: EventLineKind<'a>,
    /// When it happened, where that is recorded.
    pub(super) time: Option<i64>,
    /// Where in the order of its object the operation took effect, where that is recorded.
    pub(super) hint: Option<i64>,
}

pub(super) enum EventLineKind<'a> {
    Call {
        object: Value,
        method: Cow<'a, str>,
        argument: Value,
    },
    Return {
        /// Repeated from the call by some recorders.
        method: Option<Cow<'a, str>>,
        result: Value,
    },
    Fail,
    Crash,
}

/// What a header says of the history after it, or a whole history of itself.
#[derive(Clone, Debug, Default)]
pub(in crate::format) struct About {
    pub(in crate::format) object_type: Option<String>,
    pub(in crate::format) params: Params,
    pub(in crate::format) ties: Option<Ties>,
    pub(in crate::format) expected: Option<bool>,
    pub(in crate::format) clients: Clients,
    pub(in crate::format) ends_stuck: bool,
    pub(in crate::format) clock: Option<LogClock>,
}

impl About {
    /// The type with its parameters.
    pub(in crate::format) fn object_type(self, options: &ReadOptions) -> Option<(String, Params)> {
        let name = match self.object_type {
            // Parameters without a type belong to the type that the user names.
            None if !self.params.is_empty() => options.object_type.clone(),
            named => named,
        };
        Some((name?, self.params))
    }
}

/// A history on one line.
pub(super) struct Whole<'a> {
    pub(super) about: About,
    pub(super) operations: Vec<Operation<'a>>,
}

/// What the header `text` says, where nothing but a header can stand.
#[cfg(feature = "parquet")]
pub(in crate::format) fn decode_header(text: &str) -> Result<About, String> {
    match decode(text)? {
        Line::Header(about) => Ok(*about),
        _ => Err("not a header".to_owned()),
    }
}

/// What the line `text` says.
pub(super) fn decode(text: &str) -> Result<Line<'_>, String> {
    let mut fields = Fields::none();
    fields.read(text)?;
    if fields.has(Key::Event) {
        event(&fields)
    } else if fields.has(Key::Ops) {
        whole(&fields)
    } else if fields.has(Key::Linpoint) {
        header(&fields)
    } else if fields.has(Key::Method) {
        operation(&fields).map(Line::Operation)
    } else if fields.has(Key::Stuck) {
        stuck(&fields)
    } else {
        Err(
            "neither an event (\"event\"), an operation (\"method\"), a whole history (\"ops\"), a header (\"linpoint\") nor a stuck end (\"stuck\"); a log of another shape is read with --map"
                .to_owned(),
        )
    }
}

fn operation<'a>(fields: &Fields<'a>) -> Result<Operation<'a>, String> {
    let single_value = fields.has(Key::Inv);
    let method = fields
        .text(Key::Method)?
        .ok_or_else(|| missing(Key::Method))?;
    let (call, ret) = if single_value {
        use Key::*;
        fields.only(
            "an operation with \"inv\"",
            const { Keys::of(&[Process, Object, Method, Value, Ok, Inv, Res, Hint]) },
        )?;
        (Inv, Res)
    } else {
        use Key::*;
        fields.only(
            "an operation",
            const { Keys::of(&[Process, Object, Method, Arg, Ret, Call, Return, Hint]) },
        )?;
        (Call, Return)
    };
    let called = fields.time(call)?.ok_or_else(|| missing(call))?;
    let returned = fields.time(ret)?;
    let (argument, result) = if !single_value {
        (fields.value_ref(Key::Arg)?, fields.value_ref(Key::Ret)?)
    } else if fields.has(Key::Ok) {
        (fields.value_ref(Key::Value)?, fields.value_ref(Key::Ok)?)
    } else if value_is_result(&method) {
        (Value::Nil.into(), fields.value_ref(Key::Value)?)
    } else {
        (fields.value_ref(Key::Value)?, Value::Nil.into())
    };
    Ok(Operation {
        process: match fields.given(Key::Process) {
            Some(raw) => Some(named(Key::Process, json::value_ref(raw))?),
            None => None,
        },
        object: fields.value_ref(Key::Object)?,
        method,
        argument,
        result,
        called,
        returned,
        hint: fields.integer(Key::Hint)?,
        single_value,
    })
}

fn event<'a>(fields: &Fields<'a>) -> Result<Line<'a>, String> {
    use Key::*;
    let kind = fields.text(Event)?.ok_or_else(|| missing(Event))?;
    if kind == "note" {
        fields.only("a note", const { Keys::of(&[Event, Text]) })?;
        let text = fields.text(Text)?.ok_or_else(|| missing(Text))?;
        return Result::Ok(Line::Note {
            text: text.into_owned(),
            time: fields.integer(Time).unwrap_or(None),
        });
    }
    if kind == "crash" && !fields.has(Process) {
        fields.only("a crash of the whole system", const { Keys::of(&[Event]) })?;
        return Result::Ok(Line::CrashOfAll {
            time: fields.integer(Time).unwrap_or(None),
        });
    }
    let kind = match kind.as_ref() {
        "call" => {
            fields.only(
                "a call",
                const { Keys::of(&[Event, Process, Object, Method, Arg]) },
            )?;
            EventLineKind::Call {
                object: fields.value(Object)?,
                method: fields.text(Method)?.ok_or_else(|| missing(Method))?,
                argument: fields.value(Arg)?,
            }
        }
        "return" => {
            fields.only(
                "a return",
                const { Keys::of(&[Event, Process, Method, Ret, Hint]) },
            )?;
            EventLineKind::Return {
                method: fields.text(Method)?,
                result: fields.value(Ret)?,
            }
        }
        "fail" => {
            fields.only("a failure", const { Keys::of(&[Event, Process]) })?;
            EventLineKind::Fail
        }
        "crash" | "info" => {
            fields.only("a crash", const { Keys::of(&[Event, Process, Hint]) })?;
            EventLineKind::Crash
        }
        other => {
            return Err(format!(
                "unknown event {other:?}; {}known are call, return, fail, crash, info, note",
                usual_event(other)
            ));
        }
    };
    let process = fields.given(Process).ok_or_else(|| missing(Process))?;
    Result::Ok(Line::Event(EventLine {
        process: named(Process, json::value(process))?,
        kind,
        // Other tools may use the key for something else.
        time: fields.integer(Time).unwrap_or(None),
        hint: fields.integer(Hint)?,
    }))
}

/// Part of a message about an unknown event: the one that other formats call so.
fn usual_event(name: &str) -> String {
    const KNOWN: [&str; 6] = ["call", "return", "fail", "crash", "info", "note"];
    let meant = match name.to_lowercase().as_str() {
        "invoke" | "invocation" | "inv" | "start" | "begin" | "request" => "call",
        "ok" | "ret" | "response" | "res" | "complete" | "end" | "finish" => "return",
        "failed" | "failure" => "fail",
        "timeout" | "unknown" | "pending" => "crash",
        _ => return did_you_mean(name, KNOWN),
    };
    format!("did you mean {meant}? ")
}

fn stuck<'a>(fields: &Fields<'a>) -> Result<Line<'a>, String> {
    fields.only("a stuck end", const { Keys::of(&[Key::Stuck]) })?;
    match fields.truth(Key::Stuck)? {
        Some(true) => Ok(Line::Stuck),
        _ => Err(
            "a line with \"stuck\" alone ends a history that is stuck: it must be true".to_owned(),
        ),
    }
}

fn header<'a>(fields: &Fields<'a>) -> Result<Line<'a>, String> {
    use Key::*;
    fields.only(
        "a header",
        const {
            Keys::of(&[
                Linpoint,
                Type,
                Params,
                Ties,
                Linearizable,
                Note,
                Clients,
                Stuck,
                Clock,
            ])
        },
    )?;
    match fields.integer(Linpoint)? {
        Some(1) => Result::Ok(Line::Header(Box::new(about(fields)?))),
        Some(version) => Err(format!(
            "version {version} of this format is not known, only 1 is"
        )),
        None => Err(missing(Linpoint)),
    }
}

fn whole<'a>(fields: &Fields<'a>) -> Result<Line<'a>, String> {
    use Key::*;
    fields.only(
        "a whole history",
        const {
            Keys::of(&[
                Linpoint,
                Type,
                Params,
                Ops,
                Ties,
                Linearizable,
                Note,
                Ambiguous,
                Clients,
                Stuck,
            ])
        },
    )?;
    let ops = fields.get(Ops).unwrap_or("[]");
    let ops: Vec<&RawValue> =
        json::from_str(ops).map_err(|_| "\"ops\" must be a list of operations".to_owned())?;
    let operations = ops.into_iter().zip(1..).map(|(raw, number)| {
        let mut fields = Fields::none();
        fields
            .read(raw.get())
            .and_then(|()| operation(&fields))
            .map_err(|reason| format!("operation {number}: {reason}"))
    });
    let operations = operations.collect::<Result<Vec<_>, _>>()?;
    let mut about = about(fields)?;
    // The monitors' regression data, whose dialect this is, starts registers with 0.
    let is_register = about
        .object_type
        .as_deref()
        .is_some_and(|name| name.eq_ignore_ascii_case("register"));
    if is_register && operations.iter().any(|operation| operation.single_value) {
        about
            .params
            .entry("initial".to_owned())
            .or_insert(crate::Value::Int(0));
    }
    Result::Ok(Line::Whole(Box::new(self::Whole { about, operations })))
}

fn about(fields: &Fields<'_>) -> Result<About, String> {
    let ties = match fields.text(Key::Ties)?.as_deref() {
        None => None,
        Some("invocation-first") => Some(Ties::CallFirst),
        Some("response-first") => Some(Ties::ReturnFirst),
        Some(other) => {
            return Err(format!(
                "\"ties\" must be \"invocation-first\" or \"response-first\", not {other:?}"
            ));
        }
    };
    let params = pairs(fields, Key::Params)?.into_iter();
    let params = params.map(|(name, value)| (name.plain_text().into_owned(), value));
    Ok(About {
        object_type: fields.text(Key::Type)?.map(Cow::into_owned),
        params: params.collect(),
        ties,
        expected: fields.truth(Key::Linearizable)?,
        clients: pairs(fields, Key::Clients)?.into_iter().collect(),
        ends_stuck: fields.truth(Key::Stuck)? == Some(true),
        clock: fields.given(Key::Clock).map(LogClock::of).transpose()?,
    })
}

/// The pairs of the object at a key; none if the key is not there.
fn pairs(fields: &Fields<'_>, key: Key) -> Result<Vec<(Value, Value)>, String> {
    let Some(raw) = fields.given(key) else {
        return Ok(Vec::new());
    };
    let value = named(key, json::value(raw))?;
    let pairs = value.as_map().ok_or_else(|| {
        let (name, kind) = (key.name(), value.kind_name());
        format!("\"{name}\" must be an object, not {kind}")
    })?;
    Ok(pairs.to_vec())
}
