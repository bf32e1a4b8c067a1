//! A lock without owners.

use super::{
    CallView, DecodeError, Kind, Outcomes, Recorded, Role, Sampler, Simulated, Spec, Vocabulary,
    decode, words,
};
use crate::value::Value;

/// A lock that is free or held, at first free. It has no owner: any process may release it, and a held lock cannot be
/// acquired again.
#[derive(Clone, Debug)]
pub struct Mutex;

/// An operation on a [`Mutex`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MutexOp {
    /// Waits until the lock is free and takes it; answers nil.
    Acquire,
    /// Waits until the lock is held and frees it; answers nil.
    Release,
    /// Takes the lock if it is free; answers whether it was.
    TryAcquire,
    /// Frees the lock if it is held; answers whether it was.
    TryRelease,
}

impl MutexOp {
    /// Whether the lock is held after a success of this operation.
    fn holds(&self) -> bool {
        matches!(self, MutexOp::Acquire | MutexOp::TryAcquire)
    }
}

impl Spec for Mutex {
    type Op = MutexOp;
    type Ret = Value;
    /// Whether it is held.
    type State = bool;

    fn init(&self) -> bool {
        false
    }

    fn vocabulary(&self) -> Vocabulary {
        words::LOCK
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        self.vocabulary().two_states(*state, None)
    }

    fn state_value(&self, &held: &bool) -> Value {
        Value::from(if held { "held" } else { "free" })
    }

    fn apply(&self, &held: &bool, op: &MutexOp) -> Outcomes<Value, bool> {
        let possible = held != op.holds();
        match op {
            MutexOp::Acquire | MutexOp::Release if possible => Outcomes::One(Value::Nil, !held),
            MutexOp::Acquire | MutexOp::Release => Outcomes::Blocked,
            MutexOp::TryAcquire | MutexOp::TryRelease => {
                Outcomes::One(Value::Bool(possible), op.holds())
            }
        }
    }

    fn is_pure(&self, op: &MutexOp, ret: Option<&Value>) -> bool {
        matches!(op, MutexOp::TryAcquire | MutexOp::TryRelease) && ret == Some(&Value::Bool(false))
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Slot(Value::Bool(false)))
    }

    fn role(&self, op: &MutexOp, ret: Option<&Value>) -> Role {
        let held = op.holds();
        match ret {
            Some(Value::Bool(false)) => Role::reads(Value::Bool(held)),
            // A pending operation that fails has no effect, so only its success counts.
            _ => Role::replaces(Value::Bool(!held), Value::Bool(held)),
        }
    }
}

impl Recorded for Mutex {
    fn decode(&self, call: CallView<'_>) -> Result<MutexOp, DecodeError> {
        match call.method {
            "acquire" | "lock" => call.takes_nothing(MutexOp::Acquire),
            "release" | "unlock" => call.takes_nothing(MutexOp::Release),
            "try_acquire" | "try_lock" => call.takes_nothing(MutexOp::TryAcquire),
            "try_release" | "try_unlock" => call.takes_nothing(MutexOp::TryRelease),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &MutexOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            MutexOp::Acquire => decode::taken(result, &[]),
            MutexOp::Release => decode::done(result, &[]),
            MutexOp::TryAcquire | MutexOp::TryRelease => decode::truth(result),
        }
    }
}

impl Simulated for Mutex {
    fn sample(&self, &held: &bool, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        let method = match (sampler.percent(30), held) {
            (true, _) => sampler.pick(&["try_lock", "try_unlock"]),
            (false, false) => "lock",
            (false, true) => "unlock",
        };
        (method, Value::Nil)
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        run(
            &Mutex,
            "
            try_unlock() false
            acquire() null
            try_lock() false
            release() null
            try_lock() true
            try_unlock() true
            lock() true
            ",
        );
    }

    #[test]
    fn waiting_is_no_effect() {
        assert_eq!(Mutex.apply(&true, &MutexOp::Acquire), Outcomes::Blocked);
        assert_eq!(Mutex.apply(&false, &MutexOp::Release), Outcomes::Blocked);
    }
}
