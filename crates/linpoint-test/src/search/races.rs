//! Races: which steps of an execution could have come in the other order.
//!
//! Two steps of different threads race if they touch the same object, at least one of them changes it, and nothing between
//! them orders them. A race can be reversed unless the second thread had to wait for the first step: a lock that was held, a
//! notification that had not come, a change that it spun for. Such a step does not hide the steps before it: a lock races with
//! the lock before it, across the unlock between them.

use crate::runtime::MAIN;
use crate::runtime::access::Access;
use crate::runtime::causality::Clock;
use crate::runtime::execution::{Trace, Wait};

/// A step that is compared with those before it: one that happened, or one that a stuck thread waits for.
pub(super) struct Late<'a> {
    thread: usize,
    /// It comes before this position.
    position: usize,
    accesses: &'a [Access],
    /// What is known to have happened before it.
    known: Clock,
    /// Steps one of which must have happened, if there are any.
    wakers: &'a [u32],
}

impl<'a> Late<'a> {
    /// The last step of a trace.
    fn last(trace: &'a Trace) -> Self {
        let position = trace.steps().len() - 1;
        let thread = usize::from(trace.steps()[position].thread);
        let previous = (0..position)
            .rev()
            .find(|&step| usize::from(trace.steps()[step].thread) == thread);
        let known = match previous {
            // A forced step comes after all steps that all other threads could take.
            _ if trace.steps()[position].forced => *trace.clock_of(position),
            Some(step) => *trace.clock_of(step),
            None => Clock::default(),
        };
        Late {
            thread,
            position,
            accesses: trace.accesses_of(position),
            known,
            wakers: trace.wakers_of(position),
        }
    }

    /// The steps before it that it races with and that could have come after it.
    fn races(mut self, trace: &Trace, mut report: impl FnMut(usize, &Self)) {
        for early in (0..self.position).rev() {
            let step = &trace.steps()[early];
            let thread = usize::from(step.thread);
            if thread == self.thread || self.known.includes(thread, step.number) {
                continue;
            }
            let conflict = trace.accesses_of(early).iter().any(|a| {
                let meets = |b: &&Access| a.object == b.object && a.kind.conflicts(b.kind);
                self.accesses.iter().any(|b| meets(&b))
            });
            if conflict && self.possible_without(trace, early) {
                report(early, &self);
                self.known.join(trace.clock_of(early));
            }
        }
    }

    /// The step that lets the thread go on if `early` and all that follows from it do not happen.
    fn waker_without(&self, trace: &Trace, early: usize) -> Option<usize> {
        let mut wakers = self.wakers.iter().map(|&waker| waker as usize);
        wakers.find(|&waker| !trace.happened_before(early, waker))
    }

    /// Whether the thread would not have to wait if `early` and all that follows from it had not happened.
    fn possible_without(&self, trace: &Trace, early: usize) -> bool {
        if !self.wakers.is_empty() && self.waker_without(trace, early).is_none() {
            return false;
        }
        self.accesses.iter().filter(|a| a.blocking).all(|wanted| {
            let start = trace.hold_at_start(wanted.object);
            let held = (0..self.position)
                .filter(|&step| step < early || !trace.happened_before(early, step))
                .flat_map(|step| trace.accesses_of(step))
                .filter(|access| access.object == wanted.object)
                .fold(start, |held, access| access.kind.apply(held));
            wanted.kind.enabled(held)
        })
    }

    /// The threads that could begin what happened after `early` independently of it, up to and including this step.
    pub(super) fn initials(&self, trace: &Trace, early: usize) -> u16 {
        let (mut seen, mut initials) = (0u16, 0u16);
        let mut steps_before = Clock::default();
        for step in &trace.steps()[..early] {
            steps_before.0[usize::from(step.thread)] = step.number;
        }
        let mut consider = |thread: usize, clock: &Clock| {
            if seen & 1 << thread == 0 {
                seen |= 1 << thread;
                let others = (0..clock.0.len()).filter(|&other| other != thread);
                if others
                    .into_iter()
                    .all(|other| clock.0[other] <= steps_before.0[other])
                {
                    initials |= 1 << thread;
                }
            }
        };
        for step in early + 1..self.position {
            if !trace.happened_before(early, step) {
                consider(
                    usize::from(trace.steps()[step].thread),
                    trace.clock_of(step),
                );
            }
        }
        let mut known = self.known;
        if let Some(waker) = self.waker_without(trace, early) {
            known.join(trace.clock_of(waker));
        }
        consider(self.thread, &known);
        initials
    }
}

/// Reports the reversible races of the last step with those before it.
pub(super) fn of_last_step(trace: &Trace, report: impl FnMut(usize, &Late<'_>)) {
    Late::last(trace).races(trace, report);
}

/// Reports the reversible races of the steps that stuck threads wait for.
pub(super) fn of_stuck_threads(trace: &Trace, mut report: impl FnMut(usize, &Late<'_>)) {
    for blocked in trace.blocked() {
        // A thread that was never notified would not be helped by coming before another step.
        let Wait::Access {
            object,
            name,
            kind,
            ref notifier,
        } = blocked.wait
        else {
            continue;
        };
        if blocked.thread == MAIN {
            continue;
        }
        let wanted = [Access {
            object,
            name,
            kind,
            blocking: true,
            version: 0,
            changed: false,
        }];
        let late = Late {
            thread: blocked.thread,
            position: trace.steps().len(),
            accesses: &wanted,
            known: blocked.clock,
            wakers: notifier.as_slice(),
        };
        late.races(trace, &mut report);
    }
}
