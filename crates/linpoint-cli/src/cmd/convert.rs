//! `linpoint convert`: histories in linpoint's own format.

use linpoint::format::write_jsonl;

use super::source::{Output, type_of};
use crate::args::ConvertArgs;
use crate::exit::Exit;

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<Exit> {
    let chosen = args.input.type_choice()?;
    let mut out = Output::new(args.output.as_deref())?;
    let mut exit = Exit::default();
    let mut failed = None;
    args.input.read(&mut |recorded| match recorded {
        Ok(recorded) if failed.is_none() => {
            // A history whose type nobody knows is written without one.
            let choice = type_of(&recorded, chosen.as_ref()).ok().flatten();
            let choice = choice
                .as_ref()
                .map(|choice| (choice.name.as_str(), &choice.params));
            failed = write_jsonl(&recorded.history, choice, &mut out).err();
        }
        Ok(_) => {}
        Err(error) => {
            eprintln!("linpoint: {error}");
            exit = exit.max(Exit::of_kind(error.kind()));
        }
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    out.finish()?;
    Ok(exit)
}
