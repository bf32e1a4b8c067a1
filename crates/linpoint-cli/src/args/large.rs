//! Arguments about inputs that are larger than memory.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{ObjectArgs, OutputArgs, parse_format, parse_ties};
use crate::units;
use linpoint::Ties;
use linpoint::format::Format;

/// How `check` reads inputs that are larger than memory.
#[derive(Debug, ClapArgs)]
pub(crate) struct StreamArgs {
    /// Read JSON lines and Parquet object by object, each of which is decided and forgotten; the input must have each object in one
    /// piece. Without that, in the order of calls, where the type can be watched [default: if the input does not fit into memory]
    #[arg(long, conflicts_with = "condition")]
    pub(crate) stream: bool,

    /// Sort inputs by object first if they are not, with files in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "condition")]
    pub(crate) spill: Option<PathBuf>,

    /// Pass over objects whose verdicts are in this file, which an earlier run printed with `--jsonl`, and count these verdicts
    #[arg(long, value_name = "FILE", conflicts_with = "condition")]
    pub(crate) resume: Option<PathBuf>,
}

impl StreamArgs {
    /// Whether inputs are not to be read whole.
    pub(crate) fn are_given(&self) -> bool {
        self.stream || self.spill.is_some() || self.resume.is_some()
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SortArgs {
    /// JSON lines or Parquet, parts of one history; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) object: ObjectArgs,

    /// The input format [default: detected from the content]
    #[arg(long, short = 'f', value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) format: Option<Format>,

    /// Of a file whose last line is cut off, read the lines before it
    #[arg(long)]
    pub(crate) allow_truncated: bool,

    /// Which comes first at equal times, call or return; written into the header
    #[arg(long, value_name = "FIRST", value_parser = parse_ties)]
    pub(crate) ties: Option<Ties>,

    /// Use about this much memory: 512M, 2G
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = units::bytes)]
    pub(crate) memory: u64,

    /// Where to put what does not fit into memory [default: the folder of the output]
    #[arg(long, value_name = "DIR")]
    pub(crate) spill: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
