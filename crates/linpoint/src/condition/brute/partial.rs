//! Causal conditions: all strict partial orders that contain the order of processes.

use super::super::Condition;
use super::super::memory::MemoryOp;
use super::is_initial;
use super::orders::{permutations, subsets};

/// A strict partial order: for each operation, those before it.
type Before = Vec<u32>;

/// Whether some partial order satisfies a causal condition. Pending writes may be left out.
pub(super) fn holds(ops: &[MemoryOp], condition: Condition) -> bool {
    let all: Vec<usize> = (0..ops.len()).collect();
    let is_complete =
        |set: &Vec<usize>| all.iter().all(|i| ops[*i].is_pending() || set.contains(i));
    subsets(&all).into_iter().filter(is_complete).any(|set| {
        let ops: Vec<MemoryOp> = set.iter().map(|&i| ops[i]).collect();
        extend(&ops, &mut Vec::new(), &|before| {
            satisfies(&ops, before, condition)
        })
    })
}

/// Adds the next operation to a partial order in all ways: what is before it, and what it is before. Operations come in the order of
/// their calls, so earlier ones of its process are there.
fn extend(ops: &[MemoryOp], before: &mut Before, accept: &dyn Fn(&Before) -> bool) -> bool {
    let n = before.len();
    if n == ops.len() {
        return accept(before);
    }
    let all = (1u32 << n) - 1;
    let own = (0..n).filter(|&i| ops[i].process == ops[n].process);
    let own: u32 = own.map(|i| 1 << i).sum();
    let members = |set: u32| (0..n).filter(move |&i| set >> i & 1 == 1);
    for down in 0..=all {
        let is_closed = members(down).all(|i| before[i] & !down == 0);
        if down & own != own || !is_closed {
            continue;
        }
        for up in 0..=all {
            // What is after the new one is after all that is before it, and so is what comes after that.
            let is_up = members(up).all(|i| down & !before[i] == 0);
            let is_closed = (0..n).all(|i| up >> i & 1 == 1 || before[i] & up == 0);
            if up & down != 0 || up & own != 0 || !is_up || !is_closed {
                continue;
            }
            let saved = before.clone();
            members(up).for_each(|i| before[i] |= 1 << n);
            before.push(down);
            if extend(ops, before, accept) {
                return true;
            }
            *before = saved;
        }
    }
    false
}

fn satisfies(ops: &[MemoryOp], before: &Before, condition: Condition) -> bool {
    let is_before = |a: usize, b: usize| before[b] >> a & 1 == 1;
    match condition {
        Condition::WeakCausal => is_weak(ops, &is_before),
        Condition::CausalConvergence => converges(ops, &is_before),
        _ => is_memory(ops, &is_before),
    }
}

/// The writes of its key before a read.
fn seen(ops: &[MemoryOp], is_before: &dyn Fn(usize, usize) -> bool, read: usize) -> Vec<usize> {
    let is_seen =
        |&w: &usize| ops[w].is_write() && ops[w].key == ops[read].key && is_before(w, read);
    (0..ops.len()).filter(is_seen).collect()
}

fn is_weak(ops: &[MemoryOp], is_before: &dyn Fn(usize, usize) -> bool) -> bool {
    (0..ops.len()).filter(|&i| !ops[i].is_write()).all(|read| {
        let seen = seen(ops, is_before, read);
        let is_last = |w: usize| !seen.iter().any(|&x| is_before(w, x));
        let returns = |w: &usize| ops[*w].value == ops[read].value && is_last(*w);
        seen.is_empty() && is_initial(&ops[read]) || seen.iter().any(returns)
    })
}

fn converges(ops: &[MemoryOp], is_before: &dyn Fn(usize, usize) -> bool) -> bool {
    let writes: Vec<usize> = (0..ops.len()).filter(|&i| ops[i].is_write()).collect();
    permutations(&writes).iter().any(|order| {
        let keeps = (0..order.len()).all(|i| (0..i).all(|j| !is_before(order[i], order[j])));
        keeps
            && (0..ops.len()).filter(|&i| !ops[i].is_write()).all(|read| {
                let seen = seen(ops, is_before, read);
                let last = order.iter().rev().find(|w| seen.contains(w));
                match last {
                    Some(&w) => ops[w].value == ops[read].value,
                    None => is_initial(&ops[read]),
                }
            })
    })
}

fn is_memory(ops: &[MemoryOp], is_before: &dyn Fn(usize, usize) -> bool) -> bool {
    (0..ops.len()).all(|o| {
        let past: Vec<usize> = (0..ops.len())
            .filter(|&a| a == o || is_before(a, o))
            .collect();
        let is_checked = |i: usize| {
            let is_own = ops[i].process == ops[o].process && ops[i].call <= ops[o].call;
            !ops[i].is_write() && (i == o || is_own)
        };
        permutations(&past).iter().any(|order| {
            let keeps = (0..order.len()).all(|i| (0..i).all(|j| !is_before(order[i], order[j])));
            keeps
                && (0..order.len())
                    .filter(|&at| is_checked(order[at]))
                    .all(|at| {
                        let read = &ops[order[at]];
                        let mut writes = order[..at].iter().rev().map(|&i| &ops[i]);
                        match writes.find(|w| w.is_write() && w.key == read.key) {
                            Some(w) => w.value == read.value,
                            None => is_initial(read),
                        }
                    })
        })
    })
}
