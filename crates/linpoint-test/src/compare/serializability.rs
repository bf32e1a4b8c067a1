//! Conflict serializability (atomicity): whether an execution is equivalent to a serial one, operation after operation, by swapping
//! neighbouring accesses that do not conflict.
//!
//! It is if and only if the conflict graph has no cycle. Its nodes are the operations; an edge leads from an operation to another one
//! that comes later in the same thread, or that has a later access that conflicts. Accesses conflict if they are of the same
//! variable and one of them writes. Variables are atomics, cells, and what a lock protects; taking a lock is no access.

use crate::Map;
use crate::runtime::memory_event::{Action, MemoryEvent};

/// Whether an action reads or writes a variable; `None` if it is no access.
fn writes(action: Action) -> Option<bool> {
    match action {
        Action::Load(_) | Action::FailedUpdate(_) | Action::ReadCell | Action::ReadGuarded => {
            Some(false)
        }
        Action::Store(_) | Action::Update(_) | Action::WriteCell | Action::WriteGuarded => {
            Some(true)
        }
        Action::Fence(_)
        | Action::Acquire
        | Action::Release
        | Action::Share
        | Action::Unshare
        | Action::Give
        | Action::Take => None,
    }
}

/// Returns the pairs of operations with accesses that conflict, that of the earlier access first.
fn conflicts(events: &[MemoryEvent]) -> Vec<(usize, usize)> {
    let accesses: Vec<(&MemoryEvent, bool)> = events
        .iter()
        .filter_map(|event| Some((event, writes(event.action)?)))
        .collect();
    let mut pairs = Vec::new();
    for (place, (second, second_writes)) in accesses.iter().enumerate() {
        for (first, first_writes) in &accesses[..place] {
            let is_same = first.object == second.object && first.op != second.op;
            if is_same && (*first_writes || *second_writes) {
                pairs.push((first.op, second.op));
            }
        }
    }
    pairs
}

/// Returns a cycle of the conflict graph, as operations; `None` if the execution is conflict-serializable.
pub(super) fn cycle(events: &[MemoryEvent]) -> Option<Vec<usize>> {
    let mut edges: Map<usize, Vec<usize>> = Map::default();
    let mut add = |from: usize, to: usize| {
        let of_op = edges.entry(from).or_default();
        if !of_op.contains(&to) {
            of_op.push(to);
        }
    };
    for (from, to) in conflicts(events).into_iter().chain(thread_order(events)) {
        add(from, to);
    }
    let mut ops: Vec<usize> = edges.keys().copied().collect();
    ops.sort_unstable();
    // A shortest one, from its smallest operation.
    let cycles = ops.into_iter().filter_map(|op| shortest(&edges, op));
    cycles.min_by_key(|cycle| cycle.len())
}

/// Returns the pairs of operations that follow one another in a thread.
fn thread_order(events: &[MemoryEvent]) -> Vec<(usize, usize)> {
    let mut last: Map<usize, usize> = Map::default();
    let mut pairs = Vec::new();
    for event in events {
        match last.insert(event.thread, event.op) {
            Some(before) if before != event.op => pairs.push((before, event.op)),
            _ => {}
        }
    }
    pairs
}

/// Returns a shortest cycle through an operation.
fn shortest(edges: &Map<usize, Vec<usize>>, start: usize) -> Option<Vec<usize>> {
    let mut reached: Map<usize, usize> = Map::default();
    let mut frontier = vec![start];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for &op in &frontier {
            for &to in edges.get(&op).into_iter().flatten() {
                if to == start {
                    let mut cycle = vec![op];
                    while *cycle.last()? != start {
                        cycle.push(reached[cycle.last()?]);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                reached.entry(to).or_insert_with(|| {
                    next.push(to);
                    op
                });
            }
        }
        frontier = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;

    use super::super::tests::Random;
    use super::*;
    use crate::runtime::memory_event::listed::event;
    use Action::*;

    const X: u64 = 1;
    const Y: u64 = 2;

    /// Events as (operation, variable, action); each operation has a thread of its own.
    fn cycle_of(list: &[(usize, u64, Action)]) -> Option<Vec<usize>> {
        let events: Vec<_> = list
            .iter()
            .map(|&(op, object, action)| event(op, op, object, action))
            .collect();
        cycle(&events)
    }

    #[test]
    fn a_write_between_two_reads_is_no_serial_execution() {
        let (read, write) = (Load(SeqCst), Store(SeqCst));
        assert_eq!(
            cycle_of(&[(0, X, read), (1, X, write), (0, X, read)]),
            Some(vec![0, 1])
        );
        assert_eq!(cycle_of(&[(0, X, read), (1, X, read), (0, X, read)]), None);
        assert_eq!(cycle_of(&[(0, X, read), (1, Y, write), (0, X, read)]), None);
        // A lost update.
        assert!(cycle_of(&[(0, X, read), (1, X, read), (0, X, write), (1, X, write)]).is_some());
        // Two variables, written in opposite orders.
        assert!(cycle_of(&[(0, X, write), (1, X, write), (1, Y, write), (0, Y, write)]).is_some());
        assert!(cycle_of(&[(0, X, write), (1, X, write), (0, Y, write), (1, Y, write)]).is_none());
    }

    #[test]
    fn critical_sections_conflict_by_what_they_do_inside() {
        let section = |op, action| [(op, X, Acquire), (op, X, action), (op, X, Release)];
        let between =
            |outer, inner| [section(0, outer), section(1, inner), section(0, outer)].concat();
        assert!(cycle_of(&between(ReadGuarded, ReadGuarded)).is_none());
        assert!(cycle_of(&between(ReadGuarded, WriteGuarded)).is_some());
        assert!(cycle_of(&between(WriteGuarded, ReadGuarded)).is_some());
    }

    /// Whether some order of the operations keeps the order of each thread and of each pair that conflicts.
    fn has_serial_order(events: &[MemoryEvent], ops: usize) -> bool {
        fn orders(
            left: Vec<usize>,
            prefix: Vec<usize>,
            is_valid: &dyn Fn(&[usize]) -> bool,
        ) -> bool {
            if left.is_empty() {
                return is_valid(&prefix);
            }
            left.iter().any(|&op| {
                let rest = left.iter().copied().filter(|&other| other != op).collect();
                orders(rest, [prefix.clone(), vec![op]].concat(), is_valid)
            })
        }
        let kept = |order: &[usize]| {
            let at = |op: usize| order.iter().position(|&other| other == op);
            let by_conflict = events.iter().enumerate().all(|(place, second)| {
                events[..place].iter().all(|first| {
                    let written =
                        writes(first.action) == Some(true) || writes(second.action) == Some(true);
                    let conflicts =
                        first.object == second.object && written && first.op != second.op;
                    !conflicts || at(first.op) < at(second.op)
                })
            });
            let by_thread = events.iter().all(|first| {
                events.iter().all(|second| {
                    let is_later = first.thread == second.thread && first.op < second.op;
                    !is_later || at(first.op) < at(second.op)
                })
            });
            by_conflict && by_thread
        };
        orders((0..ops).collect(), Vec::new(), &kept)
    }

    #[test]
    fn the_conflict_graph_agrees_with_all_serial_orders() {
        let mut random = Random(1);
        let (mut serializable, mut not) = (0, 0);
        for _ in 0..600 {
            // Up to five operations of up to three threads; an operation of a thread begins when the one before has ended.
            let mut left: Vec<Vec<usize>> = vec![vec![0, 1], vec![2, 3], vec![4]];
            let mut events = Vec::new();
            for _ in 0..3 + random.below(8) {
                let thread = random.below(3);
                if left[thread].len() > 1 && random.below(3) == 0 {
                    left[thread].remove(0);
                }
                let object = 1 + random.below(3) as u64;
                let action = [Load(SeqCst), Store(SeqCst)][random.below(2)];
                events.push(event(thread, left[thread][0], object, action));
            }
            let expected = has_serial_order(&events, 5);
            assert_eq!(cycle(&events).is_none(), expected, "{events:?}");
            match expected {
                true => serializable += 1,
                false => not += 1,
            }
        }
        assert!(serializable > 20 && not > 20, "{serializable} {not}");
    }
}
