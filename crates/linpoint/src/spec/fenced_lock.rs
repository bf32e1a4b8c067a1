//! A lock with an owner and fencing tokens.

use super::{
    CallView, DecodeError, Detail, Outcomes, Recorded, Sampler, Simulated, Spec, Vocabulary,
    decode, words,
};
use crate::value::Value;

/// A lock that only its owner can release and that the owner cannot take again, at first free. An operation that takes it answers
/// a token: a positive integer that is larger than all before.
///
/// The owner is the process that calls, unless the argument names one.
#[derive(Clone, Debug)]
pub struct FencedLock;

/// An operation on a [`FencedLock`], with the owner for which it is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FencedLockOp {
    /// Waits until the lock is free and takes it; answers its token. A recorded nil does not tell the token.
    Acquire(Value),
    /// Gives it back; only its owner can. Answers nil.
    Release(Value),
    /// Takes it if it is free and answers its token, or false. A recorded `true` does not tell the token.
    TryAcquire(Value),
}

/// A state of a [`FencedLock`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FencedLockState {
    /// The owner that holds it.
    pub owner: Option<Value>,
    /// The smallest number that the last token may have been; 0 at first.
    pub token: i64,
}

impl Spec for FencedLock {
    type Op = FencedLockOp;
    type Ret = Value;
    type State = FencedLockState;

    fn init(&self) -> FencedLockState {
        FencedLockState {
            owner: None,
            token: 0,
        }
    }

    fn vocabulary(&self) -> Vocabulary {
        words::LOCK
    }

    fn state_words(&self, state: &FencedLockState, _: Option<&Value>) -> String {
        let held = match &state.owner {
            None => "the lock was free".to_owned(),
            Some(owner) => format!("the lock was held by owner {owner}"),
        };
        match state.token {
            0 => held,
            token => format!("{held} (last token: {token} or larger)"),
        }
    }

    fn answer_words(&self, _: &FencedLockState, op: &FencedLockOp, answer: &Value) -> String {
        match (op, answer) {
            (FencedLockOp::Acquire(_) | FencedLockOp::TryAcquire(_), Value::Int(least)) => {
                format!("a token of {least} or more")
            }
            _ => answer.to_string(),
        }
    }

    fn details(&self, op: &FencedLockOp, ret: Option<&Value>) -> Vec<Detail> {
        match op {
            FencedLockOp::TryAcquire(_) if ret == Some(&Value::Bool(false)) => Vec::new(),
            FencedLockOp::Acquire(owner) | FencedLockOp::TryAcquire(owner) => vec![Detail::Takes {
                owner: owner.clone(),
                token: ret.and_then(Value::as_int),
                is_reentrant: false,
            }],
            FencedLockOp::Release(owner) => vec![Detail::Gives {
                owner: owner.clone(),
            }],
        }
    }

    fn state_value(&self, state: &FencedLockState) -> Value {
        let owner = state.owner.clone().unwrap_or_default();
        Value::list([owner, Value::Int(state.token)])
    }

    /// Any larger token is possible; this is the smallest.
    fn apply(
        &self,
        state: &FencedLockState,
        op: &FencedLockOp,
    ) -> Outcomes<Value, FencedLockState> {
        let token = state.token.saturating_add(1);
        match (op, &state.owner) {
            (FencedLockOp::Acquire(caller) | FencedLockOp::TryAcquire(caller), None) => {
                let next = FencedLockState {
                    owner: Some(caller.clone()),
                    token,
                };
                Outcomes::One(Value::Int(token), next)
            }
            (FencedLockOp::TryAcquire(_), Some(_)) => {
                Outcomes::One(Value::Bool(false), state.clone())
            }
            (FencedLockOp::Release(caller), Some(owner)) if caller == owner => {
                let next = FencedLockState {
                    owner: None,
                    ..*state
                };
                Outcomes::One(Value::Nil, next)
            }
            _ => Outcomes::Blocked,
        }
    }

    /// Of a token that is not told, the smallest possible one leaves the most possibilities to later ones.
    fn step(
        &self,
        state: &FencedLockState,
        op: &FencedLockOp,
        ret: Option<&Value>,
    ) -> Vec<FencedLockState> {
        match (op, ret) {
            (
                FencedLockOp::Acquire(caller) | FencedLockOp::TryAcquire(caller),
                Some(Value::Int(token)),
            ) => {
                let is_possible = state.owner.is_none() && *token > state.token;
                let next = || FencedLockState {
                    owner: Some(caller.clone()),
                    token: *token,
                };
                is_possible.then(next).into_iter().collect()
            }
            (FencedLockOp::Acquire(_), _) => self.apply(state, op).answering(None),
            (FencedLockOp::TryAcquire(_), Some(Value::Bool(true))) if state.owner.is_some() => {
                Vec::new()
            }
            (FencedLockOp::TryAcquire(_), Some(Value::Bool(true))) => {
                self.apply(state, op).answering(None)
            }
            _ => self.apply(state, op).answering(ret),
        }
    }

    fn is_pure(&self, op: &FencedLockOp, ret: Option<&Value>) -> bool {
        matches!(op, FencedLockOp::TryAcquire(_)) && ret == Some(&Value::Bool(false))
    }
}

impl Recorded for FencedLock {
    const DEPENDS_ON_PROCESS: bool = true;

    fn decode(&self, call: CallView<'_>) -> Result<FencedLockOp, DecodeError> {
        let caller = call.owner();
        match call.method {
            "acquire" | "lock" => Ok(FencedLockOp::Acquire(caller)),
            "release" | "unlock" => Ok(FencedLockOp::Release(caller)),
            "try_acquire" | "try_lock" => Ok(FencedLockOp::TryAcquire(caller)),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &FencedLockOp, result: &Value) -> Result<Value, DecodeError> {
        match (op, result) {
            (FencedLockOp::Acquire(_) | FencedLockOp::TryAcquire(_), Value::Int(1..)) => {
                Ok(result.clone())
            }
            (FencedLockOp::TryAcquire(_), _) => decode::truth(result),
            // An owner may be a number, but an answer of the owner 0 is no token.
            (FencedLockOp::Acquire(_), Value::Int(_)) => {
                Err(format!("a token is a positive integer, not {result}").into())
            }
            (FencedLockOp::Acquire(caller) | FencedLockOp::Release(caller), _) => {
                decode::done(result, &[caller])
            }
        }
    }
}

impl Simulated for FencedLock {
    fn sample(
        &self,
        state: &FencedLockState,
        process: u32,
        sampler: &mut Sampler,
    ) -> (&'static str, Value) {
        let owner = state.owner.as_ref();
        let is_mine = owner.is_some_and(|owner| owner.as_int() == Some(process.into()));
        let method = if is_mine && sampler.percent(70) {
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
            &FencedLock,
            r#"
            acquire("a") 3
            try_acquire("b") false
            try_acquire("a") false
            release("a") null
            try_acquire("b") 9
            release("b") null
            acquire("a") null
            release("a") null
            try_acquire("a") true
            release("a") "ok"
            acquire("b") 12
            "#,
        );
    }

    #[test]
    fn tokens_grow_and_only_the_owner_releases() {
        let free = FencedLockState {
            owner: None,
            token: 5,
        };
        let acquire = FencedLockOp::Acquire("a".into());
        for (token, is_possible) in [(4, false), (5, false), (6, true)] {
            let next = FencedLock.step(&free, &acquire, Some(&Value::Int(token)));
            assert_eq!(!next.is_empty(), is_possible, "{token}");
        }
        let held = FencedLockState {
            owner: Some("a".into()),
            token: 5,
        };
        for token in [0, -3] {
            assert!(
                FencedLock
                    .decode_result(&acquire, &Value::Int(token))
                    .is_err()
            );
        }
        let release = FencedLockOp::Release("b".into());
        assert_eq!(FencedLock.apply(&held, &release), Outcomes::Blocked);
        assert_eq!(FencedLock.apply(&held, &acquire), Outcomes::Blocked);
    }
}
