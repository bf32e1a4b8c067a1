//! What recording costs: a call that does next to nothing, bare and recorded.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use linpoint_record::{CacheAligned, Clock, Header, Process, Recorder};

use crate::redis::Single;
use crate::server::Folder;
use crate::wire::Redis;

/// Operations of each thread in a run; without a recorder many more, so that threads run at the same time.
const OPERATIONS: u64 = 200_000;
const BARE_OPERATIONS: u64 = 50 * OPERATIONS;

/// How often everything is measured; the fastest counts.
const ROUNDS: usize = 5;

/// Prints a table.
pub fn print() -> Result<()> {
    println!("| | 1 thread | 2 threads |");
    println!("|---|---|---|");
    let folder = Folder::new()?;
    let file = folder.join("history.jsonl");
    let into_file = || -> Result<Recorder> {
        let _ = std::fs::remove_file(&file);
        Ok(Recorder::create(&file, Header::untyped())?)
    };
    type Make<'a> = &'a dyn Fn() -> Result<Option<Recorder>>;
    let rows: [(&str, Make<'_>); 4] = [
        ("bare", &|| Ok(None)),
        ("in memory, counter", &|| {
            Ok(Some(Recorder::in_memory(Header::untyped(), Clock::Counter)))
        }),
        ("in memory, system's clock", &|| {
            Ok(Some(Recorder::in_memory(Header::untyped(), Clock::Time)))
        }),
        ("into a file", &|| into_file().map(Some)),
    ];
    for (name, make) in rows {
        let mut best = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            for threads in [1, 2] {
                let time = measure(threads, make()?);
                best[threads - 1] = best[threads - 1].min(time);
            }
        }
        println!("| {name} | {:.0} ns | {:.0} ns |", best[0], best[1]);
    }
    let mut best = [0.0f64; 2];
    let single = Single::start()?;
    for _ in 0..ROUNDS {
        best[0] = best[0].max(requests(&single.address, None));
        best[1] = best[1].max(requests(&single.address, Some(into_file()?)));
    }
    let [bare, recorded] = best;
    println!(
        "\nTwo busy clients of Redis: {bare:.0} requests in a second, {recorded:.0} into a file: {:.0} % are kept.",
        100.0 * recorded / bare
    );
    Ok(())
}

/// How many requests two clients of Redis make in a second.
fn requests(address: &str, recorder: Option<Recorder>) -> f64 {
    const TIME: Duration = Duration::from_secs(1);
    let work = |mut process: Option<Process>| {
        let (mut redis, mut count, start) = (Redis::default(), 0, Instant::now());
        while start.elapsed() < TIME {
            let operation = process.as_mut().map(|process| process.call("get", "x"));
            let answer = redis.ask(address, &["GET", "x"]).map(|reply| reply.int());
            operation.map(|operation| answer.record(operation));
            count += 1;
        }
        f64::from(count) / start.elapsed().as_secs_f64()
    };
    thread::scope(|scope| {
        let start = |_| {
            let process = recorder.as_ref().map(Recorder::process);
            scope.spawn(|| work(process))
        };
        let running: Vec<_> = (0..2).map(start).collect();
        running
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .sum()
    })
}

/// Nanoseconds from one operation of a thread to its next.
fn measure(threads: usize, recorder: Option<Recorder>) -> f64 {
    let register = CacheAligned(AtomicU64::new(0));
    let barrier = Barrier::new(threads);
    let work = |process: Option<Process>| {
        barrier.wait();
        let start = Instant::now();
        match process {
            None => {
                for value in 0..BARE_OPERATIONS {
                    black_box(register.0.swap(value, Ordering::SeqCst));
                }
            }
            Some(mut process) => {
                for value in 0..OPERATIONS {
                    process.run("swap", value, || register.0.swap(value, Ordering::SeqCst));
                }
            }
        }
        let operations = if recorder.is_none() {
            BARE_OPERATIONS
        } else {
            OPERATIONS
        };
        start.elapsed().as_nanos() as f64 / operations as f64
    };
    thread::scope(|scope| {
        let start = |_| {
            let process = recorder.as_ref().map(Recorder::process);
            scope.spawn(|| work(process))
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        let times = running.into_iter().filter_map(|thread| thread.join().ok());
        times.fold(0.0, f64::max)
    })
}
