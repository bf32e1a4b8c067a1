//! Results that report an empty container: each needs a gap in which no value is critical.
//!
//! For all containers this is independent of everything else that has to hold.

use std::hint::select_unpredictable;

use super::cover::{clash, cover};
use super::{Act, Clash, Lives, Log, What};

/// The latest gap in which each empty result can take effect, as (position, gap) in the order of returns; or the first
/// one that has none.
pub(super) fn place(log: &Log<Act>, lives: &Lives) -> Result<Vec<(u32, u32)>, Clash> {
    if !lives.has_empties {
        return Ok(Vec::new());
    }
    // By rank: whether one value more is critical from there on, or one less.
    let mut change = vec![0i8; log.end() as usize + 1];
    for (_, life) in lives.iter().filter(|(_, life)| life.is_critical()) {
        change[life.in_by as usize] = 1;
        change[life.out_from as usize] = -1;
    }
    let mut critical = 0i32;
    let mut last = 0;
    // By rank: the last gap before it in which nothing is critical. The first one is after the first call, as none is
    // before any return.
    let free: Vec<u32> = (0u32..)
        .zip(&change)
        .map(|(rank, &change)| {
            let before = last;
            critical += i32::from(change);
            last = select_unpredictable(critical == 0, rank, last);
            before
        })
        .collect();
    let empties = (0u32..)
        .zip(&log.acts)
        .filter(|(_, act)| **act == Act::Empty);
    let returned = empties.filter(|&(op, _)| !log.is_pending(op as usize));
    let mut placed: Vec<(u32, u32)> = returned
        .map(|(op, _)| (op, free[log.rets[op as usize] as usize]))
        .collect();
    placed.sort_by_key(|&(op, _)| log.rets[op as usize]);
    match placed
        .iter()
        .find(|&&(op, gap)| gap < log.calls[op as usize])
    {
        Some(&(op, _)) => Err(not_empty(log, lives, op)),
        None => Ok(placed),
    }
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
        What::NotEmpty(op),
        &values.expect("bug: some gap is free"),
        &[op],
    )
}
