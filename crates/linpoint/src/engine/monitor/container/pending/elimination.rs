//! Deadlines that the order of a queue sets to values that stay.
//!
//! Ours. Values are taken away from the back. A value can be the last of those that remain if it was not added before another
//! one, and not served before another one. The values of the remaining ones that stay must be removed before it is served. Of the values
//! that can be last the one that is served latest is taken, unless fewer removals are called before that than other values stay;
//! then the same among the values that stay, of which the one that is taken needs no removal before itself. Always taking the
//! one that is served latest is not exact where a value that stays was peeked. O(n log n).

use std::collections::BinaryHeap;

use super::Staying;
use crate::engine::monitor::container::critical::{CriticalInterval, CriticalIntervals};
use crate::history::{NEVER, precedes};

/// Takes the values of a queue away from the back.
pub(super) struct Elimination<'a> {
    intervals: &'a CriticalIntervals,
    staying: &'a Staying,
    calls: &'a [u32],
    by_added: Descending,
    by_last_call: Descending,
    by_first_return: Descending,
    by_first_served: Descending,
    /// By value.
    states: Vec<State>,
    /// The values that can be last, by the moment at which they are served first. Some of them may be gone.
    last: BinaryHeap<Candidate>,
    /// Those of them that stay.
    last_staying: BinaryHeap<Candidate>,
}

/// What is known of a value. Once it can be last it remains so, since values are only taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// It was added before no value that is left.
    is_added_last: bool,
    /// It was served before no value that is left, itself included: before a value is removed it may be peeked.
    is_served_last: bool,
    is_gone: bool,
}

/// A value that can be last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    first_served: u32,
    value: u32,
}

impl<'a> Elimination<'a> {
    pub(super) fn new(
        intervals: &'a CriticalIntervals,
        staying: &'a Staying,
        calls: &'a [u32],
    ) -> Self {
        let by = |moment: &dyn Fn(u32, &CriticalInterval) -> u32| {
            let values = intervals.iter();
            Descending::new(values.map(|(value, interval)| (moment(value, &interval), value)))
        };
        Elimination {
            by_added: by(&|_, interval| interval.added),
            by_last_call: by(&|value, interval| staying.last_call(value, interval)),
            by_first_return: by(&|_, interval| interval.first_return),
            by_first_served: by(&|_, interval| interval.first_served),
            states: vec![State::default(); intervals.len()],
            last: BinaryHeap::new(),
            last_staying: BinaryHeap::new(),
            intervals,
            staying,
            calls,
        }
    }

    /// The deadlines by value, [`NEVER`] for those that may stay. Returns values that contradict each other if there are none.
    pub(super) fn run(mut self) -> Result<Vec<u32>, Vec<u32>> {
        let mut deadlines = vec![NEVER; self.states.len()];
        let mut deadline = NEVER;
        let mut staying = self.staying.count;
        for _ in self.intervals.iter() {
            let chosen = self.choose(deadline, staying);
            let Some(Candidate {
                first_served,
                value,
            }) = chosen
            else {
                let left = self.intervals.iter().map(|(value, _)| value);
                let is_left = |value: &u32| !self.states[*value as usize].is_gone;
                return Err(left.filter(is_left).collect());
            };
            if self.staying.contains(value) {
                deadlines[value as usize] = deadline;
                staying -= 1;
            }
            deadline = deadline.min(first_served);
            self.states[value as usize].is_gone = true;
        }
        Ok(deadlines)
    }

    /// The value to take away: of those that can be last the one that is served latest, if enough removals are called before
    /// that for those that stay.
    fn choose(&mut self, deadline: u32, staying: usize) -> Option<Candidate> {
        let alone = self.update();
        let is_gone = |candidate: &Candidate| self.states[candidate.value as usize].is_gone;
        let suffice = |candidate: &Candidate, removed: usize| {
            let before = |&call: &u32| precedes(call, candidate.first_served);
            candidate.first_served >= deadline || self.calls.partition_point(before) >= removed
        };
        let latest = top(&mut self.last, is_gone).max(alone)?;
        let others = staying - usize::from(self.staying.contains(latest.value));
        if suffice(&latest, others) {
            return Some(latest);
        }
        let alone = alone.filter(|candidate| self.staying.contains(candidate.value));
        let latest = top(&mut self.last_staying, is_gone).max(alone)?;
        suffice(&latest, staying - 1).then_some(latest)
    }

    /// Finds the values that can be last now. Returns one that is not among the candidates: the value of the latest call, if
    /// it is served after the last calls on all others.
    fn update(&mut self) -> Option<Candidate> {
        let is_gone = |value: u32| self.states[value as usize].is_gone;
        let [added, _] = self.by_added.two_largest(is_gone);
        let [last_call, second] = self.by_last_call.two_largest(is_gone);
        let ((last_added, _), (last_call, latest)) = added.zip(last_call)?;
        while let Some(value) = self.by_first_return.next_above(last_added) {
            self.states[value as usize].is_added_last = true;
            self.admit(value);
        }
        while let Some(value) = self.by_first_served.next_above(last_call) {
            self.states[value as usize].is_served_last = true;
            self.admit(value);
        }
        let first_served = self.intervals.at(latest).first_served;
        let is_last = self.states[latest as usize].is_added_last
            && second.is_none_or(|(second, _)| precedes(second, first_served));
        is_last.then_some(Candidate {
            first_served,
            value: latest,
        })
    }

    /// Makes the value a candidate if it can be last.
    fn admit(&mut self, value: u32) {
        let state = self.states[value as usize];
        if state.is_added_last && state.is_served_last && !state.is_gone {
            let first_served = self.intervals.at(value).first_served;
            let candidate = Candidate {
                first_served,
                value,
            };
            self.last.push(candidate);
            if self.staying.contains(value) {
                self.last_staying.push(candidate);
            }
        }
    }
}

/// The largest candidate that is not gone.
fn top(
    heap: &mut BinaryHeap<Candidate>,
    is_gone: impl Fn(&Candidate) -> bool,
) -> Option<Candidate> {
    while heap.peek().is_some_and(&is_gone) {
        heap.pop();
    }
    heap.peek().copied()
}

/// Values with moments, latest first.
struct Descending {
    values: Vec<(u32, u32)>,
    /// All before this one were passed.
    first: usize,
    /// All between `first` and this one were passed.
    second: usize,
}

impl Descending {
    fn new(values: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut values: Vec<(u32, u32)> = values.collect();
        values.sort_unstable_by(|a, b| b.cmp(a));
        Descending {
            values,
            first: 0,
            second: 1,
        }
    }

    /// The two latest of the values that are left. Values that are gone once are gone for ever.
    fn two_largest(&mut self, is_gone: impl Fn(u32) -> bool) -> [Option<(u32, u32)>; 2] {
        let pass = |mut at: usize| {
            while self
                .values
                .get(at)
                .is_some_and(|&(_, value)| is_gone(value))
            {
                at += 1;
            }
            at
        };
        self.first = pass(self.first);
        self.second = pass(self.second.max(self.first + 1));
        [self.first, self.second].map(|at| self.values.get(at).copied())
    }

    /// The next value, if its moment is later than `limit`.
    fn next_above(&mut self, limit: u32) -> Option<u32> {
        let &(_, value) = self
            .values
            .get(self.first)
            .filter(|(moment, _)| precedes(limit, *moment))?;
        self.first += 1;
        Some(value)
    }
}
