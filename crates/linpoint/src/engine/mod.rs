//! Engines: each decides some histories, none trusts another.

pub mod brute;
mod budget;
pub(crate) mod search;

pub(crate) use budget::Ticker;
pub use budget::{Budget, Progress};

use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::{Kind, Spec};
use crate::verdict::Limit;

/// One part of a history, possibly reduced: what an engine is asked to decide.
#[derive(Debug)]
pub struct Task<'a, S: Spec> {
    /// The specification.
    pub spec: &'a S,
    /// The history that the operations are from.
    pub history: &'a TypedHistory<S::Op, S::Ret>,
    /// The operations, in the order of their calls.
    pub ops: Vec<TaskOp>,
    /// What the specification says it is, if that holds here: it speaks of one key, so not where several are mixed.
    kind: Option<Kind>,
}

// Not derived: that would ask for `S: Clone`.
impl<S: Spec> Clone for Task<'_, S> {
    fn clone(&self) -> Self {
        self.with_ops(self.ops.clone())
    }
}

/// An operation of a [`Task`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskOp {
    /// Its number in the history.
    pub id: OpId,
    /// The rank of its call.
    pub call: u32,
    /// The rank of its return; [`NEVER`] if it is pending, or treated as if it were.
    pub ret: u32,
}

impl<'a, S: Spec> Task<'a, S> {
    /// The task of deciding these operations as they were recorded.
    pub fn new(spec: &'a S, history: &'a TypedHistory<S::Op, S::Ret>, ids: &[OpId]) -> Self {
        let (calls, rets) = (history.calls(), history.rets());
        let ops = ids.iter().map(|&id| TaskOp {
            id,
            call: calls[id.index()],
            ret: rets[id.index()],
        });
        let action = |id: &OpId| &history.action(*id).op;
        let mut keys = ids.iter().map(|id| spec.key(action(id)));
        let first = keys.next().flatten();
        let one_key = keys.all(|key| key == first);
        Task {
            spec,
            history,
            ops: ops.collect(),
            kind: spec.kind().filter(|_| one_key),
        }
    }

    /// The same task with these operations instead, which must be some of its own.
    pub(crate) fn with_ops(&self, ops: Vec<TaskOp>) -> Self {
        Task {
            spec: self.spec,
            history: self.history,
            ops,
            kind: self.kind.clone(),
        }
    }

    /// Which well-known object this is about.
    pub(crate) fn kind(&self) -> Option<&Kind> {
        self.kind.as_ref()
    }

    /// What the operation at `position` does: the operation and its result, `None` while pending.
    pub fn action(&self, position: usize) -> (&'a S::Op, Option<&'a S::Ret>) {
        let TaskOp { id, ret, .. } = self.ops[position];
        let action = self.history.action(id);
        (&action.op, action.ret.as_ref().filter(|_| ret != NEVER))
    }

    /// The task of deciding the first `events` calls and returns.
    pub(crate) fn prefix(&self, events: usize) -> Self {
        let last = events
            .checked_sub(1)
            .and_then(|last| self.ranks().nth(last));
        let ops = self
            .ops
            .iter()
            .filter(|op| last.is_some_and(|last| op.call <= last));
        let cut = |op: &TaskOp| TaskOp {
            ret: if last < Some(op.ret) { NEVER } else { op.ret },
            ..*op
        };
        self.with_ops(ops.map(cut).collect())
    }

    /// The ranks of calls and returns, in order.
    fn ranks(&self) -> impl Iterator<Item = u32> + use<S> {
        let mut ranks: Vec<u32> = self
            .ops
            .iter()
            .flat_map(|op| [op.call, op.ret])
            .filter(|&r| r != NEVER)
            .collect();
        ranks.sort_unstable();
        ranks.into_iter()
    }

    /// How many calls and returns there are.
    pub fn events(&self) -> usize {
        self.ops.len() + self.ops.iter().filter(|op| op.ret != NEVER).count()
    }
}

/// What a complete engine found out.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Linearizable, in this order.
    Linearizable(Vec<OpId>),
    /// Not linearizable.
    NotLinearizable {
        /// The longest order found that explains a beginning of the history.
        partial: Vec<OpId>,
        /// How many events that beginning has.
        reached: usize,
    },
}

impl Answer {
    /// Whether the history is linearizable.
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Answer::Linearizable(_))
    }
}

/// An engine stopped at a limit.
#[derive(Clone, Copy, Debug)]
pub struct GaveUp {
    /// The limit.
    pub limit: Limit,
    /// How many events were shown to be linearizable.
    pub reached: usize,
}
