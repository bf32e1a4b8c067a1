//! Sweep over the ranks that finds a value which overtakes another one in a queue.
//!
//! Ours. A value `b` overtakes `a` if `a.first_return < b.added` and `b` is served before `a` (see `fronts`). Ranks are
//! processed in stretches whose tables fit the cache, on all threads. Values are mostly numbered in the order of their
//! insertions, so that a block of values with consecutive numbers has its moments within few stretches.

use std::ops::Range;

use rayon::prelude::*;

use super::Disorder;
use super::fronts::Fronts;
use crate::engine::monitor::{Act, CriticalIntervals, Log};
use crate::history::precedes;

/// The ranks of a stretch, unless blocks reach over too many.
const STRETCH: usize = 1 << 15;

/// The values of a block.
const BLOCK: usize = 1 << 10;

/// Marks the call of an insertion. It is the sign bit, so that a marked moment is never the maximum.
const CALL: i32 = i32::MIN;

/// How many threads sweep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Threads {
    One,
    All,
}

/// Checks that no value overtakes another one.
pub(super) fn check(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    fronts: &Fronts,
    blocks: Vec<Block>,
) -> Result<(), Disorder> {
    let sweep = Sweep {
        intervals,
        fronts,
        end: log.end() as usize,
        blocks,
    };
    let threads = if log.is_worth_sharing() {
        Threads::All
    } else {
        Threads::One
    };
    sweep.check(STRETCH, threads)
}

/// All values in blocks.
pub(super) fn blocks(intervals: &CriticalIntervals) -> Vec<Block> {
    Block::of_all(intervals, BLOCK)
}

struct Sweep<'a> {
    intervals: &'a CriticalIntervals,
    fronts: &'a Fronts,
    end: usize,
    blocks: Vec<Block>,
}

/// Values with consecutive numbers, and the ranks between which their insertions are called and their intervals begin.
pub(super) struct Block {
    values: Range<usize>,
    ranks: Range<u32>,
}

/// What is known of one stretch.
struct Stretch {
    /// Some value is overtaken by one whose insertion is called within the same stretch.
    is_late: bool,
    /// The latest clipped `last_call` of the values whose `first_return` is within the stretch.
    leaves: i32,
    /// The earliest clipped `first_served` of the values whose insertion is called within the stretch.
    first_served: u32,
}

impl Block {
    fn of_all(intervals: &CriticalIntervals, size: usize) -> Vec<Self> {
        let blocks = (0..intervals.len()).step_by(size).map(|start| {
            let values = start..intervals.len().min(start + size);
            let (mut first, mut end) = (u32::MAX, 0);
            for (_, interval) in intervals.within(values.clone()) {
                first = first.min(interval.added).min(interval.first_return);
                end = end.max(interval.added.max(interval.first_return) + 1);
            }
            let ranks = first..end;
            Block { values, ranks }
        });
        blocks.filter(|block| !block.ranks.is_empty()).collect()
    }
}

impl Sweep<'_> {
    fn check(&self, stretch: usize, threads: Threads) -> Result<(), Disorder> {
        let width = self.width(stretch);
        let count = self.end.div_ceil(width);
        let new_table = || vec![0; width.min(self.end)];
        let look = |table: &mut Vec<i32>, number: usize| self.look(table, number * width);
        let stretches: Result<Vec<Stretch>, Disorder> = if threads == Threads::All {
            let numbers = (0..count).into_par_iter();
            numbers.map_init(new_table, look).collect()
        } else {
            let mut table = new_table();
            (0..count).map(|number| look(&mut table, number)).collect()
        };
        let mut leaves = 0;
        for (number, stretch) in stretches?.into_iter().enumerate() {
            if stretch.is_late || precedes(stretch.first_served, leaves as u32) {
                return Err(self.find(&mut new_table(), number * width, leaves));
            }
            leaves = leaves.max(stretch.leaves);
        }
        Ok(())
    }

    /// The length of a stretch, such that blocks are read four times on average at most.
    fn width(&self, stretch: usize) -> usize {
        let mut width = stretch;
        let looks = |width: usize| -> usize {
            let ranks = self.blocks.iter().map(|block| &block.ranks);
            ranks.map(|ranks| ranks.len() / width + 2).sum()
        };
        while width < self.end && looks(width) > 4 * self.blocks.len() {
            width *= 2;
        }
        width
    }

    /// Fills the table by rank, from `start` on: at the `first_return` of a value its clipped `last_call`, at the call of its
    /// insertion its clipped `first_served` with the mark.
    fn fill(&self, table: &mut [i32], start: usize) -> Result<(), Disorder> {
        table.fill(0);
        let ranks = start as u32..(start + table.len()) as u32;
        let reach_here =
            |block: &&Block| block.ranks.start < ranks.end && ranks.start < block.ranks.end;
        for block in self.blocks.iter().filter(reach_here) {
            for (value, interval) in self.intervals.within(block.values.clone()) {
                let place = |rank: u32| rank.wrapping_sub(ranks.start) as usize;
                if let Some(moment) = table.get_mut(place(interval.first_return)) {
                    *moment = self.fronts.leaves_from(&interval) as i32;
                }
                if let Some(moment) = table.get_mut(place(interval.added)) {
                    *moment = self.fronts.served_by(value, &interval)? as i32 | CALL;
                }
            }
        }
        Ok(())
    }

    fn look(&self, table: &mut [i32], start: usize) -> Result<Stretch, Disorder> {
        self.fill(table, start)?;
        // No branch on the kind of a moment, which would be hard to predict: a moment without the mark, once inverted, is later
        // than any `last_call`.
        let (mut leaves, mut first_served, mut is_late) = (0, u32::MAX, false);
        for &moment in &*table {
            let served = (moment ^ CALL) as u32;
            leaves = leaves.max(moment);
            is_late |= precedes(served, leaves as u32);
            first_served = first_served.min(served);
        }
        Ok(Stretch {
            is_late,
            leaves,
            first_served,
        })
    }

    /// The two values, where `leaves` is the latest clipped `last_call` before the stretch.
    fn find(&self, table: &mut [i32], start: usize, mut leaves: i32) -> Disorder {
        if let Err(disorder) = self.fill(table, start) {
            return disorder;
        }
        let late = table.iter().position(|&moment| {
            leaves = leaves.max(moment);
            precedes((moment ^ CALL) as u32, leaves as u32)
        });
        let late = (start + late.expect("bug: nothing is late")) as u32;
        let mut values = self.intervals.iter();
        let second = values.find(|(_, interval)| interval.added == late);
        let before = self
            .intervals
            .iter()
            .filter(|(_, interval)| precedes(interval.first_return, late));
        let first = before.max_by_key(|(_, interval)| self.fronts.leaves_from(interval));
        let pair = first.zip(second);
        let ((first, _), (second, _)) = pair.expect("bug: two values were at these moments");
        Disorder::Overtaken(first, second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing;
    use crate::engine::monitor::testing::containers::unbounded;
    use crate::spec::Discipline;

    /// Whether the second value overtakes the first.
    fn overtakes(fronts: &Fronts, intervals: &CriticalIntervals, first: u32, second: u32) -> bool {
        let (first, interval) = (intervals.at(first), intervals.at(second));
        let served = fronts.served_by(second, &interval);
        precedes(first.first_return, interval.added)
            && served.is_ok_and(|by| precedes(by, fronts.leaves_from(&first)))
    }

    #[test]
    fn stretches_and_blocks_of_any_size_find_the_same() {
        let (mut good, mut bad) = (0, 0);
        testing::for_random_logs(&unbounded(Discipline::Fifo), |log| {
            let Ok(intervals) = CriticalIntervals::of(&log) else {
                return;
            };
            let Ok(fronts) = Fronts::of(&log, &intervals) else {
                return;
            };
            let mut values = intervals.iter();
            let is_clipped =
                values.all(|(value, interval)| fronts.served_by(value, &interval).is_ok());
            let all = || intervals.iter().map(|(value, _)| value);
            let is_fine =
                is_clipped && !all().any(|a| all().any(|b| overtakes(&fronts, &intervals, a, b)));
            (good, bad) = (good + usize::from(is_fine), bad + usize::from(!is_fine));
            for (stretch, block) in [(1, 1), (2, 1), (1, 2), (3, 2), (100, 100)] {
                let sweep = Sweep {
                    intervals: &intervals,
                    fronts: &fronts,
                    end: log.end() as usize,
                    blocks: Block::of_all(&intervals, block),
                };
                let threads: &[Threads] = match stretch {
                    2 => &[Threads::One, Threads::All],
                    _ => &[Threads::One],
                };
                for &threads in threads {
                    match sweep.check(stretch, threads) {
                        Ok(()) => assert!(is_fine, "{log:#?}"),
                        Err(Disorder::Together(..)) => assert!(!is_clipped, "{log:#?}"),
                        Err(Disorder::Overtaken(first, second)) => {
                            assert!(overtakes(&fronts, &intervals, first, second), "{log:#?}");
                        }
                    }
                }
            }
        });
        assert!(good > 100 && bad > 100, "{good} good, {bad} bad");
    }
}
