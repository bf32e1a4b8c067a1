//! Stuck histories (Burckhardt, Dern, Musuvathi and Tan, *Line-Up*, PLDI 2010, definitions 2 and 3).
//!
//! A history ends stuck if its pending operations wait for ever. Each of them needs a reason: a *stuck serial witness*, an order
//! of the operations that returned, which explains their results and leads to a state in which the operation is blocked. The other
//! pending operations have no part in it.
//!
//! That is a question of linearizability. In the history [`Blocking::history`], the pending operation returns after everything
//! else, and its answer is that it is blocked. This history is linearizable with respect to [`Blocking`], after whose last
//! operation nothing happens any more, exactly if there is a stuck serial witness.

use std::fmt;
use std::sync::Arc;

use super::erased::{ErasedState, OpNumber};
use super::typed::Rows;
use super::{Action, Erased, Erasure, History, NEVER, OpId, TypedHistory};
use crate::error::Error;
use crate::spec::{Outcomes, Spec, Vocabulary};
use crate::value::Value;

impl History {
    /// Whether the history ends stuck: every operation that is pending waits, and will wait for ever, as in a deadlock.
    ///
    /// Such a history is linearizable if each pending operation has a stuck serial witness: an order of the operations that
    /// returned, which explains their results, and after which the specification
    /// [blocks](crate::Outcomes::Blocked) the pending operation.
    pub fn ends_stuck(&self) -> bool {
        self.ends_stuck
    }

    /// The same history, which ends stuck. At least one operation must be pending, and no pending operation may have a hint, which
    /// would say that it took effect.
    pub(crate) fn ending_stuck(self) -> Result<History, Error> {
        let mut pending = self.ops().filter(|op| op.result.is_none()).peekable();
        if pending.peek().is_none() {
            return Err(Error::malformed(
                "the history ends stuck, but every operation returned: nothing waits",
            ));
        }
        if let Some(op) = pending.find(|op| op.hint.is_some()) {
            let reason =
                "a pending operation has a hint, but the history ends stuck, so it took no effect";
            return Err(self.locate(op.id, Error::malformed(reason)));
        }
        drop(pending);
        Ok(History {
            ends_stuck: true,
            ..self
        })
    }
}

/// The pending operations among `ops`, one for each action: whether an operation is blocked depends on nothing else.
pub(crate) fn distinct_blocked<O, R>(history: &TypedHistory<O, R>, ops: &[OpId]) -> Vec<Vec<OpId>> {
    let mut alike: Vec<(u32, Vec<OpId>)> = Vec::new();
    for &id in ops.iter().filter(|id| history.rets()[id.index()] == NEVER) {
        let action = history.action_column()[id.index()];
        match alike.iter_mut().find(|(other, _)| *other == action) {
            Some((_, ids)) => ids.push(id),
            None => alike.push((action, vec![id])),
        }
    }
    alike.into_iter().map(|(_, ids)| ids).collect()
}

/// The specification of an object without its type, in which an operation may answer that it is blocked. After that, nothing
/// happens any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocking<'a, R>(Erased<'a, R>);

/// A history of a [`Blocking`] object.
pub(crate) type BlockingHistory<R> = TypedHistory<BlockingOp, BlockingAnswer<R>>;

/// An operation of a [`Blocking`] object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockingOp {
    /// Returns as it does in the object.
    Returns(OpNumber),
    /// Can only answer that it is blocked.
    Blocks(OpNumber),
}

/// An answer of a [`Blocking`] object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockingAnswer<R> {
    /// This result.
    Returned(R),
    /// None: it waits.
    Blocked,
}

/// A state of a [`Blocking`] object.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum BlockingState {
    /// Operations can happen.
    Running(ErasedState),
    /// An operation is blocked for ever.
    Stuck(ErasedState),
}

impl BlockingState {
    fn object(&self) -> &ErasedState {
        match self {
            BlockingState::Running(state) | BlockingState::Stuck(state) => state,
        }
    }
}

impl fmt::Debug for BlockingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object().fmt(f)
    }
}

impl<'a, R: Clone> Blocking<'a, R> {
    /// The specification of `erasure` in which operations may be blocked.
    pub(crate) fn of<S: Spec<Ret = R>>(erasure: &'a Erasure<'_, S>) -> Self {
        Blocking(erasure.spec())
    }

    /// The history of `erasure` in which a pending operation returns after everything else, with the answer that it is blocked.
    pub(crate) fn history<S: Spec<Ret = R>>(
        erasure: &Erasure<'_, S>,
        blocked: OpId,
    ) -> BlockingHistory<R> {
        let history = erasure.history();
        let returns = |action: &Action<OpNumber, R>| Action {
            op: BlockingOp::Returns(action.op),
            ret: action.ret.clone().map(BlockingAnswer::Returned),
        };
        let mut actions: Vec<_> = history.actions().iter().map(returns).collect();
        let blocks = Action {
            op: BlockingOp::Blocks(history.action(blocked).op),
            ret: Some(BlockingAnswer::Blocked),
        };
        let rows = history.rows().with_last(blocked, actions.len() as u32);
        actions.push(blocks);
        TypedHistory::of_rows(actions, rows)
    }

    /// The operations of a part that have a place in a stuck serial witness for `blocked`: those that returned, and itself.
    pub(crate) fn ops<O>(history: &TypedHistory<O, R>, part: &[OpId], blocked: OpId) -> Vec<OpId> {
        let takes_part = |id: &OpId| *id == blocked || history.rets()[id.index()] != NEVER;
        part.iter().copied().filter(takes_part).collect()
    }
}

impl Rows {
    /// The same rows, of which one has another action and returns after everything else.
    fn with_last(&self, last: OpId, action: u32) -> Arc<Rows> {
        let mut rows = self.clone();
        rows.action[last.index()] = action;
        rows.ret[last.index()] = rows.events;
        rows.events += 1;
        Arc::new(rows)
    }
}

impl<R> Spec for Blocking<'_, R>
where
    R: Clone + Eq + std::hash::Hash + fmt::Debug + Send + Sync,
{
    type Op = BlockingOp;
    type Ret = BlockingAnswer<R>;
    type State = BlockingState;

    fn init(&self) -> BlockingState {
        BlockingState::Running(self.0.init())
    }

    fn apply(
        &self,
        state: &BlockingState,
        op: &BlockingOp,
    ) -> Outcomes<BlockingAnswer<R>, BlockingState> {
        let returned = |(answer, next)| {
            (
                BlockingAnswer::Returned(answer),
                BlockingState::Running(next),
            )
        };
        match (state, op) {
            (BlockingState::Stuck(_), _) => Outcomes::Blocked,
            (BlockingState::Running(state), BlockingOp::Returns(op)) => {
                match self.0.apply(state, op) {
                    Outcomes::Blocked => Outcomes::Blocked,
                    outcomes => {
                        Outcomes::Many(outcomes.into_pairs().into_iter().map(returned).collect())
                    }
                }
            }
            (BlockingState::Running(state), BlockingOp::Blocks(op)) => {
                match self.0.step(state, op, None).is_empty() {
                    true => {
                        Outcomes::One(BlockingAnswer::Blocked, BlockingState::Stuck(state.clone()))
                    }
                    false => Outcomes::Blocked,
                }
            }
        }
    }

    fn step(
        &self,
        state: &BlockingState,
        op: &BlockingOp,
        ret: Option<&BlockingAnswer<R>>,
    ) -> Vec<BlockingState> {
        match (state, op, ret) {
            (BlockingState::Running(state), BlockingOp::Returns(op), None) => {
                let next = self.0.step(state, op, None).into_iter();
                next.map(BlockingState::Running).collect()
            }
            (
                BlockingState::Running(state),
                BlockingOp::Returns(op),
                Some(BlockingAnswer::Returned(ret)),
            ) => {
                let next = self.0.step(state, op, Some(ret)).into_iter();
                next.map(BlockingState::Running).collect()
            }
            _ => self.apply(state, op).answering(ret),
        }
    }

    fn state_value(&self, state: &BlockingState) -> Value {
        let is_stuck = matches!(state, BlockingState::Stuck(_));
        Value::list([Value::Bool(is_stuck), self.0.state_value(state.object())])
    }

    fn is_pure(&self, op: &BlockingOp, ret: Option<&BlockingAnswer<R>>) -> bool {
        match (op, ret) {
            (BlockingOp::Returns(op), None) => self.0.is_pure(op, None),
            (BlockingOp::Returns(op), Some(BlockingAnswer::Returned(ret))) => {
                self.0.is_pure(op, Some(ret))
            }
            _ => false,
        }
    }

    fn state_after(&self, op: &BlockingOp, ret: &BlockingAnswer<R>) -> Option<BlockingState> {
        match (op, ret) {
            (BlockingOp::Returns(op), BlockingAnswer::Returned(ret)) => {
                self.0.state_after(op, ret).map(BlockingState::Running)
            }
            _ => None,
        }
    }

    fn key(&self, op: &BlockingOp) -> Option<Value> {
        let (BlockingOp::Returns(op) | BlockingOp::Blocks(op)) = op;
        self.0.key(op)
    }

    fn hint(&self, op: &BlockingOp, ret: Option<&BlockingAnswer<R>>) -> Option<i64> {
        match (op, ret) {
            (BlockingOp::Returns(op), Some(BlockingAnswer::Returned(ret))) => {
                self.0.hint(op, Some(ret))
            }
            _ => None,
        }
    }

    fn vocabulary(&self) -> Vocabulary {
        self.0.vocabulary()
    }

    fn state_words(&self, state: &BlockingState, key: Option<&Value>) -> String {
        self.0.state_words(state.object(), key)
    }

    fn answer_words(
        &self,
        before: &BlockingState,
        op: &BlockingOp,
        answer: &BlockingAnswer<R>,
    ) -> String {
        let (BlockingOp::Returns(op) | BlockingOp::Blocks(op)) = op;
        match answer {
            BlockingAnswer::Returned(answer) => self.0.answer_words(before.object(), op, answer),
            BlockingAnswer::Blocked => "to wait".to_owned(),
        }
    }

    fn answer_reason(&self, op: &BlockingOp, answer: &str) -> Option<String> {
        let (BlockingOp::Returns(op) | BlockingOp::Blocks(op)) = op;
        self.0.answer_reason(op, answer)
    }

    fn failure(&self) -> Option<String> {
        self.0.failure()
    }

    fn effort(&self) -> Option<String> {
        self.0.effort()
    }
}
