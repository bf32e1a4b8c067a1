//! The real-time order of operations as a partial order, for hitting families.

use smallvec::SmallVec;

use crate::history::{History, Interval, NEVER, precedes};

/// The interval order of operations, numbered by their calls and split into chains.
///
/// Invariant: the successors of an operation are those that are called after its return, so all operations from some number
/// on.
///
/// ```
/// use linpoint::engine::hitting::Poset;
/// // Two threads: the first one returns before the second call of the other.
/// let poset = Poset::new(&[(0, 3, 0), (1, 2, 1), (4, 5, 1)]);
/// assert!(poset.precedes(0, 2) && !poset.precedes(0, 1));
/// assert_eq!(poset.chains().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Poset {
    calls: Vec<u32>,
    rets: Vec<u32>,
    /// The number of the thread, by operation.
    threads: Vec<u32>,
    chains: Vec<Vec<u32>>,
    chain_of: Vec<u32>,
    /// The first operation that is called after the return.
    after: Vec<u32>,
    /// One past the last operation that returned.
    returned: u32,
}

/// A linear extension that breaks ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Base {
    /// Thread by thread, as far as real time allows: the numbers that Violat gives to operations.
    Ids,
    /// By call.
    Call,
    /// By return.
    #[default]
    Return,
    /// By the middle between call and return.
    Midpoint,
}

impl Base {
    /// All orders with their names.
    pub const NAMES: &'static [(&'static str, Base)] = &[
        ("ids", Base::Ids),
        ("call", Base::Call),
        ("return", Base::Return),
        ("midpoint", Base::Midpoint),
    ];

    /// The name by which users call it.
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, base)| *base == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Poset {
    /// The order of operations with these calls, returns ([`NEVER`] while pending) and threads. The operations are numbered in
    /// the order of their calls.
    pub fn new(intervals: &[(u32, u32, u32)]) -> Self {
        let mut sorted = intervals.to_vec();
        sorted.sort_unstable_by_key(|&(call, ..)| call);
        let calls: Vec<u32> = sorted.iter().map(|op| op.0).collect();
        let rets: Vec<u32> = sorted.iter().map(|op| op.1).collect();
        let threads: Vec<u32> = sorted.iter().map(|op| op.2).collect();
        let after = |&ret: &u32| calls.partition_point(|&call| !precedes(ret, call)) as u32;
        let (chains, chain_of) = split_into_chains(&calls, &rets, &threads);
        let last = rets.iter().rposition(|&ret| ret != NEVER);
        Poset {
            after: rets.iter().map(after).collect(),
            returned: last.map_or(0, |last| last as u32 + 1),
            calls,
            rets,
            threads,
            chains,
            chain_of,
        }
    }

    /// The order of the operations of a recorded history. Threads are its processes, in the order of their names.
    pub fn of(history: &History) -> Self {
        let mut names: Vec<u32> = (0..history.processes().len() as u32).collect();
        names.sort_by_key(|&process| &history.processes()[process as usize]);
        let mut place = vec![0; names.len()];
        (0u32..)
            .zip(&names)
            .for_each(|(i, &process)| place[process as usize] = i);
        let columns = history.calls().iter().zip(history.rets());
        let intervals: Vec<_> = columns
            .zip(history.process_column())
            .map(|((&call, &ret), process)| (call, ret, place[process.0 as usize]))
            .collect();
        Self::new(&intervals)
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The chains: one for each thread, or several if operations of the thread overlap.
    pub fn chains(&self) -> &[Vec<u32>] {
        &self.chains
    }

    pub(super) fn chain_of(&self, op: u32) -> u32 {
        self.chain_of[op as usize]
    }

    pub(super) fn is_pending(&self, op: u32) -> bool {
        self.rets[op as usize] == NEVER
    }

    pub(super) fn interval(&self, op: u32) -> Interval {
        Interval {
            call: self.calls[op as usize],
            ret: self.rets[op as usize],
        }
    }

    /// Whether all operations that returned are below `hi` and not among the holes.
    pub(super) fn all_returned_are_in(&self, hi: u32, holes: &[u32]) -> bool {
        hi >= self.returned && holes.iter().all(|&op| self.is_pending(op))
    }

    /// Whether `a` returned before `b` was called.
    pub fn precedes(&self, a: u32, b: u32) -> bool {
        self.interval(a).precedes(self.interval(b))
    }

    /// Whether neither precedes the other.
    pub fn are_concurrent(&self, a: u32, b: u32) -> bool {
        a != b && self.interval(a).overlaps(self.interval(b))
    }

    /// Whether `y` is `x`, or `x` precedes `y`.
    pub fn is_at_or_after(&self, y: u32, x: u32) -> bool {
        y == x || y >= self.after[x as usize]
    }

    /// `x` and its successors.
    pub(super) fn up(&self, x: u32) -> impl Iterator<Item = u32> + use<> {
        std::iter::once(x).chain(self.after[x as usize]..self.len() as u32)
    }

    /// For each operation, whether some other one is concurrent with it.
    pub(super) fn contended(&self) -> Vec<bool> {
        let mut latest_return = 0;
        let is_contended = |op: usize| {
            let overlaps_earlier = op > 0 && !precedes(latest_return, self.calls[op]);
            latest_return = latest_return.max(self.rets[op]);
            overlaps_earlier || self.after[op] as usize > op + 1
        };
        (0..self.len()).map(is_contended).collect()
    }

    /// Whether the members are distinct and none precedes an earlier one. Otherwise the tuple is hit by the same schedules as
    /// the tuple without the offending members.
    pub fn is_feasible(&self, tuple: &[u32]) -> bool {
        let later_fits = |i: usize| {
            tuple[i + 1..]
                .iter()
                .all(|&later| later != tuple[i] && !self.precedes(later, tuple[i]))
        };
        (0..tuple.len()).all(later_fits)
    }

    /// Whether this order of all operations obeys real time.
    pub fn is_schedule(&self, order: &[u32]) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        let mut latest_call = 0;
        sorted.iter().copied().eq(0..self.len() as u32)
            && order.iter().all(|&op| {
                let fits = !precedes(self.rets[op as usize], latest_call);
                latest_call = latest_call.max(self.calls[op as usize]);
                fits
            })
    }

    /// Returns all operations in this order, which obeys real time.
    pub fn base_order(&self, base: Base) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        let call = |op: u32| u64::from(self.calls[op as usize]);
        // A pending operation is ordered by its call: it may take effect at any time from there, or never.
        let ret = |op: u32| match self.rets[op as usize] {
            NEVER => call(op),
            ret => u64::from(ret),
        };
        match base {
            Base::Call => {}
            Base::Return => order.sort_by_key(|&op| ret(op)),
            Base::Midpoint => order.sort_by_key(|&op| call(op) + ret(op)),
            Base::Ids => {
                order.sort_by_key(|&op| self.threads[op as usize]);
                let by_thread = std::mem::take(&mut order);
                for op in by_thread {
                    let place = order.iter().position(|&listed| self.precedes(op, listed));
                    order.insert(place.unwrap_or(order.len()), op);
                }
            }
        }
        order
    }
}

/// Splits each thread into chains: an operation that overlaps an earlier one of its thread begins another chain.
fn split_into_chains(calls: &[u32], rets: &[u32], threads: &[u32]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut by_thread: Vec<u32> = (0..calls.len() as u32).collect();
    by_thread.sort_by_key(|&op| threads[op as usize]);
    let mut chains: Vec<Vec<u32>> = Vec::new();
    let mut chain_of = vec![0; calls.len()];
    for op in by_thread {
        let goes_on = chains
            .last()
            .and_then(|chain| chain.last())
            .is_some_and(|&last| {
                threads[last as usize] == threads[op as usize]
                    && precedes(rets[last as usize], calls[op as usize])
            });
        if !goes_on {
            chains.push(Vec::new());
        }
        chain_of[op as usize] = chains.len() as u32 - 1;
        if let Some(chain) = chains.last_mut() {
            chain.push(op);
        }
    }
    (chains, chain_of)
}

/// A down-set of operations: with each operation it contains all that precede it.
///
/// Invariant: it contains the operations below `hi` except the holes. The holes are open at the call of the last operation
/// contained, so there are fewer holes than threads, whatever the length of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Down {
    pub(super) hi: u32,
    pub(super) holes: SmallVec<[u32; 6]>,
}

impl Down {
    pub(super) fn contains(&self, op: u32) -> bool {
        op < self.hi && !self.holes.contains(&op)
    }

    /// Returns this set with one more operation, which must be minimal among those outside.
    pub(super) fn with(&self, op: u32) -> Down {
        let mut next = self.clone();
        if op >= self.hi {
            next.holes.extend(self.hi..op);
            next.hi = op + 1;
        } else {
            next.holes.retain(|hole| *hole != op);
        }
        next
    }

    /// Collects the minimal operations outside this set, in the order of their calls.
    pub(super) fn minimal_outside(&self, poset: &Poset, out: &mut Vec<u32>) {
        out.clear();
        let mut first_return = NEVER;
        let outside = self
            .holes
            .iter()
            .copied()
            .chain(self.hi..poset.len() as u32);
        for op in outside {
            if precedes(first_return, poset.calls[op as usize]) {
                break;
            }
            first_return = first_return.min(poset.rets[op as usize]);
            out.push(op);
        }
    }

    /// The rank of the first return of an operation outside this set; [`NEVER`] if there is none.
    pub(super) fn first_return_outside(&self, poset: &Poset) -> u32 {
        let mut first_return = NEVER;
        for op in self
            .holes
            .iter()
            .copied()
            .chain(self.hi..poset.len() as u32)
        {
            // All further operations are called even later.
            if precedes(first_return, poset.calls[op as usize]) {
                break;
            }
            first_return = first_return.min(poset.rets[op as usize]);
        }
        first_return
    }

    /// Whether this set contains all operations that returned.
    pub(super) fn is_done(&self, poset: &Poset) -> bool {
        poset.all_returned_are_in(self.hi, &self.holes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_hold_even_where_a_thread_overlaps_itself() {
        let poset = Poset::new(&[(0, 1, 0), (2, NEVER, 0), (3, 4, 0), (5, 6, 1)]);
        assert_eq!(poset.chains(), [vec![0, 1], vec![2], vec![3]]);
        let ordered = |chain: &Vec<u32>| chain.windows(2).all(|two| poset.precedes(two[0], two[1]));
        assert!(poset.chains().iter().all(ordered));
    }

    #[test]
    fn holes_come_and_go() {
        // 0 is long; 1, 2 and 3 follow each other beside it.
        let poset = Poset::new(&[(0, 7, 0), (1, 2, 1), (3, 4, 1), (5, 6, 1)]);
        let mut out = Vec::new();
        let one = Down::default().with(1);
        assert_eq!((one.hi, one.holes.as_slice()), (2, [0].as_slice()));
        one.minimal_outside(&poset, &mut out);
        assert_eq!(out, [0, 2]);
        let both = one.with(2).with(0);
        assert_eq!((both.hi, both.holes.len()), (3, 0));
        assert!(both.contains(0) && !both.contains(3) && !both.is_done(&poset));
        assert!(both.with(3).is_done(&poset));
    }

    #[test]
    fn contended_operations_overlap_some_other() {
        let poset = Poset::new(&[(0, 1, 0), (2, 6, 0), (3, 4, 1), (5, 8, 1), (9, 10, 0)]);
        assert_eq!(poset.contended(), [false, true, true, true, false]);
    }

    #[test]
    fn base_orders_are_schedules() {
        let poset = Poset::new(&[(0, 9, 2), (1, 2, 1), (3, 6, 1), (4, 5, 0), (7, NEVER, 0)]);
        for &(_, base) in Base::NAMES {
            assert!(poset.is_schedule(&poset.base_order(base)), "{base:?}");
        }
        assert_eq!(poset.base_order(Base::Ids), [1, 3, 2, 4, 0]);
    }
}
