//! One execution: who waits for what, who may go on, and what has happened.
//!
//! A step is what a thread does between two scheduling points: one visible access, then whatever is local. The first step of
//! an operation contains its call, the last one its return: a later call and an earlier return only make a history harder to
//! explain, so nothing is lost.

#[cfg(any(feature = "loom", feature = "shuttle"))]
mod foreign;
mod layout;
mod memory;
mod prefix_log;
mod schedule;
mod threads;
mod trace;

use std::panic::Location;
use std::sync::Arc;

use super::MAIN;
use super::access::{Access, Kind, Manner};
use super::causality::Clock;
use crate::Map;
use crate::watchdog::{self, Pulse};
use memory::{Causes, Object, Reversible};
use prefix_log::{Kept, Log, Question};
use threads::{State, Thread};

pub(crate) use layout::{Layout, Outcome};

/// What is known of a thread of another scheduler that is in the middle of an operation.
#[cfg(any(feature = "loom", feature = "shuttle"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guest {
    /// It could go on.
    Ready,
    /// It could, and lets others go first.
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
    /// Lets others run; sleeps while nothing changes that it has seen.
    Yield,
    /// Waits for a notification, then for the mutex.
    Wake {
        condvar: u32,
        mutex: u32,
        timed: bool,
    },
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    /// Another scheduler runs the thread, and knows what it waits for.
    Guest(Guest),
    /// Waits for all workers.
    Join,
    Done,
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
    /// Another thread notified it.
    notified: bool,
    accesses: (u32, u32),
    wakers: (u32, u32),
    /// Which of several outcomes was picked.
    pub(crate) pick: Option<u8>,
    pub(crate) location: Option<&'static Location<'static>>,
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

impl Settings {
    /// For somebody who wants to know everything.
    pub(crate) fn verbose(serial: bool, max_steps: usize) -> Self {
        Settings {
            serial,
            real_time: true,
            causality: true,
            verbose: true,
            max_steps,
        }
    }

    /// Whether anybody looks at single steps.
    fn records(&self) -> bool {
        self.causality || self.verbose
    }
}

#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) epoch: u64,
    pub(crate) settings: Settings,
    pub(crate) layout: Layout,
    pub(crate) now: State,
    pub(crate) objects: Reversible<Object>,
    /// Of each object, if causality is asked for.
    causes: Reversible<Causes>,
    /// Objects of no execution, by their addresses in this one.
    foreign: Map<usize, u32>,
    /// The same in the order in which they appear, with those that will.
    foreigners: Vec<u32>,
    /// The steps, if anybody looks at them.
    pub(crate) steps: Vec<Step>,
    accesses: Vec<Access>,
    wakers: Vec<u32>,
    clocks: Vec<Clock>,
    /// Whose turn it was at each point, and what was picked: enough to run the same again. Under another scheduler it begins
    /// with choices of the execution before that are to be made again.
    pub(crate) schedule: Vec<Choice>,
    /// How many of them were made.
    choices: usize,
    log: Log,
    /// Choices that may be made another way; the first ones are in use.
    kept: Vec<Kept>,
    keeps: usize,
    pub(crate) details: Vec<(usize, String)>,
    pub(crate) end: End,
    /// So many executions looked like this one.
    pub(crate) repetitions: u64,
    pub(crate) outcomes: Vec<Outcome>,
    /// For each operation, those that had returned at its call.
    pub(crate) before: Vec<u64>,
    pub(crate) events: Vec<(u32, bool)>,
}

impl Execution {
    pub(crate) fn new() -> Self {
        Execution {
            pulse: watchdog::register(),
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
            now: State::new(),
            objects: Reversible::default(),
            causes: Reversible::default(),
            foreign: Map::default(),
            foreigners: Vec::new(),
            steps: Vec::new(),
            accesses: Vec::new(),
            wakers: Vec::new(),
            clocks: Vec::new(),
            schedule: Vec::new(),
            choices: 0,
            log: Log::default(),
            kept: Vec::new(),
            keeps: 0,
            details: Vec::new(),
            end: End::Complete,
            repetitions: 1,
            outcomes: Vec::new(),
            before: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Forgets everything but the first choices, and starts anew with the main thread.
    pub(crate) fn reset(&mut self, epoch: u64, layout: &Layout, settings: Settings, known: usize) {
        self.pulse.beat(0);
        self.epoch = epoch;
        self.settings = settings;
        if self.layout != *layout {
            self.layout = layout.clone();
        }
        self.now = State::new();
        let mut first_op = layout.init as u32;
        for index in (0..layout.threads.len()).chain([MAIN]) {
            let pending = match layout.threads.get(index) {
                None => Pending::Yield,
                Some(0) => Pending::Done,
                Some(&ops) => {
                    first_op += ops as u32;
                    Pending::Start(first_op - ops as u32)
                }
            };
            self.expect(index, pending);
        }
        self.objects.clear();
        self.causes.clear();
        self.foreign.clear();
        self.foreigners.clear();
        self.steps.clear();
        self.accesses.clear();
        self.wakers.clear();
        self.clocks.clear();
        self.forget_after(known);
        self.details.clear();
        self.end = End::Running;
        self.repetitions = 1;
        let ops = layout.ops();
        self.outcomes.clear();
        self.outcomes.resize(ops, Outcome::ABSENT);
        self.before.clear();
        self.before.resize(ops, 0);
        self.events.clear();
    }

    /// A new object of the running thread.
    pub(crate) fn create(&mut self) -> u32 {
        if let Some(object) = self.known_object() {
            return object;
        }
        let creator = self.now.current;
        let number = self.now.created[creator];
        self.now.created[creator] += 1;
        let object = self.insert((creator as u32) << 24 | number);
        self.answer(Question::create(object), 0);
        object
    }

    fn insert(&mut self, name: u32) -> u32 {
        self.objects.push(Object {
            name,
            hold: 0,
            held_at_start: 0,
            version: 0,
        });
        if self.settings.causality {
            self.causes.push(Causes::default());
        }
        self.objects.len() as u32 - 1
    }

    /// An object that was not created in this execution: known by its address, named in the order of appearance.
    pub(crate) fn foreign(&mut self, address: usize) -> u32 {
        if let Some(&object) = self.foreign.get(&address) {
            return object;
        }
        let number = self.foreign.len();
        let object = match self.foreigners.get(number) {
            Some(&object) => object,
            None => {
                let object = self.insert(0xFF00_0000 | number as u32);
                self.foreigners.push(object);
                object
            }
        };
        self.foreign.insert(address, object);
        object
    }

    /// The permit of a thread, which `unpark` gives and `park` takes.
    pub(crate) fn permit(&mut self, thread: usize) -> u32 {
        match self.now.permits[thread] {
            Some(object) => object,
            None => {
                let object = self.insert(0xFE00_0000 | thread as u32);
                self.now.permits[thread] = Some(object);
                object
            }
        }
    }

    /// Whether somebody who waits for this access could have it now.
    #[inline(always)]
    fn available(&self, object: u32, kind: Kind) -> bool {
        kind.enabled(self.objects[object as usize].hold)
    }

    /// Whether the running thread could have this access, if it asked for it.
    pub(crate) fn finds_available(&mut self, object: u32, kind: Kind) -> bool {
        let question = Question::available(object, kind);
        if let Some(answer) = self.known_answer(question) {
            return answer != 0;
        }
        let available = self.available(object, kind);
        self.answer(question, u8::from(available));
        available
    }

    /// The running thread tells that it touched an object. Whether this is new.
    #[inline(always)]
    pub(crate) fn tell_touch(&mut self, object: u32, kind: Kind, changed: bool) -> bool {
        // What a constructor finds in an object that was made outside may be left from the execution before.
        let told = Question::touch(object, kind, changed && self.now.current != MAIN);
        let is_new = !self.is_known(told);
        if is_new {
            self.touch(object, kind, false, changed);
            self.answer(told, 0);
        }
        is_new
    }

    /// The running thread touches an object.
    #[inline(always)]
    fn touch(&mut self, object: u32, kind: Kind, blocking: bool, changed: bool) {
        let entry = self.objects.change(object);
        entry.hold = kind.apply(entry.hold);
        entry.version += u32::from(changed);
        let version = entry.version;
        if changed {
            self.now.idle = 0;
        }
        let thread = &mut self.now.threads[self.now.current];
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
        self.now.touched += usize::from(self.now.current != MAIN);
        if self.settings.records() {
            self.record(Access {
                object,
                kind,
                blocking,
                version,
                changed,
            });
        }
    }

    /// An access belongs to the last step.
    fn record(&mut self, access: Access) {
        if let Some(step) = self.open_step() {
            step.accesses.1 += 1;
            self.accesses.push(access);
        }
    }

    /// The step of the running thread, if it is recorded.
    #[inline(always)]
    fn open_step(&mut self) -> Option<&mut Step> {
        self.steps.last_mut().filter(|_| self.now.current != MAIN)
    }

    /// Words about what the running thread does.
    pub(crate) fn describe(&mut self, words: impl FnOnce() -> String) {
        if self.settings.verbose && self.now.current != MAIN && !self.steps.is_empty() {
            self.details.push((self.steps.len() - 1, words()));
        }
    }
}
