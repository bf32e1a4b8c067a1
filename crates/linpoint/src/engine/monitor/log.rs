//! What monitors see of a history: columns of integers, and the events in their order.

use std::sync::{Arc, OnceLock};

use crate::history::{EventKind, NEVER, events_in_order, precedes};

/// A history of one object as columns of integers.
///
/// Invariants: operations stand in the order of their calls, and every rank below [`end`](Self::end) is the call or the
/// return of exactly one operation.
#[derive(Clone, Debug)]
pub struct Log<A> {
    /// What each operation does.
    pub acts: Vec<A>,
    /// The number of the value of each operation; any number where it has none. Empty where the object has no values.
    pub values: Vec<u32>,
    /// The ranks of the calls.
    pub calls: Arc<Vec<u32>>,
    /// The ranks of the returns; [`NEVER`] for pending operations.
    pub rets: Arc<Vec<u32>>,
    /// Numbers of values are below this.
    pub distinct: u32,
    end: u32,
    /// Made when first asked for: not every monitor needs it.
    events: OnceLock<Vec<Event>>,
}

/// The call or the return of the operation at some position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event(u32);

impl Event {
    pub(crate) fn new(op: u32, kind: EventKind) -> Self {
        Event(op << 1 | u32::from(kind == EventKind::Return))
    }

    /// The position of the operation.
    #[inline]
    pub fn op(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether it is the return.
    #[inline]
    pub fn is_return(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The most operations that a log can hold: an event is twice a position and one bit, and ranks leave one bit free.
pub(crate) const MOST_OPS: usize = (1 << 30) - 1;

impl<A> Log<A> {
    /// The log of these operations. Ranks must be distinct and calls must ascend; gaps between ranks are closed. `values` is
    /// empty or has one for each operation.
    pub fn new(acts: Vec<A>, values: Vec<u32>, mut calls: Vec<u32>, mut rets: Vec<u32>) -> Self {
        assert!(acts.len() <= MOST_OPS, "too many operations for one log");
        let distinct = values.iter().map(|&value| value + 1).max().unwrap_or(0);
        let mut count = calls.len();
        let mut end = calls.last().map_or(0, |&call| call + 1);
        for &ret in &rets {
            count += usize::from(ret != NEVER);
            // NEVER is u32::MAX, so NEVER + 1 wraps to 0 and pending operations do not raise the maximum.
            end = end.max(ret.wrapping_add(1));
        }
        if end as usize != count {
            close_gaps(&mut calls, &mut rets);
        }
        Log {
            acts,
            values,
            calls: Arc::new(calls),
            rets: Arc::new(rets),
            distinct,
            end: count as u32,
            events: OnceLock::new(),
        }
    }

    /// The log of all operations of a history. Ranks must have no gaps, and numbers of values must be below `distinct`.
    pub(crate) fn of_history(
        acts: Vec<A>,
        values: Vec<u32>,
        distinct: u32,
        (calls, rets): (Arc<Vec<u32>>, Arc<Vec<u32>>),
    ) -> Self {
        assert!(acts.len() <= MOST_OPS, "too many operations for one log");
        let returned: u32 = rets.iter().map(|&ret| u32::from(ret != NEVER)).sum();
        Log {
            acts,
            values,
            distinct,
            end: calls.len() as u32 + returned,
            calls,
            rets,
            events: OnceLock::new(),
        }
    }

    /// All calls and returns, by rank.
    pub fn events(&self) -> &[Event] {
        self.events.get_or_init(|| {
            let mut events = vec![Event(0); self.end as usize];
            for (op, (&call, &ret)) in (0u32..).zip(self.calls.iter().zip(self.rets.iter())) {
                events[call as usize] = Event::new(op, EventKind::Call);
                if ret != NEVER {
                    events[ret as usize] = Event::new(op, EventKind::Return);
                }
            }
            events
        })
    }

    /// The operations that were called before the return at rank `cut`.
    pub(super) fn called_before(&self, cut: u32) -> impl Iterator<Item = u32> {
        let calls = (0u32..).zip(self.calls.iter());
        let called = calls.take_while(move |&(_, &call)| !precedes(cut, call));
        called.map(|(op, _)| op)
    }

    /// Runs two closures, on two threads if the log is large enough for that to pay.
    pub(super) fn both<T: Send, U: Send>(
        &self,
        first: impl FnOnce() -> T + Send,
        second: impl FnOnce() -> U + Send,
    ) -> (T, U) {
        if self.is_worth_sharing() {
            rayon::join(first, second)
        } else {
            (first(), second())
        }
    }

    /// Whether the log is large enough for several threads.
    pub(super) fn is_worth_sharing(&self) -> bool {
        /// Smaller logs are decided before another thread wakes up.
        const WORTH_SHARING: usize = 1 << 14;
        self.len() >= WORTH_SHARING
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The first rank after all events.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Whether the operation is pending.
    pub fn is_pending(&self, op: usize) -> bool {
        self.rets[op] == NEVER
    }
}

/// Numbers the events without gaps, in the same order.
fn close_gaps(calls: &mut [u32], rets: &mut [u32]) {
    for (rank, (op, kind)) in (0u32..).zip(events_in_order(calls, rets)) {
        match kind {
            EventKind::Call => calls[op as usize] = rank,
            EventKind::Return => rets[op as usize] = rank,
        }
    }
}

impl<A: Copy> Log<A> {
    /// The log of some operations only, given by position in ascending order.
    pub fn restricted(&self, ops: &[u32]) -> Self {
        let column = |of: &[u32]| match of {
            [] => Vec::new(),
            _ => ops.iter().map(|&op| of[op as usize]).collect(),
        };
        let mut log = Log::new(
            ops.iter().map(|&op| self.acts[op as usize]).collect(),
            column(&self.values),
            column(&self.calls),
            column(&self.rets),
        );
        log.distinct = self.distinct;
        log
    }

    /// The operations of a contradiction; those that returned after its cut are pending.
    #[cfg(test)]
    pub(super) fn contradicting(&self, contradiction: &super::Contradiction) -> Self {
        let mut log = self.clone();
        let late = Arc::make_mut(&mut log.rets)
            .iter_mut()
            .filter(|ret| **ret > contradiction.cut);
        late.for_each(|ret| *ret = NEVER);
        log.restricted(&contradiction.ops)
    }
}

/// What an operation does to a container, or to a cell for one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Act {
    /// Adds the value.
    Add,
    /// Removes the value. May be pending; it takes effect then, after all operations on the value that returned.
    Remove,
    /// Sees the value as the next to be served.
    Peek,
    /// Finds the container empty.
    Empty,
}
