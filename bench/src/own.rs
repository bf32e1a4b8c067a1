//! Specification files beside the built-in types that they describe, and an etcd store whose answers tell the order.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use linpoint::generate::Generator;
use linpoint::object::CheckRecorded;
use linpoint::spec::Params;
use linpoint::{Checker, Config, History, Value, Verdict, object_type};

/// A built-in type, and the file that says the same.
const TWINS: &[(&str, &str)] = &[
    ("kv", "../crates/linpoint-spec/tests/twins/kv.spec"),
    ("bank", "specs/bank.spec"),
    ("etcd", "specs/etcd.spec"),
];

const OPS: [usize; 2] = [1_000, 10_000];

fn params(name: &str) -> Params {
    match name {
        "bank" => [("accounts".to_owned(), Value::Int(5)), ("balance".to_owned(), Value::Int(10))].into(),
        _ => Params::new(),
    }
}

/// The best of three runs, each with an object of its own, so that nothing is remembered.
fn best<O: CheckRecorded>(history: &History, object: impl Fn() -> anyhow::Result<O>) -> anyhow::Result<Duration> {
    let checker = Checker::new(Config::default().verdicts_only());
    let mut times = Vec::new();
    for _ in 0..3 {
        let object = object()?;
        let started = Instant::now();
        let report = checker.check_recorded(&object, history)?;
        times.push(started.elapsed());
        ensure!(matches!(report.verdict, Verdict::Linearizable(_)), "{:?}", report.verdict);
    }
    Ok(times.into_iter().min().unwrap_or_default())
}

pub fn run() -> anyhow::Result<()> {
    println!("\n## Specification files beside built-in types\n");
    println!("Linearizable histories by 5 processes; the best of three runs. The bar is 20 times.\n");
    println!("| object | operations | built in | file | file / built in |");
    println!("|---|---|---|---|---|");
    for (name, file) in TWINS {
        for ops in OPS {
            let object = object_type(name, &params(name))?;
            let history = Generator { ops, processes: 5, seed: 1, ..Generator::default() }.linearizable(&object)?;
            let built_in = best(&history, || Ok(object_type(name, &params(name))?))?;
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let specified = best(&history, || Ok(linpoint_spec::read(&path, &Params::new())?))?;
            println!(
                "| {name} | {ops} | {:.2} ms | {:.2} ms | {:.1} |",
                built_in.as_secs_f64() * 1e3,
                specified.as_secs_f64() * 1e3,
                specified.as_secs_f64() / built_in.as_secs_f64()
            );
        }
    }
    store()
}

/// How the time to decide an etcd store grows.
fn store() -> anyhow::Result<()> {
    println!("\n## An etcd store whose revisions tell the order\n");
    println!("By 10 processes. `growth` is the time for ten times as many operations, divided by ten.\n");
    println!("| operations | time | growth |");
    println!("|---|---|---|");
    let mut before: Option<Duration> = None;
    for ops in [1_000, 10_000, 100_000] {
        let object = object_type("etcd", &Params::new())?;
        let history = Generator { ops, processes: 10, seed: 1, ..Generator::default() }.linearizable(&object)?;
        let time = best(&history, || Ok(object_type("etcd", &Params::new())?))?;
        let growth = before.map_or_else(|| "-".to_owned(), |before| format!("{:.2}", time.as_secs_f64() / before.as_secs_f64() / 10.0));
        println!("| {ops} | {:.1} ms | {growth} |", time.as_secs_f64() * 1e3);
        before = Some(time);
    }
    Ok(())
}
