//! Reads a Parquet file a batch of rows at a time, and gives its operations one by one: the file may be larger than memory.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use super::batches::Batches;
use super::by_object::{ByObject, runs};
use super::read::ParquetFile;
use super::table::{BATCH, Names, Order, Source, Table};
use super::{Column, HEADER, ORDER};
use crate::engine::Budget;
use crate::error::Error;
use crate::format::ReadOptions;
use crate::format::jsonl::About;
use crate::format::rows::{
    EachObject, EachRow, ObjectReading, Row, RowOrder, RowProgress, RowsRead, Survey, Surveyor,
    of_object, refuse_stuck,
};
use crate::history::{NO_PROCESS, check_interval};
use crate::value::Value;

/// What a history takes in memory while it is decided, for each of its operations.
const MEMORY_PER_ROW: u64 = 128;

/// A Parquet file whose rows are read one after the other.
pub(in crate::format) struct ParquetRows {
    path: PathBuf,
    about: About,
    names: Names,
    order: RowOrder,
    rows: u64,
}

impl ParquetRows {
    /// Reads the metadata of a file.
    pub(in crate::format) fn open(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let open = || open_file(path);
        let file = ParquetFile::new(&open)?;
        let rows = file.rows() as u64;
        let budget = options.budget();
        // An empty table has the metadata of the file, and takes no memory.
        let schema = schema_of(&file);
        let table = Batches {
            schema: &schema,
            batches: &[],
            rows_before: 0,
        };
        let metadata = Table::new(table, &budget)?.history_metadata()?;
        refuse_stuck(&metadata.about)?;
        Ok(ParquetRows {
            path: path.to_owned(),
            about: metadata.about,
            names: metadata.names,
            order: match metadata.order {
                Order::Times => RowOrder::Times,
                Order::Ranks => RowOrder::Events,
            },
            rows,
        })
    }

    pub(in crate::format) fn about(&self) -> &About {
        &self.about
    }

    /// What the history would take in memory.
    pub(in crate::format) fn estimate(&self) -> u64 {
        self.rows * MEMORY_PER_ROW
    }

    /// Calls `take` with every operation, in the order of the rows.
    pub(in crate::format) fn each(
        self,
        options: &ReadOptions,
        progress: &RowProgress,
        take: &mut EachRow<'_>,
    ) -> Result<RowsRead, Error> {
        progress.expect(self.rows);
        let open = || open_file(&self.path);
        let file = ParquetFile::new(&open)?;
        let schema = schema_of(&file);
        let budget = options.budget();
        let mut rows_before = 0;
        file.each_batch(&columns_of(&schema), BATCH, &mut |batch| {
            let rows = batch.num_rows() as u64;
            let flow = self.take_batch(&schema, batch, rows_before, &budget, take)?;
            rows_before += rows;
            progress.add(rows, rows);
            Ok(flow)
        })?;
        Ok(RowsRead {
            order: self.order,
            truncated: None,
        })
    }

    fn take_batch(
        &self,
        schema: &Schema,
        batch: RecordBatch,
        rows_before: u64,
        budget: &Budget,
        take: &mut EachRow<'_>,
    ) -> Result<ControlFlow<()>, Error> {
        let count = batch.num_rows();
        let table = Batches {
            schema,
            batches: &[batch],
            rows_before,
        };
        let table = Table::new(table, budget)?;
        let times = table.times()?;
        let (process, processes) = table.processes(self.names)?;
        let (object, objects) = table.objects(self.names)?;
        let (method, methods) = table.methods()?;
        let (argument, result, values) = table.values()?;
        let hints = table.hints()?;
        let methods: Vec<Arc<str>> = methods.iter().map(|name| name.as_str().into()).collect();
        let values = values.list();
        for row in 0..count {
            let line = rows_before + row as u64 + 1;
            let is_pending = times.is_pending(row);
            let method = &methods[method[row].0 as usize];
            let (called, returned) = (times.call[row], times.ret[row]);
            if !is_pending {
                check_interval(method, called, returned).map_err(|error| error.at_line(line))?;
            }
            let flow = take(Row {
                object: match object.get(row) {
                    Some(object) => objects[object.0 as usize].clone(),
                    None => Value::Nil,
                },
                process: (process[row] != NO_PROCESS)
                    .then(|| processes[process[row].0 as usize].clone()),
                method: Arc::clone(method),
                argument: values[argument[row].0 as usize].clone(),
                result: match is_pending {
                    true => Value::Nil,
                    false => values[result[row].0 as usize].clone(),
                },
                called,
                returned: (!is_pending).then_some(returned),
                hint: hints.get(row).copied().flatten(),
                line,
            })?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Calls `each` with the history of every object, in the order of the rows.
    pub(in crate::format) fn each_object(
        self,
        input: &Arc<str>,
        options: &ReadOptions,
        reading: ObjectReading<'_>,
        each: &mut EachObject<'_>,
    ) -> Result<RowsRead, Error> {
        reading.progress.expect(self.rows);
        let open = || open_file(&self.path);
        let file = ParquetFile::new(&open)?;
        let schema = schema_of(&file);
        let by_object = ByObject {
            file: &file,
            schema: &schema,
            names: self.names,
            options,
            reading,
        };
        by_object.read(&mut |object, recorded| each(of_object(recorded, input, object)))?;
        Ok(RowsRead {
            order: self.order,
            truncated: None,
        })
    }

    /// Looks at the columns of objects and calls.
    pub(in crate::format) fn survey(
        self,
        options: &ReadOptions,
        progress: &RowProgress,
    ) -> Result<Survey, Error> {
        progress.expect(self.rows);
        let open = || open_file(&self.path);
        let file = ParquetFile::new(&open)?;
        let schema = schema_of(&file);
        let budget = options.budget();
        let mut surveyor = Surveyor::default();
        let mut rows_before = 0;
        let columns = columns_of(&schema);
        let wanted = [Column::Object.name(), Column::Call.name()];
        let columns: Vec<&str> = columns
            .into_iter()
            .filter(|name| wanted.contains(name))
            .collect();
        file.each_batch(&columns, BATCH, &mut |batch| {
            let rows = batch.num_rows();
            let table = Batches {
                schema: &schema,
                batches: &[batch],
                rows_before,
            };
            let table = Table::new(table, &budget)?;
            for (object, run) in runs(&table, self.names, rows)? {
                surveyor.run(&object, run as u64);
            }
            surveyor.calls(&table.calls()?);
            rows_before += rows as u64;
            progress.add(0, rows as u64);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(surveyor.finish(RowOrder::Times))
    }
}

pub(super) fn open_file(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|error| Error::unreadable(error.to_string()))
}

/// The columns of a file, with what its metadata says of all operations.
fn schema_of(file: &ParquetFile<'_, File>) -> Schema {
    let kept = [HEADER, ORDER].map(|key| Some((key.to_owned(), file.metadata(key)?.to_owned())));
    let metadata = kept.into_iter().flatten().collect();
    file.schema().clone().with_metadata(metadata)
}

/// The columns that are read.
pub(super) fn columns_of(schema: &Schema) -> Vec<&'static str> {
    let names = Column::ALL.map(Column::name).into_iter();
    names
        .filter(|name| schema.field_with_name(name).is_ok())
        .collect()
}
