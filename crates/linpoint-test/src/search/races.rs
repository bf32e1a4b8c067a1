//! Which steps of an execution could have come in the other order.
//!
//! Two steps of different threads race if they touch the same object, at least one of them changes it, and nothing between
//! them orders them. A race can be reversed unless the second thread had to wait for the first step: a lock that was held, a
//! notification that had not come, a change that it spun for. Such a step does not hide what came before it, so a lock is compared with the lock before
//! it across the unlock between them.

use crate::runtime::access::{Access, Kind, Manner};
use crate::runtime::causality::Clock;
use crate::runtime::execution::{End, Execution, Pending};

/// A step that is tried against those before it: one that happened, or one that a stuck thread waits for.
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
    /// The last step of an execution.
    fn last(execution: &'a Execution) -> Self {
        let position = execution.steps.len() - 1;
        let thread = usize::from(execution.steps[position].thread);
        let previous = (0..position)
            .rev()
            .find(|&step| usize::from(execution.steps[step].thread) == thread);
        let known = match previous {
            // Not before everybody else had stopped.
            _ if execution.steps[position].forced => *execution.clock_of(position),
            Some(step) => *execution.clock_of(step),
            None => Clock::default(),
        };
        Late {
            thread,
            position,
            accesses: execution.accesses_of(position),
            known,
            wakers: execution.wakers_of(position),
        }
    }

    /// The steps before it that it races with and that could have come after it.
    fn races(mut self, execution: &Execution, mut report: impl FnMut(usize, &Self)) {
        for early in (0..self.position).rev() {
            let step = &execution.steps[early];
            let thread = usize::from(step.thread);
            if thread == self.thread || self.known.includes(thread, step.number) {
                continue;
            }
            let conflict = execution.accesses_of(early).iter().any(|a| {
                let meets = |b: &&Access| a.object == b.object && a.kind.conflicts(b.kind);
                self.accesses.iter().any(|b| meets(&b))
            });
            if conflict && self.possible_without(execution, early) {
                report(early, &self);
                self.known.join(execution.clock_of(early));
            }
        }
    }

    /// The step that lets the thread go on if `early` and all that follows from it do not happen.
    fn waker_without(&self, execution: &Execution, early: usize) -> Option<usize> {
        let mut wakers = self.wakers.iter().map(|&waker| waker as usize);
        wakers.find(|&waker| !execution.happened_before(early, waker))
    }

    /// Whether the thread would not have to wait if `early` and all that follows from it had not happened.
    fn possible_without(&self, execution: &Execution, early: usize) -> bool {
        if !self.wakers.is_empty() && self.waker_without(execution, early).is_none() {
            return false;
        }
        self.accesses.iter().filter(|a| a.blocking).all(|wanted| {
            let start = execution.objects[wanted.object as usize].held_at_start;
            let held = (0..self.position)
                .filter(|&step| step < early || !execution.happened_before(early, step))
                .flat_map(|step| execution.accesses_of(step))
                .filter(|access| access.object == wanted.object)
                .fold(start, |held, access| access.kind.apply(held));
            wanted.kind.enabled(held)
        })
    }

    /// The threads that could begin what happened after `early` independently of it, up to and including this step.
    pub(super) fn initials(&self, execution: &Execution, early: usize) -> u16 {
        let (mut seen, mut initials) = (0u16, 0u16);
        let mut steps_before = Clock::default();
        for step in &execution.steps[..early] {
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
            if !execution.happened_before(early, step) {
                consider(
                    usize::from(execution.steps[step].thread),
                    execution.clock_of(step),
                );
            }
        }
        let mut known = self.known;
        if let Some(waker) = self.waker_without(execution, early) {
            known.join(execution.clock_of(waker));
        }
        consider(self.thread, &known);
        initials
    }
}

/// Reports the reversible races of the last step with those before it.
pub(super) fn of_last_step(execution: &Execution, report: impl FnMut(usize, &Late<'_>)) {
    Late::last(execution).races(execution, report);
}

/// Reports the reversible races of the steps that stuck threads wait for.
pub(super) fn of_stuck_threads(execution: &Execution, mut report: impl FnMut(usize, &Late<'_>)) {
    if execution.end != End::Stuck {
        return;
    }
    for thread in 0..execution.layout.threads.len() {
        let (object, kind, notifier) = match execution.now.threads[thread].pending {
            Pending::Access {
                object,
                kind,
                manner: Manner::Blocking,
            } => (object, kind, None),
            Pending::Wake { mutex, .. } => match execution.notifier_of(thread) {
                // Nobody notified it: to come before another step would not help.
                None => continue,
                notifier => (mutex, Kind::Acquire, notifier),
            },
            _ => continue,
        };
        let wanted = [Access {
            object,
            kind,
            blocking: true,
            version: 0,
            changed: false,
        }];
        let late = Late {
            thread,
            position: execution.steps.len(),
            accesses: &wanted,
            known: *execution.clock_of_thread(thread),
            wakers: notifier.as_slice(),
        };
        late.races(execution, &mut report);
    }
}
