//! What the answers of an etcd store tell about the revisions between them.
//!
//! Ours. An answer at revision `r` that shows a key as it was put at revision `m` tells that the change at `m` put it, and that
//! no change after `m`, up to `r`, was on this key. So only few requests without an answer can have made a change that no
//! answer tells.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{Change, Etcd, EtcdOp, EtcdState, Span};
use crate::spec::Foresight;
use crate::value::Value;

type Map<K, V> = HashMap<K, V, FixedState>;

/// What answers show of keys.
#[derive(Default)]
pub(super) struct Seen {
    /// By key: revisions after which it did not change, up to others. Sorted and disjoint.
    unchanged: Map<Arc<str>, Vec<(i64, i64)>>,
    /// By revision: the key that was put, and its value.
    put: Map<i64, Vec<(Arc<str>, Value)>>,
}

impl Seen {
    pub(super) fn of(answers: &mut dyn Iterator<Item = (&EtcdOp, &Value)>) -> Self {
        let mut seen = Seen::default();
        for (op, answer) in answers {
            // What a transaction saw may be what it had put itself.
            if let (EtcdOp::Range(range), Some(revision)) = (op, revision_of(answer))
                && range.revision.is_none()
            {
                seen.note(answer, revision);
            }
        }
        for spans in seen.unchanged.values_mut() {
            spans.sort_unstable();
            spans.dedup_by(|next, kept| {
                let overlaps = next.0 <= kept.1;
                if overlaps {
                    kept.1 = kept.1.max(next.1);
                }
                overlaps
            });
        }
        for puts in seen.put.values_mut() {
            puts.sort();
            puts.dedup();
        }
        seen
    }

    fn note(&mut self, answer: &Value, revision: i64) {
        let entries = answer.get("kvs").and_then(Value::as_list);
        for entry in entries.unwrap_or_default() {
            let key = entry.get("key").and_then(Value::as_text);
            let put = entry.get("mod").and_then(Value::as_int);
            let (Some(key), Some(put)) = (key, put) else {
                continue;
            };
            let key: Arc<str> = key.into();
            let spans = self.unchanged.entry(Arc::clone(&key)).or_default();
            spans.push((put, revision));
            if let Some(value) = entry.get("value") {
                self.put.entry(put).or_default().push((key, value.clone()));
            }
        }
    }

    /// Whether an answer tells that the key did not change at this revision.
    fn is_unchanged(&self, key: &str, revision: i64) -> bool {
        let Some(spans) = self.unchanged.get(key) else {
            return false;
        };
        let after = spans.partition_point(|&(from, _)| from < revision);
        after > 0 && revision <= spans[after - 1].1
    }
}

fn revision_of(answer: &Value) -> Option<i64> {
    answer.get("revision")?.as_int()
}

impl Foresight<Etcd> for Seen {
    fn allows(&self, state: &EtcdState, op: &EtcdOp, next: &EtcdState) -> bool {
        let revision = next.revision;
        if revision == state.revision {
            return true;
        }
        let is_changed = |key: &str| state.get(key) != next.get(key);
        let may_change = |key: &str| !is_changed(key) || !self.is_unchanged(key, revision);
        let puts = self.put.get(&revision).map_or(&[][..], Vec::as_slice);
        let is_as_seen = puts.iter().all(|(key, value)| {
            let entry = next.get(key);
            entry.is_some_and(|entry| entry.modified == revision && entry.value == *value)
        });
        is_as_seen
            && match op {
                EtcdOp::Put(put) => may_change(&put.key),
                EtcdOp::Delete(Span { start, end: None }) => may_change(start),
                EtcdOp::Txn(txn) => {
                    let mut changes = txn.then.iter().chain(&txn.otherwise);
                    changes.all(|change| match change {
                        Change::Put(put) => may_change(&put.key),
                        Change::Delete(Span { start, end: None }) => may_change(start),
                        _ => true,
                    })
                }
                _ => true,
            }
    }
}
