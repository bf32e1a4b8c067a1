//! What the watches of a report of etcd's robustness tests tell about requests whose answers were lost.
//!
//! `watch.json` has, on each line, a watch with its responses. A put that a watch showed took effect at the revision of the event,
//! before the event was received. If one request alone puts this value under this key, it is the one.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::assemble::{LoggedOperation, Outcome};
use super::{json, number};
use crate::engine::{Budget, Ticker};
use crate::error::Error;
use crate::value::Value;

/// A watch: a line of the file.
#[derive(Deserialize)]
struct Watch<'a> {
    #[serde(borrow, rename = "Responses")]
    responses: Option<Vec<&'a RawValue>>,
}

/// A key with a value that was put there.
type Mark = (Value, Value);

/// Puts that watches showed.
#[derive(Default)]
pub(super) struct Watched {
    /// The revision of each and the time when it was seen first; `None` if it was put more than once.
    puts: HashMap<Mark, Option<(i64, i64)>>,
}

impl Watched {
    /// Adds the watches of one client. A watch may be long, so that its responses are taken one at a time.
    pub(super) fn add(&mut self, text: &str, budget: &Budget) -> Result<(), Error> {
        let mut ticker = Ticker::new(budget);
        json::each(text, |line, document| {
            let at = |reason: String| Error::malformed(reason).at_line(line);
            let watch: Watch<'_> = document.and_then(json::from_str).map_err(at)?;
            for response in watch.responses.unwrap_or_default() {
                let allowed = ticker.tick();
                allowed.map_err(|limit| Error::limit(limit).at_line(line))?;
                let response = &json::value(response.get()).map_err(at)?;
                let time = number::time("Time", response.get("Time")).map_err(at)?;
                for event in list(response, "Events") {
                    self.add_event(event, time);
                }
            }
            Ok(())
        })
    }

    fn add_event(&mut self, event: &Value, time: Option<i64>) {
        let is_put = event.get("Type").and_then(Value::as_text) == Some("put-operation");
        let revision = event.get("Revision").and_then(Value::as_int);
        let (Some(mark), Some(revision), Some(time), true) = (mark(event), revision, time, is_put)
        else {
            return;
        };
        let known = self.puts.entry(mark).or_insert(Some((revision, time)));
        *known = match *known {
            Some((at, first)) if at == revision => Some((at, first.min(time))),
            _ => None,
        };
    }

    /// Says of operations that failed whether they took effect, as far as watches tell; others stay pending.
    pub(super) fn refine(&self, operations: &mut [LoggedOperation]) {
        let mut count: HashMap<Mark, usize> = HashMap::new();
        for operation in operations.iter() {
            for mark in puts(operation) {
                *count.entry(mark).or_default() += 1;
            }
        }
        for operation in operations {
            let error = operation.result.get("Error").and_then(Value::as_text);
            if error.is_none_or(str::is_empty) {
                continue;
            }
            operation.outcome = Outcome::Unknown;
            operation.until = None;
            let mut own = puts(operation).filter(|mark| count.get(mark) == Some(&1));
            let Some((revision, time)) = own.find_map(|mark| *self.puts.get(&mark)?) else {
                continue;
            };
            drop(own);
            operation.outcome = Outcome::Ok;
            operation.until = Some(time.max(operation.from));
            operation.result = Value::map([
                ("persisted".into(), Value::Bool(true)),
                ("revision".into(), Value::Int(revision)),
            ]);
        }
    }
}

/// The items of a list in a map.
fn list<'a>(map: &'a Value, name: &str) -> &'a [Value] {
    let found = map.get(name).and_then(Value::as_list);
    found.unwrap_or_default()
}

fn mark(put: &Value) -> Option<Mark> {
    Some((put.get("Key")?.clone(), put.get("Value")?.clone()))
}

/// What the request of an operation may put.
fn puts(operation: &LoggedOperation) -> impl Iterator<Item = Mark> + '_ {
    let txn = operation.call.argument.get("Txn");
    let parts = ["OperationsOnSuccess", "OperationsOnFailure"];
    let parts = parts
        .into_iter()
        .flat_map(move |name| txn.map_or(&[][..], |txn| list(txn, name)));
    parts.filter_map(|part| {
        let is_put = part.get("Type").and_then(Value::as_text) == Some("put-operation");
        mark(part.get("Put")?).filter(|_| is_put)
    })
}
