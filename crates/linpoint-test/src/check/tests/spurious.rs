//! Random programs that wait for notifications and use weak compare-exchanges: what each search sees with wake-ups and failures for no
//! reason, compared with all that can be seen.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::model::{Access, Between, CELLS, Code};
use super::spinning::{Tally, number};

/// Waits under the lock, unless the cell is not 0 already; in a loop or not.
fn wait(rng: &mut ChaCha8Rng, code: &mut Vec<Code>) {
    let cell = rng.random_range(0..CELLS);
    code.push(Code::Access(Access::Lock));
    let start = code.len();
    let is_loop = rng.random_range(0..2) == 0;
    code.push(Code::Access(Access::Load(cell)));
    let after = code.len() + 2 + usize::from(is_loop);
    code.push(Code::JumpUnlessZero(after));
    code.push(Code::Access(Access::Wait));
    if is_loop {
        code.push(Code::Jump(start));
    }
    if rng.random_range(0..2) == 0 {
        code.extend([Code::Access(Access::Load(cell)), Code::Emit]);
    }
    code.push(Code::Access(Access::Unlock));
}

/// Changes a cell and notifies, under the lock or not.
pub(super) fn notify(rng: &mut ChaCha8Rng, code: &mut Vec<Code>) {
    let cell = rng.random_range(0..CELLS);
    let change = match rng.random_range(0..2) {
        0 => Access::Store(cell, 1),
        _ => Access::WeakCas(cell),
    };
    let notify = match rng.random_range(0..2) {
        0 => Access::NotifyOne,
        _ => Access::NotifyAll,
    };
    let order = match rng.random_range(0..3) {
        0 => [Access::Lock, change, notify, Access::Unlock].to_vec(),
        1 => [Access::Lock, change, Access::Unlock, notify].to_vec(),
        _ => [change, notify].to_vec(),
    };
    code.extend(order.into_iter().map(Code::Access));
}

/// Tries a weak compare-exchange, some times or until it succeeds.
fn retry(rng: &mut ChaCha8Rng, code: &mut Vec<Code>) {
    let cell = rng.random_range(0..CELLS);
    let limit = rng.random_range(0..4);
    code.push(Code::Clear(0));
    let start = code.len();
    code.push(Code::Access(Access::WeakCas(cell)));
    let exit = code.len();
    code.push(Code::Return);
    if rng.random_range(0..2) == 0 {
        code.push(Code::Rest(Between::Hint));
    }
    code.push(match limit {
        0 => Code::Jump(start),
        limit => Code::CountTo(0, limit, start),
    });
    code[exit] = Code::JumpUnlessZero(code.len());
    code.push(Code::Emit);
}

fn random_code(rng: &mut ChaCha8Rng) -> Vec<Code> {
    let mut code = Vec::new();
    for _ in 0..rng.random_range(1..=2) {
        let cell = rng.random_range(0..CELLS);
        match rng.random_range(0..9) {
            0..=2 => wait(rng, &mut code),
            3..=4 => notify(rng, &mut code),
            5 => retry(rng, &mut code),
            6 => code.extend([Code::Access(Access::WeakCas(cell)), Code::Emit]),
            7 => code.extend([Code::Access(Access::Load(cell)), Code::Emit]),
            _ => code.push(Code::Access(Access::Store(cell, 0))),
        }
    }
    code.push(Code::Return);
    code
}

#[test]
fn searches_see_all_that_happens_for_no_reason() {
    let first = number("LINPOINT_SPURIOUS_FROM").unwrap_or(0);
    let mut tally = Tally::default();
    for seed in first..first + number("LINPOINT_SPURIOUS").unwrap_or(60) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let ops: Vec<_> = (0..3).map(|_| random_code(&mut rng)).collect();
        let (threads, length) = [(2, 1), (2, 2), (3, 1)][rng.random_range(0..3)];
        let mut column = || (0..length).map(|_| rng.random_range(0..3)).collect();
        let columns: Vec<Vec<usize>> = (0..threads).map(|_| column()).collect();
        let spurious = rng.random_range(0..=2);
        tally.examine(&ops, &columns, spurious, seed);
    }
    tally.judge();
}
