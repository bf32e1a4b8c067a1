//! Where events go: into a file, line by line, or into memory.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::{CacheAligned, Ticks};
use crate::memory::Buffer;

/// Locks a mutex whose data is right even if a thread panicked with it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub(crate) enum Sink {
    File(CacheAligned<Mutex<LogFile>>),
    Memory {
        /// What the processes that are over have recorded.
        over: Mutex<Vec<Buffer>>,
    },
}

/// A file of events, which ends at the first event that could not be written.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: File,
    failure: Option<(io::ErrorKind, String)>,
}

impl LogFile {
    pub(crate) fn new(file: File) -> Self {
        LogFile {
            file,
            failure: None,
        }
    }

    /// Writes an event that happens now: `line` with the time. The order of the lines is the order of time, since the clock is read
    /// under the lock, and one call of the system writes all of it, so that a program which is killed leaves whole lines.
    pub(crate) fn event(&mut self, ticks: &Ticks, is_return: bool, line: &mut Vec<u8>) {
        let now = match is_return {
            true => ticks.ret(),
            false => ticks.call(),
        };
        // Writing into a vector never fails.
        let _ = writeln!(line, ",\"time\":{now}}}");
        self.write(line);
    }

    pub(crate) fn write(&mut self, line: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        self.failure = match self.file.write(line) {
            Ok(count) if count == line.len() => return,
            Ok(_) => Some((
                io::ErrorKind::WriteZero,
                "the last line of the recording is cut off".to_owned(),
            )),
            Err(error) => Some((
                error.kind(),
                format!("the recording cannot be written: {error}"),
            )),
        };
    }

    /// Why the file has not all events.
    pub(crate) fn failure(&self) -> io::Result<()> {
        match &self.failure {
            Some((kind, reason)) => Err(io::Error::new(*kind, reason.clone())),
            None => Ok(()),
        }
    }
}
