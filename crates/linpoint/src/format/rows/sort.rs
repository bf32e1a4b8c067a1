//! Sorts operations by object and call, within a limit of memory: what does not fit is sorted in parts, which are written to
//! files and merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::codec::{Decoder, encode};
use super::objects::Collector;
use super::{Columns, EachObject, ObjectReading, Row, RowInput, RowOrder, RowsRead};
use crate::error::Error;
use crate::format::ReadOptions;
use crate::format::jsonl::About;
use crate::value::{Value, ValueRef, ValueTable};

/// Files that are merged at a time: a process may have about a thousand open.
const MOST_RUNS: usize = 200;

/// The bytes of a file that are read at a time while several are merged.
const READ: usize = 1 << 18;

/// Bytes of operations that are allocated at a time.
const CHUNK: usize = 1 << 20;

/// Sorts operations by object, and those of an object by call.
///
/// Objects are in the order of their [values](Value): integers before texts. Operations that are called at the same time stay in
/// the order in which they were added.
#[derive(Debug)]
pub struct Sorter {
    folder: PathBuf,
    /// How many bytes of operations are kept in memory.
    memory: usize,
    chunks: Vec<Vec<u8>>,
    entries: Vec<Entry>,
    objects: ValueTable,
    runs: Vec<Run>,
    columns: Columns,
    order: RowOrder,
    header: Option<Header>,
    scratch: Vec<u8>,
    rows: u64,
}

/// What the inputs say of all operations.
#[derive(Clone, Debug)]
struct Header {
    input: String,
    about: About,
}

/// An operation in memory.
#[derive(Clone, Copy, Debug)]
struct Entry {
    object: u32,
    chunk: u32,
    start: u32,
    len: u32,
    called: i64,
}

impl Sorter {
    /// A sorter that keeps about this many bytes in memory, and writes the rest to files in this folder.
    pub fn new(folder: &Path, memory: u64) -> Self {
        Sorter {
            folder: folder.to_owned(),
            memory: usize::try_from(memory).unwrap_or(usize::MAX).max(CHUNK),
            chunks: Vec::new(),
            entries: Vec::new(),
            objects: ValueTable::default(),
            runs: Vec::new(),
            columns: Columns::default(),
            order: RowOrder::default(),
            header: None,
            scratch: Vec::new(),
            rows: 0,
        }
    }

    /// Adds all operations of an input, which is a part of the same history as those before it.
    ///
    /// Returns an error if it is of another type than those before it.
    pub fn add_input(
        &mut self,
        input: RowInput,
        progress: &super::RowProgress,
    ) -> Result<RowsRead, Error> {
        let name = input.name().to_owned();
        self.agree(&name, input.about())?;
        let is_first = self.rows == 0;
        let read = input.each(progress, &mut |row| {
            self.add(&row)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if is_first {
            self.order = read.order;
        } else if self.order != read.order || read.order == RowOrder::Events {
            let reason = "events are in order within one input only, so no other input can be sorted with them";
            return Err(Error::usage(reason).in_file(&name));
        }
        Ok(read)
    }

    fn agree(&mut self, name: &str, about: &About) -> Result<(), Error> {
        let Some(header) = &self.header else {
            self.header = Some(Header {
                input: name.to_owned(),
                about: about.clone(),
            });
            return Ok(());
        };
        let first = &header.about;
        let is_same = (
            &first.object_type,
            &first.params,
            first.ties,
            &first.clients,
        ) == (
            &about.object_type,
            &about.params,
            about.ties,
            &about.clients,
        );
        match is_same {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "its header is not that of {}: inputs that are sorted together are parts of one history",
                header.input
            ))
            .in_file(name)),
        }
    }

    /// Adds an operation.
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        self.columns.look_at(row);
        self.rows += 1;
        self.scratch.clear();
        encode(row, &mut self.scratch);
        let len = self.scratch.len();
        let has_room = self
            .chunks
            .last()
            .is_some_and(|chunk| chunk.len() + len <= chunk.capacity());
        if !has_room {
            let used = self.chunks.len() * CHUNK + 2 * size_of::<Entry>() * self.entries.len();
            if used >= self.memory {
                self.spill()?;
            }
            self.chunks.push(Vec::with_capacity(CHUNK.max(len)));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        self.entries.push(Entry {
            object: self.objects.intern(ValueRef::Value(row.object.clone())),
            chunk: number as u32,
            start: chunk.len() as u32,
            len: len as u32,
            called: row.called,
        });
        chunk.extend_from_slice(&self.scratch);
        Ok(())
    }

    /// Whether some operations are in files.
    #[cfg(test)]
    pub(super) fn has_spilled(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Sorts the operations in memory.
    fn sort(&mut self) {
        let objects = std::mem::take(&mut self.objects).into_items();
        let mut order: Vec<u32> = (0..objects.len() as u32).collect();
        order.par_sort_unstable_by(|&a, &b| objects[a as usize].cmp(&objects[b as usize]));
        let mut rank = vec![0; objects.len()];
        for (place, object) in (0u32..).zip(order) {
            rank[object as usize] = place;
        }
        // Operations with equal calls stay in the order of the input.
        self.entries.par_sort_unstable_by_key(|entry| {
            let rank = rank[entry.object as usize];
            (rank, entry.called, entry.chunk, entry.start)
        });
    }

    /// Writes the operations in memory to a file.
    fn spill(&mut self) -> Result<(), Error> {
        if self.entries.is_empty() {
            return Ok(());
        }
        self.sort();
        let mut run = RunWriter::create(&self.folder)?;
        for entry in &self.entries {
            run.put(bytes_of(&self.chunks, entry))?;
        }
        self.runs.push(run.finish()?);
        self.entries.clear();
        self.chunks.clear();
        if self.runs.len() >= MOST_RUNS {
            self.merge_runs()?;
        }
        Ok(())
    }

    /// Makes one file of all.
    fn merge_runs(&mut self) -> Result<(), Error> {
        let mut merged = Merged::of(std::mem::take(&mut self.runs))?;
        let mut run = RunWriter::create(&self.folder)?;
        while let Some(bytes) = merged.next()? {
            run.put(&bytes)?;
        }
        self.runs.push(run.finish()?);
        Ok(())
    }

    /// Sorts all that was added.
    pub fn finish(mut self) -> Result<SortedRows, Error> {
        let rows = match self.runs.is_empty() {
            true => {
                self.sort();
                Rows::InMemory {
                    chunks: self.chunks,
                    entries: self.entries,
                    next: 0,
                }
            }
            false => {
                self.spill()?;
                // Its memory is for those who read the rows.
                self.entries = Vec::new();
                Rows::Merged(Merged::of(self.runs)?)
            }
        };
        Ok(SortedRows {
            rows,
            decoder: Decoder::default(),
            count: self.rows,
            columns: self.columns,
            order: self.order,
            about: self.header.map(|header| header.about).unwrap_or_default(),
        })
    }
}

fn bytes_of<'a>(chunks: &'a [Vec<u8>], entry: &Entry) -> &'a [u8] {
    let start = entry.start as usize;
    &chunks[entry.chunk as usize][start..start + entry.len as usize]
}

/// Operations in the order of their objects and calls.
#[derive(Debug)]
pub struct SortedRows {
    rows: Rows,
    decoder: Decoder,
    count: u64,
    columns: Columns,
    order: RowOrder,
    about: About,
}

#[derive(Debug)]
enum Rows {
    InMemory {
        chunks: Vec<Vec<u8>>,
        entries: Vec<Entry>,
        next: usize,
    },
    Merged(Merged),
}

impl SortedRows {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What their columns hold.
    pub fn columns(&self) -> Columns {
        self.columns
    }

    /// What their times are.
    pub fn order(&self) -> RowOrder {
        self.order
    }

    /// What the header of the inputs says.
    pub(super) fn about(&self) -> &About {
        &self.about
    }

    /// The type that the inputs name, with its parameters.
    pub fn object_type(&self, options: &ReadOptions) -> Option<(String, crate::spec::Params)> {
        self.about.clone().object_type(options)
    }

    /// The next operation.
    pub fn next_row(&mut self) -> Result<Option<Row>, Error> {
        let decoder = &mut self.decoder;
        let row = match &mut self.rows {
            Rows::InMemory {
                chunks,
                entries,
                next,
            } => {
                let Some(entry) = entries.get(*next) else {
                    return Ok(None);
                };
                *next += 1;
                decoder.decode(bytes_of(chunks, entry))
            }
            Rows::Merged(merged) => match merged.next()? {
                Some(bytes) => decoder.decode(&bytes),
                None => return Ok(None),
            },
        };
        row.map(Some).ok_or_else(damaged)
    }

    /// Calls `each` with the history of every object. `input` is what messages call it.
    pub fn each_object(
        mut self,
        input: &str,
        options: &ReadOptions,
        reading: ObjectReading<'_>,
        each: &mut EachObject<'_>,
    ) -> Result<(), Error> {
        let input: Arc<str> = input.into();
        let about = self.about.clone();
        let collector = Collector::new(&input, options, about, reading.skip);
        let mut collector = collector.in_order(self.order);
        reading.progress.expect(self.count);
        while let Some(row) = self.next_row()? {
            if collector.take(row, each)?.is_break() {
                return Ok(());
            }
            reading.progress.add(1, 1);
        }
        collector.finish(each);
        Ok(())
    }
}

fn damaged() -> Error {
    Error::unreadable("a file of sorted operations changed while it was read")
}

/// A file of sorted operations, which exists as long as it is open.
#[derive(Debug)]
struct Run {
    file: File,
    #[cfg_attr(unix, allow(dead_code))]
    removal: Removal,
}

/// Removes a file that could not be removed while it was open.
#[derive(Debug)]
struct Removal(Option<PathBuf>);

impl Drop for Removal {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // An error here cannot be handled: the file stays.
            let _ = std::fs::remove_file(path);
        }
    }
}

struct RunWriter {
    out: BufWriter<File>,
    removal: Removal,
    folder: PathBuf,
}

impl RunWriter {
    /// Creates a file that has no name where the system allows that, so that no end of the program leaves it behind.
    fn create(folder: &Path) -> Result<Self, Error> {
        let mut number = 0;
        loop {
            let name = format!("linpoint-sort-{}-{number}.tmp", std::process::id());
            let path = folder.join(name);
            let created = File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path);
            match created {
                Ok(file) => {
                    let is_removed = cfg!(unix) && std::fs::remove_file(&path).is_ok();
                    return Ok(RunWriter {
                        out: BufWriter::with_capacity(CHUNK, file),
                        removal: Removal((!is_removed).then_some(path)),
                        folder: folder.to_owned(),
                    });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(cannot_spill(folder, &error)),
            }
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let len = (bytes.len() as u32).to_le_bytes();
        let put = self
            .out
            .write_all(&len)
            .and_then(|()| self.out.write_all(bytes));
        put.map_err(|error| cannot_spill(&self.folder, &error))
    }

    fn finish(self) -> Result<Run, Error> {
        let folder = self.folder;
        let file = self.out.into_inner().map_err(|error| error.into_error());
        let file = file.and_then(|mut file| file.rewind().map(|()| file));
        Ok(Run {
            file: file.map_err(|error| cannot_spill(&folder, &error))?,
            removal: self.removal,
        })
    }
}

fn cannot_spill(folder: &Path, error: &std::io::Error) -> Error {
    Error::unreadable(format!(
        "what does not fit into memory cannot be written to {}: {error}; name another folder with --spill, or allow more --memory",
        folder.display()
    ))
}

/// The next operation of a file, in the order in which files are merged.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    object: Value,
    called: i64,
    /// Files are in the order of the input.
    run: usize,
    bytes: Vec<u8>,
}

/// The operations of several files, in order.
#[derive(Debug)]
struct Merged {
    runs: Vec<RunReader>,
    heads: BinaryHeap<Reverse<Head>>,
}

#[derive(Debug)]
struct RunReader {
    reader: BufReader<File>,
    decoder: Decoder,
    #[cfg_attr(unix, allow(dead_code))]
    removal: Removal,
}

impl RunReader {
    fn head(&mut self, run: usize) -> Result<Option<Reverse<Head>>, Error> {
        let mut len = [0; 4];
        let failed = |error: std::io::Error| Error::unreadable(error.to_string());
        let first = self.reader.read(&mut len[..1]).map_err(failed)?;
        if first == 0 {
            return Ok(None);
        }
        self.reader.read_exact(&mut len[1..]).map_err(failed)?;
        let mut bytes = vec![0; u32::from_le_bytes(len) as usize];
        self.reader.read_exact(&mut bytes).map_err(failed)?;
        let (object, called) = self.decoder.key(&bytes).ok_or_else(damaged)?;
        Ok(Some(Reverse(Head {
            object,
            called,
            run,
            bytes,
        })))
    }
}

impl Merged {
    fn of(runs: Vec<Run>) -> Result<Self, Error> {
        let mut merged = Merged {
            runs: Vec::new(),
            heads: BinaryHeap::new(),
        };
        for (number, run) in runs.into_iter().enumerate() {
            let mut reader = RunReader {
                reader: BufReader::with_capacity(READ, run.file),
                decoder: Decoder::default(),
                removal: run.removal,
            };
            merged.heads.extend(reader.head(number)?);
            merged.runs.push(reader);
        }
        Ok(merged)
    }

    fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let Some(Reverse(head)) = self.heads.pop() else {
            return Ok(None);
        };
        self.heads.extend(self.runs[head.run].head(head.run)?);
        Ok(Some(head.bytes))
    }
}
