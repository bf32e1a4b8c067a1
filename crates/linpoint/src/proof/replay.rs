//! Replays an order of operations on the specification.

use super::PartOp;
use crate::history::{NEVER, OpId, TypedHistory, precedes};
use crate::spec::{Spec, advance};

/// An order that is replayed operation by operation: every operation that returned must be in it exactly once, the order
/// must obey real time, and the specification must allow every result.
pub(crate) struct Replay<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    ops: &'a [PartOp],
    /// The positions of operations in `ops` by number, from that of the first on; [`NEVER`] where there is none.
    positions: Vec<u32>,
    taken: Vec<bool>,
    /// The latest call so far. An operation that takes effect later must not have returned before it.
    latest_call: u32,
    /// A nondeterministic specification may be in any of several states.
    states: Vec<S::State>,
}

impl<'a, S: Spec> Replay<'a, S> {
    /// Begins to replay an order of `ops`, which must be in the order of their calls.
    pub(crate) fn new(
        spec: &'a S,
        history: &'a TypedHistory<S::Op, S::Ret>,
        ops: &'a [PartOp],
    ) -> Self {
        let first = ops.first().map_or(0, |op| op.id.0);
        let span = ops.last().map_or(0, |op| op.id.0 - first + 1);
        let mut positions = vec![NEVER; span as usize];
        (0u32..)
            .zip(ops)
            .for_each(|(i, op)| positions[(op.id.0 - first) as usize] = i);
        Replay {
            spec,
            history,
            ops,
            positions,
            taken: vec![false; ops.len()],
            latest_call: 0,
            states: vec![spec.init()],
        }
    }

    fn position(&self, id: OpId) -> Option<usize> {
        let first = self.ops.first()?.id.0;
        let position = *self.positions.get(id.0.checked_sub(first)? as usize)?;
        (position != NEVER).then_some(position as usize)
    }

    /// The next operation takes effect. The error says why it cannot.
    pub(crate) fn take(&mut self, id: OpId) -> Result<(), String> {
        let number = id.0;
        let Some(i) = self.position(id) else {
            return Err(format!("operation {number} is not in the part"));
        };
        if std::mem::replace(&mut self.taken[i], true) {
            return Err(format!("operation {number} takes effect twice"));
        }
        let op = self.ops[i];
        if precedes(op.ret, self.latest_call) {
            return Err(format!("operation {number} takes effect after its return"));
        }
        self.latest_call = self.latest_call.max(op.call);
        let (operation, ret) = op.action(self.history);
        advance(self.spec, &mut self.states, operation, ret);
        match self.states.is_empty() {
            true => Err(format!("operation {number} cannot have its result there")),
            false => Ok(()),
        }
    }

    /// The order is complete. The error names an operation that is missing.
    pub(crate) fn finish(self) -> Result<(), String> {
        let mut left = self.ops.iter().zip(self.taken);
        match left.find(|(op, taken)| !taken && op.ret != NEVER) {
            Some((op, _)) => Err(format!("operation {} returned but is missing", op.id.0)),
            None => Ok(()),
        }
    }
}
