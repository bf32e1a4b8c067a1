//! Isolation levels, and which of them follow from which.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, did_you_mean};

/// An isolation level of transactions.
///
/// Each level but `pl-2` asks for a total order of the committed transactions, in which each reads what the level lets it read. Levels
/// with sessions ask that the order keeps the order of each process besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// Adya's PL-2, of lists only: no cycle of dependencies, nothing aborted or intermediate is read.
    Pl2,
    /// Within a transaction, what is read later is not older than what was read before.
    ReadCommitted,
    /// A transaction sees all writes of another one or none, and those of its session.
    ReadAtomic,
    /// A transaction sees all that what it sees depends on.
    Causal,
    /// A transaction sees a prefix of one order of all commits.
    Prefix,
    /// A transaction reads a snapshot, and of two concurrent ones that write the same key only one commits.
    SnapshotIsolation,
    /// The same, and a session sees its own earlier commits.
    SessionSnapshotIsolation,
    /// As if the transactions ran one after the other.
    Serializable,
    /// The same, in an order that keeps the order of each session.
    SessionSerializable,
    /// The same, in an order that keeps the order of time: linearizable.
    StrictSerializable,
}

impl Level {
    /// All levels by name, the weakest first.
    pub const NAMES: [(&'static str, Level); 10] = [
        ("pl-2", Level::Pl2),
        ("read-committed", Level::ReadCommitted),
        ("read-atomic", Level::ReadAtomic),
        ("causal", Level::Causal),
        ("prefix", Level::Prefix),
        ("snapshot-isolation", Level::SnapshotIsolation),
        (
            "session-snapshot-isolation",
            Level::SessionSnapshotIsolation,
        ),
        ("serializable", Level::Serializable),
        ("session-serializable", Level::SessionSerializable),
        ("strict-serializable", Level::StrictSerializable),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        let named = Level::NAMES.iter().find(|(_, level)| *level == self);
        named.map_or("", |(name, _)| name)
    }

    /// What the level asks, as a part of a sentence: "the transactions ...".
    pub fn meaning(self) -> &'static str {
        match self {
            Level::Pl2 => "do not depend on themselves, by writes and reads",
            Level::ReadCommitted => "read nothing older than what they read before",
            Level::ReadAtomic => "see other transactions whole or not at all",
            Level::Causal => "see all that what they see depends on",
            Level::Prefix => "see a prefix of one order of commits",
            Level::SnapshotIsolation => {
                "read snapshots, and concurrent ones write no common key; sessions may be out of order"
            }
            Level::SessionSnapshotIsolation => {
                "read snapshots that have the session's own commits, and concurrent ones write no common key"
            }
            Level::Serializable => "run one after the other; sessions may be out of order",
            Level::SessionSerializable => {
                "run one after the other, those of a session in its order"
            }
            Level::StrictSerializable => "run one after the other, in the order of time",
        }
    }

    /// The levels that follow from this one in one step.
    fn weaker(self) -> &'static [Level] {
        match self {
            Level::StrictSerializable => &[Level::SessionSerializable],
            Level::SessionSerializable => &[Level::Serializable, Level::SessionSnapshotIsolation],
            Level::Serializable => &[Level::SnapshotIsolation],
            Level::SessionSnapshotIsolation => &[Level::SnapshotIsolation, Level::Prefix],
            Level::Prefix => &[Level::Causal],
            Level::Causal => &[Level::ReadAtomic],
            Level::ReadAtomic => &[Level::ReadCommitted],
            Level::ReadCommitted => &[Level::Pl2],
            Level::SnapshotIsolation => &[Level::Pl2],
            Level::Pl2 => &[],
        }
    }

    /// Whether every history that has this level has the other one too.
    pub fn implies(self, other: Level) -> bool {
        self == other || self.weaker().iter().any(|weaker| weaker.implies(other))
    }

    /// Whether the order of the transactions keeps that of each session.
    pub fn keeps_sessions(self) -> bool {
        !matches!(
            self,
            Level::Pl2 | Level::SnapshotIsolation | Level::Serializable
        )
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Level::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|&(_, level)| level).ok_or_else(|| {
            let known: Vec<_> = Level::NAMES.iter().map(|(name, _)| *name).collect();
            let meant = did_you_mean(name, known.iter().copied());
            let known = known.join(", ");
            Error::usage(format!(
                "unknown isolation level {name:?}; {meant}known are {known}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (name, level) in Level::NAMES {
            assert_eq!(name.parse::<Level>().unwrap(), level);
            assert_eq!(level.to_string(), name);
        }
        let error = "serialisable".parse::<Level>().unwrap_err();
        assert!(error.reason().contains("serializable"), "{error}");
    }

    #[test]
    fn strict_serializability_implies_every_level() {
        for (_, level) in Level::NAMES {
            assert!(Level::StrictSerializable.implies(level));
            assert!(level.implies(Level::Pl2));
        }
        assert!(!Level::Serializable.implies(Level::ReadAtomic));
        assert!(!Level::SnapshotIsolation.implies(Level::Causal));
    }
}
