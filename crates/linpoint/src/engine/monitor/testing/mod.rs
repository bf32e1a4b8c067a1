//! For tests: random small logs of any object, and the comparison of monitors with the reference.

use std::fmt::Debug;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(in crate::engine::monitor) mod containers;

use super::{Contradiction, Evidence, Finding, Log, Monitor, Reading};
use crate::engine::{Task, brute};
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::Spec;
use crate::verdict::certify;

/// How many random logs a test looks at, unless `LINPOINT_TRIALS` says otherwise.
const TRIALS: u64 = 20_000;

/// An object in the terms of its monitor and of its specification.
pub(in crate::engine::monitor) trait Model {
    /// What operations do.
    type Act: Copy + Debug;
    type Spec: Spec;

    fn spec(&self) -> Self::Spec;

    /// The operation that does `act` with a value.
    fn op(&self, act: Self::Act, value: u32) -> <Self::Spec as Spec>::Op;

    /// The result of that operation.
    fn ret(&self, act: Self::Act, value: u32) -> <Self::Spec as Spec>::Ret;

    /// What becomes of a pending operation.
    fn fate(&self, log: &Log<Self::Act>, op: usize) -> Fate {
        let _ = (log, op);
        Fate::Open
    }
}

/// What becomes of a pending operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::monitor) enum Fate {
    /// It may take effect or not, with any result.
    Open,
    /// It returns after everything else.
    ReturnsLast,
    /// It does not take effect.
    Absent,
}

/// A model with random logs.
pub(in crate::engine::monitor) trait Subject: Model {
    /// Random operations one after the other: often a sequential run of the object.
    fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Self::Act, u32)>;

    /// Whether such an operation may be pending.
    fn may_be_pending(&self, act: Self::Act) -> bool;

    /// Whether such an operation may trade places with another one that may.
    fn may_move(&self, act: Self::Act) -> bool;
}

/// Calls `test` with random logs: some linearizable by construction, some of these changed a little, some arbitrary.
pub(in crate::engine::monitor) fn for_random_logs<S: Subject>(
    subject: &S,
    mut test: impl FnMut(Log<S::Act>),
) {
    let trials = std::env::var("LINPOINT_TRIALS").map_or(TRIALS, |n| n.parse().unwrap());
    for seed in 0..trials {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        test(random_log(subject, &mut rng));
    }
}

/// Compares a monitor with the reference: verdicts, witnesses and contradictions. It may decline to decide some logs.
pub(in crate::engine::monitor) fn assert_agrees<S: Subject, M: Monitor<Act = S::Act>>(
    subject: &S,
    monitor: &M,
) {
    assert_judged_alike(subject, |log| {
        monitor.decide(log).ok()?;
        Some(judge_alike(subject, monitor, log))
    });
}

/// Judges random logs; there must be enough that are linearizable, and enough that are not.
pub(in crate::engine::monitor) fn assert_judged_alike<S: Subject>(
    subject: &S,
    judge: impl Fn(&Log<S::Act>) -> Option<bool>,
) {
    let (mut good, mut bad) = (0, 0);
    for_random_logs(subject, |log| match judge(&log) {
        Some(true) => good += 1,
        Some(false) => bad += 1,
        None => {}
    });
    assert!(good > bad / 4 && bad > good / 4, "{good} good, {bad} bad");
}

/// Compares what a monitor finds with the reference, and checks its evidence. Returns whether the log is linearizable. The
/// monitor must be applicable.
pub(in crate::engine::monitor) fn judge_alike<M: Model, N: Monitor<Act = M::Act>>(
    model: &M,
    monitor: &N,
    log: &Log<M::Act>,
) -> bool {
    let expected = is_linearizable(model, log);
    let finding = monitor.judge(log, Evidence::Order);
    let finding = finding.expect("the monitor is applicable");
    assert_eq!(finding.is_linearizable(), expected, "{finding:?}\n{log:#?}");
    match finding {
        Finding::Linearizable(order) => {
            assert_explains(model, log, &order.expect("an order was asked for"));
        }
        Finding::Violation(contradiction) => assert_contradicts(model, log, &contradiction),
    }
    expected
}

fn random_log<S: Subject>(subject: &S, rng: &mut ChaCha8Rng) -> Log<S::Act> {
    let ops = rng.random_range(2..=9);
    let mut acts = subject.acts(ops, rng);
    // Each operation takes effect at twice its position, is called up to `lasts` earlier and returns up to `lasts` later.
    let lasts = [2, 4, 8][rng.random_range(0..3)];
    let mut times: Vec<(i32, i32)> = (0..ops as i32)
        .map(|i| {
            (
                2 * i - rng.random_range(0..=lasts),
                2 * i + rng.random_range(0..=lasts),
            )
        })
        .collect();
    for _ in 0..rng.random_range(0..=3u32).saturating_sub(1) {
        let (a, b) = (rng.random_range(0..ops), rng.random_range(0..ops));
        if rng.random() {
            times.swap(a, b);
        } else if subject.may_move(acts[a].0) && subject.may_move(acts[b].0) {
            acts.swap(a, b);
        }
    }
    let mut events: Vec<(i32, bool, usize)> = (0..ops)
        .flat_map(|i| [(times[i].0, false, i), (times[i].1, true, i)])
        .collect();
    events.shuffle(rng);
    events.sort_by_key(|&(time, is_return, _)| (time, is_return));
    let mut ranks = vec![(0, NEVER); ops];
    for (rank, &(_, is_return, op)) in (0u32..).zip(&events) {
        if !is_return {
            ranks[op].0 = rank;
        } else if !subject.may_be_pending(acts[op].0) || rng.random_range(0..10) > 0 {
            ranks[op].1 = rank;
        }
    }
    let mut order: Vec<usize> = (0..ops).collect();
    order.sort_by_key(|&op| ranks[op].0);
    let column = |of: &dyn Fn(usize) -> u32| order.iter().map(|&op| of(op)).collect();
    Log::new(
        order.iter().map(|&op| acts[op].0).collect(),
        column(&|op| acts[op].1),
        column(&|op| ranks[op].0),
        column(&|op| ranks[op].1),
    )
}

/// Whether the log is linearizable, by trying all orders.
pub(in crate::engine::monitor) fn is_linearizable<M: Model>(model: &M, log: &Log<M::Act>) -> bool {
    let mut found = false;
    with_task(model, log, |task| {
        let order = brute::try_all_orders(task, &mut || Ok::<(), ()>(()));
        found = order.unwrap().is_some();
    });
    found
}

/// Replays a witness, given as positions.
pub(in crate::engine::monitor) fn assert_explains<M: Model>(
    model: &M,
    log: &Log<M::Act>,
    order: &[u32],
) {
    let order: Vec<OpId> = order.iter().map(|&op| OpId(op)).collect();
    with_task(model, log, |task| {
        if let Err(error) = certify::witness(task, &order) {
            panic!("{error}\n{order:?}\n{log:#?}");
        }
    });
}

/// Checks that the operations of a contradiction are not linearizable by themselves.
pub(in crate::engine::monitor) fn assert_contradicts<M: Model>(
    model: &M,
    log: &Log<M::Act>,
    contradiction: &Contradiction,
) {
    assert!(contradiction.ops.is_sorted());
    assert!(
        !is_linearizable(model, &log.contradicting(contradiction)),
        "{contradiction:?}\n{log:#?}"
    );
}

fn with_task<M: Model>(model: &M, log: &Log<M::Act>, use_it: impl FnOnce(&Task<'_, M::Spec>)) {
    let mut history = TypedHistory::new();
    let value = |op: usize| {
        log.values
            .get(op)
            .copied()
            .unwrap_or(Reading::<M::Act>::NO_VALUE)
    };
    for event in log.events() {
        let op = event.op();
        let (act, value) = (log.acts[op], value(op));
        if event.is_return() {
            history.ret(OpId(op as u32), model.ret(act, value));
        } else {
            history.call(op as u32, model.op(act, value));
        }
    }
    let mut ids: Vec<OpId> = Vec::new();
    for op in 0..log.len() {
        let id = OpId(op as u32);
        let fate = log.is_pending(op).then(|| model.fate(log, op));
        if fate == Some(Fate::ReturnsLast) {
            history.ret(id, model.ret(log.acts[op], value(op)));
        }
        if fate != Some(Fate::Absent) {
            ids.push(id);
        }
    }
    use_it(&Task::new(&model.spec(), &history, &ids));
}
