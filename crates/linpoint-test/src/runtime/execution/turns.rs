//! Whose turn it is: who waits for what, who sleeps, who is woken, and who goes on.

use std::panic::Location;

use super::super::MAIN;
use super::super::access::Kind;
use super::super::coroutine::Switch;
#[cfg(any(feature = "loom", feature = "shuttle"))]
use super::Guest;
use super::{Choice, End, Execution, Outcome, Pending, Step, Thread};
use crate::search::{Point, Search};

/// The numbers of the bits that are set.
fn bits(mut mask: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < u16::BITS).then_some(bit as usize)
    })
}

/// After so many accesses that saw nothing new, a thread is taken to spin.
const SPIN: u32 = 20;
/// How often spinning threads are tried again before nobody is believed to make progress: local back-off counters end.
const IDLE_ROUNDS: u32 = 16;

impl Execution {
    /// Whether the running thread only repeats itself.
    pub(crate) fn spins(&self) -> bool {
        self.threads[self.current].repeats >= SPIN
    }

    /// Whether a thread sleeps: it yielded, and nothing it had read has changed since.
    fn asleep(&self, thread: &Thread) -> bool {
        !thread.forced
            && !thread.reads.is_empty()
            && thread
                .reads
                .iter()
                .all(|&(object, version)| self.objects[object as usize].version == version)
    }

    /// A thread comes to its next step.
    pub(super) fn expect(&mut self, index: usize, pending: Pending) {
        let bit = 1 << index;
        self.ready &= !bit;
        self.waiting &= !bit;
        match pending {
            Pending::Start(_)
            | Pending::Access {
                blocking: false, ..
            } => self.ready |= bit,
            Pending::Access { .. } | Pending::Yield | Pending::Wake { .. } => self.waiting |= bit,
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Guest(_) => self.waiting |= bit,
            Pending::Join | Pending::Done => {}
        }
        self.threads[index].pending = pending;
    }

    /// Whether a thread that may have to wait has no need to.
    fn may_go_on(&self, thread: &Thread) -> bool {
        match thread.pending {
            Pending::Access { object, kind, .. } => self.available(object, kind),
            Pending::Yield => !self.asleep(thread),
            Pending::Wake { mutex, timed, .. } => {
                (timed || thread.notified.is_some()) && self.available(mutex, Kind::Acquire)
            }
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Guest(guest) => guest != Guest::Waits,
            Pending::Start(_) | Pending::Join | Pending::Done => false,
        }
    }

    /// Whether others may run instead of `thread` at no cost, although it could go on.
    fn free(&self, thread: &Thread) -> bool {
        match thread.pending {
            Pending::Start(_) | Pending::Yield => true,
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Guest(guest) => guest == Guest::Yields,
            Pending::Access {
                object,
                kind,
                timed: true,
                ..
            } => !self.available(object, kind),
            Pending::Wake { timed: true, .. } => thread.notified.is_none(),
            _ => false,
        }
    }

    /// The running thread comes to an access: `None` if it goes on.
    pub(crate) fn announce(
        &mut self,
        pending: Pending,
        location: &'static Location<'static>,
        search: &mut dyn Search,
    ) -> Option<Switch> {
        let current = self.current;
        let thread = &mut self.threads[current];
        thread.location = Some(location);
        if thread.fresh {
            thread.fresh = false;
            let go_on = match pending {
                Pending::Access {
                    object,
                    kind,
                    blocking: true,
                    ..
                } => {
                    let available = self.available(object, kind);
                    if available {
                        self.touch(object, kind, true, true);
                    }
                    available
                }
                _ => true,
            };
            if let Some(step) = self.steps.last_mut().filter(|_| current != MAIN) {
                step.location = Some(location);
                step.blocked = !go_on;
            }
            if go_on {
                return None;
            }
        }
        self.expect(current, pending);
        match self.next(search) {
            Switch::To(thread) if thread == current => None,
            switch => Some(switch),
        }
    }

    /// The running thread stands before an operation: `None` if it may call it now.
    pub(crate) fn border(&mut self, op: usize, search: &mut dyn Search) -> Option<Switch> {
        let current = self.current;
        self.expect(current, Pending::Start(op as u32));
        self.threads[current].location = None;
        match self.next(search) {
            Switch::To(thread) if thread == current => None,
            switch => Some(switch),
        }
    }

    /// The running thread returns from its operation.
    pub(crate) fn finish(&mut self, op: usize, outcome: Outcome) {
        self.outcomes[op] = outcome;
        self.returned |= 1 << op;
        self.events.push((op as u32, true));
        self.idle = 0;
        let thread = &mut self.threads[self.current];
        thread.op = None;
        thread.fresh = false;
        if let Some(step) = self.steps.last_mut().filter(|_| self.current != MAIN) {
            step.returns = true;
        }
    }

    /// The running thread has nothing more to do.
    pub(crate) fn done(&mut self) {
        self.expect(self.current, Pending::Done);
    }

    /// The main thread waits until the workers have finished.
    pub(crate) fn join(&mut self, search: &mut dyn Search) -> Option<Switch> {
        self.expect(MAIN, Pending::Join);
        self.workers = true;
        for object in &mut self.objects {
            object.held_at_start = object.hold;
        }
        match self.next(search) {
            Switch::To(MAIN) => None,
            switch => Some(switch),
        }
    }

    /// Who goes on. Its step begins.
    pub(crate) fn next(&mut self, search: &mut dyn Search) -> Switch {
        self.close(search);
        if let End::Fault(_) = self.end {
            return Switch::Stuck;
        }
        if self.steps.len() >= self.settings.max_steps {
            self.end = End::TooLong;
            return Switch::Stuck;
        }
        let candidates: u16 = if !self.workers {
            1 << MAIN
        } else if self.settings.serial && self.inside(self.current) {
            1 << self.current
        } else {
            !(1 << MAIN)
        };
        let mut enabled = self.ready & candidates;
        let waiting = self.waiting & candidates;
        for index in bits(waiting) {
            if self.may_go_on(&self.threads[index]) {
                enabled |= 1 << index;
            }
        }
        if enabled | waiting == 0 {
            self.workers = false;
            self.current = MAIN;
            return Switch::To(MAIN);
        }
        if enabled == 0 {
            match self.force(waiting) {
                Some(thread) => enabled = 1 << thread,
                None => {
                    self.end = End::Stuck;
                    return Switch::Stuck;
                }
            }
        }
        let chosen = if self.workers {
            let current = self.current;
            let keeps = current != MAIN && enabled & 1 << current != 0;
            let point = Point {
                enabled,
                current: current as u8,
                costs: keeps && !self.free(&self.threads[current]),
            };
            let chosen = search.choose(self, point);
            self.schedule.push(Choice::Thread(chosen as u8));
            self.preemptions += u32::from(point.costs && chosen != current);
            chosen
        } else {
            MAIN
        };
        debug_assert!(enabled & 1 << chosen != 0, "a disabled thread was chosen");
        self.begin(chosen);
        Switch::To(chosen)
    }

    /// Whether a thread is in the middle of an operation.
    pub(crate) fn inside(&self, thread: usize) -> bool {
        !matches!(
            self.threads[thread].pending,
            Pending::Start(_) | Pending::Done | Pending::Join
        )
    }

    /// A sleeper that tries again although nothing has changed, each in its turn, not for ever.
    fn force(&mut self, waiting: u16) -> Option<usize> {
        let sleepers =
            || bits(waiting).filter(|&index| self.threads[index].pending == Pending::Yield);
        if self.idle >= sleepers().count() as u32 * IDLE_ROUNDS {
            return None;
        }
        let next = sleepers()
            .find(|&index| index > self.last_forced)
            .or_else(|| sleepers().next())?;
        self.idle += 1;
        self.last_forced = next;
        self.threads[next].forced = true;
        Some(next)
    }

    pub(super) fn begin(&mut self, index: usize) {
        self.current = index;
        let traced = index != MAIN;
        let thread = &mut self.threads[index];
        let pending = thread.pending;
        if traced {
            thread.steps += 1;
            let (accesses, wakers) = (self.accesses.len() as u32, self.wakers.len() as u32);
            self.steps.push(Step {
                thread: index as u8,
                number: thread.steps,
                op: thread.op.unwrap_or(u32::MAX),
                calls: false,
                returns: false,
                blocked: false,
                forced: thread.forced,
                notified: false,
                accesses: (accesses, accesses),
                wakers: (wakers, wakers),
                pick: None,
                location: thread.location,
            });
            self.open = true;
        }
        thread.forced = false;
        match pending {
            Pending::Start(op) => {
                thread.op = Some(op);
                thread.fresh = true;
                thread.reads.clear();
                thread.repeats = 0;
                self.before[op as usize] = self.returned;
                self.outcomes[op as usize] = Outcome::PENDING;
                self.events.push((op, false));
                if let Some(step) = self.steps.last_mut().filter(|_| traced) {
                    step.op = op;
                    step.calls = true;
                }
            }
            Pending::Access {
                object,
                kind,
                blocking: true,
                ..
            } => self.touch(object, kind, true, true),
            Pending::Yield => self.wake(index),
            Pending::Wake {
                condvar,
                mutex,
                timed,
            } => {
                match self.threads[index].notified {
                    // Without a notification the time is up: it leaves the queue of the condition.
                    None => self.touch(condvar, Kind::Write, false, true),
                    Some(_) if timed => self.touch(condvar, Kind::Read, false, false),
                    Some(step) => {
                        self.woken_by(step);
                        if let Some(last) = self.steps.last_mut() {
                            last.notified = true;
                        }
                    }
                }
                self.touch(mutex, Kind::Acquire, true, true);
            }
            _ => {}
        }
    }

    /// A thread goes on after a yield: by which changes, if it slept. It has then looked at all that it had read.
    fn wake(&mut self, index: usize) {
        let reads = std::mem::take(&mut self.threads[index].reads);
        if index != MAIN && self.settings.causality && self.steps.last().is_some_and(|s| !s.forced)
        {
            for &(object, _) in &reads {
                let version = self.objects[object as usize].version;
                self.record(object, Kind::Read, false, version, false);
            }
            for position in 0..self.steps.len() - 1 {
                let (from, to) = self.steps[position].accesses;
                let changed = self.accesses[from as usize..to as usize]
                    .iter()
                    .any(|access| {
                        access.changed
                            && reads.iter().any(|&(object, version)| {
                                object == access.object && access.version > version
                            })
                    });
                if changed {
                    self.woken_by(position as u32);
                }
            }
        }
        let thread = &mut self.threads[index];
        thread.reads = reads;
        thread.reads.clear();
        thread.repeats = 0;
        // A yield does nothing by itself: the next access belongs to the same step.
        thread.fresh = true;
    }

    fn woken_by(&mut self, step: u32) {
        if self.current != MAIN {
            self.wakers.push(step);
            if let Some(last) = self.steps.last_mut() {
                last.wakers.1 += 1;
            }
        }
    }

    /// The threads that wait for a condition and were not notified yet.
    pub(crate) fn waiters(&self, condvar: u32) -> impl Iterator<Item = usize> + '_ {
        self.threads
            .iter()
            .enumerate()
            .filter_map(move |(index, thread)| {
                let waits =
                    matches!(thread.pending, Pending::Wake { condvar: c, .. } if c == condvar);
                (waits && thread.notified.is_none()).then_some(index)
            })
    }

    /// The running thread notifies another.
    pub(crate) fn notify(&mut self, thread: usize) {
        self.threads[thread].notified = Some((self.steps.len() as u32).saturating_sub(1));
    }

    /// Begins to wait for a condition.
    pub(crate) fn unnotified(&mut self) {
        self.threads[self.current].notified = None;
    }

    /// Whether the wait that just ended was notified.
    pub(crate) fn was_notified(&self) -> bool {
        self.threads[self.current].notified.is_some()
    }

    /// One of several ways to go on that are not a matter of scheduling.
    pub(crate) fn pick(&mut self, ways: usize, search: &mut dyn Search) -> usize {
        if ways <= 1 || self.current == MAIN {
            return 0;
        }
        let pick = search.pick(self, ways);
        self.schedule.push(Choice::Pick(pick as u8));
        if let Some(step) = self.steps.last_mut() {
            step.pick = Some(pick as u8);
        }
        pick
    }
}
