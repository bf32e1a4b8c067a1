//! Makes operations of records: one of each, or one of the event that calls it and the event that ends it.

use std::collections::HashMap;

use super::super::assemble::{LoggedOperation, Outcome};
use super::fields::EventTable;
use super::record::{EventKind, Reader};
use super::time::Time;
use crate::error::Error;
use crate::value::Value;

/// An event of a record.
pub(super) struct MappedEvent {
    pub(super) kind: EventKind,
    /// The key of the mapping that pairs events.
    pub(super) key: &'static str,
    /// What pairs this event.
    pub(super) pair: Value,
    pub(super) time: Option<Time>,
}

/// The event of a record; `None` if it is ignored.
pub(super) fn event_of(
    reader: &mut Reader<'_>,
    line: u64,
    table: &EventTable,
    record: &Value,
) -> Result<Option<MappedEvent>, String> {
    let kind = reader.event_kind(table, record)?;
    if kind == EventKind::Ignore {
        return Ok(None);
    }
    let fields = &reader.mapping.fields;
    let (key, pairs_by) = match (&fields.id, &fields.process) {
        (Some(id), _) => ("id", id),
        (None, Some(process)) => ("process", process),
        (None, None) => unreachable!("bug: a mapping of events has an id or a process"),
    };
    let pair = reader.require(key, pairs_by, record)?;
    let time = match &fields.time {
        Some(path) => Some(reader.require_time("time", path, record, line)?),
        None => None,
    };
    Ok(Some(MappedEvent {
        kind,
        key,
        pair,
        time,
    }))
}

/// The reason why an event cannot end an operation.
pub(super) fn no_open_call(key: &str, pair: &Value) -> String {
    format!(
        "this ends an operation of {key} {pair}, which has none that is open: its call is missing, or comes later"
    )
}

/// The reason why an event cannot call `method`; `open` is the open call with its line.
pub(super) fn open_already(key: &str, pair: &Value, method: &str, open: (&str, u64)) -> String {
    let advice = match key {
        "id" => "an id is of one operation at a time",
        _ => {
            "if calls of one process overlap, say which field pairs the events of an operation (`id`)"
        }
    };
    let (called, line) = open;
    format!(
        "{key} {pair} calls {method:?} while its call of {called:?} on line {line} is open: {advice}"
    )
}

/// Collects the operations of records.
pub(super) struct Operations<'m> {
    pub(super) reader: Reader<'m>,
    pub(super) list: Vec<LoggedOperation>,
    /// The recorded times of each, before clocks are taken into account.
    recorded: Vec<(Option<Time>, Option<Time>)>,
    /// The positions in `list` of the operations that are open, by what pairs events.
    open: HashMap<Value, usize>,
    position: i64,
}

impl<'m> Operations<'m> {
    pub(super) fn new(reader: Reader<'m>) -> Self {
        Operations {
            reader,
            list: Vec::new(),
            recorded: Vec::new(),
            open: HashMap::new(),
            position: 0,
        }
    }

    /// Takes the record on this line.
    pub(super) fn take(&mut self, line: u64, record: &Value) -> Result<(), Error> {
        let fields = &self.reader.mapping.fields;
        self.position += 1;
        if let Some(skip) = &fields.skip
            && self.reader.is_skipped(skip, record)
        {
            return Ok(());
        }
        let taken = match &fields.event {
            Some(event) => self.take_event(line, &event.0, record),
            None => self.take_operation(line, record),
        };
        taken.map_err(|reason| Error::malformed(reason).at_line(line))
    }

    fn take_operation(&mut self, line: u64, record: &Value) -> Result<(), String> {
        let (process, call) = self.reader.called(record)?;
        let (from, until) = self.reader.interval(record, line)?;
        let outcome = match (self.reader.outcome(record)?, until) {
            (Outcome::Ok, None) => Outcome::Unknown,
            (outcome, _) => outcome,
        };
        let result = match outcome {
            Outcome::Ok => self.reader.result(&call.method, record),
            Outcome::Fail | Outcome::Unknown => Value::Nil,
        };
        self.list.push(LoggedOperation {
            process,
            call,
            result,
            outcome,
            hint: self.reader.hint(record)?,
            from: 0,
            until: None,
            line,
            end_line: line,
        });
        self.recorded.push((Some(from), until));
        self.set_interval(self.list.len() - 1)
    }

    fn take_event(&mut self, line: u64, table: &EventTable, record: &Value) -> Result<(), String> {
        let Some(event) = event_of(&mut self.reader, line, table, record)? else {
            return Ok(());
        };
        let MappedEvent {
            kind,
            key,
            pair,
            time,
        } = event;
        if kind == EventKind::Call {
            return self.begin(line, key, pair, time, record);
        }
        let Some(index) = self.open.remove(&pair) else {
            return Err(no_open_call(key, &pair));
        };
        let outcome = match kind {
            EventKind::Return => self.reader.outcome(record)?,
            EventKind::Fail => Outcome::Fail,
            _ => Outcome::Unknown,
        };
        let operation = &mut self.list[index];
        operation.outcome = outcome;
        operation.hint = self.reader.hint(record)?;
        operation.end_line = line;
        if outcome == Outcome::Ok {
            operation.result = self.reader.result(&operation.call.method, record);
        }
        operation.until = Some(self.position);
        self.recorded[index].1 = time;
        match time {
            Some(_) => self.set_interval(index),
            None => Ok(()),
        }
    }

    fn begin(
        &mut self,
        line: u64,
        key: &str,
        pair: Value,
        time: Option<Time>,
        record: &Value,
    ) -> Result<(), String> {
        let (process, call) = self.reader.called(record)?;
        if let Some(&earlier) = self.open.get(&pair) {
            let open = (
                self.list[earlier].call.method.as_str(),
                self.list[earlier].line,
            );
            return Err(open_already(key, &pair, &call.method, open));
        }
        self.open.insert(pair, self.list.len());
        self.list.push(LoggedOperation {
            process,
            call,
            result: Value::Nil,
            outcome: Outcome::Unknown,
            hint: None,
            from: self.position,
            until: None,
            line,
            end_line: line,
        });
        self.recorded.push((time, None));
        match time {
            Some(_) => self.set_interval(self.list.len() - 1),
            None => Ok(()),
        }
    }

    /// Sets the interval of an operation from its recorded times and from how far the clock of its process may be off.
    ///
    /// An operation was called at some time between `call - skew` and `call + skew`, and returned between `return - skew` and
    /// `return + skew`. With the earliest call and the latest return, an operation precedes another one only if it did so
    /// whatever the clocks showed. So a history that was linearizable stays so.
    fn set_interval(&mut self, index: usize) -> Result<(), String> {
        let operation = &mut self.list[index];
        let (call, ret) = self.recorded[index];
        if let (Some(call), Some(ret)) = (call, ret)
            && ret.latest < call.earliest
        {
            return Err(format!(
                "{:?} returns at {}, before its call at {}: are the two times swapped in the mapping?",
                operation.call.method, ret.latest, call.earliest
            ));
        }
        let skew = &self.reader.mapping.fields.skew;
        let skew = skew.of(operation.process.as_ref());
        if let Some(call) = call {
            operation.from = call.earliest.saturating_sub(skew);
        }
        operation.until = ret.map(|ret| ret.latest.saturating_add(skew));
        Ok(())
    }
}
