//! A readers-writer lock.

use super::{
    CallView, DecodeError, Outcomes, Recorded, Sampler, Simulated, Spec, Vocabulary, decode, words,
};
use crate::value::Value;

/// A lock that many readers or one writer may hold, at first free. It has no owners: it counts its holders, and any
/// process may release it.
#[derive(Clone, Debug)]
pub struct RwLock;

/// The way in which a [`RwLock`] is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Together with other readers.
    Read,
    /// Alone.
    Write,
}

/// An operation on a [`RwLock`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RwLockOp {
    /// Waits until the lock can be taken and takes it; answers nil.
    Acquire(Access),
    /// Waits until the lock is held in this way and releases one hold; answers nil.
    Release(Access),
    /// Takes the lock if that is possible; answers whether it was.
    TryAcquire(Access),
}

/// The holders of a [`RwLock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holders {
    /// This many readers.
    Readers(u64),
    /// One writer.
    Writer,
}

impl Spec for RwLock {
    type Op = RwLockOp;
    type Ret = Value;
    type State = Holders;

    fn init(&self) -> Holders {
        Holders::Readers(0)
    }

    fn vocabulary(&self) -> Vocabulary {
        words::LOCK
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        match state {
            Holders::Readers(0) => "the lock was free".into(),
            Holders::Readers(1) => "the lock was held by a reader".into(),
            Holders::Readers(readers) => format!("the lock was held by {readers} readers"),
            Holders::Writer => "the lock was held by a writer".into(),
        }
    }

    fn state_value(&self, holders: &Holders) -> Value {
        match holders {
            Holders::Readers(0) => Value::from("free"),
            Holders::Readers(readers) => Value::from(format!("read by {readers}")),
            Holders::Writer => Value::from("written"),
        }
    }

    fn apply(&self, &holders: &Holders, op: &RwLockOp) -> Outcomes<Value, Holders> {
        let next = match (op, holders) {
            (
                RwLockOp::Acquire(Access::Read) | RwLockOp::TryAcquire(Access::Read),
                Holders::Readers(n),
            ) => Some(Holders::Readers(n + 1)),
            (
                RwLockOp::Acquire(Access::Write) | RwLockOp::TryAcquire(Access::Write),
                Holders::Readers(0),
            ) => Some(Holders::Writer),
            (RwLockOp::Release(Access::Read), Holders::Readers(n @ 1..)) => {
                Some(Holders::Readers(n - 1))
            }
            (RwLockOp::Release(Access::Write), Holders::Writer) => Some(Holders::Readers(0)),
            _ => None,
        };
        match (op, next) {
            (RwLockOp::TryAcquire(_), next) => {
                Outcomes::One(Value::Bool(next.is_some()), next.unwrap_or(holders))
            }
            (_, Some(next)) => Outcomes::One(Value::Nil, next),
            (_, None) => Outcomes::Blocked,
        }
    }

    fn is_pure(&self, op: &RwLockOp, ret: Option<&Value>) -> bool {
        matches!(op, RwLockOp::TryAcquire(_)) && ret == Some(&Value::Bool(false))
    }
}

impl Recorded for RwLock {
    fn decode(&self, call: CallView<'_>) -> Result<RwLockOp, DecodeError> {
        use Access::{Read, Write};
        call.takes_nothing(match call.method {
            "read_lock" | "read_acquire" => RwLockOp::Acquire(Read),
            "read_unlock" | "read_release" => RwLockOp::Release(Read),
            "try_read_lock" | "try_read_acquire" => RwLockOp::TryAcquire(Read),
            "write_lock" | "write_acquire" => RwLockOp::Acquire(Write),
            "write_unlock" | "write_release" => RwLockOp::Release(Write),
            "try_write_lock" | "try_write_acquire" => RwLockOp::TryAcquire(Write),
            _ => return call.unknown(),
        })
    }

    fn decode_result(&self, op: &RwLockOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            RwLockOp::Acquire(_) | RwLockOp::Release(_) => decode::done(result, &[]),
            RwLockOp::TryAcquire(_) => decode::truth(result),
        }
    }
}

impl Simulated for RwLock {
    fn sample(&self, holders: &Holders, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        let method = if sampler.percent(50) {
            match holders {
                Holders::Readers(0) => sampler.pick(&["read_lock", "write_lock"]),
                Holders::Readers(_) => "read_unlock",
                Holders::Writer => "write_unlock",
            }
        } else {
            sampler.pick(&["read_lock", "try_read_lock", "try_write_lock"])
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
            &RwLock,
            "
            read_lock() null
            try_read_lock() true
            try_write_lock() false
            read_unlock() null
            try_write_lock() false
            read_unlock() null
            write_lock() null
            try_read_lock() false
            try_write_lock() false
            write_unlock() null
            try_write_lock() true
            ",
        );
    }

    #[test]
    fn waiting_is_no_effect() {
        for (holders, op) in [
            (Holders::Writer, RwLockOp::Acquire(Access::Read)),
            (Holders::Readers(1), RwLockOp::Acquire(Access::Write)),
            (Holders::Readers(0), RwLockOp::Release(Access::Read)),
            (Holders::Readers(1), RwLockOp::Release(Access::Write)),
        ] {
            assert_eq!(RwLock.apply(&holders, &op), Outcomes::Blocked);
        }
    }
}
