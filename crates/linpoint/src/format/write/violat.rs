//! Writes a history as Violat does it: events of invocations with lists of arguments, and results as text.

use std::io;

use super::super::Format;
use super::{Event, events, json_text, refusal, refuse_op};
use crate::history::{History, Op};
use crate::spec::Params;
use crate::value::Value;

pub(super) fn text(history: &History, object_type: Option<(&str, &Params)>) -> io::Result<String> {
    let schema = schema(object_type)?;
    let mut list = Vec::new();
    for event in events(history) {
        let (op, kind) = match event {
            Event::Call(op) => (op, "call"),
            Event::Return(op) => (op, "return"),
            // Histories with other events are refused.
            Event::Note(_) | Event::FailedCall(_) | Event::Failure(_) => continue,
        };
        let Invocation {
            sid,
            arguments,
            value,
        } = invocation(&op).map_err(|why| refuse_op(Format::Violat, history, op.id, why))?;
        let (id, name) = (op.id.index(), quoted(op.method));
        let value = value.filter(|_| kind == "return");
        let value = value.map_or(String::new(), |text| format!(",\"value\":{}", quoted(text)));
        list.push(format!(
            "{{\"kind\":\"{kind}\",\"sid\":{sid},\"invocation\":{{\"id\":{id},\"method\":{{\"name\":{name}}},\"arguments\":{arguments}}}{value}}}"
        ));
    }
    let list = list.join(",");
    Ok(format!("{{\"schema\":{schema},\"events\":[{list}]}}\n"))
}

/// The class, with its capacity.
fn schema(object_type: Option<(&str, &Params)>) -> io::Result<String> {
    let Some((class, params)) = object_type else {
        let reason =
            "violat names the class of the object, and this history has none: name it with --type";
        return Err(refusal(reason));
    };
    if let Some(other) = params.keys().find(|name| *name != "capacity") {
        return Err(refusal(format!(
            "violat has no place for the parameter {other:?}, only for a capacity"
        )));
    }
    let capacity = params.values().map(json_text).collect::<Option<Vec<_>>>();
    let capacity = capacity.unwrap_or_default().join(",");
    let class = quoted(class);
    Ok(format!("{{\"class\":{class},\"arguments\":[{capacity}]}}"))
}

/// What Violat says of an operation.
struct Invocation<'a> {
    sid: i64,
    arguments: String,
    value: Option<&'a str>,
}

/// What is written of `op`, or the reason why it cannot be written.
fn invocation<'a>(op: &Op<'a>) -> Result<Invocation<'a>, &'static str> {
    let sid = op.process.as_int().ok_or("sequences are numbers")?;
    let arguments = op.argument.as_list().and_then(|_| json_text(op.argument));
    let arguments = arguments.ok_or("the argument is a list of JSON values in violat")?;
    let value = match op.result {
        None | Some(Value::Nil) => None,
        Some(Value::Text(text)) => Some(text.as_str()),
        Some(_) => return Err("results are text in violat"),
    };
    Ok(Invocation {
        sid,
        arguments,
        value,
    })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
