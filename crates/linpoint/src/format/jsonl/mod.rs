//! Reads JSON lines, the native format: events, operations with times, or whole histories, one on each line.
//!
//! Lines are decoded independently of each other, and in parallel where there are many, while the builder takes the
//! previous batch in its order. So reading a long file takes little longer than parsing its JSON.

mod fields;
mod line;
mod rows;
mod scan;
mod stream;
mod write;

use std::convert::Infallible;

use rayon::prelude::*;

pub(super) use self::line::About;
use self::line::{EventLine, EventLineKind, Line, Whole, decode};
pub(super) use self::rows::{Events, JsonRows};
use super::{ReadOptions, RecordedHistory, Sink, json};
use crate::error::Error;
use crate::history::{Call, HistoryBuilder};
#[cfg(feature = "parquet")]
pub(super) use line::decode_header;
pub use stream::{StreamLine, stream_line};
pub(super) use write::{Header, write_header, write_row};
pub use write::{
    write_jsonl, write_jsonl_call, write_jsonl_header, write_jsonl_return, write_value,
};

/// The bytes of text that one task decodes: enough to outweigh the cost of a task, few enough to stay in the cache.
const CHUNK: usize = 64 * 1024;

/// How many chunks each thread decodes before the builder takes them.
const CHUNKS_PER_THREAD: usize = 8;

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    let mut assembler = Assembler::new(options);
    let inside = text.trim_start().strip_prefix('[');
    if inside.is_some_and(|inside| inside.trim_start().starts_with('{')) {
        let taken: Result<(), Infallible> = json::each(text, |number, item| {
            assembler.take(number, item.and_then(decode));
            assembler.hand_over(sink);
            Ok(())
        });
        let Ok(()) = taken;
    } else if json::spans_lines(text) {
        for (number, document) in json::documents(text) {
            assembler.take(number, document.and_then(decode));
            assembler.hand_over(sink);
        }
    } else {
        read_lines(text, &mut assembler, sink);
    }
    assembler.finish_history();
    assembler.hand_over(sink);
}

/// The lines of a chunk with their numbers.
type Batch<'a> = Vec<(u64, Result<Line<'a>, String>)>;

fn read_lines(text: &str, assembler: &mut Assembler<'_>, sink: &mut Sink<'_>) {
    let chunks = chunks(text);
    if let [chunk] = chunks.as_slice() {
        assembler.take_batch(decode_chunk(chunk));
        return;
    }
    let group_size = rayon::current_num_threads() * CHUNKS_PER_THREAD;
    let mut decoded: Vec<Batch<'_>> = Vec::new();
    for group in chunks.chunks(group_size) {
        let previous = std::mem::take(&mut decoded);
        rayon::join(
            || decoded = group.par_iter().map(decode_chunk).collect(),
            || {
                previous
                    .into_iter()
                    .for_each(|batch| assembler.take_batch(batch))
            },
        );
        assembler.hand_over(sink);
    }
    decoded
        .into_iter()
        .for_each(|batch| assembler.take_batch(batch));
}

/// Some lines of a text.
struct Chunk<'a> {
    first_line: u64,
    text: &'a str,
}

fn chunks(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut rest, mut first_line) = (text, 1);
    while !rest.is_empty() {
        let from = CHUNK.min(rest.len());
        let end =
            memchr::memchr(b'\n', &rest.as_bytes()[from..]).map_or(rest.len(), |at| from + at + 1);
        let (text, after) = rest.split_at(end);
        chunks.push(Chunk { first_line, text });
        first_line += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        rest = after;
    }
    chunks
}

fn decode_chunk<'a>(chunk: &Chunk<'a>) -> Batch<'a> {
    // Operations are hardly ever shorter than this.
    let mut batch = Vec::with_capacity(chunk.text.len() / 64);
    for (number, line) in (chunk.first_line..).zip(chunk.text.lines()) {
        if !line.trim_ascii().is_empty() {
            batch.push((number, decode(line)));
        }
    }
    batch
}

/// Makes histories of decoded lines.
struct Assembler<'a> {
    options: &'a ReadOptions,
    state: State,
    finished: Vec<Result<RecordedHistory, Error>>,
}

enum State {
    /// No line of the next history has been read.
    Between,
    /// Events or operations are being collected.
    Within(Box<Collected>),
    /// The history has an error; its remaining lines are skipped.
    Broken,
}

struct Collected {
    /// The line of the header.
    line: u64,
    about: About,
    builder: HistoryBuilder,
    /// Whether there are operations with times, and the line of the first note: they do not go together.
    timed: bool,
    note_line: Option<u64>,
    /// The line that says that the history ends stuck. No other one follows.
    stuck_line: Option<u64>,
}

impl<'a> Assembler<'a> {
    fn new(options: &'a ReadOptions) -> Self {
        Assembler {
            options,
            state: State::Between,
            finished: Vec::new(),
        }
    }

    fn take_batch(&mut self, batch: Batch<'_>) {
        for (number, line) in batch {
            self.take(number, line);
        }
    }

    fn take(&mut self, number: u64, line: Result<Line<'_>, String>) {
        let result = match line {
            Ok(Line::Header(about)) => {
                self.finish_history();
                self.state = State::Within(Box::new(Collected {
                    line: number,
                    about: *about,
                    ..Collected::new(self.options)
                }));
                return;
            }
            Ok(Line::Whole(whole)) => {
                self.finish_history();
                let recorded = self.whole(number, *whole);
                self.finished
                    .push(recorded.map_err(|error| error.at_line(number)));
                return;
            }
            Ok(line) => match self.collected() {
                Some(collected) => collected.take(number, line),
                None => return,
            },
            Err(reason) => match self.state {
                State::Broken => return,
                _ => Err(Error::malformed(reason)),
            },
        };
        if let Err(error) = result {
            self.state = State::Broken;
            self.finished.push(Err(error.at_line(number)));
        }
    }

    /// The history to which events and operations go.
    fn collected(&mut self) -> Option<&mut Collected> {
        if matches!(self.state, State::Between) {
            self.state = State::Within(Box::new(Collected::new(self.options)));
        }
        match &mut self.state {
            State::Within(collected) => Some(collected),
            State::Between | State::Broken => None,
        }
    }

    fn finish_history(&mut self) {
        let State::Within(collected) = std::mem::replace(&mut self.state, State::Between) else {
            return;
        };
        let Collected {
            line: first_line,
            about,
            builder,
            timed,
            note_line,
            ..
        } = *collected;
        self.finished.push(match note_line {
            Some(line) if timed => {
                let reason = "a note, or a crash of the whole system, has no place among operations with times";
                Err(Error::malformed(reason).at_line(line))
            }
            _ => self.record(first_line, about, builder),
        });
    }

    fn whole(&self, number: u64, whole: Whole<'_>) -> Result<RecordedHistory, Error> {
        let mut builder = self.options.builder();
        for operation in whole.operations {
            operation.add_to(&mut builder, number)?;
        }
        self.record(number, whole.about, builder)
    }

    fn record(
        &self,
        line: u64,
        about: About,
        mut builder: HistoryBuilder,
    ) -> Result<RecordedHistory, Error> {
        if about.ends_stuck {
            builder.end_stuck();
        }
        let ties = self.options.ties.or(about.ties).unwrap_or_default();
        Ok(RecordedHistory {
            line,
            history: builder.finish(ties)?.with_clients(about.clients.clone()),
            expected: about.expected,
            clock: about.clock.clone(),
            object_type: about.object_type(self.options),
            ..RecordedHistory::default()
        })
    }

    fn hand_over(&mut self, sink: &mut Sink<'_>) {
        self.finished
            .drain(..)
            .for_each(|recorded| sink.put(recorded));
    }
}

impl Collected {
    fn new(options: &ReadOptions) -> Self {
        Collected {
            line: 0,
            about: About::default(),
            builder: options.builder(),
            timed: false,
            note_line: None,
            stuck_line: None,
        }
    }

    /// Inlined, so that lines are not copied.
    #[inline]
    fn take(&mut self, number: u64, line: Line<'_>) -> Result<(), Error> {
        if let Some(end) = self.stuck_line {
            let reason =
                format!("the history ended on line {end}, stuck: only another one can follow");
            return Err(Error::malformed(reason));
        }
        match line {
            Line::Operation(operation) => {
                self.timed = true;
                operation.add_to(&mut self.builder, number)
            }
            Line::Event(event) => self.event(number, event),
            Line::Note { text, time } => {
                self.note_line.get_or_insert(number);
                self.builder.annotate_at(text, time);
                Ok(())
            }
            Line::CrashOfAll { time } => {
                self.note_line.get_or_insert(number);
                self.builder.crash_all(number, time)
            }
            Line::Stuck => {
                self.stuck_line = Some(number);
                self.builder.end_stuck();
                Ok(())
            }
            Line::Header(_) | Line::Whole(_) => unreachable!("bug: these begin another history"),
        }
    }

    fn event(&mut self, number: u64, event: EventLine<'_>) -> Result<(), Error> {
        let EventLine {
            process,
            kind,
            time,
            hint,
        } = event;
        let is_crash = matches!(kind, EventLineKind::Crash);
        match kind {
            EventLineKind::Call {
                object,
                method,
                argument,
            } => {
                let method = method.into_owned();
                let call = Call {
                    object,
                    method,
                    argument,
                };
                self.builder.call(number, process, call)?;
            }
            EventLineKind::Return { method, result } => {
                let called = self.builder.open_call(&process).map(|(called, _)| called);
                if let (Some(method), Some(called)) = (method, called)
                    && method != called
                {
                    let reason = format!(
                        "process {process} returns from {method:?} but had called {called:?}"
                    );
                    return Err(Error::malformed(reason));
                }
                self.builder.ret(number, &process, result)?;
            }
            EventLineKind::Fail => self.builder.fail(number, &process)?,
            EventLineKind::Crash => self.builder.crash(number, &process)?,
        }
        if let Some(hint) = hint {
            self.builder.hint(hint);
        }
        // A crash is not an event of the history.
        if let Some(time) = time.filter(|_| !is_crash) {
            self.builder.at(time);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
