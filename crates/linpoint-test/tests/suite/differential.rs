//! Random objects, most of them wrong, under every search: all must agree with plain enumeration.

use std::fmt::Write as _;
use std::time::Duration;

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex, PoisonError, RwLock};
use linpoint_test::{Object, Strategy, Verdict, hint, object, thread};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::rounds;

/// Something that an operation of a random object does.
#[derive(Clone, Copy, Debug)]
enum Micro {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    Cas(usize, u32, u32),
    /// Adds one to a cell, in a critical section.
    Locked(usize),
    /// Whether the lock was free.
    TryLock,
    /// Reads under the shared lock, or writes under the exclusive one.
    Shared,
    Exclusive,
    /// Waits until a cell is not zero.
    Await(usize),
    /// Waits until one of the cells is not zero.
    AwaitEither,
    /// The same for one cell, but not for ever.
    Patience(usize),
    /// Waits for a notification if a flag is not set.
    Wait,
    NotifyOne,
    NotifyAll,
    Park,
    Unpark,
}

#[derive(Default)]
struct Shared {
    cells: [AtomicU32; 2],
    lock: Mutex<u32>,
    shared: RwLock<u32>,
    flag: Mutex<u32>,
    changed: Condvar,
    parked: Mutex<Vec<thread::Thread>>,
}

impl Shared {
    fn run(&self, micros: &[Micro]) -> String {
        let mut seen = String::new();
        for micro in micros {
            let value = match *micro {
                Micro::Load(cell) => self.cells[cell].load(SeqCst),
                Micro::Store(cell, value) => {
                    self.cells[cell].store(value, SeqCst);
                    0
                }
                Micro::Add(cell) => self.cells[cell].fetch_add(1, SeqCst),
                Micro::Cas(cell, from, to) => self.cells[cell]
                    .compare_exchange(from, to, SeqCst, SeqCst)
                    .is_ok()
                    .into(),
                Micro::Locked(cell) => {
                    let mut count = self.lock.lock().unwrap();
                    *count += self.cells[cell].load(SeqCst) + 1;
                    *count
                }
                Micro::TryLock => self.lock.try_lock().is_ok().into(),
                Micro::Shared => *self.shared.read().unwrap(),
                Micro::Exclusive => {
                    let mut value = self.shared.write().unwrap();
                    *value += 1;
                    *value
                }
                Micro::Await(cell) => loop {
                    match self.cells[cell].load(SeqCst) {
                        0 => hint::spin_loop(),
                        value => break value,
                    }
                },
                Micro::AwaitEither => loop {
                    match self.cells.each_ref().map(|cell| cell.load(SeqCst)) {
                        [0, 0] => hint::spin_loop(),
                        [first, second] => break 10 * first + second,
                    }
                },
                Micro::Patience(cell) => (0..3)
                    .find_map(|_| match self.cells[cell].load(SeqCst) {
                        0 => {
                            hint::spin_loop();
                            None
                        }
                        value => Some(value),
                    })
                    .unwrap_or_default(),
                Micro::Wait => {
                    let flag = self.flag.lock().unwrap();
                    match *flag {
                        0 => *self
                            .changed
                            .wait(flag)
                            .unwrap_or_else(PoisonError::into_inner),
                        value => value,
                    }
                }
                Micro::NotifyOne => {
                    *self.flag.lock().unwrap() += 1;
                    self.changed.notify_one();
                    0
                }
                Micro::NotifyAll => {
                    self.changed.notify_all();
                    0
                }
                Micro::Park => {
                    self.parked.lock().unwrap().push(thread::current());
                    thread::park();
                    0
                }
                Micro::Unpark => {
                    let parked = self.parked.lock().unwrap().pop();
                    parked.map_or(0, |parked| {
                        parked.unpark();
                        1
                    })
                }
            };
            let _ = write!(seen, "{value} ");
        }
        seen
    }
}

fn random_micro(rng: &mut ChaCha8Rng) -> Micro {
    let cell = rng.random_range(0..2);
    match rng.random_range(0..23) {
        0..=3 => Micro::Load(cell),
        4..=6 => Micro::Store(cell, rng.random_range(0..3)),
        7..=8 => Micro::Add(cell),
        9 => Micro::Cas(cell, rng.random_range(0..2), 2),
        10 => Micro::Locked(cell),
        11 => Micro::TryLock,
        12 => Micro::Shared,
        13 => Micro::Exclusive,
        14 => Micro::Await(cell),
        15 => Micro::Wait,
        16 => Micro::NotifyOne,
        17 => Micro::NotifyAll,
        18 => Micro::Park,
        19 => Micro::Unpark,
        20..=21 => Micro::AwaitEither,
        _ => Micro::Patience(cell),
    }
}

/// A random object with a random test that plain enumeration can finish.
fn random_object(seed: u64) -> Object<Shared> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let ops: Vec<Vec<Micro>> = (0..3)
        .map(|_| {
            (0..rng.random_range(1..=2))
                .map(|_| random_micro(&mut rng))
                .collect()
        })
        .collect();
    let (threads, length) = [(2, 1), (2, 2), (3, 1)][rng.random_range(0..3)];
    let matrix: Vec<Vec<String>> = (0..threads)
        .map(|_| {
            (0..length)
                .map(|_| format!("op({})", rng.random_range(0..3)))
                .collect()
        })
        .collect();
    object(Shared::default)
        .op("op", [0usize, 1, 2], move |shared, op| shared.run(&ops[op]))
        .may_block("op")
        .matrix(matrix)
        .jobs(1)
        .as_found()
}

#[test]
fn all_searches_agree_with_plain_enumeration() {
    let (mut passed, mut failed, mut too_large) = (0, 0, 0);
    for seed in 0..rounds("LINPOINT_LIVE", 200) {
        let time = Duration::from_millis(200);
        let plain = random_object(seed)
            .strategy(Strategy::Plain(None))
            .budget(time)
            .complete();
        let expected = match plain.check().verdict {
            Verdict::Pass(_) => true,
            Verdict::Fail(_) => false,
            Verdict::Undecided(why) if why.contains("time") => {
                too_large += 1;
                continue;
            }
            verdict => panic!("seed {seed}: {verdict:?}"),
        };
        for strategy in [
            Strategy::Exhaustive,
            Strategy::Bounded(64),
            Strategy::FewestPreemptions(64),
        ] {
            let passes = match random_object(seed).strategy(strategy).check().verdict {
                Verdict::Pass(_) => true,
                Verdict::Fail(_) => false,
                verdict => panic!("seed {seed}, {strategy:?}: {verdict:?}"),
            };
            assert_eq!(passes, expected, "seed {seed}, {strategy:?}");
        }
        match expected {
            true => passed += 1,
            false => failed += 1,
        }
    }
    println!("{passed} passed, {failed} failed, {too_large} were too large to enumerate");
    assert!(
        passed > 20 && failed > 10,
        "{passed} passed, {failed} failed"
    );
}
