//! Results that report an empty container: each needs a gap in which no value is critical.
//!
//! For all containers this is independent of everything else that has to hold.

use std::hint::select_unpredictable;

use super::cover::{clash, cover};
use super::{Act, Clash, Lives, Log, What};
use crate::history::NEVER;

/// The latest gap in which each empty result can take effect, as (position, gap) in the order of returns; or the first
/// one that has none.
pub(super) fn place(log: &Log<Act>, lives: &Lives) -> Result<Vec<(u32, u32)>, Clash> {
    let mut placed = Vec::new();
    if !lives.has_empties {
        return Ok(placed);
    }
    let mut critical = 0u32;
    // No gap yet: before the first event nothing has been called.
    let mut last = NEVER;
    for (rank, event) in (0u32..).zip(&log.events) {
        let op = event.op();
        if log.acts[op] == Act::Empty {
            if event.is_return() {
                if last == NEVER || last < log.calls[op] {
                    return Err(not_empty(log, lives, op as u32));
                }
                placed.push((op as u32, last));
            }
        } else {
            let life = &lives[log.values[op]];
            let counts = life.is_critical();
            critical += u32::from(counts & (rank == life.in_by));
            critical -= u32::from(counts & (rank == life.out_from));
        }
        last = select_unpredictable(critical == 0, rank, last);
    }
    Ok(placed)
}

fn not_empty(log: &Log<Act>, lives: &Lives, op: u32) -> Clash {
    let values = cover(
        lives,
        lives.iter().map(|(value, _)| value),
        log.calls[op as usize],
        log.rets[op as usize],
    );
    clash(
        log,
        What::NotEmpty,
        &values.expect("bug: some gap is free"),
        &[op],
    )
}
