//! Counterexamples: replays the states that the search found as an execution, step by step and without reductions.

use std::fmt;

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

/// One move: consecutive steps of one process.
#[derive(Clone, Debug)]
pub struct Row<Op, Ret> {
    /// The process.
    pub process: usize,
    /// The operation that it calls, if this is its first move.
    pub call: Option<Op>,
    /// Descriptions of its steps.
    pub steps: Vec<String>,
    /// The result, if this is the last move of the operation.
    pub ret: Option<Ret>,
    /// A description of the registers after the move.
    pub registers: String,
}

impl<Op: fmt::Debug, Ret: fmt::Debug> fmt::Display for Row<Op, Ret> {
    /// `process 0  Update(1): reads r1; writes r0 returns Done`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}  ", self.process)?;
        if let Some(op) = &self.call {
            write!(f, "{op:?}: ")?;
        }
        f.write_str(&self.steps.join("; "))?;
        match &self.ret {
            Some(ret) => write!(f, " returns {ret:?}"),
            None => Ok(()),
        }
    }
}

impl<Op: Clone, Ret: Clone> Execution<Op, Ret> {
    /// The calls and returns with their processes, in the order of time.
    pub fn events(&self) -> impl Iterator<Item = (usize, Result<Op, Ret>)> {
        self.rows.iter().flat_map(|row| {
            let call = row.call.clone().map(Ok);
            let ret = row.ret.clone().map(Err);
            let events = call.into_iter().chain(ret);
            events.map(|event| (row.process, event))
        })
    }
}

/// Some moves of one process: the state after them, and why the last one cannot be linearized, if it cannot.
struct Taken<S, Op, Ret> {
    state: S,
    rows: Vec<Row<Op, Ret>>,
    reason: Option<String>,
}

/// The most moves of one process between two states of the search. There can be several: a normal form may skip steps whose
/// outcome is known, and the replay makes these.
const MOST_CATCHING_UP: usize = 10_000;

type TakenBy<A, O> = Taken<StateOf<A, O>, <A as Interface>::Op, <A as Interface>::Ret>;

impl<A: Algorithm, O: Observer<A::Op, A::Ret>> Product<'_, A, O> {
    /// The execution, without reductions of states, whose normal forms are those of `way` and which then has a step that
    /// cannot be linearized.
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

    /// Makes moves of one process until the normal form of the state is `target`; or, if `target` is `None`, until a step
    /// cannot be linearized.
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
            let mut happened = Happened::default();
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
