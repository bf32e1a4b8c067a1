//! A counting semaphore.

use super::{
    CallView, DecodeError, Detail, Kind, Outcomes, Recorded, Role, Sampler, Simulated, Spec,
    Vocabulary, decode,
};
use crate::value::Value;

/// A counting semaphore. As with Java's, a release may bring in more permits than there were at first.
#[derive(Clone, Debug)]
pub struct Semaphore {
    /// How many permits there are at first.
    pub permits: u64,
}

/// An operation on a [`Semaphore`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreOp {
    /// Waits until this many permits are available and takes them; answers nil.
    Acquire(u64),
    /// Adds this many permits; answers nil.
    Release(u64),
    /// Takes this many permits if they are available; answers whether they were.
    TryAcquire(u64),
}

impl Spec for Semaphore {
    type Op = SemaphoreOp;
    type Ret = Value;
    /// The available permits. Recorded numbers of them have 64 bits, so no sum overflows.
    type State = u128;

    fn init(&self) -> u128 {
        self.permits.into()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the semaphore",
            put: "released",
            taken: "acquired",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        format!("the number of free permits was {state}")
    }

    fn details(&self, op: &SemaphoreOp, ret: Option<&Value>) -> Vec<Detail> {
        vec![match *op {
            SemaphoreOp::Acquire(permits) => Detail::Asks {
                permits,
                granted: true,
            },
            SemaphoreOp::TryAcquire(permits) => Detail::Asks {
                permits,
                granted: ret != Some(&Value::Bool(false)),
            },
            SemaphoreOp::Release(permits) => Detail::Brings { permits },
        }]
    }

    fn state_value(&self, permits: &u128) -> Value {
        i64::try_from(*permits).map_or_else(|_| Value::number(permits.to_string()), Value::Int)
    }

    fn apply(&self, &permits: &u128, op: &SemaphoreOp) -> Outcomes<Value, u128> {
        match *op {
            SemaphoreOp::Acquire(n) => match permits.checked_sub(n.into()) {
                Some(rest) => Outcomes::One(Value::Nil, rest),
                None => Outcomes::Blocked,
            },
            SemaphoreOp::Release(n) => Outcomes::One(Value::Nil, permits + u128::from(n)),
            SemaphoreOp::TryAcquire(n) => match permits.checked_sub(n.into()) {
                Some(rest) => Outcomes::One(Value::Bool(true), rest),
                None => Outcomes::One(Value::Bool(false), permits),
            },
        }
    }

    fn is_pure(&self, op: &SemaphoreOp, ret: Option<&Value>) -> bool {
        match *op {
            SemaphoreOp::Acquire(n) | SemaphoreOp::Release(n) => n == 0,
            SemaphoreOp::TryAcquire(n) => n == 0 || ret == Some(&Value::Bool(false)),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Semaphore(self.permits))
    }

    fn role(&self, op: &SemaphoreOp, ret: Option<&Value>) -> Role {
        let by = match *op {
            SemaphoreOp::TryAcquire(_) if ret == Some(&Value::Bool(false)) => None,
            // A pending operation that fails has no effect, so only its success counts.
            SemaphoreOp::Acquire(n) | SemaphoreOp::TryAcquire(n) => 0i64.checked_sub_unsigned(n),
            SemaphoreOp::Release(n) => i64::try_from(n).ok(),
        };
        by.map_or(Role::Opaque, |by| Role::Counts { by, seen: None })
    }
}

impl Recorded for Semaphore {
    fn decode(&self, call: CallView<'_>) -> Result<SemaphoreOp, DecodeError> {
        match call.method {
            "acquire" => Ok(SemaphoreOp::Acquire(call.takes_count(1)?)),
            "release" => Ok(SemaphoreOp::Release(call.takes_count(1)?)),
            "try_acquire" => Ok(SemaphoreOp::TryAcquire(call.takes_count(1)?)),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &SemaphoreOp, result: &Value) -> Result<Value, DecodeError> {
        match *op {
            SemaphoreOp::Acquire(n) | SemaphoreOp::Release(n) => {
                let echo = i64::try_from(n).map_or(Value::Nil, Value::Int);
                match op {
                    SemaphoreOp::Acquire(_) => decode::taken(result, &[&echo]),
                    _ => decode::done(result, &[&echo]),
                }
            }
            SemaphoreOp::TryAcquire(_) => decode::truth(result),
        }
    }
}

impl Simulated for Semaphore {
    fn sample(&self, &permits: &u128, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        let method = match (sampler.percent(40), permits < self.permits.into()) {
            (true, _) => "try_acquire",
            (false, true) => sampler.pick(&["acquire", "release", "release"]),
            (false, false) => "acquire",
        };
        let count = sampler.pick(&[Value::Nil, Value::Nil, Value::Int(2)]);
        (method, count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        let semaphore = Semaphore { permits: 2 };
        run(
            &semaphore,
            "
            acquire() null
            try_acquire(2) false
            try_acquire() true
            try_acquire() false
            release(3) 3
            try_acquire(3) true
            try_acquire(0) true
            ",
        );
        assert_eq!(
            semaphore.apply(&0, &SemaphoreOp::Acquire(1)),
            Outcomes::Blocked
        );
    }

    #[test]
    fn permits_do_not_overflow() {
        run(
            &Semaphore { permits: u64::MAX },
            "
            release(9223372036854775807) null
            release(9223372036854775807) null
            release(5) null
            acquire(9223372036854775807) null
            try_acquire(9223372036854775807) true
            ",
        );
    }
}
