//! Reads logs of any shape, by a mapping that says which fields of a record are the parts of an operation.
//!
//! `docs/formats.md` describes what a mapping says; [`fields`] has it as data.

mod fields;
mod guess;
mod inline;
mod operations;
mod path;
mod record;
mod source;
mod stream;
mod time;

use std::time::Duration;

use self::fields::{ByMethod, Fields, Selector, Source, paths_of};
pub use self::guess::Guess;
use self::operations::Operations;
use self::path::Path;
use self::record::Reader;
pub use self::stream::MappedStream;
use super::assemble::{Order, assemble};
use super::{Note, ReadOptions, RecordedHistory};
use crate::engine::Ticker;
use crate::error::{Error, did_you_mean};
use crate::spec::Params;
use crate::value::Value;

/// Says which fields of the records of a log are the parts of operations: process, object, method, argument, result and times.
///
/// ```
/// use linpoint::format::{Mapping, ReadOptions, parse};
/// let log = r#"
/// {"who": "a", "op": "put", "in": 1, "start": 0.5, "end": 1.25}
/// {"who": "b", "op": "get", "out": 1, "start": 0.75, "end": 2}
/// "#;
/// let mapping = Mapping::from_toml(r#"
/// process = ".who"
/// method = ".op"
/// methods = { put = "write", get = "read" }
/// argument = ".in"
/// result = ".out"
/// call = ".start"
/// return = ".end"
/// unit = "s"
/// "#)?;
/// let options = ReadOptions { mapping: Some(mapping.into()), ..ReadOptions::default() };
/// let recorded = parse(log.as_bytes(), &options).remove(0)?;
/// let texts: Vec<_> = recorded.history.ops().map(|op| op.text()).collect();
/// assert_eq!(texts, ["write(1)", "read() → 1"]);
/// # Ok::<(), linpoint::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mapping {
    fields: Fields,
    /// The key and the text of each path that selects a part of operations, by the number of the path.
    names: Vec<(&'static str, String)>,
}

impl Mapping {
    /// The mapping that is written as TOML. An error names the line.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        let fields = toml::from_str(text).map_err(|error| {
            let reason = Error::usage(reason(error.message()));
            match error.span() {
                Some(span) => {
                    let before = text.as_bytes().get(..span.start).unwrap_or_default();
                    reason.at_line(memchr::memchr_iter(b'\n', before).count() as u64 + 1)
                }
                None => reason,
            }
        })?;
        Mapping::new(fields)
    }

    /// The mapping that is written on one line: `process=.client, method=.op, call=.start, return=.end`.
    ///
    /// The keys are those of TOML, tables have dots (`status.ok=done`), and several values of a table are separated by `|`.
    pub fn from_inline(text: &str) -> Result<Self, Error> {
        let table = inline::parse(text).map_err(Error::usage)?;
        let fields = table
            .try_into()
            .map_err(|error: toml::de::Error| Error::usage(reason(error.message())))?;
        Mapping::new(fields)
    }

    /// The same mapping for clocks that may be off by so much, unless the mapping says otherwise for a process.
    pub fn with_skew(mut self, skew: Duration) -> Result<Self, Error> {
        self.fields.skew.default = i64::try_from(skew.as_nanos()).unwrap_or(i64::MAX);
        self.check().map_err(Error::usage)?;
        Ok(self)
    }

    fn new(fields: Fields) -> Result<Self, Error> {
        let mut mapping = Mapping {
            fields,
            names: Vec::new(),
        };
        mapping.check().map_err(Error::usage)?;
        mapping.number_paths();
        Ok(mapping)
    }

    /// Refuses a mapping that says too little, or two things that do not go together.
    fn check(&self) -> Result<(), String> {
        self.check_methods()?;
        let Fields {
            event,
            call,
            ret,
            duration,
            duration_unit,
            id,
            time,
            process,
            skew,
            ..
        } = &self.fields;
        let refuse = |reason: &str| Err(reason.to_owned());
        if duration_unit.is_some() && duration.is_none() {
            return refuse("`duration_unit` is the unit of a duration: say its path (`duration`)");
        }
        let Some(event) = event else {
            return match (id, time) {
                (Some(_), _) => refuse(
                    "`id` pairs events: say which records begin and end operations (`event`)",
                ),
                (None, Some(_)) => refuse(
                    "`time` is the time of an event: say which records begin and end operations (`event`), or, for one record for \
                     each operation, `call` and `return` instead of `time`",
                ),
                (None, None) => self.check_interval(),
            };
        };
        if call.is_some() || ret.is_some() || duration.is_some() {
            return refuse(
                "`call`, `return` and `duration` are for one record for each operation, and `event` is for two: leave one out (an \
                 event has its `time`)",
            );
        }
        if event.0.call.0.is_empty() || event.0.ret.0.is_empty() {
            return refuse(
                "`event` needs both `call` and `return`: which records begin and end operations",
            );
        }
        if id.is_none() && process.is_none() {
            return refuse(
                "say what pairs the end of an operation with its call: `id`, or `process`",
            );
        }
        if time.is_none() && !skew.is_none() {
            return refuse("`skew` is about times, and the order of records has none: say `time`");
        }
        Ok(())
    }

    /// Refuses records of operations unless exactly two of call, return and duration are known.
    fn check_interval(&self) -> Result<(), String> {
        let Fields {
            call,
            ret,
            duration,
            ..
        } = &self.fields;
        let reason = match (call, ret, duration) {
            (Some(_), Some(_), None) | (Some(_), None, Some(_)) | (None, Some(_), Some(_)) => {
                return Ok(());
            }
            (Some(_), Some(_), Some(_)) => {
                "`call`, `return` and `duration` are one too many: leave one out"
            }
            (Some(_), None, None) => {
                "`return` is missing: the path of the time of the return; or say how long operations took (`duration`)"
            }
            (None, Some(_), None) => {
                "`call` is missing: the path of the time of the call; or say how long operations took (`duration`)"
            }
            (None, None, Some(_)) => {
                "`duration` needs the time of the call (`call`) or that of the return (`return`)"
            }
            (None, None, None) => {
                "say when operations were called and returned (`call` and `return`, for one record for each operation), or which \
                 records begin and end them (`event`)"
            }
        };
        Err(reason.to_owned())
    }

    /// Refuses an argument or a result of a method under the name that it has in the log only: no method would have it.
    fn check_methods(&self) -> Result<(), String> {
        let Fields {
            methods,
            argument,
            result,
            ..
        } = &self.fields;
        for (part, selectors) in [("argument", argument), ("result", result)] {
            let ByMethod::Each(selectors) = selectors else {
                continue;
            };
            for name in selectors.keys() {
                let is_new = methods.values().any(|new| new == name);
                if let (Some(new), false) = (methods.get(name), is_new) {
                    return Err(format!(
                        "`{part}` has {name:?}, which `methods` renames: write {new:?} instead"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Numbers the paths that select parts of operations.
    fn number_paths(&mut self) {
        let names = &mut self.names;
        let mut number = |key: &'static str, path: &mut Path| {
            path.number = names.len();
            names.push((key, path.to_string()));
        };
        let fields = &mut self.fields;
        let selectors = [
            ("process", &mut fields.process),
            ("object", &mut fields.object),
            ("key", &mut fields.key),
            ("id", &mut fields.id),
            ("hint", &mut fields.hint),
        ];
        for (key, selector) in selectors {
            selector
                .iter_mut()
                .for_each(|selector| paths_of(selector, &mut |path| number(key, path)));
        }
        paths_of(&mut fields.method, &mut |path| number("method", path));
        let by_method = [
            ("argument", &mut fields.argument),
            ("result", &mut fields.result),
        ];
        for (key, selectors) in by_method {
            let mut each =
                |selector: &mut Selector| paths_of(selector, &mut |path| number(key, path));
            match selectors {
                ByMethod::None => {}
                ByMethod::All(selector) => each(selector),
                ByMethod::Each(selectors) => selectors.values_mut().for_each(each),
            }
        }
        let event = fields
            .event
            .as_mut()
            .and_then(|event| event.0.path.as_mut());
        let status = fields
            .status
            .as_mut()
            .and_then(|status| status.0.path.as_mut());
        let paths = [
            ("call", fields.call.as_mut()),
            ("return", fields.ret.as_mut()),
            ("duration", fields.duration.as_mut()),
            ("time", fields.time.as_mut()),
            ("event", event),
            ("status", status),
        ];
        for (key, path) in paths {
            path.into_iter().for_each(|path| number(key, path));
        }
    }

    /// The parameters of the type.
    fn params(&self) -> Params {
        let params = self.fields.params.iter();
        params
            .map(|(name, value)| (name.clone(), Value::from(value.clone())))
            .collect()
    }

    /// How the records of `text` are written.
    fn source(&self, text: &str) -> Source {
        self.fields.source.unwrap_or_else(|| source::detect(text))
    }

    /// Whether `text` is read line by line as JSON, so that its last line may be cut off without damage to the others.
    pub(super) fn reads_json_lines(&self, text: &str) -> bool {
        self.source(text) == Source::Jsonl
    }
}

/// The history of the log `text`.
pub(super) fn read(
    text: &str,
    mapping: &Mapping,
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    let fields = &mapping.fields;
    let budget = options.budget();
    let mut ticker = Ticker::new(&budget);
    let mut operations = Operations::new(Reader::new(mapping));
    source::records(
        text,
        mapping.source(text),
        fields.cells,
        |(line, record)| {
            let allowed = ticker.tick();
            allowed.map_err(|limit| Error::limit(limit).at_line(line))?;
            let record = record.map_err(|reason| Error::malformed(reason).at_line(line))?;
            operations.take(line, &record)
        },
    )?;
    if let Some(reason) = operations.reader.never_found() {
        return Err(Error::malformed(reason));
    }
    let order = match (&fields.event, &fields.time) {
        (Some(_), None) => Order::Records,
        _ => Order::Times,
    };
    let unused = fields.skew.unused(&operations.list);
    let (history, mut notes) = assemble(operations.list, order, options)?;
    notes.extend((unused > 0).then_some(Note::UnusedSkew(unused)));
    let object_type = fields.object_type.clone();
    Ok(RecordedHistory {
        history,
        notes,
        object_type: object_type.map(|name| (name, mapping.params())),
        ..RecordedHistory::default()
    })
}

/// The reason of an error about TOML, in the words of mappings.
fn reason(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown field ")
        && let Some((name, known)) = rest.split_once(", expected ")
    {
        let name = name.trim_matches('`');
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        let meant = did_you_mean(name, known.iter().copied());
        return format!(
            "unknown key {name:?}; {meant}known are {}",
            known.join(", ")
        );
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("{name} is missing");
    }
    message.replace('\n', "; ")
}

#[cfg(test)]
mod tests;
