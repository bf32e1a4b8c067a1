//! Order that follows from the results, beyond real time.
//!
//! For a first-in-first-out queue, a value that was put in once and taken out once fixes order between operations:
//!
//! * it was put in before it was peeked, and peeked before it was taken out;
//! * if the removal of `a` precedes that of `b`, then `a` was put in before `b`, and the other way round;
//! * a value that was never taken out, although every removal is known, was put in after all that were.
//!
//! Every linearization obeys these orders, so the search need not try others. Where they contradict real time, or each
//! other, there is no linearization at all.
//!
//! Precedence by intervals is given by its covering pairs: `a` is recorded as a predecessor of `b` only if no third
//! operation stands wholly between them. That is at most as many pairs per operation as the history is wide.

use crate::engine::Task;
use crate::history::NEVER;
use crate::spec::{Kind, Role, Spec};
use crate::value::{Interner, Value};

/// Pairs of operations that every linearization orders, by position in the task.
#[derive(Debug, Default)]
pub(super) struct Implied {
    pairs: Vec<(u32, u32)>,
}

/// The operations on one value.
#[derive(Clone, Default)]
struct OnValue {
    adds: Vec<u32>,
    removes: Vec<u32>,
    peeks: Vec<u32>,
}

impl Implied {
    pub(super) fn of<S: Spec>(task: &Task<'_, S>) -> Self {
        let mut implied = Implied::default();
        if task.kind() != Some(&Kind::Queue) {
            return implied;
        }
        let mut values: Interner<Value> = Interner::default();
        let mut on_value: Vec<OnValue> = Vec::new();
        let mut removals_known = true;
        for i in 0..task.ops.len() as u32 {
            let (op, ret) = task.action(i as usize);
            let role = task.spec.role(op, ret);
            let (Role::Adds(value) | Role::Removes(value) | Role::Peeks(value)) = &role else {
                removals_known &= role == Role::Empty || task.spec.is_pure(op, ret);
                continue;
            };
            let number = values.intern(value.clone()) as usize;
            if number == on_value.len() {
                on_value.push(OnValue::default());
            }
            let ops = &mut on_value[number];
            match role {
                Role::Adds(_) => ops.adds.push(i),
                Role::Removes(_) => ops.removes.push(i),
                _ => ops.peeks.push(i),
            }
        }

        let mut lives = Vec::new();
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
            lives.push((add, removal));
        }
        implied.add_queue_order(task, &lives);
        implied
    }

    /// First in, first out, for values with one insertion and at most one removal.
    fn add_queue_order<S: Spec>(&mut self, task: &Task<'_, S>, lives: &[(u32, Option<u32>)]) {
        let interval = |op: u32| (task.ops[op as usize].call, task.ops[op as usize].ret);
        // A value that stays is "removed" after everything, so it precedes nothing.
        let removals = lives
            .iter()
            .map(|&(_, removal)| removal.map_or((NEVER, NEVER), interval))
            .collect();
        let added = |i: usize| lives[i].0;
        self.pairs
            .extend(covering_pairs(removals).map(|(a, b)| (added(a), added(b))));

        let removed: Vec<(u32, u32)> = lives
            .iter()
            .filter_map(|&(add, removal)| Some((add, removal?)))
            .collect();
        let adds = removed.iter().map(|&(add, _)| interval(add)).collect();
        self.pairs
            .extend(covering_pairs(adds).map(|(a, b)| (removed[a].1, removed[b].1)));
    }

    /// Whether some order of the operations obeys both these pairs and real time.
    pub(super) fn is_consistent(
        &self,
        events: &[(u32, crate::history::EventKind)],
        ops: usize,
    ) -> bool {
        use crate::history::EventKind;
        if self.pairs.is_empty() {
            return true;
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
            // It must have taken effect by now, and so must all that come before it.
            stack.push(op);
            while let Some(&top) = stack.last() {
                match marks[top as usize] {
                    Mark::NotCalled => return false,
                    Mark::Done => {
                        stack.pop();
                    }
                    Mark::Open => {
                        marks[top as usize] = Mark::Entered;
                        for &before in predecessors.of(top) {
                            match marks[before as usize] {
                                Mark::Entered => return false,
                                Mark::Done => {}
                                Mark::NotCalled | Mark::Open => stack.push(before),
                            }
                        }
                    }
                    Mark::Entered => {
                        marks[top as usize] = Mark::Done;
                        stack.pop();
                    }
                }
            }
        }
        true
    }

    /// The operations that each operation must precede.
    pub(super) fn successors(&self, ops: usize) -> Adjacency {
        Adjacency::new(ops, self.pairs.iter().copied())
    }
}

/// The pairs `(a, b)` with interval `a` before interval `b` and nothing wholly between, as positions in `intervals`.
fn covering_pairs(intervals: Vec<(u32, u32)>) -> impl Iterator<Item = (usize, usize)> {
    let mut by_call: Vec<usize> = (0..intervals.len()).collect();
    by_call.sort_unstable_by_key(|&i| intervals[i].0);
    let mut by_return: Vec<usize> = by_call
        .iter()
        .copied()
        .filter(|&i| intervals[i].1 != NEVER)
        .collect();
    by_return.sort_unstable_by_key(|&i| intervals[i].1);

    let mut pairs = Vec::new();
    // Those that returned, and after whose return nothing was called that returned too.
    let mut last: Vec<usize> = Vec::new();
    let mut returned = by_return.into_iter().peekable();
    for b in by_call {
        while let Some(a) = returned.next_if(|&a| intervals[a].1 < intervals[b].0) {
            last.retain(|&earlier| intervals[earlier].1 > intervals[a].0);
            last.push(a);
        }
        pairs.extend(last.iter().map(|&a| (a, b)));
    }
    pairs.into_iter()
}

/// Lists of neighbours, one after the other.
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
