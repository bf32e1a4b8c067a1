//! A counter that is never negative, as in Burckhardt, Dern, Musuvathi and Tan, *Line-Up*, PLDI 2010, figure 3.

use super::{
    CallView, DecodeError, Outcomes, Recorded, Sampler, Simulated, Spec, Vocabulary, decode,
};
use crate::value::Value;

/// A counter that is never negative: a decrement waits until the count is positive.
#[derive(Clone, Debug)]
pub struct BlockingCounter {
    /// Where it starts.
    pub initial: u64,
}

/// An operation on a [`BlockingCounter`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BlockingCounterOp {
    /// Answers the count.
    Get,
    /// Sets the count; answers nil.
    Set(u64),
    /// Adds one; answers nil.
    Inc,
    /// Waits until the count is positive and subtracts one; answers nil.
    Dec,
}

impl Spec for BlockingCounter {
    type Op = BlockingCounterOp;
    type Ret = Value;
    /// The count. A recorded one has 64 bits, so that no sum overflows.
    type State = u128;

    fn init(&self) -> u128 {
        self.initial.into()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the counter",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, count: &u128, _: Option<&Value>) -> String {
        format!("the counter was at {count}")
    }

    fn state_value(&self, &count: &u128) -> Value {
        number(count)
    }

    fn apply(&self, &count: &u128, op: &BlockingCounterOp) -> Outcomes<Value, u128> {
        match *op {
            BlockingCounterOp::Get => Outcomes::One(number(count), count),
            BlockingCounterOp::Set(n) => Outcomes::One(Value::Nil, n.into()),
            BlockingCounterOp::Inc => Outcomes::One(Value::Nil, count + 1),
            BlockingCounterOp::Dec => match count.checked_sub(1) {
                Some(rest) => Outcomes::One(Value::Nil, rest),
                None => Outcomes::Blocked,
            },
        }
    }

    fn is_pure(&self, op: &BlockingCounterOp, _: Option<&Value>) -> bool {
        *op == BlockingCounterOp::Get
    }

    fn state_after(&self, op: &BlockingCounterOp, ret: &Value) -> Option<u128> {
        match *op {
            BlockingCounterOp::Get => u128::try_from(ret.as_int()?).ok(),
            BlockingCounterOp::Set(n) => Some(n.into()),
            BlockingCounterOp::Inc | BlockingCounterOp::Dec => None,
        }
    }
}

fn number(count: u128) -> Value {
    i64::try_from(count).map_or_else(|_| Value::number(count.to_string()), Value::Int)
}

impl Recorded for BlockingCounter {
    fn decode(&self, call: CallView<'_>) -> Result<BlockingCounterOp, DecodeError> {
        match call.method {
            "get" | "read" => call.takes_nothing(BlockingCounterOp::Get),
            "set" => match call.argument.as_int().map(u64::try_from) {
                Some(Ok(n)) => Ok(BlockingCounterOp::Set(n)),
                _ => Err(format!("set takes a count, not {}", call.argument).into()),
            },
            "inc" | "increment" => call.takes_nothing(BlockingCounterOp::Inc),
            "dec" | "decrement" => call.takes_nothing(BlockingCounterOp::Dec),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &BlockingCounterOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            BlockingCounterOp::Get => decode::integer(result),
            BlockingCounterOp::Set(n) => {
                let echo = i64::try_from(*n).map_or(Value::Nil, Value::Int);
                decode::done(result, &[&echo])
            }
            BlockingCounterOp::Inc | BlockingCounterOp::Dec => decode::done(result, &[]),
        }
    }
}

impl Simulated for BlockingCounter {
    fn sample(&self, &count: &u128, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        match sampler.below(5) {
            0 => ("get", Value::Nil),
            1 => ("set", Value::Int(sampler.below(3) as i64)),
            2 | 3 if count > 0 => ("dec", Value::Nil),
            _ => ("inc", Value::Nil),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        let counter = BlockingCounter { initial: 1 };
        run(
            &counter,
            "
            get() 1
            dec() null
            read() 0
            inc() null
            set(5) 5
            dec() null
            get() 4
            ",
        );
        assert_eq!(
            counter.apply(&0, &BlockingCounterOp::Dec),
            Outcomes::Blocked
        );
    }
}
