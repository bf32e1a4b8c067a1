//! Operations as bytes, for files that only the program that writes them reads.

use std::sync::Arc;

use super::Row;
use crate::value::Value;

/// Appends an operation.
pub(super) fn encode(row: &Row, out: &mut Vec<u8>) {
    value(&row.object, out);
    integer(row.called, out);
    optional(row.returned, out);
    match &row.process {
        None => out.push(0),
        Some(process) => {
            out.push(1);
            value(process, out);
        }
    }
    bytes(row.method.as_bytes(), out);
    value(&row.argument, out);
    value(&row.result, out);
    optional(row.hint, out);
    length(row.line, out);
}

fn optional(integer_or_none: Option<i64>, out: &mut Vec<u8>) {
    match integer_or_none {
        None => out.push(0),
        Some(i) => {
            out.push(1);
            integer(i, out);
        }
    }
}

/// Small integers of either sign take few bytes.
fn integer(i: i64, out: &mut Vec<u8>) {
    length(((i << 1) ^ (i >> 63)) as u64, out);
}

/// Seven bits in each byte, the lowest first; the highest bit says that more follow.
fn length(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    length(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn value(of: &Value, out: &mut Vec<u8>) {
    match of {
        Value::Nil => out.push(0),
        Value::Bool(false) => out.push(1),
        Value::Bool(true) => out.push(2),
        Value::Int(i) => {
            out.push(3);
            integer(*i, out);
        }
        Value::Number(text) => {
            out.push(4);
            bytes(text.as_bytes(), out);
        }
        Value::Text(text) => {
            out.push(5);
            bytes(text.as_bytes(), out);
        }
        Value::List(items) => {
            out.push(6);
            length(items.len() as u64, out);
            items.iter().for_each(|item| value(item, out));
        }
        Value::Map(pairs) => {
            out.push(7);
            length(pairs.len() as u64, out);
            for (key, item) in pairs.iter() {
                value(key, out);
                value(item, out);
            }
        }
    }
}

/// Reads what [`encode`] wrote. Shares the names of methods.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    methods: Vec<Arc<str>>,
}

impl Decoder {
    /// The operation in these bytes; `None` if it is none.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Option<Row> {
        let mut reader = Reader(bytes);
        let object = reader.value()?;
        let called = reader.integer()?;
        let returned = reader.optional()?;
        let process = match reader.byte()? {
            0 => None,
            _ => Some(reader.value()?),
        };
        let method = self.method(reader.text()?);
        Some(Row {
            object,
            process,
            method,
            argument: reader.value()?,
            result: reader.value()?,
            called,
            returned,
            hint: reader.optional()?,
            line: reader.length()?,
        })
    }

    /// The object and the call of the operation in these bytes.
    pub(super) fn key(&self, bytes: &[u8]) -> Option<(Value, i64)> {
        let mut reader = Reader(bytes);
        Some((reader.value()?, reader.integer()?))
    }

    fn method(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.methods.iter().find(|known| ***known == *name) {
            return Arc::clone(known);
        }
        let method: Arc<str> = name.into();
        self.methods.push(Arc::clone(&method));
        method
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn length(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }

    fn integer(&mut self) -> Option<i64> {
        let number = self.length()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn optional(&mut self) -> Option<Option<i64>> {
        match self.byte()? {
            0 => Some(None),
            _ => self.integer().map(Some),
        }
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.length()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.byte()? {
            0 => Value::Nil,
            1 => Value::Bool(false),
            2 => Value::Bool(true),
            3 => Value::Int(self.integer()?),
            4 => Value::number(self.text()?),
            5 => Value::from(self.text()?),
            6 => {
                let items = (0..self.length()?).map(|_| self.value());
                Value::list(items.collect::<Option<Vec<_>>>()?)
            }
            7 => {
                let pairs = (0..self.length()?).map(|_| Some((self.value()?, self.value()?)));
                Value::map(pairs.collect::<Option<Vec<_>>>()?)
            }
            _ => return None,
        })
    }
}
