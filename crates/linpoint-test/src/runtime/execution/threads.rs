//! Where the threads of an execution stand: what is kept of a choice, to go on from there another way.

use std::panic::Location;

use super::super::causality::{Clock, Past};
use super::super::{MAIN, MAX_WORKERS};
use super::{Layout, Pending};

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) pending: Pending,
    pub(crate) op: Option<u32>,
    /// The call was just made, or the thread woke up: the next access needs no scheduling point of its own.
    pub(super) fresh: bool,
    /// Its next turn comes although nothing changed.
    pub(super) forced: bool,
    /// The step that notified it.
    pub(super) notified: Option<u32>,
    /// What it has read since its last call or yield: object and version.
    pub(super) reads: Vec<(u32, u32)>,
    pub(super) repeats: u32,
    pub(super) steps: u16,
    pub(super) clock: Clock,
    pub(super) past: Past,
    pub(crate) location: Option<&'static Location<'static>>,
}

impl Thread {
    fn new(index: usize) -> Self {
        Thread {
            pending: Pending::Done,
            op: None,
            fresh: false,
            forced: false,
            notified: None,
            reads: Vec::new(),
            repeats: 0,
            steps: 0,
            clock: Clock::default(),
            past: Past::of_thread(index),
            location: None,
        }
    }

    /// Becomes what another one is.
    fn copy(&mut self, other: &Thread) {
        let reads = std::mem::take(&mut self.reads);
        *self = Thread { reads, ..*other };
        self.reads.clone_from(&other.reads);
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) threads: [Thread; MAX_WORKERS + 1],
    /// Those whose next step is possible, whatever the others do; one bit per thread.
    pub(super) ready: u16,
    /// Those whose next step may have to wait for others.
    pub(super) waiting: u16,
    pub(super) created: [u32; MAX_WORKERS + 1],
    pub(super) permits: [Option<u32>; MAX_WORKERS + 1],
    pub(crate) current: usize,
    /// Workers may run.
    pub(super) workers: bool,
    /// A step was begun.
    pub(super) open: bool,
    /// Nobody is preempted any more: the search need not be asked.
    pub(super) settled: bool,
    pub(super) idle: u32,
    pub(super) last_forced: usize,
    /// So many steps were begun.
    pub(crate) taken: usize,
    /// So often workers touched something under control.
    pub(crate) touched: usize,
    pub(crate) preemptions: u32,
    /// The operations that returned, one bit each.
    pub(super) returned: u64,
}

impl State {
    pub(super) fn new() -> Self {
        State {
            threads: std::array::from_fn(Thread::new),
            ready: 0,
            waiting: 0,
            created: [0; MAX_WORKERS + 1],
            permits: [None; MAX_WORKERS + 1],
            current: MAIN,
            workers: false,
            open: false,
            settled: false,
            idle: 0,
            last_forced: 0,
            taken: 0,
            touched: 0,
            preemptions: 0,
            returned: 0,
        }
    }

    /// Becomes what another one is, both of this test.
    pub(super) fn copy(&mut self, other: &State, layout: &Layout) {
        let State {
            threads,
            ready,
            waiting,
            created,
            permits,
            current,
            workers,
            open,
            settled,
            idle,
            last_forced,
            taken,
            touched,
            preemptions,
            returned,
        } = other;
        for index in (0..layout.threads.len()).chain([MAIN]) {
            self.threads[index].copy(&threads[index]);
        }
        self.ready = *ready;
        self.waiting = *waiting;
        self.created = *created;
        self.permits = *permits;
        self.current = *current;
        self.workers = *workers;
        self.open = *open;
        self.settled = *settled;
        self.idle = *idle;
        self.last_forced = *last_forced;
        self.taken = *taken;
        self.touched = *touched;
        self.preemptions = *preemptions;
        self.returned = *returned;
    }
}
