//! Results that report an empty container: each needs a gap in which no value is critical.
//!
//! For all containers this is independent of everything else that has to hold.

use std::hint::select_unpredictable;

use super::cover::{contradiction, cover};
use super::{Act, Contradiction, CriticalIntervals, Log, ViolationKind};
use crate::history::NEVER;

/// The latest gap in which each empty result can take effect, as (position, gap) in the order of returns; or the first
/// one that has none.
pub(crate) fn place(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
) -> Result<Vec<(u32, u32)>, Contradiction> {
    if !intervals.has_empties {
        return Ok(Vec::new());
    }
    // By rank: whether one value more is critical from there on, or one less.
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
    // The last gap in which nothing is critical. The first one is after the first call, as nothing is before any return.
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
