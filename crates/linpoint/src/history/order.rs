//! The real-time order of operations: [`precedes`], ranks of calls and returns by their times, events in order, and the
//! [`Shape`] of a history.

use super::NEVER;

/// Whether an operation that returned at `ret` precedes one that was called at `call`: the real-time order of Herlihy and
/// Wing. Both are ranks, or both are numbers of events counted by an online monitor.
///
/// Every engine, monitor, reducer and certificate asks this function, directly or through [`Interval`], or sweeps over events
/// in their order. Another order (a weaker condition) is another implementation of this one function.
///
/// An operation that never returned precedes none, as [`NEVER`] is the largest rank.
#[inline]
pub(crate) fn precedes<T: Ord>(ret: T, call: T) -> bool {
    ret < call
}

/// The time from the call of an operation to its return, in ranks.
///
/// Invariant: `call < ret`, and `ret` is [`NEVER`] for a pending operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) call: u32,
    pub(crate) ret: u32,
}

impl Interval {
    /// Whether this operation returned before the other one was called.
    #[inline]
    pub(crate) fn precedes(self, other: Interval) -> bool {
        precedes(self.ret, other.call)
    }

    /// Whether neither operation precedes the other: they are concurrent.
    #[inline]
    pub(crate) fn overlaps(self, other: Interval) -> bool {
        !self.precedes(other) && !other.precedes(self)
    }
}

/// How calls and returns with equal times are ordered. No other code compares times.
///
/// The default treats intervals as closed: operations that touch overlap. This is the safe choice for a coarse clock, since
/// it only adds concurrency, and so never reports a violation that the other choice does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ties {
    /// Calls come before returns: touching operations are concurrent.
    #[default]
    CallFirst,
    /// Returns come before calls: touching operations are ordered.
    ReturnFirst,
}

impl Ties {
    /// The position of a call or a return among events of the same time.
    fn class(self, kind: EventKind) -> u8 {
        match (self, kind) {
            (Ties::CallFirst, EventKind::Call) | (Ties::ReturnFirst, EventKind::Return) => 0,
            (Ties::CallFirst, EventKind::Return) | (Ties::ReturnFirst, EventKind::Call) => 1,
        }
    }

    /// The ranks of calls and returns with these times, for programs that make a [log](crate::engine::monitor::Log)
    /// themselves. A return time of `i64::MAX` marks a pending operation, and its rank is [`NEVER`].
    ///
    /// ```
    /// use linpoint::Ties;
    /// // The second operation is called when the first one returns.
    /// assert_eq!(Ties::CallFirst.ranks(vec![10, 30], vec![30, 40]), (vec![0, 1], vec![2, 3]));
    /// assert_eq!(Ties::ReturnFirst.ranks(vec![10, 30], vec![30, 40]), (vec![0, 2], vec![1, 3]));
    /// ```
    pub fn ranks(self, calls: Vec<i64>, rets: Vec<i64>) -> (Vec<u32>, Vec<u32>) {
        let pending = rets.iter().map(|&ret| ret == i64::MAX).collect();
        let ranks = self.rank(&Times {
            call: calls,
            ret: rets,
            pending,
        });
        (ranks.call, ranks.ret)
    }

    /// Replaces times by ranks.
    pub(super) fn rank(self, times: &Times) -> Ranks {
        if let Some(ranks) = times.as_ranks() {
            return ranks;
        }
        // Each time is sorted together with its operation, since looking it up during the sort is slower. Most inputs are in
        // the order of calls already; then only the returns are sorted.
        let calls =
            (!times.call.is_sorted()).then(|| sorted_by_time(times.call.iter().copied().zip(0..)));
        let call_at = |place: usize| match &calls {
            None => (times.call[place], place as u32),
            Some(calls) => calls[place],
        };
        let count = times.call.len();
        let returns = (0..count)
            .map(|place| call_at(place).1)
            .filter(|&row| !times.is_pending(row as usize))
            .map(|row| (times.ret[row as usize], row));
        let returns = sorted_by_time(returns);

        let call_class = self.class(EventKind::Call);
        let return_class = self.class(EventKind::Return);
        let mut ranks = Ranks {
            call: vec![0; count],
            ret: vec![NEVER; count],
        };
        let (mut place, mut rank) = (0, 0);
        for (returned, returning) in returns {
            while place < count
                && let (called, row) = call_at(place)
                && (called, call_class) < (returned, return_class)
            {
                ranks.call[row as usize] = rank;
                (place, rank) = (place + 1, rank + 1);
            }
            ranks.ret[returning as usize] = rank;
            rank += 1;
        }
        for place in place..count {
            ranks.call[call_at(place).1 as usize] = rank;
            rank += 1;
        }
        ranks
    }
}

/// The times of calls and returns by operation, in any unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub(crate) call: Vec<i64>,
    /// `i64::MAX` for a pending operation.
    pub(crate) ret: Vec<i64>,
    /// Whether the operation is pending. Empty if none is.
    pub(crate) pending: Vec<bool>,
}

impl Times {
    pub(crate) fn is_pending(&self, row: usize) -> bool {
        !self.pending.is_empty() && self.pending[row]
    }

    /// The ranks, if the times are consecutive numbers without ties, so that sorting is not needed.
    fn as_ranks(&self) -> Option<Ranks> {
        let first = *self.call.iter().min()?;
        // A time that cannot be a rank ends this; for most inputs the first times do.
        let most = 2 * self.call.len() as u64;
        let rank = |time: i64| {
            let rank = time.checked_sub(first)? as u64;
            (rank < most).then_some(rank as u32)
        };
        let call = self.call.iter().map(|&time| rank(time));
        let call = call.collect::<Option<_>>()?;
        let ret = (0..self.ret.len()).map(|row| match self.is_pending(row) {
            true => Some(NEVER),
            false => rank(self.ret[row]),
        });
        let ret = ret.collect::<Option<_>>()?;
        let ranks = Ranks { call, ret };
        ranks.are_complete().then_some(ranks)
    }
}

/// The ranks of calls and returns by operation: their positions in the order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranks {
    pub(crate) call: Vec<u32>,
    /// [`NEVER`] for pending operations.
    pub(crate) ret: Vec<u32>,
}

impl Ranks {
    /// Whether the ranks are the numbers below the number of events, each used once.
    pub(super) fn are_complete(&self) -> bool {
        let pending = self.ret.iter().filter(|&&ret| ret == NEVER).count();
        let events = self.call.len() + self.ret.len() - pending;
        // The extra last slot takes NEVER and all ranks that are out of range.
        let mut taken = vec![0u8; events + 1];
        for ranks in [&self.call, &self.ret] {
            for &rank in ranks {
                taken[events.min(rank as usize)] = 1;
            }
        }
        // There are as many slots as events, so if each is taken, none is taken twice.
        !taken[..events].contains(&0)
    }

    /// The ranks as times.
    pub(super) fn as_times(&self) -> Times {
        let time = |&rank: &u32| match rank {
            NEVER => i64::MAX,
            rank => rank.into(),
        };
        Times {
            call: self.call.iter().map(time).collect(),
            ret: self.ret.iter().map(time).collect(),
            pending: self.ret.iter().map(|&ret| ret == NEVER).collect(),
        }
    }
}

/// Sorts events by time. Events with equal times keep their order.
fn sorted_by_time(events: impl Iterator<Item = (i64, u32)> + Clone) -> Vec<(i64, u32)> {
    let times = || events.clone().map(|event| event.0);
    let (mut count, mut first, mut last, mut are_sorted) = (0u64, i64::MAX, i64::MIN, true);
    times().for_each(|time| {
        count += 1;
        are_sorted &= last <= time;
        (first, last) = (first.min(time), last.max(time));
    });
    if are_sorted {
        return events.collect();
    }
    // A bucket sort: times are mostly spread evenly, so with as many buckets as events each holds a few.
    let mut shift = 0;
    while last.abs_diff(first) >> shift >= count {
        shift += 1;
    }
    let bucket = |time: i64| (time.abs_diff(first) >> shift) as usize;
    let mut ends = vec![0u32; bucket(last) + 1];
    times().for_each(|time| ends[bucket(time)] += 1);
    let largest = ends.iter().copied().max().unwrap_or(0);
    let mut end = 0;
    for bucket in &mut ends {
        end += *bucket;
        *bucket = end - *bucket;
    }
    let mut sorted = vec![(0, 0); count as usize];
    for event in events {
        let place = &mut ends[bucket(event.0)];
        sorted[*place as usize] = event;
        *place += 1;
    }
    if largest <= 32 {
        // Insertion sort: an event is at most as far from its final position as its bucket is large.
        for i in 1..sorted.len() {
            let (event, mut place) = (sorted[i], i);
            while place > 0 && event.0 < sorted[place - 1].0 {
                sorted[place] = sorted[place - 1];
                place -= 1;
            }
            sorted[place] = event;
        }
    } else if shift > 0 {
        let mut start = 0;
        for end in ends {
            sorted[start..end as usize].sort_by_key(|event| event.0);
            start = end as usize;
        }
    }
    sorted
}

/// Whether an event is a call or a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    Call,
    Return,
}

/// The calls and returns of operations in the order of time, as (position in the slices, kind).
///
/// The caller must pass `calls` in ascending order, which holds for every history and part.
pub(crate) fn events_in_order(calls: &[u32], rets: &[u32]) -> Vec<(u32, EventKind)> {
    debug_assert!(calls.is_sorted());
    let returns = returns_in_order(calls, rets);
    let mut events = Vec::with_capacity(calls.len() + returns.len());
    let mut returns = returns.into_iter().peekable();
    for (i, &call) in (0u32..).zip(calls) {
        while let Some(op) = returns.next_if(|&op| precedes(rets[op as usize], call)) {
            events.push((op, EventKind::Return));
        }
        events.push((i, EventKind::Call));
    }
    events.extend(returns.map(|op| (op, EventKind::Return)));
    events
}

/// Marks a rank at which no operation returns. Invariant: no operation has this position, since a history holds at most 2^31
/// operations.
const NO_OP: u32 = u32::MAX;

/// The operations that returned, in that order.
fn returns_in_order(calls: &[u32], rets: &[u32]) -> Vec<u32> {
    let returned = || (0u32..).zip(rets).filter(|&(_, &ret)| ret != NEVER);
    let first = calls.first().copied().unwrap_or(0);
    let Some(last) = returned().map(|(_, &ret)| ret).max() else {
        return Vec::new();
    };
    // If the returns fill a large part of the range of ranks, a table by rank is faster than sorting.
    if ((last - first) as usize) < 8 * rets.len() {
        let mut by_rank = vec![NO_OP; (last - first + 1) as usize];
        returned().for_each(|(i, &ret)| by_rank[(ret - first) as usize] = i);
        by_rank.retain(|&op| op != NO_OP);
        return by_rank;
    }
    let mut by_rank: Vec<u32> = returned().map(|(i, _)| i).collect();
    by_rank.sort_unstable_by_key(|&i| rets[i as usize]);
    by_rank
}

/// Facts about the real-time order of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The largest number of operations that are open at one moment.
    pub width: usize,
    /// The number of pairs of operations that overlap.
    pub concurrent_pairs: u64,
    /// The number of pending operations.
    pub pending: usize,
    /// The number of moments between two operations at which no operation is open.
    pub quiescent_cuts: usize,
}

impl Shape {
    pub(crate) fn of(calls: &[u32], rets: &[u32]) -> Self {
        let mut shape = Shape::default();
        let mut open = 0;
        let mut seen_return = false;
        for (i, kind) in events_in_order(calls, rets) {
            match kind {
                EventKind::Call => {
                    if open == 0 && seen_return {
                        shape.quiescent_cuts += 1;
                    }
                    shape.concurrent_pairs += open as u64;
                    open += 1;
                    shape.width = shape.width.max(open);
                    shape.pending += usize::from(rets[i as usize] == NEVER);
                }
                EventKind::Return => {
                    open -= 1;
                    seen_return = true;
                }
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_operations() {
        let times = Times {
            call: vec![0, 2],
            ret: vec![2, 3],
            pending: Vec::new(),
        };
        let pairs = |ties: Ties| {
            let ranks = ties.rank(&times);
            ranks.call.into_iter().zip(ranks.ret).collect::<Vec<_>>()
        };
        assert_eq!(pairs(Ties::CallFirst), [(0, 2), (1, 3)]);
        assert_eq!(pairs(Ties::ReturnFirst), [(0, 1), (2, 3)]);
    }

    #[test]
    fn events_are_sorted_as_the_library_sorts() {
        let spreads: [fn(i64) -> i64; 5] = [
            |i| i * 7919 % 500,
            |i| i * 1000 + (i * 7919) % 5000,
            |i| {
                if i % 50 == 0 {
                    i64::MIN + i
                } else {
                    i64::MAX - i % 7
                }
            },
            |i| -i,
            |_| 3,
        ];
        for time in spreads {
            for count in [0, 1, 2, 1000] {
                let events: Vec<_> = (0..count).map(|i| (time(i), i as u32)).collect();
                let mut expected = events.clone();
                expected.sort_by_key(|event| event.0);
                assert_eq!(sorted_by_time(events.into_iter()), expected);
            }
        }
    }

    #[test]
    fn times_without_gaps_are_ranks() {
        let times = |call: &[i64], ret: &[i64]| Times {
            call: call.to_vec(),
            ret: ret.to_vec(),
            pending: ret.iter().map(|&ret| ret == i64::MAX).collect(),
        };
        let ranks = times(&[-3, -2], &[0, -1]).as_ranks().unwrap();
        assert_eq!((ranks.call, ranks.ret), (vec![0, 1], vec![3, 2]));
        let ranks = times(&[7, 8], &[i64::MAX, 9]).as_ranks().unwrap();
        assert_eq!((ranks.call, ranks.ret), (vec![0, 1], vec![NEVER, 2]));
        assert!(times(&[0, 1], &[3, 3]).as_ranks().is_none());
        assert!(times(&[0, 1], &[2, 4]).as_ranks().is_none());
        assert!(
            times(&[0, i64::MIN], &[2, i64::MAX - 1])
                .as_ranks()
                .is_none()
        );
    }

    #[test]
    fn operations_precede_each_other_or_overlap() {
        let interval = |call, ret| Interval { call, ret };
        let (first, second, open) = (interval(0, 2), interval(3, 5), interval(1, NEVER));
        assert!(first.precedes(second) && !second.precedes(first));
        assert!(!first.overlaps(second));
        assert!(open.overlaps(first) && open.overlaps(second));
        assert!(!open.precedes(second));
    }

    #[test]
    fn shape_of_a_small_history() {
        // |--a--|        |--c---
        //    |--b--|
        let shape = Shape::of(&[0, 1, 4], &[2, 3, NEVER]);
        assert_eq!(
            shape,
            Shape {
                width: 2,
                concurrent_pairs: 1,
                pending: 1,
                quiescent_cuts: 1
            }
        );
    }
}
