//! A semaphore of which no attempt to get permits fails.
//!
//! It is best to give permits at the call and to take them at the return (see the [monitor](crate::engine::monitor::Semaphore) of
//! recorded histories), so the number of permits left is known after each event, and must not fall below zero. A release that is
//! open may still fail: then it never gave any. So the lowest numbers are kept that were left since the call of the oldest
//! release that is open.
//!
//! **Reports** a violation at the event that makes it certain. **Cost:** constant for each event, the logarithm of what is kept for a
//! failure, amortised. **Memory:** the open releases, and at most one number for each number of permits since the call of the
//! oldest of them. Ours.

use std::collections::{BTreeSet, VecDeque};

use super::{Observable, Online, Op, Stop, Time};
use crate::claim::Claim;
use crate::spec::Role;

/// A monitor of a semaphore.
pub(super) struct Permits<O: Observable> {
    left: i128,
    /// When the releases were called that are open and may fail.
    releases: BTreeSet<Time>,
    /// Ascending in both: how many permits were left after an acquisition returned, if no later one left as few.
    lows: VecDeque<Low<O>>,
}

/// What an acquisition left.
struct Low<O: Observable> {
    at: Time,
    left: i128,
    op: Op<O>,
}

impl<O: Observable> Permits<O> {
    pub(super) fn new(permits: u64) -> Self {
        Permits {
            left: permits.into(),
            releases: BTreeSet::new(),
            lows: VecDeque::new(),
        }
    }

    fn amount(op: &Op<O>, role: &Role) -> Result<i64, Stop<O>> {
        match role {
            Role::Counts { by, .. } => Ok(*by),
            _ => Err(Stop::cannot_tell(format!(
                "what {op} tells cannot be watched"
            ))),
        }
    }

    /// A release is not open any more.
    fn close(&mut self, op: &Op<O>) {
        self.releases.remove(&op.called);
        let oldest = self.releases.first().copied().unwrap_or(Time::MAX);
        while self.lows.front().is_some_and(|low| low.at < oldest) {
            self.lows.pop_front();
        }
    }

    fn add_low(&mut self, low: Low<O>) {
        while self.lows.back().is_some_and(|last| last.left >= low.left) {
            self.lows.pop_back();
        }
        self.lows.push_back(low);
    }
}

fn too_few<O: Observable>(op: &Op<O>) -> Stop<O> {
    Stop::violation(Claim::Contradiction {
        op: Op::clone(op),
        others: Vec::new(),
    })
}

impl<O: Observable> Online<O> for Permits<O> {
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        let by = Self::amount(op, &op.pending_role)?;
        if by > 0 {
            self.left += i128::from(by);
            self.releases.insert(op.called);
        }
        Ok(())
    }

    fn ret(&mut self, op: &Op<O>, role: &Role, now: Time) -> Result<(), Stop<O>> {
        let by = Self::amount(op, role)?;
        if by > 0 {
            self.close(op);
            return Ok(());
        }
        self.left += i128::from(by);
        if self.left < 0 {
            return Err(too_few(op));
        }
        if !self.releases.is_empty() {
            self.add_low(Low {
                at: now,
                left: self.left,
                op: Op::clone(op),
            });
        }
        Ok(())
    }

    fn fail(&mut self, op: &Op<O>, _: Time) -> Result<(), Stop<O>> {
        let by = i128::from(Self::amount(op, &op.pending_role)?);
        if by <= 0 {
            return Ok(());
        }
        self.left -= by;
        let since = self.lows.partition_point(|low| low.at < op.called);
        for mut low in self.lows.split_off(since) {
            low.left -= by;
            if low.left < 0 {
                return Err(too_few(&low.op).since_failed(op));
            }
            self.add_low(low);
        }
        self.close(op);
        Ok(())
    }

    fn crash(&mut self, op: &Op<O>) {
        self.close(op);
    }
}
