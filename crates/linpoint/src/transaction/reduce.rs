//! Smaller histories that still have no order: transactions are left out, with the reads of what they wrote.

use super::log::{Log, Txn};
use super::observed::{Observed, Read};
use super::search::{Plan, search};
use super::table::Table;
use crate::budget::{Limit, Ticker};
use std::time::Duration;

/// Transactions that have no order.
pub(super) struct Core {
    pub(super) txns: Vec<Txn>,
    /// Whether all others are needed for each of them.
    pub(super) is_minimal: bool,
}

/// How long a core is reduced.
const TIME: Duration = Duration::from_secs(2);

/// Leaves out transactions that are not needed for there to be no order.
pub(super) fn unordered(
    log: &Log<'_>,
    observed: &Observed,
    plan: Plan,
    ticker: &Ticker<'_>,
) -> Core {
    let budget = ticker.budget().slice(TIME);
    let mut ticker = Ticker::new(&budget);
    let mut txns = observed.txns.clone();
    let mut size = txns.len() / 2;
    let mut is_minimal = false;
    while size > 0 {
        let mut i = 0;
        let mut has_shrunk = false;
        while i < txns.len() {
            let mut fewer = txns.clone();
            fewer.drain(i..txns.len().min(i + size));
            match is_unordered(log, observed, &fewer, plan, &mut ticker) {
                Ok(true) => {
                    txns = fewer;
                    has_shrunk = true;
                }
                Ok(false) => i += size,
                Err(_) => {
                    return Core {
                        txns,
                        is_minimal: false,
                    };
                }
            }
        }
        match (size, has_shrunk) {
            (1, true) => {}
            (1, false) => {
                is_minimal = true;
                size = 0;
            }
            _ => size /= 2,
        }
    }
    Core { txns, is_minimal }
}

/// Whether these transactions have no order, where what they read of others does not count.
fn is_unordered(
    log: &Log<'_>,
    observed: &Observed,
    txns: &[Txn],
    plan: Plan,
    ticker: &mut Ticker<'_>,
) -> Result<bool, Limit> {
    let mut counts = vec![false; observed.place.len()];
    for &txn in txns {
        counts[txn as usize] = true;
    }
    let mut reads: Table<Read> = Table::default();
    for txn in 0..observed.place.len() as Txn {
        if counts[txn as usize] {
            let kept = observed.reads(txn).iter();
            let kept =
                kept.filter(|read| counts.get(read.from as usize).is_none_or(|counts| *counts));
            for read in kept {
                reads.push(*read);
            }
        }
        reads.end_row();
    }
    let fewer = Observed::among(log, reads, &counts);
    Ok(search(log, &fewer, plan, ticker)?.is_none())
}
