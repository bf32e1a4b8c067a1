//! Containers that differ only in which value they serve next: queue, stack, priority queue, bag.

use std::collections::VecDeque;

use super::{
    CallView, DecodeError, Kind, Outcomes, Pattern, Recorded, Role, Sampler, Simulated, Spec,
    Vocabulary, decode, words,
};
use crate::value::Value;

/// A container, at first empty. Equal values may be in it several times; nil is none.
#[derive(Clone, Debug)]
pub struct Container {
    /// Which value it serves next.
    pub discipline: Discipline,
    /// How many values it can hold, if that is limited; insertions then answer whether there was room.
    pub capacity: Option<usize>,
}

/// Which value a [`Container`] serves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// The one that was there first: a queue.
    Fifo,
    /// The one that came last: a stack.
    Lifo,
    /// The largest: a priority queue whose priorities are the values.
    Largest,
    /// The smallest.
    Smallest,
    /// Any: a bag.
    Any,
}

/// An operation on a [`Container`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ContainerOp {
    /// Puts the value in; answers nil, or, where the capacity is limited, whether there was room.
    Add(Value),
    /// Takes the next value out and answers it; nil if there is none.
    Remove,
    /// Answers the next value and leaves it there; nil if there is none.
    Peek,
    /// Answers how many values there are.
    Size,
}

impl Container {
    /// A container without a limit.
    pub fn unbounded(discipline: Discipline) -> Self {
        Container {
            discipline,
            capacity: None,
        }
    }

    /// Where `value` goes, given that the next value to serve is in front. A bag is kept sorted, so that there is one
    /// state for one content.
    fn place(&self, state: &VecDeque<Value>, value: &Value) -> usize {
        match self.discipline {
            Discipline::Fifo => state.len(),
            Discipline::Lifo => 0,
            Discipline::Largest => state.partition_point(|other| other > value),
            Discipline::Smallest | Discipline::Any => state.partition_point(|other| other < value),
        }
    }

    /// The positions of the values that may be served next, each value once.
    fn next(&self, state: &VecDeque<Value>) -> impl Iterator<Item = usize> {
        let candidates = match self.discipline {
            Discipline::Any => state.len(),
            _ => state.len().min(1),
        };
        (0..candidates).filter(|&i| i == 0 || state[i] != state[i - 1])
    }

    fn serve(
        &self,
        state: &VecDeque<Value>,
        leave: impl Fn(usize) -> VecDeque<Value>,
    ) -> Outcomes<Value, VecDeque<Value>> {
        let mut served: Vec<_> = self
            .next(state)
            .map(|i| (state[i].clone(), leave(i)))
            .collect();
        match served.len() {
            0 => Outcomes::One(Value::Nil, state.clone()),
            1 => {
                let (value, next) = served.remove(0);
                Outcomes::One(value, next)
            }
            _ => Outcomes::Many(served),
        }
    }

    /// What a method does, by the names that this kind of container is known by; `None` if it has no such method.
    fn verb(&self, method: &str) -> Option<Verb> {
        use Discipline::{Any, Fifo, Largest, Lifo, Smallest};
        match (self.discipline, method) {
            (Fifo, "enq" | "enqueue" | "offer" | "add" | "put")
            | (Lifo, "push")
            | (Largest | Smallest, "add" | "insert" | "offer" | "enq" | "put")
            | (Any, "add" | "insert" | "put" | "enqueue" | "enq") => Some(Verb::Add),
            (Fifo, "deq" | "dequeue" | "poll" | "remove")
            | (Lifo, "pop")
            | (Largest | Smallest, "poll" | "extract" | "remove" | "deq")
            | (Largest, "extract_max")
            | (Smallest, "extract_min")
            | (Any, "take" | "remove" | "poll" | "dequeue" | "deq") => Some(Verb::Remove),
            (_, "peek") | (Lifo, "top") => Some(Verb::Peek),
            (_, "size") => Some(Verb::Size),
            _ => None,
        }
    }

    fn op(&self, call: CallView<'_>) -> Result<ContainerOp, DecodeError> {
        match self.verb(call.method) {
            Some(Verb::Add) => Ok(ContainerOp::Add(call.takes_value()?)),
            Some(Verb::Remove) => call.takes_nothing(ContainerOp::Remove),
            Some(Verb::Peek) => call.takes_nothing(ContainerOp::Peek),
            Some(Verb::Size) => call.takes_nothing(ContainerOp::Size),
            None => call.unknown(),
        }
    }
}

/// What a method does.
#[derive(Clone, Copy)]
enum Verb {
    Add,
    Remove,
    Peek,
    Size,
}

/// Whether the order of [`Value`] is the numeric or textual order. It is not for numbers that are kept as text.
fn is_ordered(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Text(_) => true,
        Value::List(items) => items.iter().all(is_ordered),
        _ => false,
    }
}

impl Spec for Container {
    type Op = ContainerOp;
    type Ret = Value;
    type State = VecDeque<Value>;

    fn init(&self) -> VecDeque<Value> {
        VecDeque::new()
    }

    fn vocabulary(&self) -> Vocabulary {
        let (object, put, taken) = match self.discipline {
            Discipline::Fifo => ("the queue", "enqueued", "dequeued"),
            Discipline::Lifo => ("the stack", "pushed", "popped"),
            Discipline::Largest | Discipline::Smallest => ("the priority queue", "added", "served"),
            Discipline::Any => ("the bag", "added", "removed"),
        };
        Vocabulary {
            object,
            put,
            taken,
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        words::members(self.vocabulary().object, state)
    }

    fn answer_reason(&self, op: &ContainerOp, answer: &str) -> Option<String> {
        match (op, answer) {
            (ContainerOp::Add(_), "false") => words::limit("full", self.capacity),
            (ContainerOp::Add(_), "true") => words::limit("not full", self.capacity),
            _ => None,
        }
    }

    fn state_value(&self, state: &VecDeque<Value>) -> Value {
        Value::list(state.iter().cloned())
    }

    fn apply(&self, state: &VecDeque<Value>, op: &ContainerOp) -> Outcomes<Value, VecDeque<Value>> {
        match op {
            ContainerOp::Add(_) if self.capacity.is_some_and(|most| state.len() >= most) => {
                Outcomes::One(Value::Bool(false), state.clone())
            }
            ContainerOp::Add(value) => {
                let mut next = state.clone();
                next.insert(self.place(state, value), value.clone());
                let answer = match self.capacity {
                    Some(_) => Value::Bool(true),
                    None => Value::Nil,
                };
                Outcomes::One(answer, next)
            }
            ContainerOp::Remove => self.serve(state, |i| {
                let mut next = state.clone();
                next.remove(i);
                next
            }),
            ContainerOp::Peek => self.serve(state, |_| state.clone()),
            ContainerOp::Size => Outcomes::One(Value::Int(state.len() as i64), state.clone()),
        }
    }

    fn step_into(
        &self,
        mut state: VecDeque<Value>,
        op: &ContainerOp,
        ret: Option<&Value>,
        next: &mut Vec<VecDeque<Value>>,
    ) {
        // Bags and bounded containers use the general implementation.
        if self.discipline == Discipline::Any || self.capacity.is_some() {
            next.extend(self.step(&state, op, ret));
            return;
        }
        let front = state.front().unwrap_or(&Value::Nil);
        let fits = |answer: &Value| ret.is_none_or(|ret| ret == answer);
        match op {
            ContainerOp::Add(value) if fits(&Value::Nil) => {
                state.insert(self.place(&state, value), value.clone());
            }
            ContainerOp::Remove if fits(front) => {
                state.pop_front();
            }
            ContainerOp::Peek if fits(front) => {}
            ContainerOp::Size if fits(&Value::Int(state.len() as i64)) => {}
            _ => return,
        }
        next.push(state);
    }

    fn is_pure(&self, op: &ContainerOp, ret: Option<&Value>) -> bool {
        match op {
            ContainerOp::Add(_) => ret == Some(&Value::Bool(false)),
            ContainerOp::Remove => ret == Some(&Value::Nil),
            ContainerOp::Peek | ContainerOp::Size => true,
        }
    }

    fn kind(&self) -> Option<Kind> {
        let kind = match self.discipline {
            Discipline::Fifo => Kind::Queue,
            Discipline::Lifo => Kind::Stack,
            Discipline::Largest => Kind::MaxPriorityQueue,
            Discipline::Smallest => Kind::MinPriorityQueue,
            Discipline::Any => Kind::Bag,
        };
        Some(match self.capacity {
            Some(_) => Kind::Limited(Box::new(kind)),
            None => kind,
        })
    }

    fn role(&self, op: &ContainerOp, ret: Option<&Value>) -> Role {
        match (op, ret) {
            (ContainerOp::Add(_), Some(Value::Bool(false))) => Role::Opaque,
            (ContainerOp::Add(value), _) => Role::Adds(value.clone()),
            (ContainerOp::Remove | ContainerOp::Peek, Some(Value::Nil))
            | (ContainerOp::Size, Some(Value::Int(0))) => Role::Empty,
            (ContainerOp::Remove, Some(value)) => Role::Removes(value.clone()),
            (ContainerOp::Peek, Some(value)) => Role::Peeks(value.clone()),
            (ContainerOp::Remove, None) => Role::RemovesSome,
            (ContainerOp::Peek, None) | (ContainerOp::Size, _) => Role::Opaque,
        }
    }
}

impl Recorded for Container {
    fn decode(&self, call: CallView<'_>) -> Result<ContainerOp, DecodeError> {
        let op = self.op(call)?;
        match (&op, self.discipline) {
            (ContainerOp::Add(value), Discipline::Largest | Discipline::Smallest)
                if !is_ordered(value) =>
            {
                Err(format!(
                    "priorities are integers of 64 bits or text, or lists of these, not {value}"
                )
                .into())
            }
            _ => Ok(op),
        }
    }

    fn decode_result(&self, op: &ContainerOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            ContainerOp::Add(_) if self.capacity.is_some() => decode::truth(result),
            ContainerOp::Add(value) => decode::done(result, &[value]),
            ContainerOp::Remove | ContainerOp::Peek => Ok(result.clone()),
            ContainerOp::Size => decode::integer(result),
        }
    }

    fn pattern(&self, method: &str) -> Option<Pattern> {
        match self.verb(method)? {
            _ if self.capacity.is_some() => None,
            Verb::Add => Some(Pattern::Adds),
            Verb::Remove => Some(Pattern::Removes),
            Verb::Peek => Some(Pattern::Peeks),
            Verb::Size => None,
        }
    }
}

impl Simulated for Container {
    fn perform(
        &self,
        state: &mut VecDeque<Value>,
        op: &ContainerOp,
        sampler: &mut Sampler,
    ) -> Option<Value> {
        let mut served = || match self.next(state).collect::<Vec<_>>().as_slice() {
            [] => None,
            [only] => Some(*only),
            several => Some(sampler.pick(several)),
        };
        Some(match op {
            ContainerOp::Add(_) if self.capacity.is_some_and(|most| state.len() >= most) => {
                Value::Bool(false)
            }
            ContainerOp::Add(value) => {
                state.insert(self.place(state, value), value.clone());
                self.capacity.map_or(Value::Nil, |_| Value::Bool(true))
            }
            ContainerOp::Remove => {
                let served = served();
                served
                    .and_then(|place| state.remove(place))
                    .unwrap_or_default()
            }
            ContainerOp::Peek => served().map_or(Value::Nil, |place| state[place].clone()),
            ContainerOp::Size => Value::Int(state.len() as i64),
        })
    }

    fn sample(
        &self,
        state: &VecDeque<Value>,
        _: u32,
        sampler: &mut Sampler,
    ) -> (&'static str, Value) {
        let (add, remove) = match self.discipline {
            Discipline::Fifo => ("enq", "deq"),
            Discipline::Lifo => ("push", "pop"),
            Discipline::Largest | Discipline::Smallest => ("add", "poll"),
            Discipline::Any => ("add", "take"),
        };
        // Few values at a time: errors are most likely near the empty (and the full) container.
        let room = self.capacity.unwrap_or(8).min(8);
        let inserts = if state.len() < room { 50 } else { 30 };
        if sampler.percent(inserts) {
            (add, sampler.value())
        } else if sampler.percent(75) {
            (remove, Value::Nil)
        } else {
            ("peek", Value::Nil)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn queues_serve_in_order_of_arrival() {
        run(
            &Container::unbounded(Discipline::Fifo),
            "
            deq() null
            enq(1) null
            offer(2) true
            add(1) null
            peek() 1
            size() 3
            poll() 1
            dequeue() 2
            deq() 1
            peek() null
            ",
        );
    }

    #[test]
    fn stacks_serve_the_latest() {
        run(
            &Container::unbounded(Discipline::Lifo),
            "
            pop() null
            push(1) null
            push(2) null
            top() 2
            pop() 2
            peek() 1
            pop() 1
            size() 0
            ",
        );
    }

    #[test]
    fn priority_queues_serve_by_value() {
        let adds = "add(2) null \n insert(9) null \n offer(10) null \n add(9) null \n peek() ";
        run(
            &Container::unbounded(Discipline::Largest),
            &format!(
                "{adds} 10 \n poll() 10 \n extract_max() 9 \n poll() 9 \n poll() 2 \n poll() null"
            ),
        );
        run(
            &Container::unbounded(Discipline::Smallest),
            &format!(
                "{adds} 2 \n poll() 2 \n extract_min() 9 \n poll() 9 \n poll() 10 \n poll() null"
            ),
        );
    }

    #[test]
    fn priorities_without_an_order_are_refused() {
        let call = CallView {
            process: &Value::Nil,
            method: "add",
            argument: &Value::number("1.5"),
            hint: None,
        };
        let queue = Container::unbounded(Discipline::Largest);
        assert!(queue.decode(call).is_err());
        assert!(Container::unbounded(Discipline::Any).decode(call).is_ok());
    }

    #[test]
    fn bags_serve_anything() {
        let bag = Container::unbounded(Discipline::Any);
        run(
            &bag,
            "
            take() null
            add(1) null
            add(2) null
            add(1) null
            peek() 2
            take() 1
            take() 2
            peek() 1
            take() 1
            peek() null
            ",
        );
        let state = VecDeque::from([1, 1, 2].map(Value::from));
        assert_eq!(bag.step(&state, &ContainerOp::Remove, None).len(), 2);
        assert!(
            bag.step(&state, &ContainerOp::Remove, Some(&3.into()))
                .is_empty()
        );
    }

    #[test]
    fn bounded_queues_refuse_when_full() {
        run(
            &Container {
                discipline: Discipline::Fifo,
                capacity: Some(2),
            },
            "
            offer(1) true
            enq(2) true
            enq(3) false
            size() 2
            deq() 1
            enq(3) true
            deq() 2
            deq() 3
            deq() null
            ",
        );
    }
}
