//! Few operations that contradict a condition.
//!
//! Reads may be left out, and writes with all reads of what they wrote: an order, or a visibility, of all operations is one of the
//! rest too. So what the rest violates, the whole history violates. For regular and safe registers the algorithm names what matters
//! itself.

use std::collections::HashMap;

use super::answer::{Answer, Why};
use super::decide::decide;
use super::memory::{Linked, Memory};
use super::{Condition, brute};
use crate::engine::Budget;
use crate::history::OpId;

/// The most operations of cores that are confirmed by definition, which takes milliseconds then.
const MOST_CONFIRMED: usize = 6;

/// A contradiction.
pub(super) struct Core {
    pub(super) ops: Vec<OpId>,
    pub(super) why: Why,
    /// Whether no operation can be left out.
    pub(super) is_minimal: bool,
    /// Whether the definition was asked, too.
    pub(super) is_confirmed: bool,
}

/// Makes a violation small within `budget`.
pub(super) fn shrink(memory: &Memory, condition: Condition, why: Why, budget: &Budget) -> Core {
    if matches!(condition, Condition::Regular | Condition::Safe) {
        return Core {
            ops: why.ops(),
            why,
            is_minimal: true,
            is_confirmed: false,
        };
    }
    let mut shrinking = Shrinking {
        memory,
        condition,
        budget,
        kept: Vec::new(),
        why,
    };
    shrinking.kept = (0..memory.ops.len()).collect();
    while shrinking.keep_named() {}
    // Of writes with one value only all together are left out.
    let is_minimal = shrinking.without_more() && Linked::of(memory).is_ok();
    while shrinking.keep_named() {}
    let small = memory.only(&shrinking.kept);
    let is_confirmed =
        small.ops.len() <= MOST_CONFIRMED && brute::holds(&small, condition) == Some(false);
    let ops = small.ops.iter().map(|op| op.id).collect();
    Core {
        ops,
        why: shrinking.why,
        is_minimal,
        is_confirmed,
    }
}

struct Shrinking<'s> {
    memory: &'s Memory,
    condition: Condition,
    budget: &'s Budget,
    /// The positions of the operations that are left.
    kept: Vec<usize>,
    why: Why,
}

impl Shrinking<'_> {
    /// Keeps these operations only, if they violate the condition.
    fn try_only(&mut self, positions: Vec<usize>) -> bool {
        let answer = decide(&self.memory.only(&positions), self.condition, self.budget);
        match answer {
            Ok(Answer::Fails(why)) => {
                self.kept = positions;
                self.why = why;
                true
            }
            _ => false,
        }
    }

    /// Keeps what the violation names, with the writes of what is read; returns whether that is less.
    fn keep_named(&mut self) -> bool {
        let named = self.why.ops();
        if named.is_empty() {
            return false;
        }
        let op = |i: usize| &self.memory.ops[i];
        let is_named = |i: usize| named.binary_search(&op(i).id).is_ok();
        let values: std::collections::HashSet<(u32, u32)> = self
            .kept
            .iter()
            .filter(|&&i| is_named(i))
            .map(|&i| (op(i).key, op(i).value))
            .collect();
        let needed = |&i: &usize| {
            is_named(i) || op(i).is_write() && values.contains(&(op(i).key, op(i).value))
        };
        let fewer: Vec<usize> = self.kept.iter().copied().filter(needed).collect();
        fewer.len() < self.kept.len() && self.try_only(fewer)
    }

    /// Leaves out reads, and writes with their reads, as long as the rest violates the condition.
    fn without_more(&mut self) -> bool {
        let mut size = self.kept.len().div_ceil(4).max(1);
        loop {
            let mut place = 0;
            let mut is_less = false;
            loop {
                let units = self.units();
                if place >= units.len() {
                    break;
                }
                if self.budget.check().is_err() {
                    return false;
                }
                let mut gone: Vec<usize> = units[place..units.len().min(place + size)]
                    .iter()
                    .flatten()
                    .copied()
                    .collect();
                gone.sort_unstable();
                let rest = self
                    .kept
                    .iter()
                    .copied()
                    .filter(|i| gone.binary_search(i).is_err());
                let rest: Vec<usize> = rest.collect();
                if rest.is_empty() || !self.try_only(rest) {
                    place += size;
                } else {
                    is_less = true;
                }
            }
            if size == 1 && !is_less {
                return true;
            }
            size = (size / 2).max(1);
        }
    }

    /// What can be left out together: a read, or all operations on a value that was written.
    fn units(&self) -> Vec<Vec<usize>> {
        let mut of_value: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
        let mut units: Vec<Vec<usize>> = Vec::new();
        for &i in &self.kept {
            let op = &self.memory.ops[i];
            of_value.entry((op.key, op.value)).or_default().push(i);
            if !op.is_write() {
                units.push(vec![i]);
            }
        }
        let is_written = |unit: &Vec<usize>| unit.iter().any(|&i| self.memory.ops[i].is_write());
        let mut values: Vec<Vec<usize>> = of_value.into_values().filter(is_written).collect();
        values.sort_unstable();
        // Values first: they are larger.
        values.extend(units);
        values
    }
}
