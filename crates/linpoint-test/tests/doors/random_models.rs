//! Random whole tests, many of which fail, under every search: all must agree with plain enumeration.

use std::time::Duration;

use linpoint_test::future::{block_on, spawn, yield_now};
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Arc, Condvar, Mutex};
use linpoint_test::{Model, Strategy, Verdict, thread};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Copy, Debug)]
enum Micro {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    Locked,
    TryLock,
    /// A weak compare-exchange from 0 to 1.
    Exchange(usize),
    Wait,
    Notify,
    /// Starts a thread that adds to a cell, and joins it or not.
    Start(usize, bool),
    /// The same for a task that yields first.
    Spawn(usize),
    /// The same for a thread of a scope.
    Scope(usize),
}

#[derive(Default)]
struct Shared {
    cells: [AtomicU32; 2],
    lock: Mutex<u32>,
    changed: Condvar,
}

fn run(shared: &Arc<Shared>, micros: &[Micro]) -> u32 {
    micros.iter().fold(0, |seen, micro| {
        let value = match *micro {
            Micro::Load(cell) => shared.cells[cell].load(SeqCst),
            Micro::Store(cell, value) => {
                shared.cells[cell].store(value, SeqCst);
                0
            }
            Micro::Add(cell) => shared.cells[cell].fetch_add(1, SeqCst),
            Micro::Locked => {
                let mut count = shared.lock.lock().unwrap();
                *count += 1;
                *count
            }
            Micro::TryLock => shared.lock.try_lock().is_ok().into(),
            Micro::Exchange(cell) => shared.cells[cell]
                .compare_exchange_weak(0, 1, SeqCst, SeqCst)
                .is_ok()
                .into(),
            Micro::Wait => {
                let count = shared.lock.lock().unwrap();
                match *count {
                    0 => *shared.changed.wait(count).unwrap(),
                    value => value,
                }
            }
            Micro::Notify => {
                *shared.lock.lock().unwrap() += 1;
                shared.changed.notify_one();
                0
            }
            Micro::Start(cell, joins) => {
                let other = Arc::clone(shared);
                let thread = thread::spawn(move || other.cells[cell].fetch_add(2, SeqCst));
                match joins {
                    true => thread.join().unwrap(),
                    false => u32::from(thread.is_finished()),
                }
            }
            Micro::Spawn(cell) => {
                let other = Arc::clone(shared);
                let task = spawn(async move {
                    yield_now().await;
                    other.cells[cell].load(SeqCst)
                });
                block_on(task).unwrap()
            }
            Micro::Scope(cell) => thread::scope(|scope| {
                let thread = scope.spawn(|| shared.cells[cell].fetch_add(3, SeqCst));
                let seen = shared.cells[cell].load(SeqCst);
                seen + thread.join().unwrap()
            }),
        };
        seen * 5 + value
    })
}

fn random_micro(rng: &mut ChaCha8Rng) -> Micro {
    let cell = rng.random_range(0..2);
    match rng.random_range(0..18) {
        0..=3 => Micro::Load(cell),
        4..=5 => Micro::Store(cell, rng.random_range(0..3)),
        6..=7 => Micro::Add(cell),
        8 => Micro::Locked,
        9 => Micro::TryLock,
        10 => Micro::Wait,
        11 => Micro::Notify,
        12..=13 => Micro::Start(cell, rng.random_bool(0.5)),
        14 => Micro::Spawn(cell),
        15 => Micro::Scope(cell),
        _ => Micro::Exchange(cell),
    }
}

/// A random test that fails if what its threads see has a random remainder.
fn random_model(seed: u64) -> Model {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let threads: Vec<Vec<Micro>> = (0..2)
        .map(|_| {
            let length = rng.random_range(1..=2);
            (0..length).map(|_| random_micro(&mut rng)).collect()
        })
        .collect();
    let (main, forbidden) = (random_micro(&mut rng), rng.random_range(0..7));
    let spurious = rng.random_range(0..=2);
    Model::new(move || {
        let shared = Arc::new(Shared::default());
        let started: Vec<_> = threads
            .iter()
            .cloned()
            .map(|micros| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || run(&shared, &micros))
            })
            .collect();
        let seen = run(&shared, &[main]);
        let all = started
            .into_iter()
            .fold(seen, |seen, thread| seen * 31 + thread.join().unwrap());
        assert_ne!(all % 7, forbidden);
    })
    .spurious(spurious)
}

#[test]
fn all_searches_of_whole_tests_agree_with_plain_enumeration() {
    let seeds = std::env::var("LINPOINT_MODELS").map_or(60, |text| text.parse().unwrap());
    let (mut passed, mut failed, mut too_large) = (0, 0, 0);
    for seed in 0..seeds {
        let plain = random_model(seed).strategy(Strategy::Plain(None));
        let plain = plain.budget(Duration::from_millis(300)).check();
        let expected = match plain.verdict {
            Verdict::Pass(linpoint_test::Coverage::Exhaustive) => None,
            Verdict::Fail(failure) => Some(failure.kind),
            _ => {
                too_large += 1;
                continue;
            }
        };
        for strategy in [
            Strategy::Exhaustive,
            Strategy::Bounded(64),
            Strategy::FewestPreemptions(64),
        ] {
            let report = random_model(seed).strategy(strategy).check();
            match (&expected, &report.verdict) {
                (None, Verdict::Pass(_)) | (Some(_), Verdict::Fail(_)) => {}
                _ => panic!("seed {seed}, {strategy:?}: {expected:?} by enumeration, {report}"),
            }
        }
        match expected {
            None => passed += 1,
            Some(_) => failed += 1,
        }
    }
    println!("{passed} passed, {failed} failed, {too_large} were too large to enumerate");
    assert!(
        passed + failed > 10,
        "{passed} passed, {failed} failed, {too_large} too large"
    );
}
