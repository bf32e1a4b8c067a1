//! Decodes requests and answers, as linpoint documents them and as the robustness tests of etcd write them.
//!
//! Both have maps with the same contents and other names: `{"key": "a"}` and `{"Start": "a", "End": "", "Limit": 0}`. In the
//! second form, a zero, an empty text and an empty structure mean that there is nothing.

use std::sync::Arc;

use super::{Change, Condition, EtcdOp, Put, Range, Span, Target, Test, Txn};
use crate::error::did_you_mean;
use crate::spec::{CallView, DecodeError};
use crate::value::Value;

/// The fields of an answer; see `docs/etcd.md`.
const ANSWER: [&str; 8] = [
    "revision",
    "kvs",
    "count",
    "deleted",
    "succeeded",
    "results",
    "persisted",
    "error",
];
const ENTRY: [&str; 6] = ["key", "value", "create", "mod", "version", "lease"];

/// The request of a call.
pub(super) fn request(call: CallView<'_>) -> Result<EtcdOp, DecodeError> {
    let wrapped = |name: &str| call.argument.get(name).filter(|inner| !inner.is_nil());
    Ok(match call.method {
        "range" | "get" => EtcdOp::Range(range(wrapped("Range").unwrap_or(call.argument))?),
        "put" => EtcdOp::Put(put(call.argument)?),
        "delete" => EtcdOp::Delete(span(call.argument)?),
        "txn" => EtcdOp::Txn(Arc::new(txn(wrapped("Txn").unwrap_or(call.argument))?)),
        "lease_grant" | "leaseGrant" => {
            EtcdOp::LeaseGrant(lease(wrapped("LeaseGrant").unwrap_or(call.argument))?)
        }
        "lease_revoke" | "leaseRevoke" => {
            EtcdOp::LeaseRevoke(lease(wrapped("LeaseRevoke").unwrap_or(call.argument))?)
        }
        "compact" => {
            let argument = wrapped("Compact").unwrap_or(call.argument);
            let revision = named(argument, ["revision", "Revision"]).unwrap_or(argument);
            EtcdOp::Compact(positive(revision, "compact takes a revision")?)
        }
        "defragment" => EtcdOp::Defragment,
        _ => return call.unknown(),
    })
}

/// The value of the first of these names that a map has.
fn named<'a, const N: usize>(map: &'a Value, names: [&str; N]) -> Option<&'a Value> {
    names.iter().find_map(|name| map.get(name))
}

fn key_text(value: &Value) -> Result<Arc<str>, DecodeError> {
    match value {
        Value::Text(text) => Ok(text.as_str().into()),
        Value::Int(number) => Ok(number.to_string().into()),
        other => Err(format!("a key is a text, not {other}").into()),
    }
}

fn positive(value: &Value, what: &str) -> Result<i64, DecodeError> {
    let number = value.as_int().filter(|&number| number > 0);
    number.ok_or_else(|| format!("{what}, a number from 1 on, not {value}").into())
}

fn lease(argument: &Value) -> Result<i64, DecodeError> {
    let id = named(argument, ["id", "LeaseID"]).unwrap_or(argument);
    positive(id, "a lease has an id")
}

/// The key after all keys with this prefix.
fn after_prefix(prefix: &str) -> Arc<str> {
    let mut end: Vec<char> = prefix.chars().collect();
    while let Some(last) = end.pop() {
        // The next character that is no surrogate.
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            end.push(next);
            return String::from_iter(end).into();
        }
    }
    "\0".into()
}

fn span(argument: &Value) -> Result<Span, DecodeError> {
    if let Some(prefix) = argument.get("prefix") {
        let start = key_text(prefix)?;
        return Ok(Span {
            end: Some(after_prefix(&start)),
            start,
        });
    }
    let start = match argument {
        Value::Map(_) => named(argument, ["key", "Start", "Key"])
            .ok_or_else(|| DecodeError::from(format!("{argument} has no key")))?,
        plain => plain,
    };
    let end = named(argument, ["end", "End"]).filter(|end| end.as_text() != Some(""));
    Ok(Span {
        start: key_text(start)?,
        end: end.map(key_text).transpose()?,
    })
}

fn range(argument: &Value) -> Result<Range, DecodeError> {
    let number = |names, what: &str| match named(argument, names) {
        None | Some(Value::Int(0) | Value::Nil) => Ok(None),
        Some(value) => positive(value, what).map(Some),
    };
    let limit = number(["limit", "Limit"], "a limit is a number of keys")?;
    Ok(Range {
        span: span(argument)?,
        limit: limit.map(|limit| limit as usize),
        revision: number(["revision", "Revision"], "a range is read at a revision")?,
    })
}

/// A value, or what the robustness tests keep of a long one.
fn stored(value: &Value) -> Value {
    let is_wrapped = value.as_map().is_some_and(|fields| {
        fields
            .iter()
            .all(|(name, _)| matches!(name.as_text(), Some("Value" | "Hash")))
    });
    match value.get("Hash").and_then(Value::as_int) {
        _ if !is_wrapped => value.clone(),
        None | Some(0) => value.get("Value").cloned().unwrap_or_else(|| "".into()),
        Some(_) => value.clone(),
    }
}

fn put(argument: &Value) -> Result<Put, DecodeError> {
    if let Some([key, value]) = argument.as_list() {
        return Ok(Put {
            key: key_text(key)?,
            value: stored(value),
            lease: 0,
        });
    }
    let takes = || {
        DecodeError::from(format!(
            "put takes [key, value] or a map with both, not {argument}"
        ))
    };
    let lease = match named(argument, ["lease", "LeaseID"]) {
        None | Some(Value::Int(0) | Value::Nil) => 0,
        Some(id) => positive(id, "a lease has an id")?,
    };
    Ok(Put {
        key: key_text(named(argument, ["key", "Key"]).ok_or_else(takes)?)?,
        value: stored(named(argument, ["value", "Value"]).ok_or_else(takes)?),
        lease,
    })
}

fn txn(argument: &Value) -> Result<Txn, DecodeError> {
    if argument.as_map().is_none() {
        let takes = "txn takes a map with if, then and else";
        return Err(format!("{takes}, not {argument}").into());
    }
    let list = |names: [&str; 2]| match named(argument, names) {
        None | Some(Value::Nil) => Ok(&[][..]),
        Some(value) => value.as_list().ok_or_else(|| {
            DecodeError::from(format!(
                "{:?} of a transaction is a list, not {value}",
                names[0]
            ))
        }),
    };
    Ok(Txn {
        conditions: each(list(["if", "Conditions"])?, condition)?,
        then: each(list(["then", "OperationsOnSuccess"])?, change)?,
        otherwise: each(list(["else", "OperationsOnFailure"])?, change)?,
    })
}

fn each<T>(
    values: &[Value],
    read: impl Fn(&Value) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    values.iter().map(read).collect()
}

fn change(value: &Value) -> Result<Change, DecodeError> {
    if let Some(kind) = value.get("Type").and_then(Value::as_text) {
        let part = |name: &str| value.get(name).unwrap_or(&Value::Nil);
        return match kind {
            "range-operation" => Ok(Change::Range(range(part("Range"))?)),
            "put-operation" => Ok(Change::Put(put(part("Put"))?)),
            "delete-operation" => Ok(Change::Delete(span(part("Delete"))?)),
            _ => Err(format!("there is no {kind:?} in a transaction").into()),
        };
    }
    match value.as_map() {
        Some([(name, argument)]) => match name.as_text() {
            Some("range") => Ok(Change::Range(range(argument)?)),
            Some("put") => Ok(Change::Put(put(argument)?)),
            Some("delete") => Ok(Change::Delete(span(argument)?)),
            _ => Err(format!("a transaction has range, put and delete, not {name}").into()),
        },
        _ => {
            Err(format!("a part of a transaction is written {{\"put\": ...}}, not {value}").into())
        }
    }
}

fn condition(value: &Value) -> Result<Condition, DecodeError> {
    const TARGETS: [(&str, Target); 5] = [
        ("mod", Target::Modified),
        ("create", Target::Created),
        ("version", Target::Version),
        ("value", Target::Value),
        ("lease", Target::Lease),
    ];
    let key = named(value, ["key", "Key"])
        .ok_or_else(|| DecodeError::from(format!("the condition {value} has no key")))?;
    let of_robustness = || {
        let version = value
            .get("ExpectedVersion")
            .filter(|version| **version != Value::Int(0));
        let version = version.map(|version| (Target::Version, version));
        version.or_else(|| Some((Target::Modified, value.get("ExpectedRevision")?)))
    };
    let own = TARGETS
        .iter()
        .find_map(|(name, target)| Some((*target, value.get(name)?)));
    let (target, operand) = own.or_else(of_robustness).ok_or_else(|| {
        let names = TARGETS.map(|(name, _)| name).join(", ");
        DecodeError::from(format!("the condition {value} compares none of {names}"))
    })?;
    let test = match value
        .get("is")
        .map(|test| test.as_text().unwrap_or_default())
    {
        None | Some("=") => Test::Equal,
        Some("!=") => Test::NotEqual,
        Some(">") => Test::Greater,
        Some("<") => Test::Less,
        Some(_) => return Err(format!("{value}: \"is\" is =, !=, > or <").into()),
    };
    Ok(Condition {
        key: key_text(key)?,
        target,
        test,
        operand: stored(operand),
    })
}

/// An answer in the documented form.
pub(super) fn answer(op: &EtcdOp, result: &Value) -> Result<Value, DecodeError> {
    let Some(fields) = result.as_map() else {
        return match (op, result) {
            (EtcdOp::Range(_) | EtcdOp::Txn(_), _) | (_, Value::Text(_)) => {
                Err(format!("the answer is a map such as {{\"revision\": 7}}, not {result}").into())
            }
            // It is only known to have happened.
            (_, Value::Nil | Value::Bool(true)) => Ok(Value::map([])),
            _ => {
                Err(format!("the answer is a map such as {{\"revision\": 7}}, not {result}").into())
            }
        };
    };
    if result.get("Revision").is_some() {
        return of_robustness(result);
    }
    known(fields, &ANSWER, "an answer")?;
    let kept = fields.iter().filter(|(_, value)| !value.is_nil());
    let kept = kept.map(|(name, value)| {
        let value = match (name.as_text(), value.as_list()) {
            (Some("kvs"), Some(kvs)) => entries(kvs)?,
            (Some("results"), Some(results)) => {
                let results = results
                    .iter()
                    .map(|result| answer(&EtcdOp::Defragment, result));
                Value::list(results.collect::<Result<Vec<_>, _>>()?)
            }
            (Some("kvs" | "results"), None) => {
                return Err(format!("{name} is a list, not {value}").into());
            }
            _ => value.clone(),
        };
        Ok((name.clone(), value))
    });
    kept.collect::<Result<Vec<_>, DecodeError>>()
        .map(Value::map)
}

fn known(fields: &[(Value, Value)], names: &[&str], what: &str) -> Result<(), DecodeError> {
    let stray = fields
        .iter()
        .find(|(name, _)| !name.as_text().is_some_and(|name| names.contains(&name)));
    stray.map_or(Ok(()), |(name, _)| {
        let meant = did_you_mean(&name.plain_text(), names.iter().copied());
        Err(format!(
            "{what} has no {name}; {meant}known are {}",
            names.join(", ")
        )
        .into())
    })
}

/// The fields that are not told have no value here: a version of 0 is one that was not recorded.
fn entries(kvs: &[Value]) -> Result<Value, DecodeError> {
    let entry = |value: &Value| {
        let Some(fields) = value.as_map() else {
            return Err(format!("an entry is a map with key and value, not {value}").into());
        };
        if value.get("Key").is_none() {
            known(fields, &ENTRY, "an entry")?;
            let fields = fields.iter().map(|(name, value)| {
                let value = match name.as_text() {
                    Some("key") => Value::from(&*key_text(value)?),
                    Some("value") => stored(value),
                    _ => value.clone(),
                };
                Ok((name.clone(), value))
            });
            return fields
                .collect::<Result<Vec<_>, DecodeError>>()
                .map(Value::map);
        }
        let renamed = [
            ("Key", "key"),
            ("ModRevision", "mod"),
            ("Version", "version"),
        ];
        let pairs = renamed.iter().filter_map(|(from, to)| {
            let value = value.get(from).filter(|value| **value != Value::Int(0))?;
            Some((Value::from(*to), value.clone()))
        });
        let value = value.get("Value").map_or_else(|| "".into(), stored);
        Ok(Value::map(pairs.chain([("value".into(), value)])))
    };
    let entries: Result<Vec<Value>, DecodeError> = kvs.iter().map(entry).collect();
    entries.map(Value::list)
}

/// An answer as the robustness tests write it.
fn of_robustness(result: &Value) -> Result<Value, DecodeError> {
    let text = |name: &str| {
        result
            .get(name)
            .and_then(Value::as_text)
            .filter(|text| !text.is_empty())
    };
    let number = |name: &str| {
        result
            .get(name)
            .and_then(Value::as_int)
            .filter(|&number| number > 0)
    };
    if let Some(error) = text("Error") {
        let reason = "does not tell whether the request took effect: such a call is pending, and has no result";
        return Err(format!("the error {error:?} {reason}").into());
    }
    let mut fields: Vec<(Value, Value)> = Vec::new();
    if let Some(error) = text("ClientError") {
        fields.push(("error".into(), error.into()));
    }
    let is_persisted = ["Persisted", "PartialResponse"]
        .iter()
        .any(|name| result.get(name) == Some(&Value::Bool(true)));
    if is_persisted {
        fields.push(("persisted".into(), Value::Bool(true)));
    }
    if let Some(revision) = number("PersistedRevision").or_else(|| number("Revision")) {
        fields.push(("revision".into(), revision.into()));
    }
    if is_persisted {
        // Nothing else is known.
        return Ok(Value::map(fields));
    }
    if let Some(range) = result.get("Range").filter(|range| !range.is_nil()) {
        fields.extend(range_fields(range)?);
    }
    if let Some(txn) = result.get("Txn").filter(|txn| !txn.is_nil()) {
        let failed = txn.get("Failure") == Some(&Value::Bool(true));
        fields.push(("succeeded".into(), Value::Bool(!failed)));
        let results = txn
            .get("Results")
            .and_then(Value::as_list)
            .unwrap_or_default();
        let part = |result: &Value| {
            let deleted = result
                .get("Deleted")
                .map(|deleted| ("deleted".into(), deleted.clone()));
            Ok(Value::map(range_fields(result)?.into_iter().chain(deleted)))
        };
        let results: Result<Vec<Value>, DecodeError> = results.iter().map(part).collect();
        fields.push(("results".into(), Value::list(results?)));
    }
    Ok(Value::map(fields))
}

fn range_fields(range: &Value) -> Result<Vec<(Value, Value)>, DecodeError> {
    let kvs = range
        .get("KVs")
        .and_then(Value::as_list)
        .unwrap_or_default();
    let count = range.get("Count").cloned().unwrap_or(Value::Int(0));
    Ok(vec![("kvs".into(), entries(kvs)?), ("count".into(), count)])
}
