//! What can be wrong with a scan, after the properties of Amram et al. (2022), and the sentence on it.

use std::fmt;

/// Why a scan cannot have returned what it did. `T` names operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<T> {
    /// The scan.
    pub scan: T,
    /// The entry in which it is wrong.
    pub entry: u32,
    /// What is wrong there.
    pub kind: FaultKind<T>,
}

/// What a scan got wrong in an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind<T> {
    /// This update had replaced the value before the scan began.
    Stale(T),
    /// No update with the value had begun, or, where what is over is forgotten, all were replaced before the scan began.
    Future {
        /// Whether earlier updates of the entry are forgotten.
        forgets: bool,
    },
    /// This scan had seen a later value before the scan began.
    Decreasing(T),
    /// This scan saw a later value here, and an earlier one in another entry.
    Inversion {
        /// The other scan.
        other: T,
        /// The other entry.
        entry: u32,
    },
    /// An update that had replaced the value had finished before another one began that the scan did see.
    Order {
        /// The update that it should have seen.
        missed: T,
        /// The update that it saw.
        seen: T,
        /// The entry of that.
        entry: u32,
    },
}

impl<T> Fault<T> {
    /// The name of the kind, one word.
    pub fn name(&self) -> &'static str {
        match self.kind {
            FaultKind::Stale(_) => "stale",
            FaultKind::Future { .. } => "future",
            FaultKind::Decreasing(_) => "decreasing",
            FaultKind::Inversion { .. } => "inversion",
            FaultKind::Order { .. } => "order",
        }
    }

    /// The operations beside the scan that are part of the contradiction.
    pub fn others(&self) -> Vec<&T> {
        match &self.kind {
            FaultKind::Stale(other)
            | FaultKind::Decreasing(other)
            | FaultKind::Inversion { other, .. } => {
                vec![other]
            }
            FaultKind::Future { .. } => Vec::new(),
            FaultKind::Order { missed, seen, .. } => vec![missed, seen],
        }
    }

    /// The same fault of operations that have other names.
    pub(crate) fn map<U>(self, name: &dyn Fn(T) -> U) -> Fault<U> {
        Fault {
            scan: name(self.scan),
            entry: self.entry,
            kind: match self.kind {
                FaultKind::Stale(update) => FaultKind::Stale(name(update)),
                FaultKind::Future { forgets } => FaultKind::Future { forgets },
                FaultKind::Decreasing(earlier) => FaultKind::Decreasing(name(earlier)),
                FaultKind::Inversion { other, entry } => FaultKind::Inversion {
                    other: name(other),
                    entry,
                },
                FaultKind::Order {
                    missed,
                    seen,
                    entry,
                } => FaultKind::Order {
                    missed: name(missed),
                    seen: name(seen),
                    entry,
                },
            },
        }
    }

    /// What the sentence compares the value with that the scan shows: the value of this operation in this entry.
    pub(crate) fn compared(&self) -> Option<(&T, u32)> {
        match &self.kind {
            FaultKind::Stale(_) | FaultKind::Future { .. } => None,
            FaultKind::Decreasing(other) | FaultKind::Inversion { other, .. } => {
                Some((other, self.entry))
            }
            FaultKind::Order { entry, .. } => Some((&self.scan, *entry)),
        }
    }

    /// The sentence: `describe` names operations, `returned` tells what a scan returned in an entry.
    pub fn sentence<D: fmt::Display>(
        &self,
        describe: impl Fn(&T) -> D,
        returned: impl Fn(&T, u32) -> String,
    ) -> String {
        let (scan, entry) = (describe(&self.scan), self.entry);
        let wrong = format!(
            "{scan} has {} in entry {entry}",
            returned(&self.scan, entry)
        );
        match &self.kind {
            FaultKind::Stale(update) => format!(
                "{wrong}, although {} had finished before the scan began",
                describe(update)
            ),
            FaultKind::Future { forgets: false } => {
                format!("{wrong}, although no update of that entry with it had begun")
            }
            FaultKind::Future { forgets: true } => format!(
                "{wrong}, although no update of that entry with it had begun, or it had been replaced before the scan began"
            ),
            FaultKind::Decreasing(earlier) => format!(
                "{wrong}, although {} had seen the later value {} there before the scan began",
                describe(earlier),
                returned(earlier, entry)
            ),
            FaultKind::Inversion {
                other,
                entry: ahead,
            } => format!(
                "{wrong}, where {} has the later value {}, although it is ahead of that in entry {ahead}",
                describe(other),
                returned(other, entry)
            ),
            FaultKind::Order {
                missed,
                seen,
                entry: other,
            } => format!(
                "{wrong}, although it has {} in entry {other} and {} had finished before {} began",
                returned(&self.scan, *other),
                describe(missed),
                describe(seen)
            ),
        }
    }
}
