//! Plain text of the published monitors (fastlin, PolyLin, Fptlin): one operation with its times on each line.
//!
//! ```text
//! # stack
//! push 1 1 2
//! peek 2 3 4
//! ```
//!
//! `[PROCESS] METHOD VALUE.. CALL RETURN`, separated by blanks or commas. The first line may name the type after `#`.

use super::{ReadOptions, RecordedHistory, Sink};
use crate::error::Error;
use crate::history::OperationParts;
use crate::spec::{Params, value_is_result};
use crate::value::Value;

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    sink.put(read_history(text, options));
}

fn read_history(text: &str, options: &ReadOptions) -> Result<RecordedHistory, Error> {
    let mut builder = options.builder();
    let mut object_type = None;
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.split("//").next().unwrap_or_default();
        let (content, comment) = content.split_once('#').unwrap_or((content, ""));
        let fields: Vec<&str> = content
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|field| !field.is_empty())
            .collect();
        if fields.is_empty() {
            // Only a comment of one word before the first operation is a type.
            if let [name] = comment.split_whitespace().collect::<Vec<_>>().as_slice()
                && builder.is_empty()
            {
                object_type.get_or_insert_with(|| (number, (*name).to_owned()));
            }
            continue;
        }
        let operation =
            read_operation(&fields).map_err(|reason| Error::malformed(reason).at_line(number))?;
        builder.operation_parts(number, operation)?;
    }
    Ok(RecordedHistory {
        line: object_type.as_ref().map_or(0, |&(line, _)| line),
        history: builder.finish(options.ties.unwrap_or_default())?,
        object_type: object_type.map(|(_, name)| (name, Params::new())),
        ..RecordedHistory::default()
    })
}

fn read_operation<'a>(fields: &[&'a str]) -> Result<OperationParts<'a>, String> {
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
    let called = call
        .parse()
        .map_err(|_| format!("the time of the call must be an integer, not {call:?}"))?;
    let returned = match *ret {
        "inf" | "-" => None,
        ret => Some(ret.parse().map_err(|_| {
            format!("the time of the return must be an integer, \"inf\" or \"-\", not {ret:?}")
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
    fn refusals_name_the_line_and_the_reason() {
        let cases = [
            ("push", "expected [PROCESS] METHOD VALUE CALL RETURN"),
            (
                "push 1 x 3",
                "the time of the call must be an integer, not \"x\"",
            ),
            (
                "push 1 2 x",
                "the time of the return must be an integer, \"inf\" or \"-\", not \"x\"",
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
