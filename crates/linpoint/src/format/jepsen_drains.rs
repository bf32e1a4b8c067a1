//! Drains of queues: an operation that dequeues until nothing is left, and answers the list of all that it got.
//!
//! A drain is not atomic: it is several dequeues between its invocation and its completion, while other clients enqueue and
//! dequeue. So it is read as that many dequeues, each by a process of its own from the invocation to the completion. They may
//! take effect in any order, since nothing says that the list is in the order of the dequeues. Nor is the end of a drain taken
//! for an observation that the queue was empty. Every history that the queue could have is linearizable then.
//!
//! A drain that crashed took some values, or none. It is read as pending dequeues, as many as there are values that no other
//! operation is known to have taken; each may have taken one value or not.

use std::collections::HashMap;

use super::jepsen::{Entry, EventType, JepsenEvent};
use crate::error::Error;
use crate::value::Value;

/// How a drain ended, by the position of its invocation.
enum End {
    /// It got these values.
    Got(Vec<Value>),
    /// It is unknown what it got.
    Crashed,
    Failed,
}

/// Returns the entries with dequeues in the place of drains.
pub(super) fn expanded(entries: Vec<(u64, Entry)>) -> Result<Vec<(u64, Entry)>, Error> {
    let is_drain = |(_, entry): &(u64, Entry)| matches!(entry, Entry::Client(event) if event.function == "drain");
    if !entries.iter().any(is_drain) {
        return Ok(entries);
    }
    let ends = ends_of_drains(&entries)?;
    let mut left = values_left(&entries);
    let mut open: HashMap<Value, Vec<JepsenEvent>> = HashMap::new();
    let mut expanded = Vec::with_capacity(entries.len());
    for (position, (line, entry)) in entries.into_iter().enumerate() {
        let event = match entry {
            Entry::Client(event) if event.function == "drain" => event,
            entry => {
                expanded.push((line, entry));
                continue;
            }
        };
        if event.kind != EventType::Invoke {
            // The reader of events refuses a completion without an invocation.
            let Some(dequeues) = open.remove(&event.process) else {
                expanded.push((line, Entry::Client(event)));
                continue;
            };
            for dequeue in dequeues {
                let time = event.time;
                expanded.push((line, Entry::Client(JepsenEvent { time, ..dequeue })));
            }
            continue;
        }
        let (values, kind) = match ends.get(&position) {
            Some(End::Got(values)) => (values.clone(), EventType::Ok),
            Some(End::Failed) => (Vec::new(), EventType::Fail),
            Some(End::Crashed) | None => {
                let count = left.entry(event.object.clone()).or_default();
                (vec![Value::Nil; *count], EventType::Info)
            }
        };
        let mut completions = Vec::with_capacity(values.len());
        for (number, value) in (1..).zip(values) {
            let dequeue = |kind, value| JepsenEvent {
                process: Value::from(format!("{} (drain, value {number})", event.process)),
                kind,
                object: event.object.clone(),
                function: "dequeue".to_owned(),
                value,
                time: event.time,
                index: event.index,
            };
            expanded.push((line, Entry::Client(dequeue(EventType::Invoke, Value::Nil))));
            completions.push(dequeue(kind, value));
        }
        open.insert(event.process.clone(), completions);
    }
    Ok(expanded)
}

/// How each drain ended that did end.
fn ends_of_drains(entries: &[(u64, Entry)]) -> Result<HashMap<usize, End>, Error> {
    let mut ends = HashMap::new();
    let mut open: HashMap<&Value, usize> = HashMap::new();
    for (position, (line, entry)) in entries.iter().enumerate() {
        let Entry::Client(event) = entry else {
            continue;
        };
        if event.kind == EventType::Invoke && open.contains_key(&event.process) {
            let (process, function) = (&event.process, &event.function);
            let reason =
                format!("process {process} invokes {function:?} before its \"drain\" completed");
            return Err(Error::malformed(reason).at_line(*line));
        }
        if event.function != "drain" {
            continue;
        }
        let end = match event.kind {
            EventType::Invoke => {
                open.insert(&event.process, position);
                continue;
            }
            EventType::Ok => {
                let values = event.value.as_list().ok_or_else(|| {
                    let reason = format!(
                        "drain answers the list of values that it took, not {}",
                        event.value
                    );
                    Error::malformed(reason).at_line(*line)
                })?;
                End::Got(values.to_vec())
            }
            EventType::Fail => End::Failed,
            EventType::Info => End::Crashed,
        };
        if let Some(invoked) = open.remove(&event.process) {
            ends.insert(invoked, end);
        }
    }
    Ok(ends)
}

/// How many values of each object were enqueued, as far as is known, and not taken by an operation that returned them.
fn values_left(entries: &[(u64, Entry)]) -> HashMap<Value, usize> {
    let mut left: HashMap<Value, usize> = HashMap::new();
    for (_, entry) in entries {
        let Entry::Client(event) = entry else {
            continue;
        };
        let count = left.entry(event.object.clone()).or_default();
        match (event.kind, event.function.as_str()) {
            (EventType::Invoke, "enqueue" | "enq" | "add" | "offer" | "put") => *count += 1,
            (EventType::Ok, "dequeue" | "deq" | "poll" | "take") if !event.value.is_nil() => {
                *count = count.saturating_sub(1);
            }
            (EventType::Ok, "drain") => {
                let taken = event.value.as_list().map_or(0, <[Value]>::len);
                *count = count.saturating_sub(taken);
            }
            _ => {}
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use crate::format::{ReadOptions, parse};

    /// The operations of a history whose events are `process type function value`.
    fn texts(events: &[&str]) -> Result<Vec<String>, String> {
        let event = |event: &&str| {
            let words: Vec<&str> = event.splitn(4, ' ').collect();
            let [process, kind, function, value] = words[..] else {
                panic!("{event} is no event");
            };
            format!("{{:process {process}, :type :{kind}, :f :{function}, :value {value}}}\n")
        };
        let text: String = events.iter().map(event).collect();
        let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0);
        let recorded = recorded.map_err(|error| error.to_string())?;
        let ops = recorded.history.ops();
        assert_eq!(recorded.invocations.len(), recorded.history.len());
        Ok(ops
            .map(|op| format!("{} {}", op.process, op.text()))
            .collect())
    }

    #[test]
    fn a_drain_is_concurrent_dequeues() {
        let drained = texts(&[
            "0 invoke enqueue 5",
            "1 invoke drain nil",
            "0 ok enqueue 5",
            "1 ok drain [5 6]",
            "1 invoke drain nil",
            "1 ok drain []",
            "1 invoke drain nil",
            "1 fail drain nil",
        ]);
        let expected = [
            "0 enqueue(5)",
            "\"1 (drain, value 1)\" dequeue() → 5",
            "\"1 (drain, value 2)\" dequeue() → 6",
        ];
        assert_eq!(drained.unwrap(), expected);
    }

    #[test]
    fn a_crashed_drain_may_have_taken_what_no_other_operation_took() {
        for end in [&[][..], &["1 info drain nil"]] {
            let events = [
                &[
                    "0 invoke enqueue 5",
                    "0 ok enqueue 5",
                    "0 invoke enqueue 6",
                    "0 ok enqueue 6",
                    "1 invoke drain nil",
                ],
                end,
                &["2 invoke dequeue nil", "2 ok dequeue 6"],
            ];
            let expected = [
                "0 enqueue(5)",
                "0 enqueue(6)",
                "\"1 (drain, value 1)\" dequeue() → ?",
                "2 dequeue() → 6",
            ];
            assert_eq!(texts(&events.concat()).unwrap(), expected);
        }
    }

    #[test]
    fn malformed_drains_are_refused() {
        let error = texts(&["1 invoke drain nil", "1 ok drain 5"]).unwrap_err();
        assert_eq!(
            error,
            "line 2: drain answers the list of values that it took, not 5"
        );
        assert!(texts(&["1 ok drain [5]"]).is_err());
        assert!(texts(&["1 invoke drain nil", "1 invoke drain nil"]).is_err());
        assert!(texts(&["1 invoke drain nil", "1 invoke read nil"]).is_err());
    }
}
