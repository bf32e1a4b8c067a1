//! Zones: when each value of an object was held that holds one value at a time, each during one stretch of time.
//!
//! After P. B. Gibbons and E. Korach, *Testing Shared Memories*, SIAM J. Comput. 26(4), 1997, for registers. The zone of a value
//! is bounded by the first return and the last call of the operations on it. If the return comes first, the value is held
//! all the time between the two: a *forward* zone. Otherwise all operations on it can take effect at one moment, at any from
//! the last call to the first return: a *backward* zone. The values can be held one after the other iff no two forward
//! zones overlap and no backward zone lies within a forward one.

use crate::engine::monitor::Log;
use crate::engine::monitor::structure::RankBits;
use crate::history::{NEVER, precedes};

/// The zone of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// The first return; [`NEVER`] if no operation on the value returned, so that it can be left out.
    pub(super) first_return: u32,
    /// The last call.
    pub(super) last_call: u32,
}

impl Zone {
    #[inline]
    fn is_forward(self) -> bool {
        precedes(self.first_return, self.last_call)
    }
}

/// Two values whose zones exclude each other, if there are any.
///
/// The `first_return` of the initial value, if it was read, is 0. That is the rank of a call, so that no other zone begins
/// there.
pub(super) fn conflict(distinct: u32, end: u32, zone: impl Fn(u32) -> Zone) -> Option<(u32, u32)> {
    // Counts of where forward zones begin and end answer all questions without sorting the zones.
    let (mut begins, mut ends) = (RankBits::new(end), RankBits::new(end));
    for this in (0..distinct).map(&zone) {
        if this.is_forward() {
            begins.set(this.first_return);
            ends.set(this.last_call);
        }
    }
    begins.index();
    ends.index();
    let is_excluded = |this: Zone| {
        if this.first_return == NEVER {
            false
        } else if this.is_forward() {
            begins.count_to(this.first_return) != begins.count_to(this.last_call)
        } else {
            let ended = ends.count_to(this.last_call);
            begins.count_to(this.last_call) > ended && ends.count_to(this.first_return) == ended
        }
    };
    let value = (0..distinct).find(|&value| is_excluded(zone(value)))?;
    let this = zone(value);
    let excludes = |&other: &u32| {
        let that = zone(other);
        // Equal ranks: the zone of the initial value begins with the first event, which may be the last call of the other.
        that.is_forward()
            && that.first_return <= this.last_call
            && precedes(this.first_return, that.last_call)
    };
    let mut others = (0..distinct).filter(|&other| other != value);
    Some((
        others.find(excludes).expect("bug: nothing excludes it"),
        value,
    ))
}

/// The values in an order in which they can be held, each with the rank of an event at which its stretch can begin. There must be
/// no [conflict].
pub(super) fn in_order<A>(
    log: &Log<A>,
    first: Option<u32>,
    zone: impl Fn(u32) -> Zone,
) -> Vec<(u32, u32)> {
    let mut order = Vec::new();
    let mut open = first;
    // Values whose backward zone begins within the open forward zone; they come after it.
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
                // No operation on it returned.
            } else if open.is_some() {
                waiting.push(value);
            } else {
                order.push((rank, value));
            }
        }
    }
    order
}
