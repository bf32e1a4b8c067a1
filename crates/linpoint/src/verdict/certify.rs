//! Checks the evidence of every verdict.
//!
//! Shares no code with the engines or the [reducer](super::reduce), except the reference, [`brute`], which decides
//! small cores. Witnesses and reductions are checked by the code that checks [proofs](crate::proof). Larger cores of snapshots
//! are decided by looking at [two entries](pairs) at a time, all others by a walk over all [configurations].
//!
//! A certificate that fails is a bug in linpoint, or in a specification that breaks its contract; it is never a
//! verdict.

use super::reduce::Reduced;
use super::{Confirmation, configurations, pairs};
use crate::engine::{Budget, Facts, Task, TaskOp, Ticker, brute};
use crate::error::Error;
use crate::history::{NEVER, OpId, precedes};
use crate::proof::PartOp;
use crate::proof::reduction::{self, Contract, Reduction};
use crate::proof::replay::Replay;
use crate::spec::{Kind, Role, Spec};

/// The most steps that the reference takes on a core, and the most operations that it tries: some milliseconds.
const BRUTE_STEPS: u64 = 10_000;
const BRUTE_OPS: usize = 64;

/// The most configurations that a walk keeps: some tenths of a second, unless states are large.
const MOST_CONFIGURATIONS: usize = 50_000;

/// Replays a witness on the specification: every operation that returned is in it exactly once, the order obeys real
/// time, and the specification allows every result.
pub(crate) fn witness<S: Spec>(task: &Task<'_, S>, order: &[OpId]) -> Result<(), Error> {
    let ops = part_ops(&task.ops);
    let mut replay = Replay::new(task.spec, task.history, &ops);
    let replayed = order.iter().try_for_each(|&id| replay.take(id));
    let replayed = replayed.and_then(|()| replay.finish());
    replayed.map_err(|what| Error::bug(format!("the witness is wrong: {what}")))
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
    let mut ticker = Ticker::new(budget);
    let too_many = &mut || {
        steps += 1;
        if core.ops.len() > brute::MOST_OPS || steps > BRUTE_STEPS || ticker.tick().is_err() {
            return Err(());
        }
        Ok(())
    };
    match brute::try_all_orders(&core, too_many) {
        Ok(None) => Ok(Confirmation::IndependentCheck),
        Ok(Some(order)) => fail(format!("{order:?} explains it")),
        Err(()) if pairs::contradict(&core, BRUTE_STEPS, budget) => {
            Ok(Confirmation::IndependentCheck)
        }
        Err(()) => match configurations::has_no_order(&core, MOST_CONFIGURATIONS, budget) {
            Some(false) => fail("some order explains it".into()),
            Some(true) => Ok(Confirmation::IndependentCheck),
            None => Ok(Confirmation::Unconfirmed),
        },
    }
}

/// Checks that the reduced history follows from the whole one by sound reductions; the error says why it does not.
///
/// The reducer asks this before it takes a step, so that it makes no core that would be refused here.
pub(super) fn reductions(whole: &dyn Facts, reduced: &Reduced) -> Result<(), String> {
    let reduction = Reduction {
        cut: reduced.cut,
        kept: &part_ops(&reduced.ops),
    };
    reduction::check(&Recorded(whole), &part_ops(whole.ops()), reduction)
}

/// Operations as proofs know them.
fn part_ops(ops: &[TaskOp]) -> Vec<PartOp> {
    let part_op = |&TaskOp { id, call, ret }: &TaskOp| PartOp { id, call, ret };
    ops.iter().map(part_op).collect()
}

/// What the facts of a task say about its operations, for the check of reductions.
struct Recorded<'a>(&'a dyn Facts);

impl Recorded<'_> {
    fn task_op(PartOp { id, call, ret }: PartOp) -> TaskOp {
        TaskOp { id, call, ret }
    }
}

impl Contract for Recorded<'_> {
    fn kind(&self) -> Option<&Kind> {
        self.0.kind()
    }

    fn role(&self, op: PartOp) -> Role {
        self.0.role(Self::task_op(op))
    }

    fn is_pure(&self, op: PartOp) -> bool {
        self.0.is_pure(Self::task_op(op))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::proof::reduction::{Mention, values_of};
    use crate::spec::Need;
    use crate::value::Value;
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
