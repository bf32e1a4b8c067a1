//! Verdicts for machines. The schema is versioned and described in `docs/cli.md`.

use linpoint::history::NEVER;
use linpoint::verdict::{Cause, Claim, Detailed, Limit, Listed, Undecided, Violation, Witness};
use linpoint::{ErrorKind, History, OpId, Verdict};
use serde_json::{Value, json};

use super::conditions::diagnosis_json;
use super::{Summary, error_name, first_bad_event};
use crate::results::{Checked, Outcome};

pub(super) const SCHEMA: u32 = 2;

pub(super) fn document(histories: Vec<Value>, summary: &Summary) -> Value {
    json!({
        "schema": SCHEMA,
        "histories": histories,
        "summary": {
            "linearizable": summary.linearizable,
            "not_linearizable": summary.violations,
            "undecided": summary.undecided,
            "errors": summary.errors,
            "as_expected": summary.as_labelled,
            "not_as_expected": summary.not_as_labelled,
            "interrupted": summary.interrupted,
        },
    })
}

/// An error that ends the command before any history is decided.
pub(super) fn error(kind: ErrorKind, reason: &str) -> Value {
    json!({
        "schema": SCHEMA,
        "error": { "kind": error_name(kind), "reason": reason },
    })
}

pub(super) fn outcome(outcome: &Outcome) -> Value {
    match outcome {
        Ok(checked) => of_checked(checked),
        Err(error) => json!({
            "schema": SCHEMA,
            "history": error.label(),
            "verdict": "error",
            "error": { "kind": error_name(error.kind()), "line": error.line(), "reason": error.reason() },
        }),
    }
}

pub(super) fn of_checked(checked: &Checked) -> Value {
    let history = &checked.recorded.history;
    let parts = checked.report.parts.iter().map(|part| {
        let mut value = json!({
            "object": part.object.to_json(),
            "key": part.key.as_ref().map(linpoint::Value::to_json),
            "operations": part.ops,
            "verdict": name(&part.verdict),
            "engine": part.engine,
            "reason": part.reason,
        });
        if let Verdict::Linearizable(witness) = &part.verdict
            && let Some(d) = witness.shown_by
        {
            value["shown_by"] = json!(d);
        }
        match &part.verdict {
            Verdict::Linearizable(witness) if witness.stuck.is_empty() => {}
            Verdict::Linearizable(witness) => value["stuck"] = stuck(history, witness),
            Verdict::Violation(found) => value["violation"] = violation(history, found),
            Verdict::Undecided(found) => value["undecided"] = undecided(history, found),
        }
        value
    });
    let mut document = json!({
        "schema": SCHEMA,
        "history": checked.recorded.label(),
        "type": checked.type_name,
        "verdict": name(&checked.report.verdict),
        "expected": checked.recorded.expected,
        "operations": history.len(),
        "seconds": checked.time.as_secs_f64(),
        "parts": parts.collect::<Vec<_>>(),
        "parts_skipped": checked.report.skipped,
    });
    if let Some(object) = &checked.recorded.object {
        document["object"] = object.to_json();
    }
    if history.ends_stuck() {
        document["stuck"] = json!(true);
    }
    if let Some(diagnosis) = &checked.diagnosis {
        document["diagnosis"] = diagnosis_json(history, diagnosis);
    }
    let notes = checked.notes();
    if !notes.is_empty() {
        document["notes"] = json!(notes);
    }
    document
}

pub(super) fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Linearizable(_) => "linearizable",
        Verdict::Violation(_) => "not linearizable",
        Verdict::Undecided(_) => "undecided",
    }
}

/// Why each operation waits at the end.
fn stuck(history: &History, witness: &Witness) -> Value {
    let ids = |ids: &[OpId]| ids.iter().map(|id| id.0).collect::<Vec<_>>();
    let witnesses = witness.stuck.iter().map(|witness| {
        let blocked = witness.blocked.iter().map(|&id| operation(history, id));
        json!({ "blocked": blocked.collect::<Vec<_>>(), "order": ids(&witness.order) })
    });
    witnesses.collect()
}

fn violation(history: &History, violation: &Violation) -> Value {
    let core = &violation.core;
    let operations = |ids: &[OpId]| -> Vec<Value> {
        let described = ids.iter().map(|&id| operation(history, id));
        described.collect()
    };
    let mut fields = json!({
        "sentence": core.sentence(),
        "claim": claim(core.claim()),
        "possible": violation.possible.as_ref().map(|possible| json!({
            "states": listed(&possible.states),
            "answers": listed(&possible.answers),
        })),
        "anchor": core.anchor().map(|anchor| json!({
            "after": operation(history, anchor.after),
            "states": listed(&anchor.states),
            "taken": operations(&anchor.taken),
            "counted": operations(&anchor.counted),
            "open": operations(&anchor.open),
        })),
        "premises": core.premises().iter().map(|id| id.0).collect::<Vec<_>>(),
        "core": core.ops().iter().map(|&id| operation(history, id)).collect::<Vec<_>>(),
        "relaxed": core.relaxed().iter().map(|&id| operation(history, id)).collect::<Vec<_>>(),
        "minimal": core.is_minimal(),
        "limit": core.stopped_by().map(limit),
        "certified": core.is_certified(),
        "last": operation(history, violation.last),
        "prefix_events": violation.prefix_events,
        "shortest": violation.shortest,
        "first_bad_event": first_bad_event(history, violation),
        "partial": violation.partial.iter().map(|id| id.0).collect::<Vec<_>>(),
    });
    if let Some(place) = core.place() {
        fields["place"] = place.to_json();
    }
    if let Some(blocked) = violation.blocked {
        fields["blocked"] = operation(history, blocked);
    }
    fields
}

/// Some texts, and how many there are.
fn listed(listed: &Listed) -> Value {
    json!({ "shown": listed.shown, "count": listed.count })
}

/// A claim: its kind, and the operations and values that it names.
fn claim(claim: &Claim) -> Value {
    let mut fields = json!({ "kind": claim.kind(), "operation": claim.op().map(|id| id.0) });
    let ids = |ids: &[OpId]| json!(ids.iter().map(|id| id.0).collect::<Vec<_>>());
    match claim {
        Claim::NeverPut {
            key, value, alike, ..
        } => {
            fields["key"] = json!(key.as_ref().map(|key| key.to_json()));
            fields["value"] = value.to_json();
            fields["alike"] = json!(alike.as_ref().map(|alike| alike.to_json()));
        }
        Claim::TakenTooOften { value, taken, put } => {
            fields["value"] = value.to_json();
            fields["taken"] = ids(taken);
            fields["put"] = json!(put);
        }
        Claim::AddedTooOften {
            value,
            added,
            removed,
        } => {
            fields["value"] = value.to_json();
            fields["added"] = ids(added);
            fields["removed"] = json!(removed);
        }
        Claim::UsedAfterRemoval { value, removal, .. } => {
            fields["value"] = value.to_json();
            fields["removal"] = json!(removal.0);
        }
        Claim::NotEmpty { values, .. } => {
            fields["values"] = values.iter().map(linpoint::Value::to_json).collect();
        }
        Claim::Overtaken { first, second, .. } => {
            fields["first"] = first.to_json();
            fields["second"] = second.to_json();
        }
        Claim::Buried { lower, upper, .. } => {
            fields["lower"] = lower.to_json();
            fields["upper"] = upper.to_json();
        }
        Claim::PassedOver { urgent, .. } => {
            fields["urgent"] = urgent.iter().map(linpoint::Value::to_json).collect();
        }
        Claim::TakenBefore { value, by, .. } => {
            fields["value"] = value.to_json();
            fields["by"] = json!(by.0);
        }
        Claim::Replaced { value, .. } => {
            fields["value"] = value.to_json();
            fields["others"] = json!(claim.others().iter().map(|id| id.0).collect::<Vec<_>>());
        }
        Claim::NotChanged { used_up, .. } => {
            fields["since"] = json!(claim.others().first().map(|id| id.0));
            if let Some(used) = used_up {
                fields["used_up"] = json!({"by": used.by.0, "after": used.after.0});
            }
        }
        Claim::NoOther { shown_by, .. } => fields["shown_by"] = json!(shown_by.0),
        Claim::AgainstHints {
            hint,
            before,
            larger,
            ..
        } => {
            fields["hint"] = json!(hint);
            fields["before"] = json!(before.0);
            fields["larger"] = json!(larger);
        }
        Claim::CountFell { .. }
        | Claim::BetweenSteps { .. }
        | Claim::CountedTwice { .. }
        | Claim::CountTooLow { .. }
        | Claim::CountTooHigh { .. } => count_fields(claim, &mut fields),
        Claim::Detailed(detailed) => detailed_fields(detailed, &mut fields),
        Claim::Missed { value, put, .. } => {
            fields["value"] = value.to_json();
            fields["put"] = json!(put.0);
        }
        Claim::AtPlace {
            place,
            others,
            conflict,
            ..
        } => {
            fields["place"] = place.to_json();
            fields["others"] = ids(others);
            fields["conflict"] = json!(conflict.kind());
        }
        Claim::NotBlocked { states, .. } => fields["states"] = listed(states),
        Claim::Stuck { states, .. } => fields["states"] = json!(states),
        Claim::Contradiction { others, .. } => fields["others"] = ids(others),
        _ => {}
    }
    fields
}

/// Adds what a claim about a lock, a semaphore, logs or a bank names.
fn detailed_fields(claim: &Detailed<OpId>, fields: &mut Value) {
    let others: Vec<u32> = claim.others().iter().map(|id| id.0).collect();
    fields["others"] = json!(others);
    match claim {
        Detailed::NotLarger {
            number,
            larger,
            log,
            ..
        } => {
            fields["number"] = json!(number);
            fields["larger"] = json!(larger);
            fields["log"] = json!(log.as_ref().map(linpoint::Value::to_json));
        }
        Detailed::TokenTwice { token, .. } => fields["token"] = json!(token),
        Detailed::HeldBy { owner, .. } => fields["owner"] = owner.to_json(),
        Detailed::TooFewPermits {
            wanted,
            initial,
            taken,
            brought,
            ..
        }
        | Detailed::EnoughPermits {
            wanted,
            initial,
            taken,
            brought,
            ..
        } => {
            fields["wanted"] = json!(wanted);
            fields["initial"] = json!(initial);
            fields["taken"] = whole(*taken as i128);
            fields["brought"] = whole(*brought as i128);
        }
        Detailed::NotSent {
            log, offset, value, ..
        }
        | Detailed::OtherRecord {
            log, offset, value, ..
        }
        | Detailed::Skipped {
            log, offset, value, ..
        } => {
            fields["log"] = log.to_json();
            fields["offset"] = json!(offset);
            fields["value"] = value.to_json();
        }
        Detailed::OtherTotal { total, before, .. } => {
            fields["total"] = whole(*total);
            fields["before"] = whole(*before);
        }
        _ => {}
    }
}

/// An integer, as a text if it has more than 64 bits.
fn whole(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| json!(number.to_string()), |number| json!(number))
}

/// Adds what a claim about a count names.
fn count_fields(claim: &Claim, fields: &mut Value) {
    match claim {
        Claim::CountFell {
            count,
            least,
            since,
            ..
        } => {
            fields["count"] = json!(count);
            fields["least"] = json!(least);
            fields["since"] = json!(since.0);
        }
        Claim::BetweenSteps {
            count, initial, by, ..
        } => {
            fields["count"] = json!(count);
            fields["initial"] = json!(initial);
            fields["by"] = json!(by);
        }
        Claim::CountedTwice { other, count, .. } => {
            fields["other"] = json!(other.0);
            fields["count"] = json!(count);
        }
        Claim::CountTooLow { count, least, .. } => {
            fields["count"] = json!(count);
            fields["least"] = json!(least);
        }
        Claim::CountTooHigh { count, most, .. } => {
            fields["count"] = json!(count);
            fields["most"] = json!(most);
        }
        _ => {}
    }
}

fn undecided(history: &History, undecided: &Undecided) -> Value {
    let stuck = undecided.stuck.as_ref();
    json!({
        "limit": cause(undecided.cause),
        "engine": undecided.engine,
        "prefix_events": undecided.prefix_events,
        "events": undecided.events,
        "stuck": stuck.map(|stuck| json!({
            "operation": operation(history, stuck.op),
            "states": stuck.states,
        })),
    })
}

fn cause(cause: Cause) -> Value {
    match cause {
        Cause::Limit(hit) => limit(hit),
        Cause::NotApplicable(why) => json!({ "kind": "engine", "reason": why }),
        Cause::Depth(d) => json!({ "kind": "depth", "d": d }),
        _ => json!({ "kind": "engine" }),
    }
}

pub(super) fn limit(limit: Limit) -> Value {
    match limit {
        Limit::Time(time) => json!({ "kind": "time", "seconds": time.as_secs_f64() }),
        Limit::TotalTime(time) => {
            json!({ "kind": "total time", "seconds": time.as_secs_f64() })
        }
        Limit::Memory(bytes) => json!({ "kind": "memory", "bytes": bytes }),
        Limit::AddressSpace(bytes) => json!({ "kind": "address space", "bytes": bytes }),
        Limit::Capacity(why) => json!({ "kind": "capacity", "reason": why }),
        _ => json!({ "kind": "interrupted" }),
    }
}

/// An operation of a history, with its number, position and line.
pub(super) fn operation(history: &History, id: OpId) -> Value {
    let op = history.op(id);
    let mut fields = json!({
        "id": id.0,
        "process": op.process.to_json(),
        "object": op.object.to_json(),
        "method": op.method,
        "arg": op.argument.to_json(),
        "ret": op.result.map(linpoint::Value::to_json),
        "call": op.call,
        "return": (op.ret != NEVER).then_some(op.ret),
        "line": (op.line != 0).then_some(op.line),
    });
    if let Some(hint) = op.hint {
        fields["hint"] = json!(hint);
    }
    fields
}
