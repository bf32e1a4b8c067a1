//! Arguments, exactly as typed.

mod asked;
mod generate;
mod large;
mod merge;
mod spec;
mod tables;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Args as ClapArgs, Parser, Subcommand};
use linpoint::engine::Budget;
use linpoint::engine::hitting::{Base, Rule};
use linpoint::explore::Method;
use linpoint::format::Format;
use linpoint::{EngineChoice, Ties};

pub(crate) use self::asked::Asked;
use self::asked::parse_asked;
pub(crate) use self::generate::GenerateArgs;
pub(crate) use self::large::{SortArgs, StreamArgs};
pub(crate) use self::merge::MergeArgs;
pub(crate) use self::spec::{SpecAction, SpecArgs, SpecNewArgs, SpecTestArgs};
pub(crate) use self::tables::{
    HittingTableArgs, MonitorTableArgs, SnapshotTableArgs, Table, TablesArgs, VerificationTableArgs,
};
use crate::units;

/// Is this recorded history linearizable, and why not?
#[derive(Debug, Parser)]
#[command(name = "linpoint", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide whether recorded histories are linearizable
    #[command(after_help = EXIT_CODES)]
    Check(Box<CheckArgs>),
    /// Check a proof that `check --proof` wrote, without any engine
    #[command(after_help = VERIFY_PROOF_EXIT_CODES)]
    VerifyProof(VerifyProofArgs),
    /// Measure how many operations must be delayed to explain histories
    #[command(after_help = DEPTH_EXIT_CODES)]
    Depth(DepthArgs),
    /// Rewrite histories in another format
    Convert(ConvertArgs),
    /// Sort the operations of a history by object and call, which may be more than fit into memory
    Sort(SortArgs),
    /// Merge logs of one run, which were recorded with different clocks, into one history
    Merge(MergeArgs),
    /// Propose a mapping for a log of any shape
    #[cfg(feature = "mapping")]
    Map(MapArgs),
    /// Generate a history of a simulated concurrent object
    Generate(GenerateArgs),
    /// Print facts about histories: operations, processes, width, concurrent pairs
    Stats(StatsArgs),
    /// List the built-in object types, or describe one
    Types(TypesArgs),
    /// Specify an object of your own, without Rust
    Spec(SpecArgs),
    /// Reproduce published tables and figures
    Tables(TablesArgs),
    /// Report violations while the history happens, event by event
    #[command(after_help = WATCH_EXIT_CODES)]
    Watch(WatchArgs),
    /// Verify a snapshot algorithm, or find the bug in a broken one, by exploring all its executions
    #[command(after_help = VERIFY_EXIT_CODES)]
    Verify(VerifyArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

const EXIT_CODES: &str = "\
Exit codes:
  0   all histories are linearizable
  1   some history is not
  2   some history is undecided, none is a violation
  64  the request makes no sense
  65  some input is malformed
  66  some input cannot be read
  70  a bug in linpoint: the evidence for a verdict did not hold";

const DEPTH_EXIT_CODES: &str = "\
Exit codes:
  0   the depth of every history was found
  1   some history is not linearizable: it has no depth
  2   some depth was not found
  64  the request makes no sense
  65  some input is malformed
  66  some input cannot be read
  70  a bug in linpoint: the evidence for a depth did not hold";

const VERIFY_PROOF_EXIT_CODES: &str = "\
Exit codes:
  0   every proof is accepted, whatever its verdict
  1   some proof is refused
  2   the file says that some proof was not made, or a limit was hit first
  64  the request makes no sense
  65  some history is malformed
  66  some input cannot be read";

const WATCH_EXIT_CODES: &str = "\
Exit codes:
  0   no violation
  1   some object or key is not linearizable
  2   some object or key cannot be told, none is a violation
  64  the request makes no sense
  65  the input is malformed
  66  the input cannot be read";

const VERIFY_EXIT_CODES: &str = "\
Exit codes:
  0   every execution that was to be explored is linearizable
  1   some execution is not
  2   a limit was hit first
  64  the request makes no sense
  70  a bug in linpoint: the evidence for a bug did not hold";

/// What histories are histories of.
#[derive(Debug, ClapArgs)]
pub(crate) struct ObjectArgs {
    /// The object's type, with parameters: `queue`, `bounded-queue:capacity=5` (see `linpoint types`)
    #[arg(
        long = "type",
        short = 't',
        value_name = "TYPE",
        conflicts_with = "model_cmd"
    )]
    pub(crate) object_type: Option<String>,

    /// A file that specifies the object, instead of a type, with parameters: `lease.spec`, `lease.spec:ttl=3` (see `linpoint
    /// spec`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["object_type", "model_cmd"])]
    pub(crate) spec: Option<String>,

    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

/// A program that says what an object answers.
#[derive(Debug, ClapArgs)]
pub(crate) struct ModelArgs {
    /// A command that specifies the object, instead of a type: a program in any language, which is asked over its standard
    /// input and output (see docs/model-programs.md)
    #[arg(long, value_name = "CMD")]
    pub(crate) model_cmd: Option<String>,

    /// A parameter for the program of --model-cmd; may be repeated
    #[arg(long, value_name = "NAME=V", requires = "model_cmd")]
    pub(crate) model_param: Vec<String>,

    /// The time for each answer of the program of --model-cmd [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = units::duration, requires = "model_cmd")]
    pub(crate) model_timeout: Option<Duration>,
}

/// Where histories come from and how to read them.
#[derive(Debug, ClapArgs)]
pub(crate) struct InputArgs {
    /// Files, archives or directories; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) object: ObjectArgs,

    /// The input format [default: detected from the content]
    #[arg(long, short = 'f', value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) format: Option<Format>,

    /// Read a log of any shape by this mapping: a TOML file, or `process=.client, method=.op, argument=.in, result=.out,
    /// call=.start, return=.end` (see docs/formats.md)
    #[arg(long, value_name = "MAPPING", conflicts_with = "format")]
    pub(crate) map: Option<String>,

    /// With `--map`: clocks of processes may be off by this much: 5ms, 100us
    #[arg(long, value_name = "TIME", requires = "map", value_parser = units::duration)]
    pub(crate) skew: Option<Duration>,

    /// Values of a Jepsen history are `[key value]` pairs of jepsen.independent: every key is an object of its own [default: if reads are invoked with `[key nil]`]
    #[arg(long)]
    pub(crate) independent: bool,

    /// Never take values of a Jepsen history for `[key value]` pairs, also where reads are invoked with `[key nil]`
    #[arg(long, conflicts_with = "independent")]
    pub(crate) no_independent: bool,

    /// Of a file whose last line is cut off, read the lines before it
    #[arg(long)]
    pub(crate) allow_truncated: bool,

    /// Which comes first at equal times, call or return: with `call`, operations that touch overlap
    #[arg(long, value_name = "FIRST", value_parser = parse_ties)]
    pub(crate) ties: Option<Ties>,
}

/// How much a command may use.
#[derive(Debug, ClapArgs)]
pub(crate) struct LimitArgs {
    /// Stop after this long and call it undecided: 30s, 5m; a bare number is seconds. The time is for each history or cell of a
    /// table [default: none; 60s for `depth` and `tables`]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,

    /// Use at most this much memory: 512M, 2G [default: most of what is free]
    #[arg(long, value_name = "SIZE", value_parser = units::bytes)]
    pub(crate) memory: Option<u64>,

    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

impl LimitArgs {
    /// How long `depth` and `tables` work on one history or cell where no time is given.
    const MEASURING: Duration = Duration::from_secs(60);

    /// The time for one measurement.
    pub(crate) fn measuring_time(&self) -> Duration {
        self.timeout.unwrap_or(Self::MEASURING)
    }

    /// Makes everything from here on use as many threads as are asked for. Must be called before anything runs in parallel.
    pub(crate) fn start_threads(&self) -> anyhow::Result<()> {
        // Where the address space is limited, threads may not start: this must not happen later, where it is no error but a
        // panic.
        if self.threads.is_some() || Budget::address_space().is_some() {
            let threads = self.threads.map_or(0, usize::from);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build_global().context("threads cannot be started")?;
        }
        Ok(())
    }
}

/// How results are printed.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    /// Print JSON: one document, or one line for each history or violation of `depth`, `stats` and `watch`
    #[arg(long, group = "style")]
    pub(crate) json: bool,
}

/// Where histories go and how to write them.
#[derive(Debug, ClapArgs)]
pub(crate) struct OutputArgs {
    /// Where to write; the standard output by default, or if it is `-`
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The output format: jsonl, edn, jepsen-json, porcupine, violat, operations, snapshot or parquet [default: that of the name of FILE,
    /// which is edn or parquet if it ends so, else jsonl]
    #[arg(long, value_name = "FORMAT", value_parser = parse_written_format)]
    pub(crate) to: Option<Format>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[arg(long, default_value = "auto", value_parser = parse_engine, help = engine_help())]
    pub(crate) engine: EngineChoice,

    /// With `--engine hitting`: delay at most this many operations, and call what is not shown undecided [default: any number]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) depth_max: Option<u16>,

    /// Decide these conditions instead of linearizability, with commas between them: sequential, causal-convergence, k-atomic, ...
    /// (see docs/conditions.md); of transactions serializable, snapshot-isolation, ... (see docs/transactions.md)
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = parse_asked,
        conflicts_with_all = ["edn", "brief", "witness", "proof", "html", "junit", "github"]
    )]
    pub(crate) condition: Vec<Asked>,

    /// Say of every condition whether it holds, where a history is not linearizable
    #[arg(long, conflicts_with = "condition")]
    pub(crate) diagnose: bool,

    /// Do not say what still holds where a history is not linearizable
    #[arg(long, conflicts_with = "diagnose")]
    pub(crate) no_diagnose: bool,

    #[command(flatten)]
    pub(crate) large: StreamArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Stop the whole run after this long: histories that are not decided by then are undecided
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout_total: Option<Duration>,

    /// Explain the violations of a history for this long, within `--timeout` [default: 0.75s, and as long as deciding took]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) explanation: Option<Duration>,

    /// Do not split objects by key
    #[arg(long)]
    pub(crate) whole: bool,

    /// Call a history with fewer operations malformed: for pipelines, in which a recorder that fails must not pass
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) min_ops: usize,

    /// Decide every object and key, also after a violation was found in one
    #[arg(long)]
    pub(crate) all: bool,

    /// Make and replay no witnesses: the verdict only, faster
    #[arg(long, conflicts_with_all = ["witness", "proof"])]
    pub(crate) no_certify: bool,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Print one JSON line for each history, as soon as it is decided
    #[arg(long, group = "style")]
    pub(crate) jsonl: bool,

    /// Print results as EDN, with `:valid?` as Jepsen's checkers have it
    #[arg(long, group = "style")]
    pub(crate) edn: bool,

    /// Print `path<TAB>true|false|:unknown` for each history, as Knossos and elle-cli do
    #[arg(long, group = "style")]
    pub(crate) brief: bool,

    /// Print only violations, undecided histories and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Write the witness orders to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) witness: Option<PathBuf>,

    /// Write proofs of the verdicts to this file, compressed, for `linpoint verify-proof`
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,

    /// Write a page that shows verdicts, cores and histories to this file, for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// With `--html`: put at most this many operations on the page; of longer histories, those around the core
    #[arg(long, value_name = "OPS", default_value_t = DEFAULT_HTML_LIMIT, requires = "html")]
    pub(crate) html_limit: usize,

    /// Write the verdicts to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Print annotations for GitHub Actions too, and append to the summary of the step
    #[arg(long, conflicts_with_all = ["json", "jsonl", "edn"])]
    pub(crate) github: bool,

    /// Print which engine decided and why, and facts about the history
    #[arg(long)]
    pub(crate) explain: bool,
}

/// A page with more operations opens too slowly to be of use.
pub(crate) const DEFAULT_HTML_LIMIT: usize = 2_000_000;

#[derive(Debug, ClapArgs)]
pub(crate) struct DepthArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// What breaks ties in schedules: ids (thread by thread), call, return, midpoint
    #[arg(long, value_name = "ORDER", default_value = "return", value_parser = parse_base)]
    pub(crate) base: Base,

    /// Look for depths up to this one only [default: any]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) depth_max: Option<u16>,

    /// List the schedules of the family that delays this many operations, and count all schedules
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) schedules: Option<u16>,

    /// With `--schedules`: how they are made: canonical, printed (Algorithm 1), artifact (as for the published tables)
    /// [default: canonical]
    #[arg(long, value_name = "RULE", requires = "schedules", value_parser = parse_rule)]
    pub(crate) generator: Option<Rule>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyProofArgs {
    /// The file that `check --proof` wrote
    #[arg(value_name = "PROOF")]
    pub(crate) proof: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Print one JSON line for each history
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[cfg(feature = "mapping")]
#[derive(Debug, ClapArgs)]
pub(crate) struct MapArgs {
    #[command(subcommand)]
    pub(crate) command: MapCommand,
}

#[cfg(feature = "mapping")]
#[derive(Debug, Subcommand)]
pub(crate) enum MapCommand {
    /// Print a mapping that may fit a log, for --map, and the first operations as it reads them
    Guess {
        /// The log: JSON lines, a JSON array, CSV or TSV; `-` is the standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TypesArgs {
    /// The type to describe [default: all]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WatchArgs {
    /// A file of JSON lines, one for each event, or of the events of a snapshot; `-` is the standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) object: ObjectArgs,

    /// Read JSON lines of any shape, one for each event, by this mapping: a TOML file, or `process=.client, method=.op,
    /// argument=.in, result=.out, event=.type` (see docs/formats.md)
    #[arg(long, value_name = "MAPPING")]
    pub(crate) map: Option<String>,

    /// Go on at the end of the file and wait until it grows
    #[arg(long)]
    pub(crate) follow: bool,

    /// Stop at the first violation
    #[arg(long)]
    pub(crate) first: bool,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Print only violations, and what cannot be told: no summary at the end
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyArgs {
    /// The algorithm (see --list)
    #[arg(long, value_name = "NAME", required_unless_present = "list")]
    pub(crate) algorithm: Option<String>,

    /// List the algorithms and their bugs
    #[arg(long)]
    pub(crate) list: bool,

    /// The number of processes
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) processes: usize,

    /// Plant this bug in the algorithm (see --list)
    #[arg(long, value_name = "NAME")]
    pub(crate) bug: Option<String>,

    /// What is explored and what decides it: automata (simple executions, a monitor), simple (simple executions, the
    /// specification), full (all executions, the specification)
    #[arg(long, default_value = "automata", value_parser = parse_method)]
    pub(crate) method: Method,

    /// The most operations of each process [default: any number]
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) ops_per_process: Option<u8>,

    /// The pairs of entries that change in simple executions: all, or one as in 0,1; can be repeated
    #[arg(long, value_name = "I,J", default_value = "all", value_parser = parse_pairs)]
    pub(crate) pairs: Vec<Pairs>,

    /// Explore all processes from the beginning, instead of two, then three, and so on
    #[arg(long)]
    pub(crate) at_once: bool,

    /// Watch the scans of one process at a time: more explorations, of fewer states
    #[arg(long)]
    pub(crate) watch_each: bool,

    /// Switch off a reduction: merged-steps, local-steps, fake-operations, symmetry, dead-values, monitor-form
    #[arg(long, value_name = "REDUCTION")]
    pub(crate) without: Vec<String>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Write the history of a bug to this file, as JSON lines that `linpoint check` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,

    /// Write a page that shows the history and the execution of a bug to this file, for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// What `--pairs` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairs {
    All,
    One(usize, usize),
}

fn parse_method(name: &str) -> Result<Method, String> {
    let found = Method::NAMES.iter().find(|(known, _)| *known == name);
    found
        .map(|&(_, method)| method)
        .ok_or_else(|| "expected automata, simple or full".to_owned())
}

fn parse_pairs(text: &str) -> Result<Pairs, String> {
    if text == "all" {
        return Ok(Pairs::All);
    }
    let pair = text.split_once(',').and_then(|(i, j)| {
        let number = |text: &str| text.trim().parse().ok();
        Some(Pairs::One(number(i)?, number(j)?))
    });
    pair.ok_or_else(|| "expected all, or two entries as in 0,1".to_owned())
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

fn parse_ties(name: &str) -> Result<Ties, String> {
    match name {
        "call" => Ok(Ties::CallFirst),
        "return" => Ok(Ties::ReturnFirst),
        _ => Err("expected call or return".to_owned()),
    }
}

fn parse_format(name: &str) -> Result<Format, String> {
    name.parse()
        .map_err(|error: linpoint::Error| error.to_string())
}

fn parse_written_format(name: &str) -> Result<Format, String> {
    let format = parse_format(name)?;
    match Format::WRITTEN.contains(&format) {
        true => Ok(format),
        false => Err(format!("histories are written as {}", written_formats())),
    }
}

/// The names of the formats that are written.
pub(crate) fn written_formats() -> String {
    let names = Format::WRITTEN.map(Format::name);
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} or {last}", others.join(", "))
}

fn parse_base(name: &str) -> Result<Base, String> {
    named(name, Base::NAMES)
}

fn parse_rule(name: &str) -> Result<Rule, String> {
    named(name, Rule::NAMES)
}

/// Returns the value with this name.
fn named<T: Copy>(name: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// The help text of `--engine`, which names every engine that the library has.
fn engine_help() -> String {
    let names: Vec<&str> = EngineChoice::NAMES.iter().map(|(name, _)| *name).collect();
    format!(
        "The engine, instead of the one that fits best: {}",
        names.join(", ")
    )
}

fn parse_engine(name: &str) -> Result<EngineChoice, String> {
    name.parse()
        .map_err(|error: linpoint::Error| error.to_string())
}
