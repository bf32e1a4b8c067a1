//! Values of the language to and from data.

use num_bigint::BigInt;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::UnpackFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::tuple::{AllocTuple, TupleRef};
use starlark::values::{Heap, UnpackValue, Value};

use crate::data::float_digits;
use crate::flat::{Head, Reader, Writer};

/// Deeper values are refused: they would not end, or not fit the stack.
const DEEPEST: usize = 100;

/// Larger data are refused, in bytes. A small value that contains others many times can be larger than memory.
const LARGEST: usize = 64 << 20;

/// The next data as a value of the language, made anew: the caller may change it.
pub(super) fn to_starlark<'v>(heap: Heap<'v>, data: &mut Reader<'_>) -> Value<'v> {
    match data.head() {
        Head::None => Value::new_none(),
        Head::Bool(truth) => Value::new_bool(truth),
        Head::Int(number) => heap.alloc(number),
        Head::Number(digits) => match (digits.parse::<BigInt>(), digits.parse::<f64>()) {
            (Ok(integer), _) => heap.alloc(integer),
            (_, Ok(float)) => heap.alloc(float),
            _ => heap.alloc(digits),
        },
        Head::Text(text) => heap.alloc(text),
        Head::List(items) => {
            let items: Vec<_> = (0..items).map(|_| to_starlark(heap, data)).collect();
            heap.alloc(AllocList(items))
        }
        Head::Tuple(items) => {
            let items: Vec<_> = (0..items).map(|_| to_starlark(heap, data)).collect();
            heap.alloc(AllocTuple(items))
        }
        Head::Dict(pairs) => heap.alloc(AllocDict(
            (0..pairs).map(|_| (to_starlark(heap, data), to_starlark(heap, data))),
        )),
    }
}

/// Writes the data of a value. The error is the type of the part of it that is none.
pub(super) fn write(value: Value<'_>, data: &mut Writer) -> Result<(), String> {
    write_at(0, value, data)
}

fn write_at(depth: usize, value: Value<'_>, data: &mut Writer) -> Result<(), String> {
    if depth > DEEPEST {
        return Err("a value that contains itself, or is nested too deeply".to_owned());
    }
    if data.bytes().len() > LARGEST {
        return Err(format!("a value of more than {} megabytes", LARGEST >> 20));
    }
    if value.is_none() {
        data.none();
    } else if let Some(truth) = value.unpack_bool() {
        data.bool(truth);
    } else if let Some(text) = value.unpack_str() {
        data.text(text);
    } else if let Ok(Some(number)) = i64::unpack_value(value) {
        data.int(number);
    } else if let Some(items) = TupleRef::from_value(value) {
        data.tuple(items.len());
        for item in items.iter() {
            write_at(depth + 1, item, data)?;
        }
    } else if let Some(items) = ListRef::from_value(value) {
        data.list(items.len());
        for item in items.iter() {
            write_at(depth + 1, item, data)?;
        }
    } else if let Some(pairs) = DictRef::from_value(value) {
        let count = pairs.len();
        data.dict(count, pairs.iter(), |data, value| {
            write_at(depth + 1, value, data)
        })?;
    } else {
        match value.get_type() {
            "int" => data.number(&value.to_str()),
            "float" => match UnpackFloat::unpack_value(value) {
                Ok(Some(UnpackFloat(float))) => data.number(&float_digits(float)),
                _ => return Err("a float".to_owned()),
            },
            other => return Err(format!("a {other}")),
        }
    }
    Ok(())
}
