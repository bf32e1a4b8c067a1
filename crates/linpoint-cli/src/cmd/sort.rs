//! `linpoint sort`: the operations of a history by object and call, in any amount.

use std::path::{Path, PathBuf};

use linpoint::Error;
use linpoint::format::{
    Format, Note, ReadOptions, RowInput, RowProgress, RowWriter, SortedRows, Sorter, Truncated,
    histories_at,
};

use crate::args::SortArgs;
use crate::exit::Exit;
use crate::files::{self, Files, Output};
use crate::interrupt;
use crate::progress::{StreamProgress, Watcher};
use crate::source::TypeChoice;

/// The bytes of an operation in a row group that is being written, and the most rows of one.
const BYTES_OF_ROW: u64 = 512;
const MOST_ROWS: u64 = 1 << 20;

pub(crate) fn run(args: &SortArgs) -> anyhow::Result<Exit> {
    let chosen = args.object.choice()?;
    let format = args.output.format()?;
    if !matches!(format, Format::Jsonl | Format::Parquet) {
        let reason = format!("sorted operations are written as jsonl or parquet, not as {format}");
        return Err(Error::usage(reason).into());
    }
    let mut files = Files::reading(&args.files)?;
    interrupt::end_after(files::remove_incomplete);
    let out = args.output.open(&mut files)?;
    let options = ReadOptions {
        format: args.format,
        ties: args.ties,
        truncated: match args.allow_truncated {
            true => Truncated::ReadPrefix,
            false => Truncated::Refuse,
        },
        object_type: args.object.name(),
        ..ReadOptions::default()
    };
    let (watcher, progress) = (Watcher::new(), StreamProgress::default());
    let sort = || sorted(args, &options, &progress.read);
    let rows = progress.watch(&watcher, "sorted", sort)?;
    progress.restart();
    let write = || {
        write(
            rows,
            args,
            &options,
            chosen.as_ref(),
            format,
            out,
            &progress.read,
        )
    };
    progress.watch(&watcher, "wrote", write)?;
    Ok(Exit::Linearizable)
}

/// The folder of what does not fit into memory.
fn folder(args: &SortArgs) -> PathBuf {
    let of_output = || {
        let output = args.output.file.as_deref();
        let output = output.filter(|path| path.as_os_str() != "-")?;
        let folder = output.parent().unwrap_or(Path::new(""));
        Some(match folder.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => folder.to_owned(),
        })
    };
    let given = args.spill.clone();
    given.or_else(of_output).unwrap_or_else(std::env::temp_dir)
}

fn sorted(
    args: &SortArgs,
    options: &ReadOptions,
    progress: &RowProgress,
) -> Result<SortedRows, Error> {
    // Half of the memory is for reading, for sorting itself, and for the program.
    let mut sorter = Sorter::new(&folder(args), args.memory / 2);
    for path in args.files.iter().flat_map(|path| histories_at(path)) {
        let input = RowInput::open(&path, options)?;
        let name = input.name().to_owned();
        let read = sorter.add_input(input, progress)?;
        if let Some(line) = read.truncated {
            eprintln!("linpoint: note: {name}: {}", Note::Truncated(line));
        }
    }
    sorter.finish()
}

fn write(
    mut rows: SortedRows,
    args: &SortArgs,
    options: &ReadOptions,
    chosen: Option<&TypeChoice>,
    format: Format,
    mut out: Output,
    progress: &RowProgress,
) -> anyhow::Result<()> {
    let named = rows.object_type(options);
    let completed = match (chosen, &named) {
        (Some(chosen), Some((name, params))) => Some(chosen.completed(name, params)),
        (Some(chosen), None) => Some(chosen.clone()),
        (None, Some((name, params))) => Some(TypeChoice::built_in(name, params.clone())),
        (None, None) => None,
    };
    let mut header = rows.header(completed.as_ref().and_then(TypeChoice::named));
    header.ties = args.ties.or(header.ties);
    let group = (args.memory / 4 / BYTES_OF_ROW).clamp(1 << 12, MOST_ROWS);
    let mut writer = RowWriter::new(format, header, group as usize, &mut out)?;
    progress.expect(rows.count());
    while let Some(row) = rows.next_row()? {
        writer.write(&row)?;
        progress.add(1, 1);
    }
    writer.finish()?;
    out.finish()
}
