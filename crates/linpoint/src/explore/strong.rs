//! Strong linearizability: whether linearization points can be chosen as an execution unfolds.
//!
//! An algorithm is *strongly linearizable* if each execution has a linearization such that the linearization of a prefix is a
//! prefix of it (Golab, Higham and Woelfel, STOC 2011). So decisions are never revised. This is a game: one player makes the
//! steps of the processes; the other, after each step, appends open operations to the linearization, and must have appended
//! an operation before it returns. The second player wins if it can go on for ever, and what it needs to know is a
//! *position*: the state of the algorithm, that of the specification, and which open operations are in the linearization.
//!
//! All positions within the bounds are enumerated. A position is lost if some step leaves no position that is not lost.
//!
//! Reductions of the algorithm keep the answer: they leave out executions whose choices can be taken over from one that is
//! explored, with steps in the same order. Symmetry is not used.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use super::observe::NoObserver;
use super::product::{Happened, Product, StateOf};
use super::program::{Algorithm, Bounds, Client, Offers, Reductions};
use super::snapshot::{Bitwise, FULL_CLIENT, Form, SnapshotAlgorithm};
use crate::engine::{Budget, Limit};
use crate::error::Error;
use crate::spec::{Outcomes, Spec};

/// Whether an algorithm is strongly linearizable within bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strong {
    /// It is.
    Yes {
        /// How many positions there are.
        positions: usize,
    },
    /// For every choice of linearizations some execution makes one wrong.
    No {
        /// How many positions there are.
        positions: usize,
    },
    /// A limit was hit first.
    Undecided(Limit),
}

/// The most positions that are enumerated; each takes some hundred bytes.
const MOST_POSITIONS: usize = 10_000_000;

/// Decides whether an algorithm is strongly linearizable, for the executions of a client within bounds.
pub fn strongly_linearizable<A, S>(
    algorithm: &A,
    client: &(impl Client<A::Op> + ?Sized),
    spec: &S,
    bounds: &Bounds,
    budget: &Budget,
) -> Result<Strong, Error>
where
    A: Algorithm,
    S: Spec<Op = A::Op, Ret = A::Ret>,
{
    let offers = Offers::of(client, algorithm.processes(), bounds);
    solve(algorithm, offers, spec, |_, op| op.clone(), bounds, budget)
}

/// Decides whether a snapshot algorithm is strongly linearizable, for all executions within bounds with values 0 and 1.
///
/// ```
/// use linpoint::engine::Budget;
/// use linpoint::explore::algorithms::Locked;
/// use linpoint::explore::strong::{Strong, strong_snapshot};
/// use linpoint::explore::Bounds;
/// let bounds = Bounds { ops_per_process: Some(1), ..Bounds::default() };
/// let found = strong_snapshot::<Locked>(2, None, &bounds, &Budget::default())?;
/// assert!(matches!(found, Strong::Yes { .. }));
/// # Ok::<(), linpoint::Error>(())
/// ```
pub fn strong_snapshot<A: SnapshotAlgorithm>(
    processes: usize,
    bug: Option<&str>,
    bounds: &Bounds,
    budget: &Budget,
) -> Result<Strong, Error> {
    let form = Form::full(processes).within(bounds);
    let spec = Bitwise {
        entries: form.entries,
    };
    let offers = Offers::of(FULL_CLIENT, processes, bounds);
    let algorithm = A::new(form, bug);
    let spec_op = |p, op: &_| (p as u8, *op);
    solve(&algorithm, offers, &spec, spec_op, bounds, budget)
}

/// What is committed: the state of the specification after the linearization, and the open operation of each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Committed<S, Op, Ret> {
    state: S,
    open: Vec<Open<Op, Ret>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Open<Op, Ret> {
    Nothing,
    /// The operation is not in the linearization.
    Before(Op),
    /// The operation is in the linearization, with this result.
    After(Ret),
}

type CommittedTo<S> = Committed<<S as Spec>::State, <S as Spec>::Op, <S as Spec>::Ret>;

/// All ways to append open operations to a linearization, among them to append none.
fn extensions<S: Spec>(spec: &S, committed: CommittedTo<S>) -> Vec<CommittedTo<S>> {
    let mut all = vec![committed];
    let mut at = 0;
    while at < all.len() {
        let committed = all[at].clone();
        at += 1;
        for (p, open) in committed.open.iter().enumerate() {
            let Open::Before(op) = open else { continue };
            let outcomes = match spec.apply(&committed.state, op) {
                Outcomes::Blocked => Vec::new(),
                Outcomes::One(ret, state) => vec![(ret, state)],
                Outcomes::Many(all) => all,
            };
            for (ret, state) in outcomes {
                let mut next = committed.clone();
                next.state = state;
                next.open[p] = Open::After(ret);
                if !all.contains(&next) {
                    all.push(next);
                }
            }
        }
    }
    all
}

/// The positions of the game, and the steps between them.
#[derive(Default)]
struct Graph {
    /// For each position and step, how many of the positions that can follow are not lost.
    choices: Vec<Vec<usize>>,
    /// For each position, the positions and steps that it can follow.
    before: Vec<Vec<(usize, usize)>>,
    lost: Vec<bool>,
    /// The lost positions whose predecessors were not told yet.
    news: Vec<usize>,
}

impl Graph {
    fn add(&mut self) {
        self.choices.push(Vec::new());
        self.before.push(Vec::new());
        self.lost.push(false);
    }

    fn lose(&mut self, position: usize) {
        if !std::mem::replace(&mut self.lost[position], true) {
            self.news.push(position);
        }
    }

    /// Finds all positions that are lost.
    fn propagate(&mut self) {
        while let Some(position) = self.news.pop() {
            for (before, step) in std::mem::take(&mut self.before[position]) {
                self.choices[before][step] -= 1;
                if self.choices[before][step] == 0 {
                    self.lose(before);
                }
            }
        }
    }
}

fn solve<A: Algorithm, S: Spec<Ret = A::Ret>>(
    algorithm: &A,
    offers: Offers<A::Op>,
    spec: &S,
    spec_op: impl Fn(usize, &A::Op) -> S::Op,
    bounds: &Bounds,
    budget: &Budget,
) -> Result<Strong, Error> {
    let product = Product::new(
        algorithm,
        offers,
        NoObserver,
        bounds.clone(),
        Reductions::ALL,
        Vec::new(),
    )?;
    let committed = Committed {
        state: spec.init(),
        open: vec![Open::Nothing; algorithm.processes()],
    };
    let mut graph = Graph::default();
    let mut numbers: HashMap<(Vec<u64>, CommittedTo<S>), usize> = HashMap::new();
    let mut waiting: VecDeque<(StateOf<A, NoObserver>, CommittedTo<S>)> = VecDeque::new();
    let mut enter = |state: &StateOf<A, NoObserver>,
                     committed: CommittedTo<S>,
                     graph: &mut Graph,
                     waiting: &mut VecDeque<_>| {
        let next = numbers.len();
        let key = (product.packed(state), committed);
        *numbers.entry(key).or_insert_with_key(|(_, committed)| {
            graph.add();
            waiting.push_back((state.clone(), committed.clone()));
            next
        })
    };
    enter(&product.start(), committed, &mut graph, &mut waiting);
    let mut position = 0;
    while let Some((state, committed)) = waiting.pop_front() {
        if let Err(limit) = budget.check() {
            return Ok(Strong::Undecided(limit));
        }
        if graph.lost.len() > MOST_POSITIONS {
            let limit = Limit::Capacity("the game has more than 10,000,000 positions");
            return Ok(Strong::Undecided(limit));
        }
        for (step, a_move) in product.moves(&state).enumerate() {
            let (mut next, mut happened) = (state.clone(), Happened::default());
            // Nothing observes, so every return is accepted.
            let _ = product.make(&mut next, a_move, Some(&mut happened));
            product.normalize(&mut next);
            let p = a_move.process;
            let mut called = committed.clone();
            if let Some(op) = &happened.call {
                called.open[p] = Open::Before(spec_op(p, op));
            }
            let mut choices = extensions(spec, called);
            if let Some(ret) = &happened.ret {
                choices.retain(|choice| choice.open[p] == Open::After(ret.clone()));
                choices
                    .iter_mut()
                    .for_each(|choice| choice.open[p] = Open::Nothing);
            }
            graph.choices[position].push(choices.len());
            if choices.is_empty() {
                graph.lose(position);
            }
            for choice in choices {
                let after = enter(&next, choice, &mut graph, &mut waiting);
                graph.before[after].push((position, step));
            }
        }
        position += 1;
    }
    graph.propagate();
    let positions = graph.lost.len();
    Ok(match graph.lost[0] {
        true => Strong::No { positions },
        false => Strong::Yes { positions },
    })
}
