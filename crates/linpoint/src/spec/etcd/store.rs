//! The state of an etcd store, and what requests do to it.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Bound;
use std::sync::Arc;

use foldhash::fast::FixedState;
use rpds::RedBlackTreeMapSync;

use super::answer::{Answer, Body};
use super::{Change, Condition, EtcdOp, Put, Range, Span, Target, Test, Txn};
use crate::spec::words;
use crate::value::Value;

/// A state of an [`Etcd`](super::Etcd).
///
/// States share what they have in common, since a history has as many states as writes.
#[derive(Clone)]
pub struct EtcdState {
    /// The revision of the last change; 1 at first.
    pub(super) revision: i64,
    /// The oldest revision that can be read.
    compacted: i64,
    keys: RedBlackTreeMapSync<Arc<str>, Arc<Entry>>,
    /// The sum of the hashes of all keys with their entries.
    digest: u64,
    leases: Arc<BTreeSet<i64>>,
}

/// What is stored under a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) value: Value,
    /// The revision at which the key was created.
    pub(super) created: i64,
    /// The revision of the last change.
    pub(super) modified: i64,
    /// The number of changes since it was created.
    pub(super) version: i64,
    /// The lease that it is attached to; 0 for none.
    pub(super) lease: i64,
}

impl PartialEq for EtcdState {
    fn eq(&self, other: &Self) -> bool {
        (self.revision, self.digest, self.compacted)
            == (other.revision, other.digest, other.compacted)
            && self.leases == other.leases
            && self.keys == other.keys
    }
}

impl Eq for EtcdState {}

impl Hash for EtcdState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.revision, self.digest, self.compacted, &self.leases).hash(state);
    }
}

impl fmt::Debug for EtcdState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_value())
    }
}

fn hash_of(key: &str, entry: &Entry) -> u64 {
    FixedState::default().hash_one((key, entry))
}

/// Why etcd refuses a request, in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Future,
    Compacted,
    NoLease,
    LeaseExists,
}

impl Refusal {
    pub(super) fn text(self) -> &'static str {
        match self {
            Refusal::Future => "required revision is a future revision",
            Refusal::Compacted => "required revision has been compacted",
            Refusal::NoLease => "requested lease not found",
            Refusal::LeaseExists => "lease already exists",
        }
    }
}

impl EtcdState {
    pub(super) fn new(revision: i64) -> Self {
        EtcdState {
            revision,
            compacted: 0,
            keys: RedBlackTreeMapSync::new_sync(),
            digest: 0,
            leases: Arc::default(),
        }
    }

    /// What a request answers in this state, and the state it leaves.
    pub(super) fn respond(&self, op: &EtcdOp) -> (Answer, EtcdState) {
        let mut next = self.clone();
        let body = match op {
            EtcdOp::Range(range) => self.range_at(range, self.revision),
            EtcdOp::Put(put) => next.change_all(std::slice::from_ref(&Change::Put(put.clone()))),
            EtcdOp::Delete(span) => {
                next.change_all(std::slice::from_ref(&Change::Delete(span.clone())))
            }
            EtcdOp::Txn(txn) => next.transact(txn),
            EtcdOp::LeaseGrant(id) => next.grant(*id),
            EtcdOp::LeaseRevoke(id) => next.revoke(*id),
            EtcdOp::Compact(revision) => next.compact(*revision),
            EtcdOp::Defragment => Body::Done,
        };
        let body = match (op, body) {
            (EtcdOp::Put(_) | EtcdOp::Delete(_), Body::Txn { mut results, .. }) => {
                results.pop().unwrap_or(Body::Done)
            }
            (_, body) => body,
        };
        if let Body::Refused(_) = body {
            next = self.clone();
        }
        let revision = next.revision;
        (Answer { revision, body }, next)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<Entry>> {
        self.keys.get(key)
    }

    fn set(&mut self, key: &Arc<str>, entry: Option<Entry>) {
        if let Some(old) = self.keys.get(key) {
            self.digest = self.digest.wrapping_sub(hash_of(key, old));
        }
        match entry {
            Some(entry) => {
                self.digest = self.digest.wrapping_add(hash_of(key, &entry));
                self.keys.insert_mut(Arc::clone(key), Arc::new(entry));
            }
            None => {
                self.keys.remove_mut(key);
            }
        }
    }

    fn within<'a>(
        &'a self,
        span: &'a Span,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<Entry>)> {
        let start: Bound<&str> = Bound::Included(&span.start);
        let end: Bound<&str> = match &span.end {
            None => Bound::Included(&span.start),
            Some(end) if **end == *"\0" => Bound::Unbounded,
            // A range that ends before it starts is empty.
            Some(end) if **end <= *span.start => Bound::Excluded(&span.start),
            Some(end) => Bound::Excluded(end),
        };
        let is_empty = matches!(end, Bound::Excluded(end) if end <= &*span.start);
        let range = (!is_empty).then(|| self.keys.range::<str, _>((start, end)));
        range.into_iter().flatten()
    }

    /// What a read answers in a request that found the store at the revision `current`.
    fn range_at(&self, range: &Range, current: i64) -> Body {
        match range.revision {
            Some(revision) if revision > current => Body::Refused(Refusal::Future),
            Some(revision) if revision < self.compacted => Body::Refused(Refusal::Compacted),
            // What a key held long ago is not kept.
            Some(revision) if revision != self.revision => Body::Unknown,
            _ => self.range(range),
        }
    }

    fn range(&self, range: &Range) -> Body {
        let found = self.within(&range.span);
        let all: Vec<_> = found
            .map(|(key, entry)| (Arc::clone(key), Arc::clone(entry)))
            .collect();
        let count = all.len();
        let limit = range.limit.unwrap_or(count);
        Body::Range {
            entries: all.into_iter().take(limit).collect(),
            count,
        }
    }

    fn transact(&mut self, txn: &Txn) -> Body {
        let succeeded = txn.conditions.iter().all(|condition| self.meets(condition));
        let changes = if succeeded { &txn.then } else { &txn.otherwise };
        match self.change_all(changes) {
            Body::Txn { results, .. } => Body::Txn { succeeded, results },
            refused => refused,
        }
    }

    /// Makes changes one after the other; all of them have the same revision.
    fn change_all(&mut self, changes: &[Change]) -> Body {
        let current = self.revision;
        let revision = current + 1;
        let mut results = Vec::with_capacity(changes.len());
        for change in changes {
            let result = match change {
                Change::Range(range) => match self.range_at(range, current) {
                    Body::Refused(refusal) => return Body::Refused(refusal),
                    answer => answer,
                },
                Change::Put(put) => {
                    if !self.put(put, revision) {
                        return Body::Refused(Refusal::NoLease);
                    }
                    Body::Done
                }
                Change::Delete(span) => Body::Deleted(self.delete(span, revision)),
            };
            results.push(result);
        }
        Body::Txn {
            succeeded: true,
            results,
        }
    }

    /// Returns `false` if there is no such lease.
    fn put(&mut self, put: &Put, revision: i64) -> bool {
        if put.lease != 0 && !self.leases.contains(&put.lease) {
            return false;
        }
        let old = self.get(&put.key);
        let (created, version) = old.map_or((revision, 0), |old| (old.created, old.version));
        let entry = Entry {
            value: put.value.clone(),
            created,
            modified: revision,
            version: version + 1,
            lease: put.lease,
        };
        self.set(&put.key, Some(entry));
        self.revision = revision;
        true
    }

    fn delete(&mut self, span: &Span, revision: i64) -> usize {
        let found: Vec<Arc<str>> = self.within(span).map(|(key, _)| Arc::clone(key)).collect();
        for key in &found {
            self.set(key, None);
            self.revision = revision;
        }
        found.len()
    }

    fn meets(&self, condition: &Condition) -> bool {
        let entry = self.get(&condition.key);
        let number = |of: fn(&Entry) -> i64| Value::Int(entry.map_or(0, |entry| of(entry)));
        let found = match condition.target {
            Target::Modified => number(|entry| entry.modified),
            Target::Created => number(|entry| entry.created),
            Target::Version => number(|entry| entry.version),
            Target::Lease => number(|entry| entry.lease),
            Target::Value => match entry {
                Some(entry) => entry.value.clone(),
                // A missing key has no value that could be compared.
                None => return false,
            },
        };
        match condition.test {
            Test::Equal => found == condition.operand,
            Test::NotEqual => found != condition.operand,
            Test::Greater => found > condition.operand,
            Test::Less => found < condition.operand,
        }
    }

    fn grant(&mut self, id: i64) -> Body {
        match Arc::make_mut(&mut self.leases).insert(id) {
            true => Body::Done,
            false => Body::Refused(Refusal::LeaseExists),
        }
    }

    fn revoke(&mut self, id: i64) -> Body {
        if !Arc::make_mut(&mut self.leases).remove(&id) {
            return Body::Refused(Refusal::NoLease);
        }
        let attached = self.keys.iter().filter(|(_, entry)| entry.lease == id);
        let attached: Vec<Arc<str>> = attached.map(|(key, _)| Arc::clone(key)).collect();
        let revision = self.revision + 1;
        for key in &attached {
            self.set(key, None);
            self.revision = revision;
        }
        Body::Done
    }

    fn compact(&mut self, revision: i64) -> Body {
        if revision > self.revision {
            return Body::Refused(Refusal::Future);
        }
        if revision <= self.compacted {
            return Body::Refused(Refusal::Compacted);
        }
        self.compacted = revision;
        Body::Done
    }

    pub(super) fn to_value(&self) -> Value {
        let keys = self.keys.iter().map(|(key, entry)| entry.to_value(key));
        let leases = self.leases.iter().map(|&id| Value::Int(id));
        Value::map([
            ("revision".into(), self.revision.into()),
            ("compacted".into(), self.compacted.into()),
            ("keys".into(), Value::list(keys)),
            ("leases".into(), Value::list(leases)),
        ])
    }

    /// The state as a clause.
    pub(super) fn words(&self) -> String {
        let held: Vec<String> = self
            .keys
            .iter()
            .map(|(key, entry)| entry.words(key))
            .collect();
        let held = words::members("the store", held);
        let mut words = format!("{held} at revision {}", self.revision);
        if !self.leases.is_empty() {
            let leases: Vec<String> = self.leases.iter().map(i64::to_string).collect();
            words += &format!(", with the leases {}", leases.join(", "));
        }
        if self.compacted > 0 {
            words += &format!(", compacted up to revision {}", self.compacted);
        }
        words
    }
}

impl Entry {
    fn words(&self, key: &str) -> String {
        let Entry {
            value,
            created,
            modified,
            version,
            lease,
        } = self;
        let mut words = match version {
            1 => format!("{key} = {value} since revision {modified}"),
            _ => format!(
                "{key} = {value} since revision {modified} (version {version}, created at revision {created})"
            ),
        };
        if *lease != 0 {
            words += &format!(" on lease {lease}");
        }
        words
    }

    pub(super) fn to_value(&self, key: &str) -> Value {
        Value::map([
            ("key".into(), key.into()),
            ("value".into(), self.value.clone()),
            ("create".into(), self.created.into()),
            ("mod".into(), self.modified.into()),
            ("version".into(), self.version.into()),
            ("lease".into(), self.lease.into()),
        ])
    }
}
