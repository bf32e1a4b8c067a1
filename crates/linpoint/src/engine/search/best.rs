//! How far a search came.

use std::sync::atomic::Ordering::Relaxed;

use crate::engine::Budget;

/// The furthest point so far and the order that led there.
#[derive(Debug)]
pub(super) struct Best<T> {
    /// How far that is.
    pub(super) reached: usize,
    pub(super) order: Vec<T>,
    /// How much of the current trail is known to be the beginning of `order`.
    shared: usize,
    /// What was reported as progress, in events.
    reported: usize,
}

// Not derived: that would ask for `T: Default`.
impl<T> Default for Best<T> {
    fn default() -> Self {
        Best {
            reached: 0,
            order: Vec::new(),
            shared: 0,
            reported: 0,
        }
    }
}

impl<T> Best<T> {
    /// Copies only what changed since the last time, so that all copying together costs no more than the search.
    pub(super) fn note<S>(&mut self, reached: usize, trail: &[S], kept: impl Fn(&S) -> T) {
        if reached > self.reached {
            self.reached = reached;
            self.order.truncate(self.shared);
            self.order.extend(trail[self.shared..].iter().map(kept));
            self.shared = trail.len();
        }
    }

    /// The trail was cut down to this length.
    pub(super) fn go_back(&mut self, length: usize) {
        self.shared = self.shared.min(length);
    }

    /// Adds to the reported progress if `events`, the number of explained events, has grown by enough: by a small part, so
    /// that a search within a short history shows progress, and at most by a number that costs no time in a long one.
    pub(super) fn report(&mut self, budget: &Budget, events: usize) {
        const MOST_EVENTS: usize = 1 << 12;
        let enough = (self.reported / 16).clamp(1, MOST_EVENTS);
        if events >= self.reported + enough {
            let done = (events - self.reported) as u64;
            budget.progress().done.fetch_add(done, Relaxed);
            self.reported = events;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_searches_report_progress() {
        for events in [3, 100, 5_000, 1_000_000] {
            let (budget, mut best) = (Budget::default(), Best::<u32>::default());
            let mut reports = 0;
            for explained in 1..=events {
                let before = best.reported;
                best.report(&budget, explained);
                reports += usize::from(best.reported > before);
            }
            let done = budget.progress().done.load(Relaxed) as usize;
            assert_eq!(done, best.reported);
            assert!(
                done <= events && done * 10 >= events * 9,
                "{done} of {events}"
            );
            assert!(reports <= 150 + events / (1 << 12), "{reports} of {events}");
        }
    }
}
