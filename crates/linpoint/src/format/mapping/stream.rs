//! Reads records by a mapping while they are written, for checking a history while it is recorded.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::super::assemble::Outcome;
use super::super::{StreamLine, json};
use super::Mapping;
use super::fields::Source;
use super::operations::{MappedEvent, event_of, no_open_call, open_already};
use super::record::{EventKind, Reader};
use crate::error::Error;
use crate::value::Value;

/// Reads the lines of a log by a [`Mapping`] as they are written: JSON lines, one for each event, in the order of time.
///
/// ```
/// use linpoint::format::{Mapping, StreamLine};
/// let mapping = Mapping::from_inline("process=.who, method=.op, argument=.in, result=.out, event=.what")?;
/// let mut stream = mapping.stream()?;
/// let line = stream.line(1, r#"{"who": "a", "what": "call", "op": "write", "in": 3}"#)?;
/// assert!(matches!(line, Some(StreamLine::Call { .. })));
/// # Ok::<(), linpoint::Error>(())
/// ```
#[derive(Debug)]
pub struct MappedStream<'m> {
    reader: Reader<'m>,
    /// The open calls, by what pairs events.
    open: HashMap<Value, OpenCall>,
    lanes: HashMap<Option<Value>, Lanes>,
    clock: Clock,
}

/// A call that has not returned.
#[derive(Debug)]
struct OpenCall {
    process: Option<Value>,
    lane: usize,
    method: String,
    line: u64,
}

impl Mapping {
    /// Reads a log by this mapping while it is written. Needs events: an operation with both its times is over when it is written, and
    /// what was called before it may still come.
    pub fn stream(&self) -> Result<MappedStream<'_>, Error> {
        let fields = &self.fields;
        let refuse = |reason: &str| Err(Error::usage(reason));
        if fields.event.is_none() {
            return refuse(
                "one record for each operation, where events are needed: each call and each return in a record of its own, as they \
                 happen (`event`)",
            );
        }
        if fields.hint.is_some() {
            return refuse(
                "`hint` is used only when the whole log is there: leave it out, or check the log with `linpoint check`",
            );
        }
        if !fields.skew.is_none() {
            return refuse(
                "`skew` makes calls earlier than lines that were read already: check the log with `linpoint check` when it is complete",
            );
        }
        if fields.source.is_some_and(|source| source != Source::Jsonl) {
            return refuse(
                "a log is read as JSON lines while it is written, not as another `source`",
            );
        }
        Ok(MappedStream {
            reader: Reader::new(self),
            open: HashMap::new(),
            lanes: HashMap::new(),
            clock: Clock::default(),
        })
    }
}

impl MappedStream<'_> {
    /// What the mapping says before the first line: the type of the object, if it names one.
    pub fn header(&self) -> StreamLine {
        StreamLine::Header {
            object_type: self.reader.mapping.fields.object_type.clone(),
            params: self.reader.mapping.params(),
        }
    }

    /// Reads one line; `None` if it is no event. The errors name the line.
    pub fn line(&mut self, line: u64, text: &str) -> Result<Option<StreamLine>, Error> {
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let event = json::value_of_json(text).and_then(|record| self.event(line, &record));
        event.map_err(|reason| Error::malformed(reason).at_line(line))
    }

    /// The reason why the mapping cannot be right, if a path of it was in no record so far. Whatever follows from the records
    /// is in doubt then.
    pub fn doubt(&self) -> Option<Error> {
        self.reader.never_found().map(Error::malformed)
    }

    fn event(&mut self, line: u64, record: &Value) -> Result<Option<StreamLine>, String> {
        let fields = &self.reader.mapping.fields;
        let (Some(table), skip) = (&fields.event, &fields.skip) else {
            unreachable!("bug: a mapping without events is refused");
        };
        if let Some(skip) = skip
            && self.reader.is_skipped(skip, record)
        {
            return Ok(None);
        }
        let Some(event) = event_of(&mut self.reader, line, &table.0, record)? else {
            return Ok(None);
        };
        match event.time.map(|time| (time.earliest, time.latest)) {
            Some((earliest, _)) if event.kind == EventKind::Call => {
                self.clock.call(earliest, line)?
            }
            Some((_, latest)) => self.clock.end(latest, line)?,
            None => {}
        }
        match event.kind {
            EventKind::Call => self.call(line, event, record).map(Some),
            _ => self.end(event, record).map(Some),
        }
    }

    fn call(
        &mut self,
        line: u64,
        event: MappedEvent,
        record: &Value,
    ) -> Result<StreamLine, String> {
        let (process, call) = self.reader.called(record)?;
        let MappedEvent { key, pair, .. } = event;
        if let Some(open) = self.open.get(&pair) {
            let open = (open.method.as_str(), open.line);
            return Err(open_already(key, &pair, &call.method, open));
        }
        let lane = self.lanes.entry(process.clone()).or_default().take();
        let open = OpenCall {
            process,
            lane,
            method: call.method.clone(),
            line,
        };
        let process = open.name();
        self.open.insert(pair, open);
        Ok(StreamLine::Call { process, call })
    }

    fn end(&mut self, event: MappedEvent, record: &Value) -> Result<StreamLine, String> {
        let MappedEvent {
            kind, key, pair, ..
        } = event;
        let Some(open) = self.open.remove(&pair) else {
            return Err(no_open_call(key, &pair));
        };
        let outcome = match kind {
            EventKind::Return => self.reader.outcome(record)?,
            EventKind::Fail => Outcome::Fail,
            _ => Outcome::Unknown,
        };
        let process = open.name();
        if outcome != Outcome::Unknown
            && let Some(lanes) = self.lanes.get_mut(&open.process)
        {
            lanes.free.push(Reverse(open.lane));
        }
        Ok(match outcome {
            Outcome::Ok => StreamLine::Return {
                process,
                method: None,
                result: self.reader.result(&open.method, record),
            },
            Outcome::Fail => StreamLine::Fail { process },
            Outcome::Unknown => StreamLine::Crash { process },
        })
    }
}

impl OpenCall {
    /// The process of the call in the history, in which a process has one open call at a time: `3`, or `3/2` for a second one.
    fn name(&self) -> Value {
        match (&self.process, self.lane) {
            (None, lane) => Value::Int(lane as i64),
            (Some(process), 0) => process.clone(),
            (Some(process), lane) => format!("{}/{}", process.plain_text(), lane + 1).into(),
        }
    }
}

/// The processes that the calls of one process are spread over. One whose call stays pending is never free again.
#[derive(Debug, Default)]
struct Lanes {
    free: BinaryHeap<Reverse<usize>>,
    count: usize,
}

impl Lanes {
    fn take(&mut self) -> usize {
        if let Some(Reverse(lane)) = self.free.pop() {
            return lane;
        }
        self.count += 1;
        self.count - 1
    }
}

/// Refuses lines whose times say another order than the lines. At equal times a call comes before a return, as where the whole log is
/// read.
#[derive(Debug, Default)]
struct Clock {
    /// The time of the last event, and its line.
    last: Option<(i64, u64)>,
    /// The time of the last return, and its line.
    ended: Option<(i64, u64)>,
}

impl Clock {
    fn call(&mut self, time: i64, line: u64) -> Result<(), String> {
        if let Some((ended, earlier)) = self.ended.filter(|&(ended, _)| time <= ended) {
            return Err(out_of_order(time, ended, earlier));
        }
        self.pass(time, line)
    }

    fn end(&mut self, time: i64, line: u64) -> Result<(), String> {
        self.pass(time, line)?;
        self.ended = Some((time, line));
        Ok(())
    }

    fn pass(&mut self, time: i64, line: u64) -> Result<(), String> {
        if let Some((last, earlier)) = self.last.filter(|&(last, _)| time < last) {
            return Err(out_of_order(time, last, earlier));
        }
        self.last = Some((time, line));
        Ok(())
    }
}

fn out_of_order(time: i64, other: i64, line: u64) -> String {
    format!(
        "this happened at {time}, not after line {line}, which happened at {other}: lines are taken in the order of time while they are \
         written; leave `time` out if this is their order, or check the log with `linpoint check` when it is complete"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPING: &str = "process=.p, method=.op, argument=.in, result=.out, event.path=.e, event.call=call, event.return=ret, \
                           event.fail=fail, event.unknown=lost, event.ignore=tick";

    /// What the lines say, each as `process what`.
    fn said(mapping: &str, lines: &[&str]) -> Result<Vec<String>, String> {
        let mapping = Mapping::from_inline(mapping).map_err(|error| error.to_string())?;
        let mut stream = mapping.stream().map_err(|error| error.to_string())?;
        let mut all = Vec::new();
        for (number, line) in (1..).zip(lines) {
            let said = stream
                .line(number, line)
                .map_err(|error| error.to_string())?;
            all.extend(said.map(|said| match said {
                StreamLine::Call { process, call } => {
                    format!("{process} {}({})", call.method, call.argument)
                }
                StreamLine::Return {
                    process, result, ..
                } => format!("{process} = {result}"),
                StreamLine::Fail { process } => format!("{process} fails"),
                StreamLine::Crash { process } => format!("{process} crashes"),
                other => format!("{other:?}"),
            }));
        }
        Ok(all)
    }

    #[test]
    fn records_become_events() {
        let lines = [
            r#"{"e":"call","p":1,"op":"write","in":3}"#,
            r#"{"e":"tick"}"#,
            "",
            r#"{"e":"ret","p":1,"out":null}"#,
            r#"{"e":"call","p":1,"op":"read"}"#,
            r#"{"e":"lost","p":1}"#,
            r#"{"e":"call","p":1,"op":"read"}"#,
            r#"{"e":"fail","p":1}"#,
            r#"{"e":"call","p":1,"op":"read"}"#,
            r#"{"e":"ret","p":1,"out":3}"#,
        ];
        let expected = [
            "1 write(3)",
            "1 = nil",
            "1 read(nil)",
            "1 crashes",
            "\"1/2\" read(nil)",
            "\"1/2\" fails",
            "\"1/2\" read(nil)",
            "\"1/2\" = 3",
        ];
        assert_eq!(said(MAPPING, &lines).unwrap(), expected);
    }

    #[test]
    fn ids_pair_overlapping_calls() {
        let mapping = format!("{MAPPING}, id=.id");
        let lines = [
            r#"{"e":"call","p":1,"id":1,"op":"inc"}"#,
            r#"{"e":"call","p":1,"id":2,"op":"read"}"#,
            r#"{"e":"ret","p":1,"id":1}"#,
            r#"{"e":"ret","p":1,"id":2,"out":1}"#,
        ];
        let expected = ["1 inc(nil)", "\"1/2\" read(nil)", "1 = nil", "\"1/2\" = 1"];
        assert_eq!(said(&mapping, &lines).unwrap(), expected);
        let twice = said(&mapping, &[lines[0], lines[0]]).unwrap_err();
        assert_eq!(
            twice,
            "line 2: id 1 calls \"inc\" while its call of \"inc\" on line 1 is open: an id is of one operation at a time"
        );
        let ended = said(&mapping, &[lines[2]]).unwrap_err();
        assert!(
            ended.starts_with("line 1: this ends an operation of id 1"),
            "{ended}"
        );
    }

    #[test]
    fn times_must_be_in_order() {
        let mapping = format!("{MAPPING}, time=.t");
        let call = |process: u32, time: u32| {
            format!(r#"{{"e":"call","p":{process},"op":"inc","t":{time}}}"#)
        };
        let ret = |process: u32, time: u32| format!(r#"{{"e":"ret","p":{process},"t":{time}}}"#);
        let read = |lines: &[String]| {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            said(&mapping, &lines).map(|said| said.len())
        };
        assert_eq!(
            read(&[call(1, 5), call(2, 5), ret(1, 5), ret(2, 5), call(1, 6)]),
            Ok(5)
        );
        // A call at the time of a return overlaps it, wherever it stands.
        for lines in [
            [call(1, 5), ret(1, 6), call(2, 6)],
            [call(1, 5), call(2, 7), ret(1, 6)],
        ] {
            let error = read(&lines).unwrap_err();
            assert!(
                error.starts_with("line 3: this happened at 6, not after line 2"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_needs_the_whole_log_is_refused() {
        let cases = [
            (
                "method=.op, call=.s, return=.e",
                "one record for each operation, where events are needed",
            ),
            (
                &format!("{MAPPING}, hint=.h"),
                "`hint` is used only when the whole log is there",
            ),
            (
                &format!("{MAPPING}, time=.t, unit=ms, skew=5ms"),
                "`skew` makes calls earlier",
            ),
            (
                &format!("{MAPPING}, source=csv"),
                "a log is read as JSON lines while it is written",
            ),
        ];
        for (mapping, reason) in cases {
            let error = said(mapping, &[]).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }

    #[test]
    fn a_path_in_no_record_is_a_doubt() {
        let mapping = Mapping::from_inline(MAPPING).unwrap();
        let mut stream = mapping.stream().unwrap();
        stream
            .line(1, r#"{"e":"call","p":1,"op":"read","in":null}"#)
            .unwrap();
        assert!(stream.doubt().is_none());
        stream.line(2, r#"{"e":"ret","p":1,"oot":3}"#).unwrap();
        let doubt = stream.doubt().unwrap().to_string();
        assert!(
            doubt.starts_with("no record has .out, which the mapping takes for `result`"),
            "{doubt}"
        );
        stream
            .line(3, r#"{"e":"call","p":1,"op":"read","in":null}"#)
            .unwrap();
        stream.line(4, r#"{"e":"ret","p":1,"out":3}"#).unwrap();
        assert!(stream.doubt().is_none());
    }
}
