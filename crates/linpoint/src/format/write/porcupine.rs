//! Writes a history as `porcupine.Operation`, or as `porcupine.Event` where it has no times, in JSON.

use std::io;

use super::super::Format;
use super::super::porcupine::{Shape, call, result};
use super::{Event, events, json_text, order_of_times, refuse_op};
use crate::history::{History, Op};
use crate::value::Value;

pub(super) fn text(history: &History) -> io::Result<String> {
    match order_of_times(Format::Porcupine, history)? {
        Some(_) => operations(history),
        None => events_of(history),
    }
}

fn operations(history: &History) -> io::Result<String> {
    let mut text = String::new();
    for op in history.ops() {
        let client = client(history, &op)?;
        let (input, shape) = input(history, &op)?;
        let output = output(history, &op, shape)?;
        let (called, returned) = op.times.unwrap_or_default();
        if op.result.is_some() && returned == i64::MAX {
            let why = "the largest time stands for operations that did not return";
            return Err(refuse_op(Format::Porcupine, history, op.id, why));
        }
        text += &format!(
            "{{\"ClientId\":{client},\"Input\":{input},\"Call\":{called},\"Output\":{output},\"Return\":{returned}}}\n"
        );
    }
    Ok(text)
}

fn events_of(history: &History) -> io::Result<String> {
    let mut text = String::new();
    for event in events(history) {
        let (op, kind, value) = match event {
            Event::Call(op) => (op, false, input(history, &op)?.0),
            Event::Return(op) => {
                let shape = Shape::of_argument(op.argument);
                (op, true, output(history, &op, shape)?)
            }
            // Histories with other events are refused.
            Event::Note(_) | Event::FailedCall(_) | Event::Failure(_) => continue,
        };
        let (client, id) = (client(history, &op)?, op.id.index());
        text +=
            &format!("{{\"ClientId\":{client},\"Kind\":{kind},\"Value\":{value},\"Id\":{id}}}\n");
    }
    Ok(text)
}

fn client(history: &History, op: &Op<'_>) -> io::Result<i64> {
    let why = "clients are numbers";
    let client = op.process.as_int();
    client.ok_or_else(|| refuse_op(Format::Porcupine, history, op.id, why))
}

/// The input that is read as the call of `op`: a method with a key, a value or both, or the argument itself if it names the method.
fn input(history: &History, op: &Op<'_>) -> io::Result<(String, Shape)> {
    let with = |parts: &[(&str, &Value)]| {
        let method = ("Op".into(), Value::from(op.method));
        let parts = parts
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).clone()));
        Value::map(parts.chain([method]))
    };
    let mut inputs = vec![op.argument.clone(), with(&[])];
    if let (Some([key, value]), "put" | "append") = (op.argument.as_list(), op.method) {
        inputs.push(with(&[("Key", key), ("Value", value)]));
    }
    inputs.push(with(&[("Value", op.argument)]));
    inputs.push(with(&[("Key", op.argument)]));
    let told = inputs.iter().find_map(|input| {
        let (call, shape) = call(input).ok()?;
        let is_told = call.method == op.method && call.argument == *op.argument;
        Some((json_text(input)?, shape)).filter(|_| is_told)
    });
    told.ok_or_else(|| {
        let why = "no input of Go's JSON is read as this call";
        refuse_op(Format::Porcupine, history, op.id, why)
    })
}

/// The output that is read as the result of `op`, whose input has this shape.
fn output(history: &History, op: &Op<'_>, shape: Shape) -> io::Result<String> {
    let Some(wanted) = op.result else {
        return Ok("null".to_owned());
    };
    let of_value = Value::map([("Value".into(), wanted.clone())]);
    let outputs = [Value::map([]), of_value, wanted.clone()];
    let mut told = outputs.into_iter().filter_map(|output| {
        let is_told = result(op.method, shape, output.clone()) == *wanted;
        json_text(&output).filter(|_| is_told)
    });
    told.next().ok_or_else(|| {
        let why = "no output of Go's JSON is read as this result";
        refuse_op(Format::Porcupine, history, op.id, why)
    })
}
