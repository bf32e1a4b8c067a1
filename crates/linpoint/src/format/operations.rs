//! Plain text of the published monitors (fastlin, PolyLin, Fptlin): one operation with its times on each line.
//!
//! ```text
//! # stack
//! push 1 1 2
//! peek 2 3 4
//! ```
//!
//! Times are integers. If some are fractions, `1.5`, `1.5e9` or `3/2`, all of them become their places in the order of times.
//!
//! `[PROCESS] METHOD VALUE.. CALL RETURN`, or `PROCESS CALL RETURN METHOD VALUE..` as FPTLin has it, separated by blanks or commas.
//! The first line may name the type after `#`.

use super::fptlin::{self, FptlinLine};
use super::rational::{Places, Rational};
use super::{ReadOptions, RecordedHistory, Sink};
use crate::error::Error;
use crate::history::{OperationParts, Ties};
use crate::spec::{Params, value_is_result};
use crate::value::{Value, ValueRef};

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    let history = read_history(text, options, &integer).or_else(|error| {
        let places = places_of(text).ok_or(error)?;
        read_history(text, options, &|time| places.of_text(time))
    });
    sink.put(history);
}

fn integer(time: &str) -> Option<i64> {
    time.parse().ok()
}

/// The places of all times, if some of them are fractions. FPTLin has integers only.
fn places_of(text: &str) -> Option<Places> {
    let mut times = Vec::new();
    for line in text.lines() {
        let (fields, _) = fields_of(line);
        if FptlinLine::of(&fields).is_some() {
            return None;
        }
        if let [.., call, ret] = fields.as_slice() {
            times.extend([*call, *ret]);
        }
    }
    let is_fraction = |time: &&str| integer(time).is_none() && Rational::parse(time).is_some();
    times.iter().any(is_fraction).then(|| {
        // What is no time is refused where it is read.
        Places::of(times.into_iter().filter_map(Rational::parse))
    })
}

/// Whether this stands where the time of a return would be if there was one.
fn is_never(time: &str) -> bool {
    matches!(time, "inf" | "-")
}

fn read_history(
    text: &str,
    options: &ReadOptions,
    time: &dyn Fn(&str) -> Option<i64>,
) -> Result<RecordedHistory, Error> {
    let mut builder = options.builder();
    let mut object_type: Option<(u64, String)> = None;
    let mut is_fptlin = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (fields, comment) = fields_of(line);
        if fields.is_empty() {
            // Only a comment of one word before the first operation is a type.
            if let [name] = comment.split_whitespace().collect::<Vec<_>>().as_slice()
                && builder.is_empty()
            {
                object_type.get_or_insert_with(|| (number, (*name).to_owned()));
            }
            continue;
        }
        let operation = match FptlinLine::of(&fields) {
            Some(line) => {
                is_fptlin = true;
                line.and_then(FptlinLine::operation)
            }
            None => read_operation(&fields, time),
        };
        let mut operation = operation.map_err(|reason| Error::malformed(reason).at_line(number))?;
        if object_type.as_ref().is_some_and(|(_, name)| name == "set") {
            operation = of_set(operation);
        }
        builder.operation_parts(number, operation)?;
    }
    Ok(RecordedHistory {
        line: object_type.as_ref().map_or(0, |&(line, _)| line),
        history: builder.finish(options.ties.unwrap_or(match is_fptlin {
            // FPTLin orders operations that touch.
            true => Ties::ReturnFirst,
            false => Ties::default(),
        }))?,
        object_type: object_type.map(|(_, name)| match is_fptlin {
            true => fptlin::object_type(&name),
            false => (type_name(&name), Params::new()),
        }),
        ..RecordedHistory::default()
    })
}

/// The fields of a line, and its comment.
pub(super) fn fields_of(line: &str) -> (Vec<&str>, &str) {
    let content = line.split("//").next().unwrap_or_default();
    let (content, comment) = content.split_once('#').unwrap_or((content, ""));
    let fields = content
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|field| !field.is_empty());
    (fields.collect(), comment)
}

/// The name of the type that a header names; the monitors write some names without hyphens.
pub(super) fn type_name(header: &str) -> String {
    match header {
        "priorityqueue" => "priority-queue",
        other => other,
    }
    .to_owned()
}

/// The operation of a set: monitors write `insert` for `add`, and only insertions and removals that changed something, without
/// their answer.
pub(super) fn of_set(operation: OperationParts<'_>) -> OperationParts<'_> {
    let method = match operation.method {
        "insert" => "add",
        "remove" if matches!(operation.result, ValueRef::Value(Value::Nil)) => "remove",
        _ => return operation,
    };
    OperationParts {
        method,
        result: Value::Bool(true).into(),
        ..operation
    }
}

/// Reads the operation of a line. `time` returns the times that it knows.
pub(super) fn read_operation<'a>(
    fields: &[&'a str],
    time: &dyn Fn(&str) -> Option<i64>,
) -> Result<OperationParts<'a>, String> {
    let (process, fields) = match fields {
        [process, rest @ ..] => match process.parse::<i64>() {
            Ok(process) => (Some(Value::Int(process)), rest),
            Err(_) => (None, fields),
        },
        [] => (None, fields),
    };
    let [method, values @ .., call, ret] = fields else {
        return Err("expected [PROCESS] METHOD VALUE CALL RETURN".to_owned());
    };
    let called = time(call)
        .ok_or_else(|| format!("the time of the call must be a 64-bit number, not {call:?}"))?;
    let returned = match *ret {
        ret if is_never(ret) => None,
        ret => Some(time(ret).ok_or_else(|| {
            format!("the time of the return must be a 64-bit number, \"inf\" or \"-\", not {ret:?}")
        })?),
    };
    let (method, argument, result) = divide(method, values, returned.is_none())?;
    Ok(OperationParts {
        process: process.map(Value::into),
        object: Value::Nil.into(),
        method,
        argument: argument.into(),
        result: result.into(),
        called,
        returned,
    })
}

/// What the values of an operation are: its argument, its result, or both.
fn divide<'a>(
    method: &'a str,
    values: &[&str],
    pending: bool,
) -> Result<(&'a str, Value, Value), String> {
    // Sets put the answer into the name.
    for (ending, answer) in [("_true", true), ("_false", false)] {
        if let Some(method) = method.strip_suffix(ending) {
            return Ok((method, argument(values)?, Value::Bool(answer)));
        }
    }
    if !value_is_result(method) {
        return Ok((method, argument(values)?, Value::Nil));
    }
    match values {
        [] => Ok((method, Value::Nil, Value::Nil)),
        [value] => Ok((method, Value::Nil, result(value))),
        _ if pending => Ok((method, Value::Nil, Value::Nil)),
        _ => Err(format!("{method:?} has one result, not {}", values.len())),
    }
}

fn argument(values: &[&str]) -> Result<Value, String> {
    let is_empty = |value: &&&str| matches!(result(value), Value::Nil);
    match values {
        [] | ["-"] => Ok(Value::Nil),
        _ if values.iter().any(|value| is_empty(&value)) => {
            Err("-1, empty, null and - stand for \"nothing there\" and cannot be added".to_owned())
        }
        [value] => Ok(result(value)),
        several => Ok(Value::list(several.iter().map(|value| result(value)))),
    }
}

/// A value as the published monitors write it; they report an empty container as -1.
fn result(text: &str) -> Value {
    match text {
        "-1" | "-" | "empty" | "null" | "nil" => Value::Nil,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => text.parse().map_or_else(|_| Value::from(text), Value::Int),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, parse};

    fn read_text(text: &str) -> Result<RecordedHistory, Error> {
        let options = ReadOptions {
            format: Some(Format::Operations),
            ..ReadOptions::default()
        };
        parse(text.as_bytes(), &options).remove(0)
    }

    fn texts(recorded: &RecordedHistory) -> Vec<String> {
        recorded.history.ops().map(|op| op.text()).collect()
    }

    #[test]
    fn a_stack() {
        let text = "# stack\npush 1 1 2\n\npeek -1, 3, 4 // nothing\n0 pop 1 5 inf\npop 1 7 8 # done\n# odd\n";
        let recorded = parse(text.as_bytes(), &ReadOptions::default())
            .remove(0)
            .unwrap();
        assert_eq!(
            texts(&recorded),
            ["push(1)", "peek() → nil", "pop() → ?", "pop() → 1"]
        );
        assert_eq!(
            recorded.object_type,
            Some(("stack".to_owned(), Params::new()))
        );
        assert_eq!(recorded.history.ties(), Some(crate::Ties::CallFirst));
    }

    #[test]
    fn without_a_header() {
        let recorded = parse(b"add_true a 1 2\nrmw 1 2 3 4\n", &ReadOptions::default());
        let recorded = recorded.into_iter().next().unwrap().unwrap();
        assert_eq!(texts(&recorded), [r#"add("a") → true"#, "rmw(1, 2)"]);
        assert_eq!(recorded.object_type, None);
    }

    #[test]
    fn headers_of_the_monitors_name_types() {
        let recorded = read_text("# priorityqueue\ninsert 3 1 2\npoll 3 3 4\n").unwrap();
        assert_eq!(recorded.object_type.unwrap().0, "priority-queue");
        let recorded =
            read_text("# set\ninsert 3 1 2\ncontains_true 3 3 4\nremove 3 5 6\n").unwrap();
        assert_eq!(
            texts(&recorded),
            ["add(3) → true", "contains(3) → true", "remove(3) → true"]
        );
    }

    #[test]
    fn lines_of_fptlin_have_the_times_first() {
        let cases = [
            (
                "# stack\n0 1 5 PUSH 1\n4 2 9 PEEK -1\n0 6 7 POP 1\n",
                "stack",
                vec!["push(1)", "peek() → nil", "pop() → 1"],
            ),
            (
                "# priorityqueue\n0 0 4 INSERT 2\n1 1 5 POLL 2\n",
                "priority-queue",
                vec!["insert(2)", "poll() → 2"],
            ),
            (
                "# rmw\n0 1 10 READ_MODIFY_WRITE 0 2\n",
                "cas-register",
                vec!["cas(0, 2) → true"],
            ),
            (
                "# semaphore\n0 0 2 INCR 1\n1 0 4 DECR 0\n",
                "semaphore",
                vec!["release()", "try_acquire() → false"],
            ),
            (
                "# set\n0 0 1 INSERT 2 1\n1 1 2 CONTAINS 2 0\n0 2 6 REMOVE 2 1\n",
                "set",
                vec!["add(2) → true", "contains(2) → false", "remove(2) → true"],
            ),
        ];
        for (text, name, expected) in cases {
            let recorded = parse(text.as_bytes(), &ReadOptions::default())
                .remove(0)
                .unwrap();
            assert_eq!(texts(&recorded), expected, "{text}");
            if name == "set" {
                // Its operations touch.
                assert_eq!(recorded.history.ties(), Some(Ties::ReturnFirst));
            }
            let (object_type, params) = recorded.object_type.unwrap();
            assert_eq!(object_type, name);
            assert_eq!(
                params.is_empty(),
                !matches!(name, "cas-register" | "semaphore")
            );
        }
        let without_header =
            parse(b"0 1 5 ENQ 1\n0 6 7 DEQ 1\n", &ReadOptions::default()).remove(0);
        assert_eq!(texts(&without_header.unwrap()), ["enq(1)", "deq() → 1"]);
        for (line, reason) in [
            ("0 1 2 PUSH x", "values are integers, not \"x\""),
            ("0 1 2 DECR 2", "the answer of DECR is 0 or 1, not 2"),
            (
                "0 1 2 JUMP 2",
                "JUMP with 1 values is no operation of FPTLin; known are",
            ),
        ] {
            let error = read_text(&format!("# stack\n{line}\n"))
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(&format!("line 2: {reason}")), "{error}");
        }
    }

    #[test]
    fn fractions_are_times_and_order_exactly() {
        let ranks = |text: &str| {
            let history = read_text(text).unwrap().history;
            (history.calls().to_vec(), history.rets().to_vec())
        };
        // Only the last digit tells that the push returned before the pop was called; floating point would lose it.
        let digits = "push 1 1700000000.123456786 1700000000.123456787\npop 1 1700000000.123456788 1700000001\n";
        assert_eq!(ranks(digits), ranks("push 1 1 2\npop 1 3 4\n"));
        // Equal times are equal, however they are written: invocation first, so these overlap.
        let touching = "push 1 1/3 3/2\npop 1 1.5 4\n";
        assert_eq!(ranks(touching), ranks("push 1 1 2\npop 1 2 3\n"));
        let pending = "push 1 0.5 inf\npop 1 1 2\n";
        assert_eq!(ranks(pending), ranks("push 1 0 inf\npop 1 1 2\n"));
        let wrong = read_text("push 1 0.5 1\npush 2 1 x\n").unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "line 2: the time of the return must be a 64-bit number, \"inf\" or \"-\", not \"x\""
        );
    }

    #[test]
    fn refusals_name_the_line_and_the_reason() {
        let cases = [
            ("push", "expected [PROCESS] METHOD VALUE CALL RETURN"),
            (
                "push 1 x 3",
                "the time of the call must be a 64-bit number, not \"x\"",
            ),
            (
                "push 1 2 x",
                "the time of the return must be a 64-bit number, \"inf\" or \"-\", not \"x\"",
            ),
            ("push 1 3 2", "\"push\" returns at 2, before its call at 3"),
            (
                "push -1 1 2",
                "-1, empty, null and - stand for \"nothing there\" and cannot be added",
            ),
            ("pop 1 2 3 4", "\"pop\" has one result, not 2"),
        ];
        for (line, reason) in cases {
            let error = read_text(&format!("# stack\n{line}\n")).unwrap_err();
            assert_eq!(error.to_string(), format!("line 2: {reason}"));
        }
    }
}
