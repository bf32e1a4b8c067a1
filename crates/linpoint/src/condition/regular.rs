//! Regular and safe registers (Lamport, 1986; Shao, Welch, Pierce and Lee, 2011), for each key by itself.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use super::answer::{Answer, Link, Why, Witness};
use super::graph::Reason;
use super::memory::{INITIAL, Linked, Memory, MemoryOp};
use crate::history::{NEVER, OpId};

/// Which reads are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// All.
    All,
    /// Those that overlap no write of their key.
    Quiet,
}

/// The writes of one key, prepared for questions about time.
struct Writes<'m> {
    /// By return, each with the latest call of those up to it.
    by_return: Vec<(u32, &'m MemoryOp)>,
    by_call: Vec<&'m MemoryOp>,
    by_value: HashMap<u32, Vec<&'m MemoryOp>>,
}

impl<'m> Writes<'m> {
    fn of(writes: Vec<&'m MemoryOp>) -> Self {
        let mut ended: Vec<&MemoryOp> = writes
            .iter()
            .copied()
            .filter(|op| !op.is_pending())
            .collect();
        ended.sort_unstable_by_key(|op| op.ret);
        let mut latest: Option<&MemoryOp> = None;
        let by_return = ended.into_iter().map(|op| {
            latest = latest.filter(|latest| latest.call > op.call).or(Some(op));
            (op.ret, latest.unwrap_or(op))
        });
        let by_return = by_return.collect();
        let mut by_value: HashMap<u32, Vec<&MemoryOp>> = HashMap::new();
        for &op in &writes {
            by_value.entry(op.value).or_default().push(op);
        }
        Writes {
            by_return,
            by_call: writes,
            by_value,
        }
    }

    /// Of the writes that returned before `rank`, the one that was called last.
    fn latest_before(&self, rank: u32) -> Option<&'m MemoryOp> {
        let count = self.by_return.partition_point(|&(ret, _)| ret < rank);
        Some(self.by_return[count.checked_sub(1)?].1)
    }

    /// Whether some write was open during the read.
    fn is_overlapped(&self, read: &MemoryOp) -> bool {
        let called = self.by_call.partition_point(|op| op.call < read.ret);
        let ended = self.by_return.partition_point(|&(ret, _)| ret < read.call);
        called > ended
    }

    /// Why a read cannot return what it does.
    fn why(&self, read: &MemoryOp) -> Option<Why> {
        let latest = self.latest_before(read.call);
        if read.value == INITIAL && latest.is_none() {
            return None;
        }
        let candidates: &[&MemoryOp] = self.by_value.get(&read.value).map_or(&[], |all| all);
        let is_possible = |write: &&&MemoryOp| {
            !read.precedes(write) && !latest.is_some_and(|latest| write.precedes(latest))
        };
        if candidates.iter().any(|write| is_possible(&write)) {
            return None;
        }
        let later = latest.map(|latest| latest.id);
        let is_initial = read.value == INITIAL;
        let why = match (candidates, later) {
            ([], Some(later)) if is_initial => Why::Overtaken {
                read: read.id,
                write: None,
                later,
            },
            ([], _) => Why::ThinAir(read.id),
            ([write], _) if !is_initial && read.precedes(write) => Why::Future {
                read: read.id,
                write: write.id,
            },
            ([write], Some(later)) if !is_initial => Why::Overtaken {
                read: read.id,
                write: Some(write.id),
                later,
            },
            (all, later) => Why::NoneOf {
                read: read.id,
                candidates: all.iter().map(|write| write.id).collect(),
                later,
            },
        };
        Some(why)
    }
}

/// Looks at each read by itself. Values may repeat.
pub(super) fn regular(memory: &Memory, reads: Reads) -> Answer {
    let mut writes: Vec<Vec<&MemoryOp>> = vec![Vec::new(); memory.keys()];
    for op in memory.ops.iter().filter(|op| op.is_write()) {
        writes[op.key as usize].push(op);
    }
    let writes: Vec<Writes<'_>> = writes.into_iter().map(Writes::of).collect();
    let bad = memory
        .ops
        .iter()
        .filter(|op| !op.is_write())
        .find_map(|read| {
            let writes = &writes[read.key as usize];
            if reads == Reads::Quiet && writes.is_overlapped(read) {
                return None;
            }
            writes.why(read)
        });
    bad.map_or(Answer::Holds(Witness::EachRead), Answer::Fails)
}

/// Looks for one order of the writes of each key in which each read finds a place.
pub(super) fn regular_agreed(memory: &Memory, linked: &Linked) -> Answer {
    if let Answer::Fails(why) = regular(memory, Reads::All) {
        return Answer::Fails(why);
    }
    let mut orders = Vec::new();
    for extents in extents(linked) {
        match agreed_order(linked, &extents) {
            Ok(order) if order.is_empty() => {}
            Ok(order) => orders.push(linked.ids(&order)),
            Err(why) => return Answer::Fails(why),
        }
    }
    Answer::Holds(Witness::Orders(orders))
}

/// The writes of each key.
fn extents(linked: &Linked) -> Vec<Vec<Extent>> {
    let mut of_write: Vec<Option<Extent>> = vec![None; linked.len()];
    for (op, i) in linked
        .ops
        .iter()
        .zip(0u32..)
        .filter(|(op, _)| op.is_write())
    {
        of_write[i as usize] = Some(Extent {
            write: i,
            first_end: (op.ret, i),
            last_start: (op.call, i),
        });
    }
    for (read, write) in linked.reads() {
        if let Some(extent) = write.and_then(|write| of_write[write as usize].as_mut()) {
            let op = linked.op(read);
            extent.first_end = extent.first_end.min((op.ret, read));
            extent.last_start = extent.last_start.max((op.call, read));
        }
    }
    let mut of_key: Vec<Vec<Extent>> = vec![Vec::new(); linked.writers.len()];
    for extent in of_write.into_iter().flatten() {
        of_key[linked.op(extent.write).key as usize].push(extent);
    }
    of_key
}

/// A write with the ends of its reads.
#[derive(Clone, Copy)]
struct Extent {
    write: u32,
    /// The first return, of the write or of a read of it, and the operation.
    first_end: (u32, u32),
    /// The last call, of the write or of a read of it, and the operation.
    last_start: (u32, u32),
}

/// An order of the writes of a key in which `x` comes before `y` if `x` returned before the last start of `y`, or the first end of
/// `x` is before the call of `y`.
fn agreed_order(linked: &Linked, extents: &[Extent]) -> Result<Vec<u32>, Why> {
    let mut left = Left::of(linked, extents);
    let mut by_start: Vec<usize> = (0..extents.len()).collect();
    by_start.sort_unstable_by_key(|&i| extents[i].last_start);
    let mut by_start = by_start.into_iter().peekable();
    // Those that no return is before, by call.
    let mut open: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
    let mut order = Vec::with_capacity(extents.len());
    while order.len() < extents.len() {
        let first_return = left.returns.first().map_or(NEVER, |&(ret, _)| ret);
        while let Some(i) = by_start.next_if(|&i| extents[i].last_start.0 <= first_return) {
            open.push(Reverse((linked.op(extents[i].write).call, i)));
        }
        while open.peek().is_some_and(|&Reverse((_, i))| left.is_gone[i]) {
            open.pop();
        }
        let firsts = [left.returns.first(), left.ends.first()];
        let candidates = firsts.into_iter().flatten().map(|&(_, i)| i);
        let next = open.peek().map(|&Reverse((_, i))| i);
        let next = next
            .into_iter()
            .chain(candidates)
            .find(|&i| left.before(i).is_none());
        let Some(next) = next else {
            return Err(disagreement(linked, extents, &left));
        };
        left.remove(next);
        order.push(extents[next].write);
    }
    Ok(order)
}

/// The writes that have no place in the order yet.
struct Left<'l> {
    linked: &'l Linked,
    extents: &'l [Extent],
    returns: BTreeSet<(u32, usize)>,
    ends: BTreeSet<(u32, usize)>,
    is_gone: Vec<bool>,
}

impl<'l> Left<'l> {
    fn of(linked: &'l Linked, extents: &'l [Extent]) -> Self {
        let numbered = || extents.iter().enumerate();
        Left {
            linked,
            extents,
            returns: numbered()
                .map(|(i, of)| (linked.op(of.write).ret, i))
                .collect(),
            ends: numbered().map(|(i, of)| (of.first_end.0, i)).collect(),
            is_gone: vec![false; extents.len()],
        }
    }

    fn remove(&mut self, i: usize) {
        self.returns
            .remove(&(self.linked.op(self.extents[i].write).ret, i));
        self.ends.remove(&(self.extents[i].first_end.0, i));
        self.is_gone[i] = true;
    }

    /// A write that has to come before this one, and whether that is because it returned.
    fn before(&self, i: usize) -> Option<(usize, bool)> {
        let first = |set: &BTreeSet<(u32, usize)>, limit: u32| {
            let other = set.iter().find(|&&(_, other)| other != i);
            other
                .filter(|&&(rank, _)| rank < limit)
                .map(|&(_, other)| other)
        };
        let extent = &self.extents[i];
        let returned = first(&self.returns, extent.last_start.0).map(|other| (other, true));
        let call = self.linked.op(extent.write).call;
        returned.or_else(|| first(&self.ends, call).map(|other| (other, false)))
    }
}

/// Each write that is left has another one before it: a cycle.
fn disagreement(linked: &Linked, extents: &[Extent], left: &Left<'_>) -> Why {
    let mut walk: Vec<usize> = Vec::new();
    let mut at = left.is_gone.iter().position(|gone| !gone).unwrap_or(0);
    while !walk.contains(&at) {
        walk.push(at);
        at = left.before(at).map_or(at, |(other, _)| other);
    }
    let start = walk.iter().position(|&i| i == at).unwrap_or(0);
    let mut links = Vec::new();
    let mut link = |from: u32, to: u32, reason: Reason<OpId>| {
        if from != to {
            links.push(Link {
                from: linked.id(from),
                to: linked.id(to),
                reason,
            });
        }
    };
    // Each one of the walk has the next one before it.
    let cycle: Vec<usize> = walk[start..].iter().rev().copied().collect();
    for (place, &a) in cycle.iter().enumerate() {
        let b = cycle[(place + 1) % cycle.len()];
        let (a, by_return) = left.before(b).unwrap_or((a, true));
        let (a, b) = (extents[a], extents[b]);
        let (from, to) = match by_return {
            true => (a.write, b.last_start.1),
            false => (a.first_end.1, b.write),
        };
        link(a.write, from, Reason::ReadsFrom);
        link(from, to, Reason::Time);
        link(to, b.write, Reason::SameValue);
    }
    Why::Circle {
        links,
        because: Vec::new(),
    }
}
