//! The levels by their definitions, with all orders of at most five transactions. Nothing here is to be made faster.

use std::collections::{BTreeMap, BTreeSet};

use super::random::{End, Step, Txn};
use crate::transaction::Level;

/// The levels that a history has.
pub(super) fn levels(txns: &[Txn], is_lists: bool) -> BTreeSet<Level> {
    let mut found = BTreeSet::new();
    let unknown: Vec<usize> = (0..txns.len())
        .filter(|&i| txns[i].end == End::Info)
        .collect();
    for choice in 0..1 << unknown.len() {
        let committed: Vec<usize> = (0..txns.len())
            .filter(|i| match txns[*i].end {
                End::Ok => true,
                End::Fail => false,
                End::Info => unknown
                    .iter()
                    .position(|u| u == i)
                    .is_some_and(|at| choice >> at & 1 == 1),
            })
            .collect();
        let case = Case { txns, is_lists };
        permutations(&committed, &mut |order| case.orders(order, &mut found));
        case.schedules(&committed, &mut found);
    }
    found
}

fn permutations(items: &[usize], each: &mut dyn FnMut(&[usize])) {
    fn go(chosen: &mut Vec<usize>, left: &[usize], each: &mut dyn FnMut(&[usize])) {
        if left.is_empty() {
            each(chosen);
        }
        for (i, &item) in left.iter().enumerate() {
            let rest: Vec<usize> = left[..i].iter().chain(&left[i + 1..]).copied().collect();
            chosen.push(item);
            go(chosen, &rest, each);
            chosen.pop();
        }
    }
    go(&mut Vec::new(), items, each);
}

/// What each key holds: all values that were written to it, in order.
type Store = BTreeMap<usize, Vec<i64>>;

/// A read of another transaction's version: by whom, at which step, of which key, from whom; `None` is the initial state.
struct Read {
    by: usize,
    step: usize,
    key: usize,
    from: Option<usize>,
}

#[derive(Clone, Copy)]
struct Case<'a> {
    txns: &'a [Txn],
    is_lists: bool,
}

impl Case<'_> {
    fn writes(self, txn: usize, key: usize) -> bool {
        let steps = self.txns[txn].steps.iter();
        steps
            .into_iter()
            .any(|step| matches!(step, Step::Write(of, _) if *of == key))
    }

    fn written(self, txn: usize) -> impl Iterator<Item = (usize, i64)> {
        let steps = self.txns[txn].steps.clone().into_iter();
        steps.filter_map(|step| match step {
            Step::Write(key, value) => Some((key, value)),
            _ => None,
        })
    }

    fn in_session(self, a: usize, b: usize) -> bool {
        self.txns[a].session == self.txns[b].session && self.txns[a].call < self.txns[b].call
    }

    fn in_time(self, a: usize, b: usize) -> bool {
        self.txns[a].ret.is_some_and(|ret| ret < self.txns[b].call)
    }

    /// Whether a transaction that runs on this store sees what it saw.
    fn explains(self, txn: usize, store: &Store) -> bool {
        let mut mine = store.clone();
        self.txns[txn].end == End::Info
            || self.txns[txn].steps.iter().all(|step| match step {
                Step::Write(key, value) => {
                    mine.entry(*key).or_default().push(*value);
                    true
                }
                Step::Read(key, value) => {
                    mine.get(key).and_then(|held| held.last()).unwrap_or(&0) == value
                }
                Step::ReadList(key, list) => mine.get(key).cloned().unwrap_or_default() == *list,
            })
    }

    fn commit(self, txn: usize, store: &mut Store) {
        for (key, value) in self.written(txn) {
            store.entry(key).or_default().push(value);
        }
    }

    fn orders(self, order: &[usize], found: &mut BTreeSet<Level>) {
        let keeps = |before: &dyn Fn(usize, usize) -> bool| {
            (0..order.len()).all(|i| (0..i).all(|j| !before(order[i], order[j])))
        };
        let keeps_sessions = keeps(&|a, b| self.in_session(a, b));
        let keeps_time = keeps(&|a, b| self.in_time(a, b));
        let mut store = Store::new();
        let is_serial = order.iter().all(|&txn| {
            let explains = self.explains(txn, &store);
            self.commit(txn, &mut store);
            explains
        });
        if is_serial {
            found.insert(Level::Serializable);
            if keeps_sessions {
                found.insert(Level::SessionSerializable);
            }
            if keeps_sessions && keeps_time {
                found.insert(Level::StrictSerializable);
            }
        }
        if let Some(reads) = self.reads(order) {
            self.axioms(order, &reads, keeps_sessions, found);
        }
    }

    /// Whom each read is from if the transactions commit in this order; `None` if that is impossible.
    fn reads(self, order: &[usize]) -> Option<Vec<Read>> {
        let mut reads = Vec::new();
        for &by in order.iter().filter(|&&txn| self.txns[txn].end == End::Ok) {
            let mut own = Store::new();
            for (step, what) in self.txns[by].steps.iter().enumerate() {
                let (key, from) = match what {
                    Step::Write(key, value) => {
                        own.entry(*key).or_default().push(*value);
                        continue;
                    }
                    Step::Read(key, value) => match own.get(key).and_then(|own| own.last()) {
                        Some(own) if own == value => continue,
                        Some(_) => return None,
                        None if *value == 0 => (*key, None),
                        // It must be the last write of another transaction.
                        None => (
                            *key,
                            Some(*order.iter().find(|&&txn| {
                                let last = self.written(txn).filter(|(of, _)| of == key).last();
                                txn != by && last == Some((*key, *value))
                            })?),
                        ),
                    },
                    Step::ReadList(key, list) => {
                        let own = own.get(key).cloned().unwrap_or_default();
                        let head = list.strip_suffix(own.as_slice())?;
                        (*key, self.last_of(order, by, *key, head)?)
                    }
                };
                reads.push(Read {
                    by,
                    step,
                    key,
                    from,
                });
            }
        }
        Some(reads)
    }

    /// The transaction whose appends end this list, if those of the first transactions of the order are this list.
    fn last_of(
        self,
        order: &[usize],
        by: usize,
        key: usize,
        head: &[i64],
    ) -> Option<Option<usize>> {
        let mut list = Vec::new();
        let mut last = None;
        for &txn in order {
            if list == head {
                break;
            }
            let appended: Vec<i64> = self
                .written(txn)
                .filter(|(of, _)| *of == key)
                .map(|(_, value)| value)
                .collect();
            if !appended.is_empty() {
                last = Some(txn);
            }
            list.extend(appended);
        }
        (list == head && last != Some(by)).then_some(last)
    }

    /// The levels of Biswas and Enea.
    fn axioms(
        self,
        order: &[usize],
        reads: &[Read],
        keeps_sessions: bool,
        found: &mut BTreeSet<Level>,
    ) {
        let place = |txn: usize| {
            order
                .iter()
                .position(|&other| other == txn)
                .expect("in the order")
        };
        let is_wr = |a: usize, b: usize| {
            reads
                .iter()
                .any(|read| read.by == b && read.from == Some(a))
        };
        if !reads
            .iter()
            .all(|read| read.from.is_none_or(|from| place(from) < place(read.by)))
        {
            return;
        }
        let axiom = |sees: &dyn Fn(usize, &Read) -> bool| {
            reads.iter().all(|read| {
                order.iter().all(|&other| {
                    other == read.by
                        || Some(other) == read.from
                        || !self.writes(other, read.key)
                        || read.from.is_some_and(|from| place(other) < place(from))
                        || !sees(other, read)
                })
            })
        };
        if self.is_pl2(order, reads) {
            found.insert(Level::Pl2);
        }
        if !keeps_sessions {
            return;
        }
        // (so ∪ wr)+, by Warshall's algorithm.
        let n = self.txns.len();
        let mut before = vec![vec![false; n]; n];
        let step = |a: usize, b: usize| self.in_session(a, b) || is_wr(a, b);
        for &a in order {
            for &b in order {
                before[a][b] = a != b && step(a, b);
            }
        }
        for &k in order {
            for &a in order {
                for &b in order {
                    before[a][b] |= before[a][k] && before[k][b];
                }
            }
        }
        if axiom(&|other, read| {
            reads.iter().any(|earlier| {
                earlier.by == read.by && earlier.step < read.step && earlier.from == Some(other)
            })
        }) {
            found.insert(Level::ReadCommitted);
        }
        if axiom(&|other, read| step(other, read.by)) {
            found.insert(Level::ReadAtomic);
        }
        if axiom(&|other, read| before[other][read.by]) {
            found.insert(Level::Causal);
        }
        let prefix = axiom(&|other, read| {
            order.iter().any(|&middle| {
                middle != read.by && place(other) <= place(middle) && step(middle, read.by)
            })
        });
        if prefix {
            found.insert(Level::Prefix);
        }
        let common = |a: usize, b: usize| self.written(a).any(|(key, _)| self.writes(b, key));
        if prefix
            && axiom(&|other, read| {
                order.iter().any(|&middle| {
                    middle != read.by
                        && place(other) <= place(middle)
                        && place(middle) < place(read.by)
                        && common(middle, read.by)
                })
            })
        {
            found.insert(Level::SessionSnapshotIsolation);
            // Snapshots that sessions see are snapshots.
            found.insert(Level::SnapshotIsolation);
        }
    }

    /// Of lists: the versions are in the order of the commits, and nothing depends on itself.
    fn is_pl2(self, order: &[usize], reads: &[Read]) -> bool {
        let place = |txn: usize| order.iter().position(|&other| other == txn);
        self.is_lists
            && reads
                .iter()
                .all(|read| read.from.is_none_or(|from| place(from) < place(read.by)))
    }

    /// Snapshot isolation as it runs: snapshots, and the first of two concurrent writers of a key wins.
    fn schedules(self, committed: &[usize], found: &mut BTreeSet<Level>) {
        for level in [
            Level::SnapshotIsolation,
            Level::SessionSnapshotIsolation,
            Level::Prefix,
        ] {
            if self.runs(
                level,
                committed,
                &mut Vec::new(),
                &mut Vec::new(),
                &Store::new(),
            ) {
                found.insert(level);
            }
        }
    }

    /// `open` has the transactions that have started with their snapshots, `done` those that have committed.
    fn runs(
        self,
        level: Level,
        committed: &[usize],
        open: &mut Vec<(usize, Store)>,
        done: &mut Vec<usize>,
        store: &Store,
    ) -> bool {
        if done.len() == committed.len() {
            return true;
        }
        for &txn in committed {
            let is_open = open.iter().any(|(of, _)| *of == txn);
            if done.contains(&txn) || is_open {
                continue;
            }
            let waits = committed
                .iter()
                .any(|&other| self.in_session(other, txn) && !done.contains(&other));
            if (waits && level != Level::SnapshotIsolation) || !self.explains(txn, store) {
                continue;
            }
            open.push((txn, store.clone()));
            if self.runs(level, committed, open, done, store) {
                return true;
            }
            open.pop();
        }
        for i in 0..open.len() {
            let (txn, snapshot) = open[i].clone();
            let is_unchanged = self
                .written(txn)
                .all(|(key, _)| snapshot.get(&key) == store.get(&key));
            if !is_unchanged && level != Level::Prefix {
                continue;
            }
            let mut next = store.clone();
            self.commit(txn, &mut next);
            open.remove(i);
            done.push(txn);
            if self.runs(level, committed, open, done, &next) {
                return true;
            }
            done.pop();
            open.insert(i, (txn, snapshot));
        }
        false
    }
}
