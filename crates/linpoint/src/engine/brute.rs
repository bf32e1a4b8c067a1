//! The reference: tries all orders.
//!
//! Decides any history of any specification, in time exponential in its length. It is the oracle of every test and the
//! judge of small cores, so it is written to be seen to be right and is never optimised: no memory of what was tried, no
//! choice of a good order, nothing that the other engines do.

use super::{Answer, Budget, Engine, Evidence, GaveUp, Outcome, Task, Ticker};
use crate::history::{NEVER, OpId, precedes};
use crate::spec::Spec;

/// The name of this engine in reports.
pub(crate) const NAME: &str = "brute";

/// The reference as an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brute;

impl<S: Spec> Engine<S> for Brute {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decide(&self, task: &Task<'_, S>, _: Evidence, budget: &Budget) -> Outcome {
        let mut ticker = Ticker::new(budget);
        let answer = match try_all_orders(task, &mut || ticker.tick()) {
            Ok(Some(order)) => Ok(Answer::in_order(order)),
            Ok(None) => Ok(Answer::nothing_fits()),
            Err(limit) => Err(GaveUp::from(limit)),
        };
        Outcome {
            answer,
            method: "all orders were tried".into(),
        }
    }
}

/// Tries all orders of the operations of `task`; the first one that explains everything, if there is one.
///
/// `step` is asked before every step of the specification and can end the attempt with an error.
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
    let mut attempt = Attempt {
        task,
        order: Vec::new(),
        taken: vec![false; task.ops.len()],
        step,
    };
    let found = attempt.extend(&task.spec.init())?;
    Ok(found.then(|| attempt.order.iter().map(|&i| task.ops[i].id).collect()))
}

struct Attempt<'a, 'b, S: Spec, E> {
    task: &'a Task<'b, S>,
    order: Vec<usize>,
    taken: Vec<bool>,
    step: &'a mut dyn FnMut() -> Result<(), E>,
}

impl<S: Spec, E> Attempt<'_, '_, S, E> {
    /// Whether the order so far, which leads to `state`, can be completed.
    fn extend(&mut self, state: &S::State) -> Result<bool, E> {
        let ops = &self.task.ops;
        let open = || (0..ops.len()).filter(|&i| !self.taken[i]);
        if open().all(|i| ops[i].ret == NEVER) {
            return Ok(true);
        }
        let first_return = open().map(|i| ops[i].ret).min().unwrap_or(NEVER);
        let candidates: Vec<usize> = open()
            .filter(|&i| !precedes(first_return, ops[i].call))
            .collect();
        for i in candidates {
            (self.step)()?;
            let (op, ret) = self.task.action(i);
            for next in self.task.spec.step(state, op, ret) {
                self.taken[i] = true;
                self.order.push(i);
                if self.extend(&next)? {
                    return Ok(true);
                }
                self.order.pop();
                self.taken[i] = false;
            }
        }
        Ok(false)
    }
}
