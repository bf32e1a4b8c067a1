//! Conditions beside linearizability and isolation levels of transactions: time, memory, and growth from 10,000 operations on.

use std::time::Instant;

use anyhow::{Context, bail};
use linpoint::condition::Condition;
use linpoint::engine::Budget;
use linpoint::generate::{Generator, StoreGenerator};
use linpoint::history::{Call, HistoryBuilder, Ties};
use linpoint::spec::Params;
use linpoint::transaction::{Level, Model, Verdict, check};
use linpoint::{Checker, History, Value, object_type};

use crate::child::{peak_mib, within};

/// The argument that makes this program measure one case and answer.
pub const COMMAND: &str = "measure-condition";

/// Memory of one measurement.
const MEMORY_KIB: u64 = 12 << 20;

/// What is decided: the histories, a name that `--condition` takes, and the longest.
const CASES: [(&str, &str, usize); 15] = [
    ("register", "sequential", 10_000),
    ("kv", "k-atomic", 1_000_000),
    ("kv", "ryw@", 1_000_000),
    ("kv", "mr@", 1_000_000),
    ("kv", "ryw+mr", 1_000_000),
    ("kv", "ryw+mr+mw", 1_000_000),
    ("kv", "weak-causal", 1_000_000),
    ("kv", "causal-convergence", 1_000_000),
    ("transactions", "read-committed", 1_000_000),
    ("transactions", "read-atomic", 1_000_000),
    ("transactions", "causal", 1_000_000),
    ("transactions", "session-serializable", 1_000_000),
    ("lists", "serializable", 1_000_000),
    ("lists", "session-serializable", 1_000_000),
    ("lists", "snapshot-isolation", 1_000_000),
];

pub fn run() -> anyhow::Result<()> {
    println!("## Conditions and levels\n");
    println!(
        "\"kv\": a store whose reads are stale, 1,000 keys, 100 sessions; \"transactions\": on registers, of one to four steps, 1,000 keys, 100 sessions; \"lists\": list-append, \
         lists of up to 32 elements, 100 sessions; \"register\": 10 values that repeat, 10 processes. All hold. Time of deciding, without reading. Peak memory of the process, with the history. \
         \"Growth\" is time per operation against the row before.\n"
    );
    println!("| histories | condition | operations | CPU time | growth | peak memory |");
    println!("|---|---|---|---|---|---|");
    for (kind, name, most) in CASES {
        let mut before = None;
        for ops in [10_000, 100_000, 1_000_000].into_iter().filter(|ops| *ops <= most) {
            let output = within(MEMORY_KIB)?.args([COMMAND, kind, name, &ops.to_string()]).output()?;
            if !output.status.success() {
                let error = String::from_utf8_lossy(&output.stderr);
                println!("| {kind} | {name} | {ops} | {} | - | - |", error.lines().next().unwrap_or("failed"));
                break;
            }
            let text = String::from_utf8(output.stdout)?;
            let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let &[seconds, peak] = numbers.as_slice() else { bail!("no answer: {text}") };
            let per_op = seconds / ops as f64;
            let growth = before.map_or("-".to_owned(), |before: f64| format!("{:.2}", per_op / before));
            before = Some(per_op);
            println!("| {kind} | {name} | {ops} | {:.1} ms | {growth} | {peak:.0} MiB |", seconds * 1e3);
        }
    }
    println!();
    Ok(())
}

/// Measures here and prints seconds of CPU time and peak memory.
pub fn answer(args: &[&str]) -> anyhow::Result<()> {
    let &[kind, name, ops] = args else { bail!("three arguments expected") };
    let history = history(kind, ops.parse()?)?;
    let mut best = f64::INFINITY;
    let started = Instant::now();
    for _ in 0..10 {
        let before = cpu_seconds()?;
        decide(kind, name, &history)?;
        best = best.min(cpu_seconds()? - before);
        if started.elapsed().as_secs_f64() > 0.5 {
            break;
        }
    }
    println!("{best} {}", peak_mib()?);
    Ok(())
}

fn decide(kind: &str, name: &str, history: &History) -> anyhow::Result<()> {
    let budget = Budget::default();
    if matches!(kind, "transactions" | "lists") {
        let model = match kind {
            "lists" => Model::Lists,
            _ => Model::Registers { initial: Value::Nil },
        };
        let level: Level = name.parse()?;
        let reports = check(history, &model, &[level], &budget)?;
        if !matches!(reports[0].verdict, Verdict::Holds(_)) {
            bail!("{name} does not hold: {:?}", reports[0].verdict);
        }
        return Ok(());
    }
    let object = object_type(kind, &Params::new())?;
    let condition: Condition = name.parse()?;
    let decisions = Checker::default().check_conditions_within(&object, history, &[condition], &budget)?;
    if decisions[0].holds() != Some(true) {
        bail!("{name} does not hold: {:?}", decisions[0].outcome);
    }
    Ok(())
}

fn history(kind: &str, ops: usize) -> anyhow::Result<History> {
    let store = |promise| StoreGenerator { ops, processes: 100, keys: 1000, seed: 1, promise };
    Ok(match kind {
        "register" => {
            let generator = Generator { ops, processes: 10, universe: Some(10), seed: 1, ..Generator::default() };
            generator.linearizable(&object_type("register", &Params::new())?)?
        }
        "kv" => store(Condition::WriteLinearizable.into()).history()?,
        "transactions" => store(Level::SessionSerializable.into()).history()?,
        "lists" => lists(ops)?,
        _ => bail!("unknown histories"),
    })
}

/// Transactions that each read two lists and append to one of them, one after the other. A list is left when it is full.
fn lists(ops: usize) -> anyhow::Result<History> {
    const FULL: usize = 32;
    const OPEN: usize = 1000;
    let mut keys: Vec<(i64, Vec<Value>)> = (0..OPEN as i64).map(|key| (key, Vec::new())).collect();
    let mut next_key = OPEN as i64;
    let mut builder = HistoryBuilder::new();
    let mut random = 1u64;
    let mut below = |sides: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % sides
    };
    for value in 0..ops as i64 {
        let (first, second) = (below(OPEN), below(OPEN));
        let read = |at: usize, seen: Value| Value::list(["r".into(), keys[at].0.into(), seen]);
        let list = |at: usize| Value::list(keys[at].1.clone());
        let append = Value::list(["append".into(), keys[first].0.into(), value.into()]);
        let asked = Value::list([read(first, Value::Nil), read(second, Value::Nil), append.clone()]);
        let answered = Value::list([read(first, list(first)), read(second, list(second)), append]);
        let process = Value::from(below(100) as i64);
        builder.call(0, process.clone(), Call::new("txn", asked))?;
        builder.ret(0, &process, answered)?;
        keys[first].1.push(value.into());
        if keys[first].1.len() == FULL {
            keys[first] = (next_key, Vec::new());
            next_key += 1;
        }
    }
    Ok(builder.finish(Ties::default())?)
}

/// The CPU time of this process so far.
fn cpu_seconds() -> anyhow::Result<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").context("no scheduler statistics")?;
    let text = text.split_whitespace().next().context("no scheduler statistics")?.to_owned();
    Ok(text.parse::<f64>()? / 1e9)
}
