//! `linpoint merge`: logs of one run, which were recorded with different clocks, as one history.

use std::path::{Path, PathBuf};
use std::time::Duration;

use linpoint::Error;
use linpoint::format::{Log, ReadOptions, RecordedHistory, Truncated, Widened, merge, read, write};

use crate::args::MergeArgs;
use crate::exit::Exit;
use crate::files::{self, Files};
use crate::interrupt;
use crate::units::show_duration;

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<Exit> {
    for (named, _) in &args.clock {
        if !args.files.contains(named) {
            let reason = format!("--clock names {}, which is not merged", named.display());
            return Err(Error::usage(reason).into());
        }
    }
    let format = args.output.format()?;
    let mut files = Files::reading(&args.files)?;
    interrupt::end_after(files::remove_incomplete);
    let mut out = args.output.open(&mut files)?;
    let log = |path: &PathBuf| -> anyhow::Result<Log> {
        let given = args.clock.iter().find(|(named, _)| named == path);
        Ok(Log {
            recorded: one_history(path, args.allow_truncated)?,
            clock: given.map(|(_, clock)| *clock),
        })
    };
    let logs = args.files.iter().map(log).collect::<anyhow::Result<_>>()?;
    let skew = args
        .skew
        .map(|skew| u64::try_from(skew.as_nanos()).unwrap_or(u64::MAX));
    let merged = merge(logs, skew)?;
    let object_type = merged.object_type.as_ref();
    let object_type = object_type.map(|(name, params)| (name.as_str(), params));
    write(format, &merged.history, object_type, &mut out)?;
    out.finish()?;
    merged.logs.iter().for_each(tell);
    Ok(Exit::Linearizable)
}

/// The only history of a file.
fn one_history(path: &Path, allow_truncated: bool) -> anyhow::Result<RecordedHistory> {
    let truncated = match allow_truncated {
        true => Truncated::ReadPrefix,
        false => Truncated::Refuse,
    };
    let options = ReadOptions {
        truncated,
        ..ReadOptions::default()
    };
    let mut found = Vec::new();
    read(path, &options, |recorded| found.push(recorded));
    match <[_; 1]>::try_from(found) {
        Ok([recorded]) => Ok(recorded?),
        Err(found) => {
            let count = found.len();
            let reason = format!("a log that is merged has one history, and this file has {count}");
            Err(Error::malformed(reason)
                .in_file(&path.display().to_string())
                .into())
        }
    }
}

fn tell(log: &Widened) {
    let by = match log.by {
        0 => "as recorded".to_owned(),
        by => format!(
            "widened by {} to each side",
            show_duration(Duration::from_nanos(by))
        ),
    };
    let (input, operations, clock) = (&log.input, log.operations, log.clock + 1);
    let noun = if operations == 1 {
        "operation"
    } else {
        "operations"
    };
    eprintln!("linpoint: note: {input}: {operations} {noun}, clock {clock}, {by}");
}
