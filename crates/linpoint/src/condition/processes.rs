//! PRAM and causal memory: an order for each process.

use super::answer::{Answer, Decided, Stopped, Why, Witness};
use super::causal::{Pasts, circle_of_dependencies, dependencies};
use super::memory::{Linked, Memory};
use super::saturate::{reads_early, saturate};
use crate::engine::Budget;

/// Looks for an order of all writes and its own reads for each process.
pub(super) fn pram(memory: &Memory, budget: &Budget) -> Decided {
    let mut processes: Vec<u32> = memory.ops.iter().map(|op| op.process).collect();
    processes.sort_unstable();
    processes.dedup();
    let mut orders = Vec::new();
    for process in processes {
        let seen = |&i: &usize| memory.ops[i].is_write() || memory.ops[i].process == process;
        let positions: Vec<usize> = (0..memory.ops.len()).filter(seen).collect();
        let linked = Linked::of(&memory.only(&positions)).map_err(Stopped::Unlinked)?;
        let saturation = match saturate(&linked, &|_| true, &[], budget)? {
            Ok(saturation) => saturation,
            Err(why) => return Ok(Answer::Fails(why)),
        };
        let reads: Vec<u32> = linked.reads().map(|(read, _)| read).collect();
        orders.push(linked.ids(&reads_early(&saturation, &reads)));
    }
    Ok(Answer::Holds(Witness::Orders(orders)))
}

/// Looks for an order of all that its last operation depends on for each process: what holds for that one holds for the earlier ones.
pub(super) fn causal_memory(linked: &Linked, memory: &Memory, budget: &Budget) -> Decided {
    let Some(pasts) = Pasts::of(linked, budget)? else {
        let why: Why = circle_of_dependencies(linked, &dependencies(linked));
        return Ok(Answer::Fails(why));
    };
    let mut orders = Vec::new();
    for line in &linked.lines {
        let Some(&last) = line.last() else { continue };
        let process = linked.op(last).process;
        let is_past = |i: u32| i == last || pasts.is_before(i, last);
        let past: Vec<_> = (0..linked.len() as u32).filter(|&i| is_past(i)).collect();
        let ids = linked.ids(&past);
        let positions: Vec<usize> = positions(memory, &ids);
        let linked = Linked::of(&memory.only(&positions)).map_err(Stopped::Unlinked)?;
        let binds = |read: u32| linked.op(read).process == process;
        let saturation = match saturate(&linked, &binds, &[], budget)? {
            Ok(saturation) => saturation,
            Err(why) => return Ok(Answer::Fails(why)),
        };
        let reads = linked
            .reads()
            .map(|(read, _)| read)
            .filter(|&read| binds(read));
        let reads: Vec<u32> = reads.collect();
        orders.push(linked.ids(&reads_early(&saturation, &reads)));
    }
    Ok(Answer::Holds(Witness::Orders(orders)))
}

/// The positions of operations, which are in ascending order.
fn positions(memory: &Memory, ids: &[crate::history::OpId]) -> Vec<usize> {
    let is_in = |&i: &usize| ids.binary_search(&memory.ops[i].id).is_ok();
    (0..memory.ops.len()).filter(is_in).collect()
}
