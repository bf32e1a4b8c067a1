//! One execution: who waits for what, who may go on, and what has happened.
//!
//! A step is what a thread does between two scheduling points: one visible access, then whatever is local. The first step of
//! an operation contains its call, the last one its return: a later call and an earlier return only make a history harder to
//! explain, so nothing is lost.

use std::panic::Location;

use super::access::{Access, Hold, Kind};
use super::causality::{Clock, Past, Touched};
use super::coroutine::Switch;
use super::{MAIN, MAX_WORKERS};
use crate::Map;
use crate::search::{Point, Search};

/// After so many accesses that saw nothing new, a thread is taken to spin.
const SPIN: u32 = 20;
/// How often spinning threads are tried again before nobody is believed to make progress: local back-off counters end.
const IDLE_ROUNDS: u32 = 16;

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// Calls this operation.
    Start(u32),
    Access {
        object: u32,
        kind: Kind,
        /// Waits until the access is possible.
        blocking: bool,
        /// Gives up if it is not possible, but would rather wait.
        timed: bool,
    },
    /// Lets others run; sleeps while nothing changes that it has seen.
    Yield,
    /// Waits for a notification, then for the mutex.
    Wake {
        condvar: u32,
        mutex: u32,
        timed: bool,
    },
    /// Waits for all workers.
    Join,
    Done,
}

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) pending: Pending,
    pub(crate) op: Option<u32>,
    /// The call was just made, or the thread woke up: the next access needs no scheduling point of its own.
    fresh: bool,
    /// Its next turn comes although nothing changed.
    forced: bool,
    /// The step that notified it.
    notified: Option<u32>,
    /// What it has read since its last call or yield: object and version.
    reads: Vec<(u32, u32)>,
    repeats: u32,
    steps: u16,
    clock: Clock,
    past: Past,
    pub(crate) location: Option<&'static Location<'static>>,
}

/// What a thread did in one turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) thread: u8,
    /// Its number among the steps of its thread, from 1.
    pub(crate) number: u16,
    pub(crate) op: u32,
    /// Contains the call.
    pub(crate) calls: bool,
    /// Contains the return.
    pub(crate) returns: bool,
    /// The call was made, or the thread woke up, and the next access was not possible: nothing happened.
    pub(crate) blocked: bool,
    /// A spinning thread tried again because nobody else could go on.
    pub(crate) forced: bool,
    accesses: (u32, u32),
    wakers: (u32, u32),
    /// Which of several outcomes was picked.
    pub(crate) pick: Option<u8>,
    pub(crate) location: Option<&'static Location<'static>>,
}

#[derive(Debug)]
pub(crate) struct Object {
    /// Creating thread and number: the same in every execution, whatever the schedule.
    pub(crate) name: u32,
    hold: Hold,
    /// As the workers found it.
    pub(crate) held_at_start: Hold,
    version: u32,
    clocks: Touched<Clock>,
    pasts: Touched<Past>,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Running,
    Complete,
    /// Nobody can make progress.
    Stuck,
    /// The bound on steps was hit.
    TooLong,
    /// The object did something that cannot be checked.
    Fault(String),
}

/// What a search decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Who goes on.
    Thread(u8),
    /// Which of several outcomes.
    Pick(u8),
}

/// How operations are numbered: those of the initial sequence, then thread by thread, then those of the final sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) init: usize,
    pub(crate) threads: Vec<usize>,
    pub(crate) last: usize,
}

impl Layout {
    pub(crate) fn ops(&self) -> usize {
        self.init + self.threads.iter().sum::<usize>() + self.last
    }

    pub(crate) fn base(&self, thread: usize) -> usize {
        self.init + self.threads[..thread].iter().sum::<usize>()
    }

    /// The operations of a thread; of the initial and final sequence for [`MAIN`].
    pub(crate) fn of_thread(&self, thread: usize) -> std::ops::Range<usize> {
        let base = self.base(thread);
        base..base + self.threads[thread]
    }

    pub(crate) fn finals(&self) -> std::ops::Range<usize> {
        self.ops() - self.last..self.ops()
    }

    /// The thread that runs an operation.
    pub(crate) fn thread_of(&self, op: usize) -> usize {
        (0..self.threads.len())
            .find(|&thread| self.of_thread(thread).contains(&op))
            .unwrap_or(MAIN)
    }
}

/// The result of an operation, by number; see [`Outcome::value`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Outcome(pub(crate) u32);

impl Outcome {
    pub(crate) const ABSENT: Outcome = Outcome(0);
    pub(crate) const PENDING: Outcome = Outcome(1);

    pub(crate) fn returned(number: u32) -> Outcome {
        Outcome(number + 2)
    }

    /// The number of the result, if it returned.
    pub(crate) fn value(self) -> Option<u32> {
        self.0.checked_sub(2)
    }
}

/// What may differ between phases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Threads change at the borders of operations only.
    pub(crate) serial: bool,
    /// The pasts tell apart which operations had returned at each call.
    pub(crate) real_time: bool,
    /// Clocks and pasts are needed.
    pub(crate) causality: bool,
    /// Words for every step.
    pub(crate) verbose: bool,
    pub(crate) max_steps: usize,
}

#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) epoch: u64,
    pub(crate) settings: Settings,
    pub(crate) layout: Layout,
    pub(crate) threads: Vec<Thread>,
    pub(crate) objects: Vec<Object>,
    created: [u32; MAX_WORKERS + 1],
    foreign: Map<usize, u32>,
    permits: [Option<u32>; MAX_WORKERS + 1],
    pub(crate) current: usize,
    /// Workers may run.
    workers: bool,
    open: bool,
    idle: u32,
    last_forced: usize,
    pub(crate) steps: Vec<Step>,
    accesses: Vec<Access>,
    wakers: Vec<u32>,
    clocks: Vec<Clock>,
    /// Whose turn it was at each point, and what was picked: enough to run the same again.
    pub(crate) schedule: Vec<Choice>,
    pub(crate) preemptions: u32,
    pub(crate) details: Vec<(usize, String)>,
    pub(crate) end: End,
    pub(crate) outcomes: Vec<Outcome>,
    /// For each operation, those that had returned at its call.
    pub(crate) before: Vec<u64>,
    pub(crate) returned: u64,
    pub(crate) events: Vec<(u32, bool)>,
}

impl Execution {
    pub(crate) fn new() -> Self {
        let thread = || Thread {
            pending: Pending::Done,
            op: None,
            fresh: false,
            forced: false,
            notified: None,
            reads: Vec::new(),
            repeats: 0,
            steps: 0,
            clock: Clock::default(),
            past: Past::default(),
            location: None,
        };
        Execution {
            epoch: 0,
            settings: Settings {
                serial: false,
                real_time: false,
                causality: false,
                verbose: false,
                max_steps: 0,
            },
            layout: Layout {
                init: 0,
                threads: Vec::new(),
                last: 0,
            },
            threads: (0..=MAX_WORKERS).map(|_| thread()).collect(),
            objects: Vec::new(),
            created: [0; MAX_WORKERS + 1],
            foreign: Map::default(),
            permits: [None; MAX_WORKERS + 1],
            current: MAIN,
            workers: false,
            open: false,
            idle: 0,
            last_forced: 0,
            steps: Vec::new(),
            accesses: Vec::new(),
            wakers: Vec::new(),
            clocks: Vec::new(),
            schedule: Vec::new(),
            preemptions: 0,
            details: Vec::new(),
            end: End::Complete,
            outcomes: Vec::new(),
            before: Vec::new(),
            returned: 0,
            events: Vec::new(),
        }
    }

    /// Forgets everything and starts anew with the main thread.
    pub(crate) fn reset(&mut self, epoch: u64, layout: &Layout, settings: Settings) {
        self.epoch = epoch;
        self.settings = settings;
        if self.layout != *layout {
            self.layout = layout.clone();
        }
        for (index, thread) in self.threads.iter_mut().enumerate() {
            thread.pending = Pending::Done;
            if index < layout.threads.len() && layout.threads[index] > 0 {
                thread.pending = Pending::Start(layout.base(index) as u32);
            }
            thread.op = None;
            thread.fresh = false;
            thread.forced = false;
            thread.notified = None;
            thread.reads.clear();
            thread.repeats = 0;
            thread.steps = 0;
            thread.clock = Clock::default();
            thread.past = Past::default().then(index as u64 + 1);
            thread.location = None;
        }
        self.threads[MAIN].pending = Pending::Yield;
        self.objects.clear();
        self.created = [0; MAX_WORKERS + 1];
        self.foreign.clear();
        self.permits = [None; MAX_WORKERS + 1];
        self.current = MAIN;
        self.workers = false;
        self.open = false;
        self.idle = 0;
        self.last_forced = 0;
        self.steps.clear();
        self.accesses.clear();
        self.wakers.clear();
        self.clocks.clear();
        self.schedule.clear();
        self.preemptions = 0;
        self.details.clear();
        self.end = End::Running;
        let ops = layout.ops();
        self.outcomes.clear();
        self.outcomes.resize(ops, Outcome::ABSENT);
        self.before.clear();
        self.before.resize(ops, 0);
        self.returned = 0;
        self.events.clear();
    }

    // ---- objects

    /// A new object of the running thread.
    pub(crate) fn create(&mut self) -> u32 {
        let creator = self.current;
        let number = self.created[creator];
        self.created[creator] += 1;
        self.insert((creator as u32) << 24 | number)
    }

    fn insert(&mut self, name: u32) -> u32 {
        self.objects.push(Object {
            name,
            hold: 0,
            held_at_start: 0,
            version: 0,
            clocks: Touched::default(),
            pasts: Touched::default(),
        });
        self.objects.len() as u32 - 1
    }

    /// An object that was not created in this execution: known by its address, named in the order of appearance.
    pub(crate) fn foreign(&mut self, address: usize) -> u32 {
        if let Some(&object) = self.foreign.get(&address) {
            return object;
        }
        let object = self.insert(0xFF00_0000 | self.foreign.len() as u32);
        self.foreign.insert(address, object);
        object
    }

    /// The permit of a thread, which `unpark` gives and `park` takes.
    pub(crate) fn permit(&mut self, thread: usize) -> u32 {
        match self.permits[thread] {
            Some(object) => object,
            None => {
                let object = self.insert(0xFE00_0000 | thread as u32);
                self.permits[thread] = Some(object);
                object
            }
        }
    }

    /// Whether somebody who waits for this access could have it now.
    pub(crate) fn available(&self, object: u32, kind: Kind) -> bool {
        kind.enabled(self.objects[object as usize].hold)
    }

    /// The running thread touches an object.
    pub(crate) fn touch(&mut self, object: u32, kind: Kind, blocking: bool, changed: bool) {
        let entry = &mut self.objects[object as usize];
        entry.hold = kind.apply(entry.hold);
        entry.version += u32::from(changed);
        let version = entry.version;
        if changed {
            self.idle = 0;
        }
        let thread = &mut self.threads[self.current];
        match thread.reads.iter_mut().find(|read| read.0 == object) {
            Some(read) if read.1 == version => thread.repeats += 1,
            Some(read) => {
                read.1 = version;
                thread.repeats = 0;
            }
            None => {
                thread.reads.push((object, version));
                thread.repeats = 0;
            }
        }
        if self.current != MAIN {
            self.accesses.push(Access {
                object,
                kind,
                blocking,
                version,
                changed,
            });
            if let Some(step) = self.steps.last_mut() {
                step.accesses.1 += 1;
            }
        }
    }

    /// Words about what the running thread does.
    pub(crate) fn describe(&mut self, words: impl FnOnce() -> String) {
        if self.settings.verbose && self.current != MAIN && !self.steps.is_empty() {
            self.details.push((self.steps.len() - 1, words()));
        }
    }

    // ---- threads

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

    fn enabled(&self, thread: &Thread) -> bool {
        match thread.pending {
            Pending::Start(_) => true,
            Pending::Access {
                object,
                kind,
                blocking,
                ..
            } => !blocking || self.available(object, kind),
            Pending::Yield => !self.asleep(thread),
            Pending::Wake { mutex, timed, .. } => {
                (timed || thread.notified.is_some()) && self.available(mutex, Kind::Acquire)
            }
            Pending::Join | Pending::Done => false,
        }
    }

    /// Whether others may run instead of `thread` at no cost, although it could go on.
    fn free(&self, thread: &Thread) -> bool {
        match thread.pending {
            Pending::Start(_) | Pending::Yield => true,
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
        self.threads[current].pending = pending;
        match self.next(search) {
            Switch::To(thread) if thread == current => None,
            switch => Some(switch),
        }
    }

    /// The running thread stands before an operation: `None` if it may call it now.
    pub(crate) fn border(&mut self, op: usize, search: &mut dyn Search) -> Option<Switch> {
        let current = self.current;
        self.threads[current].pending = Pending::Start(op as u32);
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
        self.threads[self.current].pending = Pending::Done;
    }

    /// The main thread waits until the workers have finished.
    pub(crate) fn join(&mut self, search: &mut dyn Search) -> Option<Switch> {
        self.threads[MAIN].pending = Pending::Join;
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
        let candidates = if !self.workers {
            MAIN..MAIN + 1
        } else if self.settings.serial && self.inside(self.current) {
            self.current..self.current + 1
        } else {
            0..self.layout.threads.len()
        };
        let (mut enabled, mut unfinished) = (0u16, false);
        for index in candidates.clone() {
            let thread = &self.threads[index];
            unfinished |= thread.pending != Pending::Done;
            if self.enabled(thread) {
                enabled |= 1 << index;
            }
        }
        if !unfinished {
            self.workers = false;
            self.current = MAIN;
            return Switch::To(MAIN);
        }
        if enabled == 0 {
            match self.force(candidates) {
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
                current,
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
    fn force(&mut self, candidates: std::ops::Range<usize>) -> Option<usize> {
        let sleeps = |&index: &usize| self.threads[index].pending == Pending::Yield;
        let count = candidates.clone().filter(sleeps).count() as u32;
        if self.idle >= count * IDLE_ROUNDS {
            return None;
        }
        let next = candidates
            .clone()
            .filter(sleeps)
            .find(|&index| index > self.last_forced)
            .or_else(|| candidates.clone().find(sleeps))?;
        self.idle += 1;
        self.last_forced = next;
        self.threads[next].forced = true;
        Some(next)
    }

    fn begin(&mut self, index: usize) {
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
                    Some(step) => self.woken_by(step),
                }
                self.touch(mutex, Kind::Acquire, true, true);
            }
            _ => {}
        }
    }

    /// A thread goes on after a yield: by which changes, if it slept.
    fn wake(&mut self, index: usize) {
        let reads = std::mem::take(&mut self.threads[index].reads);
        if index != MAIN && self.settings.causality && self.steps.last().is_some_and(|s| !s.forced)
        {
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

    // ---- what has happened

    /// The open step is complete: its place in the order is known.
    pub(crate) fn close(&mut self, search: &mut dyn Search) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        if self.settings.causality {
            self.place();
        }
        search.closed(self);
    }

    fn place(&mut self) {
        let position = self.steps.len() - 1;
        let step = self.steps[position];
        let index = usize::from(step.thread);
        let accesses = &self.accesses[step.accesses.0 as usize..step.accesses.1 as usize];
        let mut clock = self.threads[index].clock;
        let mut past = self.threads[index].past;
        clock.0[index] = step.number;
        past = past.then(
            u64::from(step.op) << 8
                | u64::from(step.pick.unwrap_or(0)) << 3
                | u64::from(step.blocked) << 2
                | u64::from(step.calls) << 1
                | u64::from(step.returns),
        );
        if step.calls && self.settings.real_time {
            past = past.then(self.before[step.op as usize]);
        }
        for access in accesses {
            let object = &self.objects[access.object as usize];
            object.clocks.join_into(&mut clock, access.kind);
            past = past.then(u64::from(object.name) << 8 | access.kind as u64);
            past = object.pasts.extend(past, access.kind);
        }
        if step.forced {
            for thread in &self.threads {
                clock.join(&thread.clock);
                past = past.with(thread.past);
            }
        } else if let Some(&waker) = self.wakers_of(position).first() {
            clock.join(&self.clocks[waker as usize]);
            let waker = self.steps[waker as usize];
            past = past.then(u64::from(waker.thread) << 16 | u64::from(waker.number));
        }
        for access in accesses {
            let object = &mut self.objects[access.object as usize];
            object.clocks.note(&clock, access.kind);
            object.pasts.note(past, access.kind);
        }
        self.threads[index].clock = clock;
        self.threads[index].past = past;
        self.clocks.push(clock);
    }

    /// How often something under control was touched.
    pub(crate) fn accesses(&self) -> usize {
        self.accesses.len()
    }

    pub(crate) fn accesses_of(&self, step: usize) -> &[Access] {
        let (from, to) = self.steps[step].accesses;
        &self.accesses[from as usize..to as usize]
    }

    /// The steps that let this one go on, the first of them first.
    pub(crate) fn wakers_of(&self, step: usize) -> &[u32] {
        let (from, to) = self.steps[step].wakers;
        &self.wakers[from as usize..to as usize]
    }

    /// Whether a step happened before another one.
    pub(crate) fn happened_before(&self, first: usize, second: usize) -> bool {
        let Step { thread, number, .. } = self.steps[first];
        self.clocks[second].includes(usize::from(thread), number)
    }

    /// What a thread knows of the others.
    pub(crate) fn clock_of_thread(&self, thread: usize) -> &Clock {
        &self.threads[thread].clock
    }

    /// The step that notified a thread.
    pub(crate) fn notifier_of(&self, thread: usize) -> Option<u32> {
        self.threads[thread].notified
    }

    pub(crate) fn clock_of(&self, step: usize) -> &Clock {
        &self.clocks[step]
    }

    /// A hash of everything that determines what can happen from here on.
    pub(crate) fn state(&self) -> Past {
        let mut state = Past::default().then(u64::from(self.idle));
        for thread in &self.threads[..self.layout.threads.len()] {
            let stands = match thread.pending {
                Pending::Start(_) => 0,
                Pending::Yield => 1,
                Pending::Done => 2,
                Pending::Wake { .. } if thread.notified.is_some() => 3,
                _ => 4,
            };
            state = state.with(thread.past).then(stands);
        }
        state
    }

    /// What the last step did, to be compared with another execution that should do the same.
    pub(crate) fn signature(&self) -> u64 {
        let position = self.steps.len() - 1;
        let step = self.steps[position];
        let mut signature =
            u64::from(step.thread) << 33 | u64::from(step.op) << 1 | u64::from(step.returns);
        for access in self.accesses_of(position) {
            let name = self.objects[access.object as usize].name;
            let next = u64::from(name) << 8 | access.kind as u64;
            signature = (signature.rotate_left(21) ^ next).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        signature
    }
}
