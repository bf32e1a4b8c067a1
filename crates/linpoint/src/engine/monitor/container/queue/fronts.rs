//! Which value is at the front of a queue for sure, and what that says about the others.
//!
//! While a solid value is at the front no other one is. So it shrinks to the moment when it was first seen there, and
//! others that were seen during its time at the front, or last used, were there before it, or will be after it. Then `a` was
//! served before `b` iff it was seen before `b` could leave, also where that only follows from others.

use super::{Act, CriticalInterval, CriticalIntervals, Disorder, Log};
use crate::engine::monitor::structure::RankBits;
use crate::history::NEVER;

/// Whether the value was at the front in all gaps from `first_served` up to `last_call`, and there are such.
#[inline]
pub(super) fn is_solid(interval: &CriticalInterval) -> bool {
    interval.first_served < interval.last_call
}

/// The times that solid values spend at the front, in order. None of them overlap.
pub(super) struct Fronts {
    times: Vec<Time>,
    /// Where they begin.
    starts: RankBits,
    /// By 64 ranks, whether some solid value is at the front at one of them: mostly none is, and no time has to be found.
    are_solid: Vec<bool>,
}

/// When a solid value is at the front for sure.
#[derive(Clone, Copy)]
struct Time {
    from: u32,
    to: u32,
    value: u32,
}

impl Fronts {
    pub(super) fn of(log: &Log<Act>, intervals: &CriticalIntervals) -> Result<Self, Disorder> {
        let mut times = Vec::new();
        // Otherwise a value is seen but when it leaves, or never.
        if intervals.has_peeks {
            let solid = intervals.iter().filter(|(_, interval)| is_solid(interval));
            times.extend(solid.map(|(value, interval)| Time {
                from: interval.first_served,
                to: interval.last_call,
                value,
            }));
        }
        times.sort_by_key(|time| time.from);
        if let Some(pair) = times.windows(2).find(|pair| pair[0].to > pair[1].from) {
            return Err(Disorder::Together(pair[0].value, pair[1].value));
        }
        let mut starts = RankBits::none(if times.is_empty() { 0 } else { log.end() });
        let mut are_solid = vec![false; log.end() as usize / 64 + 1];
        for time in &times {
            starts.mark(time.from);
            are_solid[time.from as usize / 64..=(time.to as usize - 1) / 64].fill(true);
        }
        starts.settle();
        Ok(Fronts {
            times,
            starts,
            are_solid,
        })
    }

    /// The solid value that is at the front from this rank on.
    #[inline]
    fn at(&self, rank: u32) -> Option<&Time> {
        if !self.are_solid[rank as usize / 64] {
            return None;
        }
        let begun = self.starts.up_to(rank) as usize;
        let latest = &self.times[begun.checked_sub(1)?];
        (rank < latest.to).then_some(latest)
    }

    /// Before when other values were served if this one can only leave after them.
    #[inline]
    pub(super) fn leaves_from(&self, interval: &CriticalInterval) -> u32 {
        if is_solid(interval) {
            return interval.first_served + 1;
        }
        self.at(interval.last_call)
            .map_or(interval.last_call, |time| time.to)
    }

    /// When the value was served, as far as others are concerned.
    #[inline]
    pub(super) fn served_by(
        &self,
        value: u32,
        interval: &CriticalInterval,
    ) -> Result<u32, Disorder> {
        // ViolationKind nobody saw there may still come.
        if is_solid(interval) | (interval.first_served == NEVER) {
            return Ok(interval.first_served);
        }
        match self.at(interval.first_served) {
            Some(time) if interval.last_call > time.from => {
                Err(Disorder::Together(time.value, value))
            }
            Some(time) => Ok(time.from),
            None => Ok(interval.first_served),
        }
    }

    /// The intervals as others are concerned.
    pub(super) fn clip(
        &self,
        intervals: &CriticalIntervals,
    ) -> Result<CriticalIntervals, Disorder> {
        intervals.with_moments(|value, interval| {
            Ok((self.served_by(value, interval)?, self.leaves_from(interval)))
        })
    }
}
