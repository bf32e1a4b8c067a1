//! Tasks: the operations that an engine is asked to decide, and what is known of them.

use super::Shortcuts;
use crate::history::{Erased, ErasedHistory, Erasure, Interval, NEVER, OpId, TypedHistory};
use crate::spec::{Detail, Kind, Role, Spec};
use crate::value::Value;

/// One part of a history, possibly reduced: what an engine is asked to decide.
#[derive(Debug)]
pub struct Task<'a, S: Spec> {
    /// The specification.
    pub spec: &'a S,
    /// The history that the operations are from.
    pub history: &'a TypedHistory<S::Op, S::Ret>,
    /// The operations, in the order of their calls.
    pub ops: Vec<TaskOp>,
    /// What the specification says it is, as seen on one key.
    kind: Option<Kind>,
    keys: Keys,
    shortcuts: Shortcuts,
    end: End,
}

/// What the last operation of a task may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// What any other may.
    Returned,
    /// That it is blocked for ever.
    Blocked,
}

/// Whether the operations of a task are on different keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// All are on the same one, or none has any.
    One,
    /// Each has one, and they differ.
    Several,
    /// Some have one and some have not, so even those that do may affect each other.
    Unknown,
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

impl TaskOp {
    /// The time from its call to its return.
    #[inline]
    pub(crate) fn interval(self) -> Interval {
        Interval {
            call: self.call,
            ret: self.ret,
        }
    }

    /// The same operation as a pending one: it may have any result, and any effect that it can have after its call.
    pub(crate) fn relaxed(self) -> Self {
        TaskOp { ret: NEVER, ..self }
    }

    /// Whether it returned before the other one was called.
    #[inline]
    pub(crate) fn precedes(self, other: TaskOp) -> bool {
        self.interval().precedes(other.interval())
    }
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
        let mut keys = ids.iter().map(|&id| spec.key(&history.action(id).op));
        let first = keys.clone().next().flatten();
        let keys = if keys.clone().all(|key| key == first) {
            Keys::One
        } else if keys.all(|key| key.is_some()) {
            Keys::Several
        } else {
            Keys::Unknown
        };
        Task {
            spec,
            history,
            ops: ops.collect(),
            kind: spec.kind(),
            keys,
            shortcuts: Shortcuts::default(),
            end: End::Returned,
        }
    }

    /// The same task with these operations instead, which must be some of its own.
    pub(crate) fn with_ops(&self, ops: Vec<TaskOp>) -> Self {
        Task {
            spec: self.spec,
            history: self.history,
            ops,
            kind: self.kind.clone(),
            keys: self.keys,
            shortcuts: self.shortcuts,
            end: self.end,
        }
    }

    /// Gives `work` the same task without its types.
    pub(crate) fn erased<T>(&self, work: impl FnOnce(&Task<'_, Erased<'_, S::Ret>>) -> T) -> T {
        let erasure = Erasure::of(self.spec, self.history);
        work(&self.erased_by(&erasure.spec(), erasure.history()))
    }

    /// The same task, of a history and a specification without their types.
    pub(crate) fn erased_by<'e>(
        &self,
        spec: &'e Erased<'e, S::Ret>,
        history: &'e ErasedHistory<S::Ret>,
    ) -> Task<'e, Erased<'e, S::Ret>> {
        Task {
            spec,
            history,
            ops: self.ops.clone(),
            kind: self.kind.clone(),
            keys: self.keys,
            shortcuts: self.shortcuts,
            end: self.end,
        }
    }

    /// The same task, for engines that take these ways to save work only.
    pub(crate) fn with_shortcuts(self, shortcuts: Shortcuts) -> Self {
        Task { shortcuts, ..self }
    }

    /// The same task, whose last operation answers that it is blocked.
    pub(crate) fn ending_blocked(self) -> Self {
        let end = End::Blocked;
        Task { end, ..self }
    }

    pub(crate) fn end(&self) -> End {
        self.end
    }

    /// What the operation at `position` does: the operation and its result, `None` while pending.
    pub fn action(&self, position: usize) -> (&'a S::Op, Option<&'a S::Ret>) {
        self.action_of(self.ops[position])
    }

    /// What an operation of this task does, which may be a relaxed one.
    pub(crate) fn action_of(
        &self,
        TaskOp { id, ret, .. }: TaskOp,
    ) -> (&'a S::Op, Option<&'a S::Ret>) {
        let action = self.history.action(id);
        (&action.op, action.ret.as_ref().filter(|_| ret != NEVER))
    }

    /// The operation with this number.
    pub(crate) fn op(&self, id: OpId) -> Option<TaskOp> {
        let place = self.ops.binary_search_by_key(&id, |op| op.id).ok()?;
        Some(self.ops[place])
    }

    /// The key that all operations are on, if they have one.
    pub(crate) fn only_key(&self) -> Option<Value> {
        let first = self.ops.first().filter(|_| self.keys == Keys::One)?;
        self.key(*first)
    }

    /// How many calls and returns there are.
    pub fn events(&self) -> usize {
        count_events(&self.ops)
    }

    /// How many calls and returns have this rank or a lower one.
    pub(crate) fn events_until(&self, rank: u32) -> usize {
        let ranks = self.ops.iter().flat_map(|op| [op.call, op.ret]);
        ranks.filter(|&at| at <= rank).count()
    }
}

/// The operations that were called at a rank or before; what returned later is pending.
pub(crate) fn until(ops: &[TaskOp], rank: u32) -> Vec<TaskOp> {
    let called = ops.iter().filter(|op| op.call <= rank);
    let seen = called.map(|op| TaskOp {
        ret: if op.ret > rank { NEVER } else { op.ret },
        ..*op
    });
    seen.collect()
}

/// The operation whose return is the first one after the first `events` calls and returns.
pub(crate) fn first_return_after(ops: &[TaskOp], events: usize) -> Option<TaskOp> {
    let ranks = ops.iter().flat_map(|op| [op.call, op.ret]);
    let mut ranks: Vec<u32> = ranks.filter(|&rank| rank != NEVER).collect();
    if events >= ranks.len() {
        return None;
    }
    let (_, &mut next, _) = ranks.select_nth_unstable(events);
    let later = ops.iter().filter(|op| op.ret != NEVER && op.ret >= next);
    later.min_by_key(|op| op.ret).copied()
}

pub(crate) fn count_events(ops: &[TaskOp]) -> usize {
    ops.len() + ops.iter().filter(|op| op.ret != NEVER).count()
}

/// What is known of the operations of a task without knowing their types.
///
/// Most of what engines do needs no more, and is compiled once instead of once for each specification.
pub(crate) trait Facts {
    /// The operations.
    fn ops(&self) -> &[TaskOp];
    /// Which well-known object they are on; none where there are several keys.
    fn kind(&self) -> Option<&Kind>;
    /// Which well-known object each key is.
    fn kind_of_keys(&self) -> Option<&Kind>;
    /// Whether there are several keys and every operation has one.
    fn has_independent_keys(&self) -> bool;
    /// The key that an operation is on.
    fn key(&self, op: TaskOp) -> Option<Value>;
    /// What an operation does, which may be a relaxed one.
    fn role(&self, op: TaskOp) -> Role;
    /// Whether it never changes any state.
    fn is_pure(&self, op: TaskOp) -> bool;
    /// Where in the order of the object it took effect, if the history says so; see [`Spec::hint`].
    fn hint(&self, op: TaskOp) -> Option<i64>;
    /// What it leaves when it takes effect; see [`Spec::marks`].
    fn marks(&self, op: TaskOp) -> Vec<Value>;
    /// The marks that its result shows; see [`Spec::shows`].
    fn shows(&self, op: TaskOp) -> Vec<(Value, i64)>;
    /// What it says about the object, for explanations; see [`Spec::details`].
    fn details(&self, op: TaskOp) -> Vec<Detail>;
    /// A number that is the same for operations that do the same.
    fn class(&self, op: TaskOp) -> u32;
    /// The ways to save work that engines may take.
    fn shortcuts(&self) -> Shortcuts;
}

impl<S: Spec> Facts for Task<'_, S> {
    fn ops(&self) -> &[TaskOp] {
        &self.ops
    }

    fn kind(&self) -> Option<&Kind> {
        self.kind.as_ref().filter(|_| self.keys == Keys::One)
    }

    fn kind_of_keys(&self) -> Option<&Kind> {
        self.kind.as_ref()
    }

    fn has_independent_keys(&self) -> bool {
        self.keys == Keys::Several
    }

    fn key(&self, op: TaskOp) -> Option<Value> {
        self.spec.key(self.action_of(op).0)
    }

    fn role(&self, op: TaskOp) -> Role {
        let (operation, ret) = self.action_of(op);
        self.spec.role(operation, ret)
    }

    fn is_pure(&self, op: TaskOp) -> bool {
        let (operation, ret) = self.action_of(op);
        self.spec.is_pure(operation, ret)
    }

    fn hint(&self, op: TaskOp) -> Option<i64> {
        let (operation, ret) = self.action_of(op);
        self.spec.hint(operation, ret)
    }

    fn marks(&self, op: TaskOp) -> Vec<Value> {
        self.spec.marks(self.action_of(op).0)
    }

    fn shows(&self, op: TaskOp) -> Vec<(Value, i64)> {
        let (operation, ret) = self.action_of(op);
        ret.map_or_else(Vec::new, |ret| self.spec.shows(operation, ret))
    }

    fn details(&self, op: TaskOp) -> Vec<Detail> {
        let (operation, ret) = self.action_of(op);
        self.spec.details(operation, ret)
    }

    fn class(&self, op: TaskOp) -> u32 {
        self.history.action_column()[op.id.index()] * 2 + u32::from(op.ret == NEVER)
    }

    fn shortcuts(&self) -> Shortcuts {
        self.shortcuts
    }
}
