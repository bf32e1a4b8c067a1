//! Replays witnesses, with the recorded steps alone.

use crate::history::OpId;

use super::level::Level;
use super::lists::Versions;
use super::log::{Action, Log, Outcome, Txn};
use super::observed::Observed;
use super::weak::happened_before;

/// Why a level holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Witness {
    /// The transactions one after the other, in this order, read what they read. Of the levels below snapshot isolation: this order
    /// of the commits explains every read as the level asks.
    Order(Vec<OpId>),
    /// The transactions start and commit in this order; each reads what was committed when it started, and its own writes.
    Schedule(Vec<Moment>),
}

/// A moment of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moment {
    /// The transaction takes its snapshot.
    Start(OpId),
    /// Its writes become visible.
    Commit(OpId),
}

impl Moment {
    /// The transaction.
    pub fn op(self) -> OpId {
        let (Moment::Start(id) | Moment::Commit(id)) = self;
        id
    }
}

/// What the keys hold: a register its value, a list its elements.
struct Store<'a, 'h> {
    log: &'a Log<'h>,
    registers: Vec<u32>,
    lists: Vec<Vec<u32>>,
    /// What the transaction at hand wrote.
    own: Vec<(u32, u32)>,
}

impl<'a, 'h> Store<'a, 'h> {
    fn new(log: &'a Log<'h>) -> Self {
        Store {
            log,
            registers: vec![log.initial; log.key_count()],
            lists: vec![Vec::new(); log.key_count()],
            own: Vec::new(),
        }
    }

    /// Whether a transaction that starts now reads what it read.
    fn explains(&mut self, txn: Txn) -> bool {
        self.own.clear();
        let log = self.log;
        log.steps(txn).iter().all(|step| {
            let own = self.own.iter().filter(|(key, _)| *key == step.key);
            let mut own = own.map(|(_, value)| *value);
            match step.action {
                Action::Write(value) => {
                    self.own.push((step.key, value));
                    true
                }
                Action::Read(value) => {
                    let held = self.registers[step.key as usize];
                    own.next_back().unwrap_or(held) == value
                }
                Action::ReadList { start, length } => {
                    let held = &self.lists[step.key as usize];
                    let list = log.list(start, length);
                    list.get(..held.len()) == Some(held)
                        && own.eq(list[held.len()..].iter().copied())
                }
                Action::ReadUnknown => true,
            }
        })
    }

    fn commit(&mut self, txn: Txn) {
        for step in self.log.steps(txn) {
            if let Action::Write(value) = step.action {
                self.registers[step.key as usize] = value;
                self.lists[step.key as usize].push(value);
            }
        }
    }
}

/// Whether each committed transaction is there once, each of unknown outcome at most once, and no other one.
fn is_complete(log: &Log<'_>, order: impl Iterator<Item = Txn>) -> bool {
    let mut count = vec![0u8; log.ops()];
    for txn in order {
        match count.get_mut(txn as usize) {
            Some(count) => *count = count.saturating_add(1),
            None => return false,
        }
    }
    (0..log.ops() as Txn).all(|txn| match log.outcome(txn) {
        Outcome::Committed => count[txn as usize] == 1,
        Outcome::Unknown => count[txn as usize] <= 1,
        Outcome::Aborted => false,
    })
}

/// Whether the transactions of each session are in its order.
fn keeps_sessions(log: &Log<'_>, order: impl Iterator<Item = Txn>) -> bool {
    let processes = log.history.process_column();
    let mut last: Vec<Option<Txn>> = vec![None; log.history.processes().len()];
    // Operations are numbered in the order of their calls.
    order.into_iter().all(|txn| {
        let last = &mut last[processes[txn as usize].0 as usize];
        last.replace(txn).is_none_or(|last| last < txn)
    })
}

/// Whether no transaction comes after one that was called after it had returned.
fn keeps_time(log: &Log<'_>, order: &[Txn]) -> bool {
    let (calls, rets) = (log.history.calls(), log.history.rets());
    let mut latest = 0;
    order.iter().all(|&txn| {
        latest = latest.max(calls[txn as usize]);
        rets[txn as usize] >= latest
    })
}

/// Whether the transactions, one after the other in this order, read what they read, as this level asks.
pub(super) fn is_serial(log: &Log<'_>, level: Level, order: &[Txn]) -> bool {
    let mut store = Store::new(log);
    let explains = order.iter().all(|&txn| {
        let explains = store.explains(txn);
        store.commit(txn);
        explains
    });
    explains
        && is_complete(log, order.iter().copied())
        && (!level.keeps_sessions() || keeps_sessions(log, order.iter().copied()))
        && (level != Level::StrictSerializable || keeps_time(log, order))
}

/// Whether the schedule is one of snapshot isolation, with or without sessions, or of prefix consistency, and explains the reads.
pub(super) fn is_schedule(log: &Log<'_>, level: Level, schedule: &[Moment]) -> bool {
    let mut store = Store::new(log);
    let mut started: Vec<Option<usize>> = vec![None; log.ops()];
    let mut committed: Vec<Option<usize>> = vec![None; log.key_count()];
    let mut open_sessions = vec![false; log.history.processes().len()];
    let processes = log.history.process_column();
    for (now, &moment) in schedule.iter().enumerate() {
        let (Moment::Start(id) | Moment::Commit(id)) = moment;
        let Some(process) = processes.get(id.index()) else {
            return false;
        };
        let is_open = &mut open_sessions[process.0 as usize];
        match moment {
            Moment::Start(_) => {
                if started[id.index()].replace(now).is_some() || !store.explains(id.0) {
                    return false;
                }
                if level.keeps_sessions() && std::mem::replace(is_open, true) {
                    return false;
                }
            }
            Moment::Commit(_) => {
                let Some(start) = started[id.index()] else {
                    return false;
                };
                *is_open = false;
                for step in log.steps(id.0) {
                    if let Action::Write(_) = step.action {
                        let last = &mut committed[step.key as usize];
                        let is_concurrent = last.is_some_and(|last| start < last && last != now);
                        if is_concurrent && level != Level::Prefix {
                            return false;
                        }
                        *last = Some(now);
                    }
                }
                store.commit(id.0);
            }
        }
    }
    let of = |wanted: fn(&Moment) -> Option<OpId>| {
        let ids = schedule.iter().filter_map(wanted);
        ids.map(|id| id.0)
    };
    let starts = || {
        of(|moment| match moment {
            Moment::Start(id) => Some(*id),
            Moment::Commit(_) => None,
        })
    };
    let commits = || {
        of(|moment| match moment {
            Moment::Commit(id) => Some(*id),
            Moment::Start(_) => None,
        })
    };
    is_complete(log, starts())
        && is_complete(log, commits())
        && starts().count() == commits().count()
        && (!level.keeps_sessions() || keeps_sessions(log, starts()))
}

/// Up to this many transactions, causal consistency is replayed by walking back from each.
const MOST_WALKED: usize = 2000;

/// Whether all that a transaction sees when it does the read of this number satisfies a test.
type Seen<'a> = &'a mut dyn FnMut(usize, &mut dyn FnMut(Txn) -> bool) -> bool;

/// Whether the order of commits explains each read as a level below snapshot isolation asks; `None` if there are too many
/// transactions to tell.
pub(super) fn is_commit_order(
    log: &Log<'_>,
    observed: &Observed,
    versions: Option<&Versions>,
    level: Level,
    order: &[Txn],
) -> Option<bool> {
    let mut place = vec![0u32; observed.place.len() + 1];
    for (i, &txn) in order.iter().enumerate() {
        place[txn as usize] = i as u32 + 1;
    }
    let is_after = |a: Txn, b: Txn| place[a as usize] > place[b as usize];
    let has_reads_after = observed.txns.iter().all(|&txn| {
        let reads = observed.reads(txn).iter();
        reads.into_iter().all(|read| is_after(txn, read.from))
    });
    let has_lists = versions.is_none_or(|versions| {
        (0..observed.keys).all(|key| {
            let (seen, unseen) = (versions.seen.row(key), versions.unseen.row(key));
            seen.windows(2).all(|pair| !is_after(pair[0], pair[1]))
                && seen
                    .last()
                    .is_none_or(|&last| unseen.iter().all(|&txn| !is_after(last, txn)))
        })
    });
    let keeps_sessions = level == Level::Pl2 || keeps_sessions(log, order.iter().copied());
    if !(has_reads_after && has_lists && keeps_sessions && is_complete(log, order.iter().copied()))
    {
        return Some(false);
    }
    // What a transaction sees, in the sense of the level, when it reads the read of this number.
    let explains = |txn: Txn, seen: Seen<'_>| {
        observed.reads(txn).iter().enumerate().all(|(i, read)| {
            seen(i, &mut |other| {
                other == observed.initial
                    || other == read.from
                    || !observed.has_write(other, read.key)
                    || is_after(read.from, other)
            })
        })
    };
    Some(match level {
        Level::Pl2 => true,
        Level::ReadCommitted => observed.txns.iter().all(|&txn| {
            let reads = observed.reads(txn);
            explains(txn, &mut |i, fits| {
                reads[..i].iter().all(|read| fits(read.from))
            })
        }),
        Level::ReadAtomic => {
            observed.txns.iter().all(|&txn| {
                let reads = observed.reads(txn);
                explains(txn, &mut |_, fits| reads.iter().all(|read| fits(read.from)))
            }) && sees_session(observed, &is_after)
        }
        _ => {
            if observed.txns.len() > MOST_WALKED {
                return None;
            }
            observed.txns.iter().all(|&txn| {
                let happened = happened_before(observed, txn);
                explains(txn, &mut |_, fits| {
                    happened.iter().all(|&other| fits(other))
                })
            })
        }
    })
}

/// Whether each read is of the last write of its session, or of a later one.
fn sees_session(observed: &Observed, is_after: &impl Fn(Txn, Txn) -> bool) -> bool {
    // By key: the session, and its latest write so far.
    let mut latest: Vec<(u32, Txn)> = vec![(u32::MAX, 0); observed.keys];
    (0..observed.sessions.rows()).all(|session| {
        observed.sessions.row(session).iter().all(|&txn| {
            let fits = observed.reads(txn).iter().all(|read| {
                let (of, last) = latest[read.key as usize];
                of != session as u32 || !is_after(last, read.from)
            });
            for &key in observed.writes(txn) {
                latest[key as usize] = (session as u32, txn);
            }
            fits
        })
    })
}
