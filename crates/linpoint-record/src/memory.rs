//! Recordings in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::path::Path;

/// The events of one process: their times, and the lines without times, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    events: Vec<Event>,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    time: i64,
    is_return: bool,
    /// Where its text ends.
    end: usize,
}

impl Buffer {
    /// Where the text of the next event is put.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Adds an event whose text was put at the end.
    pub(crate) fn add(&mut self, time: i64, is_return: bool) {
        let end = self.text.len();
        self.events.push(Event {
            time,
            is_return,
            end,
        });
    }

    /// The time of the last event.
    pub(crate) fn last(&self) -> Option<i64> {
        self.events.last().map(|event| event.time)
    }
}

/// What was recorded in memory, as lines of JSON.
#[derive(Debug)]
pub struct Recording {
    header: Vec<u8>,
    buffers: Vec<Buffer>,
}

impl Recording {
    pub(crate) fn new(header: Vec<u8>, buffers: Vec<Buffer>) -> Self {
        Recording { header, buffers }
    }

    /// How many events there are: calls, ends of operations, and notes.
    pub fn events(&self) -> usize {
        self.buffers.iter().map(|buffer| buffer.events.len()).sum()
    }

    /// Writes the history, which `linpoint check` reads.
    ///
    /// Of events at the same time, calls come first: operations that merely touch are taken to overlap. A process keeps its order.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(&self.header)?;
        // The next event of each process.
        let mut heads = BinaryHeap::new();
        let head = |process: usize, place: usize| {
            let event = self.buffers[process].events.get(place)?;
            Some(Reverse((event.time, event.is_return, process, place)))
        };
        heads.extend((0..self.buffers.len()).filter_map(|process| head(process, 0)));
        while let Some(Reverse((time, _, process, place))) = heads.pop() {
            let buffer = &self.buffers[process];
            let start = place
                .checked_sub(1)
                .map_or(0, |last| buffer.events[last].end);
            out.write_all(&buffer.text[start..buffer.events[place].end])?;
            writeln!(out, ",\"time\":{time}}}")?;
            heads.extend(head(process, place + 1));
        }
        out.flush()
    }

    /// The history as lines of JSON.
    pub fn to_jsonl(&self) -> String {
        let mut out = Vec::new();
        // Writing into a vector never fails.
        let _ = self.write(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Writes the history as Apache Parquet, one row for each operation.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        use linpoint::format::{Format, ReadOptions, parse, write};
        let mut recorded = parse(self.to_jsonl().as_bytes(), &ReadOptions::default());
        let recorded = match recorded.pop() {
            Some(recorded) => recorded.map_err(io::Error::other)?,
            None => return Err(io::Error::other("nothing was recorded")),
        };
        let object_type = recorded.object_type.as_ref();
        let object_type = object_type.map(|(name, params)| (name.as_str(), params));
        write(Format::Parquet, &recorded.history, object_type, out)
    }

    /// Writes the history into a file.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.write(io::BufWriter::new(std::fs::File::create(path)?))
    }
}
