//! What an etcd store answers, and whether a recorded answer may be it.

use std::sync::Arc;

use super::store::{Entry, Refusal};
use crate::value::Value;

/// An answer. Recorded ones may tell less: a field that is not recorded is not compared.
pub(super) struct Answer {
    /// The revision after the request.
    pub(super) revision: i64,
    pub(super) body: Body,
}

pub(super) enum Body {
    Range {
        entries: Vec<(Arc<str>, Arc<Entry>)>,
        /// How many there are without a limit.
        count: usize,
    },
    Deleted(usize),
    Txn {
        succeeded: bool,
        results: Vec<Body>,
    },
    /// There is nothing to tell.
    Done,
    Refused(Refusal),
    /// The specification does not know it.
    Unknown,
}

impl Answer {
    pub(super) fn to_value(&self) -> Value {
        let revision = ("revision".into(), self.revision.into());
        Value::map(self.body.fields().into_iter().chain([revision]))
    }

    /// Whether the recorded answer, in the form that [`decode_result`](crate::spec::Recorded::decode_result) gives it, is
    /// this one, as far as it tells.
    pub(super) fn fits(&self, recorded: &Value) -> bool {
        let tells = |field: &str| recorded.get(field);
        if tells("revision").is_some_and(|revision| *revision != Value::Int(self.revision)) {
            return false;
        }
        match &self.body {
            // A refused request changed nothing, so it was not persisted.
            Body::Refused(_) => tells("error").is_some(),
            _ if tells("error").is_some() => false,
            body => body.fits(recorded),
        }
    }
}

impl Body {
    fn fields(&self) -> Vec<(Value, Value)> {
        match self {
            Body::Range { entries, count } => {
                let entries = entries.iter().map(|(key, entry)| entry.to_value(key));
                vec![
                    ("kvs".into(), Value::list(entries)),
                    ("count".into(), (*count as i64).into()),
                ]
            }
            Body::Deleted(count) => vec![("deleted".into(), (*count as i64).into())],
            Body::Txn { succeeded, results } => {
                let results = results.iter().map(|result| Value::map(result.fields()));
                vec![
                    ("succeeded".into(), Value::Bool(*succeeded)),
                    ("results".into(), Value::list(results)),
                ]
            }
            Body::Refused(refusal) => vec![("error".into(), refusal.text().into())],
            Body::Done | Body::Unknown => Vec::new(),
        }
    }

    fn fits(&self, recorded: &Value) -> bool {
        let agrees = |field: &str, value: Value| recorded.get(field).is_none_or(|v| *v == value);
        match self {
            Body::Range { entries, count } => {
                agrees("count", (*count as i64).into())
                    && recorded.get("kvs").is_none_or(|kvs| are(kvs, entries))
            }
            Body::Deleted(count) => agrees("deleted", (*count as i64).into()),
            Body::Txn { succeeded, results } => {
                agrees("succeeded", Value::Bool(*succeeded))
                    && recorded.get("results").is_none_or(|recorded| {
                        let recorded = recorded.as_list().unwrap_or_default();
                        recorded.len() == results.len()
                            && results
                                .iter()
                                .zip(recorded)
                                .all(|(one, value)| one.fits(value))
                    })
            }
            Body::Refused(_) => false,
            Body::Done | Body::Unknown => true,
        }
    }
}

/// Whether the recorded entries are these, as far as they tell.
fn are(recorded: &Value, entries: &[(Arc<str>, Arc<Entry>)]) -> bool {
    let recorded = recorded.as_list().unwrap_or_default();
    let is = |(key, entry): &(Arc<str>, Arc<Entry>), value: &Value| {
        let fields = value.as_map().unwrap_or_default();
        fields.iter().all(|(name, value)| match name.as_text() {
            Some("key") => value.as_text() == Some(key),
            Some("value") => *value == entry.value,
            Some("create") => *value == Value::Int(entry.created),
            Some("mod") => *value == Value::Int(entry.modified),
            Some("version") => *value == Value::Int(entry.version),
            Some("lease") => *value == Value::Int(entry.lease),
            _ => false,
        })
    };
    recorded.len() == entries.len()
        && entries
            .iter()
            .zip(recorded)
            .all(|(entry, value)| is(entry, value))
}
