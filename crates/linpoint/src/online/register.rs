//! A register, or a key of a map: reads, and writes of values that are not written twice at a time.
//!
//! The *cluster* of a value is its write and the reads that saw it: `first` is the first return among them, `latest` the
//! last call. A cluster is before another one if it has a return before a call of the other. **Decides**, at the first
//! event that cannot be explained, by the condition of Gibbons and Korach (1997) in this form: a history is linearizable
//! exactly if no read returned before its write was called, and no two clusters are each before the other.
//!
//! Returns come in the order of time, so `first` is fixed once it is known, and only `latest` grows. Each cluster has a
//! *limit*: the least `first` among the clusters that it is before. A read of its value that was called after the limit
//! is a violation. So once no read is open that was called before its limit, the value cannot come up again, and is
//! forgotten; a later write of the same value is another value.
//!
//! **Requires** that no value is written again before that. **Cost:** logarithmic for each event, on average. **Memory:**
//! what is open, and the values that an open read may still return: with a read that never returns, all values since its
//! call. The condition is theirs; limits, and forgetting by them, are ours.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::{EXPLAINED, Observable, Online, Op, Stop, Time};
use crate::claim::Claim;
use crate::history::precedes;
use crate::spec::{Need, Role};
use crate::value::Value;

/// A monitor of a register.
pub(super) struct Register<O: Observable> {
    initial: Value,
    /// The clusters with a return, by that return.
    clusters: BTreeMap<Time, Cluster<O>>,
    /// The values that may still be read.
    values: HashMap<Value, ValueState<O>>,
    /// When the open reads were called.
    reads: BTreeSet<Time>,
    /// The last clusters that were forgotten. They decide nothing, but explain a late read.
    past: VecDeque<Cluster<O>>,
    /// Whether further ones were forgotten altogether.
    has_forgotten: bool,
}

/// What is known of a value that may still be read.
enum ValueState<O: Observable> {
    /// Its write is pending, and no read has returned it.
    Open(Op<O>),
    /// In the cluster with this first return.
    Seen(Time),
}

struct Cluster<O: Observable> {
    value: Value,
    /// The operation of the first return; `None` for the initial value.
    first: Option<Op<O>>,
    /// The latest call, and its operation.
    latest: (Time, Option<Op<O>>),
    limit: Option<Limit<O>>,
}

/// The first return of a cluster that comes later.
struct Limit<O: Observable> {
    at: Time,
    /// The operation that returned then.
    first: Op<O>,
    /// An operation of that cluster that was called after the first return of this one.
    later: Op<O>,
}

impl<O: Observable> Register<O> {
    pub(super) fn new(initial: Value) -> Self {
        let cluster = Cluster {
            value: initial.clone(),
            first: None,
            latest: (0, None),
            limit: None,
        };
        Register {
            clusters: BTreeMap::from([(0, cluster)]),
            values: HashMap::from([(initial.clone(), ValueState::Seen(0))]),
            reads: BTreeSet::new(),
            past: VecDeque::new(),
            has_forgotten: false,
            initial,
        }
    }

    fn write(&mut self, op: &Op<O>, value: &Value) -> Result<(), Stop<O>> {
        if self.values.contains_key(value) {
            return Err(Stop::cannot_tell(format!(
                "{op} writes what may still be there from before, so that reads do not tell which write they saw"
            )));
        }
        self.values
            .insert(value.clone(), ValueState::Open(Op::clone(op)));
        Ok(())
    }

    /// An operation of the cluster of `value` returned.
    fn observe(&mut self, op: &Op<O>, value: &Value, now: Time) -> Result<(), Stop<O>> {
        let Some(state) = self.values.get_mut(value) else {
            return Err(self.unknown(op, value));
        };
        let at = match state {
            ValueState::Seen(at) => *at,
            ValueState::Open(write) => {
                let cluster = Cluster {
                    value: value.clone(),
                    first: Some(Op::clone(op)),
                    latest: (write.called, Some(Op::clone(write))),
                    limit: None,
                };
                self.clusters.insert(now, cluster);
                *state = ValueState::Seen(now);
                now
            }
        };
        let Some(cluster) = self.clusters.get_mut(&at) else {
            return Ok(());
        };
        if op.called > cluster.latest.0 {
            cluster.latest = (op.called, Some(Op::clone(op)));
            if let Some(limit) = &cluster.limit
                && precedes(limit.at, op.called)
            {
                return Err(contradiction(op, cluster, limit));
            }
        }
        self.limit_others(at);
        Ok(())
    }

    /// A read of a value that is not, or no longer, known.
    fn unknown(&self, op: &Op<O>, value: &Value) -> Stop<O> {
        let past = self.past.iter().rev().find(|past| past.value == *value);
        if let Some(cluster) = past
            && let Some(limit) = &cluster.limit
        {
            return contradiction(op, cluster, limit);
        }
        if self.has_forgotten {
            return Stop::violation(Claim::LongGone {
                op: Op::clone(op),
                key: None,
                value: value.clone(),
            });
        }
        Stop::violation(self.never_written(op, value))
    }

    /// That no write of `value` was called before `op` returned.
    fn never_written(&self, op: &Op<O>, value: &Value) -> Claim<Op<O>> {
        let past = self.past.iter().map(|cluster| &cluster.value);
        // What is pending may not have been written.
        let is_written =
            |(_, state): &(&Value, &ValueState<O>)| matches!(state, ValueState::Seen(_));
        let values = self.values.iter().filter(is_written);
        let written = values.map(|(value, _)| value).chain(past);
        let written = written.filter(|written| **written != self.initial);
        Claim::never_put(Op::clone(op), value, written)
    }

    /// A read returned what `write` was to write, which did not happen.
    fn seen_though_failed(
        &self,
        write: &Op<O>,
        cluster: Option<&Cluster<O>>,
        value: &Value,
    ) -> Stop<O> {
        let reader = cluster.and_then(|cluster| cluster.first.as_ref());
        let claim = match reader {
            Some(reader) => self.never_written(reader, value),
            None => Claim::Contradiction {
                op: Op::clone(write),
                others: Vec::new(),
            },
        };
        Stop::violation(claim).since_failed(write)
    }

    /// Tells the clusters that are before the one at `at`.
    fn limit_others(&mut self, at: Time) {
        let Some(Cluster {
            first: Some(first),
            latest: (latest, Some(later)),
            ..
        }) = self.clusters.get(&at)
        else {
            // Nothing is before the initial value.
            return;
        };
        let (latest, first, later) = (*latest, Op::clone(first), Op::clone(later));
        // A limit holds for all earlier clusters too, except the one that it comes from. So after two different ones that
        // are as low, no earlier cluster has a higher one.
        let mut low = None;
        for (&other, cluster) in self.clusters.range_mut(..latest).rev() {
            match &cluster.limit {
                _ if other == at => {}
                Some(limit) if limit.at <= at => match low {
                    Some(source) if source != limit.at => break,
                    _ => low = Some(limit.at),
                },
                _ => {
                    cluster.limit = Some(Limit {
                        at,
                        first: Op::clone(&first),
                        later: Op::clone(&later),
                    });
                }
            }
        }
    }

    /// Forgets the values that no read can return any more.
    fn forget(&mut self) {
        let oldest_read = self.reads.first().copied().unwrap_or(Time::MAX);
        let is_over = |cluster: &Cluster<O>| {
            cluster
                .limit
                .as_ref()
                .is_some_and(|limit| precedes(limit.at, oldest_read))
        };
        // Limits ascend, except for the cluster that another one's limit comes from: look behind one that stays.
        loop {
            let mut oldest = self.clusters.iter().take(2);
            let found = oldest
                .find(|(_, cluster)| is_over(cluster))
                .map(|(&at, _)| at);
            let Some(cluster) = found.and_then(|at| self.clusters.remove(&at)) else {
                return;
            };
            self.values.remove(&cluster.value);
            if self.past.len() == EXPLAINED {
                self.past.pop_front();
                self.has_forgotten = true;
            }
            self.past.push_back(cluster);
        }
    }
}

fn contradiction<O: Observable>(op: &Op<O>, cluster: &Cluster<O>, limit: &Limit<O>) -> Stop<O> {
    let Limit { first, later, .. } = limit;
    let (op, value) = (Op::clone(op), cluster.value.clone());
    Stop::violation(match &cluster.first {
        None => Claim::Replaced {
            op,
            value,
            before: None,
            by: Op::clone(first),
            until: None,
        },
        Some(before) => Claim::Replaced {
            op,
            value,
            before: Some(Op::clone(before)),
            by: Op::clone(later),
            until: (first.called != later.called).then(|| Op::clone(first)),
        },
    })
}

/// The value that an operation writes; `None` for one that reads.
fn written<O: Observable>(op: &Op<O>) -> Result<Option<&Value>, Stop<O>> {
    match &op.pending_role {
        Role::Opaque => Ok(None),
        Role::Slot {
            needs: Need::Anything,
            leaves: Some(value),
        } => Ok(Some(value)),
        _ => Err(Stop::cannot_tell(format!(
            "{op} is neither a read nor a write"
        ))),
    }
}

impl<O: Observable> Online<O> for Register<O> {
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        match written(op)? {
            Some(value) => self.write(op, value),
            None => {
                self.reads.insert(op.called);
                Ok(())
            }
        }
    }

    fn ret(&mut self, op: &Op<O>, role: &Role, now: Time) -> Result<(), Stop<O>> {
        match (written(op)?, role) {
            (
                None,
                Role::Slot {
                    needs: Need::Is(value),
                    leaves: None,
                },
            ) => {
                self.reads.remove(&op.called);
                self.observe(op, value, now)?;
            }
            (Some(value), role) if *role == op.pending_role => match self.values.get(value) {
                Some(ValueState::Open(write)) if write.called == op.called => {
                    self.observe(op, value, now)?;
                }
                // A read of it has returned before: that return is the first one, and the call of the write is known.
                _ => {}
            },
            _ => {
                return Err(Stop::cannot_tell(format!(
                    "{op} is neither a read nor a write"
                )));
            }
        }
        self.forget();
        Ok(())
    }

    fn fail(&mut self, op: &Op<O>, _: Time) -> Result<(), Stop<O>> {
        let Some(value) = written(op)? else {
            self.crash(op);
            return Ok(());
        };
        match self.values.get(value) {
            Some(ValueState::Open(write)) if write.called == op.called => {
                self.values.remove(value);
                Ok(())
            }
            Some(ValueState::Seen(at)) => {
                let cluster = self.clusters.get(at);
                Err(self.seen_though_failed(op, cluster, value))
            }
            _ => {
                let cluster = self.past.iter().rev().find(|past| past.value == *value);
                Err(self.seen_though_failed(op, cluster, value))
            }
        }
    }

    fn crash(&mut self, op: &Op<O>) {
        self.reads.remove(&op.called);
    }
}
