//! A lock that its owner may take again.

use super::{
    CallView, DecodeError, Detail, Outcomes, Recorded, Sampler, Simulated, Spec, Vocabulary,
    decode, words,
};
use crate::value::Value;

/// A lock with an owner, who may acquire it several times and must release it as often; at first free.
///
/// The owner is the process that calls, unless the argument names one.
#[derive(Clone, Debug)]
pub struct ReentrantMutex;

/// An operation on a [`ReentrantMutex`], with the owner for which it is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReentrantMutexOp {
    /// Waits until no other owner holds the lock and takes it once more; answers nil.
    Acquire(Value),
    /// Gives it back once; only its owner can. Answers nil.
    Release(Value),
    /// Takes it once more if no other owner holds it; answers whether it did.
    TryAcquire(Value),
}

impl Spec for ReentrantMutex {
    type Op = ReentrantMutexOp;
    type Ret = Value;
    /// The owner, and how often it holds the lock.
    type State = Option<(Value, u64)>;

    fn init(&self) -> Self::State {
        None
    }

    fn vocabulary(&self) -> Vocabulary {
        words::LOCK
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        match state {
            None => "the lock was free".into(),
            Some((owner, 1)) => format!("the lock was held once by owner {owner}"),
            Some((owner, 2)) => format!("the lock was held twice by owner {owner}"),
            Some((owner, holds)) => format!("the lock was held {holds} times by owner {owner}"),
        }
    }

    fn details(&self, op: &ReentrantMutexOp, ret: Option<&Value>) -> Vec<Detail> {
        match op {
            ReentrantMutexOp::TryAcquire(_) if ret == Some(&Value::Bool(false)) => Vec::new(),
            ReentrantMutexOp::Acquire(owner) | ReentrantMutexOp::TryAcquire(owner) => {
                vec![Detail::Takes {
                    owner: owner.clone(),
                    token: None,
                    is_reentrant: true,
                }]
            }
            ReentrantMutexOp::Release(owner) => vec![Detail::Gives {
                owner: owner.clone(),
            }],
        }
    }

    fn state_value(&self, state: &Self::State) -> Value {
        match state {
            None => Value::Nil,
            Some((owner, holds)) => Value::list([owner.clone(), Value::Int(*holds as i64)]),
        }
    }

    fn apply(&self, state: &Self::State, op: &ReentrantMutexOp) -> Outcomes<Value, Self::State> {
        let (ReentrantMutexOp::Acquire(caller)
        | ReentrantMutexOp::Release(caller)
        | ReentrantMutexOp::TryAcquire(caller)) = op;
        let holds = match state {
            None => Some(0),
            Some((owner, holds)) => (owner == caller).then_some(*holds),
        };
        let held = |holds: u64| (holds > 0).then(|| (caller.clone(), holds));
        match (op, holds) {
            (ReentrantMutexOp::Acquire(_), Some(holds)) => {
                Outcomes::One(Value::Nil, held(holds + 1))
            }
            (ReentrantMutexOp::TryAcquire(_), Some(holds)) => {
                Outcomes::One(Value::Bool(true), held(holds + 1))
            }
            (ReentrantMutexOp::TryAcquire(_), None) => {
                Outcomes::One(Value::Bool(false), state.clone())
            }
            (ReentrantMutexOp::Release(_), Some(holds @ 1..)) => {
                Outcomes::One(Value::Nil, held(holds - 1))
            }
            _ => Outcomes::Blocked,
        }
    }

    fn is_pure(&self, op: &ReentrantMutexOp, ret: Option<&Value>) -> bool {
        matches!(op, ReentrantMutexOp::TryAcquire(_)) && ret == Some(&Value::Bool(false))
    }
}

impl Recorded for ReentrantMutex {
    const DEPENDS_ON_PROCESS: bool = true;

    fn decode(&self, call: CallView<'_>) -> Result<ReentrantMutexOp, DecodeError> {
        let caller = call.owner();
        match call.method {
            "acquire" | "lock" => Ok(ReentrantMutexOp::Acquire(caller)),
            "release" | "unlock" => Ok(ReentrantMutexOp::Release(caller)),
            "try_acquire" | "try_lock" => Ok(ReentrantMutexOp::TryAcquire(caller)),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &ReentrantMutexOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            ReentrantMutexOp::Acquire(caller) => decode::taken(result, &[caller]),
            ReentrantMutexOp::Release(caller) => decode::done(result, &[caller]),
            ReentrantMutexOp::TryAcquire(_) => decode::truth(result),
        }
    }
}

impl Simulated for ReentrantMutex {
    fn sample(
        &self,
        state: &Self::State,
        process: u32,
        sampler: &mut Sampler,
    ) -> (&'static str, Value) {
        let mine = state
            .as_ref()
            .is_some_and(|(owner, _)| owner.as_int() == Some(process.into()));
        let method = if mine && sampler.percent(60) {
            "release"
        } else {
            sampler.pick(&["acquire", "try_acquire"])
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
            &ReentrantMutex,
            r#"
            acquire("a") null
            try_acquire("b") false
            try_acquire("a") true
            release("a") null
            try_acquire("b") false
            release("a") null
            try_acquire("b") true
            release("b") null
            acquire("a") null
            "#,
        );
    }

    #[test]
    fn only_the_owner_releases() {
        let held = Some((Value::from("a"), 1));
        let release = |who: &str| ReentrantMutexOp::Release(who.into());
        assert_eq!(
            ReentrantMutex.apply(&held, &release("b")),
            Outcomes::Blocked
        );
        assert_eq!(
            ReentrantMutex.apply(&None, &release("a")),
            Outcomes::Blocked
        );
    }
}
