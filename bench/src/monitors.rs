//! The monitors against one plain pass over the same columns, and against the sort that puts events in order.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use linpoint::Ties;
use linpoint::generate::Workload;
use linpoint::engine::monitor::{BitState, Bits, Log, Monitor, PriorityQueue, Queue, Register, Stack};
use linpoint::spec::Discipline;

use crate::child::peak_mib;

/// The argument that makes this program measure one monitor and answer.
pub const COMMAND: &str = "measure-monitor";

const CASES: &[&str] = &[
    "queue",
    "queue, 10 % peeks",
    "priority queue",
    "priority queue, 10 % peeks",
    "stack",
    "stack, 10 % peeks",
    "set, keys used once",
    "set, 1000 keys",
    "register",
];

pub fn run() -> anyhow::Result<()> {
    println!("## Monitors\n");
    println!("50 producers, 50 consumers, one thread, verdicts without witnesses; the best of several runs in a process of their own.");
    println!("\"Plain pass\" reads all columns once in the order of events. \"Growth\" is against n log n, from the row before.");
    println!("\"Sort\" sorts the times of all events; \"from times\" ranks them and decides.\n");
    println!("| object | operations | plain pass | decide | times pass | growth | working memory | sort | from times | times sort |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for name in CASES {
        let mut before: Option<f64> = None;
        for ops in [100_000usize, 1_000_000, 10_000_000] {
            let mut child = Command::new(std::env::current_exe()?);
            // Memory that is new each time, at every size: small runs would get back what the run before them had.
            child.env("MALLOC_MMAP_THRESHOLD_", "65536");
            // The bar is for one thread; large logs are decided on several otherwise.
            child.env("RAYON_NUM_THREADS", "1");
            let output = child.arg(COMMAND).arg(name).arg(ops.to_string()).output()?;
            ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout)?;
            let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
            let [pass, decide, mib, sort, from_times] = numbers?[..] else { bail!("no answer") };
            let effort = decide / (ops as f64 * (ops as f64).log2());
            let growth = before.map_or("-".to_owned(), |before| format!("{:.2}", effort / before));
            before = Some(effort);
            println!(
                "| {name} | {ops} | {:.2} ms | {:.1} ms | {:.1} | {growth} | {mib:.0} MiB | {:.0} ms | {:.0} ms | {:.1} |",
                pass * 1e3,
                decide * 1e3,
                decide / pass,
                sort * 1e3,
                from_times * 1e3,
                from_times / sort,
            );
        }
    }
    println!();
    Ok(())
}

/// Measures here and prints the figures.
pub fn answer(args: &[&str]) -> anyhow::Result<()> {
    let &[name, ops] = args else { bail!("two arguments expected") };
    let (object, variant) = name.split_once(", ").unwrap_or((name, ""));
    let workload = Workload {
        ops: ops.parse()?,
        peek_percent: if variant == "10 % peeks" { 20 } else { 0 },
        ..Workload::default()
    };
    match object {
        "queue" => measure(&Queue, &workload.container(Discipline::Fifo).0),
        "priority queue" => {
            let (log, priorities) = workload.container(Discipline::Largest);
            measure(&PriorityQueue { priorities }, &log)
        }
        "stack" => measure(&Stack, &workload.container(Discipline::Lifo).0),
        "set" => {
            let keys = (variant == "1000 keys").then_some(1000);
            measure(&Bits { initially: BitState::Off }, &workload.set(keys))
        }
        "register" => measure(&Register { initial: Some(0) }, &workload.register()),
        _ => bail!("unknown object"),
    }
}

fn measure<M: Monitor>(monitor: &M, log: &Log<M::Act>) -> anyhow::Result<()> {
    let decide = |log: &Log<M::Act>| monitor.decide(log).is_ok_and(|found| found.is_linearizable());
    let runs = (30_000_000 / log.len()).clamp(3, 50);
    let best = |work: &dyn Fn()| {
        let once = |_| {
            let started = Instant::now();
            work();
            started.elapsed().as_secs_f64()
        };
        (0..runs).map(once).fold(f64::INFINITY, f64::min)
    };
    let pass = best(&|| {
        let mut sum = 0u64;
        for event in log.events() {
            let op = event.op();
            black_box(&log.acts[op]);
            sum += u64::from(log.values[op]) + u64::from(log.calls[op]) + u64::from(log.rets[op]);
        }
        black_box(sum);
    });
    // The peak from here on.
    let before = resident_mib()?;
    std::fs::write("/proc/self/clear_refs", "5")?;
    ensure!(decide(log), "not linearizable");
    let working = peak_mib()? - before;
    let decided = best(&|| assert!(decide(log)));

    // With gaps, so that times are not ranks already.
    let times = |ranks: &[u32]| ranks.iter().map(|&rank| i64::from(rank) * 7).collect::<Vec<i64>>();
    let (call_times, ret_times) = (times(&log.calls), times(&log.rets));
    let sort = best(&|| {
        let mut events: Vec<(i64, u32)> = (0u32..).zip(call_times.iter().zip(&ret_times)).flat_map(|(i, (&call, &ret))| [(call, i * 2), (ret, i * 2 + 1)]).collect();
        events.sort_unstable();
        black_box(events);
    });
    let from_times = best(&|| {
        let (calls, rets) = Ties::default().ranks(call_times.clone(), ret_times.clone());
        let log = Log::new(log.acts.clone(), log.values.clone(), calls, rets);
        assert!(decide(&log));
    });
    println!("{pass} {decided} {working} {sort} {from_times}");
    Ok(())
}

pub fn resident_mib() -> anyhow::Result<f64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: f64 = statm.split(' ').nth(1).context("no resident size")?.parse()?;
    Ok(pages * 4096.0 / 1048576.0)
}
