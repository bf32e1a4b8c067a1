//! Arguments of `generate`.

use std::time::Duration;

use clap::{ArgGroup, Args as ClapArgs};
use linpoint::generate::SnapshotFault;

use super::{ObjectArgs, OutputArgs};
use crate::units;

#[derive(Debug, ClapArgs)]
#[command(group(ArgGroup::new("object").args(["object_type", "spec", "model_cmd"]).required(true)))]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,

    /// The number of operations
    #[arg(long, default_value_t = 100)]
    pub(crate) ops: usize,

    /// The number of processes
    #[arg(long, default_value_t = 4)]
    pub(crate) processes: usize,

    /// The number of processes that only insert, while the others never do [default: all processes call all methods]
    #[arg(long, value_name = "N")]
    pub(crate) producers: Option<usize>,

    /// The number of objects
    #[arg(long, default_value_t = 1)]
    pub(crate) objects: usize,

    /// Equal seeds give equal histories
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// Share of operations that never return, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub(crate) pending: f64,

    /// Share of turns in which a process without an open operation stays idle, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..100))]
    pub(crate) idle: u32,

    /// Draw values from 0..N instead of making them distinct
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) values: Option<i64>,

    /// Simulate a store that keeps this promise and breaks the next stronger ones: of `--type kv` a condition as `check --condition`
    /// names it, or stale, causal, session; of `--type multi-register` an isolation level (see docs/conditions.md)
    #[arg(long, value_name = "PROMISE", conflicts_with_all = ["simple", "general", "violation", "producers", "values"])]
    pub(crate) model: Option<String>,

    /// With `--model`: the number of keys [default: 5]
    #[arg(long, value_name = "N", requires = "model", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keys: Option<u32>,

    /// Of a snapshot: two entries change once, from 0 to 1, and nothing else does
    #[arg(long, conflicts_with = "general")]
    pub(crate) simple: bool,

    /// Of a snapshot: all values are distinct
    #[arg(long)]
    pub(crate) general: bool,

    /// Make one result near the end wrong, so that the history is not linearizable; for a snapshot with --simple or
    /// --general, in this way only: inversion, decreasing, stale, future, order
    #[arg(long, value_name = "KIND", num_args = 0..=1)]
    pub(crate) violation: Option<Option<SnapshotFault>>,

    /// Look for a violation no longer than this
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "60s")]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
