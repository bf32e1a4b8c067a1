//! Semaphores without failed attempts.
//!
//! Permits are best given at the call and taken at the return: no order has more of them at any moment, for those that
//! have been taken by then. So each return of an acquisition is checked against that. A pending release is used, a
//! pending acquisition is not. This holds for any numbers of permits. O(n) for n operations.
//!
//! Tested against the reference, witnesses and contradictions included.

use crate::engine::monitor::{Contradiction, Finding, Log, ViolationKind};

/// ViolationKind an operation does to a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permits {
    /// Takes so many.
    Acquire(u64),
    /// Gives so many.
    Release(u64),
}

/// Decides a semaphore that has `permits` at first. If that is not possible, why.
pub fn decide(log: &Log<Permits>, permits: u64) -> Result<Finding, &'static str> {
    let released = log.acts.iter().try_fold(permits, |sum, act| match act {
        Permits::Release(n) => sum.checked_add(*n),
        Permits::Acquire(_) => Some(sum),
    });
    released.ok_or("permits may overflow")?;
    let mut there = permits;
    for event in log.events() {
        let op = event.op();
        match log.acts[op] {
            Permits::Release(n) if !event.is_return() => there += n,
            Permits::Acquire(n) if event.is_return() => match there.checked_sub(n) {
                Some(rest) => there = rest,
                None => return Ok(Finding::Violation(contradiction(log, op))),
            },
            _ => {}
        }
    }
    Ok(Finding::Linearizable(()))
}

/// An order that explains everything, if [`decide`] found that there is one.
pub fn witness(log: &Log<Permits>) -> Vec<u32> {
    let effects = log
        .events()
        .iter()
        .filter(|event| event.is_return() == matches!(log.acts[event.op()], Permits::Acquire(_)));
    effects.map(|event| event.op() as u32).collect()
}

/// The beginning of the log up to the return that cannot be: operations that returned later must be seen as pending.
fn contradiction(log: &Log<Permits>, failing: usize) -> Contradiction {
    let cut = log.rets[failing];
    let matters = |&op: &usize| !matches!(log.acts[op], Permits::Acquire(0) | Permits::Release(0));
    let called = (0..log.len()).take_while(|&op| log.calls[op] < cut);
    Contradiction {
        kind: ViolationKind::NoPermits,
        ops: called.filter(matters).map(|op| op as u32).collect(),
        cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::{self, Model, Subject};
    use crate::spec::{Semaphore, SemaphoreOp};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    /// A semaphore with two permits of which at most so many are taken and given at once.
    struct AtOnce(u64);

    impl Model for AtOnce {
        type Act = Permits;
        type Spec = Semaphore;

        fn spec(&self) -> Semaphore {
            Semaphore { permits: 2 }
        }

        fn op(&self, act: Permits, _: u32) -> SemaphoreOp {
            match act {
                Permits::Acquire(n) => SemaphoreOp::Acquire(n),
                Permits::Release(n) => SemaphoreOp::Release(n),
            }
        }

        fn ret(&self, _: Permits, _: u32) -> Value {
            Value::Nil
        }
    }

    impl Subject for AtOnce {
        fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Permits, u32)> {
            let arbitrary = rng.random();
            let mut there = 2;
            let one = |_| {
                let n = rng.random_range(1..=self.0);
                if (there >= n || arbitrary) && rng.random_range(0..4) > 0 {
                    there = there.saturating_sub(n);
                    (Permits::Acquire(n), 0)
                } else {
                    there += n;
                    (Permits::Release(n), 0)
                }
            };
            (0..ops).map(one).collect()
        }

        fn may_be_pending(&self, _: Permits) -> bool {
            true
        }

        fn may_move(&self, _: Permits) -> bool {
            true
        }
    }

    #[test]
    fn agrees_with_the_reference() {
        for most in [1, 3] {
            testing::assert_agrees(&AtOnce(most), |log| decide(log, 2).ok(), witness);
        }
    }

    #[test]
    fn overflow_is_handed_on() {
        let log = Log::new(vec![Permits::Release(1)], vec![0], vec![0], vec![1]);
        assert!(decide(&log, u64::MAX - 1).is_ok());
        assert!(decide(&log, u64::MAX).is_err());
    }
}
