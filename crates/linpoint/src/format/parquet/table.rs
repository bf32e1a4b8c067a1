//! Reads a history from the columns of a table, a batch of rows at a time.

use std::ops::Range;

use arrow_array::Array;
use arrow_schema::{DataType, Schema};
use serde_json::value::RawValue;

use super::super::jsonl::{About, decode_header};
use super::super::{ReadOptions, RecordedHistory, json};
use super::ids::{BadRow, Id, Ids, integers, is_text, nil, nulls};
use super::small::Small;
use super::{Column, FAILED, HEADER, NOTES, ORDER, RANKS, beside};
use crate::engine::Budget;
use crate::error::Error;
use crate::history::{
    Annotation, Columns, EventLines, FailedOp, Lines, MethodId, NEVER, NO_PROCESS, ObjectId,
    ProcessId, Ranks, Ties, Timed, Times, Values,
};
use crate::value::{Interner, Value, ValueId, ValueTable};

/// Rows that are decoded at a time: few enough for their arrays to stay in the cache.
pub(super) const BATCH: usize = 1 << 13;

/// The most rows for which capacity is reserved at once, since a damaged file may claim any number of rows.
const ROOM: usize = 1 << 24;

/// Where a table comes from.
pub(super) trait Source: Sync {
    /// What messages call it.
    const NAME: &'static str;

    fn rows(&self) -> usize;

    /// How many rows of the input come before those of this table.
    fn rows_before(&self) -> u64 {
        0
    }

    fn schema(&self) -> &Schema;

    /// The entry of the metadata with this key.
    fn metadata(&self, key: &str) -> Option<&str>;

    /// Calls `take` with the arrays of a column, in the order of the rows, until it wants no more.
    fn each_array_while(
        &self,
        column: &str,
        take: &mut dyn FnMut(&dyn Array) -> Result<bool, Error>,
    ) -> Result<(), Error>;
}

/// The history in a table.
pub(super) fn read(source: impl Source, options: &ReadOptions) -> Result<RecordedHistory, Error> {
    let budget = &options.budget();
    let file = Table::new(source, budget)?;
    let metadata = file.history_metadata()?;
    let ties = options.ties.or(metadata.about.ties).unwrap_or_default();
    // Two tasks of about equal cost. A thread that finishes early steals parts of the other task.
    let (order, (values, ((methods, objects), hints))) = rayon::join(
        || {
            let (timed, processes) = rayon::join(
                || file.order(metadata.order, ties),
                || file.processes(metadata.names),
            );
            let (mut timed, (process, processes)) = (timed?, processes?);
            timed.look_at_processes(&process, processes.len());
            Ok((timed, process, processes))
        },
        || {
            rayon::join(
                || file.values(),
                || {
                    let names = || rayon::join(|| file.methods(), || file.objects(metadata.names));
                    rayon::join(names, || file.hints())
                },
            )
        },
    );
    let (mut timed, process, processes) = order?;
    let (method, methods) = methods?;
    let (argument, result, values) = values?;
    let (object, objects) = objects?;
    let mut columns = Columns {
        process,
        object,
        method,
        argument,
        result,
        line: Lines::after(file.source.rows_before()),
        event_lines: EventLines::default(),
        hint: hints?,
        processes,
        objects,
        methods,
        values,
        annotations: metadata.notes,
        failed: metadata.failed,
    };
    columns.forget_pending_results(&mut timed);
    let history = columns.timed(timed)?;
    let history = match metadata.order {
        Order::Times => history,
        Order::Ranks => history.without_times(),
    };
    let history = match metadata.about.ends_stuck {
        true => history.ending_stuck()?,
        false => history,
    };
    Ok(RecordedHistory {
        history: history.with_clients(metadata.about.clients.clone()),
        expected: metadata.about.expected,
        object_type: metadata.about.object_type(options),
        ..RecordedHistory::default()
    })
}

/// The metadata of a file about its history.
pub(super) struct HistoryMetadata {
    pub(super) about: About,
    pub(super) names: Names,
    pub(super) order: Order,
    notes: Vec<Annotation>,
    failed: Vec<FailedOp>,
}

/// The encoding of texts in the columns of processes and objects.
#[derive(Clone, Copy)]
pub(super) enum Names {
    /// JSON, in files that linpoint wrote.
    Json,
    /// Plain text.
    Plain,
}

/// The meaning of the columns of calls and returns.
#[derive(Clone, Copy)]
pub(super) enum Order {
    Times,
    Ranks,
}

/// A table of operations.
pub(super) struct Table<'a, S> {
    source: S,
    rows: usize,
    budget: &'a Budget,
}

impl<'a, S: Source> Table<'a, S> {
    pub(super) fn new(source: S, budget: &'a Budget) -> Result<Self, Error> {
        /// What the columns of a row take, apart from its values.
        const ROW_BYTES: u64 = 48;
        let rows = source.rows();
        if rows > Columns::MOST_ROWS {
            return Err(Columns::too_many());
        }
        let allowed = budget.reserve_for(rows, ROW_BYTES);
        allowed.map_err(Error::limit)?;
        Ok(Table {
            source,
            rows,
            budget,
        })
    }

    pub(super) fn history_metadata(&self) -> Result<HistoryMetadata, Error> {
        let find = |key: &str| self.source.metadata(key);
        let wrong = |key: &str, reason: String| {
            Error::malformed(format!(
                "in the metadata of the {}, {key:?}: {reason}",
                S::NAME
            ))
        };
        let header = find(HEADER)
            .map(decode_header)
            .transpose()
            .map_err(|reason| wrong(HEADER, reason))?;
        let order = match find(ORDER) {
            None => Order::Times,
            Some(RANKS) => Order::Ranks,
            Some(other) => return Err(wrong(ORDER, format!("expected {RANKS:?}, not {other:?}"))),
        };
        let notes = find(NOTES)
            .map_or(Ok(Vec::new()), beside::notes_from_json)
            .map_err(|reason| wrong(NOTES, reason))?;
        let failed = find(FAILED)
            .map_or(Ok(Vec::new()), beside::failures_from_json)
            .map_err(|reason| wrong(FAILED, reason))?;
        Ok(HistoryMetadata {
            names: match header {
                Some(_) => Names::Json,
                None => Names::Plain,
            },
            about: header.unwrap_or_default(),
            order,
            notes,
            failed,
        })
    }

    pub(super) fn find(&self, column: Column) -> Option<&DataType> {
        let field = self.source.schema().field_with_name(column.name()).ok()?;
        Some(field.data_type())
    }

    pub(super) fn require(&self, column: Column) -> Result<&DataType, Error> {
        self.find(column).ok_or_else(|| {
            let fields = self.source.schema().fields().iter();
            let names: Vec<_> = fields.map(|field| format!("{:?}", field.name())).collect();
            let reason = format!(
                "column {:?} is missing; the {} has {}",
                column.name(),
                S::NAME,
                names.join(", ")
            );
            Error::malformed(reason)
        })
    }

    /// Calls `take` with each array of a column and the numbers of its rows, counted from 0.
    fn each_array(
        &self,
        column: Column,
        mut take: impl FnMut(Range<usize>, &dyn Array) -> Result<(), BadRow>,
    ) -> Result<(), Error> {
        self.each_array_while(column, |rows, array| take(rows, array).map(|()| true))
    }

    /// The same, until `take` wants no more.
    fn each_array_while(
        &self,
        column: Column,
        mut take: impl FnMut(Range<usize>, &dyn Array) -> Result<bool, BadRow>,
    ) -> Result<(), Error> {
        let (mut start, before) = (0, self.source.rows_before());
        self.source.each_array_while(column.name(), &mut |array| {
            self.budget.check().map_err(Error::limit)?;
            let rows = start..start + array.len();
            start = rows.end;
            take(rows.clone(), array).map_err(|BadRow { row, reason }| {
                let reason = format!("{:?}: {reason}", column.name());
                Error::malformed(reason).at_line(before + (rows.start + row) as u64 + 1)
            })
        })
    }

    /// Returns the number of rows for which capacity is reserved.
    fn room(&self) -> usize {
        self.rows.min(ROOM)
    }

    /// The order of calls and returns.
    fn order(&self, order: Order, ties: Ties) -> Result<Timed, Error> {
        let call_type = self.require(Column::Call)?;
        let return_type = self.require(Column::Return)?;
        for (column, found) in [(Column::Call, call_type), (Column::Return, return_type)] {
            if !is_time(found) {
                return Err(unexpected(column, found, "integers or times"));
            }
        }
        let is_clock = |found: &DataType| !is_integer(found);
        if (is_clock(call_type) || is_clock(return_type)) && call_type != return_type {
            let reason = format!(
                "columns \"call\" and \"return\" are of different types, {call_type} and {return_type}"
            );
            return Err(Error::malformed(reason));
        }
        if matches!(order, Order::Ranks)
            && let Some(timed) = self.ranks()?.and_then(Timed::by_ranks)
        {
            return Ok(timed);
        }
        Ok(Timed::new(self.times()?, ties))
    }

    /// Returns the ranks in the file; `None` if a number is too large to be one.
    fn ranks(&self) -> Result<Option<Ranks>, Error> {
        let mut ranks = Ranks {
            call: Vec::with_capacity(self.room()),
            ret: Vec::with_capacity(self.room()),
        };
        let mut are_ranks = true;
        let mut add = |column: &mut Vec<u32>, integers: &[i64]| {
            // Two short passes: in one pass with the growing column, `bits` would not stay in a register.
            let bits = integers.iter().fold(0, |bits, &rank| bits | rank as u64);
            are_ranks &= bits < NEVER.into();
            column.extend(integers.iter().map(|&rank| rank as u32));
        };
        self.each_array(Column::Call, |_, array| {
            refuse_null(array, "there is no time")?;
            add(&mut ranks.call, &integers(array)?);
            Ok(())
        })?;
        self.each_array(Column::Return, |rows, array| {
            add(&mut ranks.ret, &integers(array)?);
            each_null(array, |row| ranks.ret[rows.start + row] = NEVER);
            Ok(())
        })?;
        Ok(are_ranks.then_some(ranks))
    }

    /// The times of calls, or the numbers of their events.
    pub(super) fn calls(&self) -> Result<Vec<i64>, Error> {
        let mut calls = Vec::with_capacity(self.room());
        self.each_array(Column::Call, |_, array| {
            refuse_null(array, "there is no time")?;
            calls.extend_from_slice(&integers(array)?);
            Ok(())
        })?;
        Ok(calls)
    }

    pub(super) fn times(&self) -> Result<Times, Error> {
        let mut times = Times {
            call: self.calls()?,
            ret: Vec::with_capacity(self.room()),
            pending: Vec::new(),
        };
        self.each_array(Column::Return, |rows, array| {
            times.ret.extend_from_slice(&integers(array)?);
            each_null(array, |row| {
                times.ret[rows.start + row] = i64::MAX;
                times.pending.resize(self.rows, false);
                times.pending[rows.start + row] = true;
            });
            Ok(())
        })?;
        Ok(times)
    }

    /// The columns of arguments and results, and the values that occur in them.
    #[allow(clippy::type_complexity)]
    pub(super) fn values(&self) -> Result<(Vec<ValueId>, Vec<ValueId>, Values), Error> {
        let (argument, result) = rayon::join(
            || self.small_integers(Column::Argument),
            || self.small_integers(Column::Result),
        );
        if let (Some(argument), Some(result)) = (argument?, result?) {
            return Ok(argument.numbered(result));
        }
        let mut table = ValueTable::with_room(self.room());
        let argument = self.value_column(Column::Argument, &mut table)?;
        let result = self.value_column(Column::Result, &mut table)?;
        Ok((argument, result, table.into_items().into()))
    }

    /// A column of arguments or results, if it holds small integers and nulls only.
    fn small_integers(&self, column: Column) -> Result<Option<Small>, Error> {
        if !is_integer(self.require(column)?) {
            return Ok(None);
        }
        let mut small = Small::with_room(self.room());
        let mut are_small = true;
        self.each_array_while(column, |_, array| {
            are_small = small.add(array)?;
            Ok(are_small)
        })?;
        Ok(are_small.then_some(small))
    }

    fn value_column(&self, column: Column, table: &mut ValueTable) -> Result<Vec<ValueId>, Error> {
        let found = self.require(column)?;
        let mut numbers = Ids::with_room(self.room());
        match found {
            found if is_text(found) => self.each_array(column, |_, array| {
                numbers.add_texts(array, table, nil, |table, text| json_value(text, table))
            })?,
            DataType::Boolean => self.each_array(column, |_, array| {
                numbers.add_truths(array, table);
                Ok(())
            })?,
            found if is_integer(found) => {
                self.each_array(column, |_, array| numbers.add_integers(array, table, nil))?;
            }
            found => {
                return Err(unexpected(
                    column,
                    found,
                    "integers, truth values or JSON text",
                ));
            }
        }
        Ok(numbers.ids)
    }

    pub(super) fn processes(&self, names: Names) -> Result<(Vec<ProcessId>, Vec<Value>), Error> {
        let mut table = ValueTable::default();
        if self.find(Column::Process).is_none() {
            return Ok((vec![NO_PROCESS; self.rows], Vec::new()));
        }
        let ids = self.name_column(Column::Process, names, &mut table, |_| NO_PROCESS.0)?;
        Ok((ids, table.into_items()))
    }

    pub(super) fn objects(&self, names: Names) -> Result<(Vec<ObjectId>, Vec<Value>), Error> {
        if self.find(Column::Object).is_none() || self.is_all_null(Column::Object)? {
            return Ok((Vec::new(), vec![Value::Nil]));
        }
        let mut table = ValueTable::default();
        let ids = self.name_column(Column::Object, names, &mut table, nil)?;
        Ok((ids, table.into_items()))
    }

    fn is_all_null(&self, column: Column) -> Result<bool, Error> {
        let mut are_null = true;
        self.each_array_while(column, |_, array| {
            are_null = array.logical_null_count() == array.len();
            Ok(are_null)
        })?;
        Ok(are_null && self.rows > 0)
    }

    fn name_column<T: Id>(
        &self,
        column: Column,
        names: Names,
        table: &mut ValueTable,
        null: fn(&mut ValueTable) -> u32,
    ) -> Result<Vec<T>, Error> {
        let found = self.require(column)?;
        let mut numbers = Ids::with_room(self.room());
        match found {
            found if is_text(found) => self.each_array(column, |_, array| {
                numbers.add_texts(array, table, null, |table, text| match names {
                    Names::Json => json_value(text, table),
                    Names::Plain => Ok(table.intern(Value::from(text).into())),
                })
            })?,
            found if is_integer(found) => {
                self.each_array(column, |_, array| numbers.add_integers(array, table, null))?;
            }
            found => return Err(unexpected(column, found, "integers or text")),
        }
        Ok(numbers.ids)
    }

    /// The column of hints; empty if no row has one.
    pub(super) fn hints(&self) -> Result<Vec<Option<i64>>, Error> {
        let column = Column::Hint;
        match self.find(column) {
            None => return Ok(Vec::new()),
            Some(found) if !is_integer(found) => {
                return Err(unexpected(column, found, "integers"));
            }
            Some(_) if self.is_all_null(column)? => return Ok(Vec::new()),
            Some(_) => {}
        }
        let bytes = size_of::<Option<i64>>() as u64;
        let allowed = self.budget.reserve_for(self.rows, bytes);
        allowed.map_err(Error::limit)?;
        let mut hints = Vec::with_capacity(self.room());
        self.each_array(column, |rows, array| {
            hints.extend(integers(array)?.iter().copied().map(Some));
            each_null(array, |row| hints[rows.start + row] = None);
            Ok(())
        })?;
        Ok(hints)
    }

    pub(super) fn methods(&self) -> Result<(Vec<MethodId>, Vec<String>), Error> {
        let column = Column::Method;
        let found = self.require(column)?;
        if !is_text(found) {
            return Err(unexpected(column, found, "text"));
        }
        let mut table: Interner<String> = Interner::default();
        let mut numbers = Ids::with_room(self.room());
        self.each_array(column, |_, array| {
            refuse_null(array, "there is no name")?;
            numbers.add_texts(
                array,
                &mut table,
                |_| 0,
                |table, text| Ok(table.intern(text.to_owned())),
            )
        })?;
        Ok((numbers.ids, table.into_items()))
    }
}

fn is_integer(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float64 | DataType::Null)
}

fn is_time(data_type: &DataType) -> bool {
    let is_clock = matches!(data_type, DataType::Timestamp(..) | DataType::Time64(_));
    is_integer(data_type) || is_clock
}

fn each_null(array: &dyn Array, mut visit: impl FnMut(usize)) {
    if let Some(nulls) = nulls(array) {
        let rows = 0..nulls.len();
        rows.filter(|&row| nulls.is_null(row)).for_each(&mut visit);
    }
}

fn refuse_null(array: &dyn Array, reason: &str) -> Result<(), BadRow> {
    let mut first = None;
    each_null(array, |row| {
        first.get_or_insert(row);
    });
    first.map_or(Ok(()), |row| {
        let reason = reason.to_owned();
        Err(BadRow { row, reason })
    })
}

/// The number of the value whose JSON is `text`.
fn json_value(text: &str, table: &mut ValueTable) -> Result<u32, String> {
    let raw: &RawValue = json::from_str(text).map_err(|reason| format!("{reason} in {text:?}"))?;
    Ok(table.intern(json::value_ref(raw.get())?))
}

fn unexpected(column: Column, found: &DataType, expected: &str) -> Error {
    let name = column.name();
    let found = match found {
        other if is_text(other) => "text".to_owned(),
        other => format!("of type {other}"),
    };
    Error::malformed(format!(
        "column {name:?} must hold {expected}, but it is {found}"
    ))
}
