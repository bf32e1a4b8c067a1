//! Values that are at the front of a queue for some time in every linearization, and what that says about the others.
//!
//! Ours. A value is *solid* if it was served (`first_served`) before the last call on it (`last_call`): it is at the front in all
//! gaps between the two, and no other value is. So a solid value is reduced to the moment at which it was first seen there.
//! A value that was served within the time of a solid value was served before it, and a value whose last call is within that
//! time is removed after it. With intervals clipped in this way, `a` is served before `b` iff `a.first_served < b.last_call`,
//! and this is an interval order.

use super::Disorder;
use crate::engine::monitor::structure::RankBits;
use crate::engine::monitor::{Act, CriticalInterval, CriticalIntervals, Log};
use crate::history::{NEVER, precedes};

/// Whether the value is solid.
#[inline]
pub(super) fn is_solid(interval: &CriticalInterval) -> bool {
    precedes(interval.first_served, interval.last_call)
}

/// The times of solid values at the front, ascending. Invariant: no two of them overlap.
pub(super) struct Fronts {
    times: Vec<FrontInterval>,
    /// Where they begin.
    starts: RankBits,
    /// By 64 ranks: whether the time of a solid value reaches into them. Mostly none does, and nothing is searched.
    are_solid: Vec<bool>,
}

/// The ranks between which a solid value is at the front.
#[derive(Clone, Copy)]
struct FrontInterval {
    /// The return by which it was first served.
    from: u32,
    /// The last call on it.
    to: u32,
    value: u32,
}

impl Fronts {
    pub(super) fn of(log: &Log<Act>, intervals: &CriticalIntervals) -> Result<Self, Disorder> {
        let mut times = Vec::new();
        // Without peeks a value is served only by its removal, so that none is solid.
        if intervals.has_peeks {
            let solid = intervals.iter().filter(|(_, interval)| is_solid(interval));
            times.extend(solid.map(|(value, interval)| FrontInterval {
                from: interval.first_served,
                to: interval.last_call,
                value,
            }));
        }
        times.sort_by_key(|time| time.from);
        let overlap = |pair: &&[FrontInterval]| precedes(pair[1].from, pair[0].to);
        if let Some(pair) = times.windows(2).find(overlap) {
            return Err(Disorder::Together(pair[0].value, pair[1].value));
        }
        let mut starts = RankBits::new(if times.is_empty() { 0 } else { log.end() });
        let mut are_solid = vec![false; log.end() as usize / 64 + 1];
        for time in &times {
            starts.set(time.from);
            are_solid[time.from as usize / 64..=(time.to as usize - 1) / 64].fill(true);
        }
        starts.index();
        Ok(Fronts {
            times,
            starts,
            are_solid,
        })
    }

    /// The solid value that is at the front in the gap after this rank.
    #[inline]
    fn at(&self, rank: u32) -> Option<&FrontInterval> {
        if !self.are_solid[rank as usize / 64] {
            return None;
        }
        let begun = self.starts.count_to(rank) as usize;
        let latest = &self.times[begun.checked_sub(1)?];
        (rank < latest.to).then_some(latest)
    }

    /// The clipped `last_call` of a value: all values served before it are removed before this one.
    #[inline]
    pub(super) fn leaves_from(&self, interval: &CriticalInterval) -> u32 {
        if is_solid(interval) {
            return interval.first_served + 1;
        }
        self.at(interval.last_call)
            .map_or(interval.last_call, |time| time.to)
    }

    /// The clipped `first_served` of a value. Returns two values that are at the front at the same time, if it has none.
    #[inline]
    pub(super) fn served_by(
        &self,
        value: u32,
        interval: &CriticalInterval,
    ) -> Result<u32, Disorder> {
        // A value that was never seen at the front may be served after all others.
        if is_solid(interval) | (interval.first_served == NEVER) {
            return Ok(interval.first_served);
        }
        match self.at(interval.first_served) {
            Some(time) if precedes(time.from, interval.last_call) => {
                Err(Disorder::Together(time.value, value))
            }
            Some(time) => Ok(time.from),
            None => Ok(interval.first_served),
        }
    }

    /// All intervals, clipped.
    pub(super) fn clip(
        &self,
        intervals: &CriticalIntervals,
    ) -> Result<CriticalIntervals, Disorder> {
        intervals.with_moments(|value, interval| {
            Ok((self.served_by(value, interval)?, self.leaves_from(interval)))
        })
    }
}
