//! Whether some value overtakes another one in a queue, by a sweep over the ranks.
//!
//! Ranks are looked at stretch by stretch, so that the table of one stays in the cache, and on all threads. Values are mostly
//! numbered in the order in which they came, so blocks of them have their moments within few stretches.

use std::ops::Range;

use rayon::prelude::*;

use super::fronts::Fronts;
use super::{Act, CriticalIntervals, Disorder, Log};

/// The ranks of a stretch, unless blocks reach over too many.
const STRETCH: usize = 1 << 15;

/// The values of a block.
const BLOCK: usize = 1 << 10;

/// RankBits the call of an insertion. Makes it negative, so that it is never the latest moment.
const CALL: i32 = i32::MIN;

/// Finds a value that was put in before another one, but served after it.
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
    sweep.check(STRETCH, log.is_worth_sharing())
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

/// Some values, and the ranks between which they came in.
pub(super) struct Block {
    values: Range<usize>,
    ranks: Range<u32>,
}

/// ViolationKind one stretch says.
struct Stretch {
    /// Some value is overtaken by one that is put in within the same stretch.
    is_late: bool,
    /// When the last of the values leaves that are in for sure from somewhere in the stretch on.
    leaves: i32,
    /// When the first of the values is served that are put in within the stretch.
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
    fn check(&self, stretch: usize, is_shared: bool) -> Result<(), Disorder> {
        let width = self.width(stretch);
        let count = self.end.div_ceil(width);
        let new_table = || vec![0; width.min(self.end)];
        let look = |table: &mut Vec<i32>, number: usize| self.look(table, number * width);
        let stretches: Result<Vec<Stretch>, Disorder> = if is_shared {
            let numbers = (0..count).into_par_iter();
            numbers.map_init(new_table, look).collect()
        } else {
            let mut table = new_table();
            (0..count).map(|number| look(&mut table, number)).collect()
        };
        let mut leaves = 0;
        for (number, stretch) in stretches?.into_iter().enumerate() {
            if stretch.is_late || stretch.first_served < leaves as u32 {
                return Err(self.find(&mut new_table(), number * width, leaves));
            }
            leaves = leaves.max(stretch.leaves);
        }
        Ok(())
    }

    /// How many ranks to look at at a time, so that no block is looked at too often.
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

    /// By rank, from `start` on: when a value leaves that is in from there on, or when it was served if it is put in there.
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
        // Without a branch for each kind of moment, which would be hard to foresee: without the mark, other moments are
        // later than any that leaves.
        let (mut leaves, mut first_served, mut is_late) = (0, u32::MAX, false);
        for &moment in &*table {
            let served = (moment ^ CALL) as u32;
            leaves = leaves.max(moment);
            is_late |= served < leaves as u32;
            first_served = first_served.min(served);
        }
        Ok(Stretch {
            is_late,
            leaves,
            first_served,
        })
    }

    /// The two values, if one that leaves at `leaves` is in before the stretch, or both come in within it.
    fn find(&self, table: &mut [i32], start: usize, mut leaves: i32) -> Disorder {
        if let Err(disorder) = self.fill(table, start) {
            return disorder;
        }
        let late = table.iter().position(|&moment| {
            leaves = leaves.max(moment);
            ((moment ^ CALL) as u32) < leaves as u32
        });
        let late = (start + late.expect("bug: nothing is late")) as u32;
        let mut values = self.intervals.iter();
        let second = values.find(|(_, interval)| interval.added == late);
        let before = self
            .intervals
            .iter()
            .filter(|(_, interval)| interval.first_return < late);
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
    use crate::spec::Discipline;

    /// Whether the first value was put in before the second, but served after it.
    fn overtakes(fronts: &Fronts, intervals: &CriticalIntervals, first: u32, second: u32) -> bool {
        let (first, interval) = (intervals.at(first), intervals.at(second));
        let served = fronts.served_by(second, &interval);
        first.first_return < interval.added
            && served.is_ok_and(|by| by < fronts.leaves_from(&first))
    }

    #[test]
    fn stretches_and_blocks_of_any_size_find_the_same() {
        let (mut good, mut bad) = (0, 0);
        testing::for_random_logs(&Discipline::Fifo, |log| {
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
                for is_shared in [false, stretch == 2] {
                    match sweep.check(stretch, is_shared) {
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
