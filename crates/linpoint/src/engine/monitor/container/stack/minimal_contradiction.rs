//! A few of the stuck values that are stuck by themselves.
//!
//! There is no bound on how many it takes: each value may need several others that cover one of its windows together.

use super::Stuck;
use super::covered::{self, Window};
use super::eliminate::eliminate;
use crate::engine::monitor::container::{
    Act, Contradiction, CriticalIntervals, Log, ViolationKind, cover,
};
use crate::history::NEVER;

/// The contradiction of a few stuck values. None of them can be left out, unless they are very many.
pub(super) fn contradiction(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    stuck: &Stuck,
) -> Contradiction {
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

/// How many values, or operations, each step to fewer of them may look at, apart from the length of the history. So it
/// never takes much longer than to find that there is a violation.
const EFFORT: usize = 1 << 20;

/// Stuck values that are enough to cover a window of each of them, around the value that is stuck most tightly; if that
/// takes no more than `effort` steps.
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
        // The fewest that cover the window: always the one that reaches furthest.
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

/// Which value is critical for longest from some gap on.
struct Furthest {
    /// The gaps in which values become critical, ascending.
    starts: Vec<u32>,
    /// The two that last longest among those that are critical by then, with the gaps in which they end.
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

    /// The gap up to which a value other than `except` is critical in `gap` and all that follow, and that value.
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

/// The log of some operations, with the numbers of values as small as possible.
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

/// The positions of the operations that are left when values are left out as long as there is effort, then peeks.
fn shrink(log: &Log<Act>, effort: usize) -> Vec<u32> {
    let mut attempts = Attempts {
        log,
        kept: (0..log.len() as u32).collect(),
        effort,
    };
    // Many at first, as large sets would take quadratic time one by one.
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
    /// Leaves out operations if the rest remains stuck.
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
