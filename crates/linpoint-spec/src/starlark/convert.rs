//! Values of the language to and from data.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use num_bigint::BigInt;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::UnpackFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::tuple::{AllocTuple, TupleRef};
use starlark::values::{Heap, UnpackValue, Value};

use crate::data::float_digits;
use crate::flat::{Head, Reader, Text, Writer};

/// Deeper values are refused: they would not end, or not fit the stack.
const DEEPEST: usize = 100;

/// Larger data are refused, in bytes. A small value that contains others many times can be larger than memory.
const LARGEST: usize = 64 << 20;

/// Texts that were made values of the language. They cannot be changed, so equal ones can be the same.
#[derive(Debug, Default)]
pub(super) struct Texts<'v>(HashMap<Box<[u8]>, Value<'v>, FixedState>);

impl<'v> Texts<'v> {
    /// The longest text that is kept, in bytes, and the most texts: names of fields and keys, and short values.
    const LONGEST: usize = 64;
    const MOST: usize = 1000;

    fn value(&mut self, heap: Heap<'v>, text: Text<'_>) -> Value<'v> {
        if let Some(known) = self.0.get(text.bytes()) {
            return *known;
        }
        let value = heap.alloc(text.as_str());
        if text.bytes().len() <= Self::LONGEST && self.0.len() < Self::MOST {
            self.0.insert(text.bytes().into(), value);
        }
        value
    }
}

/// The next data as a value of the language, made anew: the caller may change it.
pub(super) fn to_starlark<'v>(
    heap: Heap<'v>,
    texts: &mut Texts<'v>,
    data: &mut Reader<'_>,
) -> Value<'v> {
    match data.head() {
        Head::None => Value::new_none(),
        Head::Bool(truth) => Value::new_bool(truth),
        Head::Int(number) => heap.alloc(number),
        Head::Number(digits) => match (digits.parse::<BigInt>(), digits.parse::<f64>()) {
            (Ok(integer), _) => heap.alloc(integer),
            (_, Ok(float)) => heap.alloc(float),
            _ => heap.alloc(digits),
        },
        Head::Text(text) => texts.value(heap, text),
        Head::List(items) => heap.alloc(AllocList(
            (0..items).map(|_| to_starlark(heap, texts, data)),
        )),
        Head::Tuple(items) => heap.alloc(AllocTuple(
            (0..items).map(|_| to_starlark(heap, texts, data)),
        )),
        Head::Dict(pairs) => heap.alloc(AllocDict((0..pairs).map(|_| {
            let key = to_starlark(heap, texts, data);
            (key, to_starlark(heap, texts, data))
        }))),
    }
}

/// The lists and dictionaries of values that are written, for what their data do not tell.
#[derive(Debug, Default)]
pub(super) struct Parts<'v> {
    /// Those that may be changed.
    own: Vec<Value<'v>>,
    /// Whether there is one that may not, or a dictionary that is not sorted by key.
    has_other: bool,
}

impl<'v> Parts<'v> {
    /// The most lists and dictionaries of which each two are compared.
    const MOST: usize = 32;

    pub(super) fn clear(&mut self) {
        self.own.clear();
        self.has_other = false;
    }

    fn add(&mut self, part: Value<'v>) {
        if part.unpack_frozen().is_some() || self.own.len() == Self::MOST {
            self.has_other = true;
        } else {
            self.own.push(part);
        }
    }

    /// Whether no function that reads or changes the value can tell it from the one that [`to_starlark`] makes of its data: its
    /// dictionaries are sorted, all of its parts may be changed, and none is contained twice.
    pub(super) fn are_as_made(&self) -> bool {
        let is_before = |(i, part): (usize, &Value<'v>)| {
            let before = self.own[..i].iter();
            before.copied().any(|other| other.ptr_eq(*part))
        };
        !self.has_other && !self.own.iter().enumerate().any(is_before)
    }
}

/// Writes the data of a value that is so deep in another one. The error is the type of the part of it that is none.
#[inline]
pub(super) fn write<'v>(
    depth: usize,
    value: Value<'v>,
    data: &mut Writer,
    parts: &mut Parts<'v>,
) -> Result<(), String> {
    // Most values are of these types.
    if let Some(number) = value.unpack_i32() {
        data.int(number.into());
        return Ok(());
    }
    match value.unpack_str() {
        Some(text) if data.bytes().len() <= LARGEST => {
            data.text(text);
            Ok(())
        }
        _ => write_other(depth, value, data, parts),
    }
}

fn write_other<'v>(
    depth: usize,
    value: Value<'v>,
    data: &mut Writer,
    parts: &mut Parts<'v>,
) -> Result<(), String> {
    if depth > DEEPEST {
        return Err("a value that contains itself, or is nested too deeply".to_owned());
    }
    // Numbers take hardly more room here than in the memory that the function used.
    if data.bytes().len() > LARGEST {
        return Err(format!("a value of more than {} megabytes", LARGEST >> 20));
    }
    if value.is_none() {
        data.none();
    } else if let Some(truth) = value.unpack_bool() {
        data.bool(truth);
    } else if let Some(items) = TupleRef::from_value(value) {
        data.tuple(items.len());
        for item in items.iter() {
            write(depth + 1, item, data, parts)?;
        }
    } else if let Some(items) = ListRef::from_value(value) {
        parts.add(value);
        data.list(items.len());
        for item in items.iter() {
            write(depth + 1, item, data, parts)?;
        }
    } else if let Some(pairs) = DictRef::from_value(value) {
        parts.add(value);
        write_dict(depth, &pairs, data, parts)?;
    } else if let Ok(Some(number)) = i64::unpack_value(value) {
        data.int(number);
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

fn write_dict<'v>(
    depth: usize,
    pairs: &DictRef<'v>,
    data: &mut Writer,
    parts: &mut Parts<'v>,
) -> Result<(), String> {
    let mut is_sorted = true;
    let mut before = None;
    for key in pairs.keys() {
        let Some(text) = key.unpack_str() else {
            let is_sorted = data.dict(pairs.len(), pairs.iter(), |data, value| {
                write(depth + 1, value, data, parts)
            })?;
            parts.has_other |= !is_sorted;
            return Ok(());
        };
        is_sorted &= before.replace(text).is_none_or(|before| before < text);
    }
    data.sorted_dict(pairs.len());
    let mut write_pair = |(key, value): (Value<'v>, Value<'v>)| {
        write(depth + 1, key, data, parts)?;
        write(depth + 1, value, data, parts)
    };
    if is_sorted {
        return pairs.iter().try_for_each(&mut write_pair);
    }
    // To sort texts before they are written takes less time than to sort what is written.
    let mut unsorted: Vec<_> = pairs.iter().collect();
    unsorted.sort_unstable_by_key(|(key, _)| key.unpack_str());
    unsorted.into_iter().try_for_each(&mut write_pair)?;
    parts.has_other = true;
    Ok(())
}
