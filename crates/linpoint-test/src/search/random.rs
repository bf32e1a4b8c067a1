//! Random schedules: uniform choices, or priorities that rarely change.
//!
//! Priorities are those of PCT (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010): the enabled thread with the
//! highest one runs, and at `depth - 1` random steps the running thread falls below all others. A bug that needs `depth`
//! ordering constraints is found with a known probability in each execution.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::runtime::MAX_WORKERS;
use crate::runtime::execution::{Threads, Trace};
use crate::runtime::search::{Decision, Point, Search};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Random {
    rng: ChaCha8Rng,
    left: u64,
    priorities: Option<Priorities>,
}

#[derive(Debug)]
struct Priorities {
    depth: u32,
    /// The larger, the more important.
    of_thread: [u32; MAX_WORKERS],
    /// The steps before which the running thread falls back, the next one last.
    changes: Vec<usize>,
    /// The lowest priority that was given so far.
    lowest: u32,
    steps: usize,
    /// The most steps of an execution so far.
    longest: usize,
}

impl Random {
    /// Every enabled thread is as likely as any other.
    pub(crate) fn uniform(seed: u64, executions: u64) -> Self {
        Random {
            rng: ChaCha8Rng::seed_from_u64(seed),
            left: executions.max(1),
            priorities: None,
        }
    }

    /// By priorities.
    pub(crate) fn pct(seed: u64, executions: u64, depth: u32) -> Self {
        let mut search = Random {
            priorities: Some(Priorities {
                depth,
                of_thread: [0; MAX_WORKERS],
                changes: Vec::new(),
                lowest: 0,
                steps: 0,
                longest: 8,
            }),
            ..Random::uniform(seed, executions)
        };
        search.shuffle();
        search
    }

    /// New priorities for the next execution.
    fn shuffle(&mut self) {
        let Some(priorities) = &mut self.priorities else {
            return;
        };
        let first = priorities.depth;
        for (index, priority) in priorities.of_thread.iter_mut().enumerate() {
            *priority = first + index as u32;
        }
        for index in (1..MAX_WORKERS).rev() {
            priorities
                .of_thread
                .swap(index, self.rng.random_range(0..=index));
        }
        let longest = priorities.longest;
        priorities.changes = (1..priorities.depth)
            .map(|_| self.rng.random_range(0..longest))
            .collect();
        priorities.changes.sort_unstable_by(|a, b| b.cmp(a));
        priorities.lowest = first;
        priorities.steps = 0;
    }
}

impl Priorities {
    fn choose(&mut self, point: Point) -> usize {
        while self
            .changes
            .last()
            .is_some_and(|&change| change <= self.steps)
        {
            self.changes.pop();
            self.lowest = self.lowest.saturating_sub(1);
            if let Some(priority) = self.of_thread.get_mut(usize::from(point.current)) {
                *priority = self.lowest;
            }
        }
        self.steps += 1;
        self.longest = self.longest.max(self.steps);
        point
            .options()
            .max_by_key(|&thread| self.of_thread[thread])
            .expect("bug: no thread is enabled")
    }
}

impl Search for Random {
    fn choose(&mut self, _: &Trace, _: &Threads, point: Point) -> Option<Decision> {
        if let Some(priorities) = &mut self.priorities {
            return Some(Decision::now(priorities.choose(point)));
        }
        let nth = self
            .rng
            .random_range(0..point.enabled.count_ones() as usize);
        point.options().nth(nth).map(Decision::now)
    }

    fn pick(&mut self, _: &Trace, ways: usize) -> Option<usize> {
        Some(self.rng.random_range(0..ways))
    }

    fn closed(&mut self, _: &Trace) {}

    fn advance(&mut self, _: &Trace) -> Option<usize> {
        self.shuffle();
        self.left -= 1;
        (self.left > 0).then_some(0)
    }
}
