//! Reads a history from a Parquet file.

use std::fmt::Display;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::ConvertedType;
use parquet::file::reader::ChunkReader;

use super::super::{ReadOptions, RecordedHistory};
use super::panics::caught;
use super::table::{self, BATCH, Source};
use crate::error::Error;

/// The history in the file at `path`.
pub(in crate::format) fn read_file(
    path: &Path,
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    // Columns are read in parallel, and clones of a file share one position: each column opens the file again.
    let open = || File::open(path).map_err(|error| Error::unreadable(error.to_string()));
    read(&open, options)
}

/// The history in the file whose content is `bytes`.
pub(in crate::format) fn read_bytes(
    bytes: Vec<u8>,
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    let bytes = Bytes::from(bytes);
    read(&|| Ok(bytes.clone()), options)
}

fn read<R: ChunkReader + 'static>(
    open: &(dyn Fn() -> Result<R, Error> + Sync),
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    table::read(ParquetFile::new(open)?, options)
}

/// A Parquet file of operations.
pub(super) struct ParquetFile<'a, R> {
    open: &'a (dyn Fn() -> Result<R, Error> + Sync),
    metadata: ArrowReaderMetadata,
    rows: usize,
}

impl<'a, R: ChunkReader + 'static> ParquetFile<'a, R> {
    pub(super) fn new(open: &'a (dyn Fn() -> Result<R, Error> + Sync)) -> Result<Self, Error> {
        // Only the types in the file count, not the in-memory types that another library recorded.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let file = open()?;
        let metadata = caught(|| ArrowReaderMetadata::load(&file, options))?.map_err(damaged)?;
        let rows = metadata.metadata().file_metadata().num_rows();
        let rows = usize::try_from(rows)
            .map_err(|_| Error::malformed(format!("not readable as Parquet: {rows} rows")))?;
        // Texts come with the dictionary of the file.
        let leaves = metadata.parquet_schema();
        let is_text = |field: &Field| {
            let mut leaves = leaves.columns().iter();
            let leaf = leaves.find(|leaf| leaf.path().parts() == [field.name().as_str()]);
            leaf.is_some_and(|leaf| leaf.converted_type() == ConvertedType::UTF8)
        };
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let fields = metadata.schema().fields().iter().map(|field| {
            if is_text(field) {
                Arc::new(field.as_ref().clone().with_data_type(dictionary.clone()))
            } else {
                field.clone()
            }
        });
        let schema = Schema::new(fields.collect::<Vec<FieldRef>>());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options);
        Ok(ParquetFile {
            open,
            metadata: metadata.map_err(damaged)?,
            rows,
        })
    }

    /// Calls `take` with batches of these columns, of so many rows at most, until it wants no more. No batch spans two row groups.
    pub(super) fn each_batch(
        &self,
        columns: &[&str],
        rows: usize,
        take: &mut dyn FnMut(RecordBatch) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        // Each row group has its own dictionary, so an array must not span two row groups.
        for group in 0..self.metadata.metadata().num_row_groups() {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
                (self.open)()?,
                self.metadata.clone(),
            );
            let mask = ProjectionMask::columns(reader.parquet_schema(), columns.iter().copied());
            let reader = reader
                .with_projection(mask)
                .with_row_groups(vec![group])
                .with_batch_size(rows);
            let mut reader = caught(|| reader.build())?.map_err(damaged)?;
            while let Some(batch) = caught(|| reader.next())? {
                if take(batch.map_err(damaged)?)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl<R: ChunkReader + 'static> Source for ParquetFile<'_, R> {
    const NAME: &'static str = "file";

    fn rows(&self) -> usize {
        self.rows
    }

    fn schema(&self) -> &Schema {
        self.metadata.schema()
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        let metadata = self.metadata.metadata().file_metadata();
        let mut pairs = metadata.key_value_metadata()?.iter();
        pairs.find(|pair| pair.key == key)?.value.as_deref()
    }

    fn each_array_while(
        &self,
        column: &str,
        take: &mut dyn FnMut(&dyn Array) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let (mut rows, mut is_over) = (0, false);
        self.each_batch(&[column], BATCH, &mut |batch| {
            rows += batch.num_rows();
            is_over = !take(batch.column(0))?;
            Ok(match is_over {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        if is_over || rows == self.rows {
            return Ok(());
        }
        let reason = format!("{} rows, but {rows} in column {column:?}", self.rows);
        Err(damaged(reason))
    }
}

fn damaged(error: impl Display) -> Error {
    // Nested errors repeat these words.
    const WRAPPERS: [&str; 3] = ["Parquet argument error: ", "Parquet error: ", "EOF: "];
    let text = error.to_string();
    let mut reason = text.as_str();
    while let Some(inner) = WRAPPERS.iter().find_map(|outer| reason.strip_prefix(outer)) {
        reason = inner;
    }
    Error::malformed(format!("not readable as Parquet: {reason}"))
}
