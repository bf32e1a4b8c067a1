//! Arguments of `merge`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;

use super::OutputArgs;
use crate::units;

#[derive(Debug, ClapArgs)]
pub(crate) struct MergeArgs {
    /// The logs, each of which has one history with times
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// By how much the time of day on each machine may be off, `5ms`, `100us`, where logs say which clock they have read
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) skew: Option<Duration>,

    /// What is to be added to the times of a log, and how far this may be off: `b.jsonl=-3ms,500us`. Counts more than what the log
    /// says
    #[arg(long, value_name = "FILE=OFFSET,ERROR", value_parser = parse_clock)]
    pub(crate) clock: Vec<(PathBuf, (i64, u64))>,

    /// Of a file whose last line is cut off, read the lines before it
    #[arg(long)]
    pub(crate) allow_truncated: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// `b.jsonl=-3ms,500us`: a file, the offset of its clock, and the error of the offset, in nanoseconds.
fn parse_clock(text: &str) -> Result<(PathBuf, (i64, u64)), String> {
    let parts = text.rsplit_once('=');
    let parts = parts.and_then(|(file, clock)| Some((file, clock.split_once(',')?)));
    let (file, (offset, error)) =
        parts.ok_or("expected a file, an offset and an error, as in b.jsonl=-3ms,500us")?;
    let (sign, size) = match offset.strip_prefix('-') {
        Some(size) => (-1, size),
        None => (1, offset),
    };
    let nanoseconds = |text| -> Result<i64, String> {
        i64::try_from(units::duration(text)?.as_nanos()).map_err(|_| "out of range".to_owned())
    };
    Ok((
        file.into(),
        (sign * nanoseconds(size)?, nanoseconds(error)? as u64),
    ))
}
