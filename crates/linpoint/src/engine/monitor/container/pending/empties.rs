//! Deadlines that empty results set to values that stay.
//!
//! Ours. An empty result needs a gap in which no value is critical and each value that stays and was added by then can be
//! removed by then. The choices of the gaps do not depend on each other. O(n log n).

use super::Staying;
use crate::engine::monitor::container::critical::CriticalIntervals;
use crate::engine::monitor::structure::MinTree;
use crate::engine::monitor::{Act, Log};
use crate::history::{NEVER, precedes};

/// Finds a gap for each empty result, and makes the deadlines of values that are added before it as early. Returns whether
/// there is one for each.
pub(super) fn make_room(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    staying: &Staying,
    calls: &[u32],
    deadlines: &mut [u32],
) -> bool {
    let end = log.end() as usize;
    // By rank: how many more values are critical from there on, whatever pending removals removed.
    let mut change = vec![0i32; end + 1];
    // By rank: the value that stays and is added by then.
    let mut enters = vec![NEVER; end];
    for (value, interval) in intervals.iter() {
        let last_call = staying.last_call(value, &interval);
        if precedes(interval.first_return, last_call) {
            change[interval.first_return as usize] += 1;
            change[last_call as usize] -= 1;
        }
        if staying.contains(value) {
            enters[interval.first_return as usize] = value;
        }
    }
    let mut spare = Spare::new(end, calls, deadlines);
    let mut critical = 0;
    // The last gap in which the container can be empty.
    let mut last = None;
    let mut gaps = Vec::new();
    for (rank, event) in log.events().iter().enumerate() {
        let op = event.op();
        if event.is_return() && log.acts[op] == Act::Empty {
            match last {
                Some(gap) if gap >= log.calls[op] => gaps.push(gap),
                _ => return false,
            }
        }
        critical += change[rank];
        if enters[rank] != NEVER {
            spare.take(rank, deadlines[enters[rank] as usize]);
        }
        if critical == 0 && spare.suffices_from(rank) {
            last = Some(rank as u32);
        }
    }
    for value in staying.values() {
        let added = intervals.at(value).first_return;
        let next = gaps.partition_point(|&gap| precedes(gap, added));
        if let Some(gap) = gaps.get(next) {
            let deadline = &mut deadlines[value as usize];
            *deadline = (*deadline).min(gap + 1);
        }
    }
    true
}

/// By gap: how many pending removals are called by then that are not needed for deadlines up to then.
struct Spare {
    tree: MinTree,
    gaps: usize,
    /// The last gap for which there are too few.
    lacking: Option<usize>,
}

impl Spare {
    fn new(gaps: usize, calls: &[u32], deadlines: &[u32]) -> Self {
        let mut change = vec![0i32; gaps];
        for &call in calls {
            change[call as usize] += 1;
        }
        for &deadline in deadlines.iter().filter(|&&deadline| deadline != NEVER) {
            change[deadline as usize - 1] -= 1;
        }
        let mut leaves = MinTree::leaves(gaps);
        let mut spare = 0;
        for change in change {
            spare += change;
            leaves.push(spare);
        }
        Spare {
            tree: MinTree::new(leaves),
            gaps,
            lacking: None,
        }
    }

    /// If the container is empty in this gap or later, a value with this deadline is removed by then.
    fn take(&mut self, gap: usize, deadline: u32) {
        let end = match deadline {
            NEVER => self.gaps,
            deadline => deadline as usize - 1,
        };
        if gap < end {
            self.tree.lower(gap, end - 1);
        }
    }

    /// Whether there are enough for this gap and all later ones.
    fn suffices_from(&mut self, gap: usize) -> bool {
        let lacking = &mut self.lacking;
        self.tree
            .extract(-1, |at, _| *lacking = (*lacking).max(Some(at)));
        lacking.is_none_or(|lacking| lacking < gap)
    }
}
