//! What operations say about locks with owners, semaphores, logs and banks, in terms in which explanations speak of these.

use crate::value::Value;

/// What an operation with its result says about the object. It must be true in every sequential run in which the operation has
/// this result, or may have it while it is pending. No engine relies on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// It took a lock that has one owner at a time. Each token is larger than all before.
    Takes {
        /// The owner.
        owner: Value,
        /// The token, if it is told.
        token: Option<i64>,
        /// Whether an owner can take the lock that holds it already.
        is_reentrant: bool,
    },
    /// It gave back the lock, which only this owner can do that held it.
    Gives {
        /// The owner.
        owner: Value,
    },
    /// It asked for permits of a semaphore.
    Asks {
        /// How many.
        permits: u64,
        /// Whether it got them; a pending operation may get them.
        granted: bool,
    },
    /// It brought permits to a semaphore.
    Brings {
        /// How many.
        permits: u64,
    },
    /// It appended a record to a log. Each offset is larger than all before in that log.
    Sends {
        /// The key of the log.
        log: Value,
        /// The value of the record.
        value: Value,
        /// Its offset, if it is told.
        offset: Option<i64>,
    },
    /// It saw records that stand together in a log.
    Sees {
        /// The key of the log.
        log: Value,
        /// Their offsets and values.
        records: Vec<(i64, Value)>,
    },
    /// It saw all balances of a bank, which no operation brings money into or takes it out of.
    Totals(i128),
}
