//! `linpoint convert`: histories in a format that linpoint writes.

use linpoint::Error;
use linpoint::format::{Format, write};

use crate::args::ConvertArgs;
use crate::exit::Exit;
use crate::files::Files;
use crate::source::{TypeChoice, type_of};

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<Exit> {
    let chosen = args.input.type_choice()?;
    let format = args.output.format()?;
    let mut files = Files::reading(&args.input.paths(chosen.as_ref()))?;
    let mut out = args.output.open(&mut files)?;
    let mut converted = 0;
    let exit = args.input.read_good(&mut |recorded| {
        // A history whose type is not known is written without one.
        let choice = type_of(&recorded, chosen.as_ref()).ok().flatten();
        let choice = choice.as_ref().and_then(TypeChoice::named);
        converted += 1;
        if converted > 1 && format != Format::Jsonl {
            let reason = format!("a {format} file holds one history, and this is the second");
            return Err(recorded.locate(Error::usage(reason)).into());
        }
        Ok(write(format, &recorded.history, choice, &mut out)?)
    })?;
    // If nothing could be read, an older file stays as it is.
    if converted > 0 || exit == Exit::Linearizable {
        out.finish()?;
    }
    Ok(exit)
}
