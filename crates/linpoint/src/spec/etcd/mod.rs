//! An etcd store: keys with revisions, transactions, leases and compaction.
//!
//! Every answer carries the revision of the store, which grows by one with each change. It tells where in the order of the
//! store a request took effect, so histories are decided in near-linear time: see [`Spec::hint`].
//!
//! After the model of etcd's robustness tests, `tests/robustness/model` in `etcd-io/etcd`. What it does not say: a lease that
//! expires by itself, and what a key held at an earlier revision.

mod answer;
mod foresight;
mod read;
mod store;

use std::sync::Arc;

use self::foresight::Seen;
use super::{
    AtPlace, CallView, DecodeError, Foresight, Need, Outcomes, Recorded, Role, Sampler, Simulated,
    Spec, Vocabulary,
};
use crate::value::Value;

pub use store::EtcdState;

/// An etcd store.
#[derive(Clone, Debug)]
pub struct Etcd {
    /// The revision at the start; 1 in a new store.
    pub revision: i64,
}

/// A request to an [`Etcd`] store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EtcdOp {
    /// Reads keys.
    Range(Range),
    /// Stores a value.
    Put(Put),
    /// Removes keys.
    Delete(Span),
    /// Makes changes if conditions hold, and others if not.
    Txn(Arc<Txn>),
    /// Makes a lease with this id.
    LeaseGrant(i64),
    /// Ends a lease and removes the keys that are attached to it.
    LeaseRevoke(i64),
    /// Forgets what was before a revision.
    Compact(i64),
    /// Changes nothing that can be seen.
    Defragment,
}

/// Keys from a first one on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first key.
    pub start: Arc<str>,
    /// The first key after those that are meant; `"\0"` for all that follow, `None` for the first key alone.
    pub end: Option<Arc<str>>,
}

/// What to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// The keys.
    pub span: Span,
    /// The most entries that the answer lists.
    pub limit: Option<usize>,
    /// At which revision; the current one for `None`.
    pub revision: Option<i64>,
}

/// What to store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Put {
    /// The key.
    pub key: Arc<str>,
    /// The value.
    pub value: Value,
    /// The lease that the key is attached to; 0 for none.
    pub lease: i64,
}

/// A transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Txn {
    /// All of these must hold.
    pub conditions: Vec<Condition>,
    /// What to do if they do.
    pub then: Vec<Change>,
    /// What to do if they do not.
    pub otherwise: Vec<Change>,
}

/// A part of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Reads keys.
    Range(Range),
    /// Stores a value.
    Put(Put),
    /// Removes keys.
    Delete(Span),
}

/// A condition of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The key.
    pub key: Arc<str>,
    /// What of it is compared.
    pub target: Target,
    /// How.
    pub test: Test,
    /// With what.
    pub operand: Value,
}

/// What of a key a [`Condition`] compares. All but the value are 0 for a missing key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The revision of its last change.
    Modified,
    /// The revision at which it was created.
    Created,
    /// How often it was changed since.
    Version,
    /// Its value.
    Value,
    /// Its lease.
    Lease,
}

/// How a [`Condition`] compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// It is equal.
    Equal,
    /// It is not.
    NotEqual,
    /// It is greater.
    Greater,
    /// It is less.
    Less,
}

impl Spec for Etcd {
    type Op = EtcdOp;
    type Ret = Value;
    type State = EtcdState;

    fn init(&self) -> EtcdState {
        EtcdState::new(self.revision)
    }

    fn apply(&self, state: &EtcdState, op: &EtcdOp) -> Outcomes<Value, EtcdState> {
        let (answer, next) = state.respond(op);
        Outcomes::One(answer.to_value(), next)
    }

    fn step(&self, state: &EtcdState, op: &EtcdOp, ret: Option<&Value>) -> Vec<EtcdState> {
        let (answer, next) = state.respond(op);
        match ret {
            Some(ret) if !answer.fits(ret) => Vec::new(),
            _ => vec![next],
        }
    }

    fn state_value(&self, state: &EtcdState) -> Value {
        state.to_value()
    }

    fn is_pure(&self, op: &EtcdOp, ret: Option<&Value>) -> bool {
        let told = |field: &str| ret.and_then(|ret| ret.get(field));
        let only_reads = |changes: &[Change]| {
            let is_read = |change: &Change| matches!(change, Change::Range(_));
            changes.iter().all(is_read)
        };
        if told("error").is_some() {
            return true;
        }
        match op {
            EtcdOp::Range(_) | EtcdOp::Defragment => true,
            EtcdOp::Delete(_) => told("deleted") == Some(&Value::Int(0)),
            EtcdOp::Txn(txn) => match told("succeeded").and_then(Value::as_bool) {
                Some(true) => only_reads(&txn.then),
                Some(false) => only_reads(&txn.otherwise),
                None => only_reads(&txn.then) && only_reads(&txn.otherwise),
            },
            _ => false,
        }
    }

    fn hint(&self, _: &EtcdOp, ret: Option<&Value>) -> Option<i64> {
        ret?.get("revision")?.as_int()
    }

    fn marks(&self, op: &EtcdOp) -> Vec<Value> {
        match op {
            EtcdOp::Put(put) => vec![mark(&put.key, &put.value)],
            EtcdOp::Txn(txn) => put_marks(txn).collect(),
            _ => Vec::new(),
        }
    }

    fn shows(&self, op: &EtcdOp, ret: &Value) -> Vec<(Value, i64)> {
        let is_refused = ret.get("error").is_some();
        match op {
            EtcdOp::Range(range) => shown_by(range, ret),
            EtcdOp::Txn(txn) if !is_refused => shown_by_parts(txn, ret),
            _ => Vec::new(),
        }
    }

    fn foresight(
        &self,
        answers: &mut dyn Iterator<Item = (&EtcdOp, &Value)>,
    ) -> Option<Box<dyn Foresight<Self>>> {
        Some(Box::new(Seen::of(answers)))
    }

    fn place_initially(&self) -> Option<Value> {
        Some(Value::Nil)
    }

    fn places(&self, op: &EtcdOp, _: Option<&Value>) -> Vec<Value> {
        match op {
            EtcdOp::Range(range) => one_key(&range.span).into_iter().collect(),
            EtcdOp::Put(put) => vec![(&*put.key).into()],
            EtcdOp::Delete(span) => one_key(span).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn at_place(&self, op: &EtcdOp, ret: Option<&Value>, place: &Value) -> AtPlace {
        let told = |field: &str| ret.and_then(|ret| ret.get(field));
        if told("error").is_some() {
            return AtPlace::Nothing;
        }
        match op {
            EtcdOp::Put(put) if Some(&*put.key) != place.as_text() => AtPlace::Nothing,
            // A put may be refused for want of a lease.
            EtcdOp::Put(put) if put.lease == 0 => AtPlace::Does(Role::writes(put.value.clone())),
            EtcdOp::Range(Range {
                span,
                limit: None,
                revision: None,
            }) if one_key(span).is_some() => match told("kvs").and_then(Value::as_list) {
                _ if one_key(span).as_ref() != Some(place) => AtPlace::Nothing,
                Some([]) => AtPlace::Does(Role::reads(Value::Nil)),
                Some([entry]) => match entry.get("value") {
                    Some(value) => AtPlace::Does(Role::reads(value.clone())),
                    None => AtPlace::Unknown,
                },
                _ => AtPlace::Nothing,
            },
            EtcdOp::Delete(span) if one_key(span).is_some() => {
                if one_key(span).as_ref() != Some(place) {
                    return AtPlace::Nothing;
                }
                let needs = match told("deleted") {
                    Some(Value::Int(0)) => Need::Is(Value::Nil),
                    Some(_) => Need::IsNot(Value::Nil),
                    None => Need::Anything,
                };
                AtPlace::Does(Role::Slot {
                    needs,
                    leaves: Some(Value::Nil),
                })
            }
            EtcdOp::LeaseGrant(_) | EtcdOp::Compact(_) | EtcdOp::Defragment => AtPlace::Nothing,
            op if self.is_pure(op, ret) => AtPlace::Nothing,
            _ => AtPlace::Unknown,
        }
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the store",
            put: "put",
            taken: "deleted",
            place: "key",
            took_effect: "took effect at revision",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &EtcdState, _: Option<&Value>) -> String {
        state.words()
    }
}

/// What a put leaves.
fn mark(key: &str, value: &Value) -> Value {
    Value::list([key.into(), value.clone()])
}

/// What the answer of a read shows: keys with their values, and the revisions at which they were put.
fn shown_by(range: &Range, answer: &Value) -> Vec<(Value, i64)> {
    // What keys held at another revision is not compared.
    let entries = match range.revision {
        None => answer.get("kvs").and_then(Value::as_list),
        Some(_) => None,
    };
    let shown = |entry: &Value| {
        let put = entry.get("mod").and_then(Value::as_int)?;
        let key = entry.get("key").and_then(Value::as_text)?;
        Some((mark(key, entry.get("value")?), put))
    };
    entries
        .unwrap_or_default()
        .iter()
        .filter_map(shown)
        .collect()
}

/// What the answer of a transaction shows that it did not put itself.
fn shown_by_parts(txn: &Txn, answer: &Value) -> Vec<(Value, i64)> {
    let changes = match answer.get("succeeded").and_then(Value::as_bool) {
        Some(true) => &txn.then,
        Some(false) => &txn.otherwise,
        None => return Vec::new(),
    };
    let results = answer.get("results").and_then(Value::as_list);
    let parts = changes.iter().zip(results.unwrap_or_default());
    let shown = parts.flat_map(|(change, result)| match change {
        Change::Range(range) => shown_by(range, result),
        _ => Vec::new(),
    });
    let own = |mark: &Value| put_marks(txn).any(|put| put == *mark);
    shown.filter(|(mark, _)| !own(mark)).collect()
}

/// What the puts of a transaction leave.
fn put_marks(txn: &Txn) -> impl Iterator<Item = Value> {
    let changes = txn.then.iter().chain(&txn.otherwise);
    changes.filter_map(|change| match change {
        Change::Put(put) => Some(mark(&put.key, &put.value)),
        _ => None,
    })
}

/// The key, if it is a single one.
fn one_key(span: &Span) -> Option<Value> {
    span.end.is_none().then(|| (&*span.start).into())
}

impl Recorded for Etcd {
    fn decode(&self, call: CallView<'_>) -> Result<EtcdOp, DecodeError> {
        read::request(call)
    }

    fn decode_result(&self, op: &EtcdOp, result: &Value) -> Result<Value, DecodeError> {
        read::answer(op, result)
    }
}

impl Simulated for Etcd {
    fn sample(&self, state: &EtcdState, _: u32, sampler: &mut Sampler) -> (&str, Value) {
        let key = Value::from(sampler.pick(&["a", "b", "c", "d", "e"]));
        let put = |sampler: &mut Sampler, key: &Value| {
            Value::map([
                ("key".into(), key.clone()),
                ("value".into(), sampler.value()),
            ])
        };
        match sampler.below(20) {
            0..8 => ("range", key),
            8..14 => ("put", put(sampler, &key)),
            14..16 => ("delete", key),
            16..18 => {
                let known = state.get(key.as_text().unwrap_or_default());
                let modified = known.map_or(0, |entry| entry.modified);
                let condition =
                    Value::map([("key".into(), key.clone()), ("mod".into(), modified.into())]);
                let then = Value::map([("put".into(), put(sampler, &key))]);
                let otherwise = Value::map([("range".into(), key)]);
                let txn = Value::map([
                    ("if".into(), Value::list([condition])),
                    ("then".into(), Value::list([then])),
                    ("else".into(), Value::list([otherwise])),
                ]);
                ("txn", txn)
            }
            18 => ("range", Value::map([("prefix".into(), "".into())])),
            _ => ("compact", state.revision.into()),
        }
    }
}

#[cfg(test)]
mod tests;
