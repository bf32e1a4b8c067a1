//! Decides semaphores without failed attempts, in O(n).
//!
//! Ours. It is best to give permits at the call and to take them at the return: no linearization has more permits at any moment,
//! given the acquisitions that have returned. So each acquisition needs its permits at its return. Pending releases take effect,
//! pending acquisitions do not. Holds for any numbers of permits. A failed attempt would ask for fewer permits at some moment;
//! such histories are not decided here.

use super::DEPENDS_ON_COUNT;
use crate::engine::monitor::{
    Contradiction, Count, Effect, Finding, Log, Monitor, NotApplicable, Reading, ViolationKind,
};

/// The monitor of semaphores.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    /// The permits that there are at first.
    pub permits: u64,
}

/// What an operation does to a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permits {
    /// Takes this many.
    Acquire(u64),
    /// Gives this many.
    Release(u64),
}

impl Monitor for Semaphore {
    type Act = Permits;
    type Proof = ();

    fn name(&self) -> &'static str {
        "semaphore"
    }

    fn read(&self, effect: Effect) -> Result<Reading<Permits>, NotApplicable> {
        let Effect::Counts(Count { by, .. }) = effect else {
            return Err(DEPENDS_ON_COUNT);
        };
        let act = match by {
            ..0 => Permits::Acquire(by.unsigned_abs()),
            0.. => Permits::Release(by.unsigned_abs()),
        };
        Ok(Reading { act, value: None })
    }

    fn decide(&self, log: &Log<Permits>) -> Result<Finding, NotApplicable> {
        // Sums of numbers of 64 bits do not overflow.
        let mut permits = u128::from(self.permits);
        for event in log.events() {
            let op = event.op();
            match log.acts[op] {
                Permits::Release(n) if !event.is_return() => permits += u128::from(n),
                Permits::Acquire(n) if event.is_return() => match permits.checked_sub(n.into()) {
                    Some(rest) => permits = rest,
                    None => return Ok(Finding::Violation(contradiction(log, op))),
                },
                _ => {}
            }
        }
        Ok(Finding::Linearizable(()))
    }

    fn witness(&self, log: &Log<Permits>, (): &()) -> Vec<u32> {
        let acquires = |op: usize| matches!(log.acts[op], Permits::Acquire(_));
        let events = log.events().iter();
        let effects = events.filter(|event| event.is_return() == acquires(event.op()));
        effects.map(|event| event.op() as u32).collect()
    }
}

/// The operations that were called before the failing return; those that returned later are seen as pending.
fn contradiction(log: &Log<Permits>, failing: usize) -> Contradiction {
    let cut = log.rets[failing];
    let changes_nothing = |&op: &u32| {
        matches!(
            log.acts[op as usize],
            Permits::Acquire(0) | Permits::Release(0)
        )
    };
    Contradiction {
        kind: ViolationKind::NoPermits,
        ops: log
            .called_before(cut)
            .filter(|op| !changes_nothing(op))
            .collect(),
        cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::{self, Model, Subject};
    use crate::spec::{self, SemaphoreOp};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    /// A semaphore with two permits; an operation takes or gives at most this many.
    struct AtOnce(u64);

    impl Model for AtOnce {
        type Act = Permits;
        type Spec = spec::Semaphore;

        fn spec(&self) -> spec::Semaphore {
            spec::Semaphore { permits: 2 }
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
            testing::assert_agrees(&AtOnce(most), &Semaphore { permits: 2 });
        }
    }

    #[test]
    fn permits_do_not_overflow() {
        let acts = vec![Permits::Release(u64::MAX), Permits::Acquire(u64::MAX)];
        let log = Log::new(acts, Vec::new(), vec![0, 2], vec![1, 3]);
        let decided = Semaphore { permits: u64::MAX }.decide(&log);
        assert!(matches!(decided, Ok(Finding::Linearizable(()))));
    }
}
