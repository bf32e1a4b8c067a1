//! Whose turn it is: who waits for what, who sleeps, who is woken, and who goes on.
//!
//! What is needed at every access is inlined: a call costs as much as what it does, and after a change of stacks the
//! processor does not foresee where it returns to.

use std::panic::Location;

use smallvec::SmallVec;

use super::super::access::{Access, Kind, Manner};
use super::super::coroutine::Switch;
use super::super::{MAIN, MAX_WORKERS};
#[cfg(any(feature = "loom", feature = "shuttle"))]
use super::Guest;
use super::{Choice, End, Execution, Outcome, Pending, Question, Step, Thread};
use crate::runtime::search::{Decision, Point, Search};

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
    #[inline(always)]
    pub(crate) fn spins(&mut self) -> bool {
        if let Some(spins) = self.known_to_spin() {
            return spins;
        }
        let spins = self.now.threads[self.now.current].repeats >= SPIN;
        if spins {
            self.answer(Question::SPINS, 0);
        }
        spins
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
        self.now.ready &= !bit;
        self.now.waiting &= !bit;
        match pending {
            Pending::Access {
                manner: Manner::Blocking,
                ..
            }
            | Pending::Yield
            | Pending::Wake { .. } => self.now.waiting |= bit,
            Pending::Start(_) | Pending::Access { .. } => self.now.ready |= bit,
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Guest(_) => self.now.waiting |= bit,
            Pending::Join | Pending::Done => {}
        }
        self.now.threads[index].pending = pending;
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
        let question = Question::from(pending);
        if let Some(answer) = self.known_answer(question) {
            return self.follow(answer);
        }
        let current = self.now.current;
        self.now.threads[current].location = Some(location);
        let switch = if self.passes(pending, location) {
            self.begin_access(pending);
            Switch::To(current)
        } else {
            self.expect(current, pending);
            self.next(search)
        };
        self.answer_with(question, current, switch)
    }

    /// Whether the running thread goes on to an access without a word of the search.
    #[inline(always)]
    fn passes(&mut self, pending: Pending, location: &'static Location<'static>) -> bool {
        if !std::mem::take(&mut self.now.threads[self.now.current].fresh) {
            return self.steps_on(pending);
        }
        let possible = match pending {
            Pending::Access {
                object,
                kind,
                manner: Manner::Blocking,
            } => self.available(object, kind),
            _ => true,
        };
        if let Some(step) = self.open_step() {
            step.location = Some(location);
            step.blocked = !possible;
        }
        possible
    }

    /// Whether the running thread takes its next step because nothing else is possible, and nobody looks at steps.
    #[inline(always)]
    fn steps_on(&mut self, pending: Pending) -> bool {
        let goes_on = self.now.settled
            && self.now.workers
            && matches!(
                pending,
                Pending::Access {
                    manner: Manner::Open | Manner::Known { .. },
                    ..
                }
            )
            && matches!(self.end, End::Running)
            && self.now.taken < self.settings.max_steps;
        if goes_on {
            self.choose(Choice::Thread(self.now.current as u8));
            self.now.taken += 1;
            self.now.threads[self.now.current].pending = pending;
        }
        goes_on
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
        let pending = Pending::Start(op as u32);
        let question = Question::from(pending);
        if let Some(answer) = self.known_answer(question) {
            return self.follow(answer);
        }
        let current = self.now.current;
        self.now.threads[current].location = None;
        self.expect(current, pending);
        let switch = self.next(search);
        self.answer_with(question, current, switch)
    }

    /// The running thread returns from its operation.
    #[inline(always)]
    pub(crate) fn finish(&mut self, op: usize, outcome: Outcome) {
        self.outcomes[op] = outcome;
        let told = Question::returns(op);
        if self.is_known(told) {
            return;
        }
        self.answer(told, 0);
        self.pulse.toggle(op);
        self.now.returned |= 1 << op;
        self.events.push((op as u32, true));
        self.now.idle = 0;
        let thread = &mut self.now.threads[self.now.current];
        thread.op = None;
        thread.fresh = false;
        if let Some(step) = self.open_step() {
            step.returns = true;
        }
    }

    /// The running thread has nothing more to do.
    pub(crate) fn done(&mut self) {
        self.expect(self.now.current, Pending::Done);
    }

    /// Who goes on after a thread that has nothing more to do.
    pub(crate) fn next_after_last(&mut self, search: &mut dyn Search) -> Switch {
        let question = Question::from(Pending::Done);
        let current = self.now.current;
        let switch = match self.known_answer(question) {
            Some(answer) => self.follow(answer),
            None => {
                self.done();
                let switch = self.next(search);
                self.answer_with(question, current, switch)
            }
        };
        switch.expect("bug: a thread goes on that has nothing more to do")
    }

    /// The main thread waits until the workers have finished.
    pub(crate) fn join(&mut self, search: &mut dyn Search) -> Option<Switch> {
        let question = Question::from(Pending::Join);
        if let Some(answer) = self.known_answer(question) {
            return self.follow(answer);
        }
        self.expect(MAIN, Pending::Join);
        self.now.workers = true;
        if self.settings.causality {
            for object in self.objects.iter_mut() {
                object.held_at_start = object.hold;
            }
        }
        let switch = self.next(search);
        self.answer_with(question, MAIN, switch)
    }

    /// Who goes on of all who can. Its step begins.
    #[inline(never)]
    pub(crate) fn next(&mut self, search: &mut dyn Search) -> Switch {
        self.close(search);
        if !matches!(self.end, End::Running) {
            return Switch::Stuck;
        }
        if self.now.taken >= self.settings.max_steps {
            self.end = End::TooLong;
            return Switch::Stuck;
        }
        let candidates: u16 = if !self.now.workers {
            1 << MAIN
        } else if self.settings.serial && self.inside(self.now.current) {
            1 << self.now.current
        } else {
            !(1 << MAIN)
        };
        let mut enabled = self.now.ready & candidates;
        let waiting = self.now.waiting & candidates;
        for index in bits(waiting) {
            if self.may_go_on(&self.now.threads[index]) {
                enabled |= 1 << index;
            }
        }
        if enabled | waiting == 0 {
            self.now.workers = false;
            self.now.current = MAIN;
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
        let chosen = if self.now.workers {
            let current = self.now.current;
            let keeps = current != MAIN && enabled & 1 << current != 0;
            let point = Point {
                enabled,
                current: current as u8,
                costs: keeps && !self.free(&self.now.threads[current]),
            };
            let chosen = match self.known_choice() {
                None => self.ask(point, search),
                Some(Choice::Thread(thread)) => Some(usize::from(thread)),
                Some(Choice::Pick(_)) => None,
            };
            let Some(chosen) = chosen.filter(|chosen| enabled & 1 << chosen != 0) else {
                self.differs();
                return Switch::Stuck;
            };
            self.choose(Choice::Thread(chosen as u8));
            self.now.preemptions += u32::from(point.costs && chosen != current);
            chosen
        } else {
            MAIN
        };
        self.begin(chosen);
        Switch::To(chosen)
    }

    /// Asks the search who goes on.
    #[inline(always)]
    fn ask(&mut self, point: Point, search: &mut dyn Search) -> Option<usize> {
        let Decision {
            thread,
            may_change,
            settled,
        } = search.choose(self, point)?;
        if may_change {
            self.keep();
        }
        self.now.settled = settled && !self.settings.records();
        Some(thread)
    }

    /// Whether a thread is in the middle of an operation.
    pub(crate) fn inside(&self, thread: usize) -> bool {
        !matches!(
            self.now.threads[thread].pending,
            Pending::Start(_) | Pending::Done | Pending::Join
        )
    }

    /// A sleeper that tries again although nothing has changed, each in its turn, not for ever.
    fn force(&mut self, waiting: u16) -> Option<usize> {
        let sleepers =
            || bits(waiting).filter(|&index| self.now.threads[index].pending == Pending::Yield);
        if self.now.idle >= sleepers().count() as u32 * IDLE_ROUNDS {
            return None;
        }
        let next = sleepers()
            .find(|&index| index > self.now.last_forced)
            .or_else(|| sleepers().next())?;
        self.now.idle += 1;
        self.now.last_forced = next;
        self.now.threads[next].forced = true;
        Some(next)
    }

    #[inline(always)]
    pub(super) fn begin(&mut self, index: usize) {
        self.now.current = index;
        let traced = index != MAIN;
        let thread = &mut self.now.threads[index];
        let pending = thread.pending;
        if traced {
            self.now.taken += 1;
            self.now.open = true;
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
        match pending {
            Pending::Start(op) => self.begin_operation(op),
            Pending::Access { .. } => self.begin_access(pending),
            Pending::Yield => self.wake(index),
            Pending::Wake {
                condvar,
                mutex,
                timed,
            } => {
                match self.now.threads[index].notified {
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
        let thread = &mut self.now.threads[self.now.current];
        thread.op = Some(op);
        thread.fresh = true;
        thread.reads.clear();
        thread.repeats = 0;
        self.pulse.toggle(op as usize);
        self.before[op as usize] = self.now.returned;
        self.outcomes[op as usize] = Outcome::PENDING;
        self.events.push((op, false));
        if let Some(step) = self.open_step() {
            step.op = op;
            step.calls = true;
        }
    }

    /// A thread goes on after a yield: by which changes, if it slept. It has then looked at all that it had read.
    fn wake(&mut self, index: usize) {
        let reads = std::mem::take(&mut self.now.threads[index].reads);
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
        let thread = &mut self.now.threads[index];
        thread.reads = reads;
        thread.reads.clear();
        thread.repeats = 0;
        // A yield does nothing by itself: the next access belongs to the same step.
        thread.fresh = true;
    }

    fn woken_by(&mut self, step: u32) {
        if self.now.current != MAIN {
            self.wakers.push(step);
            if let Some(last) = self.steps.last_mut() {
                last.wakers.1 += 1;
            }
        }
    }

    /// The threads that wait for a condition and were not notified yet.
    fn waiters(&self, condvar: u32) -> impl Iterator<Item = usize> + '_ {
        self.now
            .threads
            .iter()
            .enumerate()
            .filter_map(move |(index, thread)| {
                let waits =
                    matches!(thread.pending, Pending::Wake { condvar: c, .. } if c == condvar);
                (waits && thread.notified.is_none()).then_some(index)
            })
    }

    /// The running thread notifies one or all who wait for a condition. How many could be.
    pub(crate) fn notify(&mut self, condvar: u32, all: bool, search: &mut dyn Search) -> usize {
        let told = Question::notify(condvar, all);
        let known = self.known_answer(told);
        let waiting: SmallVec<[usize; MAX_WORKERS]> = self.waiters(condvar).collect();
        let ways = match known {
            Some(ways) => usize::from(ways),
            None => {
                self.touch(condvar, Kind::Write, false, !waiting.is_empty());
                self.answer(told, waiting.len() as u8);
                waiting.len()
            }
        };
        let is_new = known.is_none();
        if all {
            for &thread in waiting.iter().filter(|_| is_new) {
                self.wake_up(thread);
            }
        } else if ways > 1 {
            // The one who notifies was told before, but perhaps not whom.
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
        self.now.threads[thread].notified = Some((self.steps.len() as u32).saturating_sub(1));
    }

    /// The running thread gives a mutex back and begins to wait for a condition.
    pub(crate) fn begin_wait(&mut self, mutex: u32) {
        if self.tell_touch(mutex, Kind::Release, true) {
            self.now.threads[self.now.current].notified = None;
        }
    }

    /// Whether the wait that just ended was notified.
    pub(crate) fn was_notified(&mut self) -> bool {
        if let Some(answer) = self.known_answer(Question::WAS_NOTIFIED) {
            return answer != 0;
        }
        let notified = self.now.threads[self.now.current].notified.is_some();
        self.answer(Question::WAS_NOTIFIED, u8::from(notified));
        notified
    }

    /// One of several ways to go on that are not a matter of scheduling; `None` if the same one was taken before.
    fn pick(&mut self, ways: usize, search: &mut dyn Search) -> Option<usize> {
        let question = Question::pick(ways);
        if self.is_known(question) {
            return None;
        }
        let pick = match self.known_choice() {
            None => search.pick(self, ways),
            Some(Choice::Pick(pick)) => Some(usize::from(pick)),
            Some(Choice::Thread(_)) => None,
        };
        let Some(pick) = pick.filter(|&pick| pick < ways) else {
            self.differs();
            return None;
        };
        self.keep();
        self.choose(Choice::Pick(pick as u8));
        if let Some(step) = self.steps.last_mut() {
            step.pick = Some(pick as u8);
        }
        self.answer(question, pick as u8);
        Some(pick)
    }
}
