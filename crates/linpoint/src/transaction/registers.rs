//! Who reads from whom where transactions read and write registers, with distinct values for each key.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::log::{Action, Log, Outcome, Txn};
use super::observed::{Flaw, Observed, Read, Repeated, Unfit};
use super::table::Table;

/// Who wrote a value of a key, and whether as its last write of the key.
#[derive(Clone, Copy)]
struct Write {
    txn: Txn,
    is_last: bool,
}

/// Finds the write of each read, or what no order explains.
pub(super) fn observe(log: &Log<'_>) -> Result<Observed, Unfit> {
    let writes = writes(log)?;
    let mut reads = Table::default();
    // What the transaction wrote so far, by key.
    let mut own: Vec<(Txn, u32)> = vec![(Txn::MAX, 0); log.key_count()];
    for txn in 0..log.ops() as Txn {
        for (i, step) in log.steps(txn).iter().enumerate() {
            let value = match step.action {
                Action::Write(value) => {
                    own[step.key as usize] = (txn, value);
                    continue;
                }
                Action::Read(value) => value,
                Action::ReadList { .. } | Action::ReadUnknown => continue,
            };
            let flaw = |flaw: Flaw| Err(Unfit::Flaw(flaw));
            let (owner, mine) = own[step.key as usize];
            if owner == txn {
                if mine != value {
                    return flaw(Flaw::Internal { txn, step: i });
                }
                continue;
            }
            let from = match writes.get(&(step.key, value)) {
                None if value == log.initial => log.ops() as Txn,
                None => {
                    return flaw(Flaw::ThinAir {
                        txn,
                        step: i,
                        value,
                    });
                }
                Some(write) => {
                    let writer = write.txn;
                    if writer == txn {
                        return flaw(Flaw::Future {
                            txn,
                            step: i,
                            value,
                        });
                    }
                    let step = i;
                    if log.outcome(writer) == Outcome::Aborted {
                        return flaw(Flaw::Aborted {
                            txn,
                            step,
                            value,
                            writer,
                        });
                    }
                    if !write.is_last {
                        return flaw(Flaw::Intermediate {
                            txn,
                            step,
                            value,
                            writer,
                        });
                    }
                    writer
                }
            };
            reads.push(Read {
                key: step.key,
                from,
            });
        }
        reads.end_row();
    }
    Ok(Observed::new(log, reads))
}

/// Who wrote which value of which key.
fn writes(log: &Log<'_>) -> Result<HashMap<(u32, u32), Write, FixedState>, Unfit> {
    let mut writes = HashMap::with_hasher(FixedState::default());
    // The last transaction that wrote the key, and its value.
    let mut latest: Vec<(Txn, u32)> = vec![(Txn::MAX, 0); log.key_count()];
    for txn in log.all() {
        for step in log.steps(txn) {
            let Action::Write(value) = step.action else {
                continue;
            };
            let key = step.key;
            let write = Write { txn, is_last: true };
            let before = writes.insert((key, value), write);
            if before.is_some() || value == log.initial {
                let first = before.map(|before: Write| before.txn);
                return Err(Unfit::Repeated(Repeated {
                    key,
                    value,
                    writers: (first, txn),
                }));
            }
            let (writer, earlier) = latest[key as usize];
            if writer == txn
                && let Some(write) = writes.get_mut(&(key, earlier))
            {
                write.is_last = false;
            }
            latest[key as usize] = (txn, value);
        }
    }
    Ok(writes)
}

/// The first transaction that reads a key twice and sees two versions, neither of its own.
pub(super) fn unrepeatable(log: &Log<'_>) -> Option<Flaw> {
    // By key: the transaction, and its step that read the key first.
    let mut seen: Vec<(Txn, usize, u32)> = vec![(Txn::MAX, 0, 0); log.key_count()];
    let mut own: Vec<Txn> = vec![Txn::MAX; log.key_count()];
    for txn in 0..log.ops() as Txn {
        for (i, step) in log.steps(txn).iter().enumerate() {
            let key = step.key as usize;
            match step.action {
                Action::Write(_) => own[key] = txn,
                Action::Read(value) if own[key] != txn => {
                    let (reader, first, before) = seen[key];
                    if reader != txn {
                        seen[key] = (txn, i, value);
                    } else if before != value {
                        return Some(Flaw::Unrepeatable {
                            txn,
                            first,
                            second: i,
                        });
                    }
                }
                Action::Read(_) | Action::ReadList { .. } | Action::ReadUnknown => {}
            }
        }
    }
    None
}
