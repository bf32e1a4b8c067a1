//! Decides operations that found a container empty: each needs a gap in which no value is critical.
//!
//! After Lee and Mathur (2024), lemma 3.4 and algorithm 1: a history is linearizable iff it is without these operations and
//! each of them has such a gap. As printed the algorithm needs critical intervals from all operations on a value (otherwise
//! it accepts `push 1 [0,4]`, `peek 1 [1,2]`, `pop empty [3,5]`), line 13 for removals only (otherwise it accepts `push 2
//! [0,1]`, `pop empty [2,3]`) and the test of line 15 (otherwise it rejects `add 0 [0,4]`, `remove 0 [1,2]`, `empty [3,5]`);
//! sweeping the critical intervals does all three. O(n).

use std::hint::select_unpredictable;

use super::cover::{contradiction, cover};
use super::critical::CriticalIntervals;
use crate::engine::monitor::{Act, Contradiction, Log, ViolationKind};
use crate::history::NEVER;

/// The latest gap in which each such operation can take effect, as (position, gap) in the order of returns. Returns the
/// contradiction of the first one that has no gap.
pub(in crate::engine::monitor) fn place(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
) -> Result<Vec<(u32, u32)>, Contradiction> {
    if !intervals.has_empties {
        return Ok(Vec::new());
    }
    // By rank: 1 if one more value is critical from there on, -1 if one less is.
    let mut change = vec![0i8; log.end() as usize + 1];
    for (_, interval) in intervals
        .iter()
        .filter(|(_, interval)| interval.is_critical())
    {
        change[interval.first_return as usize] = 1;
        change[interval.last_call as usize] = -1;
    }
    let mut empties: Vec<(u32, u32)> = (0u32..)
        .zip(log.acts.iter().zip(log.rets.iter()))
        .filter(|&(_, (act, ret))| *act == Act::Empty && *ret != NEVER)
        .map(|(op, (_, &ret))| (ret, op))
        .collect();
    empties.sort_unstable();
    let mut placed = Vec::with_capacity(empties.len());
    let mut empties = empties.into_iter().peekable();
    let mut critical = 0i32;
    // The last gap in which no value is critical. Gap 0 is one: no operation has returned before it.
    let mut last = 0;
    for (rank, &change) in (0u32..).zip(&change) {
        if let Some((_, op)) = empties.next_if(|&(ret, _)| ret == rank) {
            if last < log.calls[op as usize] {
                return Err(not_empty(log, intervals, op));
            }
            placed.push((op, last));
        }
        critical += i32::from(change);
        last = select_unpredictable(critical == 0, rank, last);
    }
    Ok(placed)
}

fn not_empty(log: &Log<Act>, intervals: &CriticalIntervals, op: u32) -> Contradiction {
    let values = cover(
        intervals,
        intervals.iter().map(|(value, _)| value),
        log.calls[op as usize],
        log.rets[op as usize],
    );
    contradiction(
        log,
        ViolationKind::NotEmpty(op),
        &values.expect("bug: some gap is free"),
        &[op],
    )
}
