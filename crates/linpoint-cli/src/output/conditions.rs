//! Decisions about conditions, and what still holds of histories that are not linearizable.

use std::io::Write;

use linpoint::condition::{
    Condition, Decision, Diagnosis, Guarantees, Lateness, Measure, Outcome, Versions, Witness,
};
use linpoint::{Error, History, OpId};
use serde_json::{Value, json};

use super::error_name;
use super::json::{SCHEMA, operation};
use crate::results::Decided;
use crate::units::counted;

/// The decisions about one history as text.
pub(crate) fn text(out: &mut dyn Write, decided: &Decided) -> std::io::Result<()> {
    let history = &decided.recorded.history;
    writeln!(out, "{}:", decided.recorded.title())?;
    for decision in &decided.decisions {
        let condition = decision.condition;
        let since = match decision.decided == condition {
            true => String::new(),
            false => format!(", since {} is", decision.decided),
        };
        match &decision.outcome {
            Outcome::Holds {
                measure: Some(measure),
                ..
            } => {
                writeln!(
                    out,
                    "  {condition}: holds, {}",
                    measure_words(history, *measure)
                )?;
            }
            Outcome::Violated(refutation) => {
                writeln!(out, "  {condition}: violated{since}")?;
                writeln!(out, "    {}", refutation.sentence)?;
                if refutation.core.len() <= MOST_LISTED {
                    let core = refutation.core.iter();
                    let core: Vec<String> = core.map(|&id| history.describe(id)).collect();
                    writeln!(out, "    core: {}", core.join("; "))?;
                } else {
                    let size = counted(refutation.core.len(), "operation");
                    writeln!(out, "    core: {size}, which --json lists")?;
                }
            }
            Outcome::Undecided(reason) => writeln!(out, "  {condition}: undecided, {reason}")?,
            Outcome::Holds { .. } if decision.decided != condition => {
                writeln!(out, "  {condition}: holds, since {} does", decision.decided)?;
            }
            _ => writeln!(out, "  {condition}: holds")?,
        }
    }
    Ok(())
}

/// Longer cores are not listed.
const MOST_LISTED: usize = 12;

fn measure_words(history: &History, measure: Measure) -> String {
    match measure {
        Measure::Versions(versions) => versions_words(history, &versions),
        Measure::Lateness(lateness) => format!(
            "with a delta of {}{}",
            lateness.delta,
            worst(history, lateness.worst)
        ),
    }
}

fn versions_words(history: &History, versions: &Versions) -> String {
    let k = match (versions.at_least, versions.at_most) {
        (least, most) if least == most => format!("with k = {most}"),
        (least, most) => format!("with k from {least} to {most}: more is not known"),
    };
    k + &worst(history, versions.worst.map(|(read, _)| read))
}

fn worst(history: &History, read: Option<OpId>) -> String {
    read.map_or_else(String::new, |read| {
        format!(" (worst: {})", history.describe(read))
    })
}

/// The decisions about one history.
pub(crate) fn json(decided: &Result<Decided, Error>) -> Value {
    let decided = match decided {
        Ok(decided) => decided,
        Err(error) => {
            return json!({
                "schema": SCHEMA,
                "history": error.label(),
                "error": { "kind": error_name(error.kind()), "line": error.line(), "reason": error.reason() },
            });
        }
    };
    let history = &decided.recorded.history;
    let decisions = decided
        .decisions
        .iter()
        .map(|decision| decision_json(history, decision));
    json!({
        "schema": SCHEMA,
        "history": decided.recorded.label(),
        "type": decided.type_name,
        "operations": history.len(),
        "conditions": decisions.collect::<Vec<_>>(),
    })
}

pub(crate) fn document(histories: Vec<Value>) -> Value {
    json!({ "schema": SCHEMA, "histories": histories })
}

fn decision_json(history: &History, decision: &Decision) -> Value {
    let mut fields = json!({
        "condition": decision.condition.to_string(),
        "decided_as": decision.decided.to_string(),
    });
    match &decision.outcome {
        Outcome::Holds { witness, measure } => {
            fields["verdict"] = json!("holds");
            fields["witness"] = witness_json(witness);
            match measure {
                Some(Measure::Versions(versions)) => fields["k"] = versions_json(versions),
                Some(Measure::Lateness(lateness)) => fields["delta"] = lateness_json(lateness),
                _ => {}
            }
        }
        Outcome::Violated(refutation) => {
            let core = refutation.core.iter().map(|&id| operation(history, id));
            fields["verdict"] = json!("violated");
            fields["sentence"] = json!(refutation.sentence);
            fields["core"] = json!(core.collect::<Vec<_>>());
            fields["minimal"] = json!(refutation.is_minimal);
            fields["certified"] = json!(refutation.is_confirmed);
        }
        Outcome::Undecided(reason) => {
            fields["verdict"] = json!("undecided");
            fields["reason"] = json!(reason);
        }
        _ => {}
    }
    fields
}

fn versions_json(versions: &Versions) -> Value {
    json!({
        "at_least": versions.at_least,
        "at_most": versions.at_most,
        "worst": versions.worst.map(|(read, _)| read.0),
    })
}

fn lateness_json(lateness: &Lateness) -> Value {
    json!({ "smallest": lateness.delta, "worst": lateness.worst.map(|read| read.0) })
}

fn witness_json(witness: &Witness) -> Value {
    let ids = |ids: &[OpId]| ids.iter().map(|id| id.0).collect::<Vec<_>>();
    match witness {
        Witness::Order(order) => json!({ "kind": "order", "order": ids(order) }),
        Witness::Orders(orders) => {
            let orders: Vec<_> = orders.iter().map(|order| ids(order)).collect();
            json!({ "kind": "orders", "orders": orders })
        }
        Witness::Dependencies(order) => json!({ "kind": "dependencies", "order": ids(order) }),
        Witness::Visibility {
            visible,
            arbitrations,
        } => {
            let visible = visible
                .iter()
                .map(|(read, writes)| json!({ "read": read.0, "writes": ids(writes) }));
            let arbitrations = arbitrations
                .iter()
                .map(|(process, order)| json!({ "process": process, "order": ids(order) }));
            json!({
                "kind": "visibility",
                "visible": visible.collect::<Vec<_>>(),
                "arbitrations": arbitrations.collect::<Vec<_>>(),
            })
        }
        Witness::EachRead => json!({ "kind": "each read" }),
        _ => json!({ "kind": "too long" }),
    }
}

/// What still holds, in three lines at most.
pub(super) fn diagnosis_lines(history: &History, diagnosis: &Diagnosis) -> Vec<String> {
    if diagnosis.is_implausible {
        return vec![
            "a read returned before what it read was written: the clocks or the recording are wrong"
                .to_owned(),
        ];
    }
    let mut lines = Vec::new();
    let holding = diagnosis.strongest();
    let holding = holding.iter().filter(|condition| {
        !matches!(condition, Condition::KAtomic(_) | Condition::DeltaAtomic(_))
    });
    let holding: Vec<String> = holding.map(|condition| condition.words()).collect();
    match holding.as_slice() {
        [] => {}
        holding => lines.push(format!("still {}", holding.join("; "))),
    }
    lines.extend(behind(history, diagnosis));
    lines.extend(sessions(history, diagnosis));
    lines
}

/// How stale reads are.
fn behind(history: &History, diagnosis: &Diagnosis) -> Option<String> {
    let versions = diagnosis.versions.filter(|versions| versions.at_most > 1)?;
    let writes = counted(versions.at_most as usize - 1, "write");
    let writes = match versions.at_least == versions.at_most {
        true => writes,
        // No better order was found in time.
        false => format!("{} to {writes}", versions.at_least.saturating_sub(1)),
    };
    let (late, read) = match diagnosis.lateness {
        Some(lateness) if lateness.delta > 0 => (
            format!(" and {} units of time", lateness.delta),
            lateness.worst,
        ),
        _ => (String::new(), None),
    };
    let read = versions.worst.map(|(read, _)| read).or(read);
    Some(format!(
        "reads are at most {writes}{late} behind{}",
        worst(history, read)
    ))
}

/// Which sessions do not have their guarantees.
fn sessions(history: &History, diagnosis: &Diagnosis) -> Option<String> {
    const MOST_NAMED: usize = 3;
    let mut clauses = Vec::new();
    for (guarantees, failing) in &diagnosis.failing {
        if failing.is_empty() {
            continue;
        }
        let several = failing.len() > 1;
        let what = match *guarantees {
            set if set == Guarantees::READ_YOUR_WRITES.of_each_session() => match several {
                true => "do not read their own writes",
                false => "does not read its own writes",
            },
            set if set == Guarantees::MONOTONIC_READS.of_each_session() => match several {
                true => "go back to older values",
                false => "goes back to older values",
            },
            _ if clauses.is_empty() => match several {
                true => "see later writes of a session without the earlier ones",
                false => "sees later writes of a session without the earlier ones",
            },
            _ => continue,
        };
        let names = failing.iter().take(MOST_NAMED).map(|&number| {
            history
                .processes()
                .get(number as usize)
                .map_or(String::new(), ToString::to_string)
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let who = match failing.len() {
            1 => format!("session {names}"),
            count if count > MOST_NAMED => format!("{count} sessions ({names}, ...)"),
            _ => format!("sessions {names}"),
        };
        clauses.push(format!("{who} {what}"));
    }
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// What still holds.
pub(super) fn diagnosis_json(history: &History, diagnosis: &Diagnosis) -> Value {
    let mut holds = Vec::new();
    let mut fails = Vec::new();
    for &condition in &diagnosis.defined {
        match diagnosis.holds(condition) {
            Some(true) => holds.push(condition.to_string()),
            Some(false) => fails.push(condition.to_string()),
            None => {}
        }
    }
    let failing = diagnosis.failing.iter().map(|(guarantees, failing)| {
        let processes = failing.iter().map(|&number| {
            history
                .processes()
                .get(number as usize)
                .map(linpoint::Value::to_json)
        });
        json!({ "guarantees": guarantees.to_string(), "processes": processes.collect::<Vec<_>>() })
    });
    json!({
        "implausible": diagnosis.is_implausible,
        "strongest": diagnosis.strongest().iter().map(Condition::to_string).collect::<Vec<_>>(),
        "holds": holds,
        "fails": fails,
        "k": diagnosis.versions.as_ref().map(versions_json),
        "delta": diagnosis.lateness.as_ref().map(lateness_json),
        "failing_sessions": failing.collect::<Vec<_>>(),
    })
}
