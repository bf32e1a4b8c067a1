//! Algorithms 6 and 7: stacks by a tree of intervals. What the tree answers is computed here from arrays.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::prepare::by_value;
use super::{Operation, Slip};

/// More than any number of values.
const NEVER: i64 = i64::MAX;

/// Algorithm 7. Position i is the interval between the event times i - 1 and i; position 0 means none.
struct Tree {
    /// By value: the positions at which it must be in the stack.
    critical: BTreeMap<u64, Range<usize>>,
    /// S1: how many values must be in the stack.
    counts: Vec<i64>,
    /// S2: the sum of their numbers.
    sums: Vec<u64>,
    /// Positions that were returned for a value, which are to be returned again when it is gone.
    parked: BTreeMap<u64, Vec<usize>>,
    slip: Option<Slip>,
}

impl Tree {
    fn new(history: &[Operation], times: &[i64], slip: Option<Slip>) -> Self {
        let position = |time| times.binary_search(&time).expect("a time") + 1;
        let mut critical = BTreeMap::new();
        for (value, operations) in by_value(history) {
            let from = operations.iter().map(|o| o.ret).min().expect("operations");
            let to = operations.iter().map(|o| o.call).max().expect("operations");
            let (from, to) = (position(from), position(to));
            critical.insert(
                value,
                match slip {
                    Some(Slip::OneGapTooMany) if from < to => from..to + 1,
                    Some(Slip::EmptyIntervals) => from.min(to)..from.max(to),
                    _ => from..to.max(from),
                },
            );
        }
        let mut tree = Tree {
            critical,
            counts: vec![0; times.len()],
            sums: vec![0; times.len()],
            parked: BTreeMap::new(),
            slip,
        };
        tree.counts[0] = NEVER;
        for (value, range) in tree.critical.clone() {
            for position in range.filter(|&position| position < times.len()) {
                tree.counts[position] += 1;
                tree.sums[position] += tree.number(value);
            }
        }
        tree
    }

    /// The number that stands for a value; 0 stands for none.
    fn number(&self, value: u64) -> u64 {
        value + u64::from(self.slip != Some(Slip::ZeroIsNone))
    }

    /// A position, and the number of the only value that must be in the stack there.
    fn permissive(&mut self) -> Option<(usize, u64)> {
        let position = (1..self.counts.len()).min_by_key(|&position| self.counts[position])?;
        if let Some((&value, range)) = self.critical.first_key_value()
            && self.slip == Some(Slip::Lines7And9OfAlgorithm7)
        {
            let number = self.number(value);
            self.sums[range.clone()]
                .iter_mut()
                .for_each(|sum| *sum += number);
        }
        let count = std::mem::replace(&mut self.counts[position], NEVER);
        match count {
            0 => Some((position, 0)),
            1 => {
                let number = self.sums[position];
                self.parked.entry(number).or_default().push(position);
                Some((position, number))
            }
            _ => None,
        }
    }

    fn remove(&mut self, value: u64) {
        let number = self.number(value);
        for position in self.critical[&value].clone() {
            if position < self.counts.len() {
                if self.counts[position] != NEVER {
                    self.counts[position] -= 1;
                }
                self.sums[position] = self.sums[position].wrapping_sub(number);
            }
        }
        if self.slip != Some(Slip::PositionsGone) {
            for position in self.parked.remove(&number).unwrap_or_default() {
                self.counts[position] = 0;
            }
        }
    }
}

/// Algorithm 6.
pub(super) fn is_linearizable(history: &[Operation], slip: Option<Slip>) -> bool {
    let all: BTreeSet<i64> = history.iter().flat_map(|o| [o.call, o.ret]).collect();
    let times: Vec<i64> = all.into_iter().collect();
    if times.is_empty() {
        return true;
    }
    let mut tree = Tree::new(history, &times, slip);
    let mut left = history.to_vec();
    while !left.is_empty() {
        let Some((position, number)) = tree.permissive() else {
            return false;
        };
        let (from, to) = (times[position - 1], times[position]);
        let is_of_any = number == 0 || slip == Some(Slip::Line22OfAlgorithm6);
        let (gone, rest): (Vec<Operation>, _) = left.into_iter().partition(|o| {
            let overlaps = o.call <= from && to <= o.ret;
            overlaps && (is_of_any || o.value.is_some_and(|value| tree.number(value) == number))
        });
        left = rest;
        for value in by_value(&gone).into_keys() {
            if left.iter().all(|o| o.value != Some(value)) {
                tree.remove(value);
            }
        }
    }
    true
}
