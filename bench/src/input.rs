//! From a file of a million operations to a verdict, against what parsing its JSON alone takes.

use std::borrow::Cow;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::time::Instant;

use anyhow::ensure;
use linpoint::format::{ReadOptions, read, write_jsonl};
use linpoint::{Call, Checker, Config, HistoryBuilder, Operation, Ties, Verdict, object_type};
use serde::Deserialize;

use crate::peers::Case;

const OPS: usize = 1_000_000;
const RUNS: usize = 5;

/// The keys of our lines, borrowed where they can be: the least that a parser must do.
#[derive(Deserialize)]
#[allow(dead_code)]
struct Line<'a> {
    process: Option<i64>,
    #[serde(borrow)]
    event: Option<Cow<'a, str>>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    arg: Option<i64>,
    ret: Option<i64>,
    call: Option<i64>,
    r#return: Option<i64>,
}

pub fn run() -> anyhow::Result<()> {
    println!("## Reading and deciding\n");
    println!("{OPS} operations of a register, 20 processes, one file of JSON lines; best of {RUNS} runs, in one process.\n");
    println!("| lines | size | serde_json, typed | serde_json, any value | read and decide | times typed | times any value |");
    println!("|---|---|---|---|---|---|---|");
    let case = Case { object: "register", ops: OPS, processes: 20, seed: 1 };
    let history = case.history()?;
    let folder = std::env::temp_dir();

    let events = folder.join("linpoint-bench-events.jsonl");
    let mut out = BufWriter::new(File::create(&events)?);
    write_jsonl(&history, Some(("register", &Default::default())), &mut out)?;
    out.flush()?;
    measure("calls and returns", &events)?;

    let operations = folder.join("linpoint-bench-operations.jsonl");
    let mut builder = HistoryBuilder::new();
    for op in history.ops() {
        let operation = Operation {
            process: Some(op.process.clone()),
            call: Call::new(op.method, op.argument.clone()),
            result: op.result.cloned().unwrap_or_default(),
            called: i64::from(op.call),
            returned: Some(i64::from(op.ret)),
        };
        builder.operation(0, operation)?;
    }
    let timed = builder.finish(Ties::default())?;
    let mut out = BufWriter::new(File::create(&operations)?);
    write_jsonl(&timed, Some(("register", &Default::default())), &mut out)?;
    out.flush()?;
    measure("operations", &operations)?;

    std::fs::remove_file(events)?;
    std::fs::remove_file(operations)?;
    println!();
    Ok(())
}

fn measure(name: &str, path: &std::path::Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..RUNS {
        let started = Instant::now();
        for line in text.lines().skip(1) {
            black_box(serde_json::from_str::<Line<'_>>(line)?);
        }
        best[0] = best[0].min(started.elapsed().as_secs_f64());

        let started = Instant::now();
        for line in text.lines() {
            black_box(serde_json::from_str::<serde_json::Value>(line)?);
        }
        best[1] = best[1].min(started.elapsed().as_secs_f64());

        let started = Instant::now();
        let checker = Checker::new(Config::default());
        let object = object_type("register", &Default::default())?;
        let mut verdict = None;
        read(path, &ReadOptions::default(), |recorded| {
            verdict = recorded.and_then(|r| checker.check_recorded(&object, &r.history)).ok();
        });
        ensure!(verdict.is_some_and(|report| matches!(report.verdict, Verdict::Linearizable(_))), "not decided");
        best[2] = best[2].min(started.elapsed().as_secs_f64());
    }
    let [typed, any, ours] = best;
    println!(
        "| {name} | {:.0} MB | {typed:.2} s | {any:.2} s | {ours:.2} s | {:.2} | {:.2} |",
        text.len() as f64 / 1e6,
        ours / typed,
        ours / any,
    );
    Ok(())
}
