//! Proposes claims about locks with owners, semaphores, logs and banks, and checks them by what operations [say](Detail) about
//! these.
//!
//! All of these contradict the object whatever the other operations did, but for what the claim counts.

use std::collections::HashMap;

use super::held::find;
use super::{Claim, Detailed};
use crate::engine::{Facts, TaskOp};
use crate::history::{NEVER, OpId};
use crate::spec::{Detail, Kind};
use crate::value::Value;

/// What can be wrong with the operation, which returned last.
pub(super) fn proposals(facts: &dyn Facts, op: TaskOp) -> Vec<Claim> {
    let details = facts.details(op);
    let mut proposals = Vec::new();
    for detail in &details {
        match detail {
            Detail::Takes { token, .. } => {
                proposals.extend(token.and_then(|token| about_token(facts, op, token)));
                proposals.extend(held_by(facts, op));
            }
            Detail::Gives { .. } => proposals.extend(held_by(facts, op)),
            Detail::Asks { permits, granted } => {
                proposals.extend(about_permits(facts, op, *permits, *granted));
            }
            Detail::Totals(total) => proposals.extend(other_total(facts, op, *total)),
            Detail::Brings { .. } | Detail::Sends { .. } | Detail::Sees { .. } => {}
        }
    }
    let is_on_logs = |detail: &Detail| matches!(detail, Detail::Sends { .. } | Detail::Sees { .. });
    if details.iter().any(is_on_logs) {
        proposals.extend(about_logs(facts, op, &details));
    }
    let proposals = proposals.into_iter().map(Box::new);
    proposals.map(Claim::Detailed).collect()
}

/// The other operations that returned.
fn returned(facts: &dyn Facts, op: TaskOp) -> impl Iterator<Item = TaskOp> {
    let others = facts.ops().iter().copied();
    others.filter(move |other| other.id != op.id && other.ret != NEVER)
}

fn token_of(facts: &dyn Facts, op: TaskOp) -> Option<i64> {
    facts
        .details(op)
        .iter()
        .find_map(|detail| match detail {
            Detail::Takes { token, .. } => Some(*token),
            _ => None,
        })
        .flatten()
}

fn about_token(facts: &dyn Facts, op: TaskOp, token: i64) -> Option<Detailed<OpId>> {
    let given = |other: TaskOp| Some((token_of(facts, other)?, other));
    let others: Vec<(i64, TaskOp)> = returned(facts, op).filter_map(given).collect();
    let before = others.iter().filter(|(_, other)| other.precedes(op));
    if let Some((larger, before)) = before.max_by_key(|(given, _)| *given)
        && *larger >= token
    {
        return Some(Detailed::NotLarger {
            op: op.id,
            number: token,
            before: before.id,
            larger: *larger,
            log: None,
        });
    }
    let same = others.iter().find(|(given, _)| *given == token);
    same.map(|(_, other)| Detailed::TokenTwice {
        op: op.id,
        other: other.id,
        token,
    })
}

/// The owner for which an operation took the lock.
fn taken_for(facts: &dyn Facts, op: TaskOp) -> Option<Value> {
    let details = facts.details(op).into_iter();
    let mut owners = details.filter_map(|detail| match detail {
        Detail::Takes { owner, .. } => Some(owner),
        _ => None,
    });
    owners.next()
}

fn held_by(facts: &dyn Facts, op: TaskOp) -> Option<Detailed<OpId>> {
    let before = returned(facts, op).filter(|other| other.precedes(op));
    let taken = before.filter_map(|other| Some((other, taken_for(facts, other)?)));
    let (since, owner) = taken.max_by_key(|(other, _)| other.call)?;
    Some(Detailed::HeldBy {
        op: op.id,
        owner,
        since: since.id,
    })
}

fn about_permits(
    facts: &dyn Facts,
    op: TaskOp,
    wanted: u64,
    granted: bool,
) -> Option<Detailed<OpId>> {
    let Some(Kind::Semaphore(initial)) = facts.kind() else {
        return None;
    };
    let (op_id, initial) = (op.id, *initial);
    let mut by = Vec::new();
    let (mut taken, mut brought) = (0, 0);
    for other in facts.ops().iter().filter(|other| other.id != op_id) {
        let is_before = other.precedes(op);
        match permits_of(facts, *other) {
            Permits::Taken(permits) if !granted || is_before => {
                taken += permits;
                by.extend((granted && permits > 0).then_some(other.id));
            }
            Permits::Brought(permits) if granted || is_before => {
                brought += permits;
                by.extend((!granted && permits > 0).then_some(other.id));
            }
            _ => {}
        }
    }
    Some(match granted {
        true => Detailed::TooFewPermits {
            op: op_id,
            wanted,
            initial,
            by,
            taken,
            brought,
        },
        false => Detailed::EnoughPermits {
            op: op_id,
            wanted,
            initial,
            by,
            brought,
            taken,
        },
    })
}

/// What an operation did with permits, or may have done.
enum Permits {
    Taken(u128),
    Brought(u128),
    Untouched,
}

fn permits_of(facts: &dyn Facts, op: TaskOp) -> Permits {
    match facts.details(op).as_slice() {
        [
            Detail::Asks {
                permits,
                granted: true,
            },
        ] => Permits::Taken((*permits).into()),
        [Detail::Brings { permits }] => Permits::Brought((*permits).into()),
        _ => Permits::Untouched,
    }
}

fn other_total(facts: &dyn Facts, op: TaskOp, total: i128) -> Option<Detailed<OpId>> {
    let mut others = returned(facts, op);
    others.find_map(|other| {
        let before = total_of(facts, other).filter(|other| *other != total)?;
        Some(Detailed::OtherTotal {
            op: op.id,
            total,
            other: other.id,
            before,
        })
    })
}

fn total_of(facts: &dyn Facts, op: TaskOp) -> Option<i128> {
    match facts.details(op).as_slice() {
        [Detail::Totals(total)] => Some(*total),
        _ => None,
    }
}

/// The records that an operation shows: log, offset and value.
fn shown(facts: &dyn Facts, op: TaskOp) -> Vec<(Value, i64, Value)> {
    let records = |detail: Detail| match detail {
        Detail::Sends {
            log,
            value,
            offset: Some(offset),
        } => vec![(log, offset, value)],
        Detail::Sees { log, records } => {
            let record = |(offset, value)| (log.clone(), offset, value);
            records.into_iter().map(record).collect()
        }
        _ => Vec::new(),
    };
    facts.details(op).into_iter().flat_map(records).collect()
}

/// What all other operations say about logs.
#[derive(Default)]
struct Told {
    /// The records by log and offset, with an operation that shows each.
    records: HashMap<Value, std::collections::BTreeMap<i64, (Value, TaskOp)>>,
    /// The values that were sent to each log, or may have been.
    sent: HashMap<Value, Vec<Value>>,
}

impl Told {
    fn by_others(facts: &dyn Facts, op: TaskOp) -> Self {
        let mut told = Told::default();
        for &other in facts.ops() {
            for detail in facts.details(other) {
                if let Detail::Sends { log, value, .. } = detail {
                    told.sent.entry(log).or_default().push(value);
                }
            }
        }
        for other in returned(facts, op) {
            for (log, offset, value) in shown(facts, other) {
                let log = told.records.entry(log).or_default();
                log.entry(offset).or_insert((value, other));
            }
        }
        told
    }
}

/// What can be wrong with the records that the operation shows.
fn about_logs(facts: &dyn Facts, op: TaskOp, details: &[Detail]) -> Vec<Detailed<OpId>> {
    let told = Told::by_others(facts, op);
    let (op_id, mut proposals) = (op.id, Vec::new());
    for (log, offset, value) in shown(facts, op) {
        let sent = told.sent.get(&log).map_or(&[][..], Vec::as_slice);
        if !sent.contains(&value) {
            proposals.push(Detailed::NotSent {
                op: op_id,
                log: log.clone(),
                offset,
                value: value.clone(),
            });
        }
        let held = told.records.get(&log).and_then(|log| log.get(&offset));
        if let Some((held, other)) = held.filter(|(held, _)| *held != value) {
            proposals.push(Detailed::OtherRecord {
                op: op_id,
                other: other.id,
                log,
                offset,
                value,
                held: held.clone(),
            });
        }
    }
    for detail in details {
        match detail {
            Detail::Sends {
                log,
                offset: Some(offset),
                ..
            } => {
                let larger = told.records.get(log).into_iter().flat_map(|log| {
                    let larger = log.range(*offset..);
                    larger.filter(|(_, (_, other))| other.precedes(op))
                });
                proposals.extend(
                    larger
                        .last()
                        .map(|(larger, (_, before))| Detailed::NotLarger {
                            op: op_id,
                            number: *offset,
                            before: before.id,
                            larger: *larger,
                            log: Some(log.clone()),
                        }),
                );
            }
            Detail::Sees { log, records } => {
                let told = told.records.get(log);
                let skipped = records.windows(2).find_map(|pair| {
                    let (from, to) = (pair[0].0, pair[1].0);
                    let between = from.checked_add(1)?..to;
                    let found = told.filter(|_| !between.is_empty())?.range(between).next();
                    let (offset, (value, other)) = found?;
                    Some(Detailed::Skipped {
                        op: op_id,
                        other: other.id,
                        log: log.clone(),
                        around: [from, to],
                        offset: *offset,
                        value: value.clone(),
                    })
                });
                proposals.extend(skipped);
            }
            _ => {}
        }
    }
    proposals
}

/// Whether a claim follows from the operations of `facts`, which must be all that the history has up to some event.
pub(super) fn follows(claim: &Detailed<OpId>, facts: &dyn Facts) -> Option<bool> {
    let op = find(facts, *claim.op()).filter(|op| op.ret != NEVER)?;
    let has_returned = |id: OpId| find(facts, id).filter(|other| other.ret != NEVER);
    Some(match claim {
        Detailed::NotLarger {
            number,
            before,
            larger,
            log: None,
            ..
        } => {
            let before = has_returned(*before)?;
            before.precedes(op)
                && token_of(facts, op)? == *number
                && token_of(facts, before)? == *larger
                && larger >= number
        }
        Detailed::NotLarger {
            number,
            before,
            larger,
            log: Some(log),
            ..
        } => {
            let before = has_returned(*before)?;
            let sends = |detail: &Detail| matches!(detail, Detail::Sends { log: other, offset: Some(offset), .. } if other == log && offset == number);
            let mut shown = shown(facts, before).into_iter();
            before.precedes(op)
                && facts.details(op).iter().any(sends)
                && shown.any(|(other, offset, _)| other == *log && offset == *larger)
                && larger >= number
        }
        Detailed::TokenTwice { other, token, .. } => {
            let other = has_returned(*other)?;
            other.id != op.id && token_of(facts, op)? == *token && token_of(facts, other)? == *token
        }
        Detailed::HeldBy { owner, since, .. } => {
            let since = has_returned(*since)?;
            since.precedes(op)
                && taken_for(facts, since)? == *owner
                && is_impossible_while_held(facts, op, owner)
                && !may_be_released(facts, owner, since)
        }
        Detailed::TooFewPermits {
            wanted,
            initial,
            by,
            taken,
            brought,
            ..
        }
        | Detailed::EnoughPermits {
            wanted,
            initial,
            by,
            brought,
            taken,
            ..
        } => {
            let granted = matches!(claim, Detailed::TooFewPermits { .. });
            let asks = [Detail::Asks {
                permits: *wanted,
                granted,
            }];
            let counted = about_permits(facts, op, *wanted, granted);
            let (there, wanted) = (u128::from(*initial) + brought, u128::from(*wanted));
            let all_returned = by.iter().all(|&id| has_returned(id).is_some());
            facts.details(op) == asks
                && counted.as_ref() == Some(claim)
                && all_returned
                && there >= *taken
                && (there - taken < wanted) == granted
        }
        Detailed::OtherTotal {
            total,
            other,
            before,
            ..
        } => {
            let other = has_returned(*other)?;
            total_of(facts, op)? == *total && total_of(facts, other)? == *before && total != before
        }
        _ => follows_from_records(claim, facts, op)?,
    })
}

fn follows_from_records(claim: &Detailed<OpId>, facts: &dyn Facts, op: TaskOp) -> Option<bool> {
    let has = |op: TaskOp, log: &Value, offset: i64, value: &Value| {
        let record = (log.clone(), offset, value.clone());
        op.ret != NEVER && shown(facts, op).contains(&record)
    };
    Some(match claim {
        Detailed::NotSent {
            log, offset, value, ..
        } => {
            let sends = |detail: &Detail| matches!(detail, Detail::Sends { log: to, value: sent, .. } if to == log && sent == value);
            let mut ops = facts.ops().iter();
            has(op, log, *offset, value)
                && !ops.any(|other| facts.details(*other).iter().any(sends))
        }
        Detailed::OtherRecord {
            other,
            log,
            offset,
            value,
            held,
            ..
        } => {
            let other = find(facts, *other)?;
            value != held && has(op, log, *offset, value) && has(other, log, *offset, held)
        }
        Detailed::Skipped {
            other,
            log,
            around: [from, to],
            offset,
            value,
            ..
        } => {
            let other = find(facts, *other)?;
            let is_gap = |pair: &[(i64, Value)]| pair[0].0 == *from && pair[1].0 == *to;
            let skips = |detail: &Detail| matches!(detail, Detail::Sees { log: of, records } if of == log && records.windows(2).any(is_gap));
            from < offset
                && offset < to
                && has(other, log, *offset, value)
                && facts.details(op).iter().any(skips)
        }
        _ => return None,
    })
}

/// Whether an operation cannot take effect while this owner holds the lock.
fn is_impossible_while_held(facts: &dyn Facts, op: TaskOp, holder: &Value) -> bool {
    match facts.details(op).as_slice() {
        [
            Detail::Takes {
                owner,
                is_reentrant,
                ..
            },
        ] => owner != holder || !is_reentrant,
        [Detail::Gives { owner }] => owner != holder,
        _ => false,
    }
}

/// Whether the owner may have released the lock after this operation took it.
fn may_be_released(facts: &dyn Facts, holder: &Value, since: TaskOp) -> bool {
    let releases = |op: &TaskOp| matches!(facts.details(*op).as_slice(), [Detail::Gives { owner }] if owner == holder);
    let mut later = facts.ops().iter().filter(|op| !op.precedes(since));
    later.any(releases)
}
