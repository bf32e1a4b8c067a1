//! Random programs that park, wait with time-outs, share a lock and count owners: what each search sees, compared with all that can be
//! seen.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::model::{Access, Between, CELLS, Code};
use super::spinning::{Tally, number};
use super::spurious;

/// Looks at a cell, and again after each wait, some times or until it is not 0.
fn repeat(rng: &mut ChaCha8Rng, code: &mut Vec<Code>, cell: usize, wait: Access) {
    let limit = rng.random_range(0..3);
    let is_told = wait == Access::WaitTimeout && rng.random_range(0..2) == 0;
    code.push(Code::Clear(0));
    let start = code.len();
    code.push(Code::Access(Access::Load(cell)));
    let exit = code.len();
    code.push(Code::Return);
    code.push(Code::Access(wait));
    if is_told && limit > 0 {
        code.push(Code::Emit);
    }
    code.push(match limit {
        0 => Code::Jump(start),
        limit => Code::CountTo(0, limit, start),
    });
    code[exit] = Code::JumpUnlessZero(code.len());
}

fn park(rng: &mut ChaCha8Rng, code: &mut Vec<Code>) {
    let cell = rng.random_range(0..CELLS);
    let wait = match rng.random_range(0..3) {
        0 => Access::ParkTimeout,
        _ => Access::Park,
    };
    code.push(Code::Access(Access::Register));
    repeat(rng, code, cell, wait);
    code.extend([Code::Access(Access::Load(cell)), Code::Emit]);
}

/// Unparks a thread if there is one, once or twice.
fn unpark(rng: &mut ChaCha8Rng, code: &mut Vec<Code>) {
    let cell = rng.random_range(0..CELLS);
    let times = rng.random_range(1..=2);
    code.push(Code::Access(Access::Store(cell, 1)));
    code.push(Code::Access(Access::Look));
    let (then, end) = (code.len() + 2, code.len() + 2 + times);
    code.extend([Code::JumpUnlessZero(then), Code::Jump(end)]);
    code.extend(vec![Code::Access(Access::Unpark); times]);
}

fn wait(rng: &mut ChaCha8Rng, code: &mut Vec<Code>) {
    let cell = rng.random_range(0..CELLS);
    let wait = match rng.random_range(0..3) {
        0 => Access::Wait,
        _ => Access::WaitTimeout,
    };
    code.push(Code::Access(Access::Lock));
    repeat(rng, code, cell, wait);
    if rng.random_range(0..2) == 0 {
        code.extend([Code::Access(Access::Load(cell)), Code::Emit]);
    }
    code.push(Code::Access(Access::Unlock));
}

/// Takes the lock for one or many, or tries to, and looks at a cell or changes it.
fn take(rng: &mut ChaCha8Rng, code: &mut Vec<Code>) {
    let cell = rng.random_range(0..CELLS);
    let (take, attempt, give) = match rng.random_range(0..2) {
        0 => (Access::Share, Access::TryShare, Access::Unshare),
        _ => (Access::Exclude, Access::TryExclude, Access::Unexclude),
    };
    let inside = match rng.random_range(0..3) {
        0 => Access::Add(cell),
        _ => Access::Load(cell),
    };
    let inside = [Code::Access(inside), Code::Emit, Code::Access(give)];
    if rng.random_range(0..2) == 0 {
        code.push(Code::Access(take));
        return code.extend(inside);
    }
    code.push(Code::Access(attempt));
    let (then, end) = (code.len() + 3, code.len() + 6);
    code.extend([
        Code::JumpUnlessZero(then),
        Code::EmitConstant(9),
        Code::Jump(end),
    ]);
    code.extend(inside);
}

fn random_code(rng: &mut ChaCha8Rng) -> Vec<Code> {
    let mut code = Vec::new();
    for _ in 0..rng.random_range(1..=2) {
        let cell = rng.random_range(0..CELLS);
        match rng.random_range(0..12) {
            0..=1 => park(rng, &mut code),
            2..=3 => unpark(rng, &mut code),
            4..=5 => wait(rng, &mut code),
            6 => spurious::notify(rng, &mut code),
            7..=8 => take(rng, &mut code),
            9 => {
                let count = [Access::Clone, Access::Count].map(Code::Access);
                code.extend(count);
                code.extend([Code::Emit, Code::Access(Access::Drop)]);
            }
            10 => code.extend([Code::Access(Access::Count), Code::Emit]),
            _ => {
                code.extend([Code::Access(Access::Load(cell)), Code::Emit]);
                code.push(Code::Rest(Between::Yield));
            }
        }
    }
    code.push(Code::Return);
    code
}

#[test]
fn searches_see_all_that_waiting_threads_can_do() {
    let first = number("LINPOINT_WAITS_FROM").unwrap_or(0);
    let mut tally = Tally::default();
    for seed in first..first + number("LINPOINT_WAITS").unwrap_or(30) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let ops: Vec<_> = (0..3).map(|_| random_code(&mut rng)).collect();
        let (threads, length) = [(2, 1), (2, 2), (3, 1)][rng.random_range(0..3)];
        let mut column = || (0..length).map(|_| rng.random_range(0..3)).collect();
        let columns: Vec<Vec<usize>> = (0..threads).map(|_| column()).collect();
        let spurious = rng.random_range(0..=1);
        tally.examine(&ops, &columns, spurious, seed);
    }
    tally.judge();
}
