//! Reads a history from record batches, without copies of the columns that fit.

use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;

use super::super::{ReadOptions, RecordedHistory};
use super::table::{self, BATCH, Source};
use crate::error::{Error, Unit};

/// The history in a table in memory, which has the columns of a Parquet file: one row for each operation.
///
/// Texts may be of any of Arrow's types, dictionaries among them, and integers of any width. The schema may have the metadata of
/// a Parquet file that linpoint wrote. Errors count rows from 1.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use linpoint::format::{ReadOptions, read_batches};
///
/// let columns: [(&str, ArrayRef); 6] = [
///     ("process", Arc::new(Int64Array::from(vec![0, 1]))),
///     ("method", Arc::new(StringArray::from(vec!["enq", "deq"]))),
///     ("argument", Arc::new(Int64Array::from(vec![Some(1), None]))),
///     ("result", Arc::new(Int64Array::from(vec![None, Some(2)]))),
///     ("call", Arc::new(Int64Array::from(vec![0, 2]))),
///     ("return", Arc::new(Int64Array::from(vec![1, 3]))),
/// ];
/// let batch = RecordBatch::try_from_iter(columns)?;
/// let recorded = read_batches(&batch.schema(), &[batch.clone()], &ReadOptions::default())?;
/// assert_eq!(recorded.history.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_batches(
    schema: &Schema,
    batches: &[RecordBatch],
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    let table = Batches {
        schema,
        batches,
        rows_before: 0,
    };
    table::read(table, options).map_err(|error| error.counting(Unit::Row))
}

/// A table in memory, or some rows of one.
pub(super) struct Batches<'a> {
    pub(super) schema: &'a Schema,
    pub(super) batches: &'a [RecordBatch],
    /// How many rows of the input come before these.
    pub(super) rows_before: u64,
}

impl Source for Batches<'_> {
    const NAME: &'static str = "table";

    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn rows_before(&self) -> u64 {
        self.rows_before
    }

    fn schema(&self) -> &Schema {
        self.schema
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        self.schema.metadata().get(key).map(String::as_str)
    }

    fn each_array_while(
        &self,
        column: &str,
        take: &mut dyn FnMut(&dyn Array) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let field = self.schema.field_with_name(column);
        let expected = field.map_err(|error| Error::malformed(error.to_string()))?;
        for batch in self.batches {
            let array = batch.column_by_name(column);
            let array = array.filter(|array| array.data_type() == expected.data_type());
            let array = array.ok_or_else(|| {
                let of = expected.data_type();
                Error::malformed(format!("a batch has no column {column:?} of type {of}"))
            })?;
            for start in (0..array.len()).step_by(BATCH) {
                let part = array.slice(start, BATCH.min(array.len() - start));
                if !take(&part)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
