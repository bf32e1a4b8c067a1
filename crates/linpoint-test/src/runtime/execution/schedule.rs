//! Scheduling: which threads wait or sleep, which are woken, and which one goes on.
//!
//! The functions that every access needs are inlined: the call itself would cost as much as their work, and after a switch of
//! stacks the processor mispredicts each return.

use std::panic::Location;

use smallvec::SmallVec;

use super::super::access::{Access, Effect, Kind, Manner};
use super::super::coroutine::Switch;
use super::super::history::Event;
use super::super::search::{Decision, Point, Search};
use super::super::{MAIN, MAX_WORKERS};
#[cfg(any(feature = "loom", feature = "shuttle"))]
use super::Foreign;
use super::threads::Woken;
use super::{Choice, End, Entry, Execution, Outcome, Pending, Step, Switches, Thread, Wakeup};

/// How many of the threads that wait for a condition are notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notify {
    One,
    All,
}

/// The numbers of the bits that are set.
pub(super) fn bits(mut mask: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < u16::BITS).then_some(bit as usize)
    })
}

/// After this many accesses in a row that showed nothing new, a thread counts as spinning.
pub(super) const SPIN: u32 = 20;

impl Execution {
    /// Whether the running thread spins: its last accesses showed nothing new.
    #[inline(always)]
    pub(crate) fn spins(&mut self) -> bool {
        if let Some(spins) = self.log.recall_spin() {
            return spins;
        }
        let spins = self.threads.running().repeats >= SPIN;
        if spins {
            self.answer(Entry::spins(), 0);
        }
        spins
    }

    /// Whether a thread sleeps: it yielded, nothing it had read has changed since, and it is not known to do something else then.
    fn asleep(&self, thread: &Thread) -> bool {
        !thread.forced && thread.awake == 0 && self.finds_nothing_new(thread)
    }

    /// Whether nothing has changed that a thread has read since its last hint.
    fn finds_nothing_new(&self, thread: &Thread) -> bool {
        !thread.reads.is_empty()
            && thread
                .reads
                .iter()
                .all(|&(object, version)| self.memory.version(object) == version)
    }

    /// Whether a thread that may have to wait can go on.
    fn may_go_on(&self, thread: &Thread) -> bool {
        match thread.pending {
            Pending::Access { object, kind, .. } => self.memory.available(object, kind),
            Pending::Yield => !self.asleep(thread),
            Pending::Wake { mutex, timed, .. } => {
                (timed || thread.woken != Woken::No) && self.memory.available(mutex, Kind::Acquire)
            }
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Foreign(foreign) => foreign != Foreign::Waits,
            Pending::Start(_) | Pending::Join | Pending::Done => false,
        }
    }

    /// Whether a switch away from `thread` is no preemption, although it could go on.
    #[inline(always)]
    fn free(&self, thread: &Thread) -> bool {
        match thread.pending {
            Pending::Start(_) => true,
            Pending::Yield => thread.awake == 0,
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Foreign(foreign) => foreign == Foreign::Yields,
            Pending::Access {
                object,
                kind,
                manner: Manner::Timed,
            } => !self.memory.available(object, kind),
            Pending::Wake { timed, .. } => match thread.woken {
                Woken::No => timed,
                Woken::By(_) => false,
                Woken::Spuriously => true,
            },
            _ => false,
        }
    }

    /// The running thread comes to the next step that the log expects: which thread goes on in its place. Returns `None` if the log
    /// expects another step or none, and changes nothing then.
    #[inline(always)]
    pub(crate) fn repeat_step(&mut self, pending: Pending) -> Option<Option<Switch>> {
        let answer = self.log.recall_same(Entry::comes_to(pending))?;
        Some(self.follow(answer))
    }

    /// The thread goes on that went on in the execution before.
    #[inline(always)]
    fn follow(&mut self, answer: u8) -> Option<Switch> {
        let thread = usize::from(answer);
        let before = std::mem::replace(&mut self.threads.current, thread);
        (thread != before).then_some(Switch::To(thread))
    }

    /// Logs which thread goes on. Returns `None` if it is the one that asks.
    #[inline(always)]
    pub(super) fn answer_with(
        &mut self,
        entry: Entry,
        asking: usize,
        switch: Switch,
    ) -> Option<Switch> {
        let Switch::To(thread) = switch else {
            return Some(switch);
        };
        self.answer(entry, thread as u8);
        (thread != asking).then_some(switch)
    }

    /// The running thread comes to an access: `None` if it goes on.
    #[inline(always)]
    pub(crate) fn announce(
        &mut self,
        pending: Pending,
        location: &'static Location<'static>,
        search: &mut dyn Search,
    ) -> Option<Switch> {
        let entry = Entry::comes_to(pending);
        if let Some(answer) = self.recall(entry) {
            return self.follow(answer);
        }
        let current = self.threads.current;
        let thread = &mut self.threads.list[current];
        if pending == Pending::Yield
            && let Some(before) = thread.location
            && !std::ptr::eq(before, location)
        {
            thread.before_hint = Some(before);
        }
        thread.location = Some(location);
        let switch = if self.spins.probes() {
            self.probe_on(pending, location)
        } else if self.passes(pending, location) {
            self.begin_access(pending);
            Switch::To(current)
        } else {
            self.threads.expect(current, pending);
            self.next(search)
        };
        self.answer_with(entry, current, switch)
    }

    /// Whether the running thread goes on to an access without asking the search.
    #[inline(always)]
    fn passes(&mut self, pending: Pending, location: &'static Location<'static>) -> bool {
        if !std::mem::take(&mut self.threads.running().fresh) {
            return self.steps_on(pending);
        }
        let possible = match pending {
            Pending::Access {
                object,
                kind,
                manner: Manner::Blocking,
            } => self.memory.available(object, kind),
            _ => true,
        };
        if let Some(step) = self.open_step() {
            step.location = Some(location);
            step.blocked = !possible;
        }
        possible
    }

    /// Whether the running thread takes its next step because no other thread is a candidate, and steps are not recorded.
    #[inline(always)]
    fn steps_on(&mut self, pending: Pending) -> bool {
        let goes_on = self.threads.settled
            && self.threads.released
            && matches!(
                pending,
                Pending::Access {
                    manner: Manner::Open | Manner::Known { .. },
                    ..
                }
            )
            && matches!(self.trace.end, End::Running)
            && self.threads.totals.steps < self.settings.max_steps;
        if goes_on {
            self.trace
                .choices
                .make(Choice::Thread(self.threads.current as u8));
            self.threads.totals.steps += 1;
            self.threads.running().pending = pending;
        }
        goes_on
    }

    /// The running thread performs the access that it came to, if its kind is known.
    #[inline(always)]
    pub(super) fn begin_access(&mut self, pending: Pending) {
        if let Pending::Access {
            object,
            kind,
            manner,
        } = pending
        {
            if let Manner::Known { changed } = manner {
                self.touch(object, kind, Effect::changed_if(changed));
            } else if manner == Manner::Blocking {
                self.touch(object, kind, Effect::AwaitedChange);
            }
        }
    }

    /// The running thread stands before an operation: `None` if it may call it now.
    #[inline(always)]
    pub(crate) fn border(&mut self, op: usize, search: &mut dyn Search) -> Option<Switch> {
        let pending = Pending::Start(op as u32);
        let entry = Entry::comes_to(pending);
        if let Some(answer) = self.recall(entry) {
            return self.follow(answer);
        }
        let current = self.threads.current;
        self.threads.list[current].location = None;
        self.threads.expect(current, pending);
        let switch = self.next(search);
        self.answer_with(entry, current, switch)
    }

    /// The running thread returns from its operation.
    #[inline(always)]
    pub(crate) fn finish(&mut self, op: usize, outcome: Outcome) {
        self.trace.history.outcomes[op] = outcome;
        let entry = Entry::returns(op);
        if self.recall(entry).is_some() {
            return;
        }
        self.answer(entry, 0);
        self.heartbeat.toggle(op);
        self.threads.returned |= 1 << op;
        self.trace.history.events.push(Event::Return(op as u32));
        let thread = self.threads.running();
        thread.op = None;
        thread.fresh = false;
        if let Some(step) = self.open_step() {
            step.returns = true;
        }
    }

    /// The running thread has nothing more to do.
    pub(crate) fn done(&mut self) {
        self.threads.expect(self.threads.current, Pending::Done);
    }

    /// Chooses the next thread after one that has finished.
    pub(crate) fn next_after_last(&mut self, search: &mut dyn Search) -> Switch {
        let entry = Entry::comes_to(Pending::Done);
        let current = self.threads.current;
        let switch = match self.recall(entry) {
            Some(answer) => self.follow(answer),
            None => {
                self.done();
                let switch = self.next(search);
                self.answer_with(entry, current, switch)
            }
        };
        switch.expect("bug: a thread goes on that has nothing more to do")
    }

    /// The main thread waits until the workers have finished.
    pub(crate) fn join(&mut self, search: &mut dyn Search) -> Option<Switch> {
        let entry = Entry::comes_to(Pending::Join);
        if let Some(answer) = self.recall(entry) {
            return self.follow(answer);
        }
        self.threads.expect(MAIN, Pending::Join);
        self.threads.released = true;
        if self.settings.has_causality() {
            self.trace.note_start(self.memory.holds());
        }
        let switch = self.next(search);
        self.answer_with(entry, MAIN, switch)
    }

    /// Chooses a thread among those that can go on, and begins its step.
    #[inline(never)]
    pub(crate) fn next(&mut self, search: &mut dyn Search) -> Switch {
        if self.spins.probes() {
            return self.leave_probe();
        }
        self.close(search);
        if !matches!(self.trace.end, End::Running) {
            return Switch::Stuck;
        }
        if self.threads.totals.steps >= self.settings.max_steps {
            self.trace.end = End::TooLong;
            return Switch::Stuck;
        }
        let candidates: u16 = if !self.threads.released {
            1 << MAIN
        } else if self.settings.switches == Switches::BetweenOperations
            && self.threads.is_inside(self.threads.current)
        {
            1 << self.threads.current
        } else {
            !(1 << MAIN)
        };
        let mut enabled = self.threads.ready & candidates;
        let waiting = self.threads.waiting & candidates;
        for index in bits(waiting) {
            if self.may_go_on(&self.threads.list[index]) {
                enabled |= 1 << index;
            }
        }
        if enabled | waiting == 0 {
            self.threads.released = false;
            self.threads.current = MAIN;
            return Switch::To(MAIN);
        }
        // Also if no other thread can go on: it could have gone on before those that have ended since.
        if self.came_to_spin() {
            if let Some(switch) = self.settle() {
                return switch;
            }
            enabled |= u16::from(self.threads.running().awake > 0) << self.threads.current;
        }
        if enabled == 0 {
            match self.force(waiting) {
                Ok(thread) => enabled = 1 << thread,
                Err(switch) => return switch,
            }
        }
        let chosen = if self.threads.released {
            let current = self.threads.current;
            let keeps = current != MAIN && enabled & 1 << current != 0;
            let sleeps = |&index: &usize| self.threads.list[index].pending == Pending::Yield;
            let sleepers = bits(waiting & !enabled).filter(sleeps);
            let asleep = sleepers.fold(0, |mask, index| mask | 1 << index);
            let point = Point {
                enabled,
                asleep,
                current: current as u8,
                costs: keeps && !self.free(&self.threads.list[current]),
            };
            let chosen = match self.trace.choices.known() {
                None => self.ask(point, search),
                Some(Choice::Thread(thread)) => Some(usize::from(thread)),
                Some(Choice::Pick(_)) => None,
            };
            let Some(chosen) = chosen.filter(|chosen| (enabled | asleep) & 1 << chosen != 0) else {
                self.differs();
                return Switch::Stuck;
            };
            self.trace.choices.make(Choice::Thread(chosen as u8));
            self.threads.totals.preemptions += u32::from(point.costs && chosen != current);
            chosen
        } else {
            MAIN
        };
        self.begin(chosen);
        Switch::To(chosen)
    }

    /// Asks the search which thread goes on.
    #[inline(always)]
    fn ask(&mut self, point: Point, search: &mut dyn Search) -> Option<usize> {
        let Decision {
            thread,
            may_change,
            settled,
        } = search.choose(&self.trace, &self.threads, point)?;
        if may_change {
            self.save_checkpoint();
        }
        self.threads.settled = settled && !self.settings.records_steps();
        Some(thread)
    }

    /// Whether the running thread came to a hint just now, and finds nothing new.
    fn came_to_spin(&self) -> bool {
        let thread = &self.threads.list[self.threads.current];
        thread.pending == Pending::Yield
            && self.threads.released
            && !thread.settled
            && self.asleep(thread)
    }

    #[inline(always)]
    pub(super) fn begin(&mut self, index: usize) {
        self.threads.current = index;
        let traced = index != MAIN;
        let thread = &mut self.threads.list[index];
        let pending = thread.pending;
        if traced {
            self.threads.totals.steps += 1;
            self.threads.step_is_open = true;
        }
        if traced && self.settings.records_steps() {
            thread.steps += 1;
            self.trace.begin_step(Step {
                thread: index as u8,
                number: thread.steps,
                op: thread.op.unwrap_or(u32::MAX),
                calls: false,
                returns: false,
                blocked: false,
                forced: thread.forced,
                notified: false,
                accesses: (0, 0),
                wakers: (0, 0),
                pick: None,
                location: thread.location,
            });
        }
        thread.forced = false;
        match pending {
            Pending::Start(op) => self.begin_operation(op),
            Pending::Access { .. } => self.begin_access(pending),
            Pending::Yield => self.wake(index),
            Pending::Wake {
                condvar,
                mutex,
                timed,
            } => {
                match self.threads.list[index].woken {
                    // The time is up.
                    Woken::No => self.touch(condvar, Kind::Leave, Effect::Changed),
                    Woken::Spuriously => {}
                    Woken::By(_) if timed => self.touch(condvar, Kind::Read, Effect::Unchanged),
                    Woken::By(step) => {
                        if index != MAIN {
                            self.trace.record_waker(step);
                        }
                        if let Some(last) = self.trace.steps.last_mut() {
                            last.notified = true;
                        }
                    }
                }
                self.touch(mutex, Kind::Acquire, Effect::AwaitedChange);
                let thread = &mut self.threads.list[index];
                if thread.woken == Woken::No {
                    thread.hint();
                }
            }
            _ => {}
        }
    }

    /// The running thread calls an operation.
    #[inline(always)]
    fn begin_operation(&mut self, op: u32) {
        let thread = self.threads.running();
        thread.op = Some(op);
        thread.fresh = true;
        thread.reads.clear();
        thread.repeats = 0;
        (thread.awake, thread.tired) = (0, false);
        self.heartbeat.toggle(op as usize);
        self.trace.history.before[op as usize] = self.threads.returned;
        self.trace.history.outcomes[op as usize] = Outcome::PENDING;
        self.trace.history.events.push(Event::Call(op));
        if let Some(step) = self.open_step() {
            step.op = op;
            step.calls = true;
        }
    }

    /// A thread goes on after a yield. Records the steps that woke it, if it slept, and that it depends on all objects that it had read.
    fn wake(&mut self, index: usize) {
        let nothing_new = self.finds_nothing_new(&self.threads.list[index]);
        let thread = &mut self.threads.list[index];
        let reads = std::mem::take(&mut thread.reads);
        let (was_awake, slept) = (thread.awake > 0, thread.settled);
        if index != MAIN
            && !was_awake
            && self.settings.has_causality()
            && self.trace.steps.last().is_some_and(|s| !s.forced)
        {
            for &(object, _) in &reads {
                self.record(Access {
                    object,
                    name: self.memory.name(object),
                    kind: Kind::Read,
                    blocking: false,
                    version: self.memory.version(object),
                    changed: false,
                });
            }
            // A thread that never slept could have gone on before the changes.
            let steps = if slept { self.trace.steps.len() - 1 } else { 0 };
            for position in 0..steps {
                let changed = self.trace.accesses_of(position).iter().any(|access| {
                    access.changed
                        && reads.iter().any(|&(object, version)| {
                            object == access.object && access.version > version
                        })
                });
                if changed {
                    self.trace.record_waker(position as u32);
                }
            }
        }
        let thread = &mut self.threads.list[index];
        thread.repeats = 0;
        thread.settled = false;
        thread.spins = None;
        match nothing_new {
            true => thread.awake = thread.awake.saturating_sub(1),
            false => (thread.awake, thread.pushed, thread.tired) = (0, 0, false),
        }
        thread.reads = reads;
        // A tired thread would see a change of anything that it touches in its loop.
        if !thread.tired {
            thread.reads.clear();
        }
        // A yield does nothing by itself: the next access belongs to the same step.
        thread.fresh = true;
    }

    /// The threads that wait for a condition and were not woken yet.
    fn waiters(&self, condvar: u32) -> impl Iterator<Item = usize> + '_ {
        self.threads
            .list
            .iter()
            .enumerate()
            .filter_map(move |(index, thread)| {
                let waits =
                    matches!(thread.pending, Pending::Wake { condvar: c, .. } if c == condvar);
                (waits && thread.woken == Woken::No).then_some(index)
            })
    }

    /// The running thread notifies one or all of the threads that wait for a condition. Returns how many waited.
    pub(crate) fn notify(
        &mut self,
        condvar: u32,
        notify: Notify,
        search: &mut dyn Search,
    ) -> usize {
        let entry = Entry::notify(condvar, notify);
        let known = self.recall(entry);
        let waiting: SmallVec<[usize; MAX_WORKERS]> = self.waiters(condvar).collect();
        let ways = match known {
            Some(ways) => usize::from(ways),
            None => {
                self.touch(
                    condvar,
                    Kind::Write,
                    Effect::changed_if(!waiting.is_empty()),
                );
                self.answer(entry, waiting.len() as u8);
                waiting.len()
            }
        };
        let is_new = known.is_none();
        if notify == Notify::All {
            for &thread in waiting.iter().filter(|_| is_new) {
                self.wake_up(thread);
            }
        } else if ways > 1 {
            // The notification may be repeated from the log while its pick is new.
            if let Some(pick) = self.pick(ways, search) {
                self.wake_up(waiting[pick]);
            }
        } else if let Some(&thread) = waiting.first().filter(|_| is_new) {
            self.wake_up(thread);
        }
        ways
    }

    /// The running thread notifies another.
    fn wake_up(&mut self, thread: usize) {
        let step = (self.trace.steps.len() as u32).saturating_sub(1);
        self.threads.list[thread].woken = Woken::By(step);
    }

    /// The running thread gives a mutex back and begins to wait for a condition.
    pub(crate) fn begin_wait(&mut self, mutex: u32) {
        if self.report_touch(mutex, Kind::Release, Effect::Changed) {
            self.threads.running().woken = Woken::No;
        }
    }

    /// What ended the wait of the running thread for a condition.
    pub(crate) fn wakeup(&mut self) -> Wakeup {
        if let Some(answer) = self.recall(Entry::wakeup()) {
            return Wakeup::of_number(answer);
        }
        let wakeup = match self.threads.running().woken {
            Woken::No => Wakeup::TimeOut,
            Woken::By(_) => Wakeup::Notification,
            Woken::Spuriously => Wakeup::Spurious,
        };
        self.answer(Entry::wakeup(), wakeup as u8);
        wakeup
    }

    /// Picks one of several outcomes that are not a matter of scheduling. The running step must not have picked before.
    pub(crate) fn decide(&mut self, ways: usize, search: &mut dyn Search) -> usize {
        match self.recall(Entry::pick(ways)) {
            Some(answer) => usize::from(answer),
            None => self.pick(ways, search).unwrap_or_default(),
        }
    }

    /// Picks one of several outcomes that are not a matter of scheduling; `None` if the log has the pick already.
    fn pick(&mut self, ways: usize, search: &mut dyn Search) -> Option<usize> {
        let entry = Entry::pick(ways);
        if self.recall(entry).is_some() {
            return None;
        }
        if self.spins.probes() {
            self.leave_probe();
            return None;
        }
        self.pick_new(entry, ways, search)
    }

    /// Picks one of several outcomes, and logs it as the answer to this entry, which the log does not have yet.
    pub(super) fn pick_new(
        &mut self,
        entry: Entry,
        ways: usize,
        search: &mut dyn Search,
    ) -> Option<usize> {
        let pick = match self.trace.choices.known() {
            None => search.pick(&self.trace, ways),
            Some(Choice::Pick(pick)) => Some(usize::from(pick)),
            Some(Choice::Thread(_)) => None,
        };
        let Some(pick) = pick.filter(|&pick| pick < ways) else {
            self.differs();
            return None;
        };
        self.save_checkpoint();
        self.trace.choices.make(Choice::Pick(pick as u8));
        if let Some(step) = self.trace.steps.last_mut() {
            step.pick = Some(pick as u8);
        }
        self.answer(entry, pick as u8);
        Some(pick)
    }
}
