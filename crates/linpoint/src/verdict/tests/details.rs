//! Whether what is printed about locks with owners, semaphores, logs and banks is true.

use super::claims::{Case, Treated};
use crate::history::{Op, OpId};
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::Detailed;

/// Checks such a claim: the operations that it names contradict each other if all others may have had any result, or may never have
/// taken effect, unless they answered that they did nothing; and what it says of them is recorded.
pub(super) fn check<S: Spec<Ret = Value>>(case: &Case<'_, S>, claim: &Detailed<OpId>) {
    let named = claim.others();
    let is_named = |id: OpId| id == *claim.op() || named.contains(&&id);
    let is_held = matches!(claim, Detailed::HeldBy { .. });
    let orders = case.orders(|id| {
        let did_nothing = case.result(id) == Some(&Value::Bool(false));
        // That the owner released the lock before counts too.
        let is_release = is_held && case.op(id).method == "release";
        match is_named(id) || did_nothing || is_release {
            true => Treated::AsRecorded,
            false => Treated::Open,
        }
    });
    case.expect(orders.is_empty(), "they contradict each other");
    for id in named.iter().copied().chain([claim.op()]) {
        case.expect(case.has_returned(&case.op(*id)), "they have returned");
    }
    let op = case.op(*claim.op());
    match claim {
        // "[Before] had got token n before it was called."
        Detailed::NotLarger {
            number,
            before,
            larger,
            log: None,
            ..
        } => {
            let before = case.op(*before);
            case.expect(before.ret < op.call, "it returned before");
            case.expect(token(case, op.id) == Some(*number), "it got the token");
            let is_given = token(case, before.id) == Some(*larger);
            case.expect(is_given && larger >= number, "the other got the token");
        }
        // "[Before], which had returned before it was called, shows offset n of log k."
        Detailed::NotLarger {
            number,
            before,
            larger,
            log: Some(log),
            ..
        } => {
            let before = case.op(*before);
            case.expect(before.ret < op.call, "it returned before");
            let has = |id, offset: i64| {
                let mut all = records(case, id).into_iter();
                all.any(|(of, at, _)| is_log(&of, log) && at == offset)
            };
            case.expect(has(op.id, *number) && has(before.id, *larger), "offsets");
            case.expect(larger >= number, "it is not larger");
        }
        // "[Other] got token n too."
        Detailed::TokenTwice {
            other, token: n, ..
        } => {
            let both = [op.id, *other].map(|id| token(case, id));
            case.expect(both == [Some(*n); 2] && op.id != *other, "both got it");
        }
        // "Owner o held the lock, since [since] had returned before it was called and this owner called no release before it returned."
        Detailed::HeldBy { owner, since, .. } => {
            let since = case.op(*since);
            case.expect(since.ret < op.call, "it returned before");
            let is_owner = owner_of(&since) == owner && since.method.ends_with("acquire");
            case.expect(is_owner, "the owner acquired it");
            let releases = |op: &Op<'_>| op.method == "release" && owner_of(op) == owner;
            let mut later = case.called().filter(releases);
            case.expect(later.all(|op| op.ret < since.call), "no release");
        }
        Detailed::TooFewPermits { .. } | Detailed::EnoughPermits { .. } => {
            check_permits(case, claim);
        }
        // "Its balances sum to n, and those of [other] to m."
        Detailed::OtherTotal {
            total,
            other,
            before,
            ..
        } => {
            let sum = |id| {
                let balances = case.result(id).and_then(Value::as_list).unwrap_or_default();
                let balances = balances.iter().filter_map(Value::as_int);
                balances.map(i128::from).sum::<i128>()
            };
            case.expect(sum(op.id) == *total && sum(*other) == *before, "the totals");
            case.expect(total != before, "they differ");
        }
        _ => check_records(case, claim),
    }
}

fn token<S: Spec<Ret = Value>>(case: &Case<'_, S>, id: OpId) -> Option<i64> {
    case.result(id).and_then(Value::as_int)
}

fn owner_of<'a>(op: &Op<'a>) -> &'a Value {
    match op.argument {
        Value::Nil => op.process,
        owner => owner,
    }
}

/// "It takes w permits, and at most f were free: i at first, at most m released until it returned, n taken before it was called, by
/// [operations]." "It asked for w permits, and at least f were free: i at first, at most n taken until it returned, m released before
/// it was called, by [operations]."
fn check_permits<S: Spec<Ret = Value>>(case: &Case<'_, S>, claim: &Detailed<OpId>) {
    let (Detailed::TooFewPermits {
        op,
        wanted,
        initial,
        by,
        taken,
        brought,
    }
    | Detailed::EnoughPermits {
        op,
        wanted,
        initial,
        by,
        taken,
        brought,
    }) = claim
    else {
        unreachable!("{claim:?}");
    };
    let is_granted = matches!(claim, Detailed::TooFewPermits { .. });
    let op = case.op(*op);
    let amount = |op: &Op<'_>| op.argument.as_int().unwrap_or(1) as u128;
    case.expect(amount(&op) == u128::from(*wanted), "it asked for so many");
    let others = || case.called().filter(|other| other.id != op.id);
    let fails = |op: &Op<'_>| case.result(op.id) == Some(&Value::Bool(false));
    let takes = |op: &Op<'_>| op.method != "release" && !fails(op);
    let is_before = |other: &Op<'_>| other.ret < op.call;
    let count = |counts: &dyn Fn(&Op<'_>) -> bool| {
        others()
            .filter(|op| counts(op))
            .map(|op| amount(&op))
            .sum::<u128>()
    };
    let counted = count(&|other| takes(other) && (!is_granted || is_before(other)));
    case.expect(counted == *taken, "so many were taken");
    let counted = count(&|other| other.method == "release" && (is_granted || is_before(other)));
    case.expect(counted == *brought, "so many were brought");
    let named = by.iter().map(|id| case.op(*id));
    let sum: u128 = named.map(|op| amount(&op)).sum();
    let of_named = if is_granted { *taken } else { *brought };
    case.expect(sum == of_named, "the operations are all of them");
    let first = case.object.state_value(&case.object.init()).as_int();
    case.expect(first == i64::try_from(*initial).ok(), "it was so at first");
}

/// In JSON the keys of a poll are texts.
fn is_log(recorded: &Value, log: &Value) -> bool {
    recorded.plain_text() == log.plain_text()
}

/// The steps of an operation or of its answer, as they are recorded.
fn steps(recorded: &Value) -> impl Iterator<Item = &[Value]> {
    let steps = recorded.as_list().unwrap_or_default();
    steps.iter().filter_map(Value::as_list)
}

/// The records that an operation shows: log, offset and value.
fn records<S: Spec<Ret = Value>>(case: &Case<'_, S>, id: OpId) -> Vec<(Value, i64, Value)> {
    let mut records = Vec::new();
    for step in case.result(id).into_iter().flat_map(steps) {
        let logs: Vec<(&Value, &[Value])> = match step {
            [_, Value::Map(logs)] => {
                let logs = logs.iter();
                logs.map(|(log, records)| (log, records.as_list().expect("records")))
                    .collect()
            }
            [_, log, record] => vec![(log, std::slice::from_ref(record))],
            _ => Vec::new(),
        };
        for (log, seen) in logs {
            for record in seen {
                if let Some([Value::Int(offset), value]) = record.as_list() {
                    records.push((log.clone(), *offset, value.clone()));
                }
            }
        }
    }
    records
}

fn check_records<S: Spec<Ret = Value>>(case: &Case<'_, S>, claim: &Detailed<OpId>) {
    let has = |id: OpId, log: &Value, offset: i64, value: &Value| {
        let mut all = records(case, id).into_iter();
        all.any(|(of, at, there)| is_log(&of, log) && at == offset && there == *value)
    };
    match claim {
        // "It has [value] at offset n of log k, and [value] had not been sent to that log by then."
        Detailed::NotSent {
            op,
            log,
            offset,
            value,
        } => {
            case.expect(has(*op, log, *offset, value), "it has the record");
            let sends =
                |step: &[Value]| matches!(step, [_, to, sent] if is_log(to, log) && sent == value);
            let mut all = case.called();
            case.expect(!all.any(|op| steps(op.argument).any(sends)), "no send");
        }
        // "It has [value] at offset n of log k, where [other] has [held]."
        Detailed::OtherRecord {
            op,
            other,
            log,
            offset,
            value,
            held,
        } => {
            case.expect(has(*op, log, *offset, value), "it has the record");
            case.expect(has(*other, log, *offset, held), "the other has its record");
            case.expect(value != held, "they differ");
        }
        // "In log k it goes from offset m to n and leaves out offset o, where [other] has [value]."
        Detailed::Skipped {
            op,
            other,
            log,
            around: [from, to],
            offset,
            value,
        } => {
            let all = records(case, *op).into_iter();
            let all = all.filter(|(of, ..)| is_log(of, log));
            let offsets: Vec<i64> = all.map(|(_, at, _)| at).collect();
            let mut pairs = offsets.windows(2);
            case.expect(pairs.any(|pair| pair == [*from, *to]), "it goes on there");
            case.expect(from < offset && offset < to, "it is between");
            case.expect(has(*other, log, *offset, value), "the other has its record");
        }
        _ => unreachable!("{claim:?}"),
    }
}
