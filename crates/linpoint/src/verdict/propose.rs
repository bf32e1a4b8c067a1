//! Finds the claim that says best what is wrong: proposes simple ones and takes the first that holds.

use super::explain::Found;
use super::{Claim, details, held};
use crate::engine::monitor::snapshot;
use crate::engine::{Facts, Task, TaskOp};
use crate::history::{NEVER, OpId};
use crate::spec::{Keys, Kind, Need, Role, Spec};
use crate::value::Value;

/// The most values of a core that are compared with each other.
const MOST_VALUES: usize = 6;

/// What is wrong with the core of `beginning`, which ends with the first bad event. `about_possible` says what was possible
/// then, if that is known.
pub(super) fn claim<S: Spec>(
    beginning: &Task<'_, S>,
    core: &Found,
    about_possible: Option<Claim>,
) -> Claim {
    let ops: Vec<TaskOp> = core.ops.iter().filter_map(|&id| beginning.op(id)).collect();
    let Some(last) = ops.iter().max_by_key(|op| op.ret) else {
        unreachable!("bug: a core has no operations");
    };
    let facts: &dyn Facts = beginning;
    let mut proposals = Vec::from_iter(against_hints(facts, *last));
    if beginning.spec.vocabulary().keys.are_members() {
        proposals.extend(about_member(facts, &ops));
    }
    proposals.extend(details::proposals(facts, *last));
    proposals.extend(never_put(facts, *last));
    proposals.extend(about_counts(facts, *last));
    if core.anchor.is_none() {
        proposals.extend(about_values(facts, &ops));
    }
    let simple = proposals.into_iter().find(|claim| claim.holds(facts));
    simple
        .or_else(|| wrong_scan(facts))
        .or(about_possible)
        .unwrap_or_else(|| Claim::Contradiction {
            op: last.id,
            others: ops
                .iter()
                .map(|op| op.id)
                .filter(|&id| id != last.id)
                .collect(),
        })
}

/// A claim about a task in words, with the reason why the only possible answer is the only one.
pub(super) fn sentence<S: Spec>(
    task: &Task<'_, S>,
    claim: &Claim,
    describe: &dyn Fn(&OpId) -> String,
) -> String {
    let sentence = claim.sentence(&task.spec.vocabulary(), describe);
    let reason = match claim {
        Claim::OnlyAnswers { op, answers, .. } if answers.count == 1 => {
            let op = task.op(*op).map(|op| task.action_of(op).0);
            let answer = answers.shown.first();
            op.zip(answer)
                .and_then(|(op, answer)| task.spec.answer_reason(op, answer))
        }
        _ => None,
    };
    match reason {
        Some(reason) => format!("{sentence}: {reason}"),
        None => sentence,
    }
}

/// That the system numbered the operation before one that had returned before it was called.
fn against_hints(facts: &dyn Facts, op: TaskOp) -> Option<Claim> {
    let hint = facts.hint(op)?;
    let before = facts.ops().iter().filter(|before| before.precedes(op));
    let numbered = before.filter_map(|before| Some((facts.hint(*before)?, before.id)));
    let (larger, before) = numbered.max()?;
    (hint < larger).then_some(Claim::AgainstHints {
        op: op.id,
        hint,
        before,
        larger,
    })
}

/// That the operation saw a value that no operation had put there.
fn never_put(facts: &dyn Facts, op: TaskOp) -> Option<Claim> {
    // What a lock or a member of a set holds is no value that a person has put there. Without a kind, roles are about keys that
    // differ.
    if matches!(facts.kind(), None | Some(Kind::Slot(Value::Bool(_)))) {
        return None;
    }
    let value = match facts.role(op) {
        Role::Slot {
            needs: Need::Is(value),
            ..
        }
        | Role::Removes(value)
        | Role::Peeks(value) => value,
        _ => return None,
    };
    if matches!(facts.kind(), Some(Kind::Slot(initial)) if *initial == value) {
        return None;
    }
    let put = |op: &TaskOp| match facts.role(*op) {
        Role::Slot {
            leaves: Some(put), ..
        }
        | Role::Adds(put) => Some(put),
        _ => None,
    };
    // What is pending may not have put it there.
    let returned = facts.ops().iter().filter(|op| op.ret != NEVER);
    let put: Vec<Value> = returned.filter_map(put).collect();
    let claim = Claim::never_put(op.id, &value, put.iter());
    Some(match facts.key(op) {
        Some(key) => claim.at_key(Keys::Places, &key),
        None => claim,
    })
}

/// What can be wrong with a count that the operation saw.
fn about_counts(facts: &dyn Facts, op: TaskOp) -> Vec<Claim> {
    let Some(count) = held::seen_count(facts, op) else {
        return Vec::new();
    };
    let mut proposals = Vec::new();
    let same = facts.ops().iter().find(|other| {
        other.id != op.id && other.ret != NEVER && held::seen_count(facts, **other) == Some(count)
    });
    proposals.extend(same.map(|other| Claim::CountedTwice {
        op: op.id,
        other: other.id,
        count,
    }));
    let before = held::counted(facts, |other| other.precedes(op));
    proposals.extend(before.map(|(least, raised)| Claim::CountTooLow {
        op: op.id,
        count,
        least,
        raised,
    }));
    let called = held::counted(facts, |other| !op.precedes(*other) && other.id != op.id);
    proposals.extend(called.map(|(most, _)| Claim::CountTooHigh {
        op: op.id,
        count,
        most,
    }));
    proposals
}

/// That a member of a set was removed or added too often.
fn about_member(facts: &dyn Facts, ops: &[TaskOp]) -> Vec<Claim> {
    let Some(value) = ops.first().and_then(|op| facts.key(*op)) else {
        return Vec::new();
    };
    let count = |left: bool| {
        let changes = facts.ops().iter().filter(|op| {
            matches!(facts.role(**op), Role::Slot { leaves: Some(Value::Bool(to)), .. } if to == left)
        });
        changes.count()
    };
    let ids = || ops.iter().map(|op| op.id).collect();
    vec![
        Claim::TakenTooOften {
            value: value.clone(),
            taken: ids(),
            put: count(true),
        },
        Claim::AddedTooOften {
            value,
            added: ids(),
            removed: count(false),
        },
    ]
}

/// What can be wrong with the values of a container.
fn about_values(facts: &dyn Facts, ops: &[TaskOp]) -> Vec<Claim> {
    let Some(kind) = facts.kind().map(Kind::without_limit) else {
        return Vec::new();
    };
    let mut values: Vec<Value> = Vec::new();
    let (mut served, mut empty) = (Vec::new(), None);
    let mut removals: Vec<(Value, OpId)> = Vec::new();
    for &op in ops {
        let role = facts.role(op);
        match role {
            Role::Empty => empty = Some(op.id),
            Role::Adds(ref value) | Role::Removes(ref value) | Role::Peeks(ref value) => {
                if !values.contains(value) {
                    values.push(value.clone());
                }
                if values.len() > MOST_VALUES {
                    return Vec::new();
                }
                if !matches!(role, Role::Adds(_)) {
                    served.push((value.clone(), op.id));
                }
                if matches!(role, Role::Removes(_)) {
                    removals.push((value.clone(), op.id));
                }
            }
            _ => {}
        }
    }
    let mut proposals = Vec::new();
    for value in &values {
        let taken = removals.iter().filter(|(other, _)| other == value);
        let taken: Vec<OpId> = taken.map(|(_, id)| *id).collect();
        let insertions = facts
            .ops()
            .iter()
            .filter(|op| facts.role(**op) == Role::Adds(value.clone()));
        for later in ops.iter().filter(|op| is_on(facts, **op, value)) {
            proposals.extend(taken.first().map(|&removal| Claim::UsedAfterRemoval {
                value: value.clone(),
                removal,
                later: later.id,
            }));
        }
        proposals.push(Claim::TakenTooOften {
            value: value.clone(),
            put: insertions.count(),
            taken,
        });
    }
    if let Some(op) = empty {
        proposals.push(Claim::NotEmpty {
            op,
            values: values.clone(),
        });
    }
    for (value, op) in served {
        for other in values.iter().filter(|other| **other != value) {
            let (value, other) = (value.clone(), other.clone());
            proposals.extend(match kind {
                Kind::Queue => Some(Claim::Overtaken {
                    first: other,
                    second: value,
                    op,
                }),
                Kind::Stack => Some(Claim::Buried {
                    lower: value,
                    upper: other,
                    op,
                }),
                Kind::MaxPriorityQueue | Kind::MinPriorityQueue => Some(Claim::PassedOver {
                    op,
                    urgent: vec![other],
                    how: match kind {
                        Kind::MaxPriorityQueue => "larger",
                        _ => "smaller",
                    },
                }),
                _ => None,
            });
        }
    }
    proposals
}

fn is_on(facts: &dyn Facts, op: TaskOp, value: &Value) -> bool {
    matches!(facts.role(op), Role::Adds(other) | Role::Peeks(other) if other == *value)
}

/// That a scan of a snapshot shows what it cannot have seen.
fn wrong_scan(facts: &dyn Facts) -> Option<Claim> {
    if !matches!(facts.kind(), Some(Kind::Snapshot(_))) {
        return None;
    }
    let (fault, shown, compared) = snapshot::Case::new(facts).ok()?.fault(facts)?;
    let id = |position: u32| facts.ops()[position as usize].id;
    Some(Claim::WrongScan {
        fault: fault.map(&id),
        shown,
        compared,
    })
}
