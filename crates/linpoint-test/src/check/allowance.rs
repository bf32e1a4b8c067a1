//! How much a search may do, and whether that will do.

use std::time::Instant;

use super::Limits;

/// How much a search may do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowance {
    pub(super) executions: Option<u64>,
    pub(super) deadline: Option<Instant>,
    /// Whether it stops as soon as it will hardly get through.
    pub(super) must_get_through: bool,
}

/// So many executions show roughly how many there are.
const ESTIMATE_FROM: u64 = 4096;

/// How often there may seem to be as many executions as are allowed before a search stops that must get through: such estimates are
/// rough, and mostly too low.
const DOUBT: f64 = 4.0;

impl Limits {
    pub(super) fn all_that_is_left(&self) -> Allowance {
        Allowance {
            executions: None,
            deadline: self.deadline,
            must_get_through: false,
        }
    }

    /// What the exhaustive search may do if the bounded one comes after it.
    pub(super) fn first_half(&self) -> Allowance {
        let now = Instant::now();
        let half = |deadline: Instant| now + deadline.saturating_duration_since(now) / 2;
        Allowance {
            executions: Some(self.exhaustive),
            deadline: self.deadline.map(half),
            must_get_through: true,
        }
    }

    /// What the bounded search may do after it.
    pub(super) fn second_half(&self) -> Allowance {
        Allowance {
            executions: self.bounded,
            ..self.all_that_is_left()
        }
    }
}

impl Allowance {
    /// The rest of it, after so many executions.
    pub(super) fn after(self, executions: u64) -> Self {
        let rest = |most: u64| most.saturating_sub(executions).max(1);
        Allowance {
            executions: self.executions.map(rest),
            ..self
        }
    }

    /// Whether a search with the next bound will hardly get through, after those with smaller bounds have taken so many executions: it
    /// mostly takes as many times more again as the last one did.
    pub(super) fn is_too_small_after(&self, taken: &[u64]) -> bool {
        let &[.., fewer, last] = taken else {
            return false;
        };
        let next = last as f64 * last as f64 / fewer.max(1) as f64;
        self.executions
            .is_some_and(|most| next > DOUBT * most as f64)
    }

    /// Whether a search will hardly get through that is as far as this after so many executions.
    pub(super) fn is_too_small(&self, start: Instant, executions: u64, progress: f64) -> bool {
        if !self.must_get_through || executions < ESTIMATE_FROM || progress <= 0.0 {
            return false;
        }
        let is_beyond = |used: f64, allowed: f64| used / progress > DOUBT * allowed;
        let time = |deadline: Instant| deadline.saturating_duration_since(start).as_secs_f64();
        self.executions
            .is_some_and(|most| is_beyond(executions as f64, most as f64))
            || self
                .deadline
                .is_some_and(|deadline| is_beyond(start.elapsed().as_secs_f64(), time(deadline)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_stops_early_only_if_it_is_far_from_through() {
        let allowed = Allowance {
            executions: Some(200_000),
            deadline: None,
            must_get_through: true,
        };
        let start = Instant::now();
        // A million, and a little fewer than four times as many as are allowed.
        assert!(allowed.is_too_small(start, 10_000, 0.01));
        assert!(!allowed.is_too_small(start, 10_000, 0.013));
        // It is too soon to tell, or nothing is known.
        assert!(!allowed.is_too_small(start, 1_000, 0.000_1));
        assert!(!allowed.is_too_small(start, 10_000, 0.0));
        let may_stop = Allowance {
            must_get_through: false,
            ..allowed
        };
        assert!(!may_stop.is_too_small(start, 10_000, 0.01));
        assert_eq!(allowed.after(150_000).executions, Some(50_000));
    }

    #[test]
    fn a_bound_is_not_tried_that_takes_far_too_many_executions() {
        let allowed = Allowance {
            executions: Some(100_000),
            ..Allowance::default()
        };
        assert!(allowed.is_too_small_after(&[1_000, 50_000]));
        assert!(!allowed.is_too_small_after(&[1_000, 20_000]));
        assert!(!allowed.is_too_small_after(&[50_000]));
        assert!(!Allowance::default().is_too_small_after(&[1_000, 50_000]));
    }
}
