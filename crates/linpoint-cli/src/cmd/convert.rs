//! `linpoint convert`: histories in linpoint's own format.

use linpoint::format::write_jsonl;

use super::source::{Output, type_of};
use crate::args::ConvertArgs;
use crate::exit::Exit;

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<Exit> {
    let chosen = args.input.type_choice()?;
    let mut out = Output::new(args.output.as_deref())?;
    let mut converted = 0;
    let exit = args.input.read_good(&mut |recorded| {
        // A history whose type nobody knows is written without one.
        let choice = type_of(&recorded, chosen.as_ref()).ok().flatten();
        let choice = choice
            .as_ref()
            .map(|choice| (choice.name.as_str(), &choice.params));
        converted += 1;
        write_jsonl(&recorded.history, choice, &mut out)
    })?;
    // Where nothing could be read there is nothing to write, least of all over a file that is there.
    if converted > 0 || exit == Exit::Linearizable {
        out.finish()?;
    }
    Ok(exit)
}
