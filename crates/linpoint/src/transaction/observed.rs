//! What transactions show of each other: who reads from whom, who writes what, in which session.

use super::log::{Action, Log, Outcome, Txn};
use super::table::Table;

/// A read that shows what another transaction left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) key: u32,
    /// The transaction, or [`Observed::initial`].
    pub(super) from: Txn,
}

/// What the transactions that count show of each other. Those count that committed, and those of unknown outcome of which
/// something was read: an unread one explains nothing, and can be ordered last.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    /// The transactions that count, in the order of their calls.
    pub(super) txns: Vec<Txn>,
    /// The number of the transaction that left the initial values; it is no other transaction.
    pub(super) initial: Txn,
    pub(super) keys: usize,
    /// External reads by transaction, in the order of its steps.
    pub(super) reads: Table<Read>,
    /// The keys that each transaction writes, sorted.
    pub(super) writes: Table<u32>,
    /// The transactions that count of each session, in order.
    pub(super) sessions: Table<Txn>,
    /// By transaction: its session, and its position there.
    pub(super) place: Vec<(u32, u32)>,
}

/// What a transaction shows that no order of transactions explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It does not see what it wrote itself.
    Internal { txn: Txn, step: usize },
    /// It sees what it writes later.
    Future { txn: Txn, step: usize, value: u32 },
    /// It sees what no transaction wrote.
    ThinAir { txn: Txn, step: usize, value: u32 },
    /// It sees what an aborted transaction wrote.
    Aborted {
        txn: Txn,
        step: usize,
        value: u32,
        writer: Txn,
    },
    /// It sees what its writer overwrote, or followed by another append.
    Intermediate {
        txn: Txn,
        step: usize,
        value: u32,
        writer: Txn,
    },
    /// An element stands twice in a list.
    Duplicate { txn: Txn, step: usize, value: u32 },
    /// Of two lists of one key, none is the beginning of the other.
    Incompatible {
        first: (Txn, usize),
        second: (Txn, usize),
    },
    /// Two appends of a transaction stand in a list in the other order, or the later one without the earlier one.
    OwnOrder {
        txn: Txn,
        step: usize,
        writer: Txn,
        earlier: u32,
        later: u32,
    },
    /// It reads a key twice and sees two versions, neither of its own.
    Unrepeatable {
        txn: Txn,
        first: usize,
        second: usize,
    },
}

/// Why the algorithms cannot tell who reads from whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repeated {
    pub(super) key: u32,
    pub(super) value: u32,
    /// The transactions that write the value; the first is none if it is the initial one.
    pub(super) writers: (Option<Txn>, Txn),
}

/// What keeps a history from having an [`Observed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    Flaw(Flaw),
    Repeated(Repeated),
}

impl Observed {
    /// The transaction before this one in its session.
    pub(super) fn previous(&self, txn: Txn) -> Option<Txn> {
        let (session, position) = self.place[txn as usize];
        let before = (position as usize).checked_sub(1)?;
        Some(self.sessions.row(session as usize)[before])
    }

    pub(super) fn in_session_order(&self, a: Txn, b: Txn) -> bool {
        let (a, b) = (self.place[a as usize], self.place[b as usize]);
        a.0 == b.0 && a.1 < b.1
    }

    pub(super) fn reads(&self, txn: Txn) -> &[Read] {
        self.reads.row(txn as usize)
    }

    pub(super) fn writes(&self, txn: Txn) -> &[u32] {
        self.writes.row(txn as usize)
    }

    pub(super) fn has_write(&self, txn: Txn, key: u32) -> bool {
        self.writes(txn).binary_search(&key).is_ok()
    }

    /// The number of the place of a write among all, with that of the initial one of each key after them.
    pub(super) fn slot(&self, txn: Txn, key: u32) -> Option<usize> {
        if txn == self.initial {
            return Some(self.writes.items().len() + key as usize);
        }
        let position = self.writes(txn).binary_search(&key).ok()?;
        Some(self.writes.range(txn as usize).start + position)
    }

    pub(super) fn slots(&self) -> usize {
        self.writes.items().len() + self.keys
    }

    /// Joins reads by transaction with the writes of those that count.
    pub(super) fn new(log: &Log<'_>, reads: Table<Read>) -> Self {
        let ops = log.ops();
        let mut counts: Vec<bool> = (0..ops as Txn)
            .map(|txn| log.outcome(txn) == Outcome::Committed)
            .collect();
        for read in reads.items() {
            if let Some(counts) = counts.get_mut(read.from as usize) {
                *counts = true;
            }
        }
        Observed::among(log, reads, &counts)
    }

    /// The same for a choice of the transactions that count.
    pub(super) fn among(log: &Log<'_>, reads: Table<Read>, counts: &[bool]) -> Self {
        let ops = log.ops();
        let mut writes: Table<u32> = Table::default();
        for (txn, &counts) in counts.iter().enumerate() {
            if counts {
                for step in log.steps(txn as Txn) {
                    if let Action::Write(_) = step.action {
                        writes.push(step.key);
                    }
                }
                let row = writes.last_row();
                row.sort_unstable();
                let mut distinct = 0;
                for i in 0..row.len() {
                    if i == 0 || row[i] != row[distinct - 1] {
                        row[distinct] = row[i];
                        distinct += 1;
                    }
                }
                writes.shorten_last_row(distinct);
            }
            writes.end_row();
        }
        let txns: Vec<Txn> = (0..ops as Txn)
            .filter(|&txn| counts[txn as usize])
            .collect();
        let processes = log.history.process_column();
        let sessions = Table::of(
            log.history.processes().len(),
            txns.iter().map(|&txn| (processes[txn as usize].0, txn)),
        );
        let mut place = vec![(u32::MAX, 0); ops];
        for session in 0..sessions.rows() {
            for (position, &txn) in sessions.row(session).iter().enumerate() {
                place[txn as usize] = (session as u32, position as u32);
            }
        }
        Observed {
            txns,
            initial: ops as Txn,
            keys: log.key_count(),
            reads,
            writes,
            sessions,
            place,
        }
    }
}
