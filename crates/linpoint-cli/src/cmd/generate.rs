//! `linpoint generate`: a history from a simulated concurrent object.

use linpoint::format::write;
use linpoint::generate::{Generator, SnapshotFault, SnapshotGenerator, SnapshotShape};
use linpoint::object::ObjectType;
use linpoint::{Checker, Config, Error, History};

use crate::args::GenerateArgs;
use crate::exit::Exit;
use crate::files::{self, Files};
use crate::interrupt;
use crate::source::TypeChoice;

pub(crate) fn run(args: &GenerateArgs) -> anyhow::Result<Exit> {
    let choice = args.object.choice()?;
    let choice =
        choice.ok_or_else(|| Error::usage("name a type with --type, --spec or --model-cmd"))?;
    let object = choice.build()?;
    if !(0.0..=100.0).contains(&args.pending) {
        return Err(Error::usage("--pending is a share in percent, from 0 to 100").into());
    }
    if args.pending > 0.0 && per_million(args.pending) == 0 {
        let reason =
            "--pending is too small: the least share is one of a million operations, 0.0001";
        return Err(Error::usage(reason).into());
    }
    let format = args.output.format()?;
    // The file is opened first, so that one that cannot be written is reported at once.
    let mut files = Files::reading(choice.file().as_slice())?;
    interrupt::end_after(files::remove_incomplete);
    let mut out = args.output.open(&mut files)?;
    let history = match snapshot_shape(args, &choice)? {
        Some(shape) => snapshot(args, shape)?,
        None => simulated(args, &object)?,
    };
    write(format, &history, choice.named(), &mut out)?;
    out.finish()?;
    Ok(Exit::Linearizable)
}

fn simulated(args: &GenerateArgs, object: &ObjectType) -> Result<History, Error> {
    let generator = Generator {
        ops: args.ops,
        processes: args.processes,
        producers: args.producers,
        objects: args.objects,
        seed: args.seed,
        pending_per_million: per_million(args.pending),
        idle_percent: args.idle,
        universe: args.values,
    };
    match args.violation {
        None => generator.linearizable(object),
        Some(None) => {
            let checker = Checker::new(Config::default().verdicts_only());
            generator.violating(object, &checker)
        }
        Some(Some(_)) => {
            let reason = "a kind of violation takes --type snapshot with --simple or --general";
            Err(Error::usage(reason))
        }
    }
}

/// The shape of snapshot histories, if the arguments name one.
fn snapshot_shape(
    args: &GenerateArgs,
    choice: &TypeChoice,
) -> Result<Option<SnapshotShape>, Error> {
    let shape = match (args.simple, args.general) {
        (true, _) => SnapshotShape::Simple,
        (_, true) => SnapshotShape::General,
        _ => return Ok(None),
    };
    if choice.name != "snapshot" || !choice.params.is_empty() {
        let reason = "--simple and --general are for --type snapshot, without parameters";
        return Err(Error::usage(reason));
    }
    let unused = [
        (args.producers.is_some(), "--producers"),
        (args.objects != 1, "--objects"),
        (args.idle != 0, "--idle"),
        (args.values.is_some(), "--values"),
    ];
    match unused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(Error::usage(format!(
            "{option} does not go with --simple or --general"
        ))),
        None => Ok(Some(shape)),
    }
}

fn snapshot(args: &GenerateArgs, shape: SnapshotShape) -> Result<History, Error> {
    let fault = match args.violation {
        None => None,
        Some(Some(fault)) => Some(fault),
        // The seed chooses the kind, so that equal seeds give equal histories.
        Some(None) => {
            let kinds = SnapshotFault::NAMES;
            Some(kinds[(args.seed % kinds.len() as u64) as usize].1)
        }
    };
    let processes = u32::try_from(args.processes);
    let generator = SnapshotGenerator {
        ops: args.ops,
        processes: processes.map_err(|_| Error::usage("these are too many processes"))?,
        seed: args.seed,
        shape,
        pending_per_million: per_million(args.pending),
        fault,
    };
    generator.history()
}

/// A share in percent, as the generators count it.
fn per_million(percent: f64) -> u32 {
    (percent * 10_000.0).round() as u32
}

#[cfg(test)]
mod tests {
    use super::per_million;

    #[test]
    fn small_shares_are_not_rounded_away() {
        assert_eq!(
            [0.0, 0.0001, 0.01, 100.0].map(per_million),
            [0, 1, 100, 1_000_000]
        );
    }
}
