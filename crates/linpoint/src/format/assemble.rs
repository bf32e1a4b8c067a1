//! Makes a history of the operations of a log, whose clients may have several calls open.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::{Note, ReadOptions};
use crate::error::Error;
use crate::history::{Call, Clients, History, Operation};
use crate::value::Value;

/// An operation as a log tells it.
pub(super) struct LoggedOperation {
    /// The client; `None` if the log has none.
    pub(super) process: Option<Value>,
    pub(super) call: Call,
    /// The result, if it was done.
    pub(super) result: Value,
    pub(super) outcome: Outcome,
    /// Where in the order of its object it took effect, if the log tells.
    pub(super) hint: Option<i64>,
    /// The time of the call, or the position of its record.
    pub(super) from: i64,
    /// The time of the return or of the failure, or the position of its record; `None` if it is unknown.
    pub(super) until: Option<i64>,
    /// The line of the call.
    pub(super) line: u64,
    /// The line that ends the operation.
    pub(super) end_line: u64,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "mapping", derive(serde::Deserialize))]
#[cfg_attr(feature = "mapping", serde(rename_all = "lowercase"))]
pub(super) enum Outcome {
    /// It was done.
    Ok,
    /// It did not happen.
    #[cfg_attr(not(feature = "mapping"), allow(dead_code))]
    Fail,
    /// It is unknown whether it happened.
    Unknown,
}

/// What orders the calls and returns of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Their times.
    Times,
    /// The order of records.
    Records,
}

/// The history of these operations.
pub(super) fn assemble(
    mut operations: Vec<LoggedOperation>,
    order: Order,
    options: &ReadOptions,
) -> Result<(History, Vec<Note>), Error> {
    // A history with failed operations is written as events, in which operations of one process do not touch.
    let may_touch = !operations
        .iter()
        .any(|operation| operation.outcome == Outcome::Fail);
    let (moved, clients) = separate_overlapping_calls(&mut operations, may_touch);
    let notes = match moved {
        0 => Vec::new(),
        count => vec![Note::OverlappingCalls(count)],
    };
    let history = match order {
        Order::Times => by_times(operations, options)?,
        Order::Records => by_records(operations, options)?,
    };
    Ok((history.with_clients(clients), notes))
}

/// Gives an operation that overlaps an earlier one of its process a process of its own. Returns how many these are, and the
/// clients of these processes.
///
/// In a history, a process has one open call at a time. A client of a log may have several: if it does not wait for an answer,
/// if it goes on after a timeout, or if its clock may be off so that intervals are widened. Verdicts depend on intervals only,
/// not on processes, except for types whose operations depend on the client, such as a reentrant lock without an owner in its
/// arguments.
///
/// `may_touch` says whether a process may call at the time of its last return.
pub(super) fn separate_overlapping_calls(
    operations: &mut [LoggedOperation],
    may_touch: bool,
) -> (u64, Clients) {
    let mut order: Vec<usize> = (0..operations.len()).collect();
    order.sort_by_key(|&i| (operations[i].from, operations[i].until.unwrap_or(i64::MAX)));
    let named = operations
        .iter()
        .filter_map(|operation| operation.process.clone());
    let mut taken: HashSet<Value> = named.collect();
    let mut lanes: HashMap<Option<Value>, Lanes> = HashMap::new();
    let mut moved = 0;
    let mut clients = Clients::new();
    for index in order {
        let operation = &mut operations[index];
        let until = match operation.outcome {
            Outcome::Unknown => None,
            Outcome::Ok | Outcome::Fail => operation.until.or(Some(operation.from)),
        };
        let process = operation.process.take();
        let lanes = lanes.entry(process.clone()).or_default();
        let free_before = operation.from.saturating_add(i64::from(may_touch));
        let lane = lanes.take(free_before, until);
        moved += u64::from(lane > 0 && process.is_some());
        operation.process = Some(match process {
            None => Value::Int(lane as i64),
            Some(process) if lane == 0 => process,
            Some(process) => {
                let name = lanes.names.entry(lane).or_insert_with(|| {
                    let numbers = lane as u64 + 1..;
                    let names =
                        numbers.map(|number| format!("{}/{number}", process.plain_text()).into());
                    let free = |name: &Value| !taken.contains(name);
                    let name = names.into_iter().find(free).unwrap_or_default();
                    taken.insert(name.clone());
                    name
                });
                clients.insert(name.clone(), process);
                name.clone()
            }
        });
    }
    (moved, clients)
}

/// The processes that the operations of one process are spread over.
#[derive(Default)]
struct Lanes {
    /// When each lane is free again, earliest first. Those that never are, are left out.
    free: BinaryHeap<(Reverse<i64>, Reverse<usize>)>,
    count: usize,
    names: HashMap<usize, Value>,
}

impl Lanes {
    /// The lane of an operation, free before this time. The caller must take the operations in the order of their calls.
    fn take(&mut self, free_before: i64, until: Option<i64>) -> usize {
        let lane = match self.free.peek() {
            Some(&(Reverse(free), Reverse(lane))) if free < free_before => {
                self.free.pop();
                lane
            }
            _ => {
                self.count += 1;
                self.count - 1
            }
        };
        if let Some(until) = until {
            self.free.push((Reverse(until), Reverse(lane)));
        }
        lane
    }
}

fn by_times(operations: Vec<LoggedOperation>, options: &ReadOptions) -> Result<History, Error> {
    let mut builder = options.builder();
    for operation in operations {
        let returned = match operation.outcome {
            Outcome::Unknown => None,
            Outcome::Ok | Outcome::Fail => operation.until,
        };
        let outcome = operation.outcome;
        let (line, hint) = (operation.line, operation.hint);
        let operation = Operation {
            process: operation.process,
            call: operation.call,
            result: operation.result,
            called: operation.from,
            returned,
        };
        match outcome {
            Outcome::Ok | Outcome::Unknown => builder.operation(line, operation)?,
            Outcome::Fail => builder.failed_operation(line, operation)?,
        }
        if let Some(hint) = hint.filter(|_| outcome != Outcome::Fail) {
            builder.hint(hint);
        }
    }
    builder.finish(options.ties.unwrap_or_default())
}

fn by_records(operations: Vec<LoggedOperation>, options: &ReadOptions) -> Result<History, Error> {
    let mut builder = options.builder();
    let mut events: Vec<(i64, usize)> = Vec::with_capacity(2 * operations.len());
    for (index, operation) in operations.iter().enumerate() {
        events.push((operation.from, index));
        events.extend(operation.until.map(|until| (until, index)));
    }
    // No two events have the same position.
    events.sort_unstable();
    let mut operations: Vec<Option<LoggedOperation>> = operations.into_iter().map(Some).collect();
    let mut open: HashMap<usize, LoggedOperation> = HashMap::new();
    for (_, index) in events {
        if let Some(mut operation) = operations[index].take() {
            let process = operation.process.clone().unwrap_or_default();
            let call = std::mem::replace(&mut operation.call, Call::new("", Value::Nil));
            builder.call(operation.line, process, call)?;
            open.insert(index, operation);
        } else if let Some(operation) = open.remove(&index) {
            let process = operation.process.unwrap_or_default();
            match operation.outcome {
                Outcome::Ok => builder.ret(operation.end_line, &process, operation.result)?,
                Outcome::Fail => builder.fail(operation.end_line, &process)?,
                Outcome::Unknown => builder.crash(operation.end_line, &process)?,
            }
            let hint = operation.hint;
            if let Some(hint) = hint.filter(|_| operation.outcome != Outcome::Fail) {
                builder.hint(hint);
            }
        }
    }
    builder.finish(options.ties.unwrap_or_default())
}
