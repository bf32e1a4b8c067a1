//! Live objects under control: executions and steps each second against `shuttle`, complete checks, and the crate `lincheck`.

#[allow(dead_code)] // Only the counter is small enough for it.
mod loomed;
mod shuttled;

/// The objects under linpoint's own engine.
#[allow(dead_code)] // Operations are run by name.
mod ours {
    use linpoint_test::sync;

    include!("objects.rs");
}

use std::time::{Duration, Instant};

use anyhow::ensure;
use linpoint_test::sync::Mutex;
use linpoint_test::{Object, Strategy, object};

use ours::{CasCounter, Container, MichaelScott, MutexQueue, Op, Treiber};

/// Three threads with three operations each.
const QUEUE_TEST: [[Op; 3]; 3] = [[Op::Put(1), Op::Take, Op::Put(4)], [Op::Put(2), Op::Take, Op::Take], [Op::Take, Op::Put(3), Op::Take]];
const COUNTER_TEST: [[Op; 3]; 3] = [[Op::Put(1), Op::Take, Op::Put(1)], [Op::Put(1), Op::Take, Op::Put(1)], [Op::Take, Op::Put(1), Op::Take]];

/// Preemptions inside operations.
const BOUND: u32 = 2;

pub fn run() -> anyhow::Result<()> {
    println!("## Live objects\n");
    against_shuttle()?;
    complete_checks()?;
    against_lincheck()
}

fn names(test: &[[Op; 3]]) -> Vec<Vec<String>> {
    let name = |op: &Op| match op {
        Op::Put(value) => format!("put({value})"),
        Op::Take => "take".to_owned(),
    };
    test.iter().map(|ops| ops.iter().map(name).collect()).collect()
}

fn test<C: Container>() -> Object<C> {
    object(C::make).op("put", [1, 2, 3, 4], C::put).op0("take", C::take).jobs(1).as_found()
}

/// What one engine did.
struct Work {
    executions: u64,
    steps: u64,
    /// On the processor.
    seconds: f64,
    /// Whether all executions within the bound were run.
    is_complete: bool,
}

impl Work {
    fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.seconds
    }
}

/// How long all threads of this process were at work, in steps of a hundredth of a second.
fn busy_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold anything.
    let fields = statistics.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// A test, under our engine and under shuttle.
type Pair = (&'static str, fn() -> anyhow::Result<Work>, fn() -> Work);

fn against_shuttle() -> anyhow::Result<()> {
    println!("All executions of a 3x3 test with at most {BOUND} preemptions inside operations, no reduction, one thread, time on the processor. shuttle gets a");
    println!("scheduler of the same bound, free switches between operations, and nothing to check; it stops after {} executions. Ours checks", shuttled::MOST);
    println!("every history, serial ones included; it needs fewer executions because a call is one step with its first access. \"Whole search\" is the");
    println!("time until all executions within the bound were run, where shuttle came to the end.\n");
    println!("| object | executions | each second | steps each second | shuttle: executions | each second | steps each second | times faster, execution for execution | step for step | whole search |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let pairs: [Pair; 4] = [
        ("Mutex<VecDeque>", || plain::<MutexQueue>(QUEUE_TEST), || shuttled::run::<shuttled::MutexQueue>(QUEUE_TEST, BOUND)),
        ("Michael-Scott queue", || plain::<MichaelScott>(QUEUE_TEST), || shuttled::run::<shuttled::MichaelScott>(QUEUE_TEST, BOUND)),
        ("Treiber stack", || plain::<Treiber>(QUEUE_TEST), || shuttled::run::<shuttled::Treiber>(QUEUE_TEST, BOUND)),
        ("CAS counter", || plain::<CasCounter>(COUNTER_TEST), || shuttled::run::<shuttled::CasCounter>(COUNTER_TEST, BOUND)),
    ];
    for (name, ours, theirs) in pairs {
        let (ours, theirs) = (ours()?, theirs());
        println!(
            "| {name} | {} | {:.0} | {:.2} M | {} | {:.0} | {:.2} M | {:.1} | {:.1} | {} |",
            ours.executions,
            ours.per_second(ours.executions),
            ours.per_second(ours.steps) / 1e6,
            theirs.executions,
            theirs.per_second(theirs.executions),
            theirs.per_second(theirs.steps) / 1e6,
            ours.per_second(ours.executions) / theirs.per_second(theirs.executions),
            ours.per_second(ours.steps) / theirs.per_second(theirs.steps),
            if theirs.is_complete { format!("{:.1}", theirs.seconds / ours.seconds) } else { "-".to_owned() },
        );
    }
    println!();
    Ok(())
}

fn plain<C: Container>(threads: [[Op; 3]; 3]) -> anyhow::Result<Work> {
    let start = busy_seconds();
    let report = test::<C>().matrix(names(&threads)).strategy(Strategy::Plain(Some(BOUND))).check();
    let seconds = busy_seconds() - start;
    ensure!(report.passed(), "{report}");
    let effort = report.effort();
    Ok(Work { executions: effort.executions, steps: effort.steps, seconds, is_complete: true })
}

/// Figure 1: taking gives up when the lock is not to be had in time.
struct TimedQueue(Mutex<std::collections::VecDeque<u32>>);

impl TimedQueue {
    fn try_take(&self) -> Option<u32> {
        self.0.try_lock_for(Duration::from_millis(1)).ok()?.pop_front()
    }
}

fn complete_checks() -> anyhow::Result<()> {
    println!("Complete checks, one thread for the first and all cores for the second.\n");
    let (start, busy) = (Instant::now(), busy_seconds());
    let report = test::<MichaelScott>().matrix(names(&QUEUE_TEST)).strategy(Strategy::Bounded(BOUND)).check();
    ensure!(report.passed(), "{report}");
    println!(
        "- Michael-Scott queue, 3x3, up to {BOUND} preemptions: {} executions, {:.2?}, {:.2} s of them on the processor",
        report.effort().executions,
        start.elapsed(),
        busy_seconds() - busy,
    );
    let (start, busy) = (Instant::now(), busy_seconds());
    let report = object(|| TimedQueue(Mutex::default()))
        .op("add", [200, 400], |queue, value| queue.0.lock().expect("nobody panics here").push_back(value))
        .op0("try_take", TimedQueue::try_take)
        .op0("count", |queue| queue.0.lock().expect("nobody panics here").len())
        .op0("is_empty", |queue| queue.0.lock().expect("nobody panics here").is_empty())
        .op0("try_peek", |queue| queue.0.lock().expect("nobody panics here").front().copied())
        .random(3, 3, 100)
        .keep_going()
        .as_found()
        .check();
    let passed = report.tests.iter().filter(|test| matches!(test.result, linpoint_test::report::TestResult::Pass(_))).count();
    println!(
        "- the queue with the timed lock, 100 random 3x3 tests: {passed} pass, {} fail, {} executions, {:.2?}, {:.2} s of them on the processor",
        report.tests.len() - passed,
        report.effort().executions,
        start.elapsed(),
        busy_seconds() - busy,
    );
    println!("\nThe paper took 33.8 minutes for a passing test of that queue and 5.7 for a failing one, on another machine (8 cores, 2.33 GHz, 2010).\n");
    Ok(())
}

fn against_lincheck() -> anyhow::Result<()> {
    println!("The crate `lincheck` (on loom, no bound), the same object and scenario: a CAS counter, two threads that increment and look.\n");
    println!("| | executions | time |");
    println!("|---|---|---|");
    let scenario = [["put(1)", "take"], ["put(1)", "take"]];
    let start = Instant::now();
    let report = test::<CasCounter>().matrix(scenario).check();
    ensure!(report.passed(), "{report}");
    let ours = start.elapsed();
    println!("| linpoint: all executions, serial ones included | {} | {ours:.2?} |", report.effort().executions + report.effort().serial as u64);
    let (executions, theirs, is_linearizable) = loomed::run();
    println!("| lincheck: {} | {executions} | {theirs:.2?} |", if is_linearizable { "linearizable" } else { "NOT linearizable" });
    println!("\n{:.0} times as fast.\n", theirs.as_secs_f64() / ours.as_secs_f64());
    Ok(())
}
