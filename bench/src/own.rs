//! Specification files beside the built-in types that they describe, and an etcd store whose answers tell the order.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::ensure;
use linpoint::format::write_jsonl;
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

/// How long porcupine takes to decide the same history with the same model, the best of three runs: `program` prints it.
fn porcupine(program: &OsStr, name: &str, history: &History) -> anyhow::Result<Duration> {
    #[derive(serde::Deserialize)]
    struct Answer {
        verdict: String,
        seconds: f64,
    }
    let file = std::env::temp_dir().join("linpoint-bench-own.jsonl");
    let mut out = BufWriter::new(File::create(&file)?);
    write_jsonl(history, Some((name, &params(name))), &mut out)?;
    out.flush()?;
    let output = Command::new(program).args(["-type", name, "-runs", "3", "-json"]).arg(&file).output()?;
    ensure!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    let answer: Answer = serde_json::from_slice(&output.stdout)?;
    ensure!(answer.verdict == "linearizable", "porcupine says {:?}", answer.verdict);
    Ok(Duration::try_from_secs_f64(answer.seconds)?)
}

pub fn run() -> anyhow::Result<()> {
    let peer = std::env::var_os("PORCUPINE");
    println!("\n## Specification files beside built-in types\n");
    println!("Linearizable histories by 5 processes; the best of three runs. The bar is 20 times built-in types, and 3 times porcupine.\n");
    println!("| object | operations | built in | file | file / built in | porcupine | file / porcupine |");
    println!("|---|---|---|---|---|---|---|");
    for (name, file) in TWINS {
        for ops in OPS {
            let object = object_type(name, &params(name))?;
            let history = Generator { ops, processes: 5, seed: 1, ..Generator::default() }.linearizable(&object)?;
            let built_in = best(&history, || Ok(object_type(name, &params(name))?))?;
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let specified = best(&history, || Ok(linpoint_spec::read(&path, &Params::new())?))?;
            let beside = match &peer {
                Some(program) => {
                    let time = porcupine(program, name, &history)?;
                    format!("{:.2} ms | {:.1}", time.as_secs_f64() * 1e3, specified.as_secs_f64() / time.as_secs_f64())
                }
                None => "- | -".to_owned(),
            };
            println!(
                "| {name} | {ops} | {:.2} ms | {:.2} ms | {:.1} | {beside} |",
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
