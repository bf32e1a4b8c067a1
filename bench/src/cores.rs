//! How small the cores of violations are, and how long explaining takes after the verdict: all types, one wrong result in the
//! middle.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use linpoint::generate::Generator;
use linpoint::object::{ObjectType, types};
use linpoint::spec::Sampler;
use linpoint::{Checker, Config, Error, ErrorKind, History, OpId, Value, Verdict, object_type};

use crate::child::peak_mib;

const SIZES: [usize; 3] = [300, 10_000, 100_000];

/// Histories of each type and size, unless the command line says otherwise.
const SEEDS: u64 = 20;

/// Limits of one check.
const TIME: Duration = Duration::from_secs(30);
const MEMORY: u64 = 200_000_000;

/// The capacity of bounded types.
const CAPACITY: i64 = 5;

/// The argument that makes this program explain one violation and answer: each has a process of its own, since the memory
/// limit is one of the process.
pub const COMMAND: &str = "explain-one";

/// How many wrong results are tried on one history.
const ATTEMPTS: usize = 50;

/// The bars: operations in the median core and in 95 of 100, and how much longer than the verdict the core may take.
const MEDIAN: usize = 6;
const NEARLY_ALL: usize = 12;
/// The same for objects whose operations are about several places or depend on how much there is.
const WIDE: usize = 20;
const WIDE_TYPES: [&str; 4] = ["array-blocking-queue", "bank", "bounded-queue", "multi-register"];
const EXPLAINING: Duration = Duration::from_secs(1);

/// One violation.
struct Explained {
    core: usize,
    minimal: bool,
    verdict: Duration,
    core_after: Duration,
    peak_mib: f64,
}

/// `args`: the number of histories of each type and size, then names of types and numbers of operations; all, if there are
/// none.
pub fn run(args: &[&str]) -> anyhow::Result<()> {
    let (seeds, rows) = match args {
        [seeds, rows @ ..] => (seeds.parse().context("the number of histories")?, rows),
        [] => (SEEDS, &[][..]),
    };
    let sizes: Vec<usize> = rows.iter().filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    let names: Vec<&str> = rows.iter().copied().filter(|name| name.parse::<usize>().is_err()).collect();
    println!("## Cores\n");
    println!(
        "{seeds} histories of each type and size, 4 processes, one wrong result in the middle; {} s and {} MB for each. \"After\" is the longest time from the verdict to the explained core, and the peak memory that of the worst, the making of the history included. Lists have 1,000 operations each, Kafka-like logs 300: there are several in long histories.\n",
        TIME.as_secs(),
        MEMORY / 1_000_000
    );
    println!("| type | operations | violations | median core | 95 % | largest | not minimal | median verdict | after | peak | within the bars |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let (mut rows, mut good) = (0, 0);
    for info in types() {
        if !names.is_empty() && !names.contains(&info.name) {
            continue;
        }
        for &size in &sizes {
            let explained: Vec<Explained> =
                (0..seeds).filter_map(|seed| ask(info.name, size, seed).transpose()).collect::<anyhow::Result<_>>()?;
            rows += 1;
            good += usize::from(row(info.name, size, &explained));
        }
    }
    println!("\n{good} of {rows} rows are within the bars.\n");
    Ok(())
}

/// Prints a row; returns whether it is within the bars.
fn row(name: &str, size: usize, explained: &[Explained]) -> bool {
    if explained.is_empty() {
        println!("| {name} | {size} | 0 | - | - | - | - | - | - | - | no |");
        return false;
    }
    let mut cores: Vec<usize> = explained.iter().map(|one| one.core).collect();
    let mut verdicts: Vec<Duration> = explained.iter().map(|one| one.verdict).collect();
    cores.sort_unstable();
    verdicts.sort_unstable();
    let (median, nearly_all) = (cores[cores.len() / 2], cores[(cores.len() * 95).div_ceil(100) - 1]);
    let after = explained.iter().map(|one| one.core_after).max().unwrap_or_default();
    let peak = explained.iter().map(|one| one.peak_mib).fold(0.0, f64::max);
    let is_small = match WIDE_TYPES.contains(&name) {
        true => nearly_all <= WIDE,
        false => median <= MEDIAN && nearly_all <= NEARLY_ALL,
    };
    let is_quick = explained.iter().all(|one| one.core_after <= one.verdict + EXPLAINING);
    let is_good = is_small && is_quick;
    println!(
        "| {name} | {size} | {} | {median} | {nearly_all} | {} | {} | {:.0} ms | {:.0} ms | {peak:.0} MiB | {} |",
        explained.len(),
        cores[cores.len() - 1],
        explained.iter().filter(|one| !one.minimal).count(),
        verdicts[verdicts.len() / 2].as_secs_f64() * 1e3,
        after.as_secs_f64() * 1e3,
        if is_good { "yes" } else { "no" },
    );
    is_good
}

/// Explains one violation in a child process; `None` if no violation was found, or not decided within the limits.
fn ask(name: &str, size: usize, seed: u64) -> anyhow::Result<Option<Explained>> {
    let mut child = Command::new(std::env::current_exe()?);
    let child = child.args([COMMAND, name, &size.to_string(), &seed.to_string()]).stderr(Stdio::inherit()).output()?;
    ensure!(child.status.success(), "{name} with {size} operations and seed {seed} ended with {}", child.status);
    let text = String::from_utf8(child.stdout)?;
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let &[core, minimal, verdict, core_after, peak_mib] = numbers.as_slice() else { return Ok(None) };
    Ok(Some(Explained {
        core: core as usize,
        minimal: minimal == 1.0,
        verdict: Duration::from_secs_f64(verdict),
        core_after: Duration::from_secs_f64(core_after),
        peak_mib,
    }))
}

/// Explains one violation here and prints the numbers, or nothing.
pub fn answer(args: &[&str]) -> anyhow::Result<()> {
    let &[name, size, seed] = args else { bail!("three arguments expected") };
    let info = types().iter().find(|info| info.name == name).context("unknown type")?;
    let takes_capacity = info.params.iter().any(|(name, _)| *name == "capacity");
    let params = takes_capacity.then(|| ("capacity".to_owned(), Value::Int(CAPACITY)));
    let object = object_type(info.name, &params.into_iter().collect())?;
    if let Some(Explained { core, minimal, verdict, core_after, peak_mib }) =
        explain(&object, objects(name, size.parse()?), size.parse()?, seed.parse()?)?
    {
        let (verdict, core_after) = (verdict.as_secs_f64(), core_after.as_secs_f64());
        println!("{core} {} {verdict} {core_after} {peak_mib}", u8::from(minimal));
    }
    Ok(())
}

/// The number of objects. Every read of a list answers all of it, and polls of a log answer much of it, so that those of one long object
/// fill gigabytes: there are as many lists as have a thousand operations each, and as many logs as have 300.
fn objects(name: &str, size: usize) -> usize {
    match name {
        "list" => size.div_ceil(1000),
        "kafka-log" => size.div_ceil(300),
        _ => 1,
    }
}

/// Decides and explains one history of so many objects.
fn explain(object: &ObjectType, objects: usize, size: usize, seed: u64) -> anyhow::Result<Option<Explained>> {
    let limits = || Config::default().with_timeout(TIME).with_memory(MEMORY);
    let history = Generator { ops: size, objects, seed, ..Generator::default() }.linearizable(object)?;
    let Some((bad, verdict)) = violating(object, &history, seed, &Checker::new(limits().verdicts_only()))? else {
        return Ok(None);
    };
    drop(history);
    let started = Instant::now();
    let report = match Checker::new(limits()).check_recorded(object, &bad) {
        Ok(report) => report,
        Err(error) if error.kind() == ErrorKind::Limit => return Ok(None),
        Err(error) => return Err(Error::into(error)),
    };
    let whole = started.elapsed();
    let Verdict::Violation(violation) = report.verdict else { return Ok(None) };
    Ok(Some(Explained {
        core: violation.core.ops().len(),
        minimal: violation.core.is_minimal(),
        verdict,
        core_after: whole.saturating_sub(verdict),
        peak_mib: peak_mib()?,
    }))
}

/// The history with one wrong result after its middle, and how long the verdict took.
fn violating(
    object: &ObjectType,
    history: &History,
    seed: u64,
    checker: &Checker,
) -> anyhow::Result<Option<(History, Duration)>> {
    let mut sampler = Sampler::new(seed ^ 0x5EED, None);
    let middle = history.len() / 2;
    for _ in 0..ATTEMPTS {
        let id = OpId((middle + sampler.below((middle / 10).max(1))) as u32);
        let Some(changed) = other_result(history, id, &mut sampler) else { continue };
        let changed = history.with_result(id, &changed);
        if object.validate(&changed).is_err() {
            continue;
        }
        let started = Instant::now();
        match checker.check_recorded(object, &changed).map(|report| report.verdict) {
            Ok(Verdict::Violation(_)) => return Ok(Some((changed, started.elapsed()))),
            Ok(Verdict::Undecided(_)) => return Ok(None),
            Ok(Verdict::Linearizable(_)) => {}
            Err(error) if error.kind() == ErrorKind::Limit => return Ok(None),
            Err(error) => return Err(Error::into(error)),
        }
    }
    Ok(None)
}

/// Another result for an operation: that of a random one, or, of a list, with one item taken from another list. Of an item that
/// is a list too, such as a step of a transaction, only the end is taken.
fn other_result(history: &History, id: OpId, sampler: &mut Sampler) -> Option<Value> {
    let other = history.values()[sampler.below(history.values().len())].clone();
    let (Some(Value::List(items)), Value::List(others)) = (history.op(id).result, &other) else {
        return Some(other);
    };
    let (mut items, chosen) = (items.to_vec(), sampler.below(items.len().max(1)));
    let (item, other) = (items.get_mut(chosen)?, others.get(sampler.below(others.len().max(1)))?);
    *item = match (&*item, other) {
        (Value::List(of_item), Value::List(of_other)) => {
            let (_, start) = of_item.split_last()?;
            Value::list(start.iter().chain(of_other.last()).cloned())
        }
        _ => other.clone(),
    };
    Some(Value::list(items))
}
