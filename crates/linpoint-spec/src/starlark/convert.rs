//! Values of the language to and from data.

use num_bigint::BigInt;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::UnpackFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::tuple::{AllocTuple, TupleRef};
use starlark::values::{Heap, UnpackValue, Value};

use crate::data::{Data, of_float};

/// Deeper values are refused: they would not end, or not fit the stack.
const DEEPEST: usize = 100;

/// A value of the language, made anew: the caller may change it.
pub(super) fn to_starlark<'v>(heap: Heap<'v>, data: &Data) -> Value<'v> {
    let all = |items: &[Data]| -> Vec<Value<'v>> {
        items.iter().map(|item| to_starlark(heap, item)).collect()
    };
    match data {
        Data::None => Value::new_none(),
        Data::Bool(truth) => Value::new_bool(*truth),
        Data::Int(number) => heap.alloc(*number),
        Data::Number(digits) => match (digits.parse::<BigInt>(), digits.parse::<f64>()) {
            (Ok(integer), _) => heap.alloc(integer),
            (_, Ok(float)) => heap.alloc(float),
            _ => heap.alloc(digits.as_ref()),
        },
        Data::Text(text) => heap.alloc(text.as_ref()),
        Data::List(items) => heap.alloc(AllocList(all(items))),
        Data::Tuple(items) => heap.alloc(AllocTuple(all(items))),
        Data::Dict(pairs) => {
            heap.alloc(AllocDict(pairs.iter().map(|(key, value)| {
                (to_starlark(heap, key), to_starlark(heap, value))
            })))
        }
    }
}

/// The data of a value, or the type of the part of it that is none.
pub(super) fn to_data(value: Value<'_>) -> Result<Data, String> {
    at_depth(value, 0)
}

fn at_depth(value: Value<'_>, depth: usize) -> Result<Data, String> {
    if depth > DEEPEST {
        return Err("a value that contains itself, or is nested too deeply".to_owned());
    }
    let inner = |value| at_depth(value, depth + 1);
    if value.is_none() {
        return Ok(Data::None);
    }
    if let Some(truth) = value.unpack_bool() {
        return Ok(Data::Bool(truth));
    }
    if let Ok(Some(number)) = i64::unpack_value(value) {
        return Ok(Data::Int(number));
    }
    if let Some(text) = value.unpack_str() {
        return Ok(Data::Text(text.into()));
    }
    if let Some(items) = ListRef::from_value(value) {
        return Ok(Data::List(
            items.iter().map(inner).collect::<Result<_, _>>()?,
        ));
    }
    if let Some(items) = TupleRef::from_value(value) {
        return Ok(Data::Tuple(
            items.iter().map(inner).collect::<Result<_, _>>()?,
        ));
    }
    if let Some(pairs) = DictRef::from_value(value) {
        let pairs = pairs
            .iter()
            .map(|(key, value)| Ok((inner(key)?, inner(value)?)));
        let mut pairs: Vec<_> = pairs.collect::<Result<_, String>>()?;
        pairs.sort_unstable();
        return Ok(Data::Dict(pairs.into()));
    }
    match value.get_type() {
        "int" => Ok(Data::Number(value.to_str().into())),
        "float" => match UnpackFloat::unpack_value(value) {
            Ok(Some(UnpackFloat(float))) => Ok(of_float(float)),
            _ => Err("a float".to_owned()),
        },
        other => Err(format!("a {other}")),
    }
}
