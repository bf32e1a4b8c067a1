//! `linpoint map`: proposes a mapping for a log.

use std::io::{ErrorKind, Read, Write};

use linpoint::Error;
use linpoint::format::{Mapping, open_text};

use crate::args::{MapArgs, MapCommand};
use crate::exit::Exit;
use crate::files::Output;

/// A guess needs the first records only; a JSON array is read to its end, though, up to this size.
const MOST_BYTES: u64 = 256 << 20;

pub(crate) fn run(args: &MapArgs) -> anyhow::Result<Exit> {
    let MapCommand::Guess { file } = &args.command;
    let name = file.to_string_lossy();
    let mut text = String::new();
    let read = open_text(file)?.take(MOST_BYTES).read_to_string(&mut text);
    read.map_err(|error| {
        let reason = error.to_string();
        let error = match error.kind() {
            ErrorKind::InvalidData => Error::malformed("not UTF-8 text"),
            _ => Error::unreadable(reason),
        };
        error.in_file(&name)
    })?;
    let guess = Mapping::guess(&text).map_err(|error| error.in_file(&name))?;
    let mut out = Output::standard();
    for about in &guess.unsure {
        writeln!(out, "# Unsure: {about}.")?;
    }
    write!(out, "{}", guess.toml)?;
    match &guess.operations {
        Ok(operations) => {
            writeln!(out, "# The first operations, as this mapping reads them:")?;
            for operation in operations {
                writeln!(out, "#   {operation}")?;
            }
        }
        Err(error) => writeln!(out, "# This mapping does not read the log yet: {error}")?,
    }
    out.finish()?;
    Ok(Exit::Linearizable)
}
