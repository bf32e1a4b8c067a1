//! Writes a history as the plain text of the published monitors: process, method, value, call and return on each line.

use std::io;

use super::super::Format;
use super::super::fptlin::FptlinLine;
use super::super::operations::{fields_of, of_set, read_operation, type_name};
use super::{order_of_times, refusal, refuse_op};
use crate::history::{History, Op, OperationParts};
use crate::spec::{Params, value_is_result};
use crate::value::{Value, ValueRef};

pub(super) fn text(history: &History, object_type: Option<(&str, &Params)>) -> io::Result<String> {
    let name = object_type.map(|(name, _)| name);
    let mut text = String::new();
    if let Some(name) = name {
        if name.contains(char::is_whitespace) || type_name(name) != name {
            return Err(refusal(format!(
                "operations has no place for the type {name:?}"
            )));
        }
        text += &format!("# {name}\n");
    }
    // The order of a history without times is written as times.
    let times = order_of_times(Format::Operations, history)?;
    for op in history.ops() {
        let (called, returned) = match op.times.filter(|_| times.is_some()) {
            Some(times) => times,
            None => (op.call.into(), op.ret.into()),
        };
        let returned = op.result.map(|_| returned);
        let line = line(&op, called, returned);
        let is_read_back = is_told(&line, &op, name, (called, returned));
        if !is_read_back {
            let why = "no line of method and plain values is read as this operation by a numbered process";
            return Err(refuse_op(Format::Operations, history, op.id, why));
        }
        text += &line;
        text.push('\n');
    }
    Ok(text)
}

fn line(op: &Op<'_>, called: i64, returned: Option<i64>) -> String {
    let mut fields = vec![plain(op.process)];
    match op.result {
        // Sets put the answer into the name.
        Some(Value::Bool(answer)) if !value_is_result(op.method) => {
            fields.push(format!("{}_{answer}", op.method));
        }
        _ => fields.push(op.method.to_owned()),
    }
    match (op.argument, op.result) {
        (Value::Nil, Some(Value::Nil)) if value_is_result(op.method) => {
            fields.push("empty".to_owned());
        }
        (Value::Nil, Some(result)) if value_is_result(op.method) => fields.push(plain(result)),
        (Value::Nil, _) => {}
        (Value::List(items), _) => fields.extend(items.iter().map(plain)),
        (argument, _) => fields.push(plain(argument)),
    }
    fields.push(called.to_string());
    fields.push(returned.map_or("inf".to_owned(), |time| time.to_string()));
    fields.join(" ")
}

/// A value without quotes, as the format has it.
fn plain(value: &Value) -> String {
    value
        .as_text()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether `line` is read as `op` with these times, after a header that names this type.
fn is_told(line: &str, op: &Op<'_>, name: Option<&str>, times: (i64, Option<i64>)) -> bool {
    let (fields, comment) = fields_of(line);
    if FptlinLine::of(&fields).is_some() {
        return false;
    }
    let Ok(read) = read_operation(&fields, &|time| time.parse().ok()) else {
        return false;
    };
    let OperationParts {
        process,
        object: _,
        method,
        argument,
        result,
        called,
        returned,
    } = match name {
        Some("set") => of_set(read),
        _ => read,
    };
    let is =
        |read: ValueRef<'_>, value: &Value| matches!(read, ValueRef::Value(read) if read == *value);
    comment.is_empty()
        && process.is_some_and(|process| is(process, op.process))
        && method == op.method
        && is(argument, op.argument)
        && op.result.is_none_or(|wanted| is(result, wanted))
        && (called, returned) == times
}
