//! Who reads from whom where transactions append to lists and read them, with distinct elements for each key: each read shows
//! the order of all earlier appends.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::log::{Action, Log, Outcome, Txn};
use super::observed::{Flaw, Observed, Read, Repeated, Unfit};
use super::table::Table;

/// The order of the appends of each key, as far as reads show it.
#[derive(Clone, Debug, Default)]
pub(super) struct Versions {
    /// By key: the transactions that appended the elements of its longest read, without the reader's own.
    pub(super) seen: Table<Txn>,
    /// By key: the transactions that count and have an append that no read shows. They come after all that is seen.
    pub(super) unseen: Table<Txn>,
    /// By transaction, for each of its external reads: how many elements of others it showed.
    pub(super) heads: Table<u32>,
}

/// An append.
#[derive(Clone, Copy)]
struct Append {
    txn: Txn,
    /// Where it stands in the longest read of its key.
    position: u32,
    /// Whether it is the last append of its transaction to its key.
    is_last: bool,
}

const NOWHERE: u32 = u32::MAX;

type Appends = HashMap<(u32, u32), Append, FixedState>;

/// A read of a list, without what the reader appended itself: below snapshot isolation, appends of others may come between.
#[derive(Clone, Copy)]
struct ListRead {
    txn: Txn,
    step: usize,
    key: u32,
    start: u32,
    head: u32,
}

/// Finds the order of the appends and the append that each read shows last, or what no order explains.
pub(super) fn observe(log: &Log<'_>) -> Result<(Observed, Versions), Unfit> {
    let mut appends = appends(log)?;
    let list_reads = list_reads(log).map_err(Unfit::Flaw)?;
    let longest = longest(log, &list_reads).map_err(Unfit::Flaw)?;
    let seen = locate(log, &longest, &mut appends).map_err(Unfit::Flaw)?;
    check_own_order(log, &longest, &appends).map_err(Unfit::Flaw)?;
    let (mut reads, mut heads) = (Table::default(), Table::default());
    let mut next = 0;
    for txn in 0..log.ops() as Txn {
        while let Some(read) = list_reads.get(next).filter(|read| read.txn == txn) {
            let from = match read.head.checked_sub(1) {
                None => log.ops() as Txn,
                Some(last) => {
                    let value = log.list(read.start, read.head)[last as usize];
                    writer(log, &appends, read, value).map_err(Unfit::Flaw)?
                }
            };
            reads.push(Read {
                key: read.key,
                from,
            });
            heads.push(read.head);
            next += 1;
        }
        reads.end_row();
        heads.end_row();
    }
    let mut observed = Observed::new(log, reads);
    // A transaction of unknown outcome counts too if a list shows one of its appends before others.
    let mut counts: Vec<bool> = vec![false; log.ops()];
    let shown = seen.items().iter().chain(&observed.txns);
    for &txn in shown {
        counts[txn as usize] = true;
    }
    if counts.iter().filter(|counts| **counts).count() > observed.txns.len() {
        observed = Observed::among(log, observed.reads, &counts);
    }
    let unseen = unseen(log, &observed, &appends);
    Ok((
        observed,
        Versions {
            seen,
            unseen,
            heads,
        },
    ))
}

fn appends(log: &Log<'_>) -> Result<Appends, Unfit> {
    let mut appends: Appends = HashMap::with_hasher(FixedState::default());
    let mut latest: Vec<(Txn, u32)> = vec![(Txn::MAX, 0); log.key_count()];
    for txn in log.all() {
        for step in log.steps(txn) {
            let Action::Write(value) = step.action else {
                continue;
            };
            let append = Append {
                txn,
                position: NOWHERE,
                is_last: true,
            };
            if let Some(before) = appends.insert((step.key, value), append) {
                return Err(Unfit::Repeated(Repeated {
                    key: step.key,
                    value,
                    writers: (Some(before.txn), txn),
                }));
            }
            let (writer, earlier) = latest[step.key as usize];
            if writer == txn
                && let Some(append) = appends.get_mut(&(step.key, earlier))
            {
                append.is_last = false;
            }
            latest[step.key as usize] = (txn, value);
        }
    }
    Ok(appends)
}

/// All reads of committed transactions, without what the readers appended themselves.
fn list_reads(log: &Log<'_>) -> Result<Vec<ListRead>, Flaw> {
    let mut reads = Vec::new();
    // By key: the transaction, and how often it appended so far.
    let mut own: Vec<(Txn, u32)> = vec![(Txn::MAX, 0); log.key_count()];
    for txn in 0..log.ops() as Txn {
        let steps = log.steps(txn);
        for (step, &of) in steps.iter().enumerate() {
            let mine = &mut own[of.key as usize];
            if mine.0 != txn {
                *mine = (txn, 0);
            }
            let (start, length) = match of.action {
                Action::Write(_) => {
                    mine.1 += 1;
                    continue;
                }
                Action::ReadList { start, length } => (start, length),
                Action::Read(_) | Action::ReadUnknown => continue,
            };
            let internal = Flaw::Internal { txn, step };
            let head = length.checked_sub(mine.1).ok_or(internal.clone())?;
            if mine.1 > 0 {
                let appended = steps[..step].iter().filter_map(|other| match other.action {
                    Action::Write(value) if other.key == of.key => Some(value),
                    _ => None,
                });
                let tail = log.list(start + head, mine.1);
                if !appended.eq(tail.iter().copied()) {
                    return Err(internal);
                }
            }
            reads.push(ListRead {
                txn,
                step,
                key: of.key,
                start,
                head,
            });
        }
    }
    Ok(reads)
}

/// The longest read of each key, of which all others must be beginnings.
fn longest(log: &Log<'_>, reads: &[ListRead]) -> Result<Vec<Option<ListRead>>, Flaw> {
    let mut longest: Vec<Option<ListRead>> = vec![None; log.key_count()];
    for read in reads {
        let known = &mut longest[read.key as usize];
        if known.is_none_or(|known| known.head < read.head) {
            *known = Some(*read);
        }
    }
    for read in reads {
        if let Some(known) = longest[read.key as usize] {
            let list = log.list(read.start, read.head);
            if log.list(known.start, read.head) != list {
                return Err(Flaw::Incompatible {
                    first: (read.txn, read.step),
                    second: (known.txn, known.step),
                });
            }
        }
    }
    Ok(longest)
}

/// Notes where each append stands in the longest read of its key, and returns the writers of these.
fn locate(
    log: &Log<'_>,
    longest: &[Option<ListRead>],
    appends: &mut Appends,
) -> Result<Table<Txn>, Flaw> {
    let mut seen = Table::default();
    for (key, read) in longest.iter().enumerate() {
        if let Some(read) = read {
            let (txn, step) = (read.txn, read.step);
            let list = log.list(read.start, read.head);
            for (position, &value) in list.iter().enumerate() {
                let Some(append) = appends.get_mut(&(key as u32, value)) else {
                    return Err(Flaw::ThinAir { txn, step, value });
                };
                let writer = append.txn;
                if log.outcome(writer) == Outcome::Aborted {
                    return Err(Flaw::Aborted {
                        txn,
                        step,
                        value,
                        writer,
                    });
                }
                if append.position != NOWHERE {
                    return Err(Flaw::Duplicate { txn, step, value });
                }
                append.position = position as u32;
                seen.push(writer);
            }
        }
        seen.end_row();
    }
    Ok(seen)
}

/// The transaction that appended what this read of others' elements shows last.
fn writer(log: &Log<'_>, appends: &Appends, read: &ListRead, value: u32) -> Result<Txn, Flaw> {
    let (txn, step) = (read.txn, read.step);
    // What the reader appends later is not part of what it reads.
    for own in log.steps(txn) {
        if let Action::Write(value) = own.action
            && own.key == read.key
            && appends[&(read.key, value)].position < read.head
        {
            return Err(Flaw::Future { txn, step, value });
        }
    }
    let append = appends[&(read.key, value)];
    match append.is_last {
        true => Ok(append.txn),
        false => Err(Flaw::Intermediate {
            txn,
            step,
            value,
            writer: append.txn,
        }),
    }
}

/// Two appends of a transaction to a key stand in its order, and the later one does not without the earlier one.
fn check_own_order(
    log: &Log<'_>,
    longest: &[Option<ListRead>],
    appends: &Appends,
) -> Result<(), Flaw> {
    let mut latest: Vec<(Txn, u32)> = vec![(Txn::MAX, 0); log.key_count()];
    for writer in 0..log.ops() as Txn {
        for step in log.steps(writer) {
            let Action::Write(later) = step.action else {
                continue;
            };
            let (before, earlier) = latest[step.key as usize];
            latest[step.key as usize] = (writer, later);
            if before != writer {
                continue;
            }
            let position = |value: u32| appends[&(step.key, value)].position;
            if position(later) != NOWHERE
                && (position(earlier) == NOWHERE || position(earlier) > position(later))
                && let Some(read) = longest[step.key as usize]
            {
                return Err(Flaw::OwnOrder {
                    txn: read.txn,
                    step: read.step,
                    writer,
                    earlier,
                    later,
                });
            }
        }
    }
    Ok(())
}

/// By key: the transactions that count and have an append that no read shows.
fn unseen(log: &Log<'_>, observed: &Observed, appends: &Appends) -> Table<Txn> {
    let mut pairs: Vec<(u32, Txn)> = Vec::new();
    for &txn in &observed.txns {
        for step in log.steps(txn) {
            let Action::Write(value) = step.action else {
                continue;
            };
            let append = appends[&(step.key, value)];
            // Once for each key: its last append is unseen if any is.
            if append.is_last && append.position == NOWHERE {
                pairs.push((step.key, txn));
            }
        }
    }
    Table::of(log.key_count(), pairs.iter().copied())
}

/// The first transaction that reads a key twice and sees two versions, apart from its own appends.
pub(super) fn unrepeatable(log: &Log<'_>) -> Option<Flaw> {
    let mut seen: Vec<(Txn, usize, u32)> = vec![(Txn::MAX, 0, 0); log.key_count()];
    // It is called for histories without flaws only.
    for read in list_reads(log).ok()? {
        let (reader, first, head) = seen[read.key as usize];
        if reader != read.txn {
            seen[read.key as usize] = (read.txn, read.step, read.head);
        } else if head != read.head {
            return Some(Flaw::Unrepeatable {
                txn: read.txn,
                first,
                second: read.step,
            });
        }
    }
    None
}
