//! One execution: which threads wait for what, which may go on, and what has happened.
//!
//! A step is what a thread does between two scheduling points: one visible access, then local work. The first step of an
//! operation contains its call, the last one its return: a later call and an earlier return only make a history harder to
//! explain, so no violation is lost.
//!
//! | module | what it holds |
//! |---|---|
//! | [`schedule`] | which thread goes on: the operations of [`Execution`] that threads call |
//! | [`threads`] | the positions of the threads |
//! | [`spin`] | which threads spin for ever |
//! | [`spurious`] | what happens for no reason |
//! | [`memory`] | the shared objects |
//! | [`trace`] | what has happened: all that is read from outside the runtime |
//! | [`prefix_log`] | the answers of the execution before, for the prefix that is repeated |
//! | [`checkpoint`] | earlier states of the execution, to go on from there with another choice |
//! | `foreign` | executions whose threads a foreign scheduler runs |

mod checkpoint;
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod foreign;
mod layout;
mod memory;
mod prefix_log;
mod schedule;
mod spin;
mod spurious;
mod threads;
mod trace;

use std::sync::Arc;
use std::time::Duration;

use super::access::{Access, Effect, Kind, Manner};
use super::clock::Clock;
use super::memory_event::{Action, MemoryEvent};
use super::spurious as spurious_events;
use super::{MAIN, UNCONTROLLED};
use crate::watchdog::{self, Heartbeat};
use checkpoint::Checkpoints;
use memory::Memory;
use prefix_log::{Entry, PrefixLog, Recall};
use spin::Spins;
use threads::Thread;

#[cfg(any(feature = "loom", feature = "shuttle"))]
pub(crate) use foreign::Yields;
pub(crate) use layout::{Layout, Outcome};
pub(crate) use memory::{Creator, ObjectName};
pub(crate) use schedule::Notify;
pub(crate) use spin::Assumed;
pub(crate) use threads::Threads;
pub(crate) use trace::{BlockedThread, Choice, End, Step, Trace, Wait};

/// What is known of a thread of a foreign scheduler that is in the middle of an operation.
#[cfg(any(feature = "loom", feature = "shuttle"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It can go on.
    Ready,
    /// It can go on, and lets others go first.
    Yields,
    /// It cannot go on.
    Waits,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// Calls this operation.
    Start(u32),
    Access {
        object: u32,
        kind: Kind,
        manner: Manner,
    },
    /// Lets others run; may sleep while nothing changes that it has read.
    Yield,
    /// Waits for a notification, then for the mutex.
    Wake {
        condvar: u32,
        mutex: u32,
        timed: bool,
    },
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    /// A foreign scheduler runs the thread; what it waits for is not known here.
    Foreign(Foreign),
    /// Waits for all workers.
    Join,
    Done,
}

/// What ended the wait of a thread for a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wakeup {
    TimeOut,
    Notification,
    Spurious,
}

impl Wakeup {
    fn of_number(number: u8) -> Self {
        match number {
            0 => Wakeup::TimeOut,
            1 => Wakeup::Notification,
            _ => Wakeup::Spurious,
        }
    }
}

/// Where threads may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switches {
    /// At every scheduling point.
    Everywhere,
    /// Between operations only: the execution is serial.
    BetweenOperations,
}

/// What is computed about the order of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Causality {
    /// Nothing.
    Ignored,
    /// Clocks and pasts of the accesses to shared objects.
    Accesses,
    /// The same, and the past of a call contains the operations that had returned by then.
    RealTime,
}

/// Whether each step is described in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    Omitted,
    Kept,
}

/// How executions are run, and how much of them is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) switches: Switches,
    pub(crate) causality: Causality,
    pub(crate) words: Words,
    pub(crate) max_steps: usize,
}

impl Settings {
    /// Records all that can be recorded.
    pub(crate) fn verbose(switches: Switches, max_steps: usize) -> Self {
        Settings {
            switches,
            causality: Causality::RealTime,
            words: Words::Kept,
            max_steps,
        }
    }

    /// Whether single steps are recorded.
    #[inline(always)]
    fn records_steps(&self) -> bool {
        self.has_causality() || self.words == Words::Kept
    }

    #[inline(always)]
    fn has_causality(&self) -> bool {
        self.causality != Causality::Ignored
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Execution {
    heartbeat: Arc<Heartbeat>,
    /// The number of this execution in the process.
    epoch: u64,
    settings: Settings,
    threads: Threads,
    memory: Memory,
    trace: Trace,
    log: PrefixLog,
    checkpoints: Checkpoints,
    spins: Spins,
    clock: Clock,
    /// How many waits may end and weak compare-exchanges fail for no reason in an execution.
    most_spurious: u32,
    /// Whether it is recorded what threads do to memory.
    records_events: bool,
}

impl Execution {
    pub(super) fn new() -> Self {
        Execution {
            heartbeat: watchdog::register(),
            epoch: 0,
            settings: Settings {
                switches: Switches::Everywhere,
                causality: Causality::Ignored,
                words: Words::Omitted,
                max_steps: 0,
            },
            threads: Threads::new(),
            memory: Memory::default(),
            trace: Trace::new(),
            log: PrefixLog::default(),
            checkpoints: Checkpoints::default(),
            spins: Spins::default(),
            clock: Clock::default(),
            most_spurious: 0,
            records_events: false,
        }
    }

    /// Forgets everything but the first `known` choices, and starts with the main thread.
    pub(super) fn reset(&mut self, epoch: u64, layout: &Layout, settings: Settings, known: usize) {
        self.heartbeat.execution(0);
        self.epoch = epoch;
        self.settings = settings;
        self.clock = Clock::default();
        self.threads = Threads::new();
        let mut first_op = layout.init as u32;
        for index in (0..layout.threads.len()).chain([MAIN]) {
            let pending = match layout.threads.get(index) {
                None => Pending::Yield,
                Some(0) => Pending::Done,
                Some(&ops) if index >= layout.started => {
                    first_op += ops as u32;
                    Pending::Done
                }
                Some(&ops) => {
                    first_op += ops as u32;
                    Pending::Start(first_op - ops as u32)
                }
            };
            self.threads.expect(index, pending);
        }
        self.threads.started = layout.started;
        self.memory.clear();
        self.trace.reset(layout, known);
        self.log.forget_after(known);
        self.checkpoints.clear();
    }

    /// Begins again, and goes on from the choice with this number, at which there is a checkpoint.
    pub(super) fn resume(&mut self, epoch: u64, choice: usize) {
        self.epoch = epoch;
        self.clock = Clock::default();
        let after_probe = self.probed().is_some();
        let checkpoint = self.checkpoints.at(choice);
        self.threads
            .copy(&checkpoint.threads, &self.trace.history.layout);
        self.memory.return_to(checkpoint.memory);
        self.trace.return_to(&checkpoint.trace, choice);
        self.log.repeat(checkpoint.entries);
        if after_probe {
            self.log.forget_choice();
        }
        let running = self.threads.list.iter().filter_map(|thread| thread.op);
        self.heartbeat
            .execution(running.fold(0, |mask, op| mask | 1 << op));
        self.threads.current = MAIN;
    }

    /// Records the state before the next choice, to go on from there with another one.
    fn save_checkpoint(&mut self) {
        let choices = self.trace.choices.made();
        let Some(checkpoint) = self.checkpoints.next(choices) else {
            return;
        };
        checkpoint
            .threads
            .copy(&self.threads, &self.trace.history.layout);
        checkpoint.memory = self.memory.checkpoint();
        checkpoint.entries = self.log.asked();
        checkpoint.trace = self.trace.checkpoint();
    }

    /// Adds to the checkpoint before the next choice, if there is one, what was found out about the threads since.
    fn renew_checkpoint(&mut self) {
        let choices = self.trace.choices.made();
        if let Some(checkpoint) = self.checkpoints.last_at(choices) {
            checkpoint
                .threads
                .copy(&self.threads, &self.trace.history.layout);
        }
    }

    /// So many waits may end and weak compare-exchanges fail for no reason in an execution.
    pub(super) fn allow_spurious(&mut self, most: u32) {
        self.most_spurious = most;
    }

    /// Records what threads do to memory, or not.
    pub(super) fn record_events(&mut self, records: bool) {
        self.records_events = records;
    }

    /// What has happened.
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    #[inline(always)]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Gives the names of the operations to the watchdog, before the test runs on this OS thread.
    pub(super) fn watch(&self, names: impl Iterator<Item = String>) {
        self.heartbeat.watch(names);
    }

    /// Whether steps are described in words.
    #[inline(always)]
    pub(super) fn keeps_words(&self) -> bool {
        self.settings.words == Words::Kept
    }

    /// Whether threads change between operations only.
    pub(super) fn changes_between_operations(&self) -> bool {
        self.settings.switches == Switches::BetweenOperations
    }

    /// The thread that runs.
    pub(crate) fn current(&self) -> usize {
        self.threads.current
    }

    /// How many steps were begun.
    pub(super) fn steps(&self) -> usize {
        self.threads.totals.steps
    }

    /// The time since the execution began, as the running thread sees it.
    pub(super) fn look_at_clock(&mut self) -> Duration {
        self.spins.assumed.clock = true;
        self.clock.look(self.threads.current)
    }

    /// An invariant of the object does not hold at the end, for this reason.
    pub(super) fn note_invariant(&mut self, broken: Option<String>) {
        self.trace.broken = broken;
    }

    /// The running thread sleeps for this long.
    pub(super) fn pass_time(&mut self, time: Duration) {
        self.clock.pass(time);
    }

    /// A new object of the running thread.
    pub(super) fn create(&mut self) -> u32 {
        if let Some(object) = self.log.next_created()
            && self.recall(Entry::create(object)).is_some()
        {
            return object;
        }
        let creator = self.threads.current;
        let number = self.threads.created[creator];
        self.threads.created[creator] += 1;
        let object = self.insert(ObjectName::created(creator, number));
        self.answer(Entry::create(object), 0);
        object
    }

    /// Adds an object to the memory. The execution fails if there are too many.
    fn insert(&mut self, name: ObjectName) -> u32 {
        match self.memory.insert(name, self.settings.causality) {
            Some(object) => object,
            None => {
                self.fail(format!(
                    "an execution can have {} objects of linpoint_test::sync, and this one needs more",
                    memory::MOST_OBJECTS
                ));
                0
            }
        }
    }

    /// An object that was not created in this execution: known by its address, named in the order of appearance.
    pub(super) fn external(&mut self, address: usize) -> u32 {
        match self.memory.external(address) {
            Ok(object) => object,
            Err(number) => {
                let object = self.insert(ObjectName::external(number));
                self.memory.add_external(address, object);
                object
            }
        }
    }

    /// The permit of a thread, which `unpark` gives and `park` takes.
    pub(super) fn permit(&mut self, thread: usize) -> u32 {
        match self.threads.permits[thread] {
            Some(object) => object,
            None => {
                let object = self.insert(ObjectName::permit(thread));
                self.threads.permits[thread] = Some(object);
                object
            }
        }
    }

    /// The list of threads, which each start of a thread changes.
    pub(super) fn list_of_threads(&mut self) -> u32 {
        match self.threads.threads {
            Some(object) => object,
            None => {
                let object = self.insert(ObjectName::threads());
                self.threads.threads = Some(object);
                object
            }
        }
    }

    /// The running thread starts the next one that waits for it. Returns its number, or `None` if there is none.
    pub(super) fn start_thread(&mut self) -> Option<usize> {
        let entry = Entry::start();
        if let Some(answer) = self.recall(entry) {
            return Some(usize::from(answer));
        }
        let thread = self.threads.started;
        if thread >= self.trace.layout().threads.len() {
            return None;
        }
        self.threads.started += 1;
        let op = self.trace.layout().base(thread);
        self.threads.expect(thread, Pending::Start(op as u32));
        self.answer(entry, thread as u8);
        Some(thread)
    }

    /// Whether the running thread could have this access, if it asked for it.
    pub(super) fn finds_available(&mut self, object: u32, kind: Kind) -> bool {
        let entry = Entry::available(object, kind);
        if let Some(answer) = self.recall(entry) {
            return answer != 0;
        }
        let available = self.memory.available(object, kind);
        self.answer(entry, u8::from(available));
        available
    }

    /// The running thread reports that it touched an object. Returns whether this is new.
    #[inline(always)]
    pub(super) fn report_touch(&mut self, object: u32, kind: Kind, effect: Effect) -> bool {
        // The constructor of an object that was made outside may find what the execution before left in it, so the log does not
        // compare what it does.
        let entry = match self.threads.current {
            MAIN => Entry::touch(object, Kind::Read, Effect::Unchanged),
            _ => Entry::touch(object, kind, effect),
        };
        let is_new = self.recall(entry).is_none();
        if is_new {
            self.touch(object, kind, effect);
            self.answer(entry, 0);
        }
        is_new
    }

    /// The running thread reports that the time of its wait for an object is up.
    pub(super) fn report_time_out(&mut self, object: u32) {
        if self.report_touch(object, Kind::Read, Effect::Unchanged) {
            self.threads.running().hint();
        }
    }

    /// The running thread touches an object.
    #[inline(always)]
    fn touch(&mut self, object: u32, kind: Kind, effect: Effect) {
        let (name, version) = self.memory.touch(object, kind, effect);
        if self.spins.probes() {
            self.spins.note(object, kind, effect);
        }
        self.threads.note_access(object, version, effect);
        if self.settings.records_steps() {
            self.record(Access {
                object,
                name,
                kind,
                blocking: effect == Effect::AwaitedChange,
                version,
                changed: effect.is_change(),
            });
        }
        if self.records_events
            && let Some(action) = Action::of_lock(kind)
        {
            self.record_event(Some(object), action);
        }
    }

    /// Records an action of the running thread, unless it was recorded when the prefix that is repeated was new.
    pub(super) fn remember(&mut self, object: Option<u32>, action: Action) {
        let is_guarded = matches!(action, Action::ReadGuarded | Action::WriteGuarded);
        if !self.log.repeats() && (!is_guarded || self.keeps_words()) {
            self.record_event(object, action);
        }
    }

    /// Records an action of the running thread. Those of the main thread are not recorded: they come before or after all others.
    fn record_event(&mut self, object: Option<u32>, action: Action) {
        if self.threads.current == MAIN {
            return;
        }
        let thread = &self.threads.list[self.threads.current];
        self.trace.memory_events.push(MemoryEvent {
            thread: self.threads.current,
            op: thread.op.unwrap_or(u32::MAX) as usize,
            object: object.map(|object| self.memory.name(object).code()),
            action,
            location: thread.location,
        });
    }

    /// Records an access of the running step. Accesses of the main thread are not recorded.
    fn record(&mut self, access: Access) {
        if self.threads.current != MAIN {
            self.trace.record(access);
        }
    }

    /// The step of the running thread, if it is recorded.
    #[inline(always)]
    fn open_step(&mut self) -> Option<&mut Step> {
        let is_worker = self.threads.current != MAIN;
        self.trace.steps.last_mut().filter(|_| is_worker)
    }

    /// Adds words about what the running thread does.
    pub(crate) fn describe(&mut self, words: impl FnOnce() -> String) {
        if self.keeps_words() && self.threads.current != MAIN && !self.log.repeats() {
            self.trace.describe(words);
        }
    }

    /// The answer to this entry in the execution before, if the prefix that is repeated is not over.
    #[inline(always)]
    fn recall(&mut self, entry: Entry) -> Option<u8> {
        match self.log.recall(entry) {
            Recall::Same(answer) => Some(answer),
            Recall::New => None,
            Recall::Different => {
                self.differs();
                None
            }
        }
    }

    /// Appends an entry and its answer to the log, for the executions that begin like this one.
    #[inline(always)]
    fn answer(&mut self, entry: Entry, answer: u8) {
        if self.log.append(entry, answer).is_err() {
            self.differs();
        }
    }

    /// The object did not repeat itself under the same schedule: the test cannot be decided.
    #[cold]
    fn differs(&mut self) {
        if !matches!(self.trace.end, End::Fault(_)) {
            self.fail(format!(
                "the object did not do the same under the same schedule: it depends on {UNCONTROLLED}"
            ));
        }
    }

    /// The execution cannot be judged. It ends at the next scheduling point.
    pub(crate) fn fail(&mut self, why: String) {
        self.trace.end = End::Fault(why);
        self.log.stop_repeating();
    }

    /// The execution has ended: what is known by now is added to the trace.
    fn end(&mut self) {
        self.heartbeat.execution(0);
        if !self.log.is_complete() || !self.trace.choices.is_complete() {
            self.differs();
        }
        if self.trace.end == End::Running {
            self.trace.end = End::Complete;
        }
        self.trace.totals = self.threads.totals;
        self.spins.assumed.nothing_spurious |= spurious_events::were_possible();
        self.trace.assumed = self.spins.assumed;
        if self.trace.end == End::Stuck {
            self.trace.history.stuck = true;
            self.trace
                .blocked
                .extend(self.threads.blocked(&self.memory));
        }
    }
}
