//! `linpoint generate`: a history from a simulated concurrent object.

mod rows;

use linpoint::format::{
    Columns, Format, Row, RowHeader, RowOrder, RowProgress, RowWriter, write, write_jsonl_call,
    write_jsonl_header, write_jsonl_return,
};
use linpoint::generate::{
    GeneratedEvent, Generator, Promise, SnapshotFault, SnapshotGenerator, SnapshotShape,
    StoreGenerator,
};
use linpoint::history::Clients;
use linpoint::object::ObjectType;
use linpoint::spec::Params;
use linpoint::{Checker, Config, Error, History};

use self::rows::Rows;
use crate::args::GenerateArgs;
use crate::exit::Exit;
use crate::files::{self, Files, Output};
use crate::interrupt;
use crate::progress::{StreamProgress, Watcher};
use crate::source::TypeChoice;

/// Operations of a row group, which is encoded in memory before it is written.
const ROW_GROUP: usize = 1 << 20;

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
    let source = match (&args.model, snapshot_shape(args, &choice)?) {
        (Some(name), _) => Source::Store(store(args, &choice, name)?),
        (None, Some(shape)) => Source::Snapshot(snapshot(args, shape)?),
        (None, None) => Source::Simulated(simulated(args)?, object),
    };
    let progress = StreamProgress::default();
    progress.watch(&Watcher::new(), "generated", || {
        source.write(args, format, choice.named(), &mut out, &progress.read)
    })?;
    out.finish()?;
    Ok(Exit::Linearizable)
}

/// Where a history comes from.
enum Source {
    Simulated(Generator, ObjectType),
    Snapshot(SnapshotGenerator),
    Store(StoreGenerator),
}

impl Source {
    /// Writes the history: event by event or operation by operation where the format and what is asked for allow it.
    fn write(
        &self,
        args: &GenerateArgs,
        format: Format,
        object_type: Option<(&str, &Params)>,
        out: &mut Output,
        progress: &RowProgress,
    ) -> anyhow::Result<()> {
        let is_checked = args.violation.is_some() && matches!(self, Source::Simulated(..));
        match format {
            Format::Jsonl if !is_checked => {
                progress.expect(args.ops as u64);
                // The header comes with the first event, so that what is refused leaves none.
                let mut has_begun = false;
                self.each_event(&mut |event| {
                    if !std::mem::replace(&mut has_begun, true) {
                        write_jsonl_header(object_type, out)?;
                    }
                    match event {
                        GeneratedEvent::Call(process, call) => {
                            progress.add(1, 1);
                            write_jsonl_call(&process, &call, out)
                        }
                        GeneratedEvent::Return(process, result) => {
                            write_jsonl_return(&process, &result, out)
                        }
                        GeneratedEvent::Crash(_) => Ok(()),
                    }
                })?;
                if !has_begun {
                    write_jsonl_header(object_type, out)?;
                }
                Ok(())
            }
            Format::Parquet if !is_checked => self.write_rows(args, object_type, out, progress),
            _ => {
                let history = match self {
                    Source::Simulated(generator, object) => {
                        simulated_history(args, generator, object)?
                    }
                    Source::Snapshot(generator) => generator.history()?,
                    Source::Store(generator) => generator.history()?,
                };
                Ok(write(format, &history, object_type, out)?)
            }
        }
    }

    /// Writes Parquet. The history is generated twice: what its columns hold must be known before the first operation is written.
    fn write_rows(
        &self,
        args: &GenerateArgs,
        object_type: Option<(&str, &Params)>,
        out: &mut Output,
        progress: &RowProgress,
    ) -> anyhow::Result<()> {
        progress.expect(2 * args.ops as u64);
        let mut columns = Columns::default();
        self.each_row(&mut |row| {
            progress.add(0, 1);
            columns.look_at(row);
            Ok(())
        })?;
        let header = RowHeader {
            object_type,
            ties: None,
            clients: &Clients::new(),
            order: RowOrder::Events,
            columns,
        };
        let mut writer = RowWriter::new(Format::Parquet, header, ROW_GROUP, out)?;
        self.each_row(&mut |row| {
            progress.add(1, 1);
            writer.write(row)
        })?;
        Ok(writer.finish()?)
    }

    fn each_row(&self, each: &mut dyn FnMut(&Row) -> std::io::Result<()>) -> anyhow::Result<()> {
        let mut rows = Rows::default();
        let mut failed = None;
        let mut each = |row: &Row| each(row).map_err(|error| stop(error, &mut failed));
        let passed = self.pass_events(&mut |event| rows.take(event, &mut each));
        let passed = passed.and_then(|()| rows.finish(&mut each));
        failed.map_or(Ok(passed?), |error| Err(error.into()))
    }

    fn each_event(
        &self,
        each: &mut dyn FnMut(GeneratedEvent) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let mut failed = None;
        let passed =
            self.pass_events(&mut |event| each(event).map_err(|error| stop(error, &mut failed)));
        failed.map_or(Ok(passed?), |error| Err(error.into()))
    }

    fn pass_events(
        &self,
        each: &mut dyn FnMut(GeneratedEvent) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Source::Simulated(generator, object) => generator.events(object, each),
            Source::Snapshot(generator) => generator.recorded_events(each),
            Source::Store(generator) => generator.events(each),
        }
    }
}

/// Keeps an error of writing, and returns one that ends the generation.
fn stop(error: std::io::Error, kept: &mut Option<std::io::Error>) -> Error {
    let reason = error.to_string();
    *kept = Some(error);
    Error::unreadable(reason)
}

fn simulated(args: &GenerateArgs) -> Result<Generator, Error> {
    if let Some(Some(_)) = args.violation {
        let reason = "a kind of violation takes --type snapshot with --simple or --general";
        return Err(Error::usage(reason));
    }
    Ok(Generator {
        ops: args.ops,
        processes: args.processes,
        producers: args.producers,
        objects: args.objects,
        seed: args.seed,
        pending_per_million: per_million(args.pending),
        idle_percent: args.idle,
        universe: args.values,
    })
}

fn simulated_history(
    args: &GenerateArgs,
    generator: &Generator,
    object: &ObjectType,
) -> Result<History, Error> {
    match args.violation {
        None => generator.linearizable(object),
        Some(_) => {
            let config = Config::default().verdicts_only();
            let checker = Checker::new(config.with_timeout(args.timeout));
            generator.violating(object, &checker)
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

/// The simulated store that keeps a promise.
fn store(args: &GenerateArgs, choice: &TypeChoice, name: &str) -> Result<StoreGenerator, Error> {
    const KEYS: u32 = 5;
    let promise = match choice.name.as_str() {
        _ if !choice.params.is_empty() || choice.info().is_none() => Err(Error::usage(
            "--model is for --type kv and --type multi-register, without parameters",
        )),
        "kv" => Promise::of_operations(name),
        "multi-register" => Promise::of_transactions(name),
        other => Err(Error::usage(format!(
            "--model is for --type kv and --type multi-register, not for {other}"
        ))),
    };
    let unused = [
        (args.objects != 1, "--objects"),
        (args.idle != 0, "--idle"),
        (args.pending > 0.0, "--pending"),
    ];
    match unused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(Error::usage(format!("{option} does not go with --model"))),
        None => Ok(StoreGenerator {
            ops: args.ops,
            processes: args.processes,
            keys: args.keys.unwrap_or(KEYS) as usize,
            seed: args.seed,
            promise: promise?,
        }),
    }
}

fn snapshot(args: &GenerateArgs, shape: SnapshotShape) -> Result<SnapshotGenerator, Error> {
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
    Ok(SnapshotGenerator {
        ops: args.ops,
        processes: processes.map_err(|_| Error::usage("these are too many processes"))?,
        seed: args.seed,
        shape,
        pending_per_million: per_million(args.pending),
        fault,
    })
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
