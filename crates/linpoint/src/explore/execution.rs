//! Executions: how a counterexample came about, step by step.

use super::observe::Observer;
use super::product::{Happened, Move, Product, StateOf};
use super::program::{Algorithm, Interface};
use crate::error::Error;

/// An execution, move by move.
#[derive(Clone, Debug)]
pub struct Execution<Op, Ret> {
    /// The moves, in the order of time.
    pub rows: Vec<Row<Op, Ret>>,
    /// Why the last return cannot be linearized.
    pub reason: String,
}

/// What one process does at once.
#[derive(Clone, Debug)]
pub struct Row<Op, Ret> {
    /// The process.
    pub process: usize,
    /// What it calls, if this is the first move of an operation.
    pub call: Option<Op>,
    /// The steps that it makes, in words.
    pub steps: Vec<String>,
    /// What it returns, if this is the last move.
    pub ret: Option<Ret>,
    /// The registers after that, in words.
    pub registers: String,
}

impl<Op: Clone, Ret: Clone> Execution<Op, Ret> {
    /// The calls and returns, by process, in the order of time.
    pub fn events(&self) -> impl Iterator<Item = (usize, Result<Op, Ret>)> {
        self.rows.iter().flat_map(|row| {
            let call = row.call.clone().map(Ok);
            let ret = row.ret.clone().map(Err);
            let events = call.into_iter().chain(ret);
            events.map(|event| (row.process, event))
        })
    }
}

/// A way to the next state: where it leads, what happens, and why it is bad if it is.
struct Taken<S, Op, Ret> {
    state: S,
    rows: Vec<Row<Op, Ret>>,
    reason: Option<String>,
}

/// Where dead values are forgotten, a process may have to make up for steps that the search saw no need of.
const MOST_CATCHING_UP: usize = 10_000;

type TakenBy<A, O> = Taken<StateOf<A, O>, <A as Interface>::Op, <A as Interface>::Ret>;

impl<A: Algorithm, O: Observer<A::Op, A::Ret>> Product<'_, A, O> {
    /// The execution of the algorithm as it is, without reductions of states, that goes through `way` and then has a bad
    /// step.
    pub(crate) fn replay(&self, way: &[Vec<u64>]) -> Result<Execution<A::Op, A::Ret>, Error> {
        let mut state = self.start();
        let mut rows = Vec::new();
        let targets = way[1..].iter().map(Some).chain([None]);
        for target in targets {
            let taken = self
                .moves(&state)
                .find_map(|a_move| self.take(&state, a_move, target))
                .ok_or_else(|| {
                    Error::bug("bug in linpoint: a counterexample cannot be replayed")
                })?;
            state = taken.state;
            rows.extend(taken.rows);
            if let Some(reason) = taken.reason {
                return Ok(Execution { rows, reason });
            }
        }
        Err(Error::bug(
            "bug in linpoint: a counterexample has no bad step",
        ))
    }

    /// From `state` by moves of one process to a state whose normal form is `target`, or to a bad step.
    fn take(
        &self,
        state: &StateOf<A, O>,
        a_move: Move,
        target: Option<&Vec<u64>>,
    ) -> Option<TakenBy<A, O>> {
        let from = self.form(state);
        let mut taken = Taken {
            state: state.clone(),
            rows: Vec::new(),
            reason: None,
        };
        let mut a_move = a_move;
        for _ in 0..MOST_CATCHING_UP {
            let mut happened = Happened {
                call: None,
                steps: Vec::new(),
                ret: None,
            };
            let fine = self.make(&mut taken.state, a_move, Some(&mut happened));
            taken.rows.push(Row {
                process: a_move.process,
                call: happened.call,
                steps: happened.steps,
                ret: happened.ret,
                registers: self.algorithm.registers(&taken.state.shared),
            });
            if let Err(reason) = fine {
                taken.reason = Some(reason);
                return target.is_none().then_some(taken);
            }
            let form = self.form(&taken.state);
            if Some(&form) == target {
                return Some(taken);
            }
            if form != from {
                return None;
            }
            a_move = self.going_on(&taken.state, a_move.process)?;
        }
        None
    }

    /// The normal form of a state, packed.
    pub(crate) fn form(&self, state: &StateOf<A, O>) -> Vec<u64> {
        let mut state = state.clone();
        self.normalize(&mut state);
        self.packed(&state)
    }
}
