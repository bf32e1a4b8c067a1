//! Merges logs that were recorded with different clocks into one history.
//!
//! A log may be recorded by a program on one machine while other logs are recorded elsewhere. Their clocks differ, by an offset that is known
//! only up to an error. An interval is widened by the error of its log, to both sides: then an operation is said to precede another one only
//! if it did so whatever the clocks really showed. So a history that was linearizable stays so, and what is lost is the order of
//! operations that are closer to each other than the errors of both.
//!
//! Logs that read the same clock of one machine need no widening among each other. Of two clocks only their difference matters, so that one
//! keeps its times and the other one takes both errors: the more operations keep their order.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::assemble::{LoggedOperation, Outcome, separate_overlapping_calls};
use super::{RecordedHistory, json};
use crate::error::Error;
use crate::history::{Call, History, HistoryBuilder, NEVER, Ties};
use crate::spec::Params;
use crate::value::Value;

/// What a log says of its clock, by `clock` in its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogClock {
    /// The time of day at time 0 of the log, in nanoseconds of Unix time.
    pub unix: i64,
    /// How far that may differ from what the clock of the machine said.
    pub error: i64,
    /// What a clock of the machine said at time 0, and the name of this clock. Logs with the same name count the same nanoseconds.
    pub machine: Option<(i64, String)>,
}

impl LogClock {
    /// Reads the object at `clock` of a header.
    pub(super) fn of(raw: &str) -> Result<Self, String> {
        let value = json::value(raw)?;
        let field = |name: &str| value.as_map().and_then(|pairs| find(pairs, name));
        let integer = |name: &str| match field(name) {
            Some(Value::Int(number)) => Ok(*number),
            _ => Err(format!(
                "\"clock\" needs an integer {name:?}, in nanoseconds"
            )),
        };
        let machine = match (field("monotonic"), field("machine")) {
            (None, None) => None,
            _ => Some((
                integer("monotonic")?,
                field("machine").map_or_else(String::new, |name| name.plain_text().into_owned()),
            )),
        };
        let (unix, error) = (integer("unix")?, integer("error")?);
        if error < 0 {
            return Err("the \"error\" of \"clock\" must not be below 0".to_owned());
        }
        Ok(LogClock {
            unix,
            error,
            machine,
        })
    }
}

fn find<'v>(pairs: &'v [(Value, Value)], name: &str) -> Option<&'v Value> {
    let mut pairs = pairs.iter();
    pairs
        .find(|(key, _)| key.plain_text() == name)
        .map(|(_, value)| value)
}

/// A log that is to be merged.
#[derive(Clone, Debug)]
pub struct Log {
    /// What was read.
    pub recorded: RecordedHistory,
    /// What is known of its clock: times of this log plus the offset are times of day, or of any scale that all logs share, up to the error. It
    /// counts more than what the log says.
    pub clock: Option<(i64, u64)>,
}

/// What became of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widened {
    /// The name of the log.
    pub input: Arc<str>,
    /// The number of its operations.
    pub operations: usize,
    /// The number of its clock: logs with the same one are not widened against each other.
    pub clock: usize,
    /// By how much each interval was widened to each side, in nanoseconds.
    pub by: u64,
}

/// Logs as one history.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Their operations and notes. Times count from the first event, in nanoseconds.
    pub history: History,
    /// The type that they name.
    pub object_type: Option<(String, Params)>,
    /// What became of each log.
    pub logs: Vec<Widened>,
}

/// Merges logs. `skew` is how far the time of day on each machine may be off, for logs that say which clock they have read.
///
/// Processes whose names occur in several logs are named after their log, too. Where intervals are widened, calls of one process may
/// overlap; those get processes of their own ([`History::clients`]).
pub fn merge(logs: Vec<Log>, skew: Option<u64>) -> Result<Merged, Error> {
    let clocks = Clocks::of(&logs, skew)?;
    let object_type = common_type(&logs)?;
    let names = Names::of(&logs);
    let mut operations = Vec::new();
    let mut notes = Vec::new();
    let mut widened = Vec::new();
    for (number, log) in logs.iter().enumerate() {
        let (clock, offset) = clocks.of_log[number];
        let shift = Shift {
            offset,
            by: clocks.errors[clock],
        };
        let read = Read::new(&log.recorded, shift, |process| names.name(number, process))?;
        operations.extend(read.operations);
        notes.extend(read.notes);
        widened.push(Widened {
            input: log.recorded.input.clone(),
            operations: log.recorded.history.len(),
            clock,
            by: shift.by,
        });
    }
    let history = history(operations, notes)?;
    Ok(Merged {
        history,
        object_type,
        logs: widened,
    })
}

/// The clocks that the logs were recorded with.
struct Clocks {
    /// Of each log, the number of its clock, and what is added to its times.
    of_log: Vec<(usize, i64)>,
    /// Of each clock, its error.
    errors: Vec<u64>,
}

impl Clocks {
    fn of(logs: &[Log], skew: Option<u64>) -> Result<Self, Error> {
        let mut machines: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut groups = Vec::new();
        for (number, log) in logs.iter().enumerate() {
            match (log.clock, &log.recorded.clock) {
                (Some(_), _) | (None, Some(LogClock { machine: None, .. })) => {
                    groups.push(vec![number])
                }
                (
                    None,
                    Some(LogClock {
                        machine: Some((_, name)),
                        ..
                    }),
                ) => machines.entry(name).or_default().push(number),
                (None, None) if logs.len() == 1 => groups.push(vec![number]),
                (None, None) => {
                    let reason = "nothing is known of the clock of this log: say with --clock FILE=OFFSET,ERROR what is to be added to its times, and how far this may be off";
                    return Err(log.recorded.locate(Error::malformed(reason)));
                }
            }
        }
        groups.extend(machines.into_values());
        let mut clocks = Clocks {
            of_log: vec![(0, 0); logs.len()],
            errors: Vec::new(),
        };
        for group in &groups {
            let error = clocks.add(group, logs, skew, groups.len() > 1)?;
            clocks.errors.push(error);
        }
        match clocks.errors[..] {
            [_] => clocks.errors = vec![0],
            [first, second] => {
                let count = |clock: usize| {
                    let logs = logs.iter().zip(&clocks.of_log);
                    let of_clock = logs.filter(|(_, (of_log, _))| *of_log == clock);
                    let counts = of_clock.map(|(log, _)| log.recorded.history.len());
                    counts.sum::<usize>()
                };
                let both = first.saturating_add(second);
                clocks.errors = match count(0) >= count(1) {
                    true => vec![0, both],
                    false => vec![both, 0],
                };
            }
            _ => {}
        }
        Ok(clocks)
    }

    /// Adds the logs of one clock. Returns its error.
    fn add(
        &mut self,
        group: &[usize],
        logs: &[Log],
        skew: Option<u64>,
        has_others: bool,
    ) -> Result<u64, Error> {
        let clock = self.errors.len();
        if let [number] = group
            && let Some((offset, error)) = logs[*number].clock
        {
            self.of_log[*number] = (clock, offset);
            return Ok(error);
        }
        // What is added to what the clock of the machine said gives the time of day.
        let mut offsets = Vec::new();
        for &number in group {
            let log = &logs[number].recorded;
            let Some(said) = &log.clock else { continue };
            let start = said.machine.as_ref().map_or(0, |(start, _)| *start);
            offsets.push((said.error as u64, said.unix.saturating_sub(start)));
            self.of_log[number] = (clock, start);
            if has_others && skew.is_none() {
                let reason = "the logs were recorded with different clocks: say with --skew TIME by how much the time of day on each machine may be off";
                return Err(log.locate(Error::usage(reason)));
            }
        }
        let Some(&(_, offset)) = offsets.iter().min() else {
            return Ok(0);
        };
        for &number in group {
            self.of_log[number].1 = self.of_log[number].1.saturating_add(offset);
        }
        // The time of day may have been set between the beginnings of two logs.
        let errors = offsets
            .iter()
            .map(|(error, other)| error.saturating_add(other.abs_diff(offset)));
        Ok(errors.max().unwrap_or(0).saturating_add(skew.unwrap_or(0)))
    }
}

/// How the times of a log change.
#[derive(Clone, Copy)]
struct Shift {
    offset: i64,
    by: u64,
}

impl Shift {
    fn earliest(self, time: i64) -> i64 {
        time.saturating_add(self.offset)
            .saturating_sub_unsigned(self.by)
    }

    fn latest(self, time: i64) -> i64 {
        time.saturating_add(self.offset)
            .saturating_add_unsigned(self.by)
    }
}

/// The operations and notes of a log, with widened times.
struct Read {
    operations: Vec<LoggedOperation>,
    notes: Vec<(i64, String)>,
}

impl Read {
    fn new(
        recorded: &RecordedHistory,
        shift: Shift,
        name: impl Fn(&Value) -> Value,
    ) -> Result<Self, Error> {
        let history = &recorded.history;
        let untimed = |line: u32| {
            let reason =
                "this operation has no times, so it cannot be placed among those of other logs";
            recorded.locate(Error::malformed(reason).at_line(u64::from(line)))
        };
        if history.crashes().next().is_some() {
            let reason = "a crash of the whole system would end the open calls of all logs, so this log cannot be merged";
            return Err(recorded.locate(Error::malformed(reason)));
        }
        // By the rank of the event.
        let mut times = vec![None; 2 * history.len()];
        let mut operations = Vec::new();
        for op in history.ops() {
            let (called, returned) = op.times.ok_or_else(|| untimed(op.line))?;
            times[op.call as usize] = Some((called, op.line));
            let is_pending = op.ret == NEVER;
            if !is_pending {
                times[op.ret as usize] = Some((returned, op.line));
            }
            operations.push(LoggedOperation {
                process: Some(name(op.process)),
                call: Call {
                    object: op.object.clone(),
                    method: op.method.to_owned(),
                    argument: op.argument.clone(),
                },
                result: op.result.cloned().unwrap_or_default(),
                outcome: if is_pending {
                    Outcome::Unknown
                } else {
                    Outcome::Ok
                },
                hint: op.hint,
                from: shift.earliest(called),
                until: (!is_pending).then(|| shift.latest(returned)),
                line: 0,
                end_line: 0,
            });
        }
        for op in history.failed() {
            let (Some(called), Some(failed)) = op.times else {
                return Err(untimed(op.line));
            };
            operations.push(LoggedOperation {
                process: Some(name(&op.process)),
                call: op.call.clone(),
                result: Value::Nil,
                outcome: Outcome::Fail,
                hint: None,
                from: shift.earliest(called),
                until: Some(shift.latest(failed)),
                line: 0,
                end_line: 0,
            });
        }
        let known: Vec<(i64, u32)> = times.into_iter().flatten().collect();
        if let Some(pair) = known.windows(2).find(|pair| pair[0].0 > pair[1].0) {
            let reason = "the times go back here, so they are not those of one clock";
            return Err(recorded.locate(Error::malformed(reason).at_line(u64::from(pair[1].1))));
        }
        let notes = history.annotations().iter().map(|note| {
            let before = known.get((note.rank as usize).saturating_sub(1));
            let time = note.time.or(before.map(|(time, _)| *time)).unwrap_or(0);
            (time.saturating_add(shift.offset), note.text.clone())
        });
        Ok(Read {
            notes: notes.collect(),
            operations,
        })
    }
}

/// The type that the logs name, which must be one.
fn common_type(logs: &[Log]) -> Result<Option<(String, Params)>, Error> {
    let mut common: Option<&(String, Params)> = None;
    for log in logs {
        match (common, &log.recorded.object_type) {
            (None, named) => common = named.as_ref(),
            (Some(common), Some(named)) if common != named => {
                let reason = format!(
                    "this is a history of the type {}, and another one is of the type {}",
                    named.0, common.0
                );
                return Err(log.recorded.locate(Error::malformed(reason)));
            }
            _ => {}
        }
    }
    Ok(common.cloned())
}

/// The names of processes: those of the log, unless another log has one of the same name.
struct Names {
    shared: HashSet<Value>,
    /// What each log is called.
    logs: Vec<String>,
}

impl Names {
    fn of(logs: &[Log]) -> Self {
        let mut seen = HashSet::new();
        let mut shared = HashSet::new();
        for log in logs {
            let history = &log.recorded.history;
            let failed = history.failed().iter().map(|failed| &failed.process);
            let own: HashSet<&Value> = history.processes().iter().chain(failed).collect();
            shared.extend(
                own.iter()
                    .filter(|name| seen.contains(**name))
                    .map(|name| (*name).clone()),
            );
            seen.extend(own.into_iter().cloned());
        }
        let stem = |(number, log): (usize, &Log)| {
            let file = log.recorded.input.rsplit('/').next().unwrap_or_default();
            let stem = file.split('.').next().unwrap_or_default();
            let is_unique = logs
                .iter()
                .filter(|other| other.recorded.input.ends_with(file))
                .count()
                == 1;
            if is_unique {
                stem.to_owned()
            } else {
                (number + 1).to_string()
            }
        };
        let stems = logs.iter().enumerate().map(stem).collect();
        Names {
            shared,
            logs: stems,
        }
    }

    fn name(&self, log: usize, process: &Value) -> Value {
        match self.shared.contains(process) {
            true => format!("{}:{}", self.logs[log], process.plain_text()).into(),
            false => process.clone(),
        }
    }
}

/// What happens at a time. Calls come first, so that operations which merely touch overlap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Call(usize),
    Note(usize),
    End(usize),
}

/// The history of these operations and notes.
fn history(
    mut operations: Vec<LoggedOperation>,
    notes: Vec<(i64, String)>,
) -> Result<History, Error> {
    let (_, clients) = separate_overlapping_calls(&mut operations, false);
    let mut moments: Vec<(i64, Moment)> = Vec::with_capacity(2 * operations.len() + notes.len());
    for (index, operation) in operations.iter().enumerate() {
        moments.push((operation.from, Moment::Call(index)));
        moments.extend(operation.until.map(|until| (until, Moment::End(index))));
    }
    moments.extend(
        notes
            .iter()
            .enumerate()
            .map(|(index, (time, _))| (*time, Moment::Note(index))),
    );
    moments.sort_unstable();
    let start = moments.first().map_or(0, |(time, _)| *time);
    let mut builder = HistoryBuilder::new();
    for (line, (time, moment)) in (1..).zip(moments) {
        let time = time.saturating_sub(start);
        let index = match moment {
            Moment::Note(index) => {
                builder.annotate_at(notes[index].1.clone(), Some(time));
                continue;
            }
            Moment::Call(index) | Moment::End(index) => index,
        };
        let operation = &mut operations[index];
        let process = operation.process.clone().unwrap_or_default();
        match (moment, operation.outcome) {
            (Moment::Call(_), _) => {
                let call = std::mem::replace(&mut operation.call, Call::new("", Value::Nil));
                builder.call(line, process, call)?;
            }
            (_, Outcome::Fail) => builder.fail(line, &process)?,
            _ => builder.ret(line, &process, std::mem::take(&mut operation.result))?,
        }
        if let Some(hint) = operation.hint {
            builder.hint(hint);
        }
        builder.at(time);
    }
    Ok(builder.finish(Ties::default())?.with_clients(clients))
}

#[cfg(test)]
mod tests;
