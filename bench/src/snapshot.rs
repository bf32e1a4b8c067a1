//! Snapshots: the monitors against a plain pass over the same events, and against the general search.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use linpoint::engine::monitor::snapshot::simple::{Side, SimpleEvent};
use linpoint::engine::monitor::snapshot::{General, Scanning, simple};
use linpoint::format::{ReadOptions, read};
use linpoint::generate::{SnapshotEvent, SnapshotFault, SnapshotGenerator, SnapshotShape};
use linpoint::{Checker, Config, EngineChoice, History, Verdict, object_type};

use crate::child::peak_mib;
use crate::monitors::resident_mib;

/// The argument that makes this program measure one case and answer.
pub const COMMAND: &str = "measure-snapshot";

const PROCESSES: u32 = 20;

/// How long the search may take for one history.
const PATIENCE: Duration = Duration::from_millis(200);

pub fn run() -> anyhow::Result<()> {
    println!("## Snapshots\n");
    println!("{PROCESSES} processes, one thread, verdicts without witnesses; the best of several runs in a process of their own.");
    println!("\"Plain pass\" sums one integer of each event; for general histories, also of each value that a scan returns.\n");
    println!("| histories | events | plain pass | decide | times pass | per event | working memory |");
    println!("|---|---|---|---|---|---|---|");
    for shape in ["simple", "simple, step by step", "general"] {
        for events in [10_000usize, 100_000, 1_000_000, 10_000_000] {
            let output = Command::new(std::env::current_exe()?).arg(COMMAND).arg(shape).arg(events.to_string()).output()?;
            ensure!(output.status.success(), "{shape}: {}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout)?;
            let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
            let [count, pass, decide, mib] = numbers?[..] else { bail!("no answer") };
            println!(
                "| {shape} | {count} | {:.3} ms | {:.3} ms | {:.2} | {:.2} ns | {mib:.1} MiB |",
                pass * 1e3,
                decide * 1e3,
                decide / pass,
                decide / count * 1e9,
            );
        }
    }
    println!();
    against_search()
}

/// Measures here and prints the figures.
pub fn answer(args: &[&str]) -> anyhow::Result<()> {
    let &[shape, events] = args else { bail!("two arguments expected") };
    let generator = |shape| SnapshotGenerator { ops: events.parse::<usize>().unwrap_or(0) / 2, processes: PROCESSES, shape, ..SnapshotGenerator::default() };
    match shape {
        "simple" => measure_simple(&generator(SnapshotShape::Simple), |events| simple::decide(events, PROCESSES).is_ok()),
        "simple, step by step" => measure_simple(&generator(SnapshotShape::Simple), |events| {
            let mut monitor = simple::Monitor::default();
            events.iter().all(|&event| monitor.step(event).is_ok())
        }),
        "general" => measure_general(&generator(SnapshotShape::General)),
        _ => bail!("unknown shape"),
    }
}

/// Prints events, seconds of the pass, seconds of the decision, and working memory.
fn measure(events: usize, pass: &dyn Fn(), decide: &dyn Fn() -> bool) -> anyhow::Result<()> {
    let runs = (30_000_000 / events).clamp(3, 200);
    let best = |work: &dyn Fn()| {
        let once = |_| {
            let (started, worked) = (Instant::now(), cpu_seconds());
            work();
            let elapsed = started.elapsed().as_secs_f64();
            // No process has the processor alone for long; the time on it is known up to a few milliseconds.
            if elapsed > 0.1 { cpu_seconds() - worked } else { elapsed }
        };
        (0..runs).map(once).fold(f64::INFINITY, f64::min)
    };
    let plain = best(pass);
    // The peak from here on.
    let before = resident_mib()?;
    std::fs::write("/proc/self/clear_refs", "5")?;
    ensure!(decide(), "not linearizable");
    let working = peak_mib()? - before;
    let decided = best(&|| assert!(decide()));
    println!("{events} {plain} {decided} {}", working.max(0.0));
    Ok(())
}

/// How long this thread was at work.
fn cpu_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1e9
}

fn measure_simple(generator: &SnapshotGenerator, decide: impl Fn(&[SimpleEvent]) -> bool) -> anyhow::Result<()> {
    let mut events: Vec<SimpleEvent> = Vec::new();
    // What the open update of each process writes.
    let mut writes = [0; PROCESSES as usize];
    let side = |process: u32, value: i64| (value == 1).then_some(if process == 0 { Side::First } else { Side::Second });
    generator.events(&mut |event| {
        events.push(match event {
            SnapshotEvent::UpdateCalled(process, value) => {
                writes[process as usize] = value;
                side(process, value).map_or(SimpleEvent::OTHER, SimpleEvent::update_called)
            }
            SnapshotEvent::UpdateReturned(process) => side(process, writes[process as usize]).map_or(SimpleEvent::OTHER, SimpleEvent::update_returned),
            SnapshotEvent::ScanCalled(process) => SimpleEvent::scan_called(process),
            SnapshotEvent::ScanReturned(process, values) => SimpleEvent::scan_returned(process, [values[0] == 1, values[1] == 1]),
            SnapshotEvent::Crashed(_) => SimpleEvent::OTHER,
        });
    })?;
    measure(
        events.len(),
        &|| {
            black_box(black_box(&events).iter().map(|event| u64::from(event.bits())).sum::<u64>());
        },
        &|| decide(black_box(&events)),
    )
}

/// An event of a general history, in numbers.
enum Step {
    CallUpdate(u32, u32),
    ReturnUpdate(u32),
    CallScan(u32),
    /// With the place of its values.
    ReturnScan(u32, usize),
}

fn measure_general(generator: &SnapshotGenerator) -> anyhow::Result<()> {
    let (mut steps, mut shown) = (Vec::new(), Vec::new());
    generator.events(&mut |event| {
        steps.push(match event {
            SnapshotEvent::UpdateCalled(process, value) => Step::CallUpdate(process, value as u32),
            SnapshotEvent::UpdateReturned(process) | SnapshotEvent::Crashed(process) => Step::ReturnUpdate(process),
            SnapshotEvent::ScanCalled(process) => Step::CallScan(process),
            SnapshotEvent::ScanReturned(process, values) => {
                shown.extend(values.iter().map(|&value| value as u32));
                Step::ReturnScan(process, shown.len() - values.len())
            }
        });
    })?;
    measure(
        steps.len(),
        &|| {
            let process = |step: &Step| match step {
                Step::CallUpdate(process, _) | Step::ReturnUpdate(process) | Step::CallScan(process) | Step::ReturnScan(process, _) => u64::from(*process),
            };
            black_box(steps.iter().map(process).sum::<u64>() + shown.iter().map(|&value| u64::from(value)).sum::<u64>());
        },
        &|| watch(&steps, &shown),
    )
}

/// Judges a general history while it happens.
fn watch(steps: &[Step], shown: &[u32]) -> bool {
    let mut general: General<u32, u32> = General::new(0);
    let mut open: Vec<Option<Scanning<u32>>> = (0..PROCESSES).map(|_| None).collect();
    for step in steps {
        match *step {
            Step::CallUpdate(process, value) => {
                if general.call_update(process, process, value).is_err() {
                    return false;
                }
            }
            Step::ReturnUpdate(process) => {
                general.return_update(process);
                general.forget_updates(process);
            }
            Step::CallScan(process) => open[process as usize] = Some(general.call_scan(process)),
            Step::ReturnScan(process, from) => {
                let values = &shown[from..from + PROCESSES as usize];
                let Some(scan) = open[process as usize].take() else { return false };
                if general.return_scan(scan, values).is_err() {
                    return false;
                }
                general.forget();
            }
        }
    }
    true
}

/// The published histories, where they are at hand.
fn published() -> Vec<History> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    let root = std::env::var_os("LINPOINT_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let archive = root.join("snapshot/histories.tar.gz");
    let mut all = Vec::new();
    if archive.exists() {
        read(&archive, &ReadOptions::default(), |recorded| all.extend(recorded.map(|recorded| recorded.history)));
    }
    all
}

/// Histories of the same sizes as the published ones.
fn generated(shape: SnapshotShape) -> anyhow::Result<Vec<History>> {
    let good = [5, 8, 11, 14, 17, 20].map(|processes| [100, 250, 500].map(|ops| (processes, ops, false)));
    let bad = [4, 5, 6, 7, 8, 10].map(|processes| [25, 50, 100].map(|ops| (processes, ops, true)));
    let mut all = Vec::new();
    for (processes, ops, is_bad) in good.into_iter().chain(bad).flatten() {
        for (seed, (_, fault)) in (0..).zip(SnapshotFault::NAMES) {
            let fault = is_bad.then_some(fault);
            all.push(SnapshotGenerator { ops, processes, seed, shape, fault, ..SnapshotGenerator::default() }.history()?);
        }
    }
    Ok(all)
}

/// The verdicts of whole collections by the monitor and by the search.
fn against_search() -> anyhow::Result<()> {
    println!("Collections of histories of 25 to 500 operations by 3 to 20 processes, half of them not linearizable, one after the other, \
        at most {} s each:\n", PATIENCE.as_secs_f64());
    println!("| histories | engine | answered | time | times monitor |");
    println!("|---|---|---|---|---|");
    let collections = [
        ("simple, published", published()),
        ("simple, generated", generated(SnapshotShape::Simple)?),
        ("general, generated", generated(SnapshotShape::General)?),
    ];
    let snapshot = object_type("snapshot", &Default::default())?;
    for (name, histories) in collections.iter().filter(|(_, histories)| !histories.is_empty()) {
        let decide = |engine: EngineChoice| -> anyhow::Result<(f64, usize)> {
            let config = Config::default().verdicts_only().without_witnesses().with_engine(engine).with_timeout(PATIENCE);
            let checker = Checker::new(config);
            let started = Instant::now();
            let mut answered = 0;
            for history in histories {
                let report = checker.check_recorded(&snapshot, history)?;
                answered += usize::from(!matches!(report.verdict, Verdict::Undecided(_)));
            }
            Ok((started.elapsed().as_secs_f64(), answered))
        };
        let (monitor, by_monitor) = decide(EngineChoice::Monitor)?;
        let (search, by_search) = decide(EngineChoice::Search)?;
        let count = histories.len();
        println!("| {name} | monitor | {by_monitor} of {count} | {:.1} ms | 1 |", monitor * 1e3);
        let at_least = if by_search < count { "at least " } else { "" };
        println!("| {name} | search | {by_search} of {count} | {:.1} ms | {at_least}{:.1} |", search * 1e3, search / monitor);
    }
    println!();
    Ok(())
}
