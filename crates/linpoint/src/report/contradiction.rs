//! Explains why a core has no order: finds the real-time constraints that are needed for the contradiction, and the longest
//! orders of its operations.
//!
//! Both are found by trying all orders of a few operations, as [`brute`](crate::engine::brute) does. Large cores are not
//! explained.

use std::collections::{BTreeSet, HashSet};

use super::model::{Attempt, Refused};
use crate::engine::{Budget, Task, Ticker};
use crate::history::NEVER;
use crate::spec::{Outcomes, Spec};
use crate::text::debug_text;

/// Larger cores are not explained.
const MOST_OPS: usize = 24;

/// The largest number of steps of the specification for one core; they take some milliseconds.
const STEPS: u32 = 50_000;

/// Texts of states are cut after this many characters.
const LONGEST_STATE: usize = 400;

/// The explanation of a core.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Pairs of positions of which the first operation precedes the second. Each pair is needed for the contradiction.
    pub(super) arrows: Vec<(usize, usize)>,
    pub(super) attempts: Vec<Attempt>,
}

/// The search was stopped, since there are too many orders.
struct TooMany;

/// Explains a core; the result is empty if it is too large for the budget.
pub(super) fn look_at<S: Spec>(core: &Task<'_, S>, budget: &Budget) -> Findings {
    if core.ops.len() > MOST_OPS {
        return Findings::default();
    }
    let mut search = Search::new(core, core.spec.init(), budget);
    let arrows = search.arrows().unwrap_or_default();
    let (attempts, are_longest) = search.attempts();
    Findings {
        arrows,
        attempts: if are_longest { attempts } else { Vec::new() },
    }
}

/// The longest orders of at most 64 operations, from a state on: for each operation, a longest order with it. If there are
/// too many orders to try, these are the longest ones that were found.
pub(super) fn orders_from<S: Spec>(
    ops: &Task<'_, S>,
    start: S::State,
    budget: &Budget,
) -> Vec<Attempt> {
    Search::new(ops, start, budget).attempts().0
}

/// The text of a state.
pub(super) fn state_text<T: std::fmt::Debug>(state: &T) -> String {
    debug_text(state, LONGEST_STATE)
}

/// The results that an operation could have in a state.
pub(super) fn answers<S: Spec>(spec: &S, state: &S::State, op: &S::Op) -> Vec<String> {
    /// The largest number of results that are listed.
    const MOST_ANSWERS: usize = 8;
    let answers: BTreeSet<String> = match spec.apply(state, op) {
        Outcomes::Blocked => return Vec::new(),
        Outcomes::One(answer, _) => return vec![state_text(&answer)],
        Outcomes::Many(all) => all.iter().map(|(answer, _)| state_text(answer)).collect(),
    };
    let left_out = answers.len().saturating_sub(MOST_ANSWERS);
    let mut answers: Vec<String> = answers.into_iter().take(MOST_ANSWERS).collect();
    if left_out > 0 {
        answers.push(format!("… ({left_out} more)"));
    }
    answers
}

struct Search<'a, 'b, S: Spec> {
    core: &'a Task<'b, S>,
    start: S::State,
    steps: u32,
    ticker: Ticker<'a>,
    /// The pairs of a set of operations and a state after them that were tried already.
    failed: HashSet<(u64, S::State)>,
}

impl<'a, 'b, S: Spec> Search<'a, 'b, S> {
    fn new(core: &'a Task<'b, S>, start: S::State, budget: &'a Budget) -> Self {
        Search {
            core,
            start,
            steps: STEPS,
            ticker: Ticker::new(budget),
            failed: HashSet::new(),
        }
    }

    fn len(&self) -> usize {
        self.core.ops.len()
    }

    /// For each operation, the operations that precede it.
    fn real_time(&self) -> Vec<u64> {
        let before = |i: usize| {
            let earlier = |&j: &usize| self.core.ops[j].precedes(self.core.ops[i]);
            (0..self.len())
                .filter(earlier)
                .fold(0, |set, j| set | 1 << j)
        };
        (0..self.len()).map(before).collect()
    }

    fn returned(&self) -> u64 {
        let returned = |&i: &usize| self.core.ops[i].ret != NEVER;
        (0..self.len())
            .filter(returned)
            .fold(0, |set, i| set | 1 << i)
    }

    fn step(&mut self) -> Result<(), TooMany> {
        self.ticker.tick().map_err(|_| TooMany)?;
        self.steps = self.steps.checked_sub(1).ok_or(TooMany)?;
        Ok(())
    }

    /// A minimal set of real-time constraints that leaves no order. Constraints between operations that are close to each
    /// other are dropped first.
    fn arrows(&mut self) -> Result<Vec<(usize, usize)>, TooMany> {
        let mut before = self.real_time();
        let gap = |&(a, b): &(usize, usize)| self.core.ops[b].call - self.core.ops[a].ret;
        let mut pairs: Vec<(usize, usize)> = (0..self.len())
            .flat_map(|b| (0..self.len()).map(move |a| (a, b)))
            .filter(|&(a, b)| before[b] & 1 << a != 0)
            .collect();
        pairs.sort_by_key(gap);
        let mut needed = Vec::new();
        for (a, b) in pairs {
            before[b] &= !(1 << a);
            self.failed.clear();
            if self.has_order(&before, 0, &self.start.clone())? {
                before[b] |= 1 << a;
                needed.push((a, b));
            }
        }
        needed.sort_by_key(|&(a, b)| (self.core.ops[b].call, self.core.ops[a].call));
        Ok(needed)
    }

    fn has_order(&mut self, before: &[u64], taken: u64, state: &S::State) -> Result<bool, TooMany> {
        if taken & self.returned() == self.returned() {
            return Ok(true);
        }
        if !self.failed.insert((taken, state.clone())) {
            return Ok(false);
        }
        for i in candidates(before, taken) {
            self.step()?;
            let (op, ret) = self.core.action(i);
            for next in self.core.spec.step(state, op, ret) {
                if self.has_order(before, taken | 1 << i, &next)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// For each operation a longest order with it, if there is one; and whether all orders were tried.
    fn attempts(&mut self) -> (Vec<Attempt>, bool) {
        self.failed.clear();
        let mut longest: Vec<Option<Attempt>> = vec![None; self.len()];
        let mut path = Vec::new();
        let before = self.real_time();
        let start = self.start.clone();
        let tried = self.extend(&before, 0, &start, &mut path, &mut longest);
        let mut attempts: Vec<Attempt> = Vec::new();
        for attempt in longest.into_iter().flatten() {
            if !attempts.contains(&attempt) {
                attempts.push(attempt);
            }
        }
        attempts.sort_by_key(|attempt| std::cmp::Reverse(attempt.steps.len()));
        (attempts, tried.is_ok())
    }

    fn extend(
        &mut self,
        before: &[u64],
        taken: u64,
        state: &S::State,
        path: &mut Vec<(usize, String)>,
        longest: &mut [Option<Attempt>],
    ) -> Result<(), TooMany> {
        if !self.failed.insert((taken, state.clone())) {
            return Ok(());
        }
        let mut is_end = true;
        for i in candidates(before, taken) {
            self.step()?;
            let (op, ret) = self.core.action(i);
            for next in self.core.spec.step(state, op, ret) {
                is_end = false;
                path.push((i, state_text(&next)));
                self.extend(before, taken | 1 << i, &next, path, longest)?;
                path.pop();
            }
        }
        let is_longer = |i: usize| {
            let known = longest[i].as_ref();
            known.is_none_or(|known| known.steps.len() < path.len())
        };
        // The empty order is an attempt of each operation that cannot come first.
        let members: Vec<usize> = match path.as_slice() {
            [] => candidates(before, 0).collect(),
            path => path.iter().map(|&(i, _)| i).collect(),
        };
        if !is_end || !members.iter().any(|&i| is_longer(i)) {
            return Ok(());
        }
        let attempt = Attempt {
            steps: path.clone(),
            // A pending operation need not take effect.
            refused: candidates(before, taken)
                .filter(|&i| self.core.ops[i].ret != NEVER)
                .map(|i| self.refused(i, path.len(), state))
                .collect(),
        };
        for i in members
            .into_iter()
            .filter(|&i| is_longer(i))
            .collect::<Vec<_>>()
        {
            longest[i] = Some(attempt.clone());
        }
        Ok(())
    }

    fn refused(&self, i: usize, step: usize, state: &S::State) -> Refused {
        let (op, ret) = self.core.action(i);
        Refused {
            op: i as u32,
            step,
            state: state_text(state),
            expected: answers(self.core.spec, state, op),
            recorded: ret.map_or_else(String::new, state_text),
            returns: false,
        }
    }
}

/// The operations that may come next: all that precede them are taken.
fn candidates(before: &[u64], taken: u64) -> impl Iterator<Item = usize> {
    let is_next = move |&i: &usize| taken & 1 << i == 0 && before[i] & !taken == 0;
    (0..before.len()).filter(is_next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::TypedHistory;
    use crate::report::samples::{random, register};
    use crate::spec::RegisterOp;
    use crate::value::Value;
    use crate::{Checker, Verdict};

    #[test]
    fn arrows_are_the_constraints_that_a_stale_read_needs() {
        let mut history = TypedHistory::new();
        let mut write = |value: i64| {
            let op = history.call(0, RegisterOp::Write(value.into()));
            history.ret(op, Value::Nil);
            op
        };
        let (first, second) = (write(1), write(2));
        let read = history.call(1, RegisterOp::Read);
        history.ret(read, 1.into());
        let register = register();
        let core = Task::new(&register, &history, &[first, second, read]);
        let found = look_at(&core, &Budget::default());
        assert_eq!(found.arrows, [(0, 1), (1, 2)]);
        let [attempt] = found.attempts.as_slice() else {
            panic!("one order: {:?}", found.attempts)
        };
        assert_eq!(attempt.steps, [(0, "1".to_owned()), (1, "2".to_owned())]);
        assert_eq!(attempt.refused[0].expected, ["2"]);
        assert_eq!(attempt.refused[0].recorded, "1");
    }

    #[test]
    fn no_arrow_is_needed_where_order_does_not_matter() {
        let mut history = TypedHistory::new();
        let write = history.call(0, RegisterOp::Write(1.into()));
        history.ret(write, Value::Nil);
        let read = history.call(1, RegisterOp::Read);
        history.ret(read, 7.into());
        let register = register();
        let found = look_at(
            &Task::new(&register, &history, &[write, read]),
            &Budget::default(),
        );
        assert!(found.arrows.is_empty());
        assert_eq!(found.attempts.len(), 1);
    }

    #[test]
    fn every_arrow_is_needed_and_all_together_suffice() {
        let register = register();
        let (mut violations, mut arrows) = (0, 0);
        for seed in 0..1000 {
            let history = random(seed);
            let report = Checker::default().check(&register, &history);
            let Verdict::Violation(violation) = report.expect("a verdict").verdict else {
                continue;
            };
            let core = violation.core;
            let mut ops = [core.ops(), core.relaxed()].concat();
            ops.sort_unstable();
            let core = Task::new(&register, &history, &ops);
            let found = look_at(&core, &Budget::default());
            let budget = Budget::default();
            let mut search = Search::new(&core, Value::Nil, &budget);
            let mut has_order = |arrows: &[(usize, usize)]| {
                let mut before = vec![0; core.ops.len()];
                arrows.iter().for_each(|&(a, b)| before[b] |= 1 << a);
                search.failed.clear();
                let found = search.has_order(&before, 0, &Value::Nil);
                found.unwrap_or_else(|TooMany| panic!("a small core"))
            };
            assert!(!has_order(&found.arrows), "seed {seed}");
            for left_out in 0..found.arrows.len() {
                let mut others = found.arrows.clone();
                others.remove(left_out);
                assert!(has_order(&others), "seed {seed}: {:?}", found.arrows);
            }
            // For each operation that an order cannot be continued with, there is a reason.
            for attempt in &found.attempts {
                assert!(!attempt.refused.is_empty(), "seed {seed}");
                let explained = |r: &Refused| !r.expected.contains(&r.recorded);
                assert!(attempt.refused.iter().all(explained), "seed {seed}");
            }
            violations += 1;
            arrows += found.arrows.len();
        }
        assert!(violations > 100 && arrows > 100, "{violations}, {arrows}");
    }
}
