//! Values between Python and histories: by JSON, as in files, and directly where that is the same.

use std::fmt::Display;

use linpoint::Value;
use linpoint::format::value_of_json;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// How values may nest in JSON.
const MAX_DEPTH: usize = 128;

/// Why a value of Python is none of a history.
#[derive(Debug)]
pub(crate) struct NoValue(pub(crate) String);

impl NoValue {
    fn of(error: impl Display) -> Self {
        NoValue(error.to_string())
    }
}

/// Writes a value as JSON on one line.
pub(crate) fn write_json(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<(), NoValue> {
    write_nested(value, out, MAX_DEPTH)
}

fn write_nested(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> Result<(), NoValue> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_cow().map_err(NoValue::of)?;
        write_text(&text, out);
    } else if value.is_none() {
        out.extend_from_slice(b"null");
    } else if let Ok(truth) = value.cast::<PyBool>() {
        out.extend_from_slice(if truth.is_true() { b"true" } else { b"false" });
    } else if value.is_instance_of::<PyInt>() {
        write_integer(value, out)?;
    } else if let Ok(number) = value.cast::<PyFloat>() {
        let number = number.value();
        if !number.is_finite() {
            return Err(NoValue(format!("{number} is no value of a history")));
        }
        out.extend_from_slice(format!("{number:?}").as_bytes());
    } else if depth == 0 {
        let reason = format!("a value is nested more than {MAX_DEPTH} levels deep");
        return Err(NoValue(reason));
    } else if let Ok(items) = value.cast::<PyList>() {
        write_items(items.iter(), out, depth - 1)?;
    } else if let Ok(items) = value.cast::<PyTuple>() {
        write_items(items.iter(), out, depth - 1)?;
    } else if let Ok(pairs) = value.cast::<PyDict>() {
        write_pairs(pairs, out, depth - 1)?;
    } else {
        write_other(value, out, depth - 1)?;
    }
    Ok(())
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
    if text.as_bytes().iter().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // Text is always JSON.
        let _ = serde_json::to_writer(out, text);
    }
}

fn write_integer(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<(), NoValue> {
    match value.extract::<i64>() {
        Ok(number) => out.extend_from_slice(number.to_string().as_bytes()),
        // A class of integers, such as an enumeration, may have another text.
        Err(_) => {
            let digits = value
                .call_method1("__format__", ("d",))
                .map_err(NoValue::of)?;
            let digits: String = digits.extract().map_err(NoValue::of)?;
            out.extend_from_slice(digits.as_bytes());
        }
    }
    Ok(())
}

fn write_items<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<(), NoValue> {
    out.push(b'[');
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_nested(&item, out, depth)?;
    }
    out.push(b']');
    Ok(())
}

fn write_pairs(pairs: &Bound<'_, PyDict>, out: &mut Vec<u8>, depth: usize) -> Result<(), NoValue> {
    out.push(b'{');
    for (i, (key, value)) in pairs.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let Ok(name) = key.cast::<PyString>() else {
            return Err(NoValue(format!("the key {key} of a dict is no text")));
        };
        write_text(&name.to_cow().map_err(NoValue::of)?, out);
        out.push(b':');
        write_nested(&value, out, depth)?;
    }
    out.push(b'}');
    Ok(())
}

/// Numbers of other libraries.
fn write_other(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> Result<(), NoValue> {
    if let Ok(integer) = value.call_method0("__index__") {
        return write_integer(&integer, out);
    }
    // Scalars of numpy.
    if value.hasattr("dtype").unwrap_or(false)
        && let Ok(item) = value.call_method0("item")
        && !item.get_type().is(value.get_type())
    {
        return write_nested(&item, out, depth);
    }
    let class = value.get_type();
    let class = class.name().map_err(NoValue::of)?;
    Err(NoValue(format!(
        "a {class} is no value of a history: use None, bool, int, float, str, list, tuple or dict"
    )))
}

/// The value of a history.
pub(crate) fn value_of(value: &Bound<'_, PyAny>) -> Result<Value, NoValue> {
    if value.is_none() {
        return Ok(Value::Nil);
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if value.is_instance_of::<PyInt>()
        && let Ok(number) = value.extract()
    {
        return Ok(Value::Int(number));
    }
    let mut text = Vec::new();
    write_json(value, &mut text)?;
    value_of_json(&String::from_utf8_lossy(&text)).map_err(NoValue)
}

/// The value for Python: JSON as its module `json` reads it.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Nil => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        other => {
            let text = other.to_json().to_string();
            py.import("json")?.call_method1("loads", (text,))?
        }
    })
}
