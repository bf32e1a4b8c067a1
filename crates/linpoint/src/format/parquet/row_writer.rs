//! Writes operations one by one as Parquet, a row group at a time.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;

use super::write::{about_table, failed, json_text, properties};
use super::{Column, ORDER, RANKS};
use crate::format::jsonl::Header;
use crate::format::rows::{ColumnKind, Columns, Row, RowOrder};
use crate::value::{Interner, Value};
use parquet::file::metadata::KeyValue;

/// A Parquet file that is being written.
pub(in crate::format) struct ParquetRowWriter<'o> {
    writer: ArrowWriter<&'o mut (dyn Write + Send)>,
    schema: SchemaRef,
    columns: Vec<(Column, Cells)>,
    rows: usize,
    group: usize,
}

/// The cells of a column in the current row group.
enum Cells {
    Integers(Vec<Option<i64>>),
    /// Texts by their number.
    Texts(Interner<String>, Vec<Option<i32>>),
}

impl Cells {
    fn of(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Integers => Cells::Integers(Vec::new()),
            ColumnKind::Texts => Cells::Texts(Interner::default(), Vec::new()),
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Cells::Integers(_) => DataType::Int64,
            Cells::Texts(..) => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
        }
    }

    fn push_integer(&mut self, integer: Option<i64>) {
        match self {
            Cells::Integers(cells) => cells.push(integer),
            Cells::Texts(..) => unreachable!("bug: times and hints are integers"),
        }
    }

    fn push_text(&mut self, text: Option<String>) {
        match self {
            Cells::Integers(_) => unreachable!("bug: a column of integers gets a text"),
            Cells::Texts(texts, keys) => keys.push(text.map(|text| texts.intern(text) as i32)),
        }
    }

    /// Adds a value. Nil is null.
    fn push(&mut self, value: Option<&Value>) {
        let value = value.filter(|value| !value.is_nil());
        match self {
            Cells::Integers(cells) => cells.push(value.and_then(Value::as_int)),
            Cells::Texts(..) => self.push_text(value.map(json_text)),
        }
    }

    /// The array of all cells, after which there are none.
    fn take(&mut self) -> ArrayRef {
        match self {
            Cells::Integers(cells) => Arc::new(Int64Array::from(std::mem::take(cells))),
            Cells::Texts(texts, keys) => {
                let texts = std::mem::take(texts).into_items();
                let keys = Int32Array::from(std::mem::take(keys));
                let texts = StringArray::from_iter_values(texts);
                Arc::new(DictionaryArray::new(keys, Arc::new(texts)))
            }
        }
    }
}

impl<'o> ParquetRowWriter<'o> {
    /// Begins a file, with so many operations in a row group.
    pub(in crate::format) fn new(
        about: &Header<'_>,
        order: RowOrder,
        holds: Columns,
        group: usize,
        out: &'o mut (dyn Write + Send),
    ) -> io::Result<Self> {
        let mut columns = vec![
            (Column::Object, Cells::of(holds.object)),
            (Column::Process, Cells::of(holds.process)),
            (Column::Method, Cells::of(ColumnKind::Texts)),
            (Column::Argument, Cells::of(holds.argument)),
            (Column::Result, Cells::of(holds.result)),
            (Column::Call, Cells::of(ColumnKind::Integers)),
            (Column::Return, Cells::of(ColumnKind::Integers)),
        ];
        if holds.has_hints {
            columns.push((Column::Hint, Cells::of(ColumnKind::Integers)));
        }
        let fields = columns.iter().map(|(column, cells)| {
            let is_nullable = match column {
                Column::Method | Column::Call => false,
                Column::Process => holds.has_unnamed,
                _ => true,
            };
            Field::new(column.name(), cells.data_type(), is_nullable)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut pairs = about_table(about)?;
        if order == RowOrder::Events {
            pairs.push(KeyValue::new(ORDER.to_owned(), RANKS.to_owned()));
        }
        let texts = columns
            .iter()
            .filter(|(_, cells)| matches!(cells, Cells::Texts(..)));
        let texts: Vec<Column> = texts.map(|(column, _)| *column).collect();
        let all = columns.iter().map(|(column, _)| *column);
        let properties = properties(pairs, all, &texts);
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(failed)?;
        Ok(ParquetRowWriter {
            writer,
            schema,
            columns,
            rows: 0,
            group,
        })
    }

    /// Writes an operation.
    pub(in crate::format) fn write(&mut self, row: &Row) -> io::Result<()> {
        for (column, cells) in &mut self.columns {
            match column {
                Column::Object => cells.push(Some(&row.object)),
                Column::Process => cells.push(row.process.as_ref()),
                Column::Method => cells.push_text(Some(row.method.to_string())),
                Column::Argument => cells.push(Some(&row.argument)),
                Column::Result => cells.push(row.returned.map(|_| &row.result)),
                Column::Call => cells.push_integer(Some(row.called)),
                Column::Return => cells.push_integer(row.returned),
                Column::Hint => cells.push_integer(row.hint),
            }
        }
        self.rows += 1;
        match self.rows >= self.group {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let arrays = self.columns.iter_mut().map(|(_, cells)| cells.take());
        let batch = RecordBatch::try_new(self.schema.clone(), arrays.collect());
        self.writer
            .write(&batch.map_err(io::Error::other)?)
            .map_err(failed)?;
        self.rows = 0;
        self.writer.flush().map_err(failed)
    }

    /// Writes the last row group and the metadata.
    pub(in crate::format) fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.close().map_err(failed)?;
        Ok(())
    }
}
