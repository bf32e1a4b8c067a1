//! Recording of operations while they happen, as events in JSON lines.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use linpoint::Error;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use rustix::time::{ClockId, clock_gettime};

use crate::errors::raise;
use crate::values::{NoValue, write_json};

/// The log of a recorder, of which `linpoint.Recorder` tells.
///
/// Each event is one line, which is written by one call of the operating system before the method returns. Nothing is converted and
/// no lock of the interpreter is awaited while the log is locked.
#[pyclass(frozen, subclass, module = "linpoint._native")]
pub(crate) struct EventLog {
    log: Mutex<Log>,
    /// The exceptions after which an operation did not take effect.
    failed: Py<PyTuple>,
}

struct Log {
    out: Out,
    /// By the process as JSON.
    processes: HashMap<Vec<u8>, Process>,
    events: u64,
}

enum Out {
    Memory(Vec<u8>),
    File(File),
    /// Why nothing more is written.
    Over(String),
}

#[derive(Default)]
struct Process {
    /// The method of the call that is open.
    open: Option<Box<str>>,
    /// How many of its calls never returned. After each of them it goes on under another name.
    lost: u32,
}

/// How an operation ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Returned,
    /// It did not take effect.
    Failed,
    /// It may have taken effect, or may do so later.
    Unknown,
}

#[pymethods]
impl EventLog {
    #[new]
    #[pyo3(signature = (path, header, append, failed))]
    fn new(
        path: Option<PathBuf>,
        header: Option<&str>,
        append: bool,
        failed: Py<PyTuple>,
    ) -> PyResult<Self> {
        let mut out = match path {
            None => Out::Memory(Vec::new()),
            Some(path) => {
                let mut options = OpenOptions::new();
                options.append(true).create(append).create_new(!append);
                Out::File(options.open(path)?)
            }
        };
        if let Some(header) = header {
            out.write(format!("{header}\n").as_bytes())
                .map_err(PyOSError::new_err)?;
        }
        let log = Log {
            out,
            processes: HashMap::new(),
            events: 0,
        };
        Ok(EventLog {
            log: Mutex::new(log),
            failed,
        })
    }

    /// An operation that is to be recorded: `with recorder.op(process, method, arg) as op:`.
    #[pyo3(signature = (process, method, arg=None, *, object=None))]
    fn op(
        slf: Py<Self>,
        process: &Bound<'_, PyAny>,
        method: &str,
        arg: Option<&Bound<'_, PyAny>>,
        object: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Op> {
        let py = process.py();
        let mut name = Vec::new();
        json(process, &mut name)?;
        let mut call = Vec::with_capacity(64);
        call.extend_from_slice(b",\"event\":\"call\",\"method\":");
        // Text is always JSON.
        let _ = serde_json::to_writer(&mut call, method);
        for (key, value) in [("arg", arg), ("object", object)] {
            if let Some(value) = value {
                let _ = write!(call, ",\"{key}\":");
                json(value, &mut call)?;
            }
        }
        Ok(Op {
            log: slf,
            process: name,
            method: method.into(),
            call,
            ret: py.None(),
            told: None,
            state: State::New,
        })
    }

    /// Writes a note beside the operations.
    fn note(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        let text = serde_json::Value::from(text);
        let written = self.lock().event(|line, time| {
            let _ = write!(
                line,
                "{{\"event\":\"note\",\"text\":{text},\"time\":{time}}}"
            );
        });
        written.map_err(|error| failure(py, error))
    }

    /// The lines so far, if they are kept in memory.
    fn lines<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let lines = self.in_memory()?;
        Some(PyBytes::new(py, &lines))
    }

    /// How many events were written.
    #[getter]
    fn events(&self) -> u64 {
        self.lock().events
    }

    /// Ends the recording: whatever is recorded later is refused. What is in memory stays there.
    fn close(&self) {
        let mut log = self.lock();
        if matches!(log.out, Out::File(_)) {
            log.out = Out::Over("the recorder is closed".to_owned());
        }
    }
}

impl EventLog {
    /// The lines so far, if they are kept in memory.
    pub(crate) fn in_memory(&self) -> Option<Vec<u8>> {
        match &self.lock().out {
            Out::Memory(lines) => Some(lines.clone()),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why an event was not written.
enum Unwritten {
    /// The process has another call open.
    Open(String),
    /// The file cannot be written.
    File(String),
}

fn failure(py: Python<'_>, error: Unwritten) -> PyErr {
    match error {
        Unwritten::Open(reason) => raise(py, &Error::usage(reason)),
        Unwritten::File(reason) => PyOSError::new_err(reason),
    }
}

impl Out {
    fn write(&mut self, line: &[u8]) -> Result<(), String> {
        let written = match self {
            Out::Memory(lines) => {
                lines.extend_from_slice(line);
                return Ok(());
            }
            // One call for the line, so that a process that is killed leaves whole lines.
            Out::File(file) => file.write(line),
            Out::Over(reason) => return Err(reason.clone()),
        };
        let reason = match written {
            Ok(count) if count == line.len() => return Ok(()),
            Ok(_) => "the last line of the recording is cut off: the disk is full".to_owned(),
            Err(error) => format!("the recording cannot be written: {error}"),
        };
        *self = Out::Over(reason.clone());
        Err(reason)
    }
}

impl Log {
    /// Writes the line that `write` makes with the time of now.
    fn event(&mut self, write: impl FnOnce(&mut Vec<u8>, u64)) -> Result<(), Unwritten> {
        let now = clock_gettime(ClockId::Monotonic);
        let time = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        let written = if let Out::Memory(lines) = &mut self.out {
            write(lines, time);
            lines.push(b'\n');
            Ok(())
        } else {
            let mut line = Vec::with_capacity(128);
            write(&mut line, time);
            line.push(b'\n');
            self.out.write(&line)
        };
        self.events += 1;
        written.map_err(Unwritten::File)
    }

    fn call(&mut self, process: &[u8], method: &str, call: &[u8]) -> Result<(), Unwritten> {
        let known = match self.processes.get_mut(process) {
            Some(known) => known,
            None => self.processes.entry(process.to_vec()).or_default(),
        };
        if let Some(open) = &known.open {
            let name = String::from_utf8_lossy(process);
            return Err(Unwritten::Open(format!(
                "process {name} calls {method:?} while its call of {open:?} is open: operations that overlap are of different processes"
            )));
        }
        known.open = Some(method.into());
        let lost = known.lost;
        let written = self.event(|line, time| {
            line.extend_from_slice(b"{\"process\":");
            write_process(process, lost, line);
            line.extend_from_slice(call);
            let _ = write!(line, ",\"time\":{time}}}");
        });
        if written.is_err()
            && let Some(known) = self.processes.get_mut(process)
        {
            known.open = None;
        }
        written
    }

    fn end(&mut self, process: &[u8], end: End, ret: &[u8]) -> Result<(), Unwritten> {
        let mut lost = 0;
        if let Some(known) = self.processes.get_mut(process) {
            known.open = None;
            lost = known.lost;
            known.lost += u32::from(end == End::Unknown);
        }
        self.event(|line, time| {
            line.extend_from_slice(b"{\"process\":");
            write_process(process, lost, line);
            line.extend_from_slice(match end {
                End::Returned => b",\"event\":\"return\",\"ret\":".as_slice(),
                End::Failed => b",\"event\":\"fail\"",
                End::Unknown => b",\"event\":\"crash\"",
            });
            line.extend_from_slice(ret);
            let _ = write!(line, ",\"time\":{time}}}");
        })
    }
}

/// Writes the name of a process: `3`, and `"3/2"` after one call of it never returned.
fn write_process(process: &[u8], lost: u32, line: &mut Vec<u8>) {
    if lost == 0 {
        line.extend_from_slice(process);
        return;
    }
    let name = serde_json::from_slice::<String>(process);
    let name = name.unwrap_or_else(|_| String::from_utf8_lossy(process).into_owned());
    // Text is always JSON.
    let _ = serde_json::to_writer(line, &format!("{name}/{}", lost + 1));
}

fn json(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    write_json(value, out).map_err(|NoValue(reason)| raise(value.py(), &Error::malformed(reason)))
}

/// How far an operation is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Called,
    Over,
}

/// An operation that is recorded: its call when the block begins, and its end when the block ends.
#[pyclass(module = "linpoint._native")]
pub(crate) struct Op {
    log: Py<EventLog>,
    process: Vec<u8>,
    method: Box<str>,
    call: Vec<u8>,
    /// What the operation returned; None for nothing.
    #[pyo3(get, set)]
    ret: Py<PyAny>,
    told: Option<End>,
    state: State,
}

#[pymethods]
impl Op {
    fn __enter__(mut slf: PyRefMut<'_, Self>) -> PyResult<PyRefMut<'_, Self>> {
        if slf.state != State::New {
            return Err(PyRuntimeError::new_err("an operation is recorded once"));
        }
        let called = slf
            .log
            .get()
            .lock()
            .call(&slf.process, &slf.method, &slf.call);
        called.map_err(|error| failure(slf.py(), error))?;
        slf.state = State::Called;
        Ok(slf)
    }

    fn __exit__(
        &mut self,
        py: Python<'_>,
        class: &Bound<'_, PyAny>,
        exception: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if self.state != State::Called {
            return Ok(false);
        }
        self.state = State::Over;
        let end = match self.told {
            Some(told) => told,
            None if class.is_none() => End::Returned,
            None if exception.is_instance(self.log.get().failed.bind(py))? => End::Failed,
            None => End::Unknown,
        };
        let mut ret = Vec::new();
        let result = match end {
            End::Returned => json(self.ret.bind(py), &mut ret),
            End::Failed | End::Unknown => Ok(()),
        };
        // It took effect with a result that cannot be recorded.
        let end = if result.is_err() { End::Unknown } else { end };
        if result.is_err() {
            ret.clear();
        }
        let ended = self.log.get().lock().end(&self.process, end, &ret);
        result.and(ended.map_err(|error| failure(py, error)))?;
        Ok(false)
    }

    /// Records that the operation did not take effect, whatever comes of the block.
    fn fail(&mut self) {
        self.told = Some(End::Failed);
    }

    /// Records that the operation may have taken effect or not, whatever comes of the block.
    fn unknown(&mut self) {
        self.told = Some(End::Unknown);
    }
}
