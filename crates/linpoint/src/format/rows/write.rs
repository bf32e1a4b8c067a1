//! Writes operations one by one: JSON lines of operations with times, or Parquet.

use std::io::{self, Write};

use super::{Row, RowOrder, SortedRows, not_written_by_row};
use crate::format::Format;
use crate::format::jsonl::{Header, write_header, write_row};
#[cfg(feature = "parquet")]
use crate::format::parquet::ParquetRowWriter;
use crate::history::{Clients, Ties};
use crate::spec::Params;
use crate::value::Value;

/// What the columns of operations hold, which Parquet must know before the first one is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    pub(in crate::format) object: ColumnKind,
    pub(in crate::format) process: ColumnKind,
    pub(in crate::format) argument: ColumnKind,
    pub(in crate::format) result: ColumnKind,
    pub(in crate::format) has_unnamed: bool,
    pub(in crate::format) has_hints: bool,
}

/// What a column of values holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::format) enum ColumnKind {
    /// Integers, and nil.
    #[default]
    Integers,
    /// JSON.
    Texts,
}

impl ColumnKind {
    fn look_at(&mut self, value: &Value) {
        if !matches!(value, Value::Int(_) | Value::Nil) {
            *self = ColumnKind::Texts;
        }
    }
}

impl Columns {
    /// Makes room for the values of this operation.
    pub fn look_at(&mut self, row: &Row) {
        self.object.look_at(&row.object);
        self.argument.look_at(&row.argument);
        if row.returned.is_some() {
            self.result.look_at(&row.result);
        }
        match &row.process {
            Some(process) => self.process.look_at(process),
            None => self.has_unnamed = true,
        }
        self.has_hints |= row.hint.is_some();
    }
}

/// What a file of operations says of all of them.
#[derive(Clone, Copy, Debug)]
pub struct RowHeader<'a> {
    /// The type with its parameters.
    pub object_type: Option<(&'a str, &'a Params)>,
    /// Which comes first at equal times, unless it is the default.
    pub ties: Option<Ties>,
    /// The clients of processes that have names of their own.
    pub clients: &'a Clients,
    /// What the times are.
    pub order: RowOrder,
    /// What the columns hold.
    pub columns: Columns,
}

impl SortedRows {
    /// The header of a file of these operations, which are of this type.
    pub fn header<'a>(&'a self, object_type: Option<(&'a str, &'a Params)>) -> RowHeader<'a> {
        RowHeader {
            object_type,
            ties: self.about().ties,
            clients: &self.about().clients,
            order: self.order(),
            columns: self.columns(),
        }
    }
}

/// Writes operations one by one, in the order in which they are given.
pub struct RowWriter<'o>(Inner<'o>);

enum Inner<'o> {
    Lines(&'o mut (dyn Write + Send)),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetRowWriter<'o>>),
}

impl std::fmt::Debug for RowWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RowWriter")
    }
}

impl<'o> RowWriter<'o> {
    /// Begins a file in this format, with so many operations in a group where the format has groups.
    ///
    /// Returns an error if operations cannot be written one by one in this format.
    pub fn new(
        format: Format,
        header: RowHeader<'_>,
        group: usize,
        out: &'o mut (dyn Write + Send),
    ) -> io::Result<Self> {
        let RowHeader {
            object_type,
            ties,
            clients,
            ..
        } = header;
        let about = Header {
            object_type,
            ties,
            clients,
            ends_stuck: false,
        };
        match format {
            Format::Jsonl => {
                write_header(&about, out)?;
                Ok(RowWriter(Inner::Lines(out)))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let writer =
                    ParquetRowWriter::new(&about, header.order, header.columns, group, out)?;
                Ok(RowWriter(Inner::Parquet(Box::new(writer))))
            }
            other => {
                // Only Parquet has groups.
                let _ = group;
                let reason = not_written_by_row(other);
                Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    reason.to_string(),
                ))
            }
        }
    }

    /// Writes an operation.
    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        match &mut self.0 {
            Inner::Lines(out) => write_row(row, *out),
            #[cfg(feature = "parquet")]
            Inner::Parquet(writer) => writer.write(row),
        }
    }

    /// Writes what is left to be written.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Inner::Lines(_) => Ok(()),
            #[cfg(feature = "parquet")]
            Inner::Parquet(writer) => writer.finish(),
        }
    }
}
