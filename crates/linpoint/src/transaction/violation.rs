//! What is wrong with a history, by the names of the literature.

use std::fmt;

use crate::history::OpId;

/// A kind of anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Anomaly {
    /// A transaction does not see what it wrote itself.
    Internal,
    /// A transaction reads what it writes later.
    FutureRead,
    /// A transaction reads what no transaction wrote.
    ThinAir,
    /// G1a: a transaction reads what an aborted one wrote.
    AbortedRead,
    /// G1b: a transaction reads what its writer overwrote.
    IntermediateRead,
    /// An element stands twice in a list.
    DuplicateElement,
    /// Of two lists of one key, none is the beginning of the other.
    IncompatibleOrder,
    /// A list has two appends of one transaction in the other order, or the later one alone.
    OwnOrder,
    /// A transaction reads two versions of a key, neither of its own.
    NonRepeatableRead,
    /// G0: a cycle of writes.
    G0,
    /// G1c: a cycle of writes and reads of them.
    G1c,
    /// Two transactions read the same version of a key, and both write the key.
    LostUpdate,
    /// G-single: a cycle with one read of a version that was overwritten.
    GSingle,
    /// A cycle in which no two reads of versions that were overwritten follow each other: what snapshot isolation forbids.
    GNonadjacent,
    /// G2-item: a cycle with reads of versions that were overwritten.
    G2Item,
    /// A transaction sees an effect of another one, and then what was there before.
    NonMonotonicRead,
    /// A transaction sees one effect of another one and not another effect.
    FracturedRead,
    /// A transaction does not see what it depends on.
    CausalityViolation,
    /// No order explains the reads: all were tried.
    NoOrder,
}

impl Anomaly {
    /// The name, for machines too.
    pub fn name(self) -> &'static str {
        match self {
            Anomaly::Internal => "internal",
            Anomaly::FutureRead => "future-read",
            Anomaly::ThinAir => "thin-air",
            Anomaly::AbortedRead => "G1a",
            Anomaly::IntermediateRead => "G1b",
            Anomaly::DuplicateElement => "duplicate-element",
            Anomaly::IncompatibleOrder => "incompatible-order",
            Anomaly::OwnOrder => "own-order",
            Anomaly::NonRepeatableRead => "non-repeatable-read",
            Anomaly::G0 => "G0",
            Anomaly::G1c => "G1c",
            Anomaly::LostUpdate => "lost-update",
            Anomaly::GSingle => "G-single",
            Anomaly::GNonadjacent => "G-nonadjacent",
            Anomaly::G2Item => "G2-item",
            Anomaly::NonMonotonicRead => "non-monotonic-read",
            Anomaly::FracturedRead => "fractured-read",
            Anomaly::CausalityViolation => "causality-violation",
            Anomaly::NoOrder => "no-order",
        }
    }

    /// What it is, as a part of a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Anomaly::Internal => "a transaction does not see what it wrote itself",
            Anomaly::FutureRead => "a transaction sees what it writes later",
            Anomaly::ThinAir => "a transaction sees what no transaction wrote",
            Anomaly::AbortedRead => "aborted read",
            Anomaly::IntermediateRead => "intermediate read",
            Anomaly::DuplicateElement => "an element stands twice in a list",
            Anomaly::IncompatibleOrder => "two reads disagree on the order of a list",
            Anomaly::OwnOrder => "a list does not keep the order of a transaction",
            Anomaly::NonRepeatableRead => "a transaction sees two versions of a key",
            Anomaly::G0 => "write cycle",
            Anomaly::G1c => "circular information flow",
            Anomaly::LostUpdate => "lost update",
            Anomaly::GSingle => "a cycle with one anti-dependency",
            Anomaly::GNonadjacent => "a cycle without adjacent anti-dependencies",
            Anomaly::G2Item => "a cycle with anti-dependencies",
            Anomaly::NonMonotonicRead => {
                "a transaction sees an effect of another one, then an older version"
            }
            Anomaly::FracturedRead => {
                "a transaction sees a part of another one, or misses an earlier one of its session"
            }
            Anomaly::CausalityViolation => "a transaction does not see what happened before it",
            Anomaly::NoOrder => "no order explains the reads",
        }
    }
}

/// Which orders a cycle needs besides what was read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Variant {
    /// None.
    Plain,
    /// The order of sessions.
    Process,
    /// The order of time.
    Realtime,
}

/// A transaction that a violation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Member {
    /// An operation of the history.
    Op(OpId),
    /// One that failed: its number in [`History::failed`](crate::History::failed).
    Failed(usize),
}

/// Why one transaction comes before another one, as part of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The transactions: positions in [`Violation::members`].
    pub from: usize,
    /// The later one.
    pub to: usize,
    /// `ww`, `wr`, `rw`, `session`, `time` or `order`.
    pub kind: &'static str,
    /// Why, in words, with transactions called T1, T2, ... by their positions.
    pub reason: String,
}

/// Why a level does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// What is wrong.
    pub anomaly: Anomaly,
    /// Which orders it needs.
    pub variant: Variant,
    /// The transactions that it names: T1, T2, ...
    pub members: Vec<Member>,
    /// What is wrong, in words.
    pub sentence: String,
    /// The cycle, if it is one: each edge begins where the one before it ends.
    pub cycle: Vec<Edge>,
    /// Whether no smaller core of this kind exists.
    pub is_smallest: bool,
}

impl Violation {
    /// The anomaly with its variant: `G-single-process`.
    pub fn name(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.anomaly.name())?;
        match self.variant {
            Variant::Plain => Ok(()),
            Variant::Process => f.write_str("-process"),
            Variant::Realtime => f.write_str("-realtime"),
        }
    }
}
