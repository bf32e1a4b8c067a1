//! A minimal set of values of a stack that are stuck by themselves.
//!
//! Ours. There is no bound on its size: in `push 0 [0,2]`, `push 1 [3,5]`, `pop 0 [10,20]`, `push 2 [12,14]`, `pop 1 [15,30]`,
//! `pop 2 [25,31]` the removal of 0 is covered by 1 and 2 only together, and the chain can be extended at will. From the value
//! with the shortest covered window, values are added that cover a window of each member with the fewest values; the result
//! is stuck by construction. Then values and peeks are left out as long as the rest is stuck.

use super::Stuck;
use super::covered::{self, Window};
use super::eliminate::eliminate;
use crate::engine::monitor::container::cover;
use crate::engine::monitor::{Act, Contradiction, CriticalIntervals, Log, ViolationKind};
use crate::history::NEVER;

/// The contradiction of a few stuck values. None of them can be left out, unless there are more than the effort allows to
/// try.
pub(super) fn find(log: &Log<Act>, intervals: &CriticalIntervals, stuck: &Stuck) -> Contradiction {
    let mut is_stuck = vec![false; log.distinct as usize];
    for &value in &stuck.values {
        is_stuck[value as usize] = true;
    }
    let windows = covered::shortest(log, intervals, &is_stuck);
    let effort = EFFORT + log.len();
    let values =
        close(intervals, &stuck.values, &windows, effort).unwrap_or_else(|| stuck.values.clone());
    let peeks: Vec<u32> = values
        .iter()
        .map(|&value| windows[value as usize].peek)
        .filter(|&peek| peek != NEVER)
        .collect();
    let mut contradiction = cover::contradiction(log, ViolationKind::Buried, &values, &peeks);
    let kept = shrink(&small(log, &contradiction.ops, &values), effort);
    contradiction.ops = kept
        .iter()
        .map(|&op| contradiction.ops[op as usize])
        .collect();
    contradiction
}

/// How many values, or operations, each of the two steps may look at in addition to the length of the history. So the
/// reduction never takes much longer than the decision.
const EFFORT: usize = 1 << 20;

/// A set of stuck values that cover a window of each other, around the value with the shortest window. `None` if it takes more
/// than `effort` steps to find.
fn close(
    intervals: &CriticalIntervals,
    stuck: &[u32],
    windows: &[Window],
    mut effort: usize,
) -> Option<Vec<u32>> {
    let window = |value: u32| &windows[value as usize];
    let furthest = Furthest::new(intervals, stuck);
    let first = stuck
        .iter()
        .copied()
        .min_by_key(|&value| window(value).len());
    let mut values = vec![first.expect("bug: no value is stuck")];
    let mut is_in = vec![false; windows.len()];
    is_in[values[0] as usize] = true;
    let mut done = 0;
    while done < values.len() {
        let value = values[done];
        done += 1;
        // The fewest values that cover the window: always the one that reaches furthest.
        let (mut covered, to) = (window(value).from, window(value).to);
        while covered < to {
            let (end, other) = furthest.from(covered, value);
            assert!(end > covered, "bug: a stuck value is not covered");
            effort = effort.checked_sub(1)?;
            covered = end;
            if !std::mem::replace(&mut is_in[other as usize], true) {
                values.push(other);
            }
        }
    }
    Some(values)
}

/// Answers which value is critical for longest from a gap on.
struct Furthest {
    /// The gaps in which values become critical, ascending.
    starts: Vec<u32>,
    /// For each start, the two intervals that end last among those that start by then, as (end, value).
    longest: Vec<[(u32, u32); 2]>,
}

impl Furthest {
    fn new(intervals: &CriticalIntervals, values: &[u32]) -> Self {
        let mut critical: Vec<(u32, u32)> = values
            .iter()
            .filter(|&&value| intervals.at(value).is_critical())
            .map(|&value| (intervals.at(value).first_return, value))
            .collect();
        critical.sort_unstable();
        let mut longest = [(0, NEVER); 2];
        Furthest {
            starts: critical.iter().map(|&(start, _)| start).collect(),
            longest: critical
                .iter()
                .map(|&(_, value)| {
                    let [first, second] = longest;
                    let this = (intervals.at(value).last_call, value);
                    longest = [first.max(this), first.min(this).max(second)];
                    longest
                })
                .collect(),
        }
    }

    /// The value other than `except` that is critical from `gap` on for longest, with the first gap in which it is not.
    fn from(&self, gap: u32, except: u32) -> (u32, u32) {
        match self.starts.partition_point(|&start| start <= gap) {
            0 => (0, NEVER),
            started => {
                let [first, second] = self.longest[started - 1];
                if first.1 == except { second } else { first }
            }
        }
    }
}

/// The log of some operations, with values numbered from 0 on without gaps.
fn small(log: &Log<Act>, ops: &[u32], values: &[u32]) -> Log<Act> {
    let mut small = log.restricted(ops);
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    for value in &mut small.values {
        *value = sorted.partition_point(|other| other < value) as u32;
    }
    small.distinct = sorted.len() as u32;
    small
}

/// Leaves out values, then peeks, as long as the rest is stuck and there is effort. Returns the positions of what is left.
fn shrink(log: &Log<Act>, effort: usize) -> Vec<u32> {
    let mut attempts = Attempts {
        log,
        kept: (0..log.len() as u32).collect(),
        effort,
    };
    // Many values at a time at first: one by one would take quadratic time.
    let mut many = log.distinct.div_ceil(4).max(1);
    loop {
        for first in (0..log.distinct).step_by(many as usize) {
            let left_out = first..first + many;
            attempts.without(|op| left_out.contains(&log.values[op]));
        }
        if many == 1 {
            break;
        }
        many = many.div_ceil(4);
    }
    for peek in (0..log.len()).filter(|&op| log.acts[op] == Act::Peek) {
        attempts.without(|op| op == peek);
    }
    attempts.kept
}

struct Attempts<'a> {
    log: &'a Log<Act>,
    /// The positions of operations that are not linearizable.
    kept: Vec<u32>,
    effort: usize,
}

impl Attempts<'_> {
    /// Leaves out operations if the rest is still stuck.
    fn without(&mut self, left_out: impl Fn(usize) -> bool) {
        if self.kept.len() > self.effort {
            return;
        }
        self.effort -= self.kept.len();
        let kept = self.kept.iter().copied();
        let rest: Vec<u32> = kept.filter(|&op| !left_out(op as usize)).collect();
        if rest.len() < self.kept.len() && is_stuck(&self.log.restricted(&rest)) {
            self.kept = rest;
        }
    }
}

fn is_stuck(log: &Log<Act>) -> bool {
    let intervals =
        CriticalIntervals::of(log).expect("bug: fewer operations contradict each other otherwise");
    eliminate(log, &intervals).len() < intervals.iter().count()
}
