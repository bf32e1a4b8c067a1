//! `linpoint tables monitors`: measures the times of the monitors.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use linpoint::Error;
use linpoint::engine::monitor::{BitState, Bits, Log, Monitor, PriorityQueue, Queue, Stack};
use linpoint::generate::Workload;
use linpoint::spec::Discipline;
use serde_json::json;

use super::chart::{Chart, Line, Scale, page};
use crate::args::MonitorTableArgs;
use crate::exit::Exit;
use crate::files::{Files, Output};
use crate::interrupt;
use crate::progress::Watcher;

/// The objects of the figures.
const OBJECTS: &[&str] = &["set", "stack", "queue", "priority queue"];

/// Processes where they do not vary, and operations where they do not.
const PROCESSES: usize = 100;
const OPS: usize = 1_000_000;

const ALL_OPS: &[usize] = &[
    100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000,
];
const ALL_PROCESSES: &[usize] = &[2, 5, 10, 20, 50, 100, 200];

/// One measurement.
struct Cell {
    object: &'static str,
    ops: usize,
    processes: usize,
    seconds: f64,
}

/// The monitors' times by length and by number of processes: Figures 1 and 2 of Lee and Mathur's paper.
pub(crate) fn run(args: &MonitorTableArgs) -> anyhow::Result<Exit> {
    // The file is opened first, so that one that cannot be written is reported before the measurement.
    let mut files = Files::reading(&[])?;
    let page = args.output.as_deref();
    let page = page
        .map(|path| files.create("--output", path))
        .transpose()?;
    let stop = interrupt::flag();
    let watcher = Watcher::new();
    let lengths: Vec<usize> = ALL_OPS
        .iter()
        .copied()
        .filter(|&ops| ops <= args.ops)
        .collect();
    let lengths = if lengths.is_empty() {
        vec![args.ops]
    } else {
        lengths
    };
    let by_length: Vec<(usize, usize)> = lengths.iter().map(|&ops| (ops, PROCESSES)).collect();
    let ops = OPS.min(args.ops);
    let by_processes: Vec<(usize, usize)> = ALL_PROCESSES.iter().map(|&n| (ops, n)).collect();

    let first = measure_all(&by_length, &stop, &watcher)?;
    let second = measure_all(&by_processes, &stop, &watcher)?;
    watcher.clear();
    let mut out = Output::standard();
    if args.report.json {
        let cells = |cells: &[Cell]| {
            let cell = |cell: &Cell| json!({ "object": cell.object, "operations": cell.ops, "processes": cell.processes, "seconds": cell.seconds });
            cells.iter().map(cell).collect::<Vec<_>>()
        };
        let interrupted = stop.load(Relaxed);
        writeln!(
            out,
            "{}",
            json!({ "by_operations": cells(&first), "by_processes": cells(&second), "interrupted": interrupted })
        )?;
    } else {
        writeln!(
            out,
            "{PROCESSES} processes, half of them producers; seconds:\n"
        )?;
        print(&mut out, "operations", &first, |cell| cell.ops)?;
        writeln!(out, "\n{ops} operations; seconds:\n")?;
        print(&mut out, "processes", &second, |cell| cell.processes)?;
        if stop.load(Relaxed) {
            writeln!(out, "\n(interrupted)")?;
        }
    }
    out.finish()?;
    if let Some(mut page) = page {
        page.write_all(page_of(&first, &second, ops).as_bytes())?;
        page.finish()?;
    }
    Ok(Exit::Linearizable)
}

fn measure_all(
    cases: &[(usize, usize)],
    stop: &AtomicBool,
    watcher: &Watcher,
) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for &(ops, processes) in cases {
        for object in OBJECTS {
            if stop.load(Relaxed) {
                return Ok(cells);
            }
            watcher.say(format!("{object}: {ops} operations, {processes} processes"));
            let workload = Workload {
                ops,
                processes,
                ..Workload::default()
            };
            cells.push(Cell {
                object,
                ops,
                processes,
                seconds: measure(object, &workload)?,
            });
        }
    }
    Ok(cells)
}

/// The shortest of a few runs, in seconds.
fn measure(object: &str, workload: &Workload) -> Result<f64, Error> {
    match object {
        "set" => {
            let bits = Bits {
                initially: BitState::Off,
            };
            time(&bits, &workload.set(None))
        }
        "stack" => time(&Stack, &workload.container(Discipline::Lifo).0),
        "queue" => time(&Queue, &workload.container(Discipline::Fifo).0),
        _ => {
            let (log, priorities) = workload.container(Discipline::Largest);
            time(&PriorityQueue { priorities }, &log)
        }
    }
}

fn time<M: Monitor>(monitor: &M, log: &Log<M::Act>) -> Result<f64, Error> {
    const RUNS: usize = 3;
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let started = Instant::now();
        if !monitor
            .decide(log)
            .is_ok_and(|found| found.is_linearizable())
        {
            return Err(Error::bug("a simulated history was called a violation"));
        }
        best = best.min(started.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn print(
    out: &mut dyn Write,
    name: &str,
    cells: &[Cell],
    of: impl Fn(&Cell) -> usize,
) -> std::io::Result<()> {
    write!(out, "{name:>12}")?;
    for object in OBJECTS {
        write!(out, "  {object:>14}")?;
    }
    writeln!(out)?;
    for row in cells.chunks(OBJECTS.len()) {
        write!(out, "{:>12}", of(&row[0]))?;
        for cell in row {
            write!(out, "  {:>14.4}", cell.seconds)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn page_of(first: &[Cell], second: &[Cell], ops: usize) -> String {
    let lines = |cells: &[Cell], of: fn(&Cell) -> usize| {
        let line = |object: &&str| Line {
            name: (*object).to_owned(),
            points: cells
                .iter()
                .filter(|cell| cell.object == *object)
                .map(|cell| (of(cell) as f64, cell.seconds))
                .collect(),
        };
        OBJECTS.iter().map(line).collect()
    };
    let by_length = Chart {
        title: &format!("Time by operations, {PROCESSES} processes"),
        across: "operations",
        up: "seconds",
        scale: Scale::Logarithmic,
        lines: lines(first, |cell| cell.ops),
    };
    let by_processes = Chart {
        title: &format!("Time by processes, {ops} operations"),
        across: "processes",
        up: "seconds",
        scale: Scale::Logarithmic,
        lines: lines(second, |cell| cell.processes),
    };
    let words = "Histories of a simulated object, half of the processes producing and half consuming; one thread, verdicts \
                 only, events in order. After Figures 1 and 2 of Lee and Mathur, <cite>Efficient Linearizability Monitoring \
                 for Sets, Stacks, Queues and Priority Queues</cite> (2024).";
    page(
        "Monitors",
        "How long the monitors take",
        words,
        &[by_length, by_processes],
    )
}
