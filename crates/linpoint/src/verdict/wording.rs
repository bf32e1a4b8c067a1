//! What is wrong with the core of a container or a snapshot, in words.

use crate::engine::monitor::snapshot;
use crate::engine::{Facts, TaskOp};
use crate::history::{NEVER, OpId, precedes};
use crate::spec::{Kind, Need, Role};
use crate::value::Value;

/// What the operations of a core say about one value.
struct Seen {
    value: Value,
    add: Option<TaskOp>,
    removals: Vec<TaskOp>,
    /// The first return of any operation on it, and the last call.
    in_by: u32,
    out_from: u32,
    /// The operations that saw it served.
    served: Vec<TaskOp>,
}

/// The words for putting in, taking out, and the container itself.
struct Words {
    put_in: &'static str,
    taken_out: &'static str,
    container: &'static str,
}

/// A sentence on a core with few values; `None` if it is none that words make clearer than the operations do.
pub(super) fn container(core: &dyn Facts, describe: &dyn Fn(OpId) -> String) -> Option<String> {
    let kind = core.kind()?;
    let words = match kind {
        Kind::Queue => ("enqueued", "dequeued", "queue"),
        Kind::Stack => ("pushed", "popped", "stack"),
        Kind::MaxPriorityQueue | Kind::MinPriorityQueue => ("added", "served", "queue"),
        Kind::Bag | Kind::Deque => ("added", "removed", "container"),
        _ => return None,
    };
    let words = Words {
        put_in: words.0,
        taken_out: words.1,
        container: words.2,
    };
    let mut seen: Vec<Seen> = Vec::new();
    let mut empty = None;
    for &op in core.ops() {
        let role = core.role(op);
        let value = match &role {
            Role::Adds(value) | Role::Removes(value) | Role::Peeks(value) => value,
            Role::Empty => {
                empty = Some(op);
                continue;
            }
            // Which value a pending removal took out is not known.
            _ => return None,
        };
        let place = seen.iter().position(|seen| seen.value == *value);
        let place = place.unwrap_or_else(|| {
            seen.push(Seen {
                value: value.clone(),
                add: None,
                removals: Vec::new(),
                in_by: NEVER,
                out_from: 0,
                served: Vec::new(),
            });
            seen.len() - 1
        });
        let seen = &mut seen[place];
        seen.in_by = seen.in_by.min(op.ret);
        seen.out_from = seen.out_from.max(op.call);
        match role {
            // Two insertions of one value cannot be told apart.
            Role::Adds(_) if seen.add.is_some() => return None,
            Role::Adds(_) => seen.add = Some(op),
            _ => {
                if matches!(role, Role::Removes(_)) {
                    seen.removals.push(op);
                }
                seen.served.push(op);
            }
        }
    }
    for seen in &mut seen {
        if seen.removals.is_empty() {
            seen.out_from = NEVER;
        }
    }
    if let Some(empty) = empty {
        return not_empty(&words, &seen, &describe(empty.id));
    }
    match seen.as_slice() {
        [only] => one_value(&words, only, describe),
        [a, b] => match kind {
            Kind::Queue => overtaken(&words, a, b).or_else(|| overtaken(&words, b, a)),
            Kind::Stack => buried(&words, a, b).or_else(|| buried(&words, b, a)),
            Kind::MaxPriorityQueue if a.value > b.value => passed_over(a, b, "larger", describe),
            Kind::MaxPriorityQueue => passed_over(b, a, "larger", describe),
            Kind::MinPriorityQueue if a.value < b.value => passed_over(a, b, "smaller", describe),
            Kind::MinPriorityQueue => passed_over(b, a, "smaller", describe),
            _ => None,
        },
        _ => None,
    }
}

/// A sentence on a snapshot of which the last event makes it wrong.
pub(super) fn snapshot(whole: &dyn Facts, describe: &dyn Fn(OpId) -> String) -> Option<String> {
    if !matches!(whole.kind(), Some(Kind::Snapshot(_))) {
        return None;
    }
    let describe = |position: u32| describe(whole.ops()[position as usize].id);
    snapshot::Case::new(whole).ok()?.sentence(whole, &describe)
}

/// What an operation on one member of a set saw and did.
struct Membership {
    member: Value,
    /// Whether it found the member there, if it says so.
    found: Option<bool>,
    /// Whether the member is there afterwards, if it changed that.
    leaves: Option<bool>,
}

impl Membership {
    /// A set is a slot for each key, which is there or not, and at first is not.
    fn of(facts: &dyn Facts, op: TaskOp) -> Option<Self> {
        if !matches!(facts.kind(), Some(Kind::Slot(Value::Bool(false)))) {
            return None;
        }
        let Role::Slot { needs, leaves } = facts.role(op) else {
            return None;
        };
        let found = match needs {
            Need::Is(found) => Some(found.as_bool()?),
            Need::Anything => None,
            Need::IsNot(_) => return None,
        };
        Some(Membership {
            member: facts.key(op)?,
            found,
            leaves: match leaves {
                Some(leaves) => Some(leaves.as_bool()?),
                None => None,
            },
        })
    }
}

/// A sentence on the core of a set that contradicts what can have been done to the member by the rank at which it was
/// cut; `what` is its operation that returned last.
pub(super) fn member(whole: &dyn Facts, core: &dyn Facts, cut: u32, what: &str) -> Option<String> {
    let returned = core.ops().iter().filter(|op| op.ret != NEVER);
    let seen: Vec<Membership> = returned
        .map(|&op| Membership::of(core, op))
        .collect::<Option<_>>()?;
    let called = whole.ops().iter().filter(|op| op.call <= cut);
    let called = called.filter(|&&op| !whole.is_pure(op));
    let done: Vec<Membership> = called
        .map(|&op| Membership::of(whole, op))
        .collect::<Option<_>>()?;
    let changes = |to: bool| done.iter().filter(|op| op.leaves == Some(to)).count();
    let member = &seen.first()?.member;
    let all = |found: bool, leaves: bool| {
        let mut seen = seen.iter();
        seen.all(|op| op.found == Some(found) && op.leaves == Some(leaves))
    };
    let (added, removed) = (changes(true), changes(false));
    if let [only] = seen.as_slice() {
        return (only.found == Some(true) && added == 0)
            .then(|| format!("{what} is impossible: no operation had added {member} by then"));
    }
    if all(true, false) && added < seen.len() {
        let (removed, added) = (times(seen.len()), times(added));
        Some(format!(
            "{member} was removed {removed} when it had been added only {added}"
        ))
    } else if all(false, true) && removed + 1 < seen.len() {
        let added = times(seen.len());
        Some(match removed {
            0 => format!("{member} was added {added} before any operation removed it"),
            _ => {
                let removed = times(removed);
                format!("{member} was added {added} when it had been removed only {removed}")
            }
        })
    } else {
        None
    }
}

/// Where an operation on a set can only have found the opposite of what it says: that.
pub(super) fn was_member(core: &dyn Facts, op: TaskOp) -> Option<String> {
    let Membership { member, found, .. } = Membership::of(core, op)?;
    let not = if found? { "not " } else { "" };
    Some(format!("{member} was {not}in the set then"))
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

fn not_empty(words: &Words, seen: &[Seen], what: &str) -> Option<String> {
    let values: Vec<String> = seen.iter().map(|seen| seen.value.to_string()).collect();
    let there = match values.as_slice() {
        [] => return None,
        [only] => format!("{only} was in it all the time"),
        several => format!("at any time one of {} was in it", several.join(", ")),
    };
    Some(format!(
        "{what} found the {} empty, but {there}",
        words.container
    ))
}

fn one_value(words: &Words, seen: &Seen, describe: &dyn Fn(OpId) -> String) -> Option<String> {
    let Words {
        put_in, taken_out, ..
    } = words;
    if seen.removals.len() > 1 {
        let value = &seen.value;
        return Some(format!(
            "{value} was {taken_out} twice and {put_in} only once"
        ));
    }
    // Something happened to it after it was taken out.
    let removed = seen.removals.first()?;
    let late = seen
        .served
        .iter()
        .chain(&seen.add)
        .find(|op| removed.precedes(**op))?;
    let (late, removed) = (describe(late.id), describe(removed.id));
    Some(format!("{late} was called when {removed} had returned"))
}

/// First in, but not first out.
fn overtaken(words: &Words, first: &Seen, second: &Seen) -> Option<String> {
    let served = second.served.iter().map(|op| op.ret).min()?;
    let in_order = precedes(first.in_by, second.add?.call);
    if !in_order || !precedes(served, first.out_from) {
        return None;
    }
    let Words {
        put_in, taken_out, ..
    } = words;
    let (a, b) = (&first.value, &second.value);
    Some(
        match (first.removals.is_empty(), second.removals.is_empty()) {
            (false, false) => format!("{a} was {put_in} before {b} and {taken_out} after it"),
            (_, false) => format!("{a} was {put_in} before {b}, but {b} was {taken_out} first"),
            (_, true) => format!("{a} was {put_in} before {b}, but {b} was seen in front first"),
        },
    )
}

/// Taken out from under another one.
fn buried(words: &Words, lower: &Seen, upper: &Seen) -> Option<String> {
    let taken = lower
        .served
        .iter()
        .find(|op| precedes(upper.in_by, op.call) && precedes(op.ret, upper.out_from))?;
    if !precedes(lower.in_by, upper.add?.call) {
        return None;
    }
    let Words {
        put_in, taken_out, ..
    } = words;
    let (a, b) = (&lower.value, &upper.value);
    let how = if lower.removals.contains(taken) {
        taken_out
    } else {
        "seen on top"
    };
    Some(format!(
        "{a} was {how} while {b}, {put_in} after it, was there"
    ))
}

/// Served although a more urgent one was there.
fn passed_over(
    urgent: &Seen,
    served: &Seen,
    how: &str,
    describe: &dyn Fn(OpId) -> String,
) -> Option<String> {
    let op = served
        .served
        .iter()
        .find(|op| precedes(urgent.in_by, op.call) && precedes(op.ret, urgent.out_from))?;
    let (what, value) = (describe(op.id), &urgent.value);
    Some(format!(
        "{what} passed over {value}, which is {how} and was there all the time"
    ))
}
