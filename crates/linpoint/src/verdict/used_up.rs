//! Finds the operation that seems able to change an object of two states, and is needed elsewhere.

use super::held::find;
use super::{Claim, Since, UsedUp};
use crate::engine::{Facts, TaskOp};
use crate::history::NEVER;
use crate::spec::Role;
use crate::value::Value;

/// Adds to a claim that nothing changed a state of `facts`, which end with the first bad event, which operation made the
/// change for another one.
///
/// The state was entered twice, by `after` and, when that had returned, by the operation that the claim names. So it was
/// left in between, and only one operation can have done that.
pub(super) fn completed(mut claim: Claim, facts: &dyn Facts) -> Claim {
    if let Claim::NotChanged {
        op,
        state,
        since: Since::Return(entry) | Since::Change(entry),
        used_up,
        ..
    } = &mut claim
    {
        *used_up = find(facts, *entry).and_then(|entry| {
            let used_up = between(facts, entry, *state)?;
            (used_up.by != *op && used_up.after != *op).then_some(used_up)
        });
    }
    claim
}

/// The only operation that can have left the state between an earlier operation that entered it and `entry`, unless it
/// returned before `entry` was called, so that it does not seem able to leave the state later.
fn between(facts: &dyn Facts, entry: TaskOp, state: bool) -> Option<UsedUp> {
    let leaves = |op: TaskOp| match facts.role(op) {
        Role::Slot { leaves, .. } => leaves,
        _ => None,
    };
    let enters = |op: &TaskOp| op.ret != NEVER && leaves(*op) == Some(Value::Bool(state));
    if !enters(&entry) {
        return None;
    }
    let earlier = facts.ops().iter().copied();
    let earlier = earlier.filter(|op| op.precedes(entry) && enters(op));
    let after = earlier.max_by_key(|op| op.call)?;
    let may_leave = |op: &TaskOp| !facts.is_pure(*op) && leaves(*op) != Some(Value::Bool(state));
    let may_be_between = |op: &TaskOp| !op.precedes(after) && !entry.precedes(*op);
    let others = facts.ops().iter().copied();
    let mut between = others.filter(|op| may_leave(op) && may_be_between(op));
    let only = between.next().filter(|_| between.next().is_none())?;
    let is_sure = leaves(only) == Some(Value::Bool(!state)) && !only.precedes(entry);
    is_sure.then_some(UsedUp {
        by: only.id,
        after: after.id,
    })
}
