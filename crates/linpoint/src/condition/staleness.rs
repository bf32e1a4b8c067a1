//! How stale reads are: in versions (k-atomicity) and in time (Δ-atomicity).

use std::collections::{BTreeSet, HashMap, HashSet};

use super::answer::{Answer, Why, Witness};
use super::clusters::{order_by_spans, zones};
use super::graph::Reason;
use super::memory::{Linked, Memory};
use crate::engine::{Budget, Limit, Ticker};
use crate::history::{NEVER, OpId};

/// How stale the reads of a history are at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// There is no order in which every read returns one of fewer than so many last values.
    pub at_least: u32,
    /// There is one in which every read returns one of so many last values.
    pub at_most: u32,
    /// A read that is `at_least` versions old in every order, if that many shows in single reads, and what it returned; none for the
    /// initial value.
    pub worst: Option<(OpId, Option<OpId>)>,
}

/// A write, or the start, as the algorithms see it.
#[derive(Clone, Copy, Debug)]
struct Version {
    /// The operation; none for the initial value.
    write: Option<u32>,
    call: i64,
    /// The return, or a moment just before the first return of a read of it. In half ranks.
    end: i64,
}

/// The writes of a key by their ends, and its reads: (read, position of the write).
struct Key {
    writes: Vec<Version>,
    reads: Vec<(u32, usize)>,
}

fn keys(linked: &Linked) -> Vec<Key> {
    let twice = |rank: u32| {
        if rank == NEVER {
            i64::MAX
        } else {
            2 * i64::from(rank)
        }
    };
    let mut end: Vec<i64> = linked.ops.iter().map(|op| twice(op.ret)).collect();
    for (read, write) in linked.reads() {
        if let Some(write) = write {
            let end = &mut end[write as usize];
            *end = (*end).min(twice(linked.op(read).ret) - 1);
        }
    }
    let mut keys: Vec<Key> = Vec::new();
    for _ in &linked.writers {
        let start = Version {
            write: None,
            call: i64::MIN,
            end: i64::MIN,
        };
        keys.push(Key {
            writes: vec![start],
            reads: Vec::new(),
        });
    }
    for (op, i) in linked
        .ops
        .iter()
        .zip(0u32..)
        .filter(|(op, _)| op.is_write())
    {
        let version = Version {
            write: Some(i),
            call: twice(op.call),
            end: end[i as usize],
        };
        keys[op.key as usize].writes.push(version);
    }
    let mut position: HashMap<u32, usize> = HashMap::new();
    for key in &mut keys {
        key.writes
            .sort_unstable_by_key(|version| (version.end, version.call));
        let writes = key.writes.iter().enumerate();
        position.extend(writes.filter_map(|(at, version)| Some((version.write?, at))));
    }
    for (read, write) in linked.reads() {
        let at = write.map_or(0, |write| position[&write]);
        keys[linked.op(read).key as usize].reads.push((read, at));
    }
    keys
}

/// Bounds for the smallest k, and an order of the operations that shows the upper one; or why there is none: a read of the future.
/// With a number that is `enough`, orders are tried only until it is known whether the smallest k is at most that.
pub(super) fn smallest_k(
    linked: &Linked,
    enough: Option<u32>,
    budget: &Budget,
) -> Result<Result<(Versions, Vec<u32>), Why>, Limit> {
    if let Some((read, write)) = linked.future_read() {
        return Ok(Err(Why::Future {
            read: linked.id(read),
            write: linked.id(write),
        }));
    }
    let mut all = Versions {
        at_least: 1,
        at_most: 1,
        worst: None,
    };
    let mut order = Vec::with_capacity(linked.len());
    for key in keys(linked) {
        budget.check()?;
        let (versions, writes) = key.smallest(linked, enough, budget);
        if versions.at_least > all.at_least {
            all.at_least = versions.at_least;
            all.worst = versions.worst;
        }
        all.at_most = all.at_most.max(versions.at_most);
        order.extend(key.with_reads(linked, &writes));
    }
    order.sort_by_key(|&(moment, _)| moment);
    Ok(Ok((all, order.into_iter().map(|(_, i)| i).collect())))
}

impl Key {
    /// Bounds for the smallest k, and an order of the writes for the upper one.
    fn smallest(
        &self,
        linked: &Linked,
        enough: Option<u32>,
        budget: &Budget,
    ) -> (Versions, Vec<usize>) {
        let as_sorted: Vec<usize> = (0..self.writes.len()).collect();
        let (shown, worst) = self.least(linked);
        let at_most = self
            .reads
            .iter()
            .map(|&(read, at)| self.due(linked, read).saturating_sub(at));
        let at_most = at_most.max().unwrap_or(1).max(1) as u32;
        let worst = worst.map(|(read, at)| {
            let write = self.writes[at].write;
            (linked.id(read), write.map(|write| linked.id(write)))
        });
        let bounds = |at_least: u32, at_most: u32| Versions {
            at_least,
            at_most,
            worst: worst.filter(|_| at_least <= shown),
        };
        if shown >= at_most {
            return (bounds(at_most, at_most), as_sorted);
        }
        let candidates = match enough {
            Some(k) => k.max(shown)..at_most.min(k.saturating_add(1)),
            None => shown..at_most,
        };
        let mut at_least = shown;
        for k in candidates {
            let found = match k {
                1 => Ok(self.one_atomic(linked)),
                2 => Ok(self.two_atomic(linked)),
                _ => self.k_atomic(linked, k as usize, budget),
            };
            match found {
                Ok(Some(order)) => return (bounds(at_least, k), order),
                Ok(None) => at_least = k + 1,
                Err(_) => break,
            }
        }
        (bounds(at_least, at_most), as_sorted)
    }

    /// How many of the sorted writes ended before a read began.
    fn due(&self, linked: &Linked, read: u32) -> usize {
        let call = 2 * i64::from(linked.op(read).call);
        self.writes.partition_point(|version| version.end < call)
    }

    /// The most writes that lie between a read and what it returned in every order, and one more.
    fn least(&self, linked: &Linked) -> (u32, Option<(u32, usize)>) {
        let mut reads: Vec<(u32, usize)> = self.reads.clone();
        reads.sort_unstable_by_key(|&(read, _)| linked.op(read).call);
        let mut calls: Vec<i64> = self.writes.iter().map(|version| version.call).collect();
        calls.sort_unstable();
        let mut ended = Tally::new(calls.len());
        let (mut next, mut most) = (0, (1, None));
        for (read, at) in reads {
            let due = self.due(linked, read);
            while next < due {
                let call = self.writes[next].call;
                ended.add(calls.partition_point(|&other| other < call));
                next += 1;
            }
            let later = calls.partition_point(|&call| call <= self.writes[at].end);
            let between = 1 + ended.from(later);
            if between > most.0 {
                most = (between, Some((read, at)));
            }
        }
        most
    }

    /// An order of the writes in which reads are not stale, if there is one.
    fn one_atomic(&self, linked: &Linked) -> Option<Vec<usize>> {
        let last = self.last_reads(linked);
        let mut order: Vec<usize> = (0..self.writes.len()).collect();
        // As zones are ordered: by the first end or, if nothing comes between, by the last call.
        order.sort_by_key(|&at| {
            let version = &self.writes[at];
            let start = version.call.max(last[at]);
            (version.end.min(start), version.end < start)
        });
        self.fits(linked, &order, 1).then_some(order)
    }

    fn last_reads(&self, linked: &Linked) -> Vec<i64> {
        let mut last = vec![i64::MIN; self.writes.len()];
        for &(read, at) in &self.reads {
            last[at] = last[at].max(2 * i64::from(linked.op(read).call));
        }
        last
    }

    /// Whether an order of the writes keeps to time, and each read returns one of the last k.
    fn fits(&self, linked: &Linked, order: &[usize], k: usize) -> bool {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, &at)| place[at] = i);
        // The place up to which writes must have come that ended before a moment.
        let mut furthest: Vec<usize> = place.clone();
        for i in 1..furthest.len() {
            furthest[i] = furthest[i].max(furthest[i - 1]);
        }
        let latest = |due: usize| due.checked_sub(1).map_or(0, |last| furthest[last]);
        let in_time = self.writes.iter().enumerate().all(|(at, version)| {
            let due = self
                .writes
                .partition_point(|other| other.end < version.call);
            due == 0 || latest(due) < place[at]
        });
        in_time
            && self
                .reads
                .iter()
                .all(|&(read, at)| latest(self.due(linked, read)) < place[at] + k)
    }

    /// The algorithm LBT of Golab, Hurwitz and Li (2013), from right to left. An epoch is forced once its last write is chosen, and it
    /// removes whole clusters, so it is never undone.
    fn two_atomic(&self, linked: &Linked) -> Option<Vec<usize>> {
        let mut left = Clusters::of(self, linked);
        let mut order = Vec::with_capacity(self.writes.len());
        while let Some(&(last_call, _)) = left.calls.last() {
            let candidates = left
                .ends
                .iter()
                .rev()
                .take_while(|&&(end, _)| end >= last_call);
            let mut candidates: Vec<usize> = candidates.map(|&(_, at)| at).collect();
            let (_, latest) = *left.calls.last()?;
            if !candidates.contains(&latest) {
                candidates.push(latest);
            }
            let epoch = candidates.into_iter().find_map(|at| left.epoch(at));
            for at in epoch? {
                left.remove(at);
                order.push(at);
            }
        }
        order.reverse();
        Some(order)
    }

    /// Tries all orders of the writes in which each read returns one of the last `k`.
    fn k_atomic(
        &self,
        linked: &Linked,
        k: usize,
        budget: &Budget,
    ) -> Result<Option<Vec<usize>>, Limit> {
        let mut due = vec![0; self.writes.len()];
        for &(read, at) in &self.reads {
            due[at] = due[at].max(self.due(linked, read));
        }
        let mut search = Windows {
            key: self,
            due,
            k,
            ticker: Ticker::new(budget),
            failed: HashSet::new(),
            order: vec![0],
            is_placed: vec![false; self.writes.len()],
        };
        search.is_placed[0] = true;
        Ok(search.extend(1)?.then_some(search.order))
    }

    /// The operations with moments at which they can take effect, by this order of the writes.
    fn with_reads(&self, linked: &Linked, order: &[usize]) -> Vec<(i64, u32)> {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, &at)| place[at] = i);
        let mut furthest = place.clone();
        for i in 1..furthest.len() {
            furthest[i] = furthest[i].max(furthest[i - 1]);
        }
        let mut behind: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
        for &(read, at) in &self.reads {
            let due = self.due(linked, read);
            let latest = due.checked_sub(1).map_or(0, |last| furthest[last]);
            behind[latest.max(place[at])].push(read);
        }
        let mut all = Vec::new();
        let mut moment = i64::MIN;
        for (&at, reads) in order.iter().zip(&mut behind) {
            reads.sort_unstable_by_key(|&read| linked.op(read).call);
            for i in self.writes[at]
                .write
                .into_iter()
                .chain(reads.iter().copied())
            {
                moment = moment.max(i64::from(linked.op(i).call));
                all.push((moment, i));
            }
        }
        all
    }
}

/// Counts of numbers, with the sum from any place on.
struct Tally(Vec<u32>);

impl Tally {
    fn new(size: usize) -> Self {
        Tally(vec![0; size + 1])
    }

    fn add(&mut self, place: usize) {
        let mut i = self.0.len() - 1 - place;
        while i < self.0.len() {
            self.0[i] += 1;
            i += i & i.wrapping_neg();
        }
    }

    fn from(&self, place: usize) -> u32 {
        let mut i = self.0.len() - 1 - place;
        let mut sum = 0;
        while i > 0 {
            sum += self.0[i];
            i -= i & i.wrapping_neg();
        }
        sum
    }
}

/// The clusters that are left for LBT.
struct Clusters<'k> {
    key: &'k Key,
    calls: BTreeSet<(i64, usize)>,
    ends: BTreeSet<(i64, usize)>,
    /// The reads of all clusters that are left, by call: (call, write).
    reads: BTreeSet<(i64, usize, u32)>,
    reads_of: Vec<Vec<(i64, u32)>>,
}

impl<'k> Clusters<'k> {
    fn of(key: &'k Key, linked: &Linked) -> Self {
        let mut reads_of = vec![Vec::new(); key.writes.len()];
        let mut reads = BTreeSet::new();
        for &(read, at) in &key.reads {
            let call = 2 * i64::from(linked.op(read).call);
            reads.insert((call, at, read));
            reads_of[at].push((call, read));
        }
        let numbered = || key.writes.iter().enumerate();
        Clusters {
            key,
            calls: numbered().map(|(at, version)| (version.call, at)).collect(),
            ends: numbered().map(|(at, version)| (version.end, at)).collect(),
            reads,
            reads_of,
        }
    }

    /// The writes of the epoch whose last one is `at`, from right to left; none if it cannot be the last one.
    fn epoch(&self, at: usize) -> Option<Vec<usize>> {
        let mut gone: HashSet<usize> = HashSet::new();
        // All reads that started after an epoch's last write ended belong to removed clusters, or are of the one next to it.
        let mut removed = Vec::new();
        let mut at = at;
        loop {
            let end = self.key.writes[at].end;
            let mut later = self.calls.iter().rev().take_while(|&&(call, _)| call > end);
            if later.any(|&(_, other)| other != at && !gone.contains(&other)) {
                return None;
            }
            gone.insert(at);
            removed.push(at);
            let after = self
                .reads
                .iter()
                .rev()
                .take_while(|&&(call, ..)| call > end);
            let mut due: Option<usize> = None;
            for &(_, write, _) in after {
                if gone.contains(&write) || due == Some(write) {
                    continue;
                }
                if due.is_some() {
                    return None;
                }
                due = Some(write);
            }
            match due {
                None => return Some(removed),
                Some(next) => at = next,
            }
        }
    }

    fn remove(&mut self, at: usize) {
        let version = &self.key.writes[at];
        self.calls.remove(&(version.call, at));
        self.ends.remove(&(version.end, at));
        for &(call, read) in &self.reads_of[at] {
            self.reads.remove(&(call, at, read));
        }
    }
}

/// The search for an order of the writes with a window of k values.
struct Windows<'k> {
    key: &'k Key,
    k: usize,
    ticker: Ticker<'k>,
    /// What was tried: how many of the sorted writes were placed without a gap, those placed besides, and the window.
    failed: HashSet<(usize, Vec<usize>, Vec<usize>)>,
    order: Vec<usize>,
    is_placed: Vec<bool>,
    /// For each write, how many of the sorted writes come before some read of it.
    due: Vec<usize>,
}

impl Windows<'_> {
    /// Places the remaining writes; the first `dense` sorted ones are placed.
    fn extend(&mut self, mut dense: usize) -> Result<bool, Limit> {
        self.ticker.tick()?;
        let count = self.key.writes.len();
        while dense < count && self.is_placed[dense] {
            dense += 1;
        }
        if dense == count {
            return Ok(true);
        }
        let window = self.order[self.order.len().saturating_sub(self.k)..].to_vec();
        let besides = (dense..count).filter(|&at| self.is_placed[at]).collect();
        if !self.failed.insert((dense, besides, window)) {
            return Ok(false);
        }
        for at in dense..count {
            let version = &self.key.writes[at];
            // All that ended before its call must be placed, and they are a beginning of the sorted ones.
            let due = self
                .key
                .writes
                .partition_point(|other| other.end < version.call);
            if self.is_placed[at] || (dense..due).any(|other| other != at && !self.is_placed[other])
            {
                continue;
            }
            self.order.push(at);
            self.is_placed[at] = true;
            if !self.strands(dense) && self.extend(dense)? {
                return Ok(true);
            }
            self.order.pop();
            self.is_placed[at] = false;
        }
        Ok(false)
    }

    /// Whether the write that has just left the window has a read before which a write comes that was not placed before the last one.
    fn strands(&self, dense: usize) -> bool {
        let newest = self.order[self.order.len() - 1];
        let lost = self
            .order
            .len()
            .checked_sub(self.k + 1)
            .map(|i| self.order[i]);
        let due = lost.map_or(0, |lost| self.due[lost]);
        (dense..due).any(|at| !self.is_placed[at] || at == newest)
    }
}

/// How late reads are at most, in the unit of the recorded times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// The smallest shift of reads into the past that makes the history linearizable.
    pub delta: i64,
    /// A read that needs it, unless it is 0.
    pub worst: Option<OpId>,
}

/// The smallest shift and an order for it, or why there is none; `None` if the history has no times.
type Shift = Option<Result<(Lateness, Vec<OpId>), Why>>;

/// The smallest shift of all reads into the past that makes the history linearizable, with an order for it. Operations that touch
/// overlap.
pub(super) fn smallest_delta(
    memory: &Memory,
    linked: &Linked,
    budget: &Budget,
) -> Result<Shift, Limit> {
    if !memory.is_timed {
        return Ok(None);
    }
    let span = |delta: i64| {
        move |i: u32| {
            let op = linked.op(i);
            let (call, ret) = op.times;
            let ret = if op.is_pending() { i64::MAX } else { ret };
            match op.is_write() {
                true => (call, ret),
                false => (call.saturating_sub(delta), ret),
            }
        }
    };
    let mut keys: Vec<Vec<u32>> = vec![Vec::new(); linked.writers.len()];
    (0..linked.len() as u32).for_each(|i| keys[linked.op(i).key as usize].push(i));
    let mut lateness = Lateness {
        delta: 0,
        worst: None,
    };
    for ops in keys {
        budget.check()?;
        let fails = |delta: i64| zones(linked, &ops, &span(delta), Reason::Time).err();
        // Few keys are later than all before them.
        if fails(lateness.delta).is_none() {
            continue;
        }
        let times = ops
            .iter()
            .flat_map(|&i| [linked.op(i).times.0, linked.op(i).times.1]);
        let times = times.filter(|&time| time != i64::MAX);
        let first = times.clone().min().unwrap_or(0);
        let most = times.max().unwrap_or(0).saturating_sub(first);
        if let Some(why) = fails(most) {
            return Ok(Some(Err(why)));
        }
        // It fails at `low` and not at `high`.
        let (mut low, mut high) = (lateness.delta, most);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match fails(middle) {
                Some(_) => low = middle,
                None => high = middle,
            }
        }
        // The read that has to be moved further than `low`, of those that contradict each other there.
        let named = fails(low).map_or_else(Vec::new, |why| why.ops());
        let is_named = |&i: &u32| named.binary_search(&linked.op(i).id).is_ok();
        let few: Vec<u32> = ops.iter().copied().filter(is_named).collect();
        let is_enough = |read: u32| {
            let moved = |i: u32| {
                if i == read {
                    span(high)(i)
                } else {
                    span(low)(i)
                }
            };
            zones(linked, &few, &moved, Reason::Time).is_ok()
        };
        let mut reads = few.iter().copied().filter(|&i| !linked.op(i).is_write());
        let worst = reads.rfind(|&read| is_enough(read));
        lateness = Lateness {
            delta: high,
            worst: worst.map(|read| linked.id(read)),
        };
    }
    match order_by_spans(linked, &span(lateness.delta), Reason::Time) {
        Answer::Holds(Witness::Order(order)) => Ok(Some(Ok((lateness, order)))),
        Answer::Fails(why) => Ok(Some(Err(why))),
        Answer::Holds(_) => unreachable!("bug: clusters have one order"),
    }
}
