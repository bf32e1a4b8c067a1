//! The positions of the threads of an execution: what each does next, and what is counted for all of them.

use std::panic::Location;
use std::rc::Rc;

use super::super::access::{Effect, Kind, Manner};
use super::super::causality::{Clock, Past};
use super::super::{MAIN, MAX_WORKERS};
use super::memory::Memory;
use super::schedule::SPIN;
use super::spin::Known;
use super::trace::{BlockedThread, Totals, Wait};
use super::{Layout, Pending};

/// What has ended the wait of a thread for a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// Nothing yet. If the wait is timed, its time may be up.
    No,
    /// The notification of this step.
    By(u32),
    /// Nothing: it ends for no reason.
    Spuriously,
}

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) pending: Pending,
    /// The operation that the thread is in.
    pub(super) op: Option<u32>,
    /// The call was just made, or the thread woke up: the next access needs no scheduling point of its own.
    pub(super) fresh: bool,
    /// The thread sleeps, and its next step comes although nothing changed.
    pub(super) forced: bool,
    /// For so many hints the thread goes on although nothing changed: then it leaves its loop.
    pub(super) awake: u32,
    /// It stays awake for these rounds only to be seen at each place of its loop, and sleeps then, unless something changes.
    pub(super) tired: bool,
    /// It is known whether the thread sleeps at the hint where it is.
    pub(super) settled: bool,
    /// The same as `awake` where no other thread can go on, so there is no choice.
    pub(super) pushed: u32,
    /// Even then it does nothing else, as was found out.
    pub(super) spins: Option<Rc<Known>>,
    /// What has ended its wait for a condition.
    pub(super) woken: Woken,
    /// What it has read since its last call or yield: object and version.
    pub(super) reads: Vec<(u32, u32)>,
    /// How many accesses in a row showed nothing new.
    pub(super) repeats: u32,
    pub(super) steps: u16,
    pub(super) clock: Clock,
    pub(super) past: Past,
    pub(super) location: Option<&'static Location<'static>>,
    /// The location of its last access before a hint.
    pub(super) before_hint: Option<&'static Location<'static>>,
}

impl Thread {
    fn new(index: usize) -> Self {
        Thread {
            pending: Pending::Done,
            op: None,
            fresh: false,
            forced: false,
            awake: 0,
            tired: false,
            settled: false,
            pushed: 0,
            spins: None,
            woken: Woken::No,
            reads: Vec::new(),
            repeats: 0,
            steps: 0,
            clock: Clock::default(),
            past: Past::of_thread(index),
            location: None,
            before_hint: None,
        }
    }

    /// Comes to a hint before its next access.
    pub(super) fn hint(&mut self) {
        self.repeats = SPIN;
    }

    /// Becomes equal to `other`. The buffer of `reads` is used again.
    fn copy(&mut self, other: &Thread) {
        let reads = std::mem::take(&mut self.reads);
        let spins = other.spins.clone();
        *self = Thread {
            reads,
            spins,
            ..*other
        };
        self.reads.clone_from(&other.reads);
    }

    /// What the thread waits for, if it waits.
    fn wait(&self, memory: &Memory) -> Option<Wait> {
        let access = |object, kind, notifier| Wait::Access {
            object,
            name: memory.name(object),
            kind,
            notifier,
        };
        match self.pending {
            Pending::Access {
                object,
                kind,
                manner: Manner::Blocking,
            } => Some(access(object, kind, None)),
            Pending::Wake { condvar, mutex, .. } => Some(match self.woken {
                Woken::No => Wait::Notification(memory.name(condvar)),
                Woken::By(step) => access(mutex, Kind::Acquire, Some(step)),
                Woken::Spuriously => access(mutex, Kind::Acquire, None),
            }),
            Pending::Yield => Some(Wait::Change {
                rounds: self.spins.as_ref().map_or(0, |known| known.rounds()),
            }),
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Foreign(_) => Some(Wait::Foreign),
            _ => None,
        }
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Threads {
    pub(super) list: [Thread; MAX_WORKERS + 1],
    /// Those whose next step is possible, whatever the others do; one bit per thread.
    pub(super) ready: u16,
    /// Those whose next step may have to wait for others; one bit per thread.
    pub(super) waiting: u16,
    /// How many objects each thread has created.
    pub(super) created: [u32; MAX_WORKERS + 1],
    /// The objects that are the permits of the threads.
    pub(super) permits: [Option<u32>; MAX_WORKERS + 1],
    /// The object that stands for the list of threads.
    pub(super) threads: Option<u32>,
    /// How many threads were started.
    pub(super) started: usize,
    /// The thread that runs.
    pub(super) current: usize,
    /// The workers run, and the main thread waits for them.
    pub(super) released: bool,
    /// A step was begun and is not complete.
    pub(super) step_is_open: bool,
    /// The search preempts no thread any more in this execution, so it is not asked where a thread can only go on.
    pub(super) settled: bool,
    pub(super) totals: Totals,
    /// The operations that returned, one bit each.
    pub(super) returned: u64,
}

impl Threads {
    pub(super) fn new() -> Self {
        Threads {
            list: std::array::from_fn(Thread::new),
            ready: 0,
            waiting: 0,
            created: [0; MAX_WORKERS + 1],
            permits: [None; MAX_WORKERS + 1],
            threads: None,
            started: 0,
            current: MAIN,
            released: false,
            step_is_open: false,
            settled: false,
            totals: Totals::default(),
            returned: 0,
        }
    }

    /// Becomes equal to `other`, both of a test with this layout.
    pub(super) fn copy(&mut self, other: &Threads, layout: &Layout) {
        let Threads {
            list,
            ready,
            waiting,
            created,
            permits,
            threads,
            started,
            current,
            released,
            step_is_open,
            settled,
            totals,
            returned,
        } = other;
        for index in (0..layout.threads.len()).chain([MAIN]) {
            self.list[index].copy(&list[index]);
        }
        self.ready = *ready;
        self.waiting = *waiting;
        self.created = *created;
        self.permits = *permits;
        self.threads = *threads;
        self.started = *started;
        self.current = *current;
        self.released = *released;
        self.step_is_open = *step_is_open;
        self.settled = *settled;
        self.totals = *totals;
        self.returned = *returned;
    }

    /// The thread that runs.
    #[inline(always)]
    pub(super) fn running(&mut self) -> &mut Thread {
        &mut self.list[self.current]
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
            Pending::Foreign(_) => self.waiting |= bit,
            Pending::Join | Pending::Done => {}
        }
        self.list[index].pending = pending;
    }

    /// Whether a thread is in the middle of an operation.
    pub(super) fn is_inside(&self, thread: usize) -> bool {
        !matches!(
            self.list[thread].pending,
            Pending::Start(_) | Pending::Done | Pending::Join
        )
    }

    /// The running thread has seen this version of an object; it may have made it.
    #[inline(always)]
    pub(super) fn note_access(&mut self, object: u32, version: u32, effect: Effect) {
        let thread = &mut self.list[self.current];
        match thread.reads.iter_mut().find(|read| read.0 == object) {
            Some(read) if read.1 == version => thread.repeats += 1,
            Some(read) => {
                thread.tired &= read.1 + u32::from(effect.is_change()) == version;
                read.1 = version;
                thread.repeats = 0;
            }
            None => {
                thread.reads.push((object, version));
                thread.repeats = 0;
            }
        }
        self.totals.accesses += usize::from(self.current != MAIN);
    }

    /// The threads that wait in the middle of an operation.
    pub(super) fn blocked(&self, memory: &Memory) -> impl Iterator<Item = BlockedThread> {
        self.list.iter().enumerate().filter_map(|(index, thread)| {
            Some(BlockedThread {
                thread: index,
                op: thread.op? as usize,
                wait: thread.wait(memory)?,
                clock: thread.clock,
                location: thread.location,
            })
        })
    }

    /// A hash of everything that determines what can happen from here on in a test with so many workers.
    pub(crate) fn state(&self, workers: usize) -> Past {
        let mut state = Past::default();
        for thread in &self.list[..workers] {
            let position = match thread.pending {
                Pending::Start(_) => 0,
                Pending::Yield => 1,
                Pending::Done => 2,
                Pending::Wake { .. } if thread.woken != Woken::No => 3,
                _ => 4,
            };
            state = state.with(thread.past).then(position);
        }
        state
    }
}
