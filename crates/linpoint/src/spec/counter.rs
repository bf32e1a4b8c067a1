//! A counter.

use super::{
    CallView, DecodeError, Kind, Outcomes, Recorded, Role, Sampler, Simulated, Spec, Vocabulary,
    decode,
};
use crate::value::Value;

/// A counter of 64 bits that wraps around.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Where it starts.
    pub initial: i64,
}

/// An operation on a [`Counter`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CounterOp {
    /// Answers the count.
    Get,
    /// Adds the number; answers nil.
    Add(i64),
    /// Adds the number; answers the count before.
    FetchAdd(i64),
    /// Adds the number; answers the count after.
    AddAndGet(i64),
}

impl Spec for Counter {
    type Op = CounterOp;
    type Ret = Value;
    type State = i64;

    fn init(&self) -> i64 {
        self.initial
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the counter",
            put: "added",
            taken: "subtracted",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        format!("the counter was at {state}")
    }

    fn state_value(&self, &count: &i64) -> Value {
        Value::Int(count)
    }

    fn apply(&self, &count: &i64, op: &CounterOp) -> Outcomes<Value, i64> {
        match *op {
            CounterOp::Get => Outcomes::One(Value::Int(count), count),
            CounterOp::Add(n) => Outcomes::One(Value::Nil, count.wrapping_add(n)),
            CounterOp::FetchAdd(n) => Outcomes::One(Value::Int(count), count.wrapping_add(n)),
            CounterOp::AddAndGet(n) => {
                let sum = count.wrapping_add(n);
                Outcomes::One(Value::Int(sum), sum)
            }
        }
    }

    fn is_pure(&self, op: &CounterOp, _: Option<&Value>) -> bool {
        match *op {
            CounterOp::Get => true,
            CounterOp::Add(n) | CounterOp::FetchAdd(n) | CounterOp::AddAndGet(n) => n == 0,
        }
    }

    fn state_after(&self, op: &CounterOp, ret: &Value) -> Option<i64> {
        let answer = ret.as_int()?;
        match *op {
            CounterOp::Add(_) => None,
            CounterOp::Get | CounterOp::AddAndGet(_) => Some(answer),
            CounterOp::FetchAdd(n) => Some(answer.wrapping_add(n)),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Counter(self.initial))
    }

    fn role(&self, op: &CounterOp, ret: Option<&Value>) -> Role {
        let answer = ret.and_then(Value::as_int);
        let (by, seen) = match *op {
            CounterOp::Get => (0, answer),
            CounterOp::Add(n) => (n, None),
            CounterOp::FetchAdd(n) => (n, answer),
            CounterOp::AddAndGet(n) => (n, answer.map(|sum| sum.wrapping_sub(n))),
        };
        Role::Counts { by, seen }
    }
}

fn amount(call: CallView<'_>, default: Option<i64>) -> Result<i64, DecodeError> {
    match (call.argument, default) {
        (Value::Int(n), _) => Ok(*n),
        (Value::Nil, Some(n)) => Ok(n),
        (other, _) => {
            Err(format!("{} takes an integer of 64 bits, not {other}", call.method).into())
        }
    }
}

impl Recorded for Counter {
    fn decode(&self, call: CallView<'_>) -> Result<CounterOp, DecodeError> {
        match call.method {
            "get" | "read" => call.takes_nothing(CounterOp::Get),
            "add" => Ok(CounterOp::Add(amount(call, None)?)),
            "inc" | "increment" => Ok(CounterOp::Add(amount(call, Some(1))?)),
            "dec" | "decrement" => Ok(CounterOp::Add(amount(call, Some(1))?.wrapping_neg())),
            "fetch_add" | "get_and_add" => Ok(CounterOp::FetchAdd(amount(call, None)?)),
            "get_and_inc" => call.takes_nothing(CounterOp::FetchAdd(1)),
            "add_and_get" => Ok(CounterOp::AddAndGet(amount(call, None)?)),
            "inc_and_get" => call.takes_nothing(CounterOp::AddAndGet(1)),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &CounterOp, result: &Value) -> Result<Value, DecodeError> {
        match *op {
            // `dec` echoes the amount that it takes away.
            CounterOp::Add(n) => {
                decode::done(result, &[&Value::Int(n), &Value::Int(n.wrapping_neg())])
            }
            CounterOp::Get | CounterOp::FetchAdd(_) | CounterOp::AddAndGet(_) => {
                decode::integer(result)
            }
        }
    }
}

impl Simulated for Counter {
    fn sample(&self, _: &i64, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        let small = Value::Int(1 + sampler.below(5) as i64);
        match sampler.below(6) {
            0 | 1 => ("get", Value::Nil),
            2 => ("inc", Value::Nil),
            3 => ("dec", Value::Nil),
            4 => ("add", small),
            _ => ("fetch_add", small),
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
            &Counter { initial: 7 },
            "
            get() 7
            inc() null
            inc(2) 2
            dec() null
            add(-4) null
            read() 5
            fetch_add(3) 5
            add_and_get(1) 9
            inc_and_get() 10
            ",
        );
    }

    #[test]
    fn overflow_wraps() {
        run(
            &Counter { initial: i64::MAX },
            "inc_and_get() -9223372036854775808",
        );
    }
}
