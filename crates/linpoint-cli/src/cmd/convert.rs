//! `linpoint convert`: histories in a format that linpoint writes.

use std::collections::BTreeSet;

use linpoint::format::{Format, write};
use linpoint::spec::Params;
use linpoint::transaction::Model;
use linpoint::{Error, History};

use crate::args::ConvertArgs;
use crate::exit::Exit;
use crate::files::{self, Files};
use crate::interrupt;
use crate::source::{TypeChoice, type_of, with_params};

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<Exit> {
    let chosen = args.input.type_choice()?;
    let format = args.output.format()?;
    let mut files = Files::reading(&args.input.paths(chosen.as_ref()))?;
    interrupt::end_after(files::remove_incomplete);
    let mut out = args.output.open(&mut files)?;
    let mut converted = 0;
    let mut noted = BTreeSet::new();
    let exit = args.input.read_good(&mut |recorded| {
        // A history whose type is not known is written without one.
        let choice = type_of(&recorded, chosen.as_ref()).ok().flatten();
        // Transactions on lists have the method of those on registers, and no type of an object.
        let is_guess = chosen.is_none() && recorded.object_type.is_none();
        let choice = choice.filter(|_| !is_guess || !is_on_lists(&recorded.history));
        let choice = choice.as_ref().and_then(TypeChoice::named);
        converted += 1;
        if converted > 1 && !format.holds_several() {
            let reason = format!("a file of {format} holds one history, and this is the second");
            return Err(recorded.locate(Error::usage(reason)).into());
        }
        write(format, &recorded.history, choice, &mut out)?;
        note_type(format, choice, &mut noted);
        Ok(())
    })?;
    // If nothing could be read, an older file stays as it is.
    if converted > 0 || exit == Exit::Linearizable {
        out.finish()?;
    }
    Ok(exit)
}

/// Whether a history is one of transactions on lists.
fn is_on_lists(history: &History) -> bool {
    matches!(Model::of(history, None), Ok(Model::Lists))
        && history.methods().iter().any(|method| method == "txn")
}

/// Says once of each type that a format does not tell what the file does not say.
fn note_type(format: Format, choice: Option<(&str, &Params)>, noted: &mut BTreeSet<String>) {
    let Some((name, params)) = choice.filter(|(_, params)| !format.tells_type(params)) else {
        return;
    };
    let name = with_params(name, params);
    if noted.insert(name.clone()) {
        eprintln!(
            "linpoint: note: {format} does not tell the type of the object: read it with --type '{name}'"
        );
    }
}
