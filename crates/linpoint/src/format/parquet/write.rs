//! Writes a history as Parquet.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::super::jsonl::{Header, write_header, write_value};
use super::{Column, FAILED, HEADER, NOTES, ORDER, RANKS, beside};
use crate::history::{History, NEVER, OpId};
use crate::spec::Params;
use crate::value::Value;

/// Rows of a row group, which is encoded in memory before it is written.
const ROW_GROUP: usize = 1 << 20;

/// Writes `history` as one Parquet file.
pub(in crate::format) fn write(
    history: &History,
    object_type: Option<(&str, &Params)>,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    write_groups(history, object_type, ROW_GROUP, out)
}

/// The same with so many rows in a group.
pub(super) fn write_groups(
    history: &History,
    object_type: Option<(&str, &Params)>,
    group: usize,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let sources = sources(history);
    let fields: Vec<Field> = sources
        .iter()
        .map(|(column, source)| source.field(column.name()))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let about = about_history(history, object_type)?;
    let texts = sources
        .iter()
        .filter(|(_, source)| matches!(source, Source::Texts(..)));
    let texts: Vec<Column> = texts.map(|(column, _)| *column).collect();
    let columns = sources.iter().map(|(column, _)| *column);
    let properties = properties(about, columns, &texts);
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(failed)?;
    for start in (0..history.len()).step_by(group) {
        let rows = start..history.len().min(start + group);
        let columns = sources
            .iter()
            .map(|(_, source)| source.array(rows.clone()))
            .collect();
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)?;
        writer.write(&batch).map_err(failed)?;
        writer.flush().map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

/// Returns the input/output error within a Parquet error, so that a broken pipe or a full disk is reported as such.
pub(super) fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

/// What a column is made of.
enum Source<'a> {
    /// Integers by the number of the value; `None` is null.
    Integers(Nullable, Vec<Option<i64>>, Numbers<'a>),
    /// Texts by the number of the value.
    Texts(Nullable, Arc<StringArray>, Vec<Option<i32>>, Numbers<'a>),
    /// Integers, row by row.
    Plain(Nullable, Box<dyn Fn(usize) -> Option<i64> + 'a>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nullable {
    Yes,
    No,
}

/// The number of a row's value, unless it has none.
type Numbers<'a> = Box<dyn Fn(usize) -> Option<usize> + 'a>;

fn sources(history: &History) -> Vec<(Column, Source<'_>)> {
    let is_pending = |row: usize| history.rets()[row] == NEVER;
    let object = |row: usize| Some(history.object_number(OpId(row as u32)).0 as usize);
    let process = |row: usize| Some(history.process_column()[row].0 as usize);
    let method = |row: usize| Some(history.method_column()[row].0 as usize);
    let argument = |row: usize| Some(history.argument_column()[row].0 as usize);
    let result =
        move |row: usize| (!is_pending(row)).then(|| history.result_column()[row].0 as usize);
    // An order that no rule for ties gives back from the times is kept as ranks.
    let has_times = history.ties().is_some();
    let call = move |row: usize| match history.times(row) {
        Some((called, _)) if has_times => Some(called),
        _ => Some(history.calls()[row].into()),
    };
    let ret = move |row: usize| match history.times(row) {
        _ if is_pending(row) => None,
        Some((_, returned)) if has_times => Some(returned),
        _ => Some(history.rets()[row].into()),
    };
    let rows = history.len();
    let values = history.values();
    let mut sources = vec![
        (
            Column::Object,
            Source::of_values(Nullable::Yes, history.objects(), rows, Box::new(object)),
        ),
        (
            Column::Process,
            Source::of_values(Nullable::No, history.processes(), rows, Box::new(process)),
        ),
        (
            Column::Method,
            Source::Texts(
                Nullable::No,
                Arc::new(StringArray::from_iter_values(history.methods())),
                (0..history.methods().len() as i32).map(Some).collect(),
                Box::new(method),
            ),
        ),
        (
            Column::Argument,
            Source::of_values(Nullable::Yes, values, rows, Box::new(argument)),
        ),
        (
            Column::Result,
            Source::of_values(Nullable::Yes, values, rows, Box::new(result)),
        ),
        (Column::Call, Source::Plain(Nullable::No, Box::new(call))),
        (Column::Return, Source::Plain(Nullable::Yes, Box::new(ret))),
    ];
    if history.has_hints() {
        let hint = move |row: usize| history.op(OpId(row as u32)).hint;
        sources.push((Column::Hint, Source::Plain(Nullable::Yes, Box::new(hint))));
    }
    sources
}

impl<'a> Source<'a> {
    /// Integers if all values that occur are integers or, where that is allowed, nil; their JSON otherwise.
    fn of_values(nullable: Nullable, values: &[Value], rows: usize, numbers: Numbers<'a>) -> Self {
        let mut occurs = vec![false; values.len()];
        (0..rows)
            .filter_map(&numbers)
            .for_each(|number| occurs[number] = true);
        let occurring = || values.iter().zip(&occurs).filter(|(_, occurs)| **occurs);
        let is_null = |value: &Value| nullable == Nullable::Yes && value.is_nil();
        if occurring().all(|(value, _)| value.as_int().is_some() || is_null(value)) {
            let integers = values.iter().map(Value::as_int).collect();
            return Source::Integers(nullable, integers, numbers);
        }
        let mut texts = Vec::new();
        let mut keys = vec![None; values.len()];
        for (number, value) in values.iter().enumerate() {
            if occurs[number] && !is_null(value) {
                keys[number] = Some(texts.len() as i32);
                texts.push(json_text(value));
            }
        }
        let texts = Arc::new(StringArray::from_iter_values(texts));
        Source::Texts(nullable, texts, keys, numbers)
    }

    fn field(&self, name: &str) -> Field {
        let (data_type, nullable) = match self {
            Source::Integers(nullable, ..) | Source::Plain(nullable, _) => {
                (DataType::Int64, nullable)
            }
            Source::Texts(nullable, ..) => (
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
                nullable,
            ),
        };
        Field::new(name, data_type, *nullable == Nullable::Yes)
    }

    fn array(&self, rows: Range<usize>) -> ArrayRef {
        match self {
            Source::Integers(_, integers, number) => Arc::new(Int64Array::from_iter(
                rows.map(|row| integers[number(row)?]),
            )),
            Source::Texts(_, texts, keys, number) => {
                let keys = Int32Array::from_iter(rows.map(|row| keys[number(row)?]));
                Arc::new(DictionaryArray::new(keys, texts.clone()))
            }
            Source::Plain(_, integer) => Arc::new(Int64Array::from_iter(rows.map(integer))),
        }
    }
}

pub(super) fn json_text(value: &Value) -> String {
    let mut text = Vec::new();
    write_value(value, &mut text).expect("bug: writing to memory failed");
    String::from_utf8(text).expect("bug: JSON is text")
}

/// The metadata of a table of operations.
pub(super) fn about_table(about: &Header<'_>) -> io::Result<Vec<KeyValue>> {
    let mut header = Vec::new();
    write_header(about, &mut header)?;
    let header = String::from_utf8_lossy(header.trim_ascii()).into_owned();
    Ok(vec![KeyValue::new(HEADER.to_owned(), header)])
}

/// The same with what only a whole history has.
fn about_history(
    history: &History,
    object_type: Option<(&str, &Params)>,
) -> io::Result<Vec<KeyValue>> {
    let ties = history.ties();
    let mut about = about_table(&Header::of(history, object_type, ties))?;
    if ties.is_none() {
        about.push(KeyValue::new(ORDER.to_owned(), RANKS.to_owned()));
    }
    if !history.annotations().is_empty() {
        let notes = beside::notes_to_json(history.annotations())?;
        about.push(KeyValue::new(NOTES.to_owned(), notes));
    }
    if !history.failed().is_empty() {
        let failed = beside::failures_to_json(history.failed())?;
        about.push(KeyValue::new(FAILED.to_owned(), failed));
    }
    Ok(about)
}

/// How a file with these columns is written, of which `texts` hold texts.
pub(super) fn properties(
    about: Vec<KeyValue>,
    columns: impl IntoIterator<Item = Column>,
    texts: &[Column],
) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        // Pages are limited by size, not by rows.
        .set_data_page_row_count_limit(ROW_GROUP)
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(about));
    for column in columns {
        let path = ColumnPath::from(column.name());
        properties = match column {
            Column::Method => properties,
            _ if texts.contains(&column) => {
                properties.set_column_compression(path, Compression::ZSTD(ZstdLevel::default()))
            }
            // There are few of these, so they are named in a dictionary.
            Column::Object | Column::Process => properties,
            // Most of these increase from row to row, so their differences are small and fast to read.
            _ => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        };
    }
    properties.build()
}
