//! Containers that serve the highest of their values: where each operation takes effect, and an order of all.
//!
//! A priority queue is one, and so is a stack once it is known which of its values lie below which. An operation on a
//! value fits in a gap iff no higher value is critical there (Lee and Mathur, *Efficient Linearizability Monitoring for
//! Sets, Stacks, Queues and Priority Queues*, corollary 7.3). Costs O(n log n).

use std::collections::BinaryHeap;

use super::users::Users;
use super::{Act, Lives, Log};
use crate::history::NEVER;

/// How high a value stands. Nothing at all stands at 0, values of priority 0 at 1.
pub(super) type Level = u32;

/// The level of an operation: that of its value.
fn level(log: &Log<Act>, priority: &[u32], op: usize) -> Level {
    match log.acts[op] {
        Act::Empty => 0,
        _ => priority[log.values[op] as usize] + 1,
    }
}

/// An operation that higher values leave no gap for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    pub(super) op: u32,
    /// The gaps from this one on, up to the other, are all too high.
    pub(super) from: u32,
    pub(super) to: u32,
}

/// Finds the latest gap for each operation, and hands it to `placed`; the first operation in the order of returns that
/// has none, if there is one. Insertions are looked at if `adds` says which operations they are; without, they fit
/// anywhere.
pub(super) fn place(
    log: &Log<Act>,
    lives: &Lives,
    priority: &[u32],
    adds: Option<&[u32]>,
    mut placed: impl FnMut(u32, u32),
) -> Result<(), Blocked> {
    let mut skyline = Skyline::default();
    let mut fit = |skyline: &Skyline, op: u32, level: Level, from: u32, to: u32| match skyline
        .latest(level, to)
    {
        Some(gap) if gap >= from => {
            placed(op, gap);
            Ok(())
        }
        _ => Err(Blocked { op, from, to }),
    };
    for (rank, event) in (0u32..).zip(&log.events) {
        let op = event.op();
        let act = log.acts[op];
        if act == Act::Empty {
            if event.is_return() {
                fit(&skyline, op as u32, 0, log.calls[op], rank)?;
            }
            continue;
        }
        let value = log.values[op];
        let life = &lives[value];
        if event.is_return() {
            if let Some(adds) = adds
                && rank == life.in_by
            {
                let level = priority[value as usize] + 1;
                fit(&skyline, adds[value as usize], level, life.added, rank)?;
            }
            let from = match act {
                Act::Remove => Some(life.out_from),
                // One that returns after the removal fits where that does.
                Act::Peek if life.removed_by > rank => Some(log.calls[op].max(life.added)),
                _ => None,
            };
            if let Some(from) = from {
                let level = priority[value as usize] + 1;
                fit(&skyline, op as u32, level, from, rank)?;
            }
        }
        if life.is_critical() {
            if rank == life.in_by {
                skyline.enter(priority[value as usize] + 1, value, rank);
            } else if rank == life.out_from {
                skyline.leave(value, rank, lives);
            }
        }
    }
    if lives.has_open {
        let is_open = |&op: &usize| log.acts[op] == Act::Remove && log.is_pending(op);
        for op in (0..log.len()).filter(is_open) {
            let life = &lives[log.values[op]];
            if life.exists() {
                let level = level(log, priority, op);
                fit(&skyline, op as u32, level, life.out_from, log.end())?;
            }
        }
    }
    Ok(())
}

/// The highest critical value of each gap so far, as much of it as matters for the latest gap below some level.
#[derive(Default)]
struct Skyline {
    /// The critical values, and some that no longer are.
    critical: BinaryHeap<(Level, u32)>,
    /// The level of the gap after the latest event.
    level: Level,
    /// Lower levels with the last gap that was as low; both ascend.
    lower: Vec<(Level, u32)>,
}

impl Skyline {
    /// The latest gap before the event of rank `before` that is at most that high.
    #[inline]
    fn latest(&self, level: Level, before: u32) -> Option<u32> {
        if self.level <= level {
            return before.checked_sub(1);
        }
        let low = self.lower.partition_point(|&(lower, _)| lower <= level);
        Some(self.lower[..low].last()?.1)
    }

    #[inline]
    fn enter(&mut self, level: Level, value: u32, rank: u32) {
        self.critical.push((level, value));
        if level > self.level {
            self.lower.push((self.level, rank - 1));
            self.level = level;
        }
    }

    #[inline]
    fn leave(&mut self, value: u32, rank: u32, lives: &Lives) {
        if self.critical.peek().is_none_or(|&(_, top)| top != value) {
            return;
        }
        self.critical.pop();
        while let Some(&(_, top)) = self.critical.peek()
            && lives[top].out_from <= rank
        {
            self.critical.pop();
        }
        self.level = self.critical.peek().map_or(0, |&(level, _)| level);
        while let Some(&(lower, _)) = self.lower.last()
            && lower >= self.level
        {
            self.lower.pop();
        }
    }
}

/// An order that explains a log of which every operation has a gap. `constrained_adds` tells whether insertions need a
/// low gap, too.
///
/// Every operation is placed in its latest gap. If a higher value was touched before that gap, and could not be finished
/// in it, then the operation that touched it would have had a later gap. So at each gap the values above are either not
/// in yet, or can be finished first.
pub(super) fn order(
    log: &Log<Act>,
    lives: &Lives,
    priority: &[u32],
    constrained_adds: bool,
) -> Vec<u32> {
    let users = Users::of(log, lives);
    let gaps = gaps(log, lives, priority, constrained_adds, &users);
    let (starts, mut visits) = by_gap(&gaps, log.end());
    let mut order = Order {
        users: &users,
        taken: vec![false; log.len()],
        ops: Vec::with_capacity(log.len()),
    };
    // Values that nobody will touch after the current gap.
    let mut closing = BinaryHeap::new();
    let is_free = |op: u32| !constrained_adds && log.acts[op as usize] == Act::Add;
    for (gap, event) in log.events.iter().enumerate() {
        let op = event.op();
        if !event.is_return() && log.acts[op] != Act::Empty {
            let value = log.values[op];
            if lives[value].out_from as usize == gap {
                closing.push((priority[value as usize] + 1, value));
            }
        }
        let visits = &mut visits[starts[gap] as usize..starts[gap + 1] as usize];
        if visits.len() > 1 {
            visits.sort_unstable_by_key(|&op| {
                let level = level(log, priority, op as usize);
                (is_free(op), level, log.acts[op as usize] as u8)
            });
        }
        for &op in &*visits {
            if order.taken[op as usize] {
                continue;
            }
            let value = log.values[op as usize];
            if !is_free(op) {
                let level = level(log, priority, op as usize);
                while let Some(&(above, value)) = closing.peek()
                    && above > level
                {
                    closing.pop();
                    order.finish(value);
                }
            }
            match log.acts[op as usize] {
                Act::Remove => order.finish(value),
                Act::Peek => order.take(users.add(value)),
                Act::Add | Act::Empty => {}
            }
            order.take(op);
        }
    }
    order.ops
}

/// The gap of each operation; [`NEVER`] for those to be left out.
fn gaps(
    log: &Log<Act>,
    lives: &Lives,
    priority: &[u32],
    constrained_adds: bool,
    users: &Users,
) -> Vec<u32> {
    let mut gaps = vec![NEVER; log.len()];
    let adds = constrained_adds.then(|| users.adds());
    place(log, lives, priority, adds, |op, gap| {
        gaps[op as usize] = gap;
    })
    .expect("bug: a witness is asked for, and an operation has no gap");
    for (value, life) in lives.iter() {
        if !constrained_adds {
            gaps[users.add(value) as usize] = life.in_by - 1;
        }
        if life.is_removed() {
            let removed = gaps[users.remove(value) as usize];
            for &peek in users.peeks(value) {
                let gap = &mut gaps[peek as usize];
                *gap = (*gap).min(removed);
            }
        }
    }
    gaps
}

/// The operations in the order of their gaps, and where those of each gap start.
fn by_gap(gaps: &[u32], end: u32) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; end as usize + 1];
    let placed = || (0u32..).zip(gaps).filter(|&(_, &gap)| gap != NEVER);
    for (_, &gap) in placed() {
        starts[gap as usize] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut ops = vec![0; sum as usize];
    for (op, &gap) in placed() {
        starts[gap as usize] -= 1;
        ops[starts[gap as usize] as usize] = op;
    }
    (starts, ops)
}

/// An order that grows.
struct Order<'a> {
    users: &'a Users,
    taken: Vec<bool>,
    ops: Vec<u32>,
}

impl Order<'_> {
    fn take(&mut self, op: u32) {
        if !std::mem::replace(&mut self.taken[op as usize], true) {
            self.ops.push(op);
        }
    }

    /// Takes all that is missing of a value that is taken out.
    fn finish(&mut self, value: u32) {
        self.take(self.users.add(value));
        for &peek in self.users.peeks(value) {
            self.take(peek);
        }
        self.take(self.users.remove(value));
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial;
    use super::*;
    use crate::spec::Discipline;

    /// All ways to give the numbers from 0 on to this many values.
    fn permutations(values: usize) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for next in 0..values as u32 {
            all = (0..=next as usize)
                .flat_map(|at| {
                    all.iter().cloned().map(move |mut longer: Vec<u32>| {
                        longer.insert(at, next);
                        longer
                    })
                })
                .collect();
        }
        all
    }

    #[test]
    fn stacks_are_layered_somehow() {
        trial::for_random_logs(Discipline::Lifo, |log| {
            let Ok(lives) = Lives::of(&log) else { return };
            let used: Vec<u32> = lives.iter().map(|(value, _)| value).collect();
            if used.len() > 4 {
                return;
            }
            let users = Users::of(&log, &lives);
            let mut is_layered = false;
            for numbers in permutations(used.len()) {
                let mut priority = vec![0; log.distinct as usize];
                for (&value, &number) in used.iter().zip(&numbers) {
                    priority[value as usize] = number;
                }
                if place(&log, &lives, &priority, Some(users.adds()), |_, _| {}).is_ok() {
                    is_layered = true;
                    let order = order(&log, &lives, &priority, true);
                    trial::assert_explains(Discipline::Lifo, &log, &order);
                }
            }
            assert_eq!(
                is_layered,
                trial::is_linearizable(Discipline::Lifo, &log),
                "{log:#?}"
            );
        });
    }
}
