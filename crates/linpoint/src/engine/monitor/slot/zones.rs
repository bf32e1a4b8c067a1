//! Zones: what the operations on one value say about when it was the one that was held.
//!
//! Of an object that holds one value at a time, and each value during one stretch only. The operations on a value span
//! from the first return to the last call. Where the return comes first the value was held all the time between: a
//! *forward* zone. Otherwise all of them have a moment in common, and any moment from the last call to the first return
//! will do: a *backward* zone. The stretches can be put one after the other exactly if forward zones do not overlap and
//! no backward zone lies within a forward one. (P. B. Gibbons, E. Korach, *Testing Shared Memories*, SIAM J. Comput.
//! 26(4), 1997, for registers.)

use crate::engine::monitor::Log;
use crate::engine::monitor::structure::RankBits;
use crate::history::NEVER;

/// The span of the operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// The first return; [`NEVER`] if the value can be left out.
    pub(super) first_return: u32,
    /// The last call.
    pub(super) last_call: u32,
}

impl Zone {
    #[inline]
    fn is_forward(self) -> bool {
        self.first_return < self.last_call
    }
}

/// Two values whose zones exclude each other, if there are any.
///
/// The value that is held at first, if it has operations, has an `first_return` of 0. That is the rank of some call, so that no
/// other zone begins there.
pub(super) fn conflict(distinct: u32, end: u32, zone: impl Fn(u32) -> Zone) -> Option<(u32, u32)> {
    // Counting where forward zones begin and end needs no order of the zones.
    let (mut begins, mut ends) = (RankBits::none(end), RankBits::none(end));
    for this in (0..distinct).map(&zone) {
        if this.is_forward() {
            begins.mark(this.first_return);
            ends.mark(this.last_call);
        }
    }
    begins.settle();
    ends.settle();
    let is_excluded = |this: Zone| {
        if this.first_return == NEVER {
            false
        } else if this.is_forward() {
            begins.up_to(this.first_return) != begins.up_to(this.last_call)
        } else {
            let ended = ends.up_to(this.last_call);
            begins.up_to(this.last_call) > ended && ends.up_to(this.first_return) == ended
        }
    };
    let value = (0..distinct).find(|&value| is_excluded(zone(value)))?;
    let this = zone(value);
    let excludes = |&other: &u32| {
        let that = zone(other);
        that.is_forward()
            && that.first_return <= this.last_call
            && this.first_return < that.last_call
    };
    let mut others = (0..distinct).filter(|&other| other != value);
    Some((
        others.find(excludes).expect("bug: nothing excludes it"),
        value,
    ))
}

/// The values in an order in which they can be held, if there is no [conflict]; each with the rank of the event at
/// which its turn comes: where its forward zone begins, or else where its backward zone does or can be reached.
pub(super) fn in_order<A>(
    log: &Log<A>,
    first: Option<u32>,
    zone: impl Fn(u32) -> Zone,
) -> Vec<(u32, u32)> {
    let mut order = Vec::new();
    let mut open = first;
    // Values with a backward zone that begins within the open one; they come after it.
    let mut waiting = Vec::new();
    order.extend(first.map(|value| (0, value)));
    for (rank, event) in (0u32..).zip(log.events()) {
        let value = log.values[event.op()];
        let this = zone(value);
        if event.is_return() {
            if rank == this.first_return && this.is_forward() {
                open = Some(value);
                order.push((rank, value));
            }
        } else if rank == this.last_call {
            if open == Some(value) {
                open = None;
                order.extend(waiting.drain(..).map(|value| (rank, value)));
            } else if this.first_return == NEVER {
                // Nobody misses it.
            } else if open.is_some() {
                waiting.push(value);
            } else {
                order.push((rank, value));
            }
        }
    }
    order
}
