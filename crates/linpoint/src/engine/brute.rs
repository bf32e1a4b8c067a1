//! Decides any history of any specification by trying all orders that obey real time: the reference.
//!
//! This is the definition of linearizability (Herlihy and Wing, 1990) as a program; time is exponential in the length
//! of the history. It is the oracle of every test and certifies small cores, so it is written to be plainly correct and
//! is never optimised: it keeps no memory of what was tried, prefers no order, and shares nothing with the other
//! engines.

use std::ops::ControlFlow;

use super::{
    Answer, Budget, Cause, Engine, Evidence, Facts, GaveUp, Limit, MOST_STATES, Outcome, Task,
    Ticker,
};
use crate::history::{NEVER, OpId, precedes};
use crate::spec::{Outcomes, Spec};

/// The name of this engine in reports.
pub(crate) const NAME: &str = "brute";

/// The most operations that are tried: each takes a frame of the stack.
pub(crate) const MOST_OPS: usize = 1_000;

/// The reference as an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brute;

impl<S: Spec> Engine<S> for Brute {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decide(&self, task: &Task<'_, S>, _: Evidence, budget: &Budget) -> Outcome {
        task.erased(|task| decide(task, budget))
    }
}

fn decide<S: Spec>(task: &Task<'_, S>, budget: &Budget) -> Outcome {
    const TOO_MANY: Limit = Limit::Capacity("all orders are tried of 1,000 operations at most");
    let mut ticker = Ticker::new(budget);
    let mut furthest = Furthest::default();
    let found = match task.ops.len() {
        ..=MOST_OPS => try_orders(task, &mut || ticker.tick(), &mut furthest),
        _ => Err(TOO_MANY),
    };
    let answer = match found {
        Ok(Some(order)) => Ok(Answer::in_order(order)),
        Ok(None) => Ok(Answer::nothing_fits()),
        Err(limit) => Err(furthest.gave_up(task, limit)),
    };
    Outcome {
        answer,
        method: "all orders were tried".into(),
    }
}

/// Tries all orders of the operations of `task`. Returns the first one that explains all results, if there is one.
///
/// `step` is called before every step of the specification and can end the attempt with an error. The stack must have room
/// for a call for each operation, as it has for a thousand.
///
/// ```
/// use linpoint::engine::{Task, brute};
/// use linpoint::spec::{Register, RegisterOp::*};
/// use linpoint::{TypedHistory, Value};
/// let mut history = TypedHistory::new();
/// let write = history.call(0, Write(Value::from(1)));
/// history.ret(write, Value::Nil);
/// let read = history.call(0, Read);
/// history.ret(read, Value::Nil);
/// let register = Register { initial: Value::Nil, cas: false };
/// let task = Task::new(&register, &history, &[write, read]);
/// assert_eq!(brute::try_all_orders(&task, &mut || Ok::<_, ()>(())), Ok(None));
/// ```
pub fn try_all_orders<S: Spec, E>(
    task: &Task<'_, S>,
    step: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Option<Vec<OpId>>, E> {
    try_orders(task, step, &mut Furthest::default())
}

/// The same, which notes how far the orders come.
fn try_orders<S: Spec, E>(
    task: &Task<'_, S>,
    step: &mut dyn FnMut() -> Result<(), E>,
    furthest: &mut Furthest<S>,
) -> Result<Option<Vec<OpId>>, E> {
    let mut found = None;
    let visit = &mut |order: &[usize], _: Option<Effect<'_, S>>| {
        found = Some(order.iter().map(|&i| task.ops[i].id).collect());
        ControlFlow::Break(())
    };
    let mut attempt = Attempt::new(task, None, step, visit, furthest);
    let _ = attempt.extend(&task.spec.init(), None)?;
    Ok(found)
}

/// How far the orders came that were tried.
struct Furthest<S: Spec> {
    /// The rank of the latest return to which some order came.
    ret: u32,
    /// Some states to which such orders lead.
    states: Vec<S::State>,
}

// Not derived: that would ask for `S: Default`.
impl<S: Spec> Default for Furthest<S> {
    fn default() -> Self {
        Furthest {
            ret: 0,
            states: Vec::new(),
        }
    }
}

impl<S: Spec> Furthest<S> {
    /// An order leads to `state`, and the return of rank `ret` is the first one of an operation that it does not have.
    fn note(&mut self, ret: u32, state: &S::State) {
        if ret > self.ret {
            self.ret = ret;
            self.states.clear();
        }
        if ret == self.ret && self.states.len() < MOST_STATES && !self.states.contains(state) {
            self.states.push(state.clone());
        }
    }

    fn gave_up(&self, task: &Task<'_, S>, limit: Limit) -> GaveUp {
        let next = task.ops.iter().find(|op| op.ret == self.ret);
        let Some(&next) = next else {
            return GaveUp::from(limit);
        };
        let key = task.key(next);
        let words = |state| task.spec.state_words(state, key.as_ref());
        GaveUp {
            cause: Cause::Limit(limit),
            reached: task.events_until(next.ret) - 1,
            states: self.states.iter().map(words).collect(),
            order: Vec::new(),
        }
    }
}

/// The results that an operation may have, each with a state before it.
#[cfg(test)]
pub(crate) type PossibleResults<S> = Vec<(<S as Spec>::State, <S as Spec>::Ret)>;

/// Tries all orders of the operations of `task`, in which the operation at position `open`, which must have returned,
/// may have any result. Returns the different results that it has in the orders that explain all others.
///
/// `step` is called as by [`try_all_orders`].
#[cfg(test)]
pub(crate) fn possible_results<S: Spec, E>(
    task: &Task<'_, S>,
    open: usize,
    step: &mut dyn FnMut() -> Result<(), E>,
) -> Result<PossibleResults<S>, E> {
    let mut results: PossibleResults<S> = Vec::new();
    let visit = &mut |_: &[usize], effect: Option<Effect<'_, S>>| {
        let is_known =
            |(before, ret): &Effect<'_, S>| results.iter().any(|(b, r)| b == *before && r == *ret);
        let effect = effect.filter(|effect| !is_known(effect));
        results.extend(effect.map(|(before, ret)| (before.clone(), ret.clone())));
        ControlFlow::Continue(())
    };
    let furthest = &mut Furthest::default();
    let mut attempt = Attempt::new(task, Some(open), step, visit, furthest);
    let _ = attempt.extend(&task.spec.init(), None)?;
    Ok(results)
}

/// The state before the operation whose result is open, and the result that it has there.
type Effect<'e, S> = (&'e <S as Spec>::State, &'e <S as Spec>::Ret);

/// Called with each complete order and the effect of the operation whose result is open; may end the attempt.
type Visit<'a, S> = &'a mut dyn FnMut(&[usize], Option<Effect<'_, S>>) -> ControlFlow<()>;

struct Attempt<'a, 'b, S: Spec, E> {
    task: &'a Task<'b, S>,
    /// The operation that may have any result.
    open: Option<usize>,
    step: &'a mut dyn FnMut() -> Result<(), E>,
    visit: Visit<'a, S>,
    furthest: &'a mut Furthest<S>,
    order: Vec<usize>,
    taken: Vec<bool>,
}

impl<'a, 'b, S: Spec, E> Attempt<'a, 'b, S, E> {
    fn new(
        task: &'a Task<'b, S>,
        open: Option<usize>,
        step: &'a mut dyn FnMut() -> Result<(), E>,
        visit: Visit<'a, S>,
        furthest: &'a mut Furthest<S>,
    ) -> Self {
        Attempt {
            task,
            open,
            step,
            visit,
            furthest,
            order: Vec::new(),
            taken: vec![false; task.ops.len()],
        }
    }

    /// Visits all completions of the order so far, which leads to `state` and gives the open operation this effect.
    fn extend(
        &mut self,
        state: &S::State,
        effect: Option<Effect<'_, S>>,
    ) -> Result<ControlFlow<()>, E> {
        let ops = &self.task.ops;
        let open = || (0..ops.len()).filter(|&i| !self.taken[i]);
        if open().all(|i| ops[i].ret == NEVER) {
            return Ok((self.visit)(&self.order, effect));
        }
        let first_return = open().map(|i| ops[i].ret).min().unwrap_or(NEVER);
        self.furthest.note(first_return, state);
        let candidates: Vec<usize> = open()
            .filter(|&i| !precedes(first_return, ops[i].call))
            .collect();
        for i in candidates {
            (self.step)()?;
            self.taken[i] = true;
            self.order.push(i);
            let (op, ret) = self.task.action(i);
            if self.open == Some(i) {
                let outcomes = match self.task.spec.apply(state, op) {
                    Outcomes::Blocked => Vec::new(),
                    Outcomes::One(ret, next) => vec![(ret, next)],
                    Outcomes::Many(all) => all,
                };
                for (ret, next) in outcomes {
                    if self.extend(&next, Some((state, &ret)))?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            } else {
                for next in self.task.spec.step(state, op, ret) {
                    if self.extend(&next, effect)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            self.order.pop();
            self.taken[i] = false;
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::TypedHistory;
    use crate::spec::{Register, RegisterOp};
    use crate::value::Value;

    /// A history that needs a deeper stack than threads have.
    #[test]
    fn long_histories_are_not_begun() {
        let mut history = TypedHistory::new();
        for _ in 0..100_000 {
            let read = history.call(0, RegisterOp::Read);
            history.ret(read, Value::Nil);
        }
        let register = Register {
            initial: Value::Nil,
            cas: false,
        };
        let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        let decide = |ops: usize| {
            let task = Task::new(&register, &history, &ids[..ops]);
            Brute
                .decide(&task, Evidence::Order, &Budget::default())
                .answer
        };
        assert!(matches!(decide(MOST_OPS), Ok(Answer::Linearizable { .. })));
        assert!(decide(history.len()).is_err());
    }

    /// Two concurrent writes, then a read: it can return what either wrote, and not what was there before.
    #[test]
    fn possible_results_are_those_of_all_orders() {
        let mut history = TypedHistory::new();
        let writes =
            [1, 2].map(|value| history.call(value, RegisterOp::Write(i64::from(value).into())));
        writes
            .iter()
            .for_each(|&write| history.ret(write, Value::Nil));
        let read = history.call(0, RegisterOp::Read);
        history.ret(read, Value::from(7));
        let register = Register {
            initial: Value::Nil,
            cas: false,
        };
        let task = Task::new(&register, &history, &[writes[0], writes[1], read]);
        let possible = possible_results(&task, 2, &mut || Ok::<_, ()>(())).unwrap();
        let [two, one] = [2, 1].map(Value::from);
        assert_eq!(possible, [(two.clone(), two), (one.clone(), one)]);
        let mut steps = 0;
        let stopped = possible_results(&task, 2, &mut || {
            steps += 1;
            if steps > 3 { Err(()) } else { Ok(()) }
        });
        assert_eq!(stopped, Err(()));
    }
}
