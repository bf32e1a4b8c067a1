//! Checks the evidence of every verdict. Shares no code with the engines but the reference, [`brute`], where that is fast
//! enough; larger cores are seen by [two entries](pairs) where they are of a snapshot, or [swept](sweep).
//!
//! A certificate that fails is a bug in linpoint, never a verdict.

use std::collections::{HashMap, HashSet};

use super::reduce::{Reduced, values_of};
use super::{Confirmation, pairs, sweep};
use crate::engine::{Budget, Facts, Task, TaskOp, brute};
use crate::error::Error;
use crate::history::{NEVER, OpId, precedes};
use crate::spec::{Kind, Need, Role, Spec};
use crate::value::Value;

/// Steps that the reference may take on a core: some milliseconds.
const BRUTE_STEPS: u64 = 10_000;

/// Configurations that the second way may keep: some tenths of a second, unless states are large.
const SWEEP_CONFIGURATIONS: usize = 50_000;

/// Replays a witness: every operation that returned is there once, real time is obeyed, every result is explained.
pub(crate) fn witness<S: Spec>(task: &Task<'_, S>, order: &[OpId]) -> Result<(), Error> {
    let fail = |what: String| Err(Error::bug(format!("the witness is wrong: {what}")));
    // Positions by number, from the first one on; `NEVER` where there is none.
    let first = task.ops.first().map_or(0, |op| op.id.0);
    let span = task.ops.last().map_or(0, |op| op.id.0 - first + 1);
    let mut positions = vec![NEVER; span as usize];
    (0u32..)
        .zip(&task.ops)
        .for_each(|(i, op)| positions[(op.id.0 - first) as usize] = i);
    let position = |id: OpId| -> Option<usize> {
        let position = *positions.get(id.0.checked_sub(first)? as usize)?;
        (position != NEVER).then_some(position as usize)
    };
    let mut taken = vec![false; task.ops.len()];
    // The latest call so far: whatever takes effect later must not have returned before it.
    let mut latest_call = 0;
    // A nondeterministic specification may be in any of several states.
    let mut states = vec![task.spec.init()];
    for &id in order {
        let Some(i) = position(id) else {
            return fail(format!("operation {} is not in the history", id.0));
        };
        if std::mem::replace(&mut taken[i], true) {
            return fail(format!("operation {} takes effect twice", id.0));
        }
        let op = task.ops[i];
        if precedes(op.ret, latest_call) {
            return fail(format!("operation {} takes effect after its return", id.0));
        }
        latest_call = latest_call.max(op.call);
        let (operation, ret) = task.action(i);
        states = match <[S::State; 1]>::try_from(states) {
            Ok([state]) => task.spec.step_from(state, operation, ret),
            Err(several) => {
                let next = several
                    .iter()
                    .flat_map(|state| task.spec.step(state, operation, ret));
                next.collect::<HashSet<_>>().into_iter().collect()
            }
        };
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

/// The same for an order of positions, where `happens` lets an operation take effect and tells whether it could.
pub(crate) fn log_order(
    calls: &[u32],
    rets: &[u32],
    order: &[u32],
    mut happens: impl FnMut(usize) -> bool,
) -> Result<(), Error> {
    let fail = |op: u32, what: &str| {
        Err(Error::bug(format!(
            "the witness is wrong: operation {op} {what}"
        )))
    };
    let mut taken = vec![false; calls.len()];
    let mut latest_call = 0;
    for &op in order {
        let i = op as usize;
        if i >= taken.len() {
            return fail(op, "is not in the history");
        }
        if std::mem::replace(&mut taken[i], true) {
            return fail(op, "takes effect twice");
        }
        if precedes(rets[i], latest_call) {
            return fail(op, "takes effect after its return");
        }
        latest_call = latest_call.max(calls[i]);
        if !happens(i) {
            return fail(op, "cannot have its result there");
        }
    }
    let missing = (0u32..).zip(taken.iter().zip(rets));
    match missing
        .into_iter()
        .find(|&(_, (&taken, &ret))| !taken && ret != NEVER)
    {
        Some((op, _)) => fail(op, "returned but is missing"),
        None => Ok(()),
    }
}

/// Checks that a reduced history follows from the whole one by sound reductions, and that it is not linearizable.
///
/// Answers [`Confirmation::Unconfirmed`] if the core is too large to be decided within the budget.
pub(crate) fn core<S: Spec>(
    whole: &Task<'_, S>,
    reduced: &Reduced,
    budget: &Budget,
) -> Result<Confirmation, Error> {
    let fail = |what: String| Err(Error::bug(format!("the core is wrong: {what}")));
    if let Err(what) = reductions(whole, reduced) {
        return fail(what);
    }
    let core = whole.with_ops(reduced.ops.clone());
    let mut steps = 0;
    let too_many = &mut || {
        steps += 1;
        if steps > BRUTE_STEPS { Err(()) } else { Ok(()) }
    };
    match brute::try_all_orders(&core, too_many) {
        Ok(None) => Ok(Confirmation::IndependentCheck),
        Ok(Some(order)) => fail(format!("{order:?} explains it")),
        Err(()) if pairs::contradict(&core, BRUTE_STEPS) => Ok(Confirmation::IndependentCheck),
        Err(()) => match sweep::has_no_order(&core, SWEEP_CONFIGURATIONS, budget) {
            Some(false) => fail("some order explains it".into()),
            Some(true) => Ok(Confirmation::IndependentCheck),
            None => Ok(Confirmation::Unconfirmed),
        },
    }
}

/// The updates of a snapshot that write what their entries hold anyway, once all are dropped whose values nothing kept is about.
fn repeated_updates(whole: &dyn Facts, reduced: &Reduced) -> HashSet<OpId> {
    let mut repeats = HashSet::new();
    if !matches!(whole.kind(), Some(Kind::Snapshot(_))) {
        return repeats;
    }
    let kept = reduced.ops.iter().map(|op| whole.role(*op));
    let kept: HashSet<Value> = kept.filter_map(|role| values_of(&role)).flatten().collect();
    let mut of_entry: HashMap<u32, Vec<(TaskOp, Option<Value>)>> = HashMap::new();
    for op in whole.ops().iter().filter(|op| op.call <= reduced.cut) {
        let role = whole.role(*op);
        let values = values_of(&role).unwrap_or_default();
        if let Role::Updates { entry, value } = role
            && values.iter().any(|value| kept.contains(value))
        {
            of_entry.entry(entry).or_default().push((*op, value));
        }
    }
    for updates in of_entry.values() {
        // What the entry holds, unless the last updates overlapped.
        let (mut held, mut finished) = (Some(&None), None);
        for (i, (op, value)) in updates.iter().enumerate() {
            let next = updates.get(i + 1);
            let is_alone = finished.is_none_or(|ret| precedes(ret, op.call))
                && next.is_none_or(|(next, _)| op.precedes(*next));
            if is_alone && held == Some(value) {
                repeats.insert(op.id);
            }
            held = is_alone.then_some(value);
            finished = finished.max(Some(op.ret));
        }
    }
    repeats
}

/// Whether what is left follows by sound reductions; if not, why not.
fn reductions(whole: &dyn Facts, reduced: &Reduced) -> Result<(), String> {
    let cut = |op: &TaskOp| TaskOp {
        ret: if op.ret > reduced.cut { NEVER } else { op.ret },
        ..*op
    };
    let mut kept = reduced.ops.iter().peekable();
    let mut dropped = Vec::new();
    for op in whole.ops() {
        match kept.next_if(|kept| kept.id == op.id) {
            Some(kept)
                if kept.call == op.call && (kept.ret == cut(op).ret || kept.ret == NEVER) => {}
            Some(_) => {
                return Err(format!(
                    "operation {} has other times than recorded",
                    op.id.0
                ));
            }
            None if op.call > reduced.cut => {}
            None => dropped.push(*op),
        }
    }
    if kept.next().is_some() {
        return Err("it holds operations that the history does not have".into());
    }

    // What was dropped changed no state, or went together with everything on its values.
    let repeats = repeated_updates(whole, reduced);
    let mut gone = HashSet::new();
    for op in dropped {
        // What changes nothing as it was recorded may be dropped before the cut.
        let relaxed = TaskOp { ret: NEVER, ..op };
        if whole.is_pure(op) || whole.is_pure(relaxed) || repeats.contains(&op.id) {
            continue;
        }
        match values_of(&whole.role(cut(&op))) {
            Some(values) => gone.extend(values),
            None => {
                return Err(format!(
                    "operation {} was dropped without a reason",
                    op.id.0
                ));
            }
        }
    }
    if gone.is_empty() {
        return Ok(());
    }
    if whole.kind().is_none() {
        return Err("values were dropped from an object that is not known".into());
    }
    let depends = |op: &&TaskOp| {
        let role = whole.role(**op);
        matches!(
            role,
            Role::Slot {
                needs: Need::IsNot(_),
                ..
            }
        ) || values_of(&role).is_none_or(|values| values.iter().any(|value| gone.contains(value)))
    };
    match reduced.ops.iter().find(depends) {
        Some(op) => Err(format!("operation {} depends on what was dropped", op.id.0)),
        None => Ok(()),
    }
}
