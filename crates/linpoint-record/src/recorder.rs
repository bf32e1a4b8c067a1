//! The recorder, its processes, and their operations.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::clock::{CacheAligned, Clock, Ticks};
use crate::header::Header;
use crate::json::Json;
use crate::memory::{Buffer, Recording};
use crate::sink::{LogFile, Sink, lock};

/// Records what processes call and get. Clones record into the same history.
///
/// ```
/// use linpoint_record::{Clock, Recorder};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let register = AtomicU64::new(0);
/// let recorder = Recorder::in_memory("register", Clock::Counter);
/// std::thread::scope(|scope| {
///     for value in 1..=2 {
///         let (mut process, register) = (recorder.process(), &register);
///         scope.spawn(move || {
///             process.run("write", value, || register.store(value, Ordering::SeqCst));
///             process.run("read", (), || register.load(Ordering::SeqCst));
///         });
///     }
/// });
/// let recording = recorder.finish()?;
/// assert_eq!(recording.events(), 8);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    ticks: Ticks,
    sink: Sink,
    header: Vec<u8>,
    /// The number of the next process, and how many are not over.
    processes: AtomicUsize,
    open: AtomicUsize,
}

impl Recorder {
    /// Records into a new file, which must not exist. Every event is in the file before the program goes on, so the file has all that
    /// happened before the program was killed: what had returned, and what was asked for.
    ///
    /// Times are those of the system's monotonic clock. The header says how they relate to the clocks of other logs.
    pub fn create(path: impl AsRef<Path>, header: impl Into<Header>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = LogFile::new(options.append(true).create_new(true).open(path)?);
        let ticks = Ticks::start(Clock::Time);
        let header = header.into().line(&ticks, Clock::Time);
        file.write(&header);
        file.failure()?;
        let sink = Sink::File(CacheAligned(Mutex::new(file)));
        Ok(Recorder::new(ticks, sink, header))
    }

    /// Records in memory, where threads share nothing but the clock; [`Recorder::finish`] has the history.
    pub fn in_memory(header: impl Into<Header>, clock: Clock) -> Self {
        let ticks = Ticks::start(clock);
        let header = header.into().line(&ticks, clock);
        let over = Mutex::default();
        Recorder::new(ticks, Sink::Memory { over }, header)
    }

    fn new(ticks: Ticks, sink: Sink, header: Vec<u8>) -> Self {
        Recorder(Arc::new(Shared {
            ticks,
            sink,
            header,
            processes: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        }))
    }

    /// A process, which makes one call at a time: a thread, a task, a client. It has the next number as its name.
    pub fn process(&self) -> Process {
        let number = self.0.processes.fetch_add(1, Ordering::Relaxed);
        Process::new(&self.0, number.to_string(), number.to_json())
    }

    /// A process with a name of its own, which no other process of the recording has.
    pub fn process_named(&self, name: &str) -> Process {
        Process::new(&self.0, name.to_owned(), name.to_json())
    }

    /// Writes a note beside the operations: a fault that was injected, a phase of the test. The page shows it.
    pub fn note(&self, text: &str) {
        let mut line = b"{\"event\":\"note\",\"text\":".to_vec();
        text.write_json(&mut line);
        match &self.0.sink {
            Sink::File(file) => lock(&file.0).event(&self.0.ticks, false, &mut line),
            Sink::Memory { over, .. } => {
                let mut buffer = Buffer::default();
                buffer.text().append(&mut line);
                buffer.add(self.0.ticks.call(), false);
                lock(over).push(buffer);
            }
        }
    }

    /// Whether all events so far are in the file; recording goes on silently after the first one that could not be written, which
    /// ends the history.
    pub fn status(&self) -> io::Result<()> {
        match &self.0.sink {
            Sink::File(file) => lock(&file.0).failure(),
            Sink::Memory { .. } => Ok(()),
        }
    }

    /// Ends a recording in memory. All processes must have been dropped: without their events, those of others could look wrong.
    ///
    /// Of a recording in a file, this tells whether the file has all events; what it returns is empty.
    pub fn finish(&self) -> io::Result<Recording> {
        self.status()?;
        let open = self.0.open.load(Ordering::Acquire);
        let buffers = match &self.0.sink {
            Sink::File(_) => Vec::new(),
            Sink::Memory { .. } if open > 0 => {
                let reason = format!("{open} processes still record: drop them first");
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, reason));
            }
            Sink::Memory { over, .. } => std::mem::take(&mut *lock(over)),
        };
        Ok(Recording::new(self.0.header.clone(), buffers))
    }
}

/// What makes one call at a time. It can be moved between threads and tasks.
#[derive(Debug)]
pub struct Process {
    shared: Arc<Shared>,
    name: String,
    /// The name as it is written at present.
    json: String,
    /// How many of its operations never returned, and whether one is open: if it was forgotten, it never returns.
    lost: u32,
    is_open: bool,
    buffer: Buffer,
    /// The line of an event that goes into a file.
    line: Vec<u8>,
}

impl Process {
    fn new(shared: &Arc<Shared>, name: String, json: String) -> Self {
        shared.open.fetch_add(1, Ordering::Relaxed);
        Process {
            shared: shared.clone(),
            name,
            json,
            lost: 0,
            is_open: false,
            buffer: Buffer::default(),
            line: Vec::new(),
        }
    }

    /// Records that the process calls now. The caller makes the call, and then says how it ended.
    ///
    /// ```
    /// # use linpoint_record::{Clock, Recorder};
    /// # let recorder = Recorder::in_memory("register", Clock::Time);
    /// # let mut process = recorder.process();
    /// # fn ask() -> Result<i64, std::io::ErrorKind> { Err(std::io::ErrorKind::TimedOut) }
    /// let read = process.call("read", ());
    /// match ask() {
    ///     Ok(value) => read.returned(value),
    ///     Err(std::io::ErrorKind::ConnectionRefused) => read.failed(),
    ///     Err(_) => read.unknown(),
    /// }
    /// ```
    pub fn call(&mut self, method: &str, argument: impl Json) -> Operation<'_> {
        self.begin(None, method, &argument)
    }

    /// Records a call of one of several objects.
    pub fn call_on(
        &mut self,
        object: impl Json,
        method: &str,
        argument: impl Json,
    ) -> Operation<'_> {
        let object = object.to_json();
        self.begin(Some(&object), method, &argument)
    }

    /// Records a call that takes the time of `operation`, and returns what it returns. If it panics, its end is unknown.
    pub fn run<R: Json>(
        &mut self,
        method: &str,
        argument: impl Json,
        operation: impl FnOnce() -> R,
    ) -> R {
        let open = self.call(method, argument);
        let result = operation();
        open.returned(&result);
        result
    }

    fn begin(&mut self, object: Option<&str>, method: &str, argument: &dyn Json) -> Operation<'_> {
        if self.is_open {
            self.end("crash", None);
        }
        let line = self.start_line("call");
        line.extend_from_slice(b",\"method\":");
        method.write_json(line);
        if let Some(object) = object {
            line.extend_from_slice(b",\"object\":");
            line.extend_from_slice(object.as_bytes());
        }
        write_value("arg", argument, line);
        self.is_open = true;
        let Shared { sink, ticks, .. } = &*self.shared;
        match sink {
            Sink::File(file) => lock(&file.0).event(ticks, false, &mut self.line),
            Sink::Memory { .. } => {
                let last = self.buffer.last();
                let mut now = ticks.call();
                // On a coarse clock, a call must not be at the time of the return before it: at one time, calls come first.
                while last.is_some_and(|last| now <= last) {
                    now = ticks.call();
                }
                self.buffer.add(now, false);
            }
        }
        Operation { process: self }
    }

    /// Records the end of the open operation, which is now.
    fn end(&mut self, event: &str, result: Option<&dyn Json>) {
        let shared = self.shared.clone();
        // In memory the time is read first, so that no time is added to the operation.
        let now = match shared.sink {
            Sink::File(_) => 0,
            Sink::Memory { .. } => shared.ticks.ret(),
        };
        let line = self.start_line(event);
        if let Some(result) = result {
            write_value("ret", result, line);
        }
        match &shared.sink {
            Sink::File(file) => lock(&file.0).event(&shared.ticks, true, &mut self.line),
            Sink::Memory { .. } => self.buffer.add(now, true),
        }
        self.is_open = false;
        if event == "crash" {
            self.lost += 1;
            self.json = format!("{}/{}", self.name, self.lost + 1).to_json();
        }
    }

    /// The beginning of an event, to which more is written.
    fn start_line(&mut self, event: &str) -> &mut Vec<u8> {
        let line = match self.shared.sink {
            Sink::File(_) => {
                self.line.clear();
                &mut self.line
            }
            Sink::Memory { .. } => self.buffer.text(),
        };
        line.extend_from_slice(b"{\"process\":");
        line.extend_from_slice(self.json.as_bytes());
        line.extend_from_slice(b",\"event\":\"");
        line.extend_from_slice(event.as_bytes());
        line.push(b'"');
        line
    }
}

/// Writes a key with its value, unless that is nothing, which is the same as no key.
fn write_value(key: &str, value: &dyn Json, line: &mut Vec<u8>) {
    let start = line.len();
    line.extend_from_slice(b",\"");
    line.extend_from_slice(key.as_bytes());
    line.extend_from_slice(b"\":");
    let value_start = line.len();
    value.write_json(line);
    if &line[value_start..] == b"null" {
        line.truncate(start);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Sink::Memory { over } = &self.shared.sink {
            lock(over).push(std::mem::take(&mut self.buffer));
        }
        self.shared.open.fetch_sub(1, Ordering::Release);
    }
}

/// An operation between its call and its end. If it is dropped without an end (a task that is cancelled, a panic, an early return), its end
/// is unknown.
#[derive(Debug)]
#[must_use = "dropped, the operation never returned"]
pub struct Operation<'a> {
    process: &'a mut Process,
}

impl Operation<'_> {
    /// It returned this; `()` for nothing.
    pub fn returned(self, result: impl Json) {
        self.process.end("return", Some(&result));
    }

    /// It certainly did not take effect, and never will: it was refused, or never sent.
    pub fn failed(self) {
        self.process.end("fail", None);
    }

    /// It may have taken effect, or may do so later: a time-out, a lost connection. The process goes on under another name, such as
    /// `3/2`, since this operation stays open.
    pub fn unknown(self) {}
}

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        if self.process.is_open {
            self.process.end("crash", None);
        }
    }
}
