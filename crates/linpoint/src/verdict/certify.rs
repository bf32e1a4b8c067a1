//! Checks the evidence of every verdict. Shares no code with the engines but the reference, [`brute`].
//!
//! A certificate that fails is a bug in linpoint, never a verdict.

use std::collections::HashSet;

use super::reduce::{Reduced, values_of};
use crate::engine::{Task, brute};
use crate::error::Error;
use crate::history::{NEVER, OpId};
use crate::spec::{Need, Role, Spec};

/// Steps that the reference may take on a core.
const BRUTE_STEPS: u64 = 300_000;

/// Replays a witness: every operation that returned is there once, real time is obeyed, every result is explained.
pub(crate) fn witness<S: Spec>(task: &Task<'_, S>, order: &[OpId]) -> Result<(), Error> {
    let fail = |what: String| Err(Error::bug(format!("the witness is wrong: {what}")));
    let position = |id: OpId| task.ops.binary_search_by_key(&id, |op| op.id);
    let mut taken = vec![false; task.ops.len()];
    // The latest call so far: whatever takes effect later must not have returned before it.
    let mut latest_call = 0;
    // A nondeterministic specification may be in any of several states.
    let mut states = vec![task.spec.init()];
    for &id in order {
        let Ok(i) = position(id) else {
            return fail(format!("operation {} is not in the history", id.0));
        };
        if std::mem::replace(&mut taken[i], true) {
            return fail(format!("operation {} takes effect twice", id.0));
        }
        let op = task.ops[i];
        if op.ret < latest_call {
            return fail(format!("operation {} takes effect after its return", id.0));
        }
        latest_call = latest_call.max(op.call);
        let (operation, ret) = task.action(i);
        let next = states
            .iter()
            .flat_map(|state| task.spec.step(state, operation, ret));
        if states.len() == 1 {
            states = next.collect();
        } else {
            states = next.collect::<HashSet<_>>().into_iter().collect();
        }
        if states.is_empty() {
            return fail(format!("operation {} cannot have its result there", id.0));
        }
    }
    match (0..task.ops.len()).find(|&i| !taken[i] && task.ops[i].ret != NEVER) {
        Some(i) => fail(format!(
            "operation {} returned but is missing",
            task.ops[i].id.0
        )),
        None => Ok(()),
    }
}

/// Checks that a reduced history follows from the whole one by sound reductions, and that it is not linearizable.
///
/// Answers whether the reference could decide it; `false` if it is too large.
pub(crate) fn core<S: Spec>(whole: &Task<'_, S>, reduced: &Reduced<'_, S>) -> Result<bool, Error> {
    let fail = |what: String| Err(Error::bug(format!("the core is wrong: {what}")));
    let mut kept = reduced.task.ops.iter().peekable();
    let mut dropped = Vec::new();
    for (i, op) in whole.ops.iter().enumerate() {
        match kept.next_if(|kept| kept.id == op.id) {
            Some(kept) if kept.call == op.call && (kept.ret == op.ret || kept.ret == NEVER) => {}
            Some(_) => {
                return fail(format!(
                    "operation {} has other times than recorded",
                    op.id.0
                ));
            }
            None if op.call > reduced.cut => {}
            None => dropped.push(i),
        }
    }
    if kept.next().is_some() {
        return fail("it holds operations that the history does not have".into());
    }
    if reduced
        .task
        .ops
        .iter()
        .any(|op| op.ret != NEVER && op.ret > reduced.cut)
    {
        return fail("an operation returns after the cut".into());
    }

    // What was dropped changed no state, or went together with everything on its values.
    let mut gone = HashSet::new();
    for i in dropped {
        let (op, ret) = whole.action(i);
        let cut_ret = ret.filter(|_| whole.ops[i].ret <= reduced.cut);
        if whole.spec.is_pure(op, cut_ret) || whole.spec.is_pure(op, None) {
            continue;
        }
        match values_of(&whole.spec.role(op, cut_ret)) {
            Some(values) => gone.extend(values),
            None => {
                return fail(format!(
                    "operation {} was dropped without a reason",
                    whole.ops[i].id.0
                ));
            }
        }
    }
    if !gone.is_empty() && whole.kind().is_none() {
        return fail("values were dropped from an object that is not known".into());
    }
    if !gone.is_empty() {
        for i in 0..reduced.task.ops.len() {
            let (op, ret) = reduced.task.action(i);
            let role = whole.spec.role(op, ret);
            let differs = matches!(
                role,
                Role::Slot {
                    needs: Need::IsNot(_),
                    ..
                }
            );
            if differs
                || values_of(&role)
                    .is_none_or(|values| values.iter().any(|value| gone.contains(value)))
            {
                return fail(format!(
                    "operation {} depends on what was dropped",
                    reduced.task.ops[i].id.0
                ));
            }
        }
    }
    let mut steps = 0;
    let too_large = &mut || {
        steps += 1;
        if steps > BRUTE_STEPS { Err(()) } else { Ok(()) }
    };
    match brute::try_all_orders(&reduced.task, too_large) {
        Ok(None) => Ok(true),
        Err(()) => Ok(false),
        Ok(Some(order)) => fail(format!("{order:?} explains it")),
    }
}
