//! Random small logs of any object, and the reference that judges what monitors say about them.

use std::fmt::Debug;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) mod containers;

use super::{Contradiction, Finding, Log};
use crate::engine::{Task, brute};
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::Spec;
use crate::verdict::certify;

/// How many random logs a test looks at, by default.
const TRIALS: u64 = 20_000;

/// An object as its monitor sees it, and as its specification does.
pub(crate) trait Model {
    /// ViolationKind operations do.
    type Act: Copy + Debug;
    type Spec: Spec;

    fn spec(&self) -> Self::Spec;

    /// The operation that does this with a value.
    fn op(&self, act: Self::Act, value: u32) -> <Self::Spec as Spec>::Op;

    /// ViolationKind it answers.
    fn ret(&self, act: Self::Act, value: u32) -> <Self::Spec as Spec>::Ret;

    /// ViolationKind becomes of a pending operation.
    fn fate(&self, log: &Log<Self::Act>, op: usize) -> Fate {
        let _ = (log, op);
        Fate::Open
    }
}

/// ViolationKind becomes of a pending operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It may happen or not, with any result.
    Open,
    /// It returns after everything else.
    ReturnsLast,
    /// It does not happen.
    Absent,
}

/// A model with random logs.
pub(crate) trait Subject: Model {
    /// A random run: often one that the object can do.
    fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Self::Act, u32)>;

    /// Whether it may stand in a log without a return.
    fn may_be_pending(&self, act: Self::Act) -> bool;

    /// Whether it may be exchanged for another one that may, wherever they stand.
    fn may_move(&self, act: Self::Act) -> bool;
}

/// Calls `test` with random logs: some linearizable by construction, some of these changed a little, some quite
/// arbitrary.
pub(crate) fn for_random_logs<S: Subject>(subject: &S, mut test: impl FnMut(Log<S::Act>)) {
    let trials = std::env::var("LINPOINT_TRIALS").map_or(TRIALS, |n| n.parse().unwrap());
    for seed in 0..trials {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        test(random_log(subject, &mut rng));
    }
}

/// Holds a monitor against the reference: verdicts, witnesses and contradictions. It may hand logs on.
pub(crate) fn assert_agrees<S: Subject>(
    subject: &S,
    decide: impl Fn(&Log<S::Act>) -> Option<Finding>,
    witness: impl Fn(&Log<S::Act>) -> Vec<u32>,
) {
    assert_judged_alike(subject, |log| {
        let finding = decide(log)?;
        Some(judge_alike(subject, log, finding, |()| witness(log)))
    });
}

/// Lets random logs be judged; there must be enough of both kinds.
pub(crate) fn assert_judged_alike<S: Subject>(
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

/// Compares a finding with the reference, and checks what it says. Whether the log is linearizable.
pub(crate) fn judge_alike<M: Model, P: Debug>(
    model: &M,
    log: &Log<M::Act>,
    finding: Finding<P>,
    witness: impl FnOnce(P) -> Vec<u32>,
) -> bool {
    let expected = is_linearizable(model, log);
    assert_eq!(finding.is_linearizable(), expected, "{finding:?}\n{log:#?}");
    match finding {
        Finding::Linearizable(proof) => assert_explains(model, log, &witness(proof)),
        Finding::Violation(contradiction) => assert_contradicts(model, log, &contradiction),
    }
    expected
}

fn random_log<S: Subject>(subject: &S, rng: &mut ChaCha8Rng) -> Log<S::Act> {
    let ops = rng.random_range(2..=9);
    let mut acts = subject.acts(ops, rng);
    // Every operation takes effect at twice its position, and lasts a while before and after.
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

/// Whether some order explains the log.
pub(crate) fn is_linearizable<M: Model>(model: &M, log: &Log<M::Act>) -> bool {
    let mut found = false;
    with_task(model, log, |task| {
        let order = brute::try_all_orders(task, &mut || Ok::<(), ()>(()));
        found = order.unwrap().is_some();
    });
    found
}

/// Replays a witness, given as positions.
pub(crate) fn assert_explains<M: Model>(model: &M, log: &Log<M::Act>, order: &[u32]) {
    let order: Vec<OpId> = order.iter().map(|&op| OpId(op)).collect();
    with_task(model, log, |task| {
        if let Err(error) = certify::witness(task, &order) {
            panic!("{error}\n{order:?}\n{log:#?}");
        }
    });
}

/// The operations of a contradiction are not linearizable by themselves.
pub(crate) fn assert_contradicts<M: Model>(
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
    for event in log.events() {
        let op = event.op();
        let (act, value) = (log.acts[op], log.values[op]);
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
            history.ret(id, model.ret(log.acts[op], log.values[op]));
        }
        if fate != Some(Fate::Absent) {
            ids.push(id);
        }
    }
    use_it(&Task::new(&model.spec(), &history, &ids));
}
