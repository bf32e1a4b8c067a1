//! Derives order between operations from [hints](crate::Spec::hint), numbers that say where in the order of the object they
//! took effect.
//!
//! Ours. An operation takes effect before each one with a larger hint; operations with equal hints are not ordered. Only an
//! operation that returned is sure to have taken effect, so no operation waits for a pending one. Of the pairs, those are
//! stored that real time does not order already, between neighbouring hints: each operation has at most as many as the
//! history is wide.

use crate::engine::{Facts, TaskOp};
use crate::history::NEVER;

/// Pairs of operations, as positions in the task, of which the first takes effect before the second.
///
/// If a pair contradicts real time, it is the last one, since no others are needed then.
pub(super) fn pairs(task: &dyn Facts) -> Vec<(u32, u32)> {
    let hint = |(i, &op): (u32, &TaskOp)| Some((task.hint(op)?, i));
    let mut hinted: Vec<(i64, u32)> = (0u32..).zip(task.ops()).filter_map(hint).collect();
    hinted.sort_unstable();
    let op = |position: u32| task.ops()[position as usize];
    let mut pairs = Vec::new();
    // Those that took effect with the largest smaller hint, the latest return first.
    let mut before: Vec<u32> = Vec::new();
    for equal in hinted.chunk_by(|(a, _), (b, _)| a == b) {
        for &(_, later) in equal {
            let overlapping = before
                .iter()
                .take_while(|&&earlier| !op(earlier).precedes(op(later)));
            for &earlier in overlapping {
                pairs.push((earlier, later));
                if op(later).precedes(op(earlier)) {
                    return pairs;
                }
            }
        }
        let returned = equal.iter().map(|&(_, i)| i);
        let mut returned: Vec<u32> = returned.filter(|&i| op(i).ret != NEVER).collect();
        if !returned.is_empty() {
            returned.sort_unstable_by_key(|&i| std::cmp::Reverse(op(i).ret));
            before = returned;
        }
    }
    pairs
}
