//! Derives order between operations from their [hints](super::hints), and between those on a container from their results,
//! beyond real time.
//!
//! Ours. **Order.** A value that was added once and removed at most once orders operations in every linearization: its
//! insertion precedes its peeks, and these precede its removal. In a first-in-first-out queue also:
//!
//! * if `a` was at the front (peeked or removed) before some peek or removal of `b`, then `a` was added before `b`;
//! * if `a` was added before `b`, then `a` was removed before `b` was at the front;
//! * a value that was never removed, although every removal is known, was added after all removed ones.
//!
//! The search tries no other orders. If these pairs contradict real time or each other, the task is not linearizable. Only
//! covering pairs are stored: those without a third operation between. Each operation has at most as many as the history is
//! wide.
//!
//! **Eager removals.** If such a value is the next to be served, all its peeks took effect, and its removal is open, then
//! the removal takes effect at once. In any linearization from here no operation sees the value before its removal: none
//! peeks it, and no other one removes it. So the operations in between are possible without the value as well, by the
//! contract of the roles, and moving the removal to the front gives a linearization. Operations without a role may see any
//! value, so if there is one, no removal is eager; nor is one from an object with a limit, which makes room.

use super::hints;
use crate::engine::{Facts, Shortcut};
use crate::history::{EventKind, NEVER, precedes};
use crate::spec::{Kind, Role};
use crate::value::ValueTable;

/// Facts that every linearization of a task obeys. Operations are positions in the task.
#[derive(Debug, Default)]
pub(super) struct Implied {
    /// Pairs of operations of which the first takes effect before the second.
    pairs: Vec<(u32, u32)>,
    /// Removals that take effect as soon as they can.
    eager_removals: Vec<u32>,
}

/// The operations on one value.
#[derive(Clone, Default)]
struct OpsOnValue {
    adds: Vec<u32>,
    removes: Vec<u32>,
    peeks: Vec<u32>,
}

/// A value that was added once and removed at most once.
struct UniqueValue<'a> {
    add: u32,
    removal: Option<u32>,
    peeks: &'a [u32],
}

impl Implied {
    pub(super) fn of(task: &dyn Facts) -> Self {
        let mut implied = Implied::default();
        if !task.shortcuts().has(Shortcut::ImpliedOrder) {
            return implied;
        }
        implied.pairs = hints::pairs(task);
        let is_limited = matches!(task.kind(), Some(Kind::Limited(_)));
        let is_queue = match task.kind().map(Kind::without_limit) {
            Some(Kind::Queue) => true,
            Some(
                Kind::Stack
                | Kind::Deque
                | Kind::MaxPriorityQueue
                | Kind::MinPriorityQueue
                | Kind::Bag,
            ) => false,
            // No order follows from the values of other kinds.
            _ => return implied,
        };
        let mut values = ValueTable::default();
        let mut on_value: Vec<OpsOnValue> = Vec::new();
        let mut removals_known = true;
        let mut roles_known = true;
        for (i, &op) in (0u32..).zip(task.ops()) {
            let role = task.role(op);
            let (Role::Adds(value) | Role::Removes(value) | Role::Peeks(value)) = &role else {
                removals_known &= role == Role::Empty || task.is_pure(op);
                roles_known &= matches!(role, Role::Empty | Role::RemovesSome);
                continue;
            };
            let number = values.intern(value.clone().into()) as usize;
            if number == on_value.len() {
                on_value.push(OpsOnValue::default());
            }
            let ops = &mut on_value[number];
            match role {
                Role::Adds(_) => ops.adds.push(i),
                Role::Removes(_) => ops.removes.push(i),
                _ => ops.peeks.push(i),
            }
        }

        let mut unique = Vec::new();
        for ops in &on_value {
            let &[add] = ops.adds.as_slice() else {
                continue;
            };
            let removal = match ops.removes.as_slice() {
                &[removal] => Some(removal),
                [] if removals_known => None,
                _ => continue,
            };
            for &peek in &ops.peeks {
                implied.pairs.push((add, peek));
                implied.pairs.extend(removal.map(|removal| (peek, removal)));
            }
            implied.pairs.extend(removal.map(|removal| (add, removal)));
            unique.push(UniqueValue {
                add,
                removal,
                peeks: &ops.peeks,
            });
        }
        if roles_known && !is_limited && task.shortcuts().has(Shortcut::EagerRemovals) {
            implied
                .eager_removals
                .extend(unique.iter().filter_map(|value| value.removal));
        }
        if is_queue {
            implied.add_queue_order(task, &unique);
        }
        implied
    }

    /// Adds the facts about one key; `ops` are the positions of its operations in the task.
    pub(super) fn add_key(&mut self, key: &Implied, ops: &[u32]) {
        let place = |op: u32| ops[op as usize];
        let pairs = key.pairs.iter().map(|&(a, b)| (place(a), place(b)));
        self.pairs.extend(pairs);
        self.eager_removals
            .extend(key.eager_removals.iter().map(|&op| place(op)));
    }

    /// Adds the order of a first-in-first-out queue.
    fn add_queue_order(&mut self, task: &dyn Facts, unique: &[UniqueValue<'_>]) {
        let op = |op: u32| task.ops()[op as usize];
        // The interval from the last call to the first return of the operations that saw the value at the front. A value
        // that is never removed is at the front after all others, so its interval begins at the end.
        let at_front = |value: &UniqueValue<'_>| {
            let seen = || value.peeks.iter().copied().chain(value.removal);
            let last = if value.removal.is_some() {
                seen().map(|seen| op(seen).call).max()
            } else {
                None
            };
            let first = seen().map(|seen| op(seen).ret).min();
            (last.unwrap_or(NEVER), first.unwrap_or(NEVER))
        };
        let before = covering_pairs(&unique.iter().map(at_front).collect::<Vec<_>>());
        self.pairs.extend(
            before
                .into_iter()
                .map(|(a, b)| (unique[a].add, unique[b].add)),
        );

        let removed: Vec<&UniqueValue<'_>> = unique
            .iter()
            .filter(|value| value.removal.is_some())
            .collect();
        let added = |value: &&UniqueValue<'_>| (op(value.add).call, op(value.add).ret);
        for (a, b) in covering_pairs(&removed.iter().map(added).collect::<Vec<_>>()) {
            let seen = removed[b].peeks.iter().copied().chain(removed[b].removal);
            self.pairs.extend(
                removed[a]
                    .removal
                    .into_iter()
                    .flat_map(|a| seen.clone().map(move |b| (a, b))),
            );
        }
    }

    /// Removals that take effect as soon as they can.
    pub(super) fn eager_removals(&self) -> &[u32] {
        &self.eager_removals
    }

    /// Operations that no order can have as both these pairs and real time demand: those on a cycle of their union, if there
    /// is one, and on the way to it.
    pub(super) fn contradiction(
        &self,
        events: &[(u32, EventKind)],
        ops: usize,
    ) -> Option<Vec<u32>> {
        if self.pairs.is_empty() {
            return None;
        }
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Mark {
            NotCalled,
            Open,
            Entered,
            Done,
        }
        let predecessors = Adjacency::new(ops, self.pairs.iter().map(|&(a, b)| (b, a)));
        let mut marks = vec![Mark::NotCalled; ops];
        let mut stack: Vec<u32> = Vec::new();
        for &(op, kind) in events {
            if kind == EventKind::Call {
                marks[op as usize] = Mark::Open;
                continue;
            }
            // The operation has taken effect by its return, and so have all its predecessors.
            stack.push(op);
            while let Some(&top) = stack.last() {
                let entered = |op: &u32| *op == top || marks[*op as usize] == Mark::Entered;
                let way = || stack.iter().copied().filter(entered).collect();
                match marks[top as usize] {
                    Mark::NotCalled => return Some(way()),
                    Mark::Done => {
                        stack.pop();
                    }
                    Mark::Open => {
                        let before = predecessors.of(top);
                        let is_entered = |op: &u32| marks[*op as usize] == Mark::Entered;
                        if before.contains(&top) || before.iter().any(is_entered) {
                            return Some(way());
                        }
                        marks[top as usize] = Mark::Entered;
                        let is_done = |op: &&u32| marks[**op as usize] == Mark::Done;
                        stack.extend(before.iter().filter(|op| !is_done(op)));
                    }
                    Mark::Entered => {
                        marks[top as usize] = Mark::Done;
                        stack.pop();
                    }
                }
            }
        }
        None
    }

    /// The operations that each operation must precede.
    pub(super) fn successors(&self, ops: usize) -> Adjacency {
        Adjacency::new(ops, self.pairs.iter().copied())
    }
}

/// Returns the pairs of intervals, as (call, return), of which the first precedes the second, without those that follow from
/// others.
fn covering_pairs(intervals: &[(u32, u32)]) -> Vec<(usize, usize)> {
    let mut by_first: Vec<usize> = (0..intervals.len()).collect();
    by_first.sort_unstable_by_key(|&i| intervals[i].0);
    let mut by_second: Vec<usize> = by_first
        .iter()
        .copied()
        .filter(|&i| intervals[i].1 != NEVER)
        .collect();
    by_second.sort_unstable_by_key(|&i| intervals[i].1);

    let mut pairs = Vec::new();
    // Invariant: all intervals in `last` precede the next one, and none of them precedes another.
    let mut last: Vec<usize> = Vec::new();
    let mut over = by_second.into_iter().peekable();
    for b in by_first {
        while let Some(a) = over.next_if(|&a| precedes(intervals[a].1, intervals[b].0)) {
            last.retain(|&earlier| {
                let is_before = precedes(intervals[earlier].1, intervals[a].0);
                if is_before {
                    pairs.push((earlier, a));
                }
                !is_before
            });
            last.push(a);
        }
        pairs.extend(last.iter().filter(|&&a| a != b).map(|&a| (a, b)));
    }
    pairs
}

/// A graph as adjacency lists in one array.
#[derive(Debug)]
pub(super) struct Adjacency {
    start: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    fn new(ops: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut start = vec![0; ops + 1];
        for (a, _) in pairs.clone() {
            start[a as usize + 1] += 1;
        }
        for i in 0..ops {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut neighbours = vec![0; start[ops] as usize];
        for (a, b) in pairs {
            neighbours[next[a as usize] as usize] = b;
            next[a as usize] += 1;
        }
        Adjacency { start, neighbours }
    }

    pub(super) fn of(&self, op: u32) -> &[u32] {
        let range = self.start[op as usize] as usize..self.start[op as usize + 1] as usize;
        &self.neighbours[range]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }
}
