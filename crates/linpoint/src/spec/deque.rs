//! A double-ended queue.

use std::collections::VecDeque;

use super::{
    CallView, DecodeError, Kind, Outcomes, Recorded, Role, Sampler, Simulated, Spec, Vocabulary,
    decode, words,
};
use crate::value::Value;

/// A double-ended queue, at first empty. Nil is no value.
#[derive(Clone, Debug)]
pub struct Deque;

/// One end of a [`Deque`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Where a queue is served.
    Front,
    /// Where a queue grows.
    Back,
}

/// An operation on a [`Deque`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DequeOp {
    /// Puts the value in at this end; answers nil.
    Push(End, Value),
    /// Takes the value at this end out and answers it; nil if there is none.
    Pop(End),
    /// Answers the value at this end and leaves it there; nil if there is none.
    Peek(End),
    /// Answers how many values there are.
    Size,
}

impl Spec for Deque {
    type Op = DequeOp;
    type Ret = Value;
    type State = VecDeque<Value>;

    fn init(&self) -> VecDeque<Value> {
        VecDeque::new()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the deque",
            put: "pushed",
            taken: "popped",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        words::members("the deque", state)
    }

    fn state_value(&self, state: &VecDeque<Value>) -> Value {
        Value::list(state.iter().cloned())
    }

    fn apply(&self, state: &VecDeque<Value>, op: &DequeOp) -> Outcomes<Value, VecDeque<Value>> {
        let mut next = state.clone();
        let answer = match op {
            DequeOp::Push(End::Front, value) => {
                next.push_front(value.clone());
                None
            }
            DequeOp::Push(End::Back, value) => {
                next.push_back(value.clone());
                None
            }
            DequeOp::Pop(End::Front) => next.pop_front(),
            DequeOp::Pop(End::Back) => next.pop_back(),
            DequeOp::Peek(End::Front) => state.front().cloned(),
            DequeOp::Peek(End::Back) => state.back().cloned(),
            DequeOp::Size => Some(Value::Int(state.len() as i64)),
        };
        Outcomes::One(answer.unwrap_or_default(), next)
    }

    fn is_pure(&self, op: &DequeOp, ret: Option<&Value>) -> bool {
        match op {
            DequeOp::Push(..) => false,
            DequeOp::Pop(_) => ret == Some(&Value::Nil),
            DequeOp::Peek(_) | DequeOp::Size => true,
        }
    }

    fn state_after(&self, op: &DequeOp, ret: &Value) -> Option<VecDeque<Value>> {
        (self.role(op, Some(ret)) == Role::Empty).then(VecDeque::new)
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Deque)
    }

    fn role(&self, op: &DequeOp, ret: Option<&Value>) -> Role {
        match (op, ret) {
            (DequeOp::Push(_, value), _) => Role::Adds(value.clone()),
            (DequeOp::Pop(_) | DequeOp::Peek(_), Some(Value::Nil))
            | (DequeOp::Size, Some(Value::Int(0))) => Role::Empty,
            (DequeOp::Pop(_), Some(value)) => Role::Removes(value.clone()),
            (DequeOp::Peek(_), Some(value)) => Role::Peeks(value.clone()),
            (DequeOp::Pop(_), None) => Role::RemovesSome,
            (DequeOp::Peek(_), None) | (DequeOp::Size, _) => Role::Opaque,
        }
    }
}

impl Recorded for Deque {
    fn decode(&self, call: CallView<'_>) -> Result<DequeOp, DecodeError> {
        use End::{Back, Front};
        match call.method {
            "push_front" | "addFirst" | "offerFirst" => {
                Ok(DequeOp::Push(Front, call.takes_value()?))
            }
            "push_back" | "addLast" | "offerLast" => Ok(DequeOp::Push(Back, call.takes_value()?)),
            "pop_front" | "pollFirst" => call.takes_nothing(DequeOp::Pop(Front)),
            "pop_back" | "pollLast" => call.takes_nothing(DequeOp::Pop(Back)),
            "peek_front" | "peekFirst" => call.takes_nothing(DequeOp::Peek(Front)),
            "peek_back" | "peekLast" => call.takes_nothing(DequeOp::Peek(Back)),
            "size" => call.takes_nothing(DequeOp::Size),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &DequeOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            DequeOp::Push(_, value) => decode::done(result, &[value]),
            DequeOp::Pop(_) | DequeOp::Peek(_) => Ok(result.clone()),
            DequeOp::Size => decode::integer(result),
        }
    }
}

impl Simulated for Deque {
    fn sample(
        &self,
        state: &VecDeque<Value>,
        _: u32,
        sampler: &mut Sampler,
    ) -> (&'static str, Value) {
        // Few values at a time: errors are most likely near the empty deque.
        let inserts = if state.len() < 8 { 50 } else { 30 };
        if sampler.percent(inserts) {
            (sampler.pick(&["push_front", "push_back"]), sampler.value())
        } else if sampler.percent(75) {
            (sampler.pick(&["pop_front", "pop_back"]), Value::Nil)
        } else {
            (sampler.pick(&["peek_front", "peek_back"]), Value::Nil)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        run(
            &Deque,
            "
            pop_front() null
            push_front(1) null
            addLast(2) null
            push_front(3) null
            peek_front() 3
            peekLast() 2
            size() 3
            pop_back() 2
            pollLast() 1
            pop_front() 3
            peek_back() null
            ",
        );
    }
}
