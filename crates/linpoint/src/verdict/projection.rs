//! Explains a violation by what the operations say about one place of the object: one member of a set that is read as a
//! whole, one index of a list, one register of several. Ours.
//!
//! The operations of a history, each replaced by what it [says about a place](Spec::at_place), are those of an object that
//! holds one value. If no order explains these, no order explains the history.

use std::collections::{BTreeSet, HashSet};

use super::configurations::has_no_order;
use super::explain::Found;
use super::{Claim, Confirmation, PlaceConflict, Since};
use crate::engine::{Budget, Task, TaskOp, first_return_after};
use crate::history::{EventKind, NEVER, OpId, TypedHistory, events_in_order};
use crate::spec::{AtPlace, Keys, Need, Outcomes, Role, Spec};
use crate::value::Value;

/// The most configurations of one place that are kept at a time.
const MOST_CONFIGURATIONS: usize = 1_000;

/// The most operations on a place that are looked at.
const MOST_OPS: usize = 2_000;

/// The most places that the operations open at the first return without explanation do not tell of, times the operations of the
/// history: some seconds.
const MOST_WORK: usize = 100_000_000;

/// Operations that contradict each other by what they say about one place.
pub(super) struct Clash {
    pub(super) place: Value,
    /// In the order of their calls; none is left that the contradiction does not need.
    pub(super) ops: Vec<TaskOp>,
}

impl Clash {
    /// The rank of the return that makes the history wrong.
    pub(super) fn last_return(&self) -> u32 {
        self.ops.iter().map(|op| op.ret).max().unwrap_or(NEVER)
    }

    /// The core.
    pub(super) fn found(&self) -> Found {
        Found {
            anchor: None,
            ops: self.ops.iter().map(|op| op.id).collect(),
            relaxed: Vec::new(),
            cut: self.last_return(),
            place: Some(self.place.clone()),
            minimal: true,
            confirmation: Confirmation::Walk,
        }
    }

    /// What is wrong.
    pub(super) fn claim<S: Spec>(self, task: &Task<'_, S>) -> Claim {
        let last = self.last_return();
        let (of_last, others): (Vec<TaskOp>, Vec<TaskOp>) =
            self.ops.iter().partition(|op| op.ret == last);
        let [op] = of_last[..] else {
            unreachable!("bug: two operations return at once");
        };
        let said = |op: TaskOp| {
            let (operation, ret) = task.action_of(op);
            task.spec.at_place(operation, ret, &self.place)
        };
        let is_member = task.spec.vocabulary().keys == Keys::Members;
        let found = |found: bool| said(op) == AtPlace::Does(Role::reads(Value::Bool(found)));
        let puts = |op: TaskOp| {
            let member = Some(Value::Bool(true));
            matches!(said(op), AtPlace::Does(Role::Slot { leaves, .. }) if leaves == member)
        };
        let changes = |op: TaskOp, from: bool| {
            let change = Role::Slot {
                needs: Need::Is(Value::Bool(from)),
                leaves: Some(Value::Bool(!from)),
            };
            said(op) == AtPlace::Does(change)
        };
        if let [other] = others[..]
            && is_member
            && let Some(from) = [false, true]
                .into_iter()
                .find(|&from| changes(op, from) && changes(other, from))
        {
            return Claim::NotChanged {
                op: op.id,
                member: Some(self.place),
                state: !from,
                since: match other.ret < op.call {
                    true => Since::Return(other.id),
                    false => Since::Change(other.id),
                },
                used_up: None,
            };
        }
        match others[..] {
            [put] if is_member && found(false) && puts(put) => Claim::Missed {
                op: op.id,
                value: self.place,
                put: put.id,
            },
            [] if is_member && found(true) => Claim::NeverPut {
                op: op.id,
                key: None,
                value: self.place,
                alike: None,
            },
            _ => Claim::AtPlace {
                op: op.id,
                others: others.iter().map(|op| op.id).collect(),
                conflict: self.conflict(task, op, &others),
                place: self.place,
            },
        }
    }
}

impl Clash {
    /// Why the operation, which returned last, contradicts the others.
    fn conflict<S: Spec>(
        &self,
        task: &Task<'_, S>,
        op: TaskOp,
        others: &[TaskOp],
    ) -> PlaceConflict {
        let slot = |op: TaskOp| {
            let (operation, ret) = task.action_of(op);
            match task.spec.at_place(operation, ret, &self.place) {
                AtPlace::Does(Role::Slot { needs, leaves }) => Some((needs, leaves)),
                _ => None,
            }
        };
        let left = |op: TaskOp| slot(op).and_then(|(_, leaves)| leaves);
        let Some((needs @ Need::Is(found), leaves)) = &slot(op) else {
            return PlaceConflict::Other;
        };
        let by = others.iter().find(|by| {
            let is_earlier = |other: &TaskOp| other.id == by.id || other.precedes(**by);
            by.precedes(op)
                && left(**by).is_some_and(|left| left != *found)
                && others.iter().all(is_earlier)
        });
        if task.spec.vocabulary().keys.are_members() {
            let taken = by.filter(|_| *found == Value::Bool(true));
            return taken.map_or(PlaceConflict::Other, |by| PlaceConflict::TakenBefore(by.id));
        }
        if others.is_empty() {
            return PlaceConflict::NeverPut;
        }
        if let [other] = others {
            let changes = leaves.as_ref().is_some_and(|leaves| leaves != found);
            let is_alike = slot(*other).is_some_and(|(other, _)| other == *needs);
            if changes && is_alike && left(*other).is_some_and(|left| left != *found) {
                let is_got = |op: TaskOp| {
                    let (operation, _) = task.action_of(op);
                    !task.spec.places(operation, None).contains(&self.place)
                };
                return match is_got(op) && is_got(*other) {
                    true => PlaceConflict::GotTwice,
                    false => PlaceConflict::ChangedTwice,
                };
            }
            if slot(*other).is_none() && left(other.relaxed()).as_ref() == Some(found) {
                return PlaceConflict::PutElsewhere;
            }
        }
        by.map_or(PlaceConflict::Other, |by| {
            PlaceConflict::ChangedBefore(by.id)
        })
    }
}

/// A place that holds one value. Operations tell by their roles what they found and left there.
struct Place {
    initial: Value,
}

impl Spec for Place {
    type Op = Role;
    type Ret = ();
    type State = Value;

    fn init(&self) -> Value {
        self.initial.clone()
    }

    fn apply(&self, held: &Value, role: &Role) -> Outcomes<(), Value> {
        let Role::Slot { needs, leaves } = role else {
            return Outcomes::Blocked;
        };
        let fits = match needs {
            Need::Anything => true,
            Need::Is(value) => value == held,
            Need::IsNot(value) => value != held,
        };
        match fits {
            true => Outcomes::One((), leaves.as_ref().unwrap_or(held).clone()),
            false => Outcomes::Blocked,
        }
    }

    fn is_pure(&self, role: &Role, _: Option<&()>) -> bool {
        matches!(role, Role::Slot { leaves: None, .. })
    }
}

/// The operations that contradict each other about some place, if the specification tells of places and there are such; of
/// several, those that do so first, but that places come first of which operations tell that were open when the first one without
/// explanation returned. The first `explained` events of the task are linearizable.
pub(super) fn clash<S: Spec>(
    task: &Task<'_, S>,
    explained: usize,
    budget: &Budget,
) -> Option<Clash> {
    let initial = task.spec.place_initially()?;
    let unexplained = first_return_after(&task.ops, explained)?.ret;
    let mut places = BTreeSet::new();
    for i in 0..task.ops.len() {
        let (op, ret) = task.action(i);
        places.extend(task.spec.places(op, ret));
    }
    let was_open = |op: &&TaskOp| op.call < unexplained && unexplained <= op.ret && op.ret != NEVER;
    let open: Vec<TaskOp> = task.ops.iter().filter(was_open).copied().collect();
    let is_told = |place: &Value| {
        let mut said = open.iter().map(|op| {
            let (operation, ret) = task.action_of(*op);
            task.spec.at_place(operation, ret, place)
        });
        said.any(|said| said != AtPlace::Nothing)
    };
    let (likely, others): (Vec<Value>, Vec<Value>) = places.into_iter().partition(is_told);
    let first_of = |places: Vec<Value>| {
        let mut first: Option<Clash> = None;
        for place in places {
            if budget.check().is_err() {
                break;
            }
            let found = at(task, &place, &initial, budget).map(|ops| Clash { place, ops });
            let is_first = |found: &Clash| {
                first
                    .as_ref()
                    .is_none_or(|first| found.last_return() < first.last_return())
            };
            first = found.filter(is_first).or(first);
        }
        first
    };
    let is_much = others.len().saturating_mul(task.ops.len()) > MOST_WORK;
    let others = if is_much { Vec::new() } else { others };
    // One of them makes the history wrong, unless the engine does not know how far it is explained.
    let latest = open.iter().map(|op| op.ret).max()?;
    match first_of(likely) {
        Some(found) if found.last_return() <= latest => Some(found),
        found => {
            let found = [found, first_of(others)].into_iter().flatten();
            found.min_by_key(Clash::last_return)
        }
    }
}

/// An operation as one on a place.
#[derive(Clone)]
struct Said {
    op: TaskOp,
    /// What it does with its result; `None` if that is nothing.
    returned: Option<Role>,
    /// What it may do while it is pending.
    pending: Option<Role>,
}

impl Said {
    fn of<S: Spec>(task: &Task<'_, S>, op: TaskOp, place: &Value) -> Option<Self> {
        let role = |op: TaskOp| {
            let (operation, ret) = task.action_of(op);
            match task.spec.at_place(operation, ret, place) {
                AtPlace::Nothing => Some(None),
                AtPlace::Does(role @ Role::Slot { .. }) => Some(Some(role)),
                AtPlace::Does(_) | AtPlace::Unknown => None,
            }
        };
        Some(Said {
            op,
            returned: role(op)?,
            pending: role(op.relaxed())?,
        })
    }

    fn role(&self) -> Option<&Role> {
        match self.op.ret {
            NEVER => self.pending.as_ref(),
            _ => self.returned.as_ref(),
        }
    }

    /// The same operation as a pending one.
    fn relaxed(&self) -> Self {
        Said {
            op: self.op.relaxed(),
            ..self.clone()
        }
    }

    /// Whether it may be left out: it leaves the place as it is, whatever its result.
    fn changes_nothing(&self) -> bool {
        let changes = |role: &Option<Role>| {
            matches!(
                role,
                Some(Role::Slot {
                    leaves: Some(_),
                    ..
                })
            )
        };
        !changes(&self.returned) && !changes(&self.pending)
    }
}

/// The operations that contradict each other about a place.
fn at<S: Spec>(
    task: &Task<'_, S>,
    place: &Value,
    initial: &Value,
    budget: &Budget,
) -> Option<Vec<TaskOp>> {
    let (mut said, mut told) = (Vec::new(), 0);
    for &op in &task.ops {
        let of_op = Said::of(task, op, place)?;
        told += usize::from(op.ret != NEVER && of_op.returned.is_some());
        if told > MOST_OPS {
            return None;
        }
        if of_op.returned.is_some() || of_op.pending.is_some() {
            said.push(of_op);
        }
    }
    drop_unneeded(&mut said);
    if said.len() > MOST_OPS || !contradict(&said, initial, budget) {
        return None;
    }
    // Cut to the shortest bad beginning, then drop or relax the operations one by one.
    let mut returns: Vec<u32> = said.iter().map(|said| said.op.ret).collect();
    returns.retain(|&ret| ret != NEVER);
    returns.sort_unstable();
    let until = |rank: u32| -> Vec<Said> {
        let called = said.iter().filter(|said| said.op.call <= rank);
        let seen = called.map(|said| match said.op.ret <= rank {
            true => said.clone(),
            false => said.relaxed(),
        });
        seen.collect()
    };
    let bad = returns.partition_point(|&rank| !contradict(&until(rank), initial, budget));
    let mut kept = until(*returns.get(bad)?);
    kept.retain(|said| said.op.ret != NEVER || !said.changes_nothing());
    // What was only seen goes first, so that the operations stay that put it there.
    let is_droppable = |said: &Said| said.changes_nothing();
    for droppable in [true, false] {
        let mut i = 0;
        while i < kept.len() {
            let mut smaller = kept.clone();
            match droppable {
                true => drop(smaller.remove(i)),
                false => smaller[i] = kept[i].relaxed(),
            }
            let is_candidate = kept[i].op.ret != NEVER && is_droppable(&kept[i]) == droppable;
            if is_candidate && contradict(&smaller, initial, budget) {
                kept = smaller;
            } else {
                i += 1;
            }
        }
    }
    budget.check().ok()?;
    let returned = kept
        .into_iter()
        .map(|said| said.op)
        .filter(|op| op.ret != NEVER);
    Some(returned.collect())
}

/// Drops the operations that say nothing with their results, and as pending ones leave a value that no operation needs to find:
/// orders with such a pending operation remain orders without it, unless something needs the place to differ from a value.
fn drop_unneeded(said: &mut Vec<Said>) {
    let roles = said.iter().flat_map(|said| [&said.returned, &said.pending]);
    let mut needed = HashSet::new();
    for role in roles.flatten() {
        match role {
            Role::Slot {
                needs: Need::Is(value),
                ..
            } => needed.insert(value.clone()),
            Role::Slot {
                needs: Need::Anything,
                ..
            } => false,
            _ => return,
        };
    }
    let leaves_needed = |role: &Option<Role>| match role {
        Some(Role::Slot {
            leaves: Some(value),
            ..
        }) => needed.contains(value),
        _ => false,
    };
    said.retain(|said| match said.op.ret {
        NEVER => leaves_needed(&said.pending),
        _ => said.returned.is_some() || leaves_needed(&said.pending),
    });
}

/// Whether no order explains what the operations say.
fn contradict(said: &[Said], initial: &Value, budget: &Budget) -> bool {
    let said: Vec<(TaskOp, &Role)> = said
        .iter()
        .filter_map(|said| Some((said.op, said.role()?)))
        .collect();
    let calls: Vec<u32> = said.iter().map(|(op, _)| op.call).collect();
    let rets: Vec<u32> = said.iter().map(|(op, _)| op.ret).collect();
    let mut history: TypedHistory<Role, ()> = TypedHistory::new();
    let mut ids: Vec<OpId> = Vec::new();
    for (i, kind) in events_in_order(&calls, &rets) {
        match kind {
            EventKind::Call => ids.push(history.call(i, said[i as usize].1.clone())),
            EventKind::Return => history.ret(ids[i as usize], ()),
        }
    }
    let place = Place {
        initial: initial.clone(),
    };
    let task = Task::new(&place, &history, &ids);
    has_no_order(&task, MOST_CONFIGURATIONS, budget) == Some(true)
}
