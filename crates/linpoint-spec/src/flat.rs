//! Data in one run of bytes: quick to make, to hash and to compare. Equal data have equal bytes.
//!
//! Each of them begins with a tag. Numbers and lengths follow in little endian; dictionaries are sorted by key.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use linpoint::Value;

use crate::data::{Data, normal_digits};

const NONE: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const NUMBER: u8 = 4;
const TEXT: u8 = 5;
const LIST: u8 = 6;
const TUPLE: u8 = 7;
const DICT: u8 = 8;

/// What data begin with. The items of a list or tuple follow, and the keys of a dictionary, each with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Head<'a> {
    None,
    Bool(bool),
    Int(i64),
    /// Another number: its digits.
    Number(&'a str),
    Text(Text<'a>),
    List(u32),
    Tuple(u32),
    /// The number of keys.
    Dict(u32),
}

/// A text that a [`Writer`] wrote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn as_str(self) -> &'a str {
        std::str::from_utf8(self.0).expect("a text was written")
    }
}

/// Data that are written one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn none(&mut self) {
        self.0.push(NONE);
    }

    pub(crate) fn bool(&mut self, truth: bool) {
        self.0.push(if truth { TRUE } else { FALSE });
    }

    pub(crate) fn int(&mut self, number: i64) {
        let mut bytes = [INT; 9];
        bytes[1..].copy_from_slice(&number.to_le_bytes());
        self.0.extend_from_slice(&bytes);
    }

    /// A number that is no integer of 64 bits.
    pub(crate) fn number(&mut self, digits: &str) {
        self.length(NUMBER, digits.len());
        self.0.extend_from_slice(digits.as_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.length(TEXT, text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// A list; its items come next.
    pub(crate) fn list(&mut self, items: usize) {
        self.length(LIST, items);
    }

    /// A tuple; its items come next.
    pub(crate) fn tuple(&mut self, items: usize) {
        self.length(TUPLE, items);
    }

    /// A dictionary of so many pairs; keys and values come next, sorted by key.
    pub(crate) fn sorted_dict(&mut self, pairs: usize) {
        self.length(DICT, pairs);
    }

    /// A dictionary of so many pairs, whose keys and values `write` writes. Returns whether they were sorted by key.
    pub(crate) fn dict<T, E>(
        &mut self,
        count: usize,
        pairs: impl Iterator<Item = (T, T)>,
        mut write: impl FnMut(&mut Self, T) -> Result<(), E>,
    ) -> Result<bool, E> {
        self.length(DICT, count);
        let start = self.0.len();
        let mut before: Option<Range<usize>> = None;
        let mut is_sorted = true;
        for (key, value) in pairs {
            let key_start = self.0.len();
            write(self, key)?;
            let key = key_start..self.0.len();
            if let Some(before) = before.replace(key.clone()) {
                is_sorted &= order(&self.0[before], &self.0[key]).is_lt();
            }
            write(self, value)?;
        }
        if !is_sorted {
            self.sort(start);
        }
        Ok(is_sorted)
    }

    /// Sorts the pairs that were written since `start` by key.
    fn sort(&mut self, start: usize) {
        let unsorted = self.0.split_off(start);
        let mut rest = Reader(&unsorted);
        let mut pairs = Vec::new();
        while !rest.is_empty() {
            pairs.push((rest.skip(), rest.skip()));
        }
        pairs.sort_unstable_by(|(a, _), (b, _)| order(a, b));
        for (key, value) in pairs {
            self.0.extend_from_slice(key);
            self.0.extend_from_slice(value);
        }
    }

    fn length(&mut self, tag: u8, length: usize) {
        let length = u32::try_from(length).expect("bug: larger than the limit on memory");
        let mut bytes = [tag; 5];
        bytes[1..].copy_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(&bytes);
    }

    /// Data that are written already.
    pub(crate) fn data(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The same data as this value. Tuples are not among them.
    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Nil => self.none(),
            Value::Bool(truth) => self.bool(*truth),
            Value::Int(number) => self.int(*number),
            Value::Number(digits) => self.number(&normal_digits(digits)),
            Value::Text(text) => self.text(text),
            Value::List(items) => {
                self.list(items.len());
                items.iter().for_each(|item| self.value(item));
            }
            Value::Map(pairs) => {
                let pairs = pairs.iter().map(|(key, value)| (key, value));
                let Ok(_) = self.dict(pairs.len(), pairs, |writer, value| {
                    writer.value(value);
                    Ok::<_, Infallible>(())
                });
            }
        }
    }
}

/// Data that are kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flat(Arc<[u8]>);

impl Flat {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Flat {
    fn from(bytes: &[u8]) -> Self {
        Flat(bytes.into())
    }
}

impl Borrow<[u8]> for Flat {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl PartialEq<Flat> for [u8] {
    fn eq(&self, other: &Flat) -> bool {
        *self == *other.0
    }
}

/// Reads data that a [`Writer`] wrote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the next data begin with.
    pub(crate) fn head(&mut self) -> Head<'a> {
        match self.take(1) {
            [NONE] => Head::None,
            [FALSE] => Head::Bool(false),
            [TRUE] => Head::Bool(true),
            [INT] => {
                let bytes = self.take(8).try_into().expect("eight bytes");
                Head::Int(i64::from_le_bytes(bytes))
            }
            [NUMBER] => Head::Number(self.text().as_str()),
            [TEXT] => Head::Text(self.text()),
            [LIST] => Head::List(self.length()),
            [TUPLE] => Head::Tuple(self.length()),
            [DICT] => Head::Dict(self.length()),
            tag => unreachable!("no data begin with {tag:?}"),
        }
    }

    /// Skips the next data if they are these. Returns whether they are.
    pub(crate) fn skip_if(&mut self, data: &[u8]) -> bool {
        let rest = self.0.strip_prefix(data);
        rest.map(|rest| self.0 = rest).is_some()
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn length(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().expect("four bytes"))
    }

    fn text(&mut self) -> Text<'a> {
        let length = self.length() as usize;
        Text(self.take(length))
    }

    /// The bytes of the next data.
    pub(crate) fn skip(&mut self) -> &'a [u8] {
        let start = self.0;
        let mut left: u64 = 1;
        while left > 0 {
            left -= 1;
            match self.take(1) {
                [INT] => drop(self.take(8)),
                [NUMBER | TEXT] => {
                    let length = self.length() as usize;
                    self.take(length);
                }
                [LIST | TUPLE] => left += u64::from(self.length()),
                [DICT] => left += 2 * u64::from(self.length()),
                _ => {}
            }
        }
        &start[..start.len() - self.0.len()]
    }

    /// The next data as a value. Tuples are lists, as histories have none.
    pub(crate) fn value(&mut self) -> Value {
        self.value_of_texts(&mut |text| Value::from(text.as_str()))
    }

    /// The same with the values of texts that `text` gives.
    pub(crate) fn value_of_texts(&mut self, text: &mut impl FnMut(Text<'a>) -> Value) -> Value {
        match self.head() {
            Head::None => Value::Nil,
            Head::Bool(truth) => Value::Bool(truth),
            Head::Int(number) => Value::Int(number),
            Head::Number(digits) => Value::number(digits),
            Head::Text(written) => text(written),
            Head::List(items) | Head::Tuple(items) => {
                Value::list((0..items).map(|_| self.value_of_texts(text)))
            }
            Head::Dict(pairs) => Value::map(
                (0..pairs).map(|_| (self.value_of_texts(text), self.value_of_texts(text))),
            ),
        }
    }

    /// The next data.
    pub(crate) fn data(&mut self) -> Data {
        match self.head() {
            Head::None => Data::None,
            Head::Bool(truth) => Data::Bool(truth),
            Head::Int(number) => Data::Int(number),
            Head::Number(digits) => Data::Number(digits.into()),
            Head::Text(text) => Data::Text(text.as_str().into()),
            Head::List(items) => Data::List((0..items).map(|_| self.data()).collect()),
            Head::Tuple(items) => Data::Tuple((0..items).map(|_| self.data()).collect()),
            Head::Dict(pairs) => {
                Data::Dict((0..pairs).map(|_| (self.data(), self.data())).collect())
            }
        }
    }
}

/// The order of data, which is that of [`Data`].
fn order(a: &[u8], b: &[u8]) -> Ordering {
    match (a, b) {
        // After the lengths.
        ([TEXT, _, _, _, _, a @ ..], [TEXT, _, _, _, _, b @ ..]) => a.cmp(b),
        _ => Reader(a).data().cmp(&Reader(b).data()),
    }
}

#[cfg(test)]
mod tests {
    use linpoint::Value;

    use super::{Flat, Reader, Writer};
    use crate::data::Data;

    fn written(value: &Value) -> Writer {
        let mut data = Writer::default();
        data.value(value);
        data
    }

    #[test]
    fn what_is_written_is_read() {
        let pairs = [
            (
                Value::from("b"),
                Value::list([Value::Nil, Value::Bool(true)]),
            ),
            (Value::Int(-7), Value::number("1.5")),
            (
                Value::from("a"),
                Value::map([(Value::Nil, Value::Bool(false))]),
            ),
            (
                Value::from(""),
                Value::number("123456789012345678901234567890"),
            ),
            (Value::Int(i64::MAX), Value::from("\u{e9}\0")),
        ];
        let value = Value::map(pairs);
        let data = written(&value);
        let mut reader = Reader::new(data.bytes());
        assert_eq!(reader.value(), value);
        assert!(reader.is_empty());
        assert_eq!({ Reader::new(data.bytes()) }.skip(), data.bytes());
        assert_eq!({ Reader::new(data.bytes()) }.data().to_value(), value);
    }

    #[test]
    fn equal_dictionaries_have_equal_bytes_in_the_order_of_data() {
        let keys = ["10", "9", "", "b", "a", "ab"].map(Value::from);
        let numbers = [3, -1, 10, i64::MIN].map(Value::Int);
        let keys: Vec<Value> = keys.into_iter().chain(numbers).collect();
        let write = |keys: Vec<&Value>| {
            let mut data = Writer::default();
            let pairs = keys.iter().map(|key| (*key, *key));
            let Ok(_) = data.dict(keys.len(), pairs, |data, value| {
                data.value(value);
                Ok::<_, std::convert::Infallible>(())
            });
            Flat::from(data.bytes())
        };
        let forward = write(keys.iter().collect());
        assert_eq!(forward, write(keys.iter().rev().collect()));
        let Data::Dict(pairs) = Reader::new(forward.bytes()).data() else {
            panic!("it is a dictionary");
        };
        assert_eq!(pairs.len(), keys.len());
        assert!(pairs.is_sorted());
    }
}
