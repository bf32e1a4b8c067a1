//! No false alarms: objects that do everything under one lock never fail, whatever they do.

use linpoint_test::sync::{Condvar, Mutex};
use linpoint_test::{Object, Strategy, object};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::rounds;

const STATES: usize = 5;
const OPS: usize = 4;

/// What an operation does in each state.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// Answers, and goes to another state.
    Answer(u32, usize),
    /// Waits until the state changes.
    Wait,
    Panic,
}

/// A machine with random effects.
struct Machine {
    state: Mutex<usize>,
    changed: Condvar,
    effects: [[Effect; STATES]; OPS],
}

impl Machine {
    fn run(&self, op: usize) -> u32 {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        loop {
            match self.effects[op][*state] {
                Effect::Answer(answer, next) => {
                    *state = next;
                    self.changed.notify_all();
                    return answer;
                }
                Effect::Wait => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(|poison| poison.into_inner());
                }
                Effect::Panic => panic!("op {op} in state {}", *state),
            }
        }
    }
}

fn random_machine(seed: u64) -> Object<Machine> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut effects = [[Effect::Panic; STATES]; OPS];
    for effect in effects.as_flattened_mut() {
        *effect = match rng.random_range(0..12) {
            0 => Effect::Wait,
            1 => Effect::Panic,
            _ => Effect::Answer(rng.random_range(0..3), rng.random_range(0..STATES)),
        };
    }
    let make = move || Machine {
        state: Mutex::new(0),
        changed: Condvar::new(),
        effects,
    };
    let (threads, length) = [(2, 2), (3, 1), (2, 3), (3, 2)][rng.random_range(0..4)];
    object(make)
        .op("op", 0..OPS, Machine::run)
        .may_block("op")
        .random(threads, length, 1)
        .seed(seed)
        .jobs(1)
}

#[test]
fn objects_under_one_lock_never_fail() {
    let mut stuck = 0;
    for seed in 0..rounds("LINPOINT_LOCKED", 200) {
        let report = random_machine(seed).check();
        assert!(report.passed(), "seed {seed}: {report}");
        stuck += usize::from(report.effort().stuck > 0);
        if seed % 50 == 0 {
            let report = random_machine(seed).strategy(Strategy::Bounded(1)).check();
            assert!(report.passed(), "seed {seed}: {report}");
        }
    }
    assert!(stuck > 20, "only {stuck} objects block");
}
