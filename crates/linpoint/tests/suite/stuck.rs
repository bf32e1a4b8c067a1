//! Histories that end stuck, compared with the definition: for each pending operation, all serial orders of the operations that
//! returned are tried, and in the end it must be blocked.

use linpoint::spec::{
    BlockingCounter, BlockingCounterOp, Mutex, MutexOp, ReentrantMutex, ReentrantMutexOp, RwLock,
    RwLockOp, Semaphore, SemaphoreOp,
};
use linpoint::{Checker, Config, EngineChoice, OpId, Outcomes, Spec, TypedHistory, Value, Verdict};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fuzz_bodies::decided;

/// How many histories of each type are compared.
const HISTORIES: u64 = 2_000;

const PROCESSES: u32 = 3;

/// Which operations must be in an order, and what is asked of the state after it.
enum Question {
    /// Those that returned, and any of the others.
    Linearizable,
    /// Exactly those that returned; this one must be blocked then.
    Blocked(OpId),
}

/// Whether some serial order of operations that obeys real time gives all results, by definition.
fn has_order<S: Spec>(
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
    question: &Question,
    taken: &mut Vec<OpId>,
    state: &S::State,
) -> bool {
    let ids = || (0..history.len() as u32).map(OpId);
    let ret = |id: OpId| history.rets()[id.index()];
    let is_left = |id: &OpId| !taken.contains(id);
    let returned_left: Vec<OpId> = ids()
        .filter(is_left)
        .filter(|&id| history.action(id).ret.is_some())
        .collect();
    if returned_left.is_empty() {
        match question {
            Question::Linearizable => return true,
            Question::Blocked(id) => {
                let blocked = spec.apply(state, &history.action(*id).op);
                return blocked == Outcomes::Blocked;
            }
        }
    }
    let candidates: Vec<OpId> = match question {
        Question::Linearizable => ids().filter(is_left).collect(),
        Question::Blocked(_) => returned_left.clone(),
    };
    candidates.into_iter().any(|id| {
        let call = history.calls()[id.index()];
        if returned_left.iter().any(|&other| ret(other) < call) {
            return false;
        }
        let action = history.action(id);
        let outcomes = spec.apply(state, &action.op).into_pairs();
        taken.push(id);
        let found = outcomes.into_iter().any(|(answer, next)| {
            let fits = action.ret.as_ref().is_none_or(|ret| *ret == answer);
            fits && has_order(spec, history, question, taken, &next)
        });
        taken.pop();
        found
    })
}

fn answer<S: Spec>(spec: &S, history: &TypedHistory<S::Op, S::Ret>, question: &Question) -> bool {
    has_order(spec, history, question, &mut Vec::new(), &spec.init())
}

/// Where a simulated process is.
enum At<S: Spec> {
    Idle,
    Called(OpId, S::Op),
    Done(OpId, S::Ret),
}

/// A random history that ends stuck: of an object that is simulated until it is stuck or until a random moment, with a few results
/// changed.
fn random_history<S: Spec<Ret = Value>>(
    spec: &S,
    op: &dyn Fn(u32, &mut ChaCha8Rng) -> S::Op,
    rng: &mut ChaCha8Rng,
) -> Option<TypedHistory<S::Op, Value>> {
    let mut history = TypedHistory::new();
    let mut state = spec.init();
    let mut processes: Vec<At<S>> = (0..PROCESSES).map(|_| At::Idle).collect();
    let most = rng.random_range(1..=6);
    let wrong = rng.random_bool(0.3);
    for _ in 0..rng.random_range(5..60) {
        let process = rng.random_range(0..PROCESSES);
        let at = &mut processes[process as usize];
        *at = match std::mem::replace(at, At::Idle) {
            At::Idle if history.len() < most => {
                let op = op(process, rng);
                At::Called(history.call(process, op.clone()), op)
            }
            At::Idle => At::Idle,
            At::Called(id, op) => match spec.apply(&state, &op) {
                Outcomes::One(answer, next) => {
                    state = next;
                    At::Done(id, answer)
                }
                _ => At::Called(id, op),
            },
            At::Done(id, answer) => {
                let answer = match answer {
                    Value::Bool(answer) if wrong && rng.random_bool(0.3) => Value::Bool(!answer),
                    Value::Int(count) if wrong && rng.random_bool(0.3) => Value::Int(count + 1),
                    answer => answer,
                };
                history.ret(id, answer);
                At::Idle
            }
        };
    }
    let is_pending = processes.iter().any(|at| !matches!(at, At::Idle));
    is_pending.then(|| {
        history.end_stuck();
        history
    })
}

/// Compares the verdicts on random histories with the definition. Returns how many are linearizable, not even if they did not end
/// stuck, and not because they do.
fn compare<S: Spec<Ret = Value>>(
    spec: &S,
    op: &dyn Fn(u32, &mut ChaCha8Rng) -> S::Op,
) -> [usize; 3] {
    let engines = [
        EngineChoice::Auto,
        EngineChoice::Search,
        EngineChoice::Hitting,
        EngineChoice::Brute,
    ];
    let checkers = engines.map(|engine| {
        Checker::new(Config {
            engine,
            ..Config::default()
        })
    });
    let mut counts = [0; 3];
    for seed in 0..HISTORIES {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let Some(history) = random_history(spec, op, rng) else {
            continue;
        };
        let pending: Vec<OpId> = (0..history.len() as u32)
            .map(OpId)
            .filter(|&id| history.action(id).ret.is_none())
            .collect();
        let waits = |&id: &OpId| answer(spec, &history, &Question::Blocked(id));
        let expected = pending.iter().all(waits);
        let running = answer(spec, &history, &Question::Linearizable);
        assert!(running || !expected, "seed {seed}");
        for checker in &checkers {
            let report = checker.check(spec, &history).expect("a verdict");
            assert_eq!(
                decided(&report.verdict),
                expected,
                "seed {seed}: {history:?}"
            );
            match &report.verdict {
                Verdict::Linearizable(witness) => {
                    let blocked = witness.stuck.iter().flat_map(|stuck| &stuck.blocked);
                    let mut blocked: Vec<OpId> = blocked.copied().collect();
                    blocked.sort_unstable();
                    assert_eq!(blocked, pending, "seed {seed}");
                }
                Verdict::Violation(violation) => {
                    assert_eq!(violation.blocked.is_some(), running, "seed {seed}");
                    assert!(violation.core.is_certified(), "seed {seed}");
                    if let Some(blocked) = violation.blocked {
                        assert!(!waits(&blocked), "seed {seed}");
                    }
                }
                Verdict::Undecided(_) => unreachable!("decided says so"),
            }
        }
        counts[match (expected, running) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        }] += 1;
    }
    counts
}

#[track_caller]
fn all_occur(counts: [usize; 3], least: [usize; 3]) {
    let enough = counts
        .iter()
        .zip(least)
        .all(|(&count, least)| count >= least);
    assert!(enough, "{counts:?}");
}

#[test]
fn semaphores() {
    let op = |_: u32, rng: &mut ChaCha8Rng| match rng.random_range(0..4) {
        0 => SemaphoreOp::Release(1),
        1 => SemaphoreOp::TryAcquire(1),
        _ => SemaphoreOp::Acquire(rng.random_range(1..=2)),
    };
    all_occur(compare(&Semaphore { permits: 1 }, &op), [100, 20, 100]);
}

#[test]
fn mutexes() {
    let ops = [
        MutexOp::Acquire,
        MutexOp::Acquire,
        MutexOp::Release,
        MutexOp::TryAcquire,
    ];
    let op = |_: u32, rng: &mut ChaCha8Rng| ops[rng.random_range(0..ops.len())].clone();
    all_occur(compare(&Mutex, &op), [100, 20, 100]);
}

#[test]
fn reentrant_mutexes() {
    let op = |process: u32, rng: &mut ChaCha8Rng| {
        let owner = Value::from(i64::from(process));
        match rng.random_range(0..4) {
            0 => ReentrantMutexOp::Release(owner),
            1 => ReentrantMutexOp::TryAcquire(owner),
            _ => ReentrantMutexOp::Acquire(owner),
        }
    };
    all_occur(compare(&ReentrantMutex, &op), [100, 20, 100]);
}

#[test]
fn rw_locks() {
    use linpoint::spec::Access::{Read, Write};
    let op = |_: u32, rng: &mut ChaCha8Rng| {
        let access = [Read, Write][rng.random_range(0..2)];
        match rng.random_range(0..4) {
            0 => RwLockOp::Release(access),
            1 => RwLockOp::TryAcquire(access),
            _ => RwLockOp::Acquire(access),
        }
    };
    all_occur(compare(&RwLock, &op), [100, 20, 100]);
}

#[test]
fn blocking_counters() {
    let op = |_: u32, rng: &mut ChaCha8Rng| match rng.random_range(0..6) {
        0 => BlockingCounterOp::Set(rng.random_range(0..2)),
        1 => BlockingCounterOp::Inc,
        2 => BlockingCounterOp::Get,
        _ => BlockingCounterOp::Dec,
    };
    let counter = BlockingCounter { initial: 1 };
    all_occur(compare(&counter, &op), [100, 20, 100]);
}
