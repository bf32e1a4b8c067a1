//! Deadlines that single operations set to values that stay in a stack or priority queue.
//!
//! Ours. An operation that serves a value and is called when a value above it is in the container for sure returns after that
//! one was removed. Above is what has a higher priority; in a stack, what was added when the other one was there for sure. All
//! values are above what finds the container empty. These deadlines are necessary, not sufficient. O(n log n).

use crate::engine::monitor::container::ContainerMonitor;
use crate::engine::monitor::container::critical::CriticalIntervals;
use crate::engine::monitor::{Act, Log};
use crate::history::NEVER;

use super::Staying;

/// The deadlines by value, [`NEVER`] for those that may stay.
pub(super) fn deadlines(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    staying: &Staying,
    monitor: &ContainerMonitor,
) -> Vec<u32> {
    // How high a value is from below, and from above: it is above all that are higher from below than it is from above.
    let heights = |value: u32| match monitor {
        ContainerMonitor::Priority(queue) => {
            let priority = queue.priorities[value as usize] + 1;
            (priority, priority)
        }
        _ => {
            let interval = intervals.at(value);
            (interval.first_return + 1, interval.added + 1)
        }
    };
    let mut served: Vec<Serves> = Vec::new();
    for op in 0..log.len() {
        let height = match log.acts[op] {
            Act::Add => continue,
            Act::Empty => 0,
            Act::Peek | Act::Remove if !intervals.at(log.values[op]).exists() => continue,
            Act::Peek | Act::Remove => heights(log.values[op]).0,
        };
        if log.rets[op] != NEVER {
            let (call, ret) = (log.calls[op], log.rets[op]);
            served.push(Serves { height, call, ret });
        }
    }
    served.sort_unstable_by_key(|serves| serves.height);
    let mut staying: Vec<(u32, u32)> = staying
        .values()
        .map(|value| (heights(value).1, value))
        .collect();
    staying.sort_unstable();
    let mut deadlines = vec![NEVER; intervals.len()];
    let mut earliest = EarliestReturn::new(log.end() as usize);
    let mut below = served.into_iter().peekable();
    for (height, value) in staying {
        while let Some(serves) = below.next_if(|serves| serves.height < height) {
            earliest.add(serves.call, serves.ret);
        }
        deadlines[value as usize] = earliest.called_after(intervals.at(value).first_return);
    }
    deadlines
}

/// An operation that serves a value of this height, or finds the container empty.
struct Serves {
    height: u32,
    call: u32,
    ret: u32,
}

/// The earliest return of operations that are called after a rank, as a Fenwick tree over the ranks of calls, from the end.
struct EarliestReturn {
    tree: Vec<u32>,
}

impl EarliestReturn {
    fn new(end: usize) -> Self {
        EarliestReturn {
            tree: vec![NEVER; end + 1],
        }
    }

    fn add(&mut self, call: u32, ret: u32) {
        let mut at = self.tree.len() - 1 - call as usize;
        while let Some(earliest) = self.tree.get_mut(at) {
            *earliest = (*earliest).min(ret);
            at += at & at.wrapping_neg();
        }
    }

    fn called_after(&self, rank: u32) -> u32 {
        let mut at = self.tree.len() - 2 - rank as usize;
        let mut earliest = NEVER;
        while at > 0 {
            earliest = earliest.min(self.tree[at]);
            at &= at - 1;
        }
        earliest
    }
}
