//! Records real servers under real faults, and lets linpoint decide what was recorded. `docs/systems.md` tells about it.

mod clients;
mod cost;
mod etcd;
mod faults;
mod lock;
mod network;
mod postgres;
mod queue;
mod redis;
mod scenarios;
mod server;
mod verdict;
mod wire;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::faults::Fault;
use crate::scenarios::{SCENARIOS, Scenario, Settings};
use crate::server::Skipped;

const USAGE: &str = "\
linpoint-systems SYSTEM [OPTION...]   records a system, and decides what was recorded
linpoint-systems table [OPTION...]    records all systems in all configurations, and prints a table
linpoint-systems list                 lists them
linpoint-systems cost                 measures what recording costs

--variant NAME     the configuration; the first one of the system if not given
--faults LIST      of pause, kill, partition, delay, or none; those of the list if not given
--time TIME        how long: 30s, 500ms, 2m [default: 10s]
--clients N        how many clients [default: 5]
--seed N           [default: 1]
--output FOLDER    where the histories and pages go [default: target/systems]
--runs N           for table: how often each is recorded [default: 1]
--only NAME,...    for table: systems, or SYSTEM/VARIANT";

struct Options {
    variant: Option<String>,
    faults: Option<Vec<Fault>>,
    time: Duration,
    clients: usize,
    seed: u64,
    output: PathBuf,
    runs: u64,
    only: Vec<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.is::<Skipped>() => {
            println!("skipped: {error}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("linpoint-systems: {error:#}");
            ExitCode::from(64)
        }
    }
}

fn run(arguments: &[String]) -> Result<u8> {
    let Some((command, rest)) = arguments.split_first() else {
        bail!("what is to be recorded?\n{USAGE}");
    };
    match command.as_str() {
        "lock-client" => lock::client(rest).map(|()| 0),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(0)
        }
        "list" => {
            for scenario in SCENARIOS {
                println!(
                    "{:9} --variant {:15} --faults {:28} {}",
                    scenario.system,
                    scenario.variant,
                    names(scenario.faults),
                    scenario.about
                );
            }
            Ok(0)
        }
        "cost" => cost::print().map(|()| 0),
        "table" => table(&options(rest)?),
        system => one(system, &options(rest)?),
    }
}

fn options(arguments: &[String]) -> Result<Options> {
    let output = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/systems");
    let mut options = Options {
        variant: None,
        faults: None,
        time: Duration::from_secs(10),
        clients: 5,
        seed: 1,
        output,
        runs: 1,
        only: Vec::new(),
    };
    let mut words = arguments.iter();
    while let Some(name) = words.next() {
        let value = words
            .next()
            .with_context(|| format!("{name} needs a value\n{USAGE}"))?;
        let wrong = || format!("{name} {value} is no number");
        match name.as_str() {
            "--variant" => options.variant = Some(value.clone()),
            "--faults" => options.faults = Some(faults(value)?),
            "--time" => options.time = duration(value)?,
            "--clients" => {
                options.clients = value.parse::<usize>().with_context(wrong)?.clamp(1, 50)
            }
            "--seed" => options.seed = value.parse().with_context(wrong)?,
            "--output" => options.output = value.into(),
            "--runs" => options.runs = value.parse().with_context(wrong)?,
            "--only" => options.only = value.split(',').map(str::to_owned).collect(),
            _ => bail!("unknown option {name}\n{USAGE}"),
        }
    }
    Ok(options)
}

fn faults(text: &str) -> Result<Vec<Fault>> {
    if text == "none" {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|name| name.parse().map_err(anyhow::Error::msg))
        .collect()
}

/// At most ten minutes.
fn duration(text: &str) -> Result<Duration> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let unit = match &text[end..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => bail!("--time {text}: say for instance 30s, 500ms or 2m"),
    };
    let count: u64 = text[..end]
        .parse()
        .with_context(|| format!("--time {text} is no time"))?;
    Ok(Duration::from_millis(
        count.saturating_mul(unit).min(600_000),
    ))
}

fn names(faults: &[Fault]) -> String {
    let names: Vec<String> = faults.iter().map(Fault::to_string).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(",")
    }
}

/// The faults that are made: those that are asked for, as far as they are possible here.
fn possible_faults(scenario: &Scenario, options: &Options) -> Result<Vec<Fault>> {
    let wanted = options.faults.as_deref().unwrap_or(scenario.faults);
    let possible = network::possible(wanted.to_vec());
    if possible.is_empty() && !wanted.is_empty() {
        return Err(Skipped("none of the faults can be made here".to_owned()).into());
    }
    Ok(possible)
}

/// Records a scenario into a new file of the folder.
fn record(scenario: &Scenario, options: &Options, faults: &[Fault], seed: u64) -> Result<PathBuf> {
    let folder = &options.output;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    let log = folder.join(format!(
        "{}-{}-{seed}.jsonl",
        scenario.system, scenario.variant
    ));
    if log.exists() {
        std::fs::remove_file(&log)?;
    }
    let settings = Settings {
        variant: scenario.variant,
        faults: faults.to_vec(),
        time: options.time,
        clients: options.clients,
        seed,
    };
    (scenario.record)(&settings, &log)?;
    Ok(log)
}

/// Records one system, prints the verdict, and writes the page.
fn one(system: &str, options: &Options) -> Result<u8> {
    let of_system = || {
        SCENARIOS
            .iter()
            .filter(|scenario| scenario.system == system)
    };
    let found = match &options.variant {
        None => of_system().next(),
        Some(variant) => of_system().find(|scenario| scenario.variant == *variant),
    };
    let scenario = found.with_context(|| {
        format!(
            "there is no {system} {}\n{USAGE}",
            options.variant.as_deref().unwrap_or_default()
        )
    })?;
    let faults = possible_faults(scenario, options)?;
    let log = record(scenario, options, &faults, options.seed)?;
    let page = log.with_extension("html");
    let code = verdict::print(&log, &page)?;
    println!(
        "the history: {}\nthe page: {}",
        log.display(),
        page.display()
    );
    Ok(code)
}

/// Records scenarios as often as told, and prints a line for each. The exit code is 1 if a run that is to be linearizable is not, or none
/// shows the violation that is to be expected.
fn table(options: &Options) -> Result<u8> {
    println!(
        "| system | configuration | faults | runs | operations | linearizable | violations | undecided | what the core shows |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut is_expected = true;
    for scenario in SCENARIOS {
        let named = format!("{}/{}", scenario.system, scenario.variant);
        let is_meant = |only: &String| only == scenario.system || *only == named;
        if !options.only.is_empty() && !options.only.iter().any(is_meant) {
            continue;
        }
        match row(scenario, options) {
            Ok((line, as_expected)) => {
                println!("{line}");
                is_expected &= as_expected;
            }
            Err(error) if error.is::<Skipped>() => println!("| {named} | skipped: {error} |"),
            Err(error) => return Err(error.context(named)),
        }
    }
    Ok(u8::from(!is_expected))
}

/// Records one scenario. Returns a line of the table, and whether all verdicts are those to be expected.
fn row(scenario: &Scenario, options: &Options) -> Result<(String, bool)> {
    let faults = possible_faults(scenario, options)?;
    let (mut operations, mut counts, mut sentence) = (0, [0, 0, 0], String::new());
    for run in 0..options.runs {
        let log = record(scenario, options, &faults, options.seed + run)?;
        let verdict = verdict::of(&log)?;
        operations += verdict.operations;
        let place = match verdict.word.as_str() {
            "linearizable" => 0,
            "not linearizable" => 1,
            _ => 2,
        };
        counts[place] += 1;
        if let Some(told) = verdict.sentence.filter(|_| sentence.is_empty()) {
            sentence = told;
        }
    }
    let [good, bad, undecided] = counts;
    let runs = good + bad + undecided;
    let Scenario {
        system,
        variant,
        about,
        ..
    } = scenario;
    let faults = names(&faults);
    let line = format!(
        "| {system} | {about} (`{variant}`) | {faults} | {runs} | {operations} | {good} | {bad} | {undecided} | {sentence} |"
    );
    // A violation needs a fault at the right moment, so one run is enough.
    let as_expected = if scenario.is_linearizable {
        good == runs
    } else {
        bad > 0 && undecided == 0
    };
    Ok((line, as_expected))
}
