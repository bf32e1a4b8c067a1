//! Which operations may be left out of a history, and which results and returns forgotten, so that what is left is still
//! linearizable if the history is.
//!
//! Let R be an order that explains the part up to the cut: each operation that returned, even after the cut, has its recorded
//! result in R. The check below makes sure that an order of the reduced history is left after deleting from R:
//!
//! * operations that change no state;
//! * all operations on some values of a container, a slot, or the entries of a snapshot, which the contract of
//!   [roles](Role) allows. Operations that are kept but treated as pending are deleted with the others if they are on these
//!   values, since a pending operation need not take effect;
//! * updates of a snapshot that write what their entry holds.
//!
//! `docs/proofs.md` has the argument in full. The certificates of [verdicts](crate::verdict) ask the same function.

use std::collections::{HashMap, HashSet};

use super::PartOp;
use crate::history::{NEVER, OpId, precedes};
use crate::spec::{Kind, Need, Role};
use crate::value::Value;

/// What is asked about the operations of a part. An operation whose return is [`NEVER`] is asked about as a pending one.
pub(crate) trait Contract {
    /// Which well-known object the operations are on; `None` if they are on several keys.
    fn kind(&self) -> Option<&Kind>;
    /// What the operation does.
    fn role(&self, op: PartOp) -> Role;
    /// Whether it never changes any state.
    fn is_pure(&self, op: PartOp) -> bool;
}

/// A beginning of a part of which operations were dropped or relaxed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction<'a> {
    /// The rank up to which the part was kept.
    pub(crate) cut: u32,
    /// What is left, in the order of calls; relaxed operations return [`NEVER`].
    pub(crate) kept: &'a [PartOp],
}

/// A value that an operation is about, as the contract of [roles](Role) means it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mention {
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
pub(crate) fn values_of(role: &Role) -> Option<Vec<Mention>> {
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

/// Checks that the reduced history is linearizable if `whole` is, the operations of a part as they were recorded. The error
/// says why that is not known.
pub(crate) fn check(
    contract: &dyn Contract,
    whole: &[PartOp],
    reduction: Reduction<'_>,
) -> Result<(), String> {
    let (recorded_kept, dropped) = match_up(whole, reduction)?;
    let repeats = repeated_updates(contract, whole, reduction);
    let mut gone = HashSet::new();
    for op in dropped {
        let relaxed = PartOp { ret: NEVER, ..op };
        if contract.is_pure(op) || contract.is_pure(relaxed) || repeats.contains(&op.id) {
            continue;
        }
        let role = contract.role(op);
        let adds = |kept: &PartOp| matches!(contract.role(*kept), Role::Adds(_));
        match values_of(&role) {
            // What it removed is gone too if only dropped operations added anything.
            Some(_) if role == Role::RemovesSome && recorded_kept.iter().any(adds) => {
                let number = op.id.0;
                return Err(format!(
                    "operation {number} was dropped, but may have removed what was added"
                ));
            }
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
    if contract.kind().is_none() {
        return Err("values were dropped from an object that is not known".into());
    }
    let depends = |(kept, recorded): (&PartOp, &PartOp)| {
        let may_be_deleted = kept.ret == NEVER;
        let role = contract.role(*recorded);
        if may_be_deleted && contract.is_pure(*recorded) {
            return false;
        }
        let needs_other = matches!(
            role,
            Role::Slot {
                needs: Need::IsNot(_),
                ..
            }
        );
        let Some(values) = values_of(&role).filter(|_| !needs_other) else {
            return true;
        };
        let are_gone = values.iter().filter(|value| gone.contains(value)).count();
        are_gone > 0 && !(may_be_deleted && are_gone == values.len())
    };
    let mut pairs = reduction.kept.iter().zip(&recorded_kept);
    match pairs.find(|pair| depends(*pair)) {
        Some((op, _)) => Err(format!("operation {} depends on what was dropped", op.id.0)),
        None => Ok(()),
    }
}

/// The kept operations as they were recorded, and the dropped ones that were called before the cut.
fn match_up(
    whole: &[PartOp],
    reduction: Reduction<'_>,
) -> Result<(Vec<PartOp>, Vec<PartOp>), String> {
    let mut kept = reduction.kept.iter().peekable();
    let (mut recorded_kept, mut dropped) = (Vec::new(), Vec::new());
    for op in whole {
        let is_called = op.call <= reduction.cut;
        let fits = |kept: &PartOp| {
            let is_as_recorded = kept.ret == op.ret && op.ret <= reduction.cut;
            is_called && kept.call == op.call && (is_as_recorded || kept.ret == NEVER)
        };
        match kept.next_if(|kept| kept.id == op.id) {
            Some(kept) if fits(kept) => recorded_kept.push(*op),
            Some(_) => {
                return Err(format!(
                    "operation {} has other times than recorded",
                    op.id.0
                ));
            }
            None if is_called => dropped.push(*op),
            None => {}
        }
    }
    match kept.next() {
        Some(op) => Err(format!(
            "operation {} is not in the part, or out of order",
            op.id.0
        )),
        None => Ok((recorded_kept, dropped)),
    }
}

/// The updates of a snapshot that write what their entries hold already, once all updates are dropped whose values no
/// kept operation is about.
fn repeated_updates(
    contract: &dyn Contract,
    whole: &[PartOp],
    reduction: Reduction<'_>,
) -> HashSet<OpId> {
    let mut repeats = HashSet::new();
    if !matches!(contract.kind(), Some(Kind::Snapshot(_))) {
        return repeats;
    }
    let kept = reduction.kept.iter().map(|op| contract.role(*op));
    let kept: HashSet<Mention> = kept.filter_map(|role| values_of(&role)).flatten().collect();
    let mut of_entry: HashMap<u32, Vec<(PartOp, Option<Value>)>> = HashMap::new();
    for op in whole.iter().filter(|op| op.call <= reduction.cut) {
        if let Role::Updates { entry, value } = contract.role(*op)
            && kept.contains(&Mention::of_entry(entry, value.as_ref()))
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
                && next.is_none_or(|(next, _)| precedes(op.ret, next.call));
            if is_alone && held == Some(value) {
                repeats.insert(op.id);
            }
            held = is_alone.then_some(value);
            finished = finished.max(Some(op.ret));
        }
    }
    repeats
}
