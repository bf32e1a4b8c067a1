//! Reads a Parquet file object by object: a thread decodes batches and splits them at the objects, while the histories of earlier
//! ones are made and decided.

use std::collections::HashSet;
use std::fs::File;
use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use rayon::prelude::*;

use super::Column;
use super::batches::Batches;
use super::read::ParquetFile;
use super::rows::columns_of;
use super::table::{self, Names, Table};
use crate::engine::Budget;
use crate::error::{Error, Unit};
use crate::format::rows::{ObjectReading, not_in_one_piece};
use crate::format::{ReadOptions, RecordedHistory};
use crate::value::Value;

/// Rows that are decoded at a time.
const BATCH: usize = 1 << 16;

/// Rows of whole objects that are handed over at a time, where no object has more.
const GROUP: usize = 1 << 18;

/// A file, and how its objects are read.
pub(super) struct ByObject<'a> {
    pub(super) file: &'a ParquetFile<'a, File>,
    pub(super) schema: &'a Schema,
    pub(super) names: Names,
    pub(super) options: &'a ReadOptions,
    pub(super) reading: ObjectReading<'a>,
}

/// Takes an object with its history, or the reason why there is none.
pub(super) type Each<'a> = dyn FnMut(Value, Result<RecordedHistory, Error>) -> ControlFlow<()> + 'a;

type Group = Result<Vec<ObjectRows>, Error>;

impl ByObject<'_> {
    /// Calls `each` with the history of every object, until it wants no more.
    pub(super) fn read(&self, each: &mut Each<'_>) -> Result<(), Error> {
        let schema = self.without_object();
        std::thread::scope(|scope| {
            let (sender, groups) = sync_channel(1);
            scope.spawn(move || self.split(&sender));
            for group in groups {
                let histories: Vec<_> = group?
                    .into_par_iter()
                    .map(|rows| rows.history(&schema, self.options))
                    .collect();
                for (object, history) in histories {
                    if each(object, history).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }

    fn without_object(&self) -> Schema {
        let fields = self.schema.fields().iter();
        let fields = fields.filter(|field| field.name() != Column::Object.name());
        let fields: Vec<_> = fields.cloned().collect();
        Schema::new(fields).with_metadata(self.schema.metadata().clone())
    }

    /// Sends the rows of each object.
    fn split(&self, sender: &SyncSender<Group>) {
        let mut splitter = Splitter {
            skip: self.reading.skip,
            budget: Budget::new(None, self.options.memory),
            seen: HashSet::new(),
            current: None,
            group: Vec::new(),
            group_rows: 0,
            sender,
        };
        let mut rows_before = 0;
        let columns = columns_of(self.schema);
        let split = self.file.each_batch(&columns, BATCH, &mut |batch| {
            let rows = batch.num_rows();
            let table = Batches {
                schema: self.schema,
                batches: std::slice::from_ref(&batch),
                rows_before,
            };
            let table = Table::new(table, &splitter.budget)?;
            let runs = runs(&table, self.names, rows)?;
            let batch = without_object(&batch)?;
            let mut start = 0;
            for (object, rows) in runs {
                let piece = batch.slice(start, rows);
                let is_wanted = splitter.take(object, piece, rows_before + start as u64)?;
                if is_wanted.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                start += rows;
            }
            rows_before += rows as u64;
            self.reading.progress.add(rows as u64, rows as u64);
            Ok(ControlFlow::Continue(()))
        });
        splitter.finish(split);
    }
}

fn without_object(batch: &RecordBatch) -> Result<RecordBatch, Error> {
    let names = batch.schema_ref().fields().iter();
    let kept = names
        .enumerate()
        .filter(|(_, field)| field.name() != Column::Object.name());
    let kept: Vec<usize> = kept.map(|(number, _)| number).collect();
    let projected = batch.project(&kept);
    projected.map_err(|error| Error::malformed(error.to_string()))
}

/// The objects of rows that follow each other, each with how many there are.
pub(super) fn runs(
    table: &Table<'_, Batches<'_>>,
    names: Names,
    rows: usize,
) -> Result<Vec<(Value, usize)>, Error> {
    let (ids, objects) = table.objects(names)?;
    if ids.is_empty() {
        return Ok(vec![(Value::Nil, rows)]);
    }
    let runs = ids.chunk_by(|a, b| a == b);
    let runs = runs.map(|run| (objects[run[0].0 as usize].clone(), run.len()));
    Ok(runs.collect())
}

/// The rows of one object.
struct ObjectRows {
    object: Value,
    rows_before: u64,
    rows: usize,
    pieces: Result<Vec<RecordBatch>, Error>,
    is_skipped: bool,
}

impl ObjectRows {
    fn history(
        self,
        schema: &Schema,
        options: &ReadOptions,
    ) -> (Value, Result<RecordedHistory, Error>) {
        let read = |pieces: Vec<RecordBatch>| {
            let stopwatch = crate::engine::Stopwatch::start();
            let table = Batches {
                schema,
                batches: &pieces,
                rows_before: self.rows_before,
            };
            let mut recorded = table::read(table, options)?;
            recorded.history = recorded.history.on_object(self.object.clone());
            recorded.reading = stopwatch.elapsed();
            Ok(recorded)
        };
        let history = self.pieces.and_then(read);
        let history = history.map_err(|error: Error| error.counting(Unit::Row));
        (self.object, history)
    }
}

/// Collects the rows of each object.
struct Splitter<'a> {
    skip: &'a (dyn Fn(&Value) -> bool + Sync),
    budget: Budget,
    seen: HashSet<Value>,
    current: Option<ObjectRows>,
    group: Vec<ObjectRows>,
    group_rows: usize,
    sender: &'a SyncSender<Group>,
}

impl Splitter<'_> {
    /// Takes rows of an object that follow each other. Breaks if no more are wanted.
    fn take(
        &mut self,
        object: Value,
        piece: RecordBatch,
        rows_before: u64,
    ) -> Result<ControlFlow<()>, Error> {
        let is_same = |current: &ObjectRows| current.object == object;
        if !self.current.as_ref().is_some_and(is_same) {
            if self.seen.contains(&object) {
                return Err(not_in_one_piece(&object, rows_before + 1));
            }
            if self.hand_over().is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.current = Some(ObjectRows {
                is_skipped: (self.skip)(&object),
                object,
                rows_before,
                rows: 0,
                pieces: Ok(Vec::new()),
            });
        }
        if let Some(current) = &mut self.current
            && !current.is_skipped
            && let Ok(pieces) = &mut current.pieces
        {
            current.rows += piece.num_rows();
            match self.budget.check() {
                Ok(()) => pieces.push(piece),
                // The rest of the object is passed over.
                Err(limit) => current.pieces = Err(Error::limit(limit)),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Ends the current object.
    fn hand_over(&mut self) -> ControlFlow<()> {
        let Some(current) = self.current.take() else {
            return ControlFlow::Continue(());
        };
        self.seen.insert(current.object.clone());
        if current.is_skipped {
            return ControlFlow::Continue(());
        }
        self.group_rows += current.rows;
        self.group.push(current);
        match self.group_rows >= GROUP {
            true => self.send(),
            false => ControlFlow::Continue(()),
        }
    }

    fn send(&mut self) -> ControlFlow<()> {
        self.group_rows = 0;
        match self.sender.send(Ok(std::mem::take(&mut self.group))) {
            Ok(()) => ControlFlow::Continue(()),
            // No more are wanted.
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Sends the last objects, and the error that ended the input.
    fn finish(mut self, split: Result<(), Error>) {
        // Whether more are wanted does not matter at the end.
        match split {
            Ok(()) => {
                let _ = self.hand_over();
                let _ = self.send();
            }
            Err(error) => {
                let _ = self.send();
                let _ = self.sender.send(Err(error));
            }
        }
    }
}
