//! Three ways to check the snapshot: under control, under stress, and by simple histories with a monitor that runs along.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};

use linpoint::Error;
use linpoint::engine::monitor::snapshot::simple::{Monitor, Side, SimpleEvent, Violation};
use linpoint_test::Report;
use linpoint_test::stress::{Random, StressReport};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::cells::{Cells, Scan};

/// Three threads under control, each with a cell of its own: all tests in which each thread calls one operation, and some
/// random ones with two.
pub(crate) fn under_control(scan: Scan) -> Report {
    const THREADS: usize = 3;
    let mut object = linpoint_test::object(move || Cells::new(THREADS, scan, || ()));
    for thread in 0..THREADS {
        let name = format!("update_{thread}");
        object = object
            .op(&name, [1, 2], move |cells, value| {
                cells.update(thread, value)
            })
            .only_on(&name, [thread]);
    }
    object
        .op0("scan", Cells::scan)
        .all(THREADS, 1)
        .random(THREADS, 2, 5)
        .check()
}

/// OS threads, each with a cell of its own, that store values which never repeat.
pub(crate) fn under_stress(scan: Scan, runs: usize) -> Result<StressReport, Error> {
    const THREADS: usize = 4;
    let mut test = linpoint_test::stress(move || Cells::new(THREADS, scan, std::thread::yield_now));
    for thread in 0..THREADS {
        let argument = move |random: &mut Random| (thread, random.fresh());
        test = test
            .op("update", argument, |cells, (cell, value)| {
                cells.update(cell, value as u32)
            })
            .only_on([thread]);
    }
    test.op0("scan", Cells::scan)
        .object_type("snapshot")
        .threads(THREADS)
        .ops(100)
        .runs(runs)
        .check()
}

/// The result of a test with simple histories.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Calls and returns that the monitor has seen.
    pub(crate) events: u64,
    /// What it found.
    pub(crate) violation: Option<Violation>,
}

/// The monitor while threads run. A call is recorded before the operation begins and a return after it has ended, so the
/// history has no order in real time that the execution did not have, and a violation is one of the object.
struct Watch {
    monitor: Mutex<(Monitor, Watched)>,
    stop: AtomicBool,
    /// Where all clients meet before the first of them stores 1: what can go wrong goes wrong shortly after that.
    middle: Barrier,
}

impl Watch {
    fn record(&self, event: SimpleEvent) {
        let (monitor, watched) = &mut *self.monitor.lock().expect("no thread panics");
        if watched.violation.is_none() {
            watched.events += 1;
            watched.violation = monitor.step(event).err();
            self.stop.store(watched.violation.is_some(), Relaxed);
        }
    }
}

/// The testing method of Amram, Hayoun, Mizrahi and Weiss (DISC 2022): clients store 0, and those of two cells 1 from some
/// time on. Then a monitor of a few words, in constant time for each event, decides while the threads run, and a run may have
/// any length.
pub(crate) fn simple(scan: Scan, pair: [usize; 2], ops: usize, seed: u64) -> Watched {
    const THREADS: usize = 4;
    let cells = Cells::new(THREADS, scan, std::thread::yield_now);
    let watched = Watched {
        events: 0,
        violation: None,
    };
    let watch = Watch {
        monitor: Mutex::new((Monitor::default(), watched)),
        stop: AtomicBool::new(false),
        middle: Barrier::new(THREADS),
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (cells, watch) = (&cells, &watch);
            scope.spawn(move || client(cells, watch, pair, thread, ops, seed));
        }
    });
    let (_, watched) = watch.monitor.into_inner().expect("no thread panics");
    watched
}

/// Scans and updates at random. Cells other than the pair always hold 0; so do these until about the middle.
fn client(cells: &Cells, watch: &Watch, pair: [usize; 2], thread: usize, ops: usize, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(thread as u64);
    let place = pair.iter().position(|&cell| cell == thread);
    let side = place.map(|place| Side::BOTH[place]);
    let middle = ops / 2;
    let switch = middle + random.random_range(0..4);
    for op in 0..ops {
        if op == middle {
            watch.middle.wait();
        }
        if op > middle && watch.stop.load(Relaxed) {
            return;
        }
        match side.filter(|_| op >= switch) {
            _ if random.random_range(0..2) == 0 => {
                watch.record(SimpleEvent::scan_called(thread as u32));
                let view = cells.scan();
                let ones = pair.map(|cell| view[cell] == 1);
                watch.record(SimpleEvent::scan_returned(thread as u32, ones));
            }
            Some(side) => {
                watch.record(SimpleEvent::update_called(side));
                cells.update(thread, 1);
                watch.record(SimpleEvent::update_returned(side));
            }
            None => cells.update(thread, 0),
        }
    }
}
