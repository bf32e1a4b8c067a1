//! Whose turn it is: who waits for what, who sleeps, who is woken, and who goes on.
//!
//! What is needed at every access is inlined: a call costs as much as what it does, and after a change of stacks the
//! processor does not foresee where it returns to.

use std::panic::Location;

use super::super::MAIN;
use super::super::access::{Access, Kind, Manner};
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
/// In the signature of a step.
const RETURNS: u64 = 1;

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
    #[inline(always)]
    pub(super) fn expect(&mut self, index: usize, pending: Pending) {
        let bit = 1 << index;
        self.ready &= !bit;
        self.waiting &= !bit;
        match pending {
            Pending::Access {
                manner: Manner::Blocking,
                ..
            }
            | Pending::Yield
            | Pending::Wake { .. } => self.waiting |= bit,
            Pending::Start(_) | Pending::Access { .. } => self.ready |= bit,
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

    /// Whether it can be the turn of a thread.
    #[inline(always)]
    fn possible(&self, index: usize) -> bool {
        let bit = 1 << index;
        self.ready & bit != 0 || self.waiting & bit != 0 && self.may_go_on(&self.threads[index])
    }

    /// Whether others may run instead of `thread` at no cost, although it could go on.
    #[inline(always)]
    fn free(&self, thread: &Thread) -> bool {
        match thread.pending {
            Pending::Start(_) | Pending::Yield => true,
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Guest(guest) => guest == Guest::Yields,
            Pending::Access {
                object,
                kind,
                manner: Manner::Timed,
            } => !self.available(object, kind),
            Pending::Wake { timed: true, .. } => thread.notified.is_none(),
            _ => false,
        }
    }

    /// The running thread comes to an access: `None` if it goes on.
    #[inline(always)]
    pub(crate) fn announce(
        &mut self,
        pending: Pending,
        location: &'static Location<'static>,
        search: &mut dyn Search,
    ) -> Option<Switch> {
        let current = self.current;
        self.threads[current].location = Some(location);
        if self.passes(pending, location) {
            self.begin_access(pending);
            return None;
        }
        self.expect(current, pending);
        match self.next(search) {
            Switch::To(thread) if thread == current => None,
            switch => Some(switch),
        }
    }

    /// Whether the running thread goes on to an access without a word of the search.
    #[inline(always)]
    fn passes(&mut self, pending: Pending, location: &'static Location<'static>) -> bool {
        let waits_for = match pending {
            Pending::Access {
                object,
                kind,
                manner: Manner::Blocking,
            } => Some((object, kind)),
            _ => None,
        };
        if !std::mem::take(&mut self.threads[self.current].fresh) {
            let always_possible = waits_for.is_none() && matches!(pending, Pending::Access { .. });
            return always_possible && self.steps_on(pending);
        }
        let possible = waits_for.is_none_or(|(object, kind)| self.available(object, kind));
        if let Some(step) = self.open_step() {
            step.location = Some(location);
            step.blocked = !possible;
        }
        possible
    }

    /// The running thread has the access that it came to, if it is known what it is.
    #[inline(always)]
    fn begin_access(&mut self, pending: Pending) {
        if let Pending::Access {
            object,
            kind,
            manner,
        } = pending
        {
            if let Manner::Known { changed } = manner {
                self.touch(object, kind, false, changed);
            } else if manner == Manner::Blocking {
                self.touch(object, kind, true, true);
            }
        }
    }

    /// The running thread stands before an operation: `None` if it may call it now.
    #[inline(always)]
    pub(crate) fn border(&mut self, op: usize, search: &mut dyn Search) -> Option<Switch> {
        let current = self.current;
        self.threads[current].location = None;
        let pending = Pending::Start(op as u32);
        if self.steps_on(pending) {
            self.begin_operation(op as u32);
            return None;
        }
        self.expect(current, pending);
        match self.next(search) {
            Switch::To(thread) if thread == current => None,
            switch => Some(switch),
        }
    }

    /// The running thread returns from its operation.
    #[inline(always)]
    pub(crate) fn finish(&mut self, op: usize, outcome: Outcome) {
        self.pulse.toggle(op);
        self.outcomes[op] = outcome;
        self.returned |= 1 << op;
        self.events.push((op as u32, true));
        self.idle = 0;
        let thread = &mut self.threads[self.current];
        thread.op = None;
        thread.fresh = false;
        if let Some(step) = self.open_step() {
            step.returns = true;
        }
        self.sign(RETURNS);
    }

    /// The running thread has nothing more to do.
    pub(crate) fn done(&mut self) {
        self.expect(self.current, Pending::Done);
    }

    /// The main thread waits until the workers have finished.
    pub(crate) fn join(&mut self, search: &mut dyn Search) -> Option<Switch> {
        self.expect(MAIN, Pending::Join);
        self.workers = true;
        if self.settings.causality {
            for object in &mut self.objects {
                object.held_at_start = object.hold;
            }
        }
        match self.next(search) {
            Switch::To(MAIN) => None,
            switch => Some(switch),
        }
    }

    /// Who goes on. Its step begins.
    #[inline(always)]
    pub(crate) fn next(&mut self, search: &mut dyn Search) -> Switch {
        self.close(search);
        match self.known_choice() {
            Some(Choice::Thread(thread))
                if self.workers
                    && matches!(self.end, End::Running)
                    && self.possible(usize::from(thread)) =>
            {
                self.choices += 1;
                self.begin(usize::from(thread));
                Switch::To(usize::from(thread))
            }
            _ => self.next_of_all(search),
        }
    }

    /// Who goes on of all who can.
    #[inline(never)]
    fn next_of_all(&mut self, search: &mut dyn Search) -> Switch {
        if !matches!(self.end, End::Running) {
            return Switch::Stuck;
        }
        if self.taken >= self.settings.max_steps {
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
            let chosen = match self.known_choice() {
                None => search.choose(self, point),
                Some(Choice::Thread(thread)) => Some(usize::from(thread)),
                Some(Choice::Pick(_)) => None,
            };
            let Some(chosen) = chosen.filter(|chosen| enabled & 1 << chosen != 0) else {
                self.differs();
                return Switch::Stuck;
            };
            self.choose(Choice::Thread(chosen as u8));
            self.preemptions += u32::from(point.costs && chosen != current);
            chosen
        } else {
            MAIN
        };
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

    #[inline(always)]
    pub(super) fn begin(&mut self, index: usize) {
        self.current = index;
        let traced = index != MAIN;
        let thread = &mut self.threads[index];
        let pending = thread.pending;
        if traced {
            self.taken += 1;
            self.open = true;
        }
        if traced && self.settings.records() {
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
        }
        thread.forced = false;
        self.signature = index as u64;
        match pending {
            Pending::Start(op) => self.begin_operation(op),
            Pending::Access { .. } => self.begin_access(pending),
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

    /// The running thread calls an operation.
    #[inline(always)]
    fn begin_operation(&mut self, op: u32) {
        let thread = &mut self.threads[self.current];
        thread.op = Some(op);
        thread.fresh = true;
        thread.reads.clear();
        thread.repeats = 0;
        self.pulse.toggle(op as usize);
        self.before[op as usize] = self.returned;
        self.outcomes[op as usize] = Outcome::PENDING;
        self.events.push((op, false));
        if let Some(step) = self.open_step() {
            step.op = op;
            step.calls = true;
        }
        self.sign(u64::from(op) << 1);
    }

    /// A thread goes on after a yield: by which changes, if it slept. It has then looked at all that it had read.
    fn wake(&mut self, index: usize) {
        let reads = std::mem::take(&mut self.threads[index].reads);
        if index != MAIN && self.settings.causality && self.steps.last().is_some_and(|s| !s.forced)
        {
            for &(object, _) in &reads {
                let version = self.objects[object as usize].version;
                self.record(Access {
                    object,
                    kind: Kind::Read,
                    blocking: false,
                    version,
                    changed: false,
                });
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
        let pick = match self.known_choice() {
            None => search.pick(self, ways),
            Some(Choice::Pick(pick)) => Some(usize::from(pick)),
            Some(Choice::Thread(_)) => None,
        };
        let Some(pick) = pick.filter(|&pick| pick < ways) else {
            self.differs();
            return 0;
        };
        self.choose(Choice::Pick(pick as u8));
        if let Some(step) = self.steps.last_mut() {
            step.pick = Some(pick as u8);
        }
        pick
    }
}
