//! The reference: tries all orders.
//!
//! Decides any history of any specification, in time exponential in its length. It is the oracle of every test and the
//! judge of small cores, so it is written to be seen to be right and is never optimised: no memory of what was tried, no
//! choice of a good order, nothing that the other engines do.

use super::Task;
use crate::history::{NEVER, OpId};
use crate::spec::Spec;

/// What the reference found within its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// An order that explains everything.
    Order(Vec<OpId>),
    /// There is none.
    Nothing,
    /// The limit on steps came first.
    TooLarge,
}

/// Tries all orders of the operations of `task`, taking at most `max_steps` steps of the specification.
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
/// assert_eq!(brute::try_all_orders(&task, 1_000), brute::Found::Nothing);
/// ```
pub fn try_all_orders<S: Spec>(task: &Task<'_, S>, max_steps: u64) -> Found {
    let mut attempt = Attempt {
        task,
        order: Vec::new(),
        taken: vec![false; task.ops.len()],
        steps: max_steps,
    };
    match attempt.extend(&task.spec.init()) {
        Some(true) => Found::Order(attempt.order.iter().map(|&i| task.ops[i].id).collect()),
        Some(false) => Found::Nothing,
        None => Found::TooLarge,
    }
}

struct Attempt<'a, 'b, S: Spec> {
    task: &'a Task<'b, S>,
    order: Vec<usize>,
    taken: Vec<bool>,
    steps: u64,
}

impl<S: Spec> Attempt<'_, '_, S> {
    /// Whether the order so far, which leads to `state`, can be completed; `None` if the steps ran out.
    fn extend(&mut self, state: &S::State) -> Option<bool> {
        let ops = &self.task.ops;
        let open = || (0..ops.len()).filter(|&i| !self.taken[i]);
        if open().all(|i| ops[i].ret == NEVER) {
            return Some(true);
        }
        let first_return = open().map(|i| ops[i].ret).min().unwrap_or(NEVER);
        let candidates: Vec<usize> = open().filter(|&i| ops[i].call < first_return).collect();
        for i in candidates {
            self.steps = self.steps.checked_sub(1)?;
            let (op, ret) = self.task.action(i);
            for next in self.task.spec.step(state, op, ret) {
                self.taken[i] = true;
                self.order.push(i);
                if self.extend(&next)? {
                    return Some(true);
                }
                self.order.pop();
                self.taken[i] = false;
            }
        }
        Some(false)
    }
}
