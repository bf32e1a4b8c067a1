//! Tasks: what a waker wakes, and the clock of the timers of a future.

use std::cell::RefCell;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};
use std::thread as std_thread;
use std::time::Duration;

use crate::runtime::access::{Effect, Kind};
use crate::runtime::{self, Handle, Turn};

/// The permit that a waker leaves.
struct Woken {
    permit: Handle,
    /// Outside of a controlled run, the thread that waits.
    thread: std_thread::Thread,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    #[track_caller]
    fn wake_by_ref(self: &Arc<Self>) {
        let turn = self.permit.access();
        if turn == Turn::Std {
            self.thread.unpark();
            return;
        }
        let changed = !turn.available(Kind::Take);
        turn.touch(Kind::Give, Effect::changed_if(changed), || {
            "wakes a task".to_owned()
        });
    }
}

/// The clock of a task: it stands still while the task can go on. A deadline passes when the scheduler says so.
#[derive(Default)]
pub(super) struct Clock(Mutex<Time>);

#[derive(Default)]
struct Time {
    now: Duration,
    deadlines: Vec<Duration>,
}

impl Clock {
    fn time(&self) -> MutexGuard<'_, Time> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Duration {
        self.time().now
    }

    /// A timer waits for so long. Returns when that will be over.
    pub(super) fn expect(&self, duration: Duration) -> Duration {
        let mut time = self.time();
        let deadline = time.now.saturating_add(duration);
        time.deadlines.push(deadline);
        deadline
    }

    /// A timer is dropped.
    pub(super) fn forget(&self, deadline: Duration) {
        let mut time = self.time();
        if let Some(place) = time.deadlines.iter().position(|&known| known == deadline) {
            time.deadlines.swap_remove(place);
        }
    }

    fn next(&self) -> Option<Duration> {
        self.time().deadlines.iter().min().copied()
    }

    fn pass(&self, deadline: Duration) {
        let mut time = self.time();
        time.now = time.now.max(deadline);
    }
}

/// A future that is polled, with its waker.
pub(super) struct Task {
    woken: Arc<Woken>,
    clock: Arc<Clock>,
}

thread_local! {
    /// For each thread of a controlled run, the clocks of the tasks that it polls, the innermost last. Outside of one, it is thread 0.
    static CLOCKS: RefCell<Vec<(usize, Arc<Clock>)>> = const { RefCell::new(Vec::new()) };
}

/// The clock of the task that the running thread polls.
pub(super) fn clock() -> Option<Arc<Clock>> {
    let thread = runtime::current()?;
    CLOCKS.with_borrow(|clocks| {
        let mine = clocks.iter().rev().find(|(owner, _)| *owner == thread);
        mine.map(|(_, clock)| Arc::clone(clock))
    })
}

/// While this value exists, the running thread polls the task.
pub(super) struct Entered {
    clock: Arc<Clock>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CLOCKS.with_borrow_mut(|clocks| {
            if let Some(place) = clocks
                .iter()
                .rposition(|(_, clock)| Arc::ptr_eq(clock, &self.clock))
            {
                clocks.remove(place);
            }
        });
    }
}

impl Task {
    pub(super) fn new() -> Self {
        Task {
            woken: Arc::new(Woken {
                permit: Handle::new(),
                thread: std_thread::current(),
            }),
            clock: Arc::default(),
        }
    }

    /// The same task with another waker.
    pub(super) fn renewed(&self) -> Self {
        Task {
            clock: Arc::clone(&self.clock),
            ..Task::new()
        }
    }

    pub(super) fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.woken))
    }

    pub(super) fn enter(&self) -> Entered {
        let thread = runtime::current().unwrap_or_default();
        CLOCKS.with_borrow_mut(|clocks| clocks.push((thread, Arc::clone(&self.clock))));
        Entered {
            clock: Arc::clone(&self.clock),
        }
    }

    /// Looks at the permit, whatever it is.
    #[track_caller]
    pub(super) fn look(&self) -> Turn {
        self.woken.permit.access()
    }

    /// Waits until the task is woken, or until its next timer fires.
    #[track_caller]
    pub(super) fn wait(&self) {
        if !runtime::in_execution() {
            std_thread::park();
            return;
        }
        match self.clock.next() {
            Some(deadline) => {
                if !self.wait_some_time("a timer fires") {
                    self.clock.pass(deadline);
                }
            }
            None => {
                let turn = self.woken.permit.wait_at(Kind::Take, Location::caller());
                turn.describe(|| "is woken".to_owned());
            }
        }
    }

    /// Waits until the task is woken or something else happens, which these words tell. Returns whether it was woken.
    #[track_caller]
    pub(super) fn wait_some_time(&self, otherwise: &str) -> bool {
        if !runtime::in_execution() {
            return false;
        }
        let turn = self.woken.permit.wait_some_time(Kind::Take);
        let woken = turn.available(Kind::Take);
        match woken {
            true => turn.touch(Kind::Take, Effect::Changed, || "is woken".to_owned()),
            false => turn.touch(Kind::Read, Effect::Unchanged, || otherwise.to_owned()),
        }
        woken
    }
}
