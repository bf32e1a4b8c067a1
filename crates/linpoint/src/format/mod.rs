//! Readers and writers of recorded histories.
//!
//! [`read`] takes a path as a user gives it: a file, compressed or not, an archive, a directory or `-`. [`parse`] takes
//! bytes. Both tell the format from the content unless it is given. The formats themselves are described in
//! `docs/formats.md`.
//!
//! Features of the crate bring readers that need more dependencies: `edn` for the histories of Jepsen and porcupine,
//! `archives` for `.gz`, `.zst`, `.tar` and `.zip`, `mapping` for logs of any shape, and `parquet`. What a build does not read, it
//! refuses with the name of the feature.

mod assemble;
mod detect;
#[cfg(feature = "edn")]
mod edn;
mod etcd_report;
mod etcd_watch;
mod feature;
mod fptlin;
mod input;
mod jepsen;
mod jepsen_drains;
mod jepsen_json;
mod jepsen_keys;
#[cfg(feature = "edn")]
mod jepsen_log;
mod json;
mod jsonl;
mod labels;
#[cfg(feature = "mapping")]
mod mapping;
mod merge;
mod names;
mod number;
mod operations;
#[cfg(feature = "parquet")]
mod parquet;
mod porcupine;
#[cfg(feature = "edn")]
mod porcupine_kv;
mod rational;
mod rows;
mod snapshot;
mod violat;
mod write;
#[cfg(feature = "archives")]
mod zip_archive;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use self::merge::{Log, LogClock, Merged, Widened, merge};
pub use self::names::Format;
pub use input::open_text;
pub use json::value_of_json;
pub use jsonl::{
    StreamLine, stream_line, write_jsonl, write_jsonl_call, write_jsonl_header, write_jsonl_return,
    write_value,
};
#[cfg(feature = "mapping")]
pub use mapping::{Guess, MappedStream, Mapping};
#[cfg(feature = "parquet")]
pub use parquet::read_batches;
pub use rows::{
    Columns, EachObject, ObjectReading, Row, RowHeader, RowInput, RowOrder, RowProgress, RowWriter,
    RowsRead, SortedRows, Sorter, Survey, histories_at,
};
pub use snapshot::snapshot_event;
pub use write::write;

#[cfg(not(all(feature = "edn", feature = "parquet")))]
use self::feature::missing;
use self::input::Content;
use self::labels::Labels;
use crate::engine::{Budget, Stopwatch};
use crate::error::{Error, Unit};
use crate::history::{History, HistoryBuilder, Ties};
use crate::spec::Params;
use crate::text;
use crate::value::Value;

/// How values may nest. Deeper ones are refused, so that nothing that walks a value can exhaust the stack.
const MAX_DEPTH: usize = 128;

/// What the reader cannot know from the input.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, if it is not to be told from the content.
    pub format: Option<Format>,
    /// How to read a log that is in none of the formats. Needs the feature `mapping`.
    #[cfg(feature = "mapping")]
    pub mapping: Option<Arc<Mapping>>,
    /// The type of the object, if the user gave one.
    pub object_type: Option<String>,
    /// Whether values of a Jepsen history are `[key value]` pairs of `jepsen.independent`.
    pub independent: IndependentKeys,
    /// What to do with a text whose last line is cut off.
    pub truncated: Truncated,
    /// How equal times are ordered; what the input says, and then the default, where this is `None`.
    pub ties: Option<Ties>,
    /// The most bytes of memory that the process may have while it reads; most of what is free where this is `None`. What
    /// does not fit is an error of kind [`ErrorKind::Limit`](crate::ErrorKind::Limit).
    pub memory: Option<u64>,
    /// How long it may take to read a history, from its first byte on; as long as it takes where this is `None`. Waiting for
    /// the standard input or a pipe does not count. What is not read by then is an error of kind
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout).
    pub timeout: Option<Duration>,
}

impl ReadOptions {
    /// The limits of reading.
    fn budget(&self) -> Budget {
        Budget::new(self.timeout, self.memory)
    }

    /// The same options, for a history of whose time so much was spent already.
    fn after(&self, spent: Duration) -> Self {
        ReadOptions {
            timeout: self.timeout.map(|timeout| timeout.saturating_sub(spent)),
            ..self.clone()
        }
    }

    /// An empty builder of a history that is read.
    fn builder(&self) -> HistoryBuilder {
        HistoryBuilder::within(self.budget())
    }
}

/// Whether values of a Jepsen history are `[key value]` pairs of `jepsen.independent`, where each key is an object of its
/// own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndependentKeys {
    /// They are if every value that was invoked is a pair, reads were invoked with `[key nil]`, and completions repeat the
    /// key. Such a history has a [note](Note::IndependentKeys).
    #[default]
    Detect,
    /// They are; formats other than [`Format::Edn`], [`Format::JepsenJson`] and [`Format::JepsenLog`] are refused.
    Always,
    /// They are not: pairs are plain values.
    Never,
}

/// What to do with a text whose last line is cut off, as it is when a recorder was killed or a disk was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Truncated {
    /// Its last history is an error of kind [`ErrorKind::Truncated`](crate::ErrorKind::Truncated).
    #[default]
    Refuse,
    /// The lines before the last one are read, and the last history has a [note](Note::Truncated).
    ReadPrefix,
}

/// Something about how a history was read that its reader has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Values were taken for pairs of independent keys, though this was not asked for.
    IndependentKeys,
    /// The last line, which has this number, is cut off and was left out.
    Truncated(u64),
    /// So many calls overlapped another one of their process, and were given processes of their own.
    OverlappingCalls(u64),
    /// The mapping says how far the clocks of so many processes may be off that have no operation.
    UnusedSkew(u64),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::IndependentKeys => f.write_str(
                "its values are [key value] pairs of independent keys: each key is an object of its own",
            ),
            Note::Truncated(line) => {
                write!(f, "line {line}, the last one, is cut off and was left out")
            }
            Note::OverlappingCalls(count) => write!(
                f,
                "calls that overlap another one of their client have a process of their own, such as 3/2 for client 3 (calls: {count})"
            ),
            Note::UnusedSkew(count) => write!(
                f,
                "`skew` names processes that have no operation (processes: {count})"
            ),
        }
    }
}

/// A history together with what its input says about it.
#[derive(Clone, Debug, Default)]
pub struct RecordedHistory {
    /// The input as messages name it: the path as given, `path:entry` in an archive, `<stdin>`; empty for [`parse`].
    pub input: Arc<str>,
    /// The number of the history, counted from 0, where its input holds several.
    pub name: Option<String>,
    /// The line on which the history begins, counted from 1; 0 where that is not told.
    pub line: u64,
    /// The history.
    pub history: History,
    /// The type and its parameters, as far as the input names or implies them.
    pub object_type: Option<(String, Params)>,
    /// Whether the history is linearizable, where the input or the labels beside it tell.
    pub expected: Option<bool>,
    /// What has to be known about how it was read.
    pub notes: Vec<Note>,
    /// Of a Jepsen history, the `:index` of the invocation of each operation, by [`OpId`](crate::OpId): the one that the input
    /// gives, or the position of the event in the input, counted from 0. Empty for other formats.
    pub invocations: Vec<i64>,
    /// How long it took to read it, from its first byte on and without waiting for the standard input or a pipe.
    pub reading: Duration,
    /// What its header says of its clock, for [`merge`].
    pub clock: Option<LogClock>,
    /// The object that it is the history of, where an input is read [object by object](RowInput::each_object).
    pub object: Option<Value>,
}

impl RecordedHistory {
    /// What to call this history in a report: its input, and its number where there are several: `path:3`.
    /// Of an object that was read by itself: `path, object 7`.
    pub fn label(&self) -> String {
        match (&self.name, &self.object) {
            (Some(name), _) => format!("{}:{name}", self.input),
            (None, Some(object)) => format!("{}, object {object}", self.input),
            (None, None) => self.input.to_string(),
        }
    }

    /// The same for people: `path:3 (4th history)`, which is not taken for a line.
    pub fn title(&self) -> String {
        let label = self.label();
        match &self.name {
            Some(name) => label + &text::position_of_history(name),
            None => label,
        }
    }

    /// The same error, with the name of this history, and the line on which it begins unless a better one is known.
    pub fn locate(&self, error: Error) -> Error {
        let error = match self.object {
            Some(_) => error.in_file(&self.label()),
            None => error.in_file(&self.input),
        };
        let error = match self.line {
            0 => error,
            line => error.at_line(line),
        };
        match &self.name {
            Some(name) => error.in_history(name),
            None => error,
        }
    }
}

/// Reads all histories at `path` and hands them to `each` in the order of the input.
///
/// `path` is a file, possibly compressed or an archive, a directory, or `-` for the standard input. What cannot be read
/// is handed over as an error in its place: a bad history does not keep others from being read.
///
/// Answers the inputs that were passed over because they hold labels instead of histories. Where they stand beside the
/// histories that they label, as `name.labels.jsonl` beside `name.jsonl`, they fill [`RecordedHistory::expected`].
///
/// ```no_run
/// use linpoint::format::{ReadOptions, read};
/// read("store/latest".as_ref(), &ReadOptions::default(), |recorded| match recorded {
///     Ok(recorded) => println!("{}: {} operations", recorded.label(), recorded.history.len()),
///     Err(error) => eprintln!("{error}"),
/// });
/// ```
pub fn read(
    path: &Path,
    options: &ReadOptions,
    mut each: impl FnMut(Result<RecordedHistory, Error>),
) -> Vec<Arc<str>> {
    let mut passed_over = Vec::new();
    let waits = input::is_written_meanwhile(path);
    let budget = match waits {
        true => Budget::new(None, options.memory),
        false => options.budget(),
    };
    let mut stopwatch = Stopwatch::start();
    input::open(path, &budget, &mut |name, file, content| {
        let spent = match waits {
            true => Duration::ZERO,
            false => stopwatch.elapsed(),
        };
        let options = &options.after(spent);
        let mut sink = Sink::new(name, &mut each);
        sink.spent = spent;
        match content {
            Ok(Content::Bytes(bytes)) if options.format.is_none() && labels::are_labels(&bytes) => {
                passed_over.push(sink.input.clone());
            }
            Ok(content) => {
                match file
                    .and_then(|file| labels::beside(file, &budget))
                    .transpose()
                {
                    Ok(labels) => sink.labels = labels,
                    // Its histories can be read without labels.
                    Err(error) => (sink.each)(Err(error)),
                }
                match content {
                    Content::Bytes(bytes) => read_bytes(bytes, options, &mut sink),
                    Content::Report(files) => {
                        sink.put(read_report(name, &files, options));
                    }
                    Content::Parquet(path) => match options.format {
                        None | Some(Format::Parquet) => {
                            sink.put(read_parquet(options, || read_parquet_file(&path, options)));
                        }
                        Some(other) => {
                            let reason = format!("this is Parquet, not {other}");
                            sink.put(Err(Error::malformed(reason)));
                        }
                    },
                }
            }
            Err(error) => sink.put(Err(error)),
        }
        sink.finish();
        stopwatch = Stopwatch::start();
    });
    passed_over
}

/// The files that [`read`] opens at `path`: a file, or the histories below a directory, and the labels beside them.
///
/// A program that writes files can compare them with these, so that it does not write over its own input. What cannot be
/// listed is left out; `read` reports it.
///
/// ```
/// use linpoint::format::files_at;
/// assert_eq!(files_at("h.jsonl".as_ref()), [std::path::Path::new("h.jsonl")]);
/// ```
pub fn files_at(path: &Path) -> Vec<PathBuf> {
    let found = if path.is_dir() {
        input::histories_below(path).unwrap_or_default()
    } else {
        vec![path.to_owned()]
    };
    let histories: Vec<PathBuf> = found
        .into_iter()
        .flat_map(|path| etcd_report::files(&path).unwrap_or_else(|| vec![path]))
        .collect();
    let labels: Vec<PathBuf> = histories
        .iter()
        .filter_map(|file| labels::name_beside(file))
        .collect();
    [histories, labels].concat()
}

/// The histories in `bytes`, which are neither compressed nor an archive.
///
/// ```
/// use linpoint::format::{ReadOptions, parse};
/// let text = r#"{"process": 0, "method": "write", "arg": 3, "call": 0, "return": 5}"#;
/// let histories = parse(text.as_bytes(), &ReadOptions::default());
/// assert_eq!(histories[0].as_ref().unwrap().history.len(), 1);
/// ```
pub fn parse(bytes: &[u8], options: &ReadOptions) -> Vec<Result<RecordedHistory, Error>> {
    let mut histories = Vec::new();
    let mut put = |recorded| histories.push(recorded);
    let mut sink = Sink::new("", &mut put);
    read_bytes(bytes.to_vec(), options, &mut sink);
    sink.finish();
    histories
}

/// Reads a report of etcd's robustness tests, whose format is known.
fn read_report(
    directory: &str,
    files: &[(String, Vec<u8>)],
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    #[cfg(feature = "mapping")]
    let is_mapped = options.mapping.is_some();
    #[cfg(not(feature = "mapping"))]
    let is_mapped = false;
    if is_mapped
        || options
            .format
            .is_some_and(|format| format != Format::Porcupine)
    {
        let reason = "this is a report of etcd's robustness tests: read it without --format and --map, or name one of its files";
        return Err(Error::usage(reason));
    }
    etcd_report::read(directory.as_ref(), files, options)
}

#[cfg(feature = "parquet")]
use self::parquet::{read_bytes as read_parquet_bytes, read_file as read_parquet_file};

#[cfg(not(feature = "parquet"))]
fn read_parquet_bytes(_: Vec<u8>, _: &ReadOptions) -> Result<RecordedHistory, Error> {
    Err(missing("parquet", "Parquet"))
}

#[cfg(not(feature = "parquet"))]
fn read_parquet_file(_: &Path, _: &ReadOptions) -> Result<RecordedHistory, Error> {
    Err(missing("parquet", "Parquet"))
}

fn read_parquet(
    options: &ReadOptions,
    read: impl FnOnce() -> Result<RecordedHistory, Error>,
) -> Result<RecordedHistory, Error> {
    refuse_independent(Format::Parquet, options)?;
    read().map_err(|error| error.counting(Unit::Row))
}

fn read_bytes(bytes: Vec<u8>, options: &ReadOptions, sink: &mut Sink<'_>) {
    let is_parquet = match options.format {
        Some(format) => format == Format::Parquet,
        None => bytes.starts_with(input::PARQUET),
    };
    if is_parquet {
        return sink.put(read_parquet(options, || read_parquet_bytes(bytes, options)));
    }
    read_text(&bytes, options, sink);
}

/// Only values of Jepsen's histories are pairs of a key and a value; others name their objects.
fn refuse_independent(format: Format, options: &ReadOptions) -> Result<(), Error> {
    let is_jepsen = matches!(format, Format::Edn | Format::JepsenJson | Format::JepsenLog);
    if options.independent != IndependentKeys::Always || is_jepsen {
        return Ok(());
    }
    Err(Error::usage(format!(
        "independent keys are for Jepsen's histories, edn, jepsen-json or jepsen-log, and this is {format}, whose operations name their \
         object"
    )))
}

fn read_text(bytes: &[u8], options: &ReadOptions, sink: &mut Sink<'_>) {
    let text = match input::decode_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return sink.put(Err(error)),
    };
    if text.trim().is_empty() {
        // An empty input is a history without operations, of any type.
        return sink.put(Ok(RecordedHistory::default()));
    }
    #[cfg(feature = "mapping")]
    if let Some(mapping) = &options.mapping {
        let lines = mapping.reads_json_lines(text).then_some(Format::Jsonl);
        let read = |text: &str, sink: &mut Sink<'_>| {
            sink.put(mapping::read(text, mapping, options));
        };
        return read_lines(text, lines, options, sink, &read);
    }
    let format = match options.format.map_or_else(|| detect::detect(text), Ok) {
        Ok(format) => format,
        Err(error) => return sink.put(Err(error)),
    };
    if let Err(error) = refuse_independent(format, options) {
        return sink.put(Err(error));
    }
    let read = |text: &str, sink: &mut Sink<'_>| read_format(format, text, options, sink);
    read_lines(text, Some(format), options, sink, &read);
}

/// Reads `text`, or, if its last line is cut off and the options allow it, the lines before that one. `lines` is the format
/// of its lines, if they have one.
fn read_lines(
    text: &str,
    lines: Option<Format>,
    options: &ReadOptions,
    sink: &mut Sink<'_>,
    read: &dyn Fn(&str, &mut Sink<'_>),
) {
    let cut_off = lines.and_then(|format| prefix_of_cut_off(text, format));
    let Some((prefix, line)) = cut_off else {
        return read(text, sink);
    };
    let mut all = collect(text, read);
    if let Some(Err(error)) = all.last_mut()
        && error.line() == Some(line)
    {
        match options.truncated {
            Truncated::Refuse => *error = error.clone().by_truncation(),
            Truncated::ReadPrefix => {
                all = collect(prefix, read);
                if let Some(Ok(recorded)) = all.last_mut() {
                    recorded.notes.push(Note::Truncated(line));
                }
            }
        }
    }
    all.into_iter().for_each(|recorded| sink.put(recorded));
}

/// The lines before the last one, and the number of the last one, where that one ends in the middle of a JSON document or of
/// an EDN form. A bracket around the whole text is not looked at, so the last line may still be sound.
fn prefix_of_cut_off(text: &str, format: Format) -> Option<(&str, u64)> {
    let (prefix, last) = text.split_at(text.rfind('\n')? + 1);
    if last.trim().is_empty() {
        return None;
    }
    let is_cut_off = match format {
        Format::Jsonl | Format::JepsenJson | Format::Porcupine => json::is_cut_off(last),
        #[cfg(feature = "edn")]
        Format::Edn | Format::PorcupineKv => edn::Forms::plain(last).any(|form| form.is_err()),
        _ => false,
    };
    let line = memchr::memchr_iter(b'\n', prefix.as_bytes()).count() as u64 + 1;
    (is_cut_off && !prefix.trim().is_empty()).then_some((prefix, line))
}

/// The histories of `text`.
fn collect(text: &str, read: &dyn Fn(&str, &mut Sink<'_>)) -> Vec<Result<RecordedHistory, Error>> {
    let mut histories = Vec::new();
    let mut put = |recorded| histories.push(recorded);
    let mut sink = Sink::new("", &mut put);
    read(text, &mut sink);
    sink.finish();
    histories
}

fn read_format(format: Format, text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    match format {
        Format::Jsonl => jsonl::read(text, options, sink),
        #[cfg(feature = "edn")]
        Format::Edn => edn::read(text, options, sink),
        #[cfg(feature = "edn")]
        Format::JepsenLog => jepsen_log::read(text, options, sink),
        #[cfg(feature = "edn")]
        Format::PorcupineKv => porcupine_kv::read(text, options, sink),
        #[cfg(not(feature = "edn"))]
        Format::Edn | Format::JepsenLog | Format::PorcupineKv => {
            sink.put(Err(missing("edn", format.name())));
        }
        Format::JepsenJson => jepsen_json::read(text, options, sink),
        Format::Porcupine => porcupine::read(text, options, sink),
        Format::Violat => violat::read(text, options, sink),
        Format::Operations => operations::read(text, options, sink),
        Format::Snapshot => snapshot::read(text, options, sink),
        Format::Parquet => unreachable!("bug: no text is Parquet"),
    }
}

/// Where readers put what they find. Names the input in every item, and numbers the histories where there are several.
struct Sink<'a> {
    input: Arc<str>,
    count: usize,
    /// The first item, until it is known whether it is the only one.
    first: Option<Result<RecordedHistory, Error>>,
    /// What the histories were labelled with, by number.
    labels: Option<Labels>,
    /// The time that was spent on the next history before the stopwatch was started.
    spent: Duration,
    stopwatch: Stopwatch,
    each: &'a mut dyn FnMut(Result<RecordedHistory, Error>),
}

impl<'a> Sink<'a> {
    fn new(input: &str, each: &'a mut dyn FnMut(Result<RecordedHistory, Error>)) -> Self {
        Sink {
            input: input.into(),
            count: 0,
            first: None,
            labels: None,
            spent: Duration::ZERO,
            stopwatch: Stopwatch::start(),
            each,
        }
    }

    fn put(&mut self, recorded: Result<RecordedHistory, Error>) {
        let reading = std::mem::take(&mut self.spent) + self.stopwatch.elapsed();
        self.pass_on_in_order(recorded.map(|recorded| RecordedHistory {
            reading,
            ..recorded
        }));
        // What is done with a history does not count for the next one.
        self.stopwatch = Stopwatch::start();
    }

    fn pass_on_in_order(&mut self, recorded: Result<RecordedHistory, Error>) {
        self.count += 1;
        if self.count == 1 {
            self.first = Some(recorded);
            return;
        }
        if let Some(first) = self.first.take() {
            self.pass_on(first, 0, Some("0".to_owned()));
        }
        let index = self.count - 1;
        self.pass_on(recorded, index, Some(index.to_string()));
    }

    fn pass_on(
        &mut self,
        recorded: Result<RecordedHistory, Error>,
        index: usize,
        name: Option<String>,
    ) {
        let label = self.labels.as_ref().and_then(|labels| labels.get(&index));
        let input = &self.input;
        (self.each)(match recorded {
            Ok(recorded) => Ok(RecordedHistory {
                input: input.clone(),
                name,
                expected: recorded.expected.or(label.copied()),
                ..recorded
            }),
            Err(error) if input.is_empty() => Err(error),
            Err(error) => {
                let error = error.in_file(input);
                Err(match name {
                    Some(name) => error.in_history(&name),
                    None => error,
                })
            }
        });
    }

    fn finish(mut self) {
        if let Some(first) = self.first.take() {
            self.pass_on(first, 0, None);
        }
    }
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
