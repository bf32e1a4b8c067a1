//! Reads lines or events from the standard input, or from a file that may still grow.
//!
//! A separate thread reads, so that Ctrl-C takes effect while it waits for input.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use linpoint::Error;

/// The most bytes that are read at a time.
const CHUNK: usize = 64 * 1024;

/// The interval at which the file is checked for growth, and for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(50);

/// What to do at the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    Stop,
    /// Wait until the file grows.
    Wait,
}

/// The unit of the input: a line of JSON, or an event of the format `snapshot`, several of which may be on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Line,
    Event,
}

impl Unit {
    /// Returns the unit by the beginning of the input; `None` if it is blank.
    fn of(input: &[u8]) -> Option<Self> {
        match input.trim_ascii_start().first()? {
            b's' | b'e' => Some(Unit::Event),
            _ => Some(Unit::Line),
        }
    }

    /// The byte that ends a unit.
    pub(crate) fn end(self) -> u8 {
        match self {
            Unit::Line => b'\n',
            Unit::Event => b';',
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Line => "line",
            Unit::Event => "event",
        }
    }
}

type Read = io::Result<(Unit, Vec<u8>)>;

/// A source of complete lines, in pieces of some lines each.
pub(crate) struct Lines {
    pieces: Receiver<Read>,
}

/// A part of the input.
pub(crate) enum Piece {
    /// Some complete lines or events.
    Whole(Unit, Vec<u8>),
    /// No input yet.
    Nothing,
    End,
}

impl Lines {
    /// Opens `path`; `-` is the standard input.
    pub(crate) fn open(path: &Path, at_end: AtEnd) -> Result<Self, Error> {
        let (sender, pieces) = sync_channel(4);
        if path.as_os_str() == "-" {
            thread::spawn(move || read(io::stdin(), AtEnd::Stop, &sender));
            return Ok(Lines { pieces });
        }
        let file = File::open(path).map_err(|error| Error::unreadable(error.to_string()))?;
        thread::spawn(move || read(file, at_end, &sender));
        Ok(Lines { pieces })
    }

    /// Waits for lines, for a short time.
    pub(crate) fn next(&self) -> io::Result<Piece> {
        match self.pieces.recv_timeout(PAUSE) {
            Ok(piece) => piece.map(|(unit, bytes)| Piece::Whole(unit, bytes)),
            Err(RecvTimeoutError::Timeout) => Ok(Piece::Nothing),
            Err(RecvTimeoutError::Disconnected) => Ok(Piece::End),
        }
    }
}

/// Reads to the end, or until the receiver is dropped.
fn read(mut input: impl io::Read, at_end: AtEnd, sender: &SyncSender<Read>) {
    let mut buffer = vec![0; CHUNK];
    let mut pending = Vec::new();
    let mut unit = None;
    loop {
        let piece = match input.read(&mut buffer) {
            Ok(0) if at_end == AtEnd::Wait => {
                thread::sleep(PAUSE);
                continue;
            }
            Ok(0) => break,
            Ok(count) => {
                let read = &buffer[..count];
                unit = unit.or_else(|| Unit::of(read));
                let known = unit.unwrap_or(Unit::Line);
                // A line is complete when its end was read.
                let Some(end) = read.iter().rposition(|&byte| byte == known.end()) else {
                    pending.extend_from_slice(read);
                    continue;
                };
                pending.extend_from_slice(&read[..=end]);
                let lines = std::mem::replace(&mut pending, read[end + 1..].to_vec());
                Ok((known, lines))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_over = piece.is_err();
        if sender.send(piece).is_err() || is_over {
            return;
        }
    }
    if !pending.is_empty() {
        // The receiver may be dropped already: then the rest is not needed.
        let _ = sender.send(Ok((unit.unwrap_or(Unit::Line), pending)));
    }
}
