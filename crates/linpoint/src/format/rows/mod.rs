//! Inputs that are read operation by operation, so that they may be larger than memory: JSON lines and Parquet.
//!
//! A [`RowInput`] knows the header of its input. Its operations are taken one by one ([`RowInput::each`]) or object by object
//! ([`RowInput::each_object`]), which needs an input that has each object in one piece; [`RowInput::survey`] tells whether it
//! has. A [`Sorter`] brings any input into that order with files on a disk, and a [`RowWriter`] writes it.

mod codec;
mod objects;
mod sort;
mod survey;
#[cfg(test)]
mod tests;
mod write;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(feature = "parquet")]
pub(super) use self::objects::of_object;
pub use self::sort::{SortedRows, Sorter};
pub use self::survey::Survey;
#[cfg(feature = "parquet")]
pub(super) use self::survey::Surveyor;
#[cfg(feature = "parquet")]
pub(super) use self::write::ColumnKind;
pub use self::write::{Columns, RowHeader, RowWriter};
#[cfg(not(feature = "parquet"))]
use super::feature::missing;
use super::input::{self, Unpacked};
use super::jsonl::{About, Events, JsonRows};
#[cfg(feature = "parquet")]
use super::parquet::ParquetRows;
use super::{Format, IndependentKeys, ReadOptions, RecordedHistory, refuse_independent};
use crate::error::{Error, Unit};
use crate::history::Ties;
use crate::spec::Params;
use crate::value::Value;

/// One operation of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The object; [`Value::Nil`] where the input names none.
    pub object: Value,
    /// The process, where the input names one.
    pub process: Option<Value>,
    /// The method's name.
    pub method: Arc<str>,
    /// The argument: [`Value::Nil`] for none, a list for several.
    pub argument: Value,
    /// The result; [`Value::Nil`] for a pending operation.
    pub result: Value,
    /// The time of the call, or the number of its event.
    pub called: i64,
    /// The time of the return; `None` for a pending operation.
    pub returned: Option<i64>,
    /// Where in the order of its object it took effect, where that is recorded.
    pub hint: Option<i64>,
    /// The line or row of the input, counted from 1; 0 where unknown.
    pub line: u64,
}

/// What `called` and `returned` of the operations are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// Times that were recorded.
    #[default]
    Times,
    /// The numbers of events, which are their order.
    Events,
}

/// What is known of an input when it was read to its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowsRead {
    /// What the times of its operations are.
    pub order: RowOrder,
    /// The number of the last line, if it is cut off and was left out.
    pub truncated: Option<u64>,
}

/// How far an input was read.
#[derive(Debug, Default)]
pub struct RowProgress {
    /// The operations that were read.
    pub rows: AtomicU64,
    /// How much of the input was read, in bytes of a text or rows of a table.
    pub done: AtomicU64,
    /// How much there is, in the same unit; 0 where that is not known.
    pub total: AtomicU64,
}

impl RowProgress {
    /// Adds to how much there is to be done.
    pub fn expect(&self, more: u64) {
        self.total.fetch_add(more, Relaxed);
    }

    /// Adds to the operations and to what is done.
    pub fn add(&self, rows: u64, done: u64) {
        self.rows.fetch_add(rows, Relaxed);
        self.done.fetch_add(done, Relaxed);
    }
}

/// How an input is read object by object.
#[derive(Clone, Copy)]
pub struct ObjectReading<'a> {
    /// Tells the objects that are passed over.
    pub skip: &'a (dyn Fn(&Value) -> bool + Sync),
    /// Told how far it was read.
    pub progress: &'a RowProgress,
}

impl std::fmt::Debug for ObjectReading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ObjectReading({:?})", self.progress)
    }
}

/// Takes the history of one object, or the reason why there is none.
pub type EachObject<'a> = dyn FnMut(Result<RecordedHistory, Error>) -> ControlFlow<()> + 'a;

/// Takes operations one by one.
pub(super) type EachRow<'a> = dyn FnMut(Row) -> Result<ControlFlow<()>, Error> + 'a;

/// An input whose operations can be read one by one.
pub struct RowInput {
    name: Arc<str>,
    options: ReadOptions,
    source: Source,
}

enum Source {
    Lines(JsonRows),
    #[cfg(feature = "parquet")]
    Parquet(ParquetRows),
}

impl std::fmt::Debug for RowInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowInput({})", self.name)
    }
}

/// The histories at `path`: a file itself, or those below a directory.
pub fn histories_at(path: &Path) -> Vec<PathBuf> {
    match path.is_dir() {
        true => input::histories_below(path).unwrap_or_default(),
        false => vec![path.to_owned()],
    }
}

impl RowInput {
    /// Opens the input at `path`, a file or `-`, and reads its header.
    ///
    /// Returns an error if it is neither JSON lines nor Parquet.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let name: Arc<str> = match path == Path::new("-") {
            true => "<stdin>".into(),
            false => path.to_string_lossy().into(),
        };
        let source = Source::open(path, options).map_err(|error| error.in_file(&name))?;
        Ok(RowInput {
            name,
            options: options.clone(),
            source,
        })
    }

    /// The input as messages name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What positions in the input are called: `line` or `row`.
    pub fn unit(&self) -> &'static str {
        match &self.source {
            Source::Lines(_) => Unit::Line.name(),
            #[cfg(feature = "parquet")]
            Source::Parquet(_) => Unit::Row.name(),
        }
    }

    fn about(&self) -> &About {
        match &self.source {
            Source::Lines(lines) => lines.about(),
            #[cfg(feature = "parquet")]
            Source::Parquet(file) => file.about(),
        }
    }

    /// The type and its parameters, as far as the header names them.
    pub fn object_type(&self) -> Option<(String, Params)> {
        self.about().clone().object_type(&self.options)
    }

    /// Which comes first at equal times, if the header tells.
    pub fn ties(&self) -> Option<Ties> {
        self.about().ties
    }

    /// What its history would take in memory, in bytes; `None` where that is not known before it is read.
    pub fn estimate(&self) -> Option<u64> {
        match &self.source {
            Source::Lines(lines) => lines.estimate(),
            #[cfg(feature = "parquet")]
            Source::Parquet(file) => Some(file.estimate()),
        }
    }

    /// Calls `take` with every operation, in the order of the input. Pending operations of an input of events come last.
    pub fn each(
        self,
        progress: &RowProgress,
        take: &mut dyn FnMut(Row) -> Result<ControlFlow<()>, Error>,
    ) -> Result<RowsRead, Error> {
        let name = self.name;
        let read = match self.source {
            Source::Lines(lines) => lines.each(Events::Paired, progress, take),
            #[cfg(feature = "parquet")]
            Source::Parquet(file) => file
                .each(&self.options, progress, take)
                .map_err(|error| error.counting(Unit::Row)),
        };
        read.map_err(|error| error.in_file(&name))
    }

    /// Calls `each` with the history of every object, in the order of the input.
    ///
    /// Returns an error if the input does not have each object in one piece. Histories that were handed over before may
    /// be parts of an object then, and mean nothing.
    pub fn each_object(
        self,
        reading: ObjectReading<'_>,
        each: &mut EachObject<'_>,
    ) -> Result<RowsRead, Error> {
        let about = self.about().clone();
        let name = self.name;
        let read = match self.source {
            Source::Lines(lines) => {
                let mut collector =
                    objects::Collector::new(&name, &self.options, about, reading.skip);
                let read = lines.each(Events::Refused, reading.progress, &mut |row| {
                    collector.take(row, each)
                });
                read.inspect(|_| collector.finish(each))
            }
            #[cfg(feature = "parquet")]
            Source::Parquet(file) => file
                .each_object(&name, &self.options, reading, each)
                .map_err(|error| error.counting(Unit::Row)),
        };
        read.map_err(|error| error.in_file(&name))
    }
}

impl Source {
    fn open(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        #[cfg(feature = "mapping")]
        if options.mapping.is_some() {
            let reason = "a log that is read by a mapping is read whole: write it as JSON lines first (`linpoint convert --map`)";
            return Err(Error::usage(reason));
        }
        if options.independent == IndependentKeys::Always {
            refuse_independent(options.format.unwrap_or(Format::Jsonl), options)?;
        }
        match options.format {
            Some(Format::Jsonl) | Some(Format::Parquet) | None => {}
            Some(other) => return Err(not_by_row(other)),
        }
        let unreadable = |error: std::io::Error| Error::unreadable(error.to_string());
        if path == Path::new("-") {
            let (stream, _, _) = input::unpack(Box::new(std::io::stdin()))?;
            return Ok(Source::Lines(JsonRows::open(stream, None, options)?));
        }
        let file = std::fs::File::open(path).map_err(unreadable)?;
        if input::is_parquet(&file) {
            return Source::open_parquet(path, options);
        }
        if options.format == Some(Format::Parquet) {
            return Err(Error::malformed("this is not Parquet"));
        }
        let size = file.metadata().map_err(unreadable)?.len();
        match input::unpack(Box::new(file))? {
            (stream, Unpacked::Plain, packing) => {
                let size = matches!(packing, input::Packing::None).then_some(size);
                Ok(Source::Lines(JsonRows::open(stream, size, options)?))
            }
            (_, Unpacked::Tar | Unpacked::Zip, _) => {
                let reason = "an archive is read whole: unpack it first";
                Err(Error::usage(reason))
            }
        }
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        if options.format == Some(Format::Jsonl) {
            return Err(Error::malformed("this is Parquet, not jsonl"));
        }
        ParquetRows::open(path, options).map(Source::Parquet)
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(_: &Path, _: &ReadOptions) -> Result<Self, Error> {
        Err(missing("parquet", "Parquet"))
    }
}

/// The error about an input in a format whose histories are read whole.
pub(super) fn not_by_row(format: Format) -> Error {
    Error::usage(format!(
        "{format} is read whole: only jsonl and parquet are read operation by operation (`linpoint convert` writes them)"
    ))
}

/// The error about a format whose histories are written whole.
fn not_written_by_row(format: Format) -> Error {
    Error::usage(format!(
        "{format} is written whole: only jsonl and parquet are written operation by operation"
    ))
}

/// The error about an object whose operations are not in one piece.
pub(super) fn not_in_one_piece(object: &Value, line: u64) -> Error {
    let reason = format!(
        "object {object} appears again after another one: the input is not sorted by object, so verdicts on its objects do not count; \
         `linpoint sort` sorts it"
    );
    Error::unsorted(reason).at_line(line)
}

/// The error about a history that ends stuck.
pub(super) fn refuse_stuck(about: &About) -> Result<(), Error> {
    match about.ends_stuck {
        true => Err(Error::usage(
            "it ends stuck: whether operations wait for a reason is decided only when the whole history is there",
        )),
        false => Ok(()),
    }
}
