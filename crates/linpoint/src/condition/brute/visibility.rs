//! Guarantees of sessions: all visibilities, all arbitrations.

use super::super::memory::MemoryOp;
use super::super::{Arbitration, Guarantees};
use super::orders::permutations;
use super::{asks, is_initial};

/// Whether some visibility, with one arbitration or one for each process, satisfies all guarantees.
pub(super) fn holds(ops: &[MemoryOp], guarantees: Guarantees) -> bool {
    let writes: Vec<usize> = (0..ops.len()).filter(|&i| ops[i].is_write()).collect();
    let reads: Vec<usize> = (0..ops.len()).filter(|&i| !ops[i].is_write()).collect();
    let orders = permutations(&writes);
    let mut visible = vec![0u32; ops.len()];
    choose(ops, &writes, &reads, &mut visible, &|visible| {
        keeps_visibility(ops, visible, guarantees)
            && has_arbitrations(ops, visible, &orders, guarantees)
    })
}

/// Gives the remaining reads all sets of writes.
fn choose(
    ops: &[MemoryOp],
    writes: &[usize],
    reads: &[usize],
    visible: &mut Vec<u32>,
    accept: &dyn Fn(&[u32]) -> bool,
) -> bool {
    let Some((&read, rest)) = reads.split_first() else {
        return accept(visible);
    };
    (0..1u32 << writes.len()).any(|set| {
        let members = writes.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        visible[read] = members.map(|(_, &w)| 1 << w).sum();
        may_return(ops, visible[read], read) && choose(ops, writes, rest, visible, accept)
    })
}

/// Whether the read returns one of the writes of its key that are visible to it, or the initial value if there is none.
fn may_return(ops: &[MemoryOp], visible: u32, read: usize) -> bool {
    let mut of_key =
        (0..ops.len()).filter(|&w| visible >> w & 1 == 1 && ops[w].key == ops[read].key);
    match of_key.clone().next() {
        None => is_initial(&ops[read]),
        Some(_) => of_key.any(|w| ops[w].value == ops[read].value),
    }
}

fn keeps_visibility(ops: &[MemoryOp], visible: &[u32], guarantees: Guarantees) -> bool {
    let earlier =
        |a: usize, b: usize| ops[a].process == ops[b].process && ops[a].call < ops[b].call;
    let sees = |read: usize, w: usize| visible[read] >> w & 1 == 1;
    let all = 0..ops.len();
    let reads = || all.clone().filter(|&i| !ops[i].is_write());
    let writes = || all.clone().filter(|&i| ops[i].is_write());
    let brings = |w: usize, later: usize| reads().all(|r| !sees(r, later) || sees(r, w));
    let ryw = || writes().all(|w| reads().all(|r| !earlier(w, r) || sees(r, w)));
    let mr = || {
        reads()
            .all(|r| reads().all(|later| !earlier(r, later) || visible[r] & !visible[later] == 0))
    };
    let mw = || writes().all(|w| writes().all(|later| !earlier(w, later) || brings(w, later)));
    let wfr = || {
        writes().all(|w| writes().all(|later| !follows(ops, visible, w, later) || brings(w, later)))
    };
    (!asks(guarantees, Guarantees::READ_YOUR_WRITES) || ryw())
        && (!asks(guarantees, Guarantees::MONOTONIC_READS) || mr())
        && (!asks(guarantees, Guarantees::MONOTONIC_WRITES) || mw())
        && (!asks(guarantees, Guarantees::WRITES_FOLLOW_READS) || wfr())
}

/// Whether a read saw `w` before its process wrote `later`.
fn follows(ops: &[MemoryOp], visible: &[u32], w: usize, later: usize) -> bool {
    (0..ops.len()).any(|r| {
        let is_earlier = ops[r].process == ops[later].process && ops[r].call < ops[later].call;
        !ops[r].is_write() && is_earlier && visible[r] >> w & 1 == 1
    })
}

fn has_arbitrations(
    ops: &[MemoryOp],
    visible: &[u32],
    orders: &[Vec<usize>],
    guarantees: Guarantees,
) -> bool {
    let allowed = |order: &&Vec<usize>| keeps_arbitration(ops, visible, order, guarantees);
    let explains = |order: &Vec<usize>, process: Option<u32>| {
        (0..ops.len()).all(|r| {
            let is_other = process.is_some_and(|process| ops[r].process != process);
            if ops[r].is_write() || is_other {
                return true;
            }
            let is_seen = |w: &&usize| visible[r] >> **w & 1 == 1 && ops[**w].key == ops[r].key;
            match order.iter().rev().find(is_seen) {
                Some(&w) => ops[w].value == ops[r].value,
                None => is_initial(&ops[r]),
            }
        })
    };
    match guarantees.arbitration() {
        Arbitration::One => orders
            .iter()
            .filter(allowed)
            .any(|order| explains(order, None)),
        Arbitration::Own => ops.iter().filter(|op| !op.is_write()).all(|op| {
            orders
                .iter()
                .filter(allowed)
                .any(|order| explains(order, Some(op.process)))
        }),
    }
}

fn keeps_arbitration(
    ops: &[MemoryOp],
    visible: &[u32],
    order: &[usize],
    guarantees: Guarantees,
) -> bool {
    (0..order.len()).all(|i| {
        (0..=i).all(|j| {
            // `later` stands before or at `w`.
            let (w, later) = (order[i], order[j]);
            let same = ops[w].process == ops[later].process && ops[w].call < ops[later].call;
            let mw = asks(guarantees, Guarantees::MONOTONIC_WRITES) && same;
            let wfr = asks(guarantees, Guarantees::WRITES_FOLLOW_READS)
                && follows(ops, visible, w, later);
            !mw && !wfr
        })
    })
}
