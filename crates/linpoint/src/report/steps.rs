//! Replays an order step by step: the state after each step, and the operations that cannot come next.

use std::collections::HashSet;

use super::contradiction::{answers, state_text};
use super::model::Refused;
use super::pack::Texts;
use crate::engine::{Budget, Task, TaskOp, Ticker};
use crate::history::{NEVER, OpId};
use crate::spec::{Spec, advance};
use crate::verdict::Violation;

/// The largest number of reasons that are given for one operation.
const MOST_REASONS: usize = 4;

/// The largest number of operations that are listed as impossible after the last step.
const MOST_REFUSED: usize = 12;

/// The states along an order.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The state at the start.
    pub(super) initial: String,
    /// The number of the text of the state after each step; 0 if it is not kept.
    pub(super) states: Vec<u32>,
    pub(super) refused: Vec<Refused>,
}

/// If the prefix that an order explains is not known exactly, longer orders are not replayed, since each state is copied.
const LONGEST_GUESS: usize = 50_000;

/// Replays an order of operations of `task`, keeping the states after the steps in `kept`.
///
/// If there is a violation, the order explains a prefix of the history, and operations that were open at the end of the
/// prefix may have any result. If that end is not known exactly, an operation counts as open if its own result does not fit.
///
/// When the budget ends, so does the replay.
pub(super) fn replay<S: Spec>(
    task: &Task<'_, S>,
    order: &[OpId],
    violation: Option<&Violation>,
    kept: std::ops::Range<usize>,
    texts: &mut Texts,
    budget: &Budget,
) -> Steps {
    let mut ticker = Ticker::new(budget);
    let last = violation.map(|violation| task.ops[position(task, violation.last)]);
    let cut = last.map_or(NEVER, |last| last.ret);
    let mut states = vec![task.spec.init()];
    let mut steps = Steps {
        initial: states_text(&states),
        ..Steps::default()
    };
    let is_guess = violation.is_some_and(|violation| !violation.shortest);
    if is_guess && order.len() > LONGEST_GUESS {
        return steps;
    }
    // The earliest step at which the last operation could take effect: after all operations that precede it.
    let earliest = last.map_or(0, |last| {
        let is_before = |&id: &OpId| task.ops[position(task, id)].precedes(last);
        order.iter().rposition(is_before).map_or(0, |at| at + 1)
    });
    for (step, &id) in order.iter().enumerate() {
        if ticker.tick().is_err() {
            return steps;
        }
        if let Some(last) = last.filter(|_| step >= earliest) {
            steps.refuse(task, last, step, &states);
        }
        let place = position(task, id);
        let (op, ret) = task.action(place);
        let ret = ret.filter(|_| task.ops[place].ret < cut);
        let before = if is_guess { states.clone() } else { Vec::new() };
        advance(task.spec, &mut states, op, ret);
        if states.is_empty() && is_guess {
            states = before;
            advance(task.spec, &mut states, op, None);
        }
        let text = if kept.contains(&step) {
            texts.intern(states_text(&states))
        } else {
            0
        };
        steps.states.push(text);
    }
    if let Some(last) = last {
        steps.refuse(task, last, order.len(), &states);
        let taken: HashSet<OpId> = order.iter().copied().collect();
        let is_open = |op: &&TaskOp| {
            op.call < cut && op.ret > cut && op.ret != NEVER && !taken.contains(&op.id)
        };
        for &op in task.ops.iter().filter(is_open).take(MOST_REFUSED) {
            steps.refuse(task, op, order.len(), &states);
        }
    }
    steps
}

impl Steps {
    /// Adds `op` to the refused operations, if it cannot take effect in any of these states and that is new.
    fn refuse<S: Spec>(
        &mut self,
        task: &Task<'_, S>,
        op: TaskOp,
        step: usize,
        states: &[S::State],
    ) {
        let (call, ret) = task.action(position(task, op.id));
        let is_possible = |state: &S::State| !task.spec.step(state, call, ret).is_empty();
        let Some(state) = states.first() else { return };
        if states.iter().any(is_possible) {
            return;
        }
        let refused = Refused {
            op: op.id.0,
            step,
            state: states_text(states),
            expected: answers(task.spec, state, call),
            recorded: ret.map_or_else(String::new, state_text),
            returns: false,
        };
        let mut alike = self.refused.iter().filter(|known| known.op == refused.op);
        let is_known = alike
            .clone()
            .any(|known| known.expected == refused.expected);
        if !is_known && alike.by_ref().count() < MOST_REASONS {
            self.refused.push(refused);
        }
    }
}

/// The position of an operation in its task, whose operations are sorted by number.
pub(super) fn position<S: Spec>(task: &Task<'_, S>, id: OpId) -> usize {
    let found = task.ops.binary_search_by_key(&id, |op| op.id);
    found.expect("bug: an order has an operation of another part")
}

fn states_text<T: std::fmt::Debug>(states: &[T]) -> String {
    match states {
        [] => "impossible".into(),
        [only] => state_text(only),
        // The order of the states is arbitrary, so that their texts are sorted.
        several => {
            let mut texts: Vec<String> = several.iter().map(state_text).collect();
            texts.sort_unstable();
            format!("{} (or one of {} others)", texts[0], texts.len() - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{random, register};
    use crate::{Checker, Verdict};

    #[test]
    fn states_follow_each_other_and_what_is_refused_is_refused_for_a_reason() {
        let register = register();
        let mut refused = 0;
        for seed in 0..500 {
            let history = random(seed);
            let report = Checker::default().check(&register, &history);
            let report = report.expect("a verdict");
            let part = &report.parts[0];
            let (order, violation) = match &part.verdict {
                Verdict::Linearizable(witness) => (&witness.order, None),
                Verdict::Violation(violation) => (&violation.partial, Some(violation)),
                Verdict::Undecided(_) => panic!("seed {seed} is undecided"),
            };
            let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
            let task = Task::new(&register, &history, &ids);
            let mut texts = Texts::default();
            let impossible = texts.intern(states_text::<u8>(&[]));
            let steps = replay(
                &task,
                order,
                violation,
                0..order.len(),
                &mut texts,
                &Budget::default(),
            );
            assert_eq!(steps.states.len(), order.len());
            assert!(!steps.states.contains(&impossible), "seed {seed}");
            assert_eq!(steps.refused.is_empty(), violation.is_none(), "seed {seed}");
            for one in &steps.refused {
                assert!(!one.expected.contains(&one.recorded), "seed {seed}");
                refused += 1;
            }
        }
        assert!(refused > 100, "{refused}");
    }
}
