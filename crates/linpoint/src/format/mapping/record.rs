//! Reads records by a mapping: what each says of an operation.

use super::super::assemble::Outcome;
use super::Mapping;
use super::fields::{EventTable, Fields, Selector, Skip, StatusTable, Test, Tests};
use super::path::Path;
use super::time::{self, Scale, Time};
use crate::history::Call;
use crate::value::Value;

/// What the records of one log have shown so far.
#[derive(Debug)]
pub(super) struct Reader<'m> {
    pub(super) mapping: &'m Mapping,
    /// By the number of a path: whether it was looked for, and whether it was found.
    seen: Vec<Seen>,
    /// The scale of the first time, and its line.
    scale: Option<(Scale, u64)>,
}

#[derive(Clone, Debug, Default)]
enum Seen {
    #[default]
    NotSought,
    /// Why the first record has nothing there.
    Missing(String),
    Found,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    Call,
    Return,
    Fail,
    Unknown,
    Ignore,
}

impl<'m> Reader<'m> {
    pub(super) fn new(mapping: &'m Mapping) -> Self {
        Reader {
            mapping,
            seen: vec![Seen::default(); mapping.names.len()],
            scale: None,
        }
    }

    /// What the record has at `path`; null counts as nothing.
    pub(super) fn get<'r>(&mut self, path: &Path, record: &'r Value) -> Option<&'r Value> {
        let found = path.get(record);
        let seen = &mut self.seen[path.number];
        match (&seen, found) {
            (Seen::Found, _) => {}
            (_, Some(_)) => *seen = Seen::Found,
            (Seen::NotSought, None) => *seen = Seen::Missing(path.why_missing(record)),
            (Seen::Missing(_), None) => {}
        }
        found.filter(|value| !value.is_nil())
    }

    fn select(&mut self, selector: &Selector, record: &Value) -> Value {
        match selector {
            Selector::Path(path) => self.get(path, record).cloned().unwrap_or_default(),
            Selector::Constant(value) => value.clone(),
            Selector::List(items) => {
                let items = items.iter().map(|item| self.select(item, record));
                Value::list(items.collect::<Vec<_>>())
            }
        }
    }

    /// Like [`select`](Self::select), where there must be something; `key` is that of the mapping.
    pub(super) fn require(
        &mut self,
        key: &str,
        selector: &Selector,
        record: &Value,
    ) -> Result<Value, String> {
        match (self.select(selector, record), selector) {
            (Value::Nil, Selector::Path(path)) => Err(missing(key, path, record)),
            (value, _) => Ok(value),
        }
    }

    /// Why the mapping cannot be right, if a path that was looked for is in no record.
    pub(super) fn never_found(&self) -> Option<String> {
        let named = self.seen.iter().zip(&self.mapping.names);
        let mut missing = named.filter_map(|(seen, (key, path))| match seen {
            Seen::Missing(why) => Some(format!(
                "no record has {path}, which the mapping takes for `{key}`: {why} in the first record; correct the path, or leave \
                 `{key}` out"
            )),
            Seen::NotSought | Seen::Found => None,
        });
        missing.next()
    }

    /// Whether the record is none of operations.
    pub(super) fn is_skipped(&mut self, skip: &Skip, record: &Value) -> bool {
        let lacks = |path: &Path| path.get(record).is_none_or(Value::is_nil);
        skip.without.0.iter().any(lacks)
            || holds(
                &skip.tests,
                skip.path.as_ref().and_then(|path| path.get(record)),
                record,
            )
    }

    /// The process and the call of the operation that the record begins.
    pub(super) fn called(&mut self, record: &Value) -> Result<(Option<Value>, Call), String> {
        let fields = &self.mapping.fields;
        let process = fields.process.as_ref();
        let process = process.map(|process| self.require("process", process, record));
        let name = match self.require("method", &fields.method, record)? {
            Value::List(_) | Value::Map(_) | Value::Nil => {
                return Err("the method is no text: `method` is the path of a name".to_owned());
            }
            name => name.plain_text().into_owned(),
        };
        let method = fields.methods.get(&name).cloned().unwrap_or(name);
        let mut optional = |selector: &Option<Selector>| {
            let value = selector
                .as_ref()
                .map(|selector| self.select(selector, record));
            value.filter(|value| !value.is_nil())
        };
        let object = match (optional(&fields.object), optional(&fields.key)) {
            (Some(object), Some(key)) => Value::list([object, key]),
            (object, key) => object.or(key).unwrap_or_default(),
        };
        let argument = fields.argument.of(&method);
        let argument = argument.map(|argument| self.select(argument, record));
        let call = Call {
            object,
            method,
            argument: argument.unwrap_or_default(),
        };
        Ok((process.transpose()?, call))
    }

    /// The result of a method in the record that tells it.
    pub(super) fn result(&mut self, method: &str, record: &Value) -> Value {
        let result = self.mapping.fields.result.of(method);
        let result = result.map(|result| self.select(result, record));
        result.unwrap_or_default()
    }

    /// Where in the order of its object the operation took effect, if the record tells.
    pub(super) fn hint(&mut self, record: &Value) -> Result<Option<i64>, String> {
        let Some(selector) = &self.mapping.fields.hint else {
            return Ok(None);
        };
        match self.select(selector, record) {
            Value::Nil => Ok(None),
            Value::Int(hint) => Ok(Some(hint)),
            Value::Text(text) if text.trim().parse::<i64>().is_ok() => Ok(text.trim().parse().ok()),
            other => Err(format!(
                "the hint is {other}: `hint` is the path of an integer that says where in the order of the object an operation took \
                 effect"
            )),
        }
    }

    /// How the operation ended.
    pub(super) fn outcome(&mut self, record: &Value) -> Result<Outcome, String> {
        let Some(status) = &self.mapping.fields.status else {
            return Ok(Outcome::Ok);
        };
        let StatusTable {
            path,
            ok,
            fail,
            unknown,
            absent,
            other,
        } = &status.0;
        let value = path.as_ref().and_then(|path| self.get(path, record));
        let listed = [
            (ok, Outcome::Ok),
            (fail, Outcome::Fail),
            (unknown, Outcome::Unknown),
        ];
        let found = listed
            .into_iter()
            .find(|(tests, _)| holds(tests, value, record));
        let otherwise = match value {
            Some(_) => *other,
            None => absent.or(*other),
        };
        let outcome = found.map(|(_, outcome)| outcome).or(otherwise);
        outcome.ok_or_else(|| match (value, path) {
            (Some(value), _) => format!(
                "the status {value} is in no list: add it to status.ok (done), status.fail (did not happen) or status.unknown, or say \
                 status.other"
            ),
            (None, Some(path)) => format!(
                "{}; say what that means with status.absent",
                missing("status", path, record)
            ),
            (None, None) => {
                "the record has none of the paths of `status`; say what that means with status.absent"
                    .to_owned()
            }
        })
    }

    /// What kind of event the record is.
    pub(super) fn event_kind(
        &mut self,
        table: &EventTable,
        record: &Value,
    ) -> Result<EventKind, String> {
        let value = table.path.as_ref().and_then(|path| self.get(path, record));
        let listed = [
            (&table.ignore, EventKind::Ignore),
            (&table.call, EventKind::Call),
            (&table.ret, EventKind::Return),
            (&table.fail, EventKind::Fail),
            (&table.unknown, EventKind::Unknown),
        ];
        let found = listed
            .into_iter()
            .find(|(tests, _)| holds(tests, value, record));
        found.map(|(_, kind)| kind).ok_or_else(|| match (value, &table.path) {
            (Some(value), _) => format!(
                "the kind of event {value} is in no list: add it to event.call, event.return, event.fail, event.unknown or event.ignore"
            ),
            (None, Some(path)) => missing("event", path, record),
            (None, None) => "the record has none of the paths of `event`: add one to event.ignore, or skip such records with \
                             skip.without"
                .to_owned(),
        })
    }

    /// The time at `path`, if there is one.
    pub(super) fn time(
        &mut self,
        path: &Path,
        record: &Value,
        line: u64,
    ) -> Result<Option<Time>, String> {
        let Some(value) = self.get(path, record) else {
            return Ok(None);
        };
        let fields = &self.mapping.fields;
        let time = time::parse(value, fields.unit).map_err(|why| format!("{path}: {why}"))?;
        let (scale, first) = *self.scale.get_or_insert((time.scale, line));
        if time.scale != scale {
            return Err(format!(
                "{path}: this time is {}, and that on line {first} is {scale}: say the unit of the numbers, such as unit = \"ms\"",
                time.scale
            ));
        }
        if time.scale == Scale::Plain && !fields.skew.is_none() {
            return Err(format!(
                "{path}: times are numbers without a unit, so `skew` cannot be added: say unit = \"ns\", \"us\", \"ms\" or \"s\""
            ));
        }
        Ok(Some(time))
    }

    /// The times at which the operation of a record was called and returned, if it did.
    pub(super) fn interval(
        &mut self,
        record: &Value,
        line: u64,
    ) -> Result<(Time, Option<Time>), String> {
        let Fields {
            call,
            ret,
            duration,
            ..
        } = &self.mapping.fields;
        match (call, ret, duration) {
            (Some(call), Some(ret), _) => {
                let call = self.require_time("call", call, record, line)?;
                Ok((call, self.time(ret, record, line)?))
            }
            (Some(call), None, Some(duration)) => {
                let call = self.require_time("call", call, record, line)?;
                let length = self.length(duration, record, call.scale)?;
                let ret = length.map(|length| call.after(length)).transpose()?;
                Ok((call, ret))
            }
            (None, Some(ret), Some(duration)) => {
                let ret = self.require_time("return", ret, record, line)?;
                let length = self.length(duration, record, ret.scale)?;
                let length = length.ok_or_else(|| missing("duration", duration, record))?;
                Ok((ret.before(length)?, Some(ret)))
            }
            _ => unreachable!("bug: a mapping has two of call, return and duration"),
        }
    }

    /// How long the operation of a record took, if it tells, on the scale of its times.
    fn length(
        &mut self,
        path: &Path,
        record: &Value,
        scale: Scale,
    ) -> Result<Option<Time>, String> {
        let Some(value) = self.get(path, record) else {
            return Ok(None);
        };
        let fields = &self.mapping.fields;
        let unit = fields.duration_unit.or(fields.unit);
        let length = time::parse_length(value, unit).map_err(|why| format!("{path}: {why}"))?;
        match (length.scale, scale) {
            (Scale::Plain, Scale::Nanoseconds) => Err(format!(
                "{path}: the unit of durations is not known: say duration_unit = \"ns\", \"us\", \"ms\" or \"s\""
            )),
            (Scale::Nanoseconds, Scale::Plain) => Err(format!(
                "{path}: the duration has a unit, and times are numbers without one: say unit = \"ns\", \"us\", \"ms\" or \"s\""
            )),
            _ => Ok(Some(length)),
        }
    }

    /// Like [`time`](Self::time), where there must be one.
    pub(super) fn require_time(
        &mut self,
        key: &str,
        path: &Path,
        record: &Value,
        line: u64,
    ) -> Result<Time, String> {
        let time = self.time(path, record, line)?;
        time.ok_or_else(|| missing(key, path, record))
    }
}

fn missing(key: &str, path: &Path, record: &Value) -> String {
    match path.get(record) {
        Some(_) => format!("{path}, which is the `{key}`, is null"),
        None => format!(
            "{path}, which is the `{key}`, is missing: {}",
            path.why_missing(record)
        ),
    }
}

/// Whether one of the tests holds; `value` is that of the table's path.
fn holds(tests: &Tests, value: Option<&Value>, record: &Value) -> bool {
    tests.0.iter().any(|test| match test {
        Test::Has(path) => path.get(record).is_some_and(|found| !found.is_nil()),
        Test::Is(text) => value.is_some_and(|value| value.plain_text() == text.as_str()),
    })
}
