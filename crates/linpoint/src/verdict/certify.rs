//! Checks the evidence of every verdict.
//!
//! Shares no code with the engines or the [reducer](super::reduce), except the reference, [`brute`], which decides
//! small cores. Larger cores of snapshots are decided by looking at [two entries](pairs) at a time, all others by a
//! walk over all [configurations].
//!
//! A certificate that fails is a bug in linpoint, or in a specification that breaks its contract; it is never a
//! verdict.

use std::collections::{HashMap, HashSet};

use super::reduce::Reduced;
use super::{Confirmation, configurations, pairs};
use crate::engine::{Budget, Facts, Task, TaskOp, brute};
use crate::error::Error;
use crate::history::{NEVER, OpId, precedes};
use crate::spec::{Kind, Need, Role, Spec};
use crate::value::Value;

/// The most steps that the reference takes on a core, and the most operations that it tries: some milliseconds.
const BRUTE_STEPS: u64 = 10_000;
const BRUTE_OPS: usize = 64;

/// The most configurations that a walk keeps: some tenths of a second, unless states are large.
const MOST_CONFIGURATIONS: usize = 50_000;

/// Replays a witness on the specification: every operation that returned is in it exactly once, the order obeys real
/// time, and the specification allows every result.
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
    // Invariant: the latest call so far. An operation that takes effect later must not have returned before it.
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

/// Replays an order of positions like [`witness`], but asks `happens` instead of the specification: it lets an
/// operation take effect and returns whether the operation could have its result.
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
/// Returns [`Confirmation::Unconfirmed`] if the core is too large to be decided within the budget.
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
    let mut steps = if core.ops.len() > BRUTE_OPS {
        BRUTE_STEPS
    } else {
        0
    };
    let too_many = &mut || {
        steps += 1;
        if steps > BRUTE_STEPS { Err(()) } else { Ok(()) }
    };
    match brute::try_all_orders(&core, too_many) {
        Ok(None) => Ok(Confirmation::IndependentCheck),
        Ok(Some(order)) => fail(format!("{order:?} explains it")),
        Err(()) if pairs::contradict(&core, BRUTE_STEPS) => Ok(Confirmation::IndependentCheck),
        Err(()) => match configurations::has_no_order(&core, MOST_CONFIGURATIONS, budget) {
            Some(false) => fail("some order explains it".into()),
            Some(true) => Ok(Confirmation::IndependentCheck),
            None => Ok(Confirmation::Unconfirmed),
        },
    }
}

/// A value that an operation is about, as the contract of [roles](Role) means it: dropping all operations on some
/// values leaves a history of the same object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Mention {
    /// A value in a container or in a slot.
    Plain(Value),
    /// The initial value of the entries of a snapshot, which all entries share.
    InitialEntry,
    /// Another value of an entry of a snapshot.
    Entry(u32, Value),
}

impl Mention {
    fn of_entry(entry: u32, value: Option<&Value>) -> Self {
        match value {
            None => Mention::InitialEntry,
            Some(value) => Mention::Entry(entry, value.clone()),
        }
    }
}

/// The values that an operation with this role is about; `None` if the role does not tell.
///
/// Not shared with the reducer, whose steps it serves to check.
fn values_of(role: &Role) -> Option<Vec<Mention>> {
    let mut values = Vec::new();
    match role {
        Role::Opaque => return None,
        // What an append leaves depends on all earlier writes.
        Role::Appends(_) => return None,
        // A count has no values.
        Role::Counts { .. } => return None,
        Role::RemovesSome | Role::Empty => {}
        Role::Adds(value) | Role::Removes(value) | Role::Peeks(value) => {
            values.push(Mention::Plain(value.clone()));
        }
        Role::Slot { needs, leaves } => {
            if let Need::Is(value) | Need::IsNot(value) = needs {
                values.push(Mention::Plain(value.clone()));
            }
            if let Some(value) = leaves {
                values.push(Mention::Plain(value.clone()));
            }
        }
        Role::Updates { entry, value } => values.push(Mention::of_entry(*entry, value.as_ref())),
        Role::Scans(seen) => {
            // A scan may leave out entries at the end, which hold the initial value; so every scan is about it.
            values.push(Mention::InitialEntry);
            for (entry, value) in (0u32..).zip(seen) {
                values.push(Mention::of_entry(entry, value.as_ref()));
            }
        }
    }
    Some(values)
}

/// The updates of a snapshot that write what their entries hold already, once all updates are dropped whose values no
/// kept operation is about.
fn repeated_updates(whole: &dyn Facts, reduced: &Reduced) -> HashSet<OpId> {
    let mut repeats = HashSet::new();
    if !matches!(whole.kind(), Some(Kind::Snapshot(_))) {
        return repeats;
    }
    let kept = reduced.ops.iter().map(|op| whole.role(*op));
    let kept: HashSet<Mention> = kept.filter_map(|role| values_of(&role)).flatten().collect();
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

/// Checks that the reduced history follows from the whole one by sound reductions; the error says why it does not.
///
/// The reducer asks this before it takes a step, so that it makes no core that would be refused here.
pub(super) fn reductions(whole: &dyn Facts, reduced: &Reduced) -> Result<(), String> {
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

    // Each dropped operation changes no state, or all operations on its values were dropped too.
    let repeats = repeated_updates(whole, reduced);
    let mut gone = HashSet::new();
    for op in dropped {
        // An operation may be dropped before the cut is made, as recorded, or afterwards, as a pending one.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::verdict::reduce;

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Nil),
            any::<bool>().prop_map(Value::Bool),
            (0..4i64).prop_map(Value::Int),
            (0..4i64).prop_map(|value| Value::list([Value::Int(0), Value::Int(value)])),
        ]
    }

    /// Roles of every variant.
    fn roles() -> impl Strategy<Value = Role> {
        let needs = prop_oneof![
            Just(Need::Anything),
            values().prop_map(Need::Is),
            values().prop_map(Need::IsNot),
        ];
        let maybe = || prop::option::of(values());
        prop_oneof![
            Just(Role::Opaque),
            (needs, maybe()).prop_map(|(needs, leaves)| Role::Slot { needs, leaves }),
            values().prop_map(Role::Appends),
            values().prop_map(Role::Adds),
            values().prop_map(Role::Removes),
            Just(Role::RemovesSome),
            values().prop_map(Role::Peeks),
            Just(Role::Empty),
            (-2..3i64, prop::option::of(0..3i64)).prop_map(|(by, seen)| Role::Counts { by, seen }),
            (0..3u32, maybe()).prop_map(|(entry, value)| Role::Updates { entry, value }),
            prop::collection::vec(maybe(), 0..4).prop_map(Role::Scans),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The certifier and the reducer must agree on which operations share a value, and on which have none that is
        /// known. They write values in different ways, so what is compared is that.
        #[test]
        fn values_are_those_of_the_reducer(a in roles(), b in roles()) {
            let is_of_snapshot =
                |role: &Role| matches!(role, Role::Updates { .. } | Role::Scans(_));
            // Roles of snapshots and of other objects never stand in one history.
            prop_assume!(is_of_snapshot(&a) == is_of_snapshot(&b));
            let ours = [values_of(&a), values_of(&b)];
            let theirs = [reduce::values_of(&a), reduce::values_of(&b)];
            for (ours, theirs) in ours.iter().zip(&theirs) {
                prop_assert_eq!(ours.is_none(), theirs.is_none());
                let count = |ours: &Vec<Mention>| ours.iter().collect::<HashSet<_>>().len();
                let count_theirs = |theirs: &Vec<Value>| theirs.iter().collect::<HashSet<_>>().len();
                prop_assert_eq!(ours.as_ref().map(count), theirs.as_ref().map(count_theirs));
            }
            if let ([Some(a), Some(b)], [Some(their_a), Some(their_b)]) = (&ours, &theirs) {
                let shared = a.iter().filter(|value| b.contains(value));
                let their_shared = their_a.iter().filter(|value| their_b.contains(value));
                let shared: HashSet<_> = shared.collect();
                prop_assert_eq!(shared.len(), their_shared.collect::<HashSet<_>>().len());
            }
        }
    }
}
