//! Stores that run transactions. All but the causal one have a log of commits, and differ in what of it a transaction sees.

use std::collections::{HashMap, HashSet};

use super::replicas::{Replicas, Rules};
use super::{Answer, Key, LAG, Request, Store};
use crate::spec::Sampler;
use crate::transaction::Level;

type Steps = [(Key, Option<i64>)];

pub(super) fn store(level: Level, sessions: usize, keys: usize) -> Option<Box<dyn Store>> {
    if level == Level::Causal {
        let rules = Rules {
            is_causal: true,
            is_convergent: true,
        };
        return Some(Box::new(Causal(Replicas::new(rules, sessions, keys))));
    }
    let is_known = matches!(
        level,
        Level::SessionSerializable
            | Level::Serializable
            | Level::SessionSnapshotIsolation
            | Level::SnapshotIsolation
            | Level::Prefix
            | Level::ReadAtomic
            | Level::ReadCommitted
    );
    is_known.then(|| {
        Box::new(Commits {
            level,
            owners: Vec::new(),
            values: vec![Vec::new(); keys],
            seen: vec![0; sessions],
            snapshot: vec![0; sessions],
        }) as Box<dyn Store>
    })
}

struct Commits {
    level: Level,
    /// The session of each commit.
    owners: Vec<usize>,
    /// By key: the commits that wrote it, with the values.
    values: Vec<Vec<(usize, i64)>>,
    /// By session: how many commits its transactions are bound to see.
    seen: Vec<usize>,
    /// By session: how many commits its open transaction sees.
    snapshot: Vec<usize>,
}

impl Commits {
    /// The last value of a key among the first so many commits, without those that are hidden.
    fn read(&self, key: Key, commits: usize, hidden: &HashSet<usize>) -> Option<i64> {
        let values = &self.values[key];
        let visible = values.partition_point(|&(commit, _)| commit < commits);
        let mut visible = values[..visible].iter().rev();
        let last = visible.find(|(commit, _)| !hidden.contains(commit));
        last.map(|&(_, value)| value)
    }

    /// How many commits a read sees that is as old as is allowed.
    fn some_time_ago(&self, sampler: &mut Sampler) -> usize {
        self.owners.len().saturating_sub(sampler.below(LAG))
    }

    /// Commits that a transaction of a session does not see, of the latest.
    fn hidden(&self, session: usize, sampler: &mut Sampler) -> HashSet<usize> {
        let latest = self.owners.len().saturating_sub(LAG)..self.owners.len();
        latest
            .filter(|&commit| self.owners[commit] != session && sampler.percent(40))
            .collect()
    }

    fn run(&self, session: usize, steps: &Steps, sampler: &mut Sampler) -> Vec<Option<i64>> {
        let is_read_only = steps.iter().all(|(_, written)| written.is_none());
        let mut commits = match self.level {
            Level::ReadCommitted => self.some_time_ago(sampler),
            Level::ReadAtomic => self.owners.len(),
            Level::SessionSerializable | Level::Serializable if !is_read_only => self.owners.len(),
            _ => self.snapshot[session],
        };
        let hidden = match self.level {
            Level::ReadAtomic => self.hidden(session, sampler),
            _ => HashSet::new(),
        };
        let mut own: HashMap<Key, i64> = HashMap::new();
        let mut seen = Vec::with_capacity(steps.len());
        for &(key, written) in steps {
            if self.level == Level::ReadCommitted {
                commits += sampler.below(self.owners.len() - commits + 1);
            }
            seen.push(match (written, own.get(&key)) {
                (Some(value), _) => {
                    own.insert(key, value);
                    None
                }
                (None, Some(&value)) => Some(value),
                (None, None) => self.read(key, commits, &hidden),
            });
        }
        seen
    }

    /// Whether another transaction wrote a key of these since the snapshot of the session was taken.
    fn conflicts(&self, session: usize, steps: &Steps) -> bool {
        let mut written = steps.iter().filter(|(_, written)| written.is_some());
        written.any(|(key, _)| {
            let last = self.values[*key].last();
            last.is_some_and(|&(commit, _)| commit >= self.snapshot[session])
        })
    }
}

impl Store for Commits {
    fn call(&mut self, session: usize, _: &Request, sampler: &mut Sampler) {
        let keeps_sessions = self.level.keeps_sessions();
        let least = if keeps_sessions {
            self.seen[session]
        } else {
            0
        };
        self.snapshot[session] = self.some_time_ago(sampler).max(least);
    }

    fn answer(&mut self, session: usize, request: &Request, sampler: &mut Sampler) -> Answer {
        let Request::Transaction(steps) = request else {
            return Answer::Aborted;
        };
        let has_snapshot = matches!(
            self.level,
            Level::SnapshotIsolation | Level::SessionSnapshotIsolation
        );
        if has_snapshot && self.conflicts(session, steps) {
            return Answer::Aborted;
        }
        let seen = self.run(session, steps, sampler);
        let commit = self.owners.len();
        let mut last: HashMap<Key, i64> = HashMap::new();
        for &(key, written) in steps {
            if let Some(value) = written {
                last.insert(key, value);
            }
        }
        self.seen[session] = self.seen[session].max(self.snapshot[session]);
        if !last.is_empty() {
            self.owners.push(session);
            for (key, value) in last {
                self.values[key].push((commit, value));
            }
            self.seen[session] = commit + 1;
        }
        Answer::Read(seen)
    }
}

/// A store with a copy for each session.
struct Causal(Replicas);

impl Store for Causal {
    fn answer(&mut self, session: usize, request: &Request, sampler: &mut Sampler) -> Answer {
        let Request::Transaction(steps) = request else {
            return Answer::Aborted;
        };
        self.0.receive(session, sampler);
        let mut own: HashMap<Key, i64> = HashMap::new();
        let mut seen = Vec::with_capacity(steps.len());
        for &(key, written) in steps {
            seen.push(match (written, own.get(&key)) {
                (Some(value), _) => {
                    own.insert(key, value);
                    None
                }
                (None, Some(&value)) => Some(value),
                (None, None) => self.0.read(session, key),
            });
        }
        if !own.is_empty() {
            self.0.send(session, own.into_iter().collect());
        }
        Answer::Read(seen)
    }
}
