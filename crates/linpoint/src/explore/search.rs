//! Breadth-first search of all reachable states.
//!
//! States are numbered in the order in which they are found, so the states still to be expanded are those with a number above
//! the current one, and no queue is needed. The states first found from one state have consecutive numbers, so one byte for
//! each state, the number of states first found from it, is enough to find the path back to the start.
//!
//! Successors are computed in parallel, a batch of states at a time, while those of the previous batch are entered into the
//! table. The order of the states, and with it every count and counterexample, does not depend on the number of threads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::table::{Table, hash};
use crate::engine::Budget;
use crate::engine::Limit;

/// A transition system of packed states.
pub(crate) trait Model: Sync {
    /// The number of words of a packed state.
    fn words(&self) -> usize;
    /// The state at the start.
    fn initial(&self) -> Vec<u64>;
    /// Adds the successors of these states; stops at the first one that has a bad step.
    fn expand(&self, states: &[u64], found: &mut Found);
}

/// The successors of some states.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Successors, packed, one after the other.
    pub(crate) states: Vec<u64>,
    hashes: Vec<u64>,
    /// The number of successors of each state.
    pub(crate) counts: Vec<u32>,
    /// Whether the state after those in `counts` has a bad step: one that cannot be linearized.
    pub(crate) is_bad: bool,
}

/// The progress of a search, readable by other threads while it runs.
#[derive(Debug, Default)]
pub struct Explored {
    /// States reached.
    pub states: AtomicU64,
    /// Transitions between them.
    pub transitions: AtomicU64,
    /// Steps from the start, including a bad step.
    pub depth: AtomicU64,
    /// Bytes used for the states.
    pub bytes: AtomicU64,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All reachable states were expanded, and none has a bad step.
    Exhausted,
    /// A path from the start to a state that has a bad step.
    Bad(Vec<Vec<u64>>),
    /// A limit was hit.
    Limit(Limit),
}

/// The largest number of successors of a state: a byte holds it.
pub(crate) const MOST_SUCCESSORS: u32 = 255;
/// States that are expanded together.
const BATCH: usize = 1 << 12;
/// States that one thread takes at a time.
const PART: usize = 1 << 8;

/// Searches all reachable states, nearest first.
pub(crate) fn run(model: &dyn Model, budget: &Budget, explored: &Explored) -> Ended {
    let mut reached = Reached::new(model);
    match reached.all(model, budget, explored) {
        Ok(true) => Ended::Bad(reached.way_back()),
        Ok(false) => Ended::Exhausted,
        Err(limit) => Ended::Limit(limit),
    }
}

struct Reached {
    table: Table,
    /// For each expanded state, the number of states first found from it.
    children: Vec<u8>,
    transitions: u64,
    depth: u64,
    /// The number of the first state that is farther from the start than `depth`.
    level_end: usize,
}

impl Reached {
    fn new(model: &dyn Model) -> Self {
        let mut table = Table::new(model.words());
        let start = model.initial();
        table.insert(&start, hash(&start));
        Reached {
            table,
            children: Vec::new(),
            transitions: 0,
            depth: 0,
            level_end: 1,
        }
    }

    /// Searches until all states are expanded or a bad step is found, and returns whether there is one. Its state is the one
    /// after the expanded ones.
    fn all(
        &mut self,
        model: &dyn Model,
        budget: &Budget,
        explored: &Explored,
    ) -> Result<bool, Limit> {
        let mut taken = 0;
        let mut found: Vec<Found> = Vec::new();
        while taken < self.table.len() || !found.is_empty() {
            budget.check()?;
            let until = self.table.len().min(taken + BATCH);
            let states: Vec<u64> = (taken..until)
                .flat_map(|number| self.table.get(number))
                .copied()
                .collect();
            taken = until;
            let more = found.iter().map(|found| found.hashes.len()).sum();
            self.table.reserve(more, budget)?;
            let (is_bad, next) = rayon::join(
                || self.insert_all(&found),
                || {
                    let parts = states.par_chunks(PART * model.words());
                    parts.map(|part| expand(model, part)).collect()
                },
            );
            self.report(explored);
            if is_bad {
                return Ok(true);
            }
            found = next;
        }
        Ok(false)
    }

    /// Adds successors to the table. Returns whether a bad step was found.
    fn insert_all(&mut self, found: &[Found]) -> bool {
        for part in found {
            let words = part.states.len() / part.hashes.len().max(1);
            let states = part.states.chunks_exact(words.max(1));
            let mut successors = states.zip(&part.hashes);
            for &count in &part.counts {
                let of_state = successors.by_ref().take(count as usize);
                let new = of_state.filter(|(state, hash)| self.table.insert(state, **hash));
                self.children.push(new.count() as u8);
                self.transitions += u64::from(count);
                if self.children.len() == self.level_end && self.table.len() > self.level_end {
                    self.depth += 1;
                    self.level_end = self.table.len();
                }
            }
            if part.is_bad {
                // The depth includes the bad step.
                self.depth += 1;
                return true;
            }
        }
        false
    }

    fn report(&self, explored: &Explored) {
        let bytes = self.table.bytes() + self.children.capacity();
        explored.states.store(self.table.len() as u64, Relaxed);
        explored.transitions.store(self.transitions, Relaxed);
        explored.depth.store(self.depth, Relaxed);
        explored.bytes.store(bytes as u64, Relaxed);
    }

    /// The states on the path from the start to the one after the expanded ones.
    fn way_back(&self) -> Vec<Vec<u64>> {
        let mut wanted = self.children.len();
        let mut way = vec![self.table.get(wanted).to_vec()];
        let of_all: usize = self.children.iter().map(|&new| usize::from(new)).sum();
        // The number of the first state that was found from `parent`.
        let mut first = 1 + of_all;
        for (parent, &new) in self.children.iter().enumerate().rev() {
            first -= usize::from(new);
            if first <= wanted && wanted > 0 {
                wanted = parent;
                way.push(self.table.get(wanted).to_vec());
            }
        }
        way.reverse();
        way
    }
}

fn expand(model: &dyn Model, part: &[u64]) -> Found {
    let mut found = Found::default();
    model.expand(part, &mut found);
    let states = found.states.chunks_exact(model.words());
    found.hashes = states.map(hash).collect();
    debug_assert!(found.counts.iter().all(|&count| count <= MOST_SUCCESSORS));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states are the numbers from 1 below a limit; the steps double or increment. A step to the target is bad.
    struct Numbers {
        below: u64,
        target: u64,
    }

    impl Model for Numbers {
        fn words(&self) -> usize {
            1
        }

        fn initial(&self) -> Vec<u64> {
            vec![1]
        }

        fn expand(&self, states: &[u64], found: &mut Found) {
            for &state in states {
                let next = [state * 2, state + 1];
                if next.contains(&self.target) {
                    found.is_bad = true;
                    return;
                }
                let before = found.states.len();
                found
                    .states
                    .extend(next.iter().filter(|&&n| n < self.below));
                found.counts.push((found.states.len() - before) as u32);
            }
        }
    }

    fn search(below: u64, target: u64) -> (Ended, Explored) {
        let explored = Explored::default();
        let ended = run(&Numbers { below, target }, &Budget::default(), &explored);
        (ended, explored)
    }

    #[test]
    fn the_shortest_way_is_found() {
        let way = |numbers: &[u64]| Ended::Bad(numbers.iter().map(|&n| vec![n]).collect());
        assert_eq!(search(1000, 2).0, way(&[1]));
        let (ended, explored) = search(1000, 23);
        assert_eq!(ended, way(&[1, 2, 4, 5, 10, 11, 22]));
        assert_eq!(explored.depth.into_inner(), 7);
        assert_eq!(
            search(1 << 20, 40_961).0,
            way(&[
                1, 2, 4, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 40960
            ])
        );
    }

    #[test]
    fn everything_is_counted_once() {
        let (ended, explored) = search(100_000, 0);
        assert_eq!(ended, Ended::Exhausted);
        assert_eq!(explored.states.into_inner(), 99_999);
        // All numbers but the last can be incremented, and those up to the middle doubled.
        assert_eq!(explored.transitions.into_inner(), 99_998 + 49_999);
        assert!(explored.bytes.into_inner() > 99_999 * 9);
    }

    #[test]
    fn limits_end_the_search() {
        let budget = Budget::new(Some(std::time::Duration::ZERO), None);
        let numbers = Numbers {
            below: 9,
            target: 0,
        };
        let ended = run(&numbers, &budget, &Explored::default());
        assert!(matches!(ended, Ended::Limit(Limit::Time(_))));
    }
}
