//! Reads JSON lines block by block, and gives their operations one by one: the text may be larger than memory.

use std::collections::HashMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;

use super::line::{About, EventLine, EventLineKind, Line, Operation};
use super::{Batch, chunks, decode, decode_chunk};
use crate::error::Error;
use crate::format::rows::{
    EachRow, Row, RowOrder, RowProgress, RowsRead, not_by_row, refuse_stuck,
};
use crate::format::{Format, ReadOptions, Truncated, detect, input, json};
use crate::history::{ONE_OPEN_CALL, check_interval};
use crate::value::{Value, ValueRef};

/// The bytes of text that are read at a time.
const BLOCK: usize = 4 << 20;

/// What a history takes in memory, for each byte of its text.
const MEMORY_PER_BYTE: u64 = 2;

/// Whole lines of a text.
struct Block {
    first_line: u64,
    text: String,
    /// Whether the text ends here.
    is_last: bool,
}

/// A text, block by block.
struct Blocks {
    stream: input::Stream<'static>,
    /// The beginning of a line whose end was not read.
    rest: Vec<u8>,
    next_line: u64,
    is_over: bool,
}

impl Blocks {
    fn next(&mut self) -> Result<Option<Block>, Error> {
        if self.is_over {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.rest);
        let end = loop {
            let before = bytes.len();
            let read = self
                .stream
                .by_ref()
                .take(BLOCK as u64)
                .read_to_end(&mut bytes);
            let read = read.map_err(|error| Error::unreadable(error.to_string()))?;
            if read < BLOCK {
                self.is_over = true;
                break bytes.len();
            }
            if let Some(end) = memchr::memrchr(b'\n', &bytes[before..]) {
                break before + end + 1;
            }
        };
        self.rest = bytes.split_off(end);
        let first_line = self.next_line;
        self.next_line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let text = input::decode_utf8(&bytes).map_err(|error| {
            let line = first_line - 1 + error.line().unwrap_or(1);
            Error::malformed(error.reason()).at_line(line)
        })?;
        Ok(Some(Block {
            first_line,
            text: text.to_owned(),
            is_last: self.is_over,
        }))
    }
}

/// What becomes of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::format) enum Events {
    /// A call and its return are one operation.
    #[default]
    Paired,
    Refused,
}

/// JSON lines of operations or events.
pub(in crate::format) struct JsonRows {
    blocks: Blocks,
    first: Option<Block>,
    about: About,
    /// The line of the header; 0 if there is none.
    header_line: u64,
    size: Option<u64>,
    truncated: Truncated,
}

impl JsonRows {
    /// Reads the beginning of a text. `size` is that of the whole text, if it is known.
    pub(in crate::format) fn open(
        stream: input::Stream<'static>,
        size: Option<u64>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let mut blocks = Blocks {
            stream,
            rest: Vec::new(),
            next_line: 1,
            is_over: false,
        };
        let first = blocks.next()?;
        let mut rows = JsonRows {
            blocks,
            first: None,
            about: About::default(),
            header_line: 0,
            size,
            truncated: options.truncated,
        };
        let text = first.as_ref().map_or("", |block| &block.text);
        let mut lines = (1..).zip(text.lines());
        if let Some((number, line)) = lines.find(|(_, line)| !line.trim().is_empty()) {
            let format = options.format.map_or_else(|| detect::detect(text), Ok)?;
            if format != Format::Jsonl {
                return Err(not_by_row(format));
            }
            if line.trim_start().starts_with('[') {
                return Err(Error::usage(
                    "a JSON array is read whole: only lines are read operation by operation (`linpoint convert` writes them)",
                ));
            }
            if let Ok(Line::Header(about)) = decode(line) {
                rows.about = *about;
                rows.header_line = number;
                refuse_stuck(&rows.about)?;
            }
        }
        rows.first = first;
        Ok(rows)
    }

    pub(in crate::format) fn about(&self) -> &About {
        &self.about
    }

    /// What the history would take in memory; `None` if the size of the text is not known.
    pub(in crate::format) fn estimate(&self) -> Option<u64> {
        self.size.map(|size| size * MEMORY_PER_BYTE)
    }

    /// Calls `take` with every operation, in the order of the lines. Pending operations of events come last.
    pub(in crate::format) fn each(
        mut self,
        events: Events,
        progress: &RowProgress,
        take: &mut EachRow<'_>,
    ) -> Result<RowsRead, Error> {
        progress.expect(self.size.unwrap_or(0));
        let mut reader = LineReader {
            events,
            header_line: self.header_line,
            ..LineReader::default()
        };
        let mut read = RowsRead::default();
        while let Some(mut block) = match self.first.take() {
            Some(block) => Some(block),
            None => self.blocks.next()?,
        } {
            let bytes = block.text.len() as u64;
            if block.is_last {
                read.truncated = self.cut_off(&mut block)?;
            }
            let chunks = chunks(&block.text);
            let batches: Vec<Batch<'_>> = chunks.par_iter().map(decode_chunk).collect();
            let before = reader.rows;
            for (number, line) in batches.into_iter().flatten() {
                let number = block.first_line - 1 + number;
                let taken = line
                    .map_err(Error::malformed)
                    .and_then(|line| reader.take(number, line, take));
                if taken.map_err(|error| error.at_line(number))?.is_break() {
                    return Ok(read);
                }
            }
            progress.add(reader.rows - before, bytes);
        }
        read.order = match reader.has_events {
            true => RowOrder::Events,
            false => RowOrder::Times,
        };
        // What is left out after this does not matter: nothing follows.
        let _ = reader.end(take)?;
        Ok(read)
    }

    /// Removes the last line of the text if it is cut off and that is allowed. Returns its number.
    fn cut_off(&self, last: &mut Block) -> Result<Option<u64>, Error> {
        let start = last.text.rfind('\n').map_or(0, |end| end + 1);
        let line = &last.text[start..];
        if line.trim().is_empty() || !json::is_cut_off(line) {
            return Ok(None);
        }
        let number =
            last.first_line + memchr::memchr_iter(b'\n', last.text.as_bytes()).count() as u64;
        match (self.truncated, decode(line)) {
            (Truncated::Refuse, Err(reason)) => {
                Err(Error::malformed(reason).at_line(number).by_truncation())
            }
            (Truncated::Refuse, Ok(_)) => Ok(None),
            (Truncated::ReadPrefix, _) => {
                last.text.truncate(start);
                Ok(Some(number))
            }
        }
    }
}

/// An operation that was called and has not returned.
struct Open {
    row: Row,
    crashed: bool,
}

/// Makes operations of lines.
#[derive(Default)]
struct LineReader {
    events: Events,
    header_line: u64,
    rows: u64,
    methods: Vec<Arc<str>>,
    has_operations: bool,
    has_events: bool,
    /// The number of events so far.
    now: i64,
    open: HashMap<Value, Open>,
}

impl LineReader {
    fn take(
        &mut self,
        number: u64,
        line: Line<'_>,
        take: &mut EachRow<'_>,
    ) -> Result<ControlFlow<()>, Error> {
        let row = match line {
            Line::Header(_) if number == self.header_line => None,
            Line::Header(_) | Line::Whole(_) => {
                return Err(Error::usage(
                    "an input of several histories is read whole: only one history is read operation by operation",
                ));
            }
            // Notes say nothing of operations.
            Line::Note { .. } => None,
            Line::CrashOfAll { .. } => {
                self.has_events = true;
                self.open.values_mut().for_each(|open| open.crashed = true);
                None
            }
            Line::Stuck => {
                let about = About {
                    ends_stuck: true,
                    ..About::default()
                };
                return refuse_stuck(&about).map(ControlFlow::Continue);
            }
            Line::Operation(operation) => {
                self.has_operations = true;
                Some(self.operation(number, operation)?)
            }
            Line::Event(event) => {
                self.has_events = true;
                self.event(number, event)?
            }
        };
        if self.has_operations && self.has_events {
            return Err(Error::malformed(
                "events and whole operations cannot be mixed in one history",
            ));
        }
        let Some(row) = row else {
            return Ok(ControlFlow::Continue(()));
        };
        self.rows += 1;
        take(row)
    }

    fn method(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.methods.iter().find(|known| ***known == *name) {
            return Arc::clone(known);
        }
        let method: Arc<str> = name.into();
        self.methods.push(Arc::clone(&method));
        method
    }

    fn operation(&mut self, line: u64, operation: Operation<'_>) -> Result<Row, Error> {
        if let Some(returned) = operation.returned {
            check_interval(&operation.method, operation.called, returned)?;
        }
        Ok(Row {
            object: owned(operation.object),
            process: operation.process.map(owned),
            method: self.method(&operation.method),
            argument: owned(operation.argument),
            result: match operation.returned {
                Some(_) => owned(operation.result),
                None => Value::Nil,
            },
            called: operation.called,
            returned: operation.returned,
            hint: operation.hint,
            line,
        })
    }

    /// Takes an event. Returns the operation that it ends.
    fn event(&mut self, line: u64, event: EventLine<'_>) -> Result<Option<Row>, Error> {
        if self.events == Events::Refused {
            return Err(Error::usage(
                "these are events, and only whole operations are read object by object: `linpoint sort` makes them",
            ));
        }
        let EventLine {
            process,
            kind,
            hint,
            ..
        } = event;
        self.now += 1;
        let what = match kind {
            EventLineKind::Call {
                object,
                method,
                argument,
            } => {
                return self.call(line, process, object, &method, argument);
            }
            EventLineKind::Return { .. } => "returns",
            EventLineKind::Fail => "fails",
            EventLineKind::Crash => "crashes",
        };
        let open = self.open.get_mut(&process).filter(|open| !open.crashed);
        let Some(open) = open else {
            let reason = format!("process {process} {what} without an open call");
            return Err(Error::malformed(reason));
        };
        open.row.hint = hint.or(open.row.hint);
        let result = match kind {
            EventLineKind::Crash => {
                open.crashed = true;
                return Ok(None);
            }
            EventLineKind::Return { method, result } => {
                if let Some(method) = method
                    && *method != *open.row.method
                {
                    let called = &open.row.method;
                    let reason = format!(
                        "process {process} returns from {method:?} but had called {called:?}"
                    );
                    return Err(Error::malformed(reason));
                }
                Some(result)
            }
            _ => None,
        };
        let open = self.open.remove(&process);
        Ok(open.zip(result).map(|(Open { row, .. }, result)| Row {
            result,
            returned: Some(self.now),
            ..row
        }))
    }

    fn call(
        &mut self,
        line: u64,
        process: Value,
        object: Value,
        method: &str,
        argument: Value,
    ) -> Result<Option<Row>, Error> {
        let row = Row {
            object,
            process: Some(process.clone()),
            method: self.method(method),
            argument,
            result: Value::Nil,
            called: self.now,
            returned: None,
            hint: None,
            line,
        };
        let open = Open {
            row,
            crashed: false,
        };
        match self.open.get(&process) {
            None => {
                self.open.insert(process, open);
                Ok(None)
            }
            Some(Open { row: earlier, .. }) => Err(Error::malformed(format!(
                "process {process} calls {method:?} while its call of {:?} on line {} is still open: {ONE_OPEN_CALL}",
                earlier.method, earlier.line,
            ))),
        }
    }

    /// Gives the operations that never returned, in the order of their calls.
    fn end(self, take: &mut EachRow<'_>) -> Result<ControlFlow<()>, Error> {
        let mut open: Vec<Row> = self.open.into_values().map(|open| open.row).collect();
        open.sort_by_key(|row| row.called);
        for row in open {
            if take(row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Text(text) => Value::from(text),
        ValueRef::Value(value) => value,
    }
}
