//! Which algorithm decides which condition.

use super::answer::{Answer, Decided, Stopped, Why, Witness};
use super::causal::{self, Causal};
use super::clusters::{coherent, order_by_spans};
use super::graph::Reason;
use super::memory::{Linked, Memory, Unlinked};
use super::processes::{causal_memory, pram};
use super::regular::{Reads, regular, regular_agreed};
use super::sequential::{self, Keeps};
use super::sessions;
use super::staleness::{smallest_delta, smallest_k};
use super::{Condition, brute};
use crate::engine::{Budget, Limit};
use crate::history::NEVER;

/// The most operations with repeated values that the literal definitions are asked about.
const MOST_BY_DEFINITION: usize = 6;

/// Decides a condition of a register or a map.
pub(super) fn decide(memory: &Memory, condition: Condition, budget: &Budget) -> Decided {
    match condition {
        Condition::Sequential => return in_order(memory, Keeps::Processes, budget),
        Condition::WriteLinearizable => return in_order(memory, Keeps::TimeOfWrites, budget),
        Condition::Regular => return Ok(regular(memory, Reads::All)),
        Condition::Safe => return Ok(regular(memory, Reads::Quiet)),
        _ => {}
    }
    let linked = match Linked::of(memory) {
        Ok(linked) => linked,
        Err(Unlinked::ThinAir(read)) => return Ok(Answer::Fails(Why::ThinAir(read))),
        Err(_) if condition == Condition::Strict => {
            return sequential::of_memory(memory, Keeps::TimeAndCrashes, budget);
        }
        Err(repeated) => return by_definition(memory, condition, repeated),
    };
    decide_linked(memory, &linked, condition, budget)
}

fn in_order(memory: &Memory, keeps: Keeps, budget: &Budget) -> Decided {
    match Linked::of(memory) {
        Err(Unlinked::ThinAir(read)) => Ok(Answer::Fails(Why::ThinAir(read))),
        _ => sequential::of_memory(memory, keeps, budget),
    }
}

fn decide_linked(
    memory: &Memory,
    linked: &Linked,
    condition: Condition,
    budget: &Budget,
) -> Decided {
    let stretch = |i: u32| {
        (
            i64::from(linked.op(i).stretch),
            i64::from(linked.op(i).stretch),
        )
    };
    let time = |i: u32| {
        let op = linked.op(i);
        let ret = if op.ret == NEVER {
            i64::MAX
        } else {
            op.ret.into()
        };
        (op.call.into(), ret)
    };
    let until_crash = |i: u32| {
        let (call, ret) = time(i);
        let op = linked.op(i);
        match op.is_pending() && op.deadline != NEVER {
            // After all that happened before the crash, and before all that was called after it.
            true => (call, i64::from(op.deadline) - 1),
            false => (call, ret),
        }
    };
    Ok(match condition {
        Condition::Strict => order_by_spans(linked, &until_crash, Reason::Time),
        Condition::Linearizable => order_by_spans(linked, &time, Reason::Time),
        Condition::Quiescent => order_by_spans(linked, &stretch, Reason::Quiet),
        Condition::Coherent => coherent(linked),
        Condition::Pram => return pram(memory, budget),
        Condition::WeakCausal => return causal::decide(linked, Causal::Weak, budget),
        Condition::CausalConvergence => {
            return causal::decide(linked, Causal::Convergence, budget);
        }
        Condition::CausalMemory => return causal_memory(linked, memory, budget),
        Condition::Sessions(guarantees) => return sessions::decide(linked, guarantees, budget),
        Condition::RegularAgreed => regular_agreed(memory, linked),
        Condition::KAtomic(bound) => return k_atomic(linked, bound, budget),
        Condition::DeltaAtomic(bound) => return delta_atomic(memory, linked, bound, budget),
        Condition::Sequential
        | Condition::WriteLinearizable
        | Condition::Regular
        | Condition::Safe => unreachable!("bug: decided without links"),
    })
}

fn k_atomic(linked: &Linked, bound: Option<u32>, budget: &Budget) -> Decided {
    let (versions, order) = match smallest_k(linked, bound, budget)? {
        Ok(found) => found,
        Err(why) => return Ok(Answer::Fails(why)),
    };
    match bound {
        Some(k) if versions.at_least > k => Ok(Answer::Fails(match versions.worst {
            Some((read, write)) => behind(linked, read, write),
            None => Why::NoOrder,
        })),
        Some(k) if versions.at_most > k => {
            Err(Limit::Capacity("orders of writes were tried as long as there was time").into())
        }
        _ => Ok(Answer::Holds(Witness::Order(linked.ids(&order)))),
    }
}

/// The writes between a read and what it returned, in every order.
fn behind(linked: &Linked, read: crate::history::OpId, write: Option<crate::history::OpId>) -> Why {
    let at = |id| {
        linked
            .ops
            .binary_search_by_key(&id, |op: &super::memory::MemoryOp| op.id)
    };
    let Ok(read_at) = at(read) else {
        return Why::NoOrder;
    };
    let read_op = linked.ops[read_at];
    // A write that was read ended before its first read did.
    let mut ends: Vec<u32> = linked.ops.iter().map(|op| op.ret).collect();
    for (other, source) in linked.reads() {
        if let Some(source) = source {
            let end = &mut ends[source as usize];
            *end = (*end).min(linked.op(other).ret);
        }
    }
    let start = write.and_then(|write| at(write).ok()).map(|at| ends[at]);
    let between = linked.ops.iter().zip(&ends).filter(|(op, end)| {
        let is_later = start.is_none_or(|start| start < op.call);
        op.is_write() && op.key == read_op.key && is_later && **end < read_op.call
    });
    Why::Behind {
        read,
        write,
        between: between.map(|(op, _)| op.id).collect(),
    }
}

fn delta_atomic(memory: &Memory, linked: &Linked, bound: Option<i64>, budget: &Budget) -> Decided {
    let found = smallest_delta(memory, linked, budget)?;
    let Some(found) = found else {
        return Err(Limit::Capacity("the history has no times").into());
    };
    Ok(match (found, bound) {
        (Err(why), _) => Answer::Fails(why),
        (Ok((lateness, _)), Some(delta)) if lateness.delta > delta => Answer::Fails(Why::NoOrder),
        (Ok((_, order)), _) => Answer::Holds(Witness::Order(order)),
    })
}

/// Values repeat: the definition decides if the operations are few.
fn by_definition(memory: &Memory, condition: Condition, repeated: Unlinked) -> Decided {
    if memory.ops.len() > MOST_BY_DEFINITION {
        return Err(Stopped::Unlinked(repeated));
    }
    match brute::holds(memory, condition) {
        Some(true) => Ok(Answer::Holds(Witness::TooLong)),
        Some(false) => Ok(Answer::Fails(Why::NoOrder)),
        None => Err(Stopped::Unlinked(repeated)),
    }
}
