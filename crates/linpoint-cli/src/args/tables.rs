//! Arguments of `linpoint tables`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use linpoint::engine::hitting::{Base, Rule};
use linpoint::explore::Method;

use super::{InputArgs, LimitArgs, ReportArgs, parse_base, parse_method, parse_rule};

#[derive(Debug, ClapArgs)]
pub(crate) struct TablesArgs {
    #[command(subcommand)]
    pub(crate) table: Table,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Table {
    /// Times of the monitors by operations and by processes (Lee and Mathur 2024, Figures 1 and 2)
    Monitors(MonitorTableArgs),
    /// Hitting families of recorded histories: sizes, and how many histories they show to be linearizable (Ozkan,
    /// Majumdar and Niksic 2019, Tables 1 to 3 and Figure 4)
    Hitting(HittingTableArgs),
    /// Snapshot histories decided, beside the published columns (Amram et al. 2022, Tables 3 and 4)
    Snapshot(SnapshotTableArgs),
    /// Snapshot algorithms verified and their bugs found, beside the published figures (Amram et al. 2022, Tables 1 and 2)
    Verification(VerificationTableArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct VerificationTableArgs {
    /// Only this algorithm; can be repeated [default: all five]
    #[arg(long, value_name = "NAME")]
    pub(crate) algorithm: Vec<String>,

    /// The most processes
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) processes: usize,

    /// Verify by this method only: full, simple or automata; can be repeated [default: all three]
    #[arg(long, value_name = "NAME", value_parser = parse_method)]
    pub(crate) method: Vec<Method>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HittingTableArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// How schedules are made: canonical, printed (Algorithm 1), artifact (as for the published tables)
    #[arg(long, value_name = "RULE", default_value = "artifact", value_parser = parse_rule)]
    pub(crate) generator: Rule,

    /// What breaks ties: ids (thread by thread), call, return, midpoint
    #[arg(long, value_name = "ORDER", default_value = "ids", value_parser = parse_base)]
    pub(crate) base: Base,

    /// The largest d of the tables
    #[arg(long, value_name = "D", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=20))]
    pub(crate) d_max: u16,

    /// The largest d of the figure, for histories that the tables do not show
    #[arg(long, value_name = "D", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=20))]
    pub(crate) figure_d_max: u16,

    /// Measure linearizability depths too
    #[arg(long)]
    pub(crate) depth: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Print Markdown
    #[arg(long, group = "style")]
    pub(crate) markdown: bool,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Print means and shares in full precision
    #[arg(long)]
    pub(crate) raw: bool,

    /// Write all tables as TSV and Markdown, the figure as SVG and HTML, and a line for each history and each error into this
    /// folder
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SnapshotTableArgs {
    /// The directory with the published files, or with `histories.tar.gz` and `expected.csv`; or an archive of the files
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// First write this many generated histories of each published size into DIR, which must be new or empty
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) stand_ins: Option<u32>,

    /// Print Markdown
    #[arg(long, group = "style")]
    pub(crate) markdown: bool,

    /// Print comma-separated values
    #[arg(long, group = "style")]
    pub(crate) csv: bool,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MonitorTableArgs {
    /// The most operations
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = table_ops)]
    pub(crate) ops: usize,

    /// Draw both figures into this HTML file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

fn table_ops(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(ops @ 1..=100_000_000) => Ok(ops),
        _ => Err("expected a number from 1 to 100000000".to_owned()),
    }
}
