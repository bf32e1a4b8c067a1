//! Reads `porcupine.Operation` and `porcupine.Event` as Go's `encoding/json` writes them, on lines or in one array.
//!
//! Inputs and outputs are structures of the user. The method is in one of the usual fields of the input, and what is beside it is
//! the argument; other shapes need a mapping.

use std::collections::HashMap;

use super::assemble::{LoggedOperation, Order, Outcome, assemble};
use super::{ReadOptions, RecordedHistory, Sink, json, number};
use crate::engine::Ticker;
use crate::error::Error;
use crate::history::Call;
use crate::spec::value_is_result;
use crate::value::Value;

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    sink.put(read_parts(&[("", text)], options, |_| {}));
}

/// The history of several texts, such as one for each client; errors name the text if it has a name. `refine` changes what is
/// known of the operations.
pub(super) fn read_parts(
    parts: &[(&str, &str)],
    options: &ReadOptions,
    refine: impl FnOnce(&mut [LoggedOperation]),
) -> Result<RecordedHistory, Error> {
    let mut log = Log::default();
    let budget = options.budget();
    let mut ticker = Ticker::new(&budget);
    for (name, text) in parts {
        json::each(text, |line, document| {
            let at = |reason: String| Error::malformed(reason).at_line(line);
            let allowed = ticker.tick();
            allowed.map_err(|limit| Error::limit(limit).at_line(line))?;
            let record = document.and_then(json::value).map_err(at)?;
            log.take(line, &record).map_err(at)
        })
        .map_err(|error| match name.is_empty() {
            true => error,
            false => error.in_file(name),
        })?;
    }
    let order = match log.kind {
        Some(Kind::Events) => Order::Records,
        Some(Kind::Operations) | None => Order::Times,
    };
    refine(&mut log.operations);
    let (history, notes) = assemble(log.operations, order, options)?;
    Ok(RecordedHistory {
        history,
        notes,
        ..RecordedHistory::default()
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Operations,
    Events,
}

#[derive(Default)]
struct Log {
    operations: Vec<LoggedOperation>,
    kind: Option<Kind>,
    /// The positions in `operations` of those that are open, by the id of their events.
    open: HashMap<Value, usize>,
    position: i64,
}

impl Log {
    fn take(&mut self, line: u64, record: &Value) -> Result<(), String> {
        let kind = match record.get("Kind") {
            Some(_) => Kind::Events,
            None => Kind::Operations,
        };
        if *self.kind.get_or_insert(kind) != kind {
            return Err("operations and events cannot be mixed in one history".to_owned());
        }
        self.position += 1;
        match kind {
            Kind::Operations => self.operation(line, record),
            Kind::Events => self.event(line, record),
        }
    }

    fn operation(&mut self, line: u64, record: &Value) -> Result<(), String> {
        let field = |name: &str| record.get(name).ok_or_else(|| missing(name, record));
        let time = |name: &str| {
            let time = number::time(name, Some(field(name)?))?;
            time.ok_or_else(|| format!("{name} must be a 64-bit integer, not null"))
        };
        let (call, shape) = call(field("Input")?)?;
        let (from, until) = (time("Call")?, time("Return")?);
        if until < from {
            return Err(format!(
                "{:?} returns at {until}, before its call at {from}",
                call.method
            ));
        }
        // Operations of porcupine always return; one that did not is given the largest time.
        let (outcome, until) = match until {
            i64::MAX => (Outcome::Unknown, None),
            until => (Outcome::Ok, Some(until)),
        };
        let output = record.get("Output").cloned().unwrap_or_default();
        self.operations.push(LoggedOperation {
            process: process(record),
            result: result(&call.method, shape, output),
            call,
            outcome,
            hint: None,
            from,
            until,
            line,
            end_line: line,
        });
        Ok(())
    }

    fn event(&mut self, line: u64, record: &Value) -> Result<(), String> {
        let field = |name: &str| record.get(name).ok_or_else(|| missing(name, record));
        let id = field("Id")?.clone();
        let value = record.get("Value").cloned().unwrap_or_default();
        match field("Kind")? {
            Value::Bool(false) => {
                if let Some(&earlier) = self.open.get(&id) {
                    return Err(format!(
                        "the operation with Id {id} was called on line {} already",
                        self.operations[earlier].line
                    ));
                }
                let (call, _) = call(&value)?;
                self.open.insert(id, self.operations.len());
                self.operations.push(LoggedOperation {
                    process: process(record),
                    call,
                    result: Value::Nil,
                    outcome: Outcome::Unknown,
                    hint: None,
                    from: self.position,
                    until: None,
                    line,
                    end_line: line,
                });
            }
            Value::Bool(true) => {
                let index = self
                    .open
                    .remove(&id)
                    .ok_or_else(|| format!("no operation with Id {id} is open"))?;
                let operation = &mut self.operations[index];
                let shape = Shape::of_argument(&operation.call.argument);
                operation.result = result(&operation.call.method, shape, value);
                operation.outcome = Outcome::Ok;
                operation.until = Some(self.position);
                operation.end_line = line;
            }
            other => {
                return Err(format!(
                    "Kind is false for a call and true for a return, not {other}"
                ));
            }
        }
        Ok(())
    }
}

fn missing(name: &str, record: &Value) -> String {
    match record.as_map() {
        Some(pairs) => {
            let names: Vec<&str> = pairs.iter().filter_map(|(key, _)| key.as_text()).collect();
            format!("{name} is missing; there are {}", names.join(", "))
        }
        None => format!(
            "an operation is an object with Input, Call, Output and Return, not {}",
            record.kind_name()
        ),
    }
}

/// Clients are numbered from 0, which is also what is written where a program sets none.
fn process(record: &Value) -> Option<Value> {
    record.get("ClientId").cloned()
}

/// The names of the field with the method.
const METHOD: &[&str] = &["op", "method", "type", "kind", "operation", "f"];

/// Whether an input is that of a register or a key-value store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A method and a key, a value, or both.
    KeyValue,
    /// Any other: its input and its output are kept as they are.
    Other,
}

impl Shape {
    /// The shape of an input by the argument that was made of it: only others are maps.
    pub(super) fn of_argument(argument: &Value) -> Self {
        match argument.as_map() {
            Some(_) => Shape::Other,
            None => Shape::KeyValue,
        }
    }
}

/// The call that an input stands for.
pub(super) fn call(input: &Value) -> Result<(Call, Shape), String> {
    const ADVICE: &str = "say it with --map, such as 'process=.ClientId, method=.Input.Op, call=.Call, return=.Return'";
    let Some(pairs) = input.as_map() else {
        return Err(format!(
            "Input is {}, which names no method: {ADVICE}",
            input.kind_name()
        ));
    };
    let field = |wanted: &str| {
        let found = pairs.iter().find(|(key, _)| {
            let key = key.as_text();
            key.is_some_and(|key| key.eq_ignore_ascii_case(wanted))
        });
        found.map(|(_, value)| value)
    };
    let Some(method) = METHOD.iter().find_map(|name| field(name)) else {
        let names: Vec<&str> = pairs.iter().filter_map(|(key, _)| key.as_text()).collect();
        return Err(format!(
            "no field of Input names the method (looked for {}; there are {}): {ADVICE}",
            METHOD.join(", "),
            names.join(", ")
        ));
    };
    let Some(name) = method.as_text() else {
        return Err(format!(
            "the method is {method}, which is no name: {ADVICE}, and name the methods with methods.{method}=get"
        ));
    };
    let (key, value) = (field("key"), field("value"));
    let known = 1 + usize::from(key.is_some()) + usize::from(value.is_some());
    if known != pairs.len() {
        return Ok((Call::new(name, input.clone()), Shape::Other));
    }
    let method = name.to_ascii_lowercase();
    let reads = value_is_result(&method);
    let argument = match (key, value) {
        (Some(key), Some(value)) if !reads => Value::list([key.clone(), value.clone()]),
        (Some(key), _) => key.clone(),
        (None, Some(value)) if !reads => value.clone(),
        (None, _) => Value::Nil,
    };
    Ok((Call::new(method, argument), Shape::KeyValue))
}

/// The result that an output stands for: its only field, if the input is that of a register or a key-value store.
pub(super) fn result(method: &str, shape: Shape, output: Value) -> Value {
    if shape == Shape::Other {
        return output;
    }
    let result = match output.as_map() {
        Some([]) => Value::Nil,
        Some([(_, only)]) => only.clone(),
        Some(_) | None => output,
    };
    // Go writes the empty text where a method that changes something answers nothing.
    match result.as_text() {
        Some("") if !value_is_result(method) => Value::Nil,
        _ => result,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Note, parse};
    use super::*;

    fn read_one(text: &str) -> Result<RecordedHistory, Error> {
        parse(text.as_bytes(), &ReadOptions::default()).remove(0)
    }

    fn texts(recorded: &RecordedHistory) -> Vec<String> {
        let ops = recorded.history.ops();
        ops.map(|op| format!("{}: {}", op.process, op.text()))
            .collect()
    }

    const OPERATIONS: &str = r#"
{"ClientId":0,"Input":{"Op":"Put","Key":"a","Value":"x"},"Call":10,"Output":{"Value":""},"Return":20,"Metadata":null}
{"ClientId":1,"Input":{"Op":"Get","Key":"a","Value":""},"Call":15,"Output":{"Value":"x"},"Return":30}
{"ClientId":1,"Input":{"Op":"Append","Key":"a","Value":"y"},"Call":35,"Output":{},"Return":9223372036854775807}
"#;

    #[test]
    fn operations_of_a_store() {
        let recorded = read_one(OPERATIONS).unwrap();
        let expected = [
            r#"0: put("a", "x")"#,
            r#"1: get("a") → "x""#,
            r#"1: append("a", "y") → ?"#,
        ];
        assert_eq!(texts(&recorded), expected);
        let array = format!("[{}]", OPERATIONS.trim().replace("}\n{", "},{"));
        assert_eq!(texts(&read_one(&array).unwrap()), expected);
    }

    #[test]
    fn events_are_paired_by_id() {
        let text = r#"[
{"Kind":false,"Value":{"op":"write","value":1},"Id":0,"ClientId":7},
{"Kind":false,"Value":{"op":"read","value":0},"Id":1,"ClientId":7},
{"Kind":true,"Value":1,"Id":1,"ClientId":7},
{"Kind":false,"Value":{"op":"read","value":0},"Id":2,"ClientId":8}]"#;
        let recorded = read_one(text).unwrap();
        assert_eq!(
            texts(&recorded),
            ["7: write(1) → ?", "\"7/2\": read() → 1", "8: read() → ?"]
        );
        assert_eq!(recorded.notes, [Note::OverlappingCalls(1)]);
    }

    #[test]
    fn other_inputs_are_kept_whole() {
        let text = r#"{"ClientId":3,"Input":{"Type":"txn","Txn":{"Ops":[]},"Defragment":null},"Call":1,"Output":{"Revision":4},"Return":2}"#;
        assert_eq!(
            texts(&read_one(text).unwrap()),
            [r#"3: txn({"Defragment": nil, "Txn": {"Ops": []}, "Type": "txn"}) → {"Revision": 4}"#]
        );
    }

    #[test]
    fn refusals_name_the_line_and_what_to_do() {
        let first = OPERATIONS.trim().lines().next().unwrap();
        let cases = [
            (
                r#"{"Input":{"Op":1},"Call":1,"Return":2}"#,
                "the method is 1, which is no name: say it with --map",
            ),
            (
                r#"{"Input":3,"Call":1,"Return":2}"#,
                "Input is an integer, which names no method: say it with --map",
            ),
            (
                r#"{"Input":{"A":1},"Call":1,"Return":2}"#,
                "no field of Input names the method (looked for op, method, type, kind, operation, f; there are A): say it with --map",
            ),
            (
                r#"{"Input":{"Op":"get"},"Call":1.5,"Return":2}"#,
                "Call must be a 64-bit integer, not 1.5: times are integers, such as nanoseconds",
            ),
            (
                r#"{"Input":{"Op":"get"},"Call":3,"Return":2}"#,
                "\"get\" returns at 2, before its call at 3",
            ),
            (
                r#"{"Input":{"Op":"get"},"Call":3}"#,
                "Return is missing; there are Call, Input",
            ),
            (
                "7",
                "an operation is an object with Input, Call, Output and Return, not an integer",
            ),
            (
                r#"{"Kind":true,"Value":1,"Id":1}"#,
                "operations and events cannot be mixed in one history",
            ),
        ];
        for (line, reason) in cases {
            let error = read_one(&format!("{first}\n{line}\n"))
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(&format!("line 2: {reason}")), "{error}");
        }
        let event = r#"{"Kind":false,"Value":{"op":"read"},"Id":0}"#;
        let cases = [
            (
                event,
                "the operation with Id 0 was called on line 1 already",
            ),
            (
                r#"{"Kind":true,"Value":{},"Id":5}"#,
                "no operation with Id 5 is open",
            ),
            (
                r#"{"Kind":"call","Value":{},"Id":5}"#,
                "Kind is false for a call and true for a return, not \"call\"",
            ),
        ];
        for (line, reason) in cases {
            let error = read_one(&format!("{event}\n{line}\n")).unwrap_err();
            assert_eq!(error.to_string(), format!("line 2: {reason}"));
        }
    }
}
