//! Values that were taken out of a container, and who took them.
//!
//! They decide nothing. They explain a result that shows a value which is not there any more, so only the last ones are kept.

use std::collections::VecDeque;

use super::{EXPLAINED, Observable, Op, Stop};
use crate::claim::Claim;
use crate::value::Value;

/// The last values that were taken out.
pub(super) struct Past<O: Observable> {
    taken: VecDeque<(Value, Op<O>)>,
    /// Whether further ones were forgotten.
    has_forgotten: bool,
}

impl<O: Observable> Past<O> {
    pub(super) fn new() -> Self {
        Past {
            taken: VecDeque::new(),
            has_forgotten: false,
        }
    }

    /// `by` took `value` out.
    pub(super) fn add(&mut self, value: Value, by: Op<O>) {
        if self.taken.len() == EXPLAINED {
            self.taken.pop_front();
            self.has_forgotten = true;
        }
        self.taken.push_back((value, by));
    }

    /// `op` saw a value that is not, or no longer, there. `there` are those that are.
    pub(super) fn unknown<'a>(
        &'a self,
        op: &Op<O>,
        value: &Value,
        there: impl Iterator<Item = &'a Value>,
    ) -> Stop<O> {
        if let Some((_, by)) = self.taken.iter().rev().find(|(past, _)| past == value) {
            return taken_before(op, value, by);
        }
        if self.has_forgotten {
            return Stop::violation(Claim::LongGone {
                op: Op::clone(op),
                key: None,
                value: value.clone(),
            });
        }
        Stop::violation(self.never_put(op, value, there))
    }

    /// That no insertion of `value` was called before `op` returned.
    pub(super) fn never_put<'a>(
        &'a self,
        op: &Op<O>,
        value: &Value,
        there: impl Iterator<Item = &'a Value>,
    ) -> Claim<Op<O>> {
        let past = self.taken.iter().map(|(value, _)| value);
        Claim::never_put(Op::clone(op), value, there.chain(past))
    }
}

pub(super) fn taken_before<O: Observable>(op: &Op<O>, value: &Value, by: &Op<O>) -> Stop<O> {
    Stop::violation(Claim::TakenBefore {
        op: Op::clone(op),
        value: value.clone(),
        by: Op::clone(by),
    })
}
