//! The conditions as they are defined, as programs: everything that a definition quantifies over is enumerated. For tiny histories
//! of registers and maps; plainly correct, never optimised, and shared with nothing. This is the reference of the tests, decides tiny
//! histories whose values repeat, and confirms small cores.

mod orders;
mod partial;
mod visibility;

use super::memory::{INITIAL, Memory, MemoryOp};
use super::{Condition, Guarantees};
use crate::history::NEVER;
use orders::some_order;

/// The most operations that are enumerated.
pub(super) const MOST_OPS: usize = 7;

/// Whether a condition holds; `None` if the history is too long, or has no times where they matter.
pub(super) fn holds(memory: &Memory, condition: Condition) -> Option<bool> {
    let ops = &memory.ops;
    if ops.len() > MOST_OPS {
        return None;
    }
    let all = |_: &MemoryOp| true;
    let by_time = |a: &MemoryOp, b: &MemoryOp| a.ret < b.call;
    let by_process = |a: &MemoryOp, b: &MemoryOp| a.process == b.process && a.call < b.call;
    Some(match condition {
        Condition::Strict => {
            // What was open at a crash either ended with it or never was.
            let cut: Vec<usize> = (0..ops.len())
                .filter(|&i| ops[i].deadline != NEVER)
                .collect();
            orders::subsets(&cut).iter().any(|ended| {
                let took_part = |&i: &usize| !cut.contains(&i) || ended.contains(&i);
                let completed: Vec<MemoryOp> = (0..ops.len())
                    .filter(took_part)
                    .map(|i| match cut.contains(&i) {
                        // The last rank before the crash: only what was called after the crash has a larger one.
                        true => MemoryOp {
                            ret: ops[i].deadline - 1,
                            ..ops[i]
                        },
                        false => ops[i],
                    })
                    .collect();
                some_order(&completed, &all, &by_time, 1)
            })
        }
        Condition::Linearizable => some_order(ops, &all, &by_time, 1),
        Condition::Sequential => some_order(ops, &all, &by_process, 1),
        Condition::WriteLinearizable => {
            let before = |a: &MemoryOp, b: &MemoryOp| {
                by_process(a, b) || a.is_write() && b.is_write() && by_time(a, b)
            };
            some_order(ops, &all, &before, 1)
        }
        Condition::Quiescent => {
            // A pending operation is open for ever.
            let before = |a: &MemoryOp, b: &MemoryOp| a.stretch < b.stretch;
            some_order(ops, &all, &before, 1)
        }
        Condition::Coherent => each(
            ops,
            |op| op.key,
            |key| some_order(ops, &|op| op.key == key, &by_process, 1),
        ),
        Condition::Pram => each(
            ops,
            |op| op.process,
            |process| {
                some_order(
                    ops,
                    &|op| op.is_write() || op.process == process,
                    &by_process,
                    1,
                )
            },
        ),
        Condition::WeakCausal | Condition::CausalMemory | Condition::CausalConvergence => {
            partial::holds(ops, condition)
        }
        Condition::Sessions(guarantees) => visibility::holds(ops, guarantees),
        Condition::KAtomic(bound) => {
            smallest_k(memory).is_some_and(|k| bound.is_none_or(|b| k <= b))
        }
        Condition::DeltaAtomic(_) if !memory.is_timed => return None,
        Condition::DeltaAtomic(bound) => {
            smallest_delta(memory).is_some_and(|delta| bound.is_none_or(|b| delta <= b))
        }
        Condition::Regular => reads(ops).all(|read| is_regular(ops, read)),
        Condition::Safe => reads(ops).all(|read| {
            let overlaps = |w: &&MemoryOp| {
                w.is_write() && w.key == read.key && !by_time(w, read) && !by_time(read, w)
            };
            ops.iter().any(|w| overlaps(&w)) || is_regular(ops, read)
        }),
        Condition::RegularAgreed => each(ops, |op| op.key, |key| orders::agreed(ops, key)),
    })
}

fn each(ops: &[MemoryOp], group: impl Fn(&MemoryOp) -> u32, holds: impl Fn(u32) -> bool) -> bool {
    ops.iter().all(|op| holds(group(op)))
}

fn reads(ops: &[MemoryOp]) -> impl Iterator<Item = &MemoryOp> {
    ops.iter().filter(|op| !op.is_write())
}

fn is_regular(ops: &[MemoryOp], read: &MemoryOp) -> bool {
    let takes_part = |op: &MemoryOp| op.key == read.key && (op.is_write() || op.id == read.id);
    some_order(ops, &takes_part, &|a, b| a.ret < b.call, 1)
}

/// The smallest number of last values of which each read returns one, if there is any.
pub(super) fn smallest_k(memory: &Memory) -> Option<u32> {
    let most = memory.ops.iter().filter(|op| op.is_write()).count() + 1;
    let holds = |k: &usize| some_order(&memory.ops, &|_| true, &|a, b| a.ret < b.call, *k);
    (1..=most).find(holds).map(|k| k as u32)
}

/// The smallest shift of reads into the past that makes the history linearizable, if there is any.
pub(super) fn smallest_delta(memory: &Memory) -> Option<i64> {
    let latest = memory.ops.iter().map(|op| op.times.0).max().unwrap_or(0);
    let earliest = memory.ops.iter().map(|op| op.times.0).min().unwrap_or(0);
    (0..=latest - earliest + 1).find(|delta| {
        let call = |op: &MemoryOp| op.times.0 - if op.is_write() { 0 } else { *delta };
        let before = |a: &MemoryOp, b: &MemoryOp| !a.is_pending() && a.times.1 < call(b);
        some_order(&memory.ops, &|_| true, &before, 1)
    })
}

/// Whether a read may return this value where nothing was written.
fn is_initial(read: &MemoryOp) -> bool {
    read.value == INITIAL
}

/// Names the sets that the enumeration of visibilities decides.
fn asks(guarantees: Guarantees, which: Guarantees) -> bool {
    guarantees.contains(which)
}
