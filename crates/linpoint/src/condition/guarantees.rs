//! Sets of guarantees of sessions.

use std::fmt;

/// A set of guarantees of sessions (Terry et al., 1994), and whether all sessions agree on the order of writes.
///
/// A *visibility* gives each read a set of writes, and each read returns the last one of its key, in an order of the writes: the
/// *arbitration*. A set of guarantees holds if one visibility satisfies all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guarantees {
    bits: u8,
    arbitration: Arbitration,
}

/// Who must agree on which of two writes came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arbitration {
    /// All sessions.
    One,
    /// No two: each session has an order of its own, which is all that it can see by itself.
    Own,
}

const RYW: u8 = 1;
const MR: u8 = 2;
const MW: u8 = 4;
const WFR: u8 = 8;

const NAMES: [(u8, &str, &str); 4] = [
    (RYW, "read-your-writes", "ryw"),
    (MR, "monotonic-reads", "mr"),
    (MW, "monotonic-writes", "mw"),
    (WFR, "writes-follow-reads", "wfr"),
];

impl Guarantees {
    /// A session sees its own writes.
    pub const READ_YOUR_WRITES: Guarantees = Guarantees::one(RYW);
    /// What a session saw once, it sees from then on.
    pub const MONOTONIC_READS: Guarantees = Guarantees::one(MR);
    /// Who sees a write sees the earlier ones of its session. By itself, it forbids next to nothing.
    pub const MONOTONIC_WRITES: Guarantees = Guarantees::one(MW);
    /// Who sees a write sees what its session had seen before. By itself, it forbids next to nothing.
    pub const WRITES_FOLLOW_READS: Guarantees = Guarantees::one(WFR);
    /// All four: the same as [causal convergence](super::Condition::CausalConvergence).
    pub const ALL: Guarantees = Guarantees::one(RYW | MR | MW | WFR);

    const fn one(bits: u8) -> Self {
        let arbitration = Arbitration::One;
        Guarantees { bits, arbitration }
    }

    /// The guarantees of both sets.
    #[must_use]
    pub const fn with(self, more: Guarantees) -> Self {
        let bits = self.bits | more.bits;
        Guarantees { bits, ..self }
    }

    /// The same guarantees, with an arbitration of its own for each session.
    #[must_use]
    pub fn of_each_session(self) -> Self {
        let arbitration = Arbitration::Own;
        Guarantees {
            arbitration,
            ..self
        }
    }

    /// Whether all guarantees of `other` are in this set.
    pub fn contains(self, other: Guarantees) -> bool {
        self.bits & other.bits == other.bits
    }

    /// Who must agree on the order of writes.
    pub fn arbitration(self) -> Arbitration {
        self.arbitration
    }

    /// Every set of guarantees, with each arbitration.
    pub fn every() -> impl Iterator<Item = Guarantees> {
        let one = (1..16).map(Guarantees::one);
        one.flat_map(|set| [set, set.of_each_session()])
    }

    /// The sets that say something that sessions can see: first what they can see by themselves.
    pub fn meaningful() -> impl Iterator<Item = Guarantees> {
        let sets = [
            RYW,
            MR,
            RYW | MR,
            MR | MW,
            RYW | MR | MW,
            RYW | MR | MW | WFR,
        ];
        let own = sets.map(|bits| Guarantees::one(bits).of_each_session());
        own.into_iter().chain(sets.map(Guarantees::one))
    }

    /// The set with this name: guarantees joined by `+`, or `sessions` for all, and `@` at the end if each session has its own
    /// arbitration.
    pub(super) fn named(text: &str) -> Option<Self> {
        let (text, arbitration) = match text.strip_suffix('@') {
            Some(text) => (text, Arbitration::Own),
            None => (text, Arbitration::One),
        };
        let bit = |name: &str| {
            let known = NAMES
                .iter()
                .find(|(_, long, short)| name == *long || name == *short);
            known.map(|&(bit, ..)| bit)
        };
        let bits = match text {
            "sessions" | "all-sessions" => Guarantees::ALL.bits,
            list => list
                .split('+')
                .try_fold(0, |bits, name| Some(bits | bit(name)?))?,
        };
        Some(Guarantees { bits, arbitration })
    }

    fn names(self) -> Vec<&'static str> {
        let named = NAMES.iter().filter(|(bit, ..)| self.bits & bit != 0);
        named.map(|&(_, long, _)| long).collect()
    }

    /// The set as part of a sentence.
    pub(super) fn words(self) -> String {
        let names: Vec<String> = self
            .names()
            .iter()
            .map(|name| name.replace('-', " "))
            .collect();
        let what = match names.as_slice() {
            _ if self.contains(Guarantees::ALL) => "all four session guarantees".to_owned(),
            [only] => only.clone(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
            [] => String::new(),
        };
        match self.arbitration {
            Arbitration::One => format!("{what}, with one order of writes for all sessions"),
            Arbitration::Own => format!("{what}, for each session by itself"),
        }
    }
}

impl fmt::Display for Guarantees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.contains(Guarantees::ALL) {
            true => f.write_str("sessions")?,
            false => f.write_str(&self.names().join("+"))?,
        }
        match self.arbitration {
            Arbitration::One => Ok(()),
            Arbitration::Own => f.write_str("@"),
        }
    }
}
