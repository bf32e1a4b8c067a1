//! Translates the events of Jepsen, for the readers of its EDN histories and of its logs.

use std::collections::HashMap;

use super::{IndependentKeys, Note, ReadOptions, RecordedHistory, jepsen_drains, jepsen_keys};
use crate::error::Error;
use crate::history::{Call, HistoryBuilder};
use crate::spec::value_is_result;
use crate::value::Value;

/// The `:type` of an event: what it says of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventType {
    /// It begins.
    Invoke,
    /// It was done.
    Ok,
    /// It did not happen.
    Fail,
    /// It is unknown whether it happened. The process makes no further call.
    Info,
}

impl EventType {
    /// Returns the type that the keyword `name`, given without its colon, stands for.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        match name {
            "invoke" => Ok(EventType::Invoke),
            "ok" => Ok(EventType::Ok),
            "fail" => Ok(EventType::Fail),
            "info" => Ok(EventType::Info),
            other => Err(format!(
                "unknown event type {other:?}; known are invoke, ok, fail, info"
            )),
        }
    }

    /// The keyword that stands for it, without its colon.
    pub(super) fn name(self) -> &'static str {
        match self {
            EventType::Invoke => "invoke",
            EventType::Ok => "ok",
            EventType::Fail => "fail",
            EventType::Info => "info",
        }
    }
}

/// An event of a client.
#[derive(Debug)]
pub(super) struct JepsenEvent {
    pub(super) process: Value,
    pub(super) kind: EventType,
    pub(super) object: Value,
    pub(super) function: String,
    pub(super) value: Value,
    /// When it happened, where that is recorded.
    pub(super) time: Option<i64>,
    /// The `:index` of the event, where that is recorded. From [`prepared`] on, its position in the input stands for a missing one.
    pub(super) index: Option<i64>,
}

/// An entry of a history.
#[derive(Debug)]
pub(super) enum Entry {
    Client(JepsenEvent),
    /// An event of the nemesis or another process that is not a client.
    Other {
        process: String,
        function: String,
        value: Value,
        /// When it happened, where that is recorded.
        time: Option<i64>,
    },
}

/// What the `fail` of a compare-and-set means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailedCas {
    /// It did not happen.
    NotRun,
    /// It found another value and returned false if the event repeats its arguments, and did not happen otherwise.
    ReturnedFalse,
}

/// Returns the history of these entries, each with its line. The caller must give them in the order of time.
pub(super) fn record(
    entries: Vec<(u64, Entry)>,
    failed_cas: FailedCas,
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    let mut notes = Vec::new();
    let has_keys = match options.independent {
        IndependentKeys::Always => true,
        IndependentKeys::Never => false,
        IndependentKeys::Detect => jepsen_keys::are_independent(&entries),
    };
    if has_keys && options.independent == IndependentKeys::Detect {
        notes.push(Note::IndependentKeys);
    }
    let entries = prepared(entries, has_keys)?;
    let mut builder = options.builder();
    let mut invocations = Invocations::default();
    for (line, entry) in entries {
        match entry {
            Entry::Client(event) => {
                let returned_false = failed_cas == FailedCas::ReturnedFalse
                    && event.kind == EventType::Fail
                    && event.function == "cas"
                    && event.value.as_list().is_some();
                let ends_as = match returned_false {
                    true => EventType::Ok,
                    false => event.kind,
                };
                invocations.add(&event, ends_as);
                if returned_false {
                    builder.ret(line, &event.process, Value::Bool(false))?;
                } else {
                    add(&mut builder, line, event)?;
                }
            }
            Entry::Other {
                process,
                function,
                value,
                time,
            } => {
                builder.annotate_at(note_text(&process, &function, &value), time);
            }
        }
    }
    Ok(RecordedHistory {
        // The order of events is the order of time, so there are no ties.
        history: builder.finish(options.ties.unwrap_or_default())?,
        notes,
        invocations: invocations.of_operations(),
        ..RecordedHistory::default()
    })
}

/// The text of a note about an event that is no client's.
pub(super) fn note_text(process: &str, function: &str, value: &Value) -> String {
    let mut text = process.to_owned();
    if !function.is_empty() {
        text += &format!(" {function}");
    }
    if !value.is_nil() {
        text += &format!(" {value}");
    }
    text
}

/// Returns the entries with an index each, with the keys taken out of their values, and with dequeues in the place of drains.
fn prepared(entries: Vec<(u64, Entry)>, has_keys: bool) -> Result<Vec<(u64, Entry)>, Error> {
    let prepare = |(position, (line, entry)): (usize, (u64, Entry))| {
        let Entry::Client(event) = entry else {
            return Ok((line, entry));
        };
        let event = JepsenEvent {
            index: event.index.or(Some(position as i64)),
            ..event
        };
        let event = match has_keys {
            true => jepsen_keys::split(event)
                .map_err(|reason| Error::malformed(reason).at_line(line))?,
            false => event,
        };
        Ok((line, Entry::Client(event)))
    };
    let entries = entries.into_iter().enumerate().map(prepare);
    jepsen_drains::expanded(entries.collect::<Result<_, Error>>()?)
}

/// The indices of invocations.
#[derive(Default)]
struct Invocations {
    /// The index of each invocation in order; `None` if it failed.
    indices: Vec<Option<i64>>,
    /// The position in `indices` of the last invocation of each process.
    last: HashMap<Value, usize>,
}

impl Invocations {
    fn add(&mut self, event: &JepsenEvent, kind: EventType) {
        match kind {
            EventType::Invoke => {
                self.last.insert(event.process.clone(), self.indices.len());
                self.indices.push(event.index);
            }
            EventType::Fail => {
                if let Some(&invoked) = self.last.get(&event.process) {
                    self.indices[invoked] = None;
                }
            }
            EventType::Ok | EventType::Info => {}
        }
    }

    /// The indices by operation of the history.
    fn of_operations(self) -> Vec<i64> {
        self.indices.into_iter().flatten().collect()
    }
}

/// How the one value of an event is divided into argument and result.
///
/// Jepsen records a single value for each event, and the completion repeats or replaces that of the invocation. Which
/// part of it is the argument follows from the meaning of the function alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Reads, dequeues: the completion has the result, and there is no argument. A recorder may have put the result
    /// on the invocation too.
    Observe,
    /// Gets, membership tests: the invocation names what is asked for, the completion has the answer.
    Lookup,
    /// Writes, enqueues: the value is the argument. A truth value in its place at completion is an answer.
    Update,
    /// Taking a lock: a positive integer in the completion is a fencing token, and the result; anything else it says is no part
    /// of the operation.
    Acquire,
    /// Releasing a lock: what the completion says is no part of the operation.
    Silent,
    /// Compare-and-set, transfers: the value is the argument, and done means true, unless false is in its place at completion.
    Conditional,
    /// Transactions: the completion is the result, also where it is the same as the invocation, since all reads saw nil then.
    Transaction,
    /// Whatever is not known: a completion that differs from the invocation is the result.
    Other,
}

impl Role {
    pub(super) fn of(function: &str) -> Role {
        match function {
            "get" | "contains" | "lookup" => Role::Lookup,
            "write" | "enqueue" | "enq" | "add" | "push" | "put" | "append" | "insert"
            | "offer" | "set" | "inc" | "increment" | "dec" | "decrement" => Role::Update,
            "acquire" | "lock" => Role::Acquire,
            "release" | "unlock" => Role::Silent,
            "cas" | "compare-and-set" | "compare-and-swap" | "transfer" => Role::Conditional,
            "txn" | "transaction" => Role::Transaction,
            _ if value_is_result(function) => Role::Observe,
            _ => Role::Other,
        }
    }

    pub(super) fn argument(self, invoked: Value) -> Value {
        match self {
            Role::Observe => Value::Nil,
            _ => invoked,
        }
    }

    /// The argument, where only the completion tells it, and the result.
    fn complete(self, argument: &Value, completed: Value) -> (Option<Value>, Value) {
        match self {
            Role::Observe | Role::Lookup | Role::Transaction => (None, completed),
            Role::Acquire if completed != *argument && completed.as_int() > Some(0) => {
                (None, completed)
            }
            Role::Acquire | Role::Silent => (None, Value::Nil),
            Role::Conditional if !argument.is_nil() && completed == Value::Bool(false) => {
                (None, completed)
            }
            Role::Conditional => {
                let argument = argument.is_nil().then_some(completed);
                (argument, Value::Bool(true))
            }
            Role::Update if argument.is_nil() => (Some(completed), Value::Nil),
            Role::Update if *argument != completed && completed.as_bool().is_some() => {
                (None, completed)
            }
            Role::Update => (None, Value::Nil),
            Role::Other if *argument == completed => (None, Value::Nil),
            Role::Other => (None, completed),
        }
    }

    /// The value of the completion that tells this argument and this result, if there is one.
    pub(super) fn completion(self, argument: &Value, result: &Value) -> Option<Value> {
        let tells = |completed: &&Value| {
            let (replaced, told) = self.complete(argument, (*completed).clone());
            told == *result && replaced.is_none_or(|replaced| replaced == *argument)
        };
        [argument, result].into_iter().find(tells).cloned()
    }
}

/// Adds the event of a client to the history.
fn add(builder: &mut HistoryBuilder, line: u64, event: JepsenEvent) -> Result<(), Error> {
    let JepsenEvent {
        process,
        kind,
        object,
        function,
        value,
        time,
        index: _,
    } = event;
    let role = Role::of(&function);
    match kind {
        EventType::Invoke => {
            let call = Call {
                object,
                argument: role.argument(value),
                method: function,
            };
            builder.call(line, process, call)?;
        }
        EventType::Ok => {
            let result = match builder.open_call(&process) {
                // The builder says what is wrong.
                None => value,
                Some((method, _)) if method != function => {
                    let reason = format!(
                        "process {process} completes {function:?} but had invoked {method:?}"
                    );
                    return Err(Error::malformed(reason).at_line(line));
                }
                Some((_, argument)) => {
                    let (argument, result) = role.complete(argument, value);
                    if let Some(argument) = argument {
                        builder.set_argument(line, &process, argument)?;
                    }
                    result
                }
            };
            builder.ret(line, &process, result)?;
        }
        EventType::Fail => builder.fail(line, &process)?,
        EventType::Info => return builder.crash(line, &process),
    }
    if let Some(time) = time {
        builder.at(time);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_divided_by_the_meaning_of_the_function() {
        let nil = || Value::Nil;
        let divided = |function: &str, invoked: Value, completed: Value| {
            let role = Role::of(function);
            let argument = role.argument(invoked);
            let (replaced, result) = role.complete(&argument, completed);
            (replaced.unwrap_or(argument), result)
        };
        let pair = || Value::list([1.into(), 2.into()]);
        assert_eq!(divided("read", nil(), 3.into()), (nil(), 3.into()));
        assert_eq!(divided("read", 3.into(), 3.into()), (nil(), 3.into()));
        assert_eq!(divided("dequeue", nil(), nil()), (nil(), nil()));
        assert_eq!(divided("get", 1.into(), 1.into()), (1.into(), 1.into()));
        assert_eq!(divided("write", 3.into(), 3.into()), (3.into(), nil()));
        assert_eq!(divided("enqueue", nil(), 3.into()), (3.into(), nil()));
        assert_eq!(
            divided("add", 3.into(), true.into()),
            (3.into(), true.into())
        );
        assert_eq!(divided("cas", pair(), pair()), (pair(), true.into()));
        assert_eq!(divided("cas", pair(), false.into()), (pair(), false.into()));
        assert_eq!(divided("acquire", nil(), 17.into()), (nil(), 17.into()));
        assert_eq!(divided("acquire", nil(), "n1".into()), (nil(), nil()));
        assert_eq!(divided("acquire", 3.into(), 3.into()), (3.into(), nil()));
        assert_eq!(divided("release", nil(), 17.into()), (nil(), nil()));
        assert_eq!(divided("transfer", pair(), pair()), (pair(), true.into()));
        assert_eq!(divided("generate", nil(), 7.into()), (nil(), 7.into()));
        assert_eq!(divided("txn", pair(), 5.into()), (pair(), 5.into()));
        // All that it read is nil.
        assert_eq!(divided("txn", pair(), pair()), (pair(), pair()));
        assert_eq!(divided("frob", 1.into(), 1.into()), (1.into(), nil()));
    }
}
