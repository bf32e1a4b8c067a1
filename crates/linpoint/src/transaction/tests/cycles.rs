//! All cycles of a history, from edges as the documentation defines them: whether what is called a smallest cycle is one.

use std::collections::BTreeSet;

use super::random::{End, Kind, Step, Txn};
use crate::transaction::{Anomaly, Level, Variant, Violation};

type Edge = (usize, usize, &'static str);

/// Panics if a cycle is called smallest and a smaller one of its kind exists, or if there is one of a worse kind.
pub(super) fn check(txns: &[Txn], kind: Kind, level: Level, violation: &Violation) {
    let is_weak = matches!(
        level,
        Level::Pl2 | Level::ReadCommitted | Level::ReadAtomic | Level::Causal
    );
    let recorded = Recorded::new(txns, kind);
    if violation.cycle.is_empty() || !(is_weak || recorded.has_known_order()) {
        return;
    }
    let edges: Vec<Edge> = recorded.edges(level).into_iter().collect();
    let mut cycles = Vec::new();
    for start in 0..txns.len() {
        follow(
            &edges,
            start,
            &mut vec![start],
            &mut Vec::new(),
            &mut |kinds| {
                cycles.push(kinds.to_vec());
            },
        );
    }
    let context = || format!("{level} {violation:#?}\n{edges:?}\n{txns:#?}");
    let shortest = |variant: Variant, anomaly: Anomaly| {
        let of_kind = cycles
            .iter()
            .filter(|cycle| is_of(cycle, level, variant, anomaly));
        of_kind.map(Vec::len).min()
    };
    let of_this = shortest(violation.variant, violation.anomaly);
    assert!(of_this.is_some(), "no such cycle: {}", context());
    let is_shortest = of_this == Some(violation.cycle.len());
    assert!(is_shortest || !violation.is_smallest, "{}", context());
    for variant in [Variant::Plain, Variant::Process, Variant::Realtime] {
        for anomaly in [
            Anomaly::G0,
            Anomaly::G1c,
            Anomaly::GSingle,
            Anomaly::GNonadjacent,
        ] {
            if (variant, anomaly) >= (violation.variant, violation.anomaly)
                || level == Level::Prefix
            {
                return;
            }
            assert_eq!(
                shortest(variant, anomaly),
                None,
                "{anomaly:?}: {}",
                context()
            );
        }
        if is_weak && !matches!(violation.anomaly, Anomaly::G0 | Anomaly::G1c) {
            return;
        }
    }
}

/// Extends a path of distinct nodes, none below the first, and hands over the kinds of the edges of each cycle.
fn follow(
    edges: &[Edge],
    at: usize,
    path: &mut Vec<usize>,
    kinds: &mut Vec<&'static str>,
    each: &mut dyn FnMut(&[&'static str]),
) {
    for &(from, to, kind) in edges {
        if from != at || to < path[0] {
            continue;
        }
        kinds.push(kind);
        if to == path[0] {
            each(kinds);
        } else if !path.contains(&to) {
            path.push(to);
            follow(edges, to, path, kinds, each);
            path.pop();
        }
        kinds.pop();
    }
}

/// Whether a cycle with edges of these kinds is of a kind that the level forbids.
fn is_of(cycle: &[&str], level: Level, variant: Variant, anomaly: Anomaly) -> bool {
    let count = |kind: &str| cycle.iter().filter(|of| **of == kind).count();
    let follows = |a: &str, b: &str| {
        let next = cycle.iter().cycle().skip(1);
        cycle.iter().zip(next).any(|pair| pair == (&a, &b))
    };
    let has_order = match variant {
        Variant::Plain => count("session") + count("time") > 0,
        Variant::Process => count("time") > 0,
        _ => false,
    };
    match anomaly {
        // The others name what is left of the level, whatever orders it takes.
        Anomaly::NonMonotonicRead | Anomaly::FracturedRead | Anomaly::CausalityViolation => true,
        _ if level == Level::Prefix
            && matches!(anomaly, Anomaly::GSingle | Anomaly::GNonadjacent) =>
        {
            !follows("rw", "rw") && !follows("ww", "rw")
        }
        _ if has_order || count("order") > 0 => false,
        Anomaly::G0 => count("wr") + count("rw") == 0,
        Anomaly::G1c => count("rw") == 0,
        Anomaly::GSingle => count("rw") == 1,
        Anomaly::GNonadjacent => !follows("rw", "rw"),
        _ => true,
    }
}

/// What was recorded, as far as it counts.
struct Recorded<'a> {
    txns: &'a [Txn],
    kind: Kind,
    /// The transactions that committed.
    committed: Vec<usize>,
    /// By key: its values in order, as far as reads show it.
    orders: [Vec<i64>; 3],
}

impl<'a> Recorded<'a> {
    fn new(txns: &'a [Txn], kind: Kind) -> Self {
        let mut recorded = Recorded {
            txns,
            kind,
            committed: (0..txns.len())
                .filter(|&i| txns[i].end == End::Ok)
                .collect(),
            orders: Default::default(),
        };
        recorded.orders = [0, 1, 2].map(|key| recorded.order(key));
        let seen: BTreeSet<(usize, i64)> = recorded.all_seen();
        let is_seen = |i: &usize| {
            txns[*i].end == End::Info
                && recorded
                    .written(*i)
                    .iter()
                    .any(|write| seen.contains(write))
        };
        let unknown: Vec<usize> = (0..txns.len()).filter(is_seen).collect();
        recorded.committed.extend(unknown);
        recorded.committed.sort_unstable();
        recorded
    }

    /// Whether reads show the order of all versions: each write of a register follows on a read, and no two on the same.
    fn has_known_order(&self) -> bool {
        let is_known = |&txn: &usize| self.txns[txn].end == End::Ok;
        let in_order = |&(key, value): &(usize, i64)| {
            self.orders[key].contains(&value) || self.last_of_many(key, value)
        };
        match self.kind {
            Kind::Lists => true,
            Kind::Registers => false,
            Kind::Updates => {
                let mut committed = self.committed.iter();
                committed.all(|txn| is_known(txn) && self.written(*txn).iter().all(in_order))
            }
        }
    }

    /// Whether the writer of a value overwrote it itself.
    fn last_of_many(&self, key: usize, value: i64) -> bool {
        let mut writers = self.committed.iter();
        writers.any(|&txn| {
            self.written(txn).contains(&(key, value)) && self.last(txn, key) != Some(value)
        })
    }

    fn written(&self, txn: usize) -> Vec<(usize, i64)> {
        let steps = self.txns[txn].steps.iter();
        let writes = steps.filter_map(|step| match step {
            Step::Write(key, value) => Some((*key, *value)),
            _ => None,
        });
        writes.collect()
    }

    /// What a transaction read of others: the key, and all values of others that it saw there, or the value.
    fn reads(&self, txn: usize) -> Vec<(usize, Vec<i64>)> {
        let own = self.written(txn);
        let mut written: BTreeSet<usize> = BTreeSet::new();
        let mut reads = Vec::new();
        for step in self.txns[txn]
            .steps
            .iter()
            .filter(|_| self.txns[txn].end == End::Ok)
        {
            match step {
                Step::Write(key, _) => {
                    written.insert(*key);
                }
                Step::Read(key, _) if written.contains(key) => {}
                Step::Read(key, value) => {
                    reads.push((
                        *key,
                        [*value].into_iter().filter(|value| *value != 0).collect(),
                    ));
                }
                Step::ReadList(key, list) => {
                    let others = list.iter().filter(|value| !own.contains(&(*key, **value)));
                    reads.push((*key, others.copied().collect()));
                }
            }
        }
        reads
    }

    fn all_seen(&self) -> BTreeSet<(usize, i64)> {
        let reads = (0..self.txns.len()).flat_map(|txn| self.reads(txn));
        reads
            .flat_map(|(key, seen)| seen.into_iter().map(move |value| (key, value)))
            .collect()
    }

    /// The values of a key in their order.
    fn order(&self, key: usize) -> Vec<i64> {
        if self.kind == Kind::Lists {
            let reads = (0..self.txns.len()).flat_map(|txn| self.reads(txn));
            let of_key = reads.filter(|(of, _)| *of == key).map(|(_, seen)| seen);
            return of_key.max_by_key(Vec::len).unwrap_or_default();
        }
        // Each update writes the value after the one that it read.
        let mut order = Vec::new();
        while let Some(next) = (0..self.txns.len()).find_map(|txn| {
            let last = self.last(txn, key)?;
            let reads = self.reads(txn);
            let reads_it = reads
                .iter()
                .any(|(of, seen)| *of == key && seen.last() == order.last());
            (reads_it && !order.contains(&last)).then_some(last)
        }) {
            order.push(next);
        }
        order
    }

    fn last(&self, txn: usize, key: usize) -> Option<i64> {
        let writes = self.written(txn).into_iter().rev();
        let mut of_key = writes.filter(|(of, _)| *of == key);
        of_key.next().map(|(_, value)| value)
    }

    fn edges(&self, level: Level) -> BTreeSet<Edge> {
        let mut edges = BTreeSet::new();
        let weak = matches!(
            level,
            Level::ReadCommitted | Level::ReadAtomic | Level::Causal
        );
        for &a in &self.committed {
            for &b in self.committed.iter().filter(|b| **b != a) {
                if level.keeps_sessions() && self.in_session(a, b) {
                    edges.insert((a, b, "session"));
                }
                if level == Level::StrictSerializable
                    && self.txns[a].ret.is_some_and(|ret| ret < self.txns[b].call)
                {
                    edges.insert((a, b, "time"));
                }
                if self.shows(b, a) {
                    edges.insert((a, b, "wr"));
                }
                if (!weak || self.kind == Kind::Lists) && self.overwrites(a, b) {
                    edges.insert((a, b, "ww"));
                }
                if !weak && level != Level::Pl2 && self.misses(a, b) {
                    edges.insert((a, b, "rw"));
                }
                if weak && self.is_observed(a, b, level) {
                    edges.insert((a, b, "order"));
                }
            }
        }
        edges
    }

    fn in_session(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.txns[a], &self.txns[b]);
        a.session == b.session && a.call < b.call
    }

    /// Whether a read of `a` shows a write of `b`.
    fn shows(&self, a: usize, b: usize) -> bool {
        let written = self.written(b);
        let mut reads = self.reads(a).into_iter();
        reads.any(|(key, seen)| seen.iter().any(|value| written.contains(&(key, *value))))
    }

    /// Whether `b` wrote a later version of a key than `a`.
    fn overwrites(&self, a: usize, b: usize) -> bool {
        let place =
            |(key, value): (usize, i64)| self.orders[key].iter().position(|of| *of == value);
        self.written(a).into_iter().any(|first| {
            let mut later = self
                .written(b)
                .into_iter()
                .filter(|(key, _)| *key == first.0);
            place(first).is_some_and(|i| {
                later.any(|second| place(second).map_or(self.kind == Kind::Lists, |j| i < j))
            })
        })
    }

    /// Whether `b` wrote a version of a key that is later than one that `a` read.
    fn misses(&self, a: usize, b: usize) -> bool {
        self.reads(a).into_iter().any(|(key, seen)| {
            let order = &self.orders[key];
            let known = match (self.kind, seen.last()) {
                (_, None) => 0,
                (Kind::Lists, Some(_)) => seen.len(),
                (_, Some(value)) => match order.iter().position(|of| of == value) {
                    Some(place) => place + 1,
                    None => return false,
                },
            };
            let mut written = self.written(b).into_iter().filter(|(of, _)| *of == key);
            written.any(
                |(_, value)| match order.iter().position(|of| *of == value) {
                    Some(place) => place >= known,
                    None => self.kind == Kind::Lists,
                },
            )
        })
    }

    /// The committed transaction that wrote what a read shows last.
    fn source(&self, (key, seen): &(usize, Vec<i64>)) -> Option<usize> {
        let value = *seen.last()?;
        let mut writers = self.committed.iter().copied();
        writers.find(|&txn| self.written(txn).contains(&(*key, value)))
    }

    /// Whether some transaction read a key from `b` although it saw `a`, which wrote the key too.
    fn is_observed(&self, a: usize, b: usize, level: Level) -> bool {
        self.committed.iter().filter(|c| **c != a).any(|&c| {
            let reads = self.reads(c);
            (0..reads.len()).any(|i| {
                let key = reads[i].0;
                let from_a = |reads: &[(usize, Vec<i64>)]| {
                    reads.iter().any(|read| self.source(read) == Some(a))
                };
                self.source(&reads[i]) == Some(b)
                    && self.written(a).iter().any(|(of, _)| *of == key)
                    && match level {
                        Level::ReadCommitted => from_a(&reads[..i]),
                        Level::ReadAtomic => from_a(&reads) || self.in_session(a, c),
                        _ => self.happened_before(a, c, &mut BTreeSet::new()),
                    }
            })
        })
    }

    fn happened_before(&self, a: usize, b: usize, visited: &mut BTreeSet<usize>) -> bool {
        visited.insert(b)
            && self.committed.iter().any(|&between| {
                let reads = self.reads(b);
                let is_step = self.in_session(between, b)
                    || reads.iter().any(|read| self.source(read) == Some(between));
                is_step && (between == a || self.happened_before(a, between, visited))
            })
    }
}
