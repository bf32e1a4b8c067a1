//! Claims about locks with owners, semaphores, logs and banks, which rest on what operations [say](crate::spec::Detail) about these.

use super::sentence::{Describe, all_named};
use crate::value::Value;

/// What is wrong with a lock that has owners, a semaphore, logs or a bank.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Detailed<I> {
    /// An operation got a token or an offset that is not larger than one that was given out before it was called.
    NotLarger {
        /// The operation.
        op: I,
        /// What it got.
        number: i64,
        /// The operation that shows the other number, and returned before `op` was called.
        before: I,
        /// The other number.
        larger: i64,
        /// The log, for offsets.
        log: Option<Value>,
    },
    /// Two operations got the same token.
    TokenTwice {
        /// The operation that returned last.
        op: I,
        /// The other one.
        other: I,
        /// The token.
        token: i64,
    },
    /// An operation took or gave back a lock that another one held all the time.
    HeldBy {
        /// The operation.
        op: I,
        /// The owner that held it.
        owner: Value,
        /// The operation that took it for this owner, and returned before `op` was called. That owner released nothing since.
        since: I,
    },
    /// An operation got more permits than there were.
    TooFewPermits {
        /// The operation.
        op: I,
        /// How many permits it got.
        wanted: u64,
        /// How many there were at first.
        initial: u64,
        /// The operations that had returned with permits before it was called.
        by: Vec<I>,
        /// How many these took.
        taken: u128,
        /// How many permits were brought, or may have been, by operations that were called before it returned.
        brought: u128,
    },
    /// An operation got no permits although there were enough all the time.
    EnoughPermits {
        /// The operation.
        op: I,
        /// How many permits it asked for.
        wanted: u64,
        /// How many there were at first.
        initial: u64,
        /// The operations that had returned from bringing permits before it was called.
        by: Vec<I>,
        /// How many these brought.
        brought: u128,
        /// How many permits operations took, or may have taken, that were called before it returned.
        taken: u128,
    },
    /// An operation saw a record with a value that was not sent to the log by then.
    NotSent {
        /// The operation.
        op: I,
        /// The log.
        log: Value,
        /// The offset of the record.
        offset: i64,
        /// Its value.
        value: Value,
    },
    /// Two operations say that different records have the same offset.
    OtherRecord {
        /// The operation that returned last.
        op: I,
        /// The other one.
        other: I,
        /// The log.
        log: Value,
        /// The offset.
        offset: i64,
        /// The value that `op` has there.
        value: Value,
        /// The value that the other one has there.
        held: Value,
    },
    /// An operation saw two records side by side, and another operation shows one between them.
    Skipped {
        /// The operation.
        op: I,
        /// The other one.
        other: I,
        /// The log.
        log: Value,
        /// The offsets that it saw.
        around: [i64; 2],
        /// The offset between them.
        offset: i64,
        /// The value there.
        value: Value,
    },
    /// Two reads of all balances have different totals.
    OtherTotal {
        /// The read that returned last.
        op: I,
        /// Its total.
        total: i128,
        /// The other read.
        other: I,
        /// The total of that one.
        before: i128,
    },
}

impl<I> Detailed<I> {
    /// The operation that the claim is about.
    pub fn op(&self) -> &I {
        match self {
            Detailed::NotLarger { op, .. }
            | Detailed::TokenTwice { op, .. }
            | Detailed::HeldBy { op, .. }
            | Detailed::TooFewPermits { op, .. }
            | Detailed::EnoughPermits { op, .. }
            | Detailed::NotSent { op, .. }
            | Detailed::OtherRecord { op, .. }
            | Detailed::Skipped { op, .. }
            | Detailed::OtherTotal { op, .. } => op,
        }
    }

    /// The kind of the claim in one word, for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Detailed::NotLarger { log: None, .. } => "token-not-larger",
            Detailed::NotLarger { log: Some(_), .. } => "offset-not-larger",
            Detailed::TokenTwice { .. } => "token-twice",
            Detailed::HeldBy { .. } => "held-by",
            Detailed::TooFewPermits { .. } => "too-few-permits",
            Detailed::EnoughPermits { .. } => "enough-permits",
            Detailed::NotSent { .. } => "not-sent",
            Detailed::OtherRecord { .. } => "other-record",
            Detailed::Skipped { .. } => "skipped",
            Detailed::OtherTotal { .. } => "other-total",
        }
    }

    /// The operations beside the [one](Self::op) that the claim is about.
    pub fn others(&self) -> Vec<&I> {
        match self {
            Detailed::NotLarger { before: other, .. }
            | Detailed::TokenTwice { other, .. }
            | Detailed::HeldBy { since: other, .. }
            | Detailed::OtherRecord { other, .. }
            | Detailed::Skipped { other, .. }
            | Detailed::OtherTotal { other, .. } => vec![other],
            Detailed::TooFewPermits { by, .. } | Detailed::EnoughPermits { by, .. } => {
                by.iter().collect()
            }
            Detailed::NotSent { .. } => Vec::new(),
        }
    }

    pub(super) fn map<J>(self, name: &dyn Fn(I) -> J) -> Detailed<J> {
        let names = |ops: Vec<I>| ops.into_iter().map(name).collect();
        match self {
            Detailed::NotLarger {
                op,
                number,
                before,
                larger,
                log,
            } => Detailed::NotLarger {
                op: name(op),
                number,
                before: name(before),
                larger,
                log,
            },
            Detailed::TokenTwice { op, other, token } => Detailed::TokenTwice {
                op: name(op),
                other: name(other),
                token,
            },
            Detailed::HeldBy { op, owner, since } => Detailed::HeldBy {
                op: name(op),
                owner,
                since: name(since),
            },
            Detailed::TooFewPermits {
                op,
                wanted,
                initial,
                by,
                taken,
                brought,
            } => Detailed::TooFewPermits {
                op: name(op),
                wanted,
                initial,
                by: names(by),
                taken,
                brought,
            },
            Detailed::EnoughPermits {
                op,
                wanted,
                initial,
                by,
                brought,
                taken,
            } => Detailed::EnoughPermits {
                op: name(op),
                wanted,
                initial,
                by: names(by),
                brought,
                taken,
            },
            Detailed::OtherTotal {
                op,
                total,
                other,
                before,
            } => Detailed::OtherTotal {
                op: name(op),
                total,
                other: name(other),
                before,
            },
            _ => self.map_records(name),
        }
    }

    fn map_records<J>(self, name: &dyn Fn(I) -> J) -> Detailed<J> {
        match self {
            Detailed::NotSent {
                op,
                log,
                offset,
                value,
            } => Detailed::NotSent {
                op: name(op),
                log,
                offset,
                value,
            },
            Detailed::OtherRecord {
                op,
                other,
                log,
                offset,
                value,
                held,
            } => Detailed::OtherRecord {
                op: name(op),
                other: name(other),
                log,
                offset,
                value,
                held,
            },
            Detailed::Skipped {
                op,
                other,
                log,
                around,
                offset,
                value,
            } => Detailed::Skipped {
                op: name(op),
                other: name(other),
                log,
                around,
                offset,
                value,
            },
            _ => unreachable!("bug: {} is not about records", self.kind()),
        }
    }

    pub(super) fn sentence(&self, describe: Describe<'_, I>) -> String {
        let what = describe(self.op());
        match self {
            Detailed::NotLarger {
                before,
                larger,
                log: None,
                ..
            } => format!(
                "{what} is impossible: {} had got token {larger} before it was called, and each token is larger than all before",
                describe(before)
            ),
            Detailed::NotLarger {
                before,
                larger,
                log: Some(log),
                ..
            } => format!(
                "{what} is impossible: {}, which had returned before it was called, shows offset {larger} of log {log}, and later records have larger offsets",
                describe(before)
            ),
            Detailed::TokenTwice { other, token, .. } => format!(
                "{what} is impossible: {} got token {token} too, and each token is larger than all before",
                describe(other)
            ),
            Detailed::HeldBy { owner, since, .. } => format!(
                "{what} is impossible: owner {owner} held the lock, since {} had returned before it was called and this owner called no release before it returned",
                describe(since)
            ),
            Detailed::TooFewPermits {
                wanted,
                initial,
                by,
                taken,
                brought,
                ..
            } => {
                let free = match (u128::from(*initial) + brought).saturating_sub(*taken) {
                    0 => "none was free".to_owned(),
                    1 => "at most 1 was free".to_owned(),
                    free => format!("at most {free} were free"),
                };
                let mut counts = vec![format!("{initial} at first")];
                if *brought > 0 {
                    counts.push(format!("at most {brought} released until it returned"));
                }
                if !by.is_empty() {
                    counts.push(format!(
                        "{taken} taken before it was called, by {}",
                        all_named(by, describe)
                    ));
                }
                format!(
                    "{what} is impossible: it takes {}, and {free}: {}",
                    permits(*wanted),
                    counts.join(", ")
                )
            }
            Detailed::EnoughPermits {
                wanted,
                initial,
                by,
                brought,
                taken,
                ..
            } => {
                let free = (u128::from(*initial) + brought).saturating_sub(*taken);
                let were = if free == 1 { "was" } else { "were" };
                let mut counts = vec![format!("{initial} at first")];
                if *taken > 0 {
                    counts.push(format!("at most {taken} taken until it returned"));
                }
                if !by.is_empty() {
                    counts.push(format!(
                        "{brought} released before it was called, by {}",
                        all_named(by, describe)
                    ));
                }
                format!(
                    "{what} is impossible: it asked for {}, and at least {free} {were} free: {}",
                    permits(*wanted),
                    counts.join(", ")
                )
            }
            _ => self.sentence_on_records(&what, describe),
        }
    }

    fn sentence_on_records(&self, what: &str, describe: Describe<'_, I>) -> String {
        match self {
            Detailed::NotSent {
                log, offset, value, ..
            } => format!(
                "{what} is impossible: it has {value} at offset {offset} of log {log}, and {value} had not been sent to that log by then"
            ),
            Detailed::OtherRecord {
                other,
                log,
                offset,
                value,
                held,
                ..
            } => format!(
                "{what} is impossible: it has {value} at offset {offset} of log {log}, where {} has {held}",
                describe(other)
            ),
            Detailed::Skipped {
                other,
                log,
                around: [from, to],
                offset,
                value,
                ..
            } => format!(
                "{what} is impossible: in log {log} it goes from offset {from} to {to} and leaves out offset {offset}, where {} has {value}",
                describe(other)
            ),
            Detailed::OtherTotal {
                total,
                other,
                before,
                ..
            } => format!(
                "{what} is impossible: its balances sum to {total}, and those of {} to {before}; transfers leave the total as it is",
                describe(other)
            ),
            _ => unreachable!("bug: {} is not about records or totals", self.kind()),
        }
    }
}

fn permits(count: u64) -> String {
    match count {
        1 => "1 permit".to_owned(),
        count => format!("{count} permits"),
    }
}
