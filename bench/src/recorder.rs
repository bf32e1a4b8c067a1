//! The recorder of stress tests: what it adds to a call, and how much throughput it leaves.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Instant;

use anyhow::ensure;
use crossbeam_queue::SegQueue;
use linpoint::Config;
use linpoint_test::stress::{Clock, Named, Stress};
use linpoint_test::{fresh, stress};

/// Operations of each thread in a run.
const OPS: usize = 400_000;

/// How often everything is measured; the fastest counts.
const ROUNDS: usize = 5;

pub fn run() -> anyhow::Result<()> {
    println!("## Recorder of stress tests\n");
    println!("Nanoseconds from one operation of a thread to its next, {OPS} operations for each thread, the best of {ROUNDS} runs. \"Bare\" chooses");
    println!("operations and arguments in the same way and records nothing. \"Kept\": throughput of all threads against bare.\n");
    println!("| object | threads | bare | counter | adds | kept | system clock | adds | kept |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let rounds: [(&str, Measure); 3] = [
        ("atomic counter", |threads| {
            measure(threads, AtomicI64::default, |c, v| _ = c.fetch_add(v & 1, Ordering::SeqCst), |c| Some(c.load(Ordering::SeqCst)))
        }),
        ("crossbeam SegQueue", |threads| measure(threads, SegQueue::new, |queue, value| queue.push(value), |queue| queue.pop())),
        ("Mutex<VecDeque>", |threads| {
            let lock = |queue: &Mutex<VecDeque<i64>>| queue.lock().map(|mut queue| queue.pop_front()).ok().flatten();
            measure(threads, Mutex::<VecDeque<i64>>::default, |queue, value| _ = queue.lock().map(|mut queue| queue.push_back(value)), lock)
        }),
    ];
    for (name, measure) in rounds {
        for threads in [1, 2] {
            let [bare, counter, time] = measure(threads)?;
            println!(
                "| {name} | {threads} | {bare:.1} | {counter:.1} | {:.1} | {:.0} % | {time:.1} | {:.1} | {:.0} % |",
                counter - bare,
                100.0 * bare / counter,
                time - bare,
                100.0 * bare / time,
            );
        }
    }
    println!();
    Ok(())
}

/// Nanoseconds for an operation: bare, with the counter, with the system clock.
type Measure = fn(usize) -> anyhow::Result<[f64; 3]>;

fn measure<T: Send + Sync + 'static>(
    threads: usize,
    make: fn() -> T,
    put: fn(&T, i64),
    take: fn(&T) -> Option<i64>,
) -> anyhow::Result<[f64; 3]> {
    let mut best = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        // One after the other in each round, so that a busy machine does not favour any.
        best[0] = best[0].min(bare(threads, make, put, take));
        best[1] = best[1].min(recorded(test(threads, make, put, take).clock(Clock::Counter))?);
        best[2] = best[2].min(recorded(test(threads, make, put, take).clock(Clock::Time))?);
    }
    Ok(best)
}

fn test<T: Send + Sync + 'static>(threads: usize, make: fn() -> T, put: fn(&T, i64), take: fn(&T) -> Option<i64>) -> Stress<Named<T>> {
    stress(make).op("add", fresh, put).op0("take", take).object_type("bag").threads(threads).ops(OPS).runs(1).pauses(0)
}

fn recorded<T: Send + Sync + 'static>(test: Stress<Named<T>>) -> anyhow::Result<f64> {
    // What comes out is of no interest here; the counter is no bag at all.
    let report = test.config(Config::default().verdicts_only().without_witnesses()).check()?;
    ensure!(report.operations > 0, "nothing was recorded");
    Ok(report.recording.as_nanos() as f64 / OPS as f64)
}

fn bare<T: Send + Sync>(threads: usize, make: fn() -> T, put: fn(&T, i64), take: fn(&T) -> Option<i64>) -> f64 {
    let (object, barrier) = (make(), Barrier::new(threads));
    // From the first start to the last end: who measures from outside may be late itself.
    let work = |thread: usize| {
        let mut state = thread as u64 + 1;
        let mut value = thread as i64;
        barrier.wait();
        let start = Instant::now();
        for _ in 0..OPS {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if state >> 63 == 0 {
                value += threads as i64;
                put(black_box(&object), value);
            } else {
                black_box(take(black_box(&object)));
            }
        }
        (start, Instant::now())
    };
    let work = &work;
    let spans: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no thread panics here")).collect()
    });
    let start = spans.iter().map(|span| span.0).min();
    let end = spans.iter().map(|span| span.1).max();
    start.zip(end).map_or(0.0, |(start, end)| (end - start).as_nanos() as f64 / OPS as f64)
}
