//! Live objects under control: executions and steps each second against `shuttle`, complete checks, and the crate `lincheck`.

#[allow(dead_code)] // Only the counter is small enough for it.
mod loomed;
mod shuttled;

/// The objects under linpoint's own engine.
#[allow(dead_code)] // Operations are run by name.
mod ours {
    use linpoint_test::{hint, sync};

    include!("objects.rs");
}

use std::time::{Duration, Instant};

use anyhow::ensure;
use cpu_time::ProcessTime;
use linpoint_test::sync::Mutex;
use linpoint_test::{Object, Strategy, object};

use ours::{CasCounter, Event, LostCounter, MichaelScott, MutexQueue, Op, SpinCounter, Tested, Treiber};

/// Three threads with three operations each.
type Test = [[Op; 3]; 3];

const QUEUE_TEST: Test = [[Op::Put(1), Op::Take, Op::Put(4)], [Op::Put(2), Op::Take, Op::Take], [Op::Take, Op::Put(3), Op::Take]];
const COUNTER_TEST: Test = [[Op::Put(1), Op::Take, Op::Put(1)], [Op::Put(1), Op::Take, Op::Put(1)], [Op::Take, Op::Put(1), Op::Take]];
const EVENT_TEST: Test = [[Op::Wait, Op::Set, Op::Wait], [Op::Set, Op::Reset, Op::Wait], [Op::Reset, Op::Set, Op::IsSet]];

/// Preemptions inside operations.
const BOUND: u32 = 2;

/// So many seconds for each engine and object.
const LONG_ENOUGH: f64 = 10.0;

pub fn run() -> anyhow::Result<()> {
    println!("## Live objects\n");
    against_shuttle()?;
    complete_checks()?;
    against_lincheck()
}

fn names(test: &Test) -> Vec<Vec<String>> {
    let name = |op: &Op| match op {
        Op::Put(value) => format!("put({value})"),
        Op::Take => "take".to_owned(),
        Op::Set => "set".to_owned(),
        Op::Reset => "reset".to_owned(),
        Op::IsSet => "is_set".to_owned(),
        Op::Wait => "wait".to_owned(),
    };
    test.iter().map(|ops| ops.iter().map(name).collect()).collect()
}

/// An object with the operations of all of them: a test names those that it has.
fn test<C: Tested>() -> Object<C> {
    object(C::make)
        .op("put", [1, 2, 3, 4], |object, value| object.run(Op::Put(value)))
        .op0("take", |object| object.run(Op::Take))
        .op0("set", |object| object.run(Op::Set))
        .op0("reset", |object| object.run(Op::Reset))
        .op0("is_set", |object| object.run(Op::IsSet))
        .op0("wait", |object| object.run(Op::Wait))
        .may_block("wait")
        .jobs(1)
        .as_found()
}

/// What one engine did.
struct Work {
    executions: u64,
    steps: u64,
    /// How often objects were touched.
    accesses: u64,
    /// On the processor, with the serial executions before them.
    seconds: f64,
    /// How much of the time was not for serial executions.
    share: f64,
    /// Whether all executions within the bound were run.
    is_complete: bool,
}

impl Work {
    fn per_second(&self, count: u64) -> f64 {
        count as f64 / (self.seconds * self.share)
    }
}

/// How long all threads of this process were at work.
fn busy_seconds() -> f64 {
    ProcessTime::now().as_duration().as_secs_f64()
}

/// A test, under our engine and under shuttle.
type Pair = (&'static str, fn() -> anyhow::Result<Work>, fn() -> Work);

fn against_shuttle() -> anyhow::Result<()> {
    println!("All executions of a 3x3 test with at most {BOUND} preemptions inside operations, no reduction, one thread, time on the processor, the mean of runs");
    println!("in turn. shuttle gets a scheduler of the same bound, free switches between operations, and nothing to check; it stops after {} executions.", shuttled::MOST);
    println!("Ours checks every history; it needs fewer executions because a call is one step with its first access. The serial executions before them are left");
    println!("out of the rates. Steps of shuttle's are also the starts of threads, the borders between operations and the turns of the main task; an access is a step of a thread to");
    println!("touch the object. \"Whole search\" is the time until all executions within the bound were run, serial ones included, where shuttle came to the");
    println!("end. Counter1 is wrong: its results are ignored, so that the search goes on. Under a spin lock there is no end under shuttle once a preempted");
    println!("thread holds it (two others yield to each other for ever), so the bound is 0 there. The event is a mutex and a condition variable; executions");
    println!("that end stuck are unwound by ours, and left to leak by shuttle.\n");
    println!("| object | executions | each second | steps each second | shuttle: executions | each second | steps each second | times faster, execution for execution | step for step | access for access | whole search |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let pairs: [Pair; 7] = [
        ("CAS counter", || plain(test::<CasCounter>(), COUNTER_TEST, BOUND), || theirs::<shuttled::CasCounter>(COUNTER_TEST, BOUND)),
        ("Counter1", || plain(test::<LostCounter>().ignore_result("take"), COUNTER_TEST, BOUND), || theirs::<shuttled::LostCounter>(COUNTER_TEST, BOUND)),
        ("Treiber stack", || plain(test::<Treiber>(), QUEUE_TEST, BOUND), || theirs::<shuttled::Treiber>(QUEUE_TEST, BOUND)),
        ("Mutex<VecDeque>", || plain(test::<MutexQueue>(), QUEUE_TEST, BOUND), || theirs::<shuttled::MutexQueue>(QUEUE_TEST, BOUND)),
        ("Michael-Scott queue", || plain(test::<MichaelScott>(), QUEUE_TEST, BOUND), || theirs::<shuttled::MichaelScott>(QUEUE_TEST, BOUND)),
        ("spin-lock counter, bound 0", || plain(test::<SpinCounter>(), COUNTER_TEST, 0), || theirs::<shuttled::SpinCounter>(COUNTER_TEST, 0)),
        ("manual-reset event", || plain(test::<Event>(), EVENT_TEST, BOUND), || theirs::<shuttled::Event>(EVENT_TEST, BOUND)),
    ];
    for (name, ours, theirs) in pairs {
        let (ours, theirs) = in_turn(ours, theirs)?;
        println!(
            "| {name} | {} | {:.0} | {:.2} M | {} | {:.0} | {:.2} M | {:.1} | {:.1} | {:.1} | {} |",
            ours.executions,
            ours.per_second(ours.executions),
            ours.per_second(ours.steps) / 1e6,
            theirs.executions,
            theirs.per_second(theirs.executions),
            theirs.per_second(theirs.steps) / 1e6,
            ours.per_second(ours.executions) / theirs.per_second(theirs.executions),
            ours.per_second(ours.steps) / theirs.per_second(theirs.steps),
            ours.per_second(ours.accesses) / theirs.per_second(theirs.accesses),
            if theirs.is_complete { format!("{:.1}", theirs.seconds / ours.seconds) } else { "-".to_owned() },
        );
    }
    println!();
    Ok(())
}

/// The mean of several runs of each. They take turns and as much time each, since a machine has its moods.
fn in_turn(ours: fn() -> anyhow::Result<Work>, theirs: fn() -> Work) -> anyhow::Result<(Work, Work)> {
    let (mut sum_of_ours, mut sum_of_theirs) = (ours()?, theirs());
    let (mut runs_of_ours, mut runs_of_theirs) = (1.0, 1.0);
    loop {
        while sum_of_ours.seconds < sum_of_theirs.seconds {
            sum_of_ours.seconds += ours()?.seconds;
            runs_of_ours += 1.0;
        }
        if sum_of_theirs.seconds > LONG_ENOUGH {
            break;
        }
        sum_of_theirs.seconds += theirs().seconds;
        runs_of_theirs += 1.0;
    }
    sum_of_ours.seconds /= runs_of_ours;
    sum_of_theirs.seconds /= runs_of_theirs;
    Ok((sum_of_ours, sum_of_theirs))
}

fn plain<C: Tested>(object: Object<C>, threads: Test, bound: u32) -> anyhow::Result<Work> {
    let object = object.matrix(names(&threads)).strategy(Strategy::Plain(Some(bound)));
    let start = busy_seconds();
    let report = object.check();
    let seconds = busy_seconds() - start;
    ensure!(report.passed(), "{report}");
    let effort = report.effort();
    let share = effort.phase2.as_secs_f64() / (effort.phase1 + effort.phase2).as_secs_f64();
    Ok(Work { executions: effort.executions, steps: effort.steps, accesses: effort.accesses, seconds, share, is_complete: true })
}

fn theirs<C: shuttled::Tested>(threads: Test, bound: u32) -> Work {
    shuttled::run::<C>(threads, bound)
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
        .op("add", [200, 400], |queue, value| queue.0.lock().expect("no thread panics here").push_back(value))
        .op0("try_take", TimedQueue::try_take)
        .op0("count", |queue| queue.0.lock().expect("no thread panics here").len())
        .op0("is_empty", |queue| queue.0.lock().expect("no thread panics here").is_empty())
        .op0("try_peek", |queue| queue.0.lock().expect("no thread panics here").front().copied())
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
    println!("\nDifferent machines: the paper (8 cores, 2.33 GHz, 2010) took 33.8 minutes for one passing test of that queue, 33.7 for one of the corrected\nqueue, and 5.7 for a failing one.\n");
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
