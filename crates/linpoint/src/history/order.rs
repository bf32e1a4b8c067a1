//! The real-time order: ranking time stamps, sweeping events, facts about the shape.

use super::NEVER;

/// How calls and returns with equal time stamps are ordered. This is the only place that knows.
///
/// The default reads intervals as closed: operations that merely touch overlap. That is the safe reading of a coarse
/// clock, since it can only accept more.
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

    /// Ranks of calls and returns by their times, for those who make a [log](crate::engine::monitor::Log) themselves. A return at
    /// `i64::MAX` never came; its rank is [`NEVER`].
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
        // Times travel with their operations: looking them up while sorting costs more than the sort.
        let calls = sorted_by_time((0u32..).zip(&times.call).map(|(i, &t)| (t, i)).collect());
        let returned = calls
            .iter()
            .filter(|call| !times.is_pending(call.1 as usize));
        let returns = sorted_by_time(
            returned
                .map(|call| (times.ret[call.1 as usize], call.1))
                .collect(),
        );

        let call_class = self.class(EventKind::Call);
        let return_class = self.class(EventKind::Return);
        let mut ranks = Ranks {
            call: vec![0; calls.len()],
            ret: vec![NEVER; calls.len()],
        };
        let (mut c, mut r) = (0, 0);
        for rank in 0..(calls.len() + returns.len()) as u32 {
            let call = calls.get(c).map(|call| (call.0, call_class));
            let ret = returns.get(r).map(|ret| (ret.0, return_class));
            if ret.is_none() || call.is_some_and(|call| Some(call) < ret) {
                ranks.call[calls[c].1 as usize] = rank;
                c += 1;
            } else {
                ranks.ret[returns[r].1 as usize] = rank;
                r += 1;
            }
        }
        ranks
    }
}

/// When operations were called and when they returned, on any scale.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub(crate) call: Vec<i64>,
    /// `i64::MAX` for a return that never came.
    pub(crate) ret: Vec<i64>,
    /// Whether the operation never returned; empty if all did.
    pub(crate) pending: Vec<bool>,
}

impl Times {
    pub(crate) fn is_pending(&self, row: usize) -> bool {
        !self.pending.is_empty() && self.pending[row]
    }

    /// The ranks, if the times have neither gaps nor ties: then there is nothing to sort.
    fn as_ranks(&self) -> Option<Ranks> {
        let returns = || {
            let returns = self.ret.iter().copied().enumerate();
            returns
                .filter(|&(i, _)| !self.is_pending(i))
                .map(|(_, t)| t)
        };
        let events = self.call.len() + returns().count();
        let first = self.call.iter().copied().chain(returns()).min()?;
        let last = self.call.iter().copied().chain(returns()).max()?;
        if last.abs_diff(first) != events as u64 - 1 {
            return None;
        }
        let mut seen = vec![0u64; events.div_ceil(64)];
        let mut rank = |time: i64| {
            let rank = time.abs_diff(first) as usize;
            let (word, bit) = (&mut seen[rank / 64], 1 << (rank % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new.then_some(rank as u32)
        };
        let call = self
            .call
            .iter()
            .map(|&time| rank(time))
            .collect::<Option<_>>()?;
        let ret = (0..self.ret.len()).map(|i| match self.is_pending(i) {
            true => Some(NEVER),
            false => rank(self.ret[i]),
        });
        let ret = ret.collect::<Option<_>>()?;
        Some(Ranks { call, ret })
    }
}

/// The places of calls and returns in the order of time, by operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranks {
    pub(crate) call: Vec<u32>,
    /// [`NEVER`] for pending operations.
    pub(crate) ret: Vec<u32>,
}

/// The events in the order of time; those of equal times stay in the order in which they are given.
fn sorted_by_time(mut events: Vec<(i64, u32)>) -> Vec<(i64, u32)> {
    if !events.is_sorted_by_key(|event| event.0) {
        events.sort_by_key(|event| event.0);
    }
    events
}

/// Whether an event is a call or a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    Call,
    Return,
}

/// Calls and returns of the given operations in the order of time, as (position in the slice, kind).
///
/// `calls` must ascend, as it does in every history and part.
pub(crate) fn events_in_order(calls: &[u32], rets: &[u32]) -> Vec<(u32, EventKind)> {
    debug_assert!(calls.is_sorted());
    let returns = returns_in_order(calls, rets);
    let mut events = Vec::with_capacity(calls.len() + returns.len());
    let mut returns = returns.into_iter().peekable();
    for (i, &call) in (0u32..).zip(calls) {
        while let Some(op) = returns.next_if(|&op| rets[op as usize] < call) {
            events.push((op, EventKind::Return));
        }
        events.push((i, EventKind::Call));
    }
    events.extend(returns.map(|op| (op, EventKind::Return)));
    events
}

/// The operations that returned, in that order.
fn returns_in_order(calls: &[u32], rets: &[u32]) -> Vec<u32> {
    let returned = || (0u32..).zip(rets).filter(|&(_, &ret)| ret != NEVER);
    let first = calls.first().copied().unwrap_or(0);
    let Some(last) = returned().map(|(_, &ret)| ret).max() else {
        return Vec::new();
    };
    // Where a part has most ranks of its stretch, putting each return in its place beats sorting.
    if ((last - first) as usize) < 8 * rets.len() {
        let mut by_rank = vec![NEVER; (last - first + 1) as usize];
        returned().for_each(|(i, &ret)| by_rank[(ret - first) as usize] = i);
        by_rank.retain(|&op| op != NEVER);
        return by_rank;
    }
    let mut by_rank: Vec<u32> = returned().map(|(i, _)| i).collect();
    by_rank.sort_unstable_by_key(|&i| rets[i as usize]);
    by_rank
}

/// Facts about the real-time order of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The largest number of operations open at one moment.
    pub width: usize,
    /// The number of pairs of operations that overlap.
    pub concurrent_pairs: u64,
    /// Operations that never returned.
    pub pending: usize,
    /// Moments between two operations at which nothing is open.
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
