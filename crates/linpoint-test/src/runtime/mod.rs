//! Controlled runs: the threads of a test are coroutines of one OS thread, and every operation of the facade is a scheduling point.
//!
//! Each OS thread has an execution of its own, so several checks run side by side. The thread that reaches a scheduling point asks the
//! search which thread goes on; the coroutines are switched only if it is another one.

pub(crate) mod access;
pub(crate) mod causality;
mod clock;
pub(crate) mod coroutine;
mod current;
pub(crate) mod execution;
pub(crate) mod history;
pub(crate) mod memory_event;
pub(crate) mod panics;
pub(crate) mod program;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod spurious;
pub(crate) mod start;
pub(crate) mod values;

use std::cell::Cell;
use std::panic::Location;
use std::time::Duration;

use access::{Effect, Kind, Manner};
use coroutine::{Signal, Switch};
use execution::{Execution, Notify, Pending, Wakeup};
use memory_event::{Action, remember};

pub(crate) use current::with;

/// The most threads that a test can have.
pub(crate) const MAX_WORKERS: usize = 8;
/// The thread that constructs the object and runs the initial and final sequences.
pub(crate) const MAIN: usize = MAX_WORKERS;

/// What a nondeterministic object may depend on, as text.
pub(crate) const UNCONTROLLED: &str = "something that is not under control, such as time, chance, addresses, or a static that survives between executions";

/// The name of a thread in reports.
pub(crate) fn thread_name(thread: usize) -> String {
    match u8::try_from(thread) {
        Ok(thread) if usize::from(thread) < MAX_WORKERS => char::from(b'A' + thread).to_string(),
        _ => "main".to_owned(),
    }
}

/// What an operation of the facade means to this OS thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// What it means in `std`.
    Outside,
    /// A scheduling point.
    Controlled,
    /// Not a scheduling point: results are inspected, or the object is dropped.
    Quiet,
    /// The execution is over, its threads unwind.
    Teardown,
}

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Outside) };
}

/// Identifies an object of the facade in the execution that created it.
#[derive(Debug)]
pub(crate) struct Handle {
    epoch: u64,
    object: u32,
}

/// Whether a wait may end because its time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timeout {
    Never,
    Possible,
}

/// What an operation of the facade may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// What `std` does, for it is not controlled.
    Std,
    /// Its work, without waiting and without reporting it.
    Direct,
    /// Its work, and report what it did.
    Scheduled(Scheduled),
}

/// An access that was scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheduled {
    object: u32,
    /// Steps are described in words.
    verbose: bool,
}

impl Default for Handle {
    fn default() -> Self {
        Handle::new()
    }
}

impl Handle {
    /// Registers a new object with the running execution, if there is one.
    pub(crate) fn new() -> Self {
        if MODE.get() != Mode::Controlled {
            return Handle {
                epoch: 0,
                object: 0,
            };
        }
        with(|execution, _| Handle {
            epoch: execution.epoch(),
            object: execution.create(),
        })
    }

    #[inline(always)]
    fn object(&self, execution: &mut Execution) -> u32 {
        if self.epoch == execution.epoch() {
            self.object
        } else {
            execution.external(std::ptr::from_ref(self).addr())
        }
    }

    /// The same object.
    pub(crate) fn again(&self) -> Self {
        Handle {
            epoch: self.epoch,
            object: self.object,
        }
    }

    /// An access that is always possible. The caller reports its kind afterwards, see [`Turn::touch`].
    #[track_caller]
    #[inline(always)]
    pub(crate) fn access(&self) -> Turn {
        self.enter(Kind::Write, Manner::Open, Location::caller())
    }

    /// An access that is always possible and only looks.
    #[track_caller]
    #[inline(always)]
    pub(crate) fn look(&self) -> Turn {
        let manner = Manner::Known { changed: false };
        self.enter(Kind::Read, manner, Location::caller())
    }

    /// Gives back, in a destructor, what was taken at that place.
    pub(crate) fn give_back(&self, kind: Kind, location: &'static Location<'static>) -> Turn {
        self.enter(kind, Manner::Known { changed: true }, location)
    }

    /// Waits until the access is possible, and has it.
    #[track_caller]
    pub(crate) fn wait(&self, kind: Kind) -> Turn {
        self.enter(kind, Manner::Blocking, Location::caller())
    }

    /// The same, at that place.
    pub(crate) fn wait_at(&self, kind: Kind, location: &'static Location<'static>) -> Turn {
        self.enter(kind, Manner::Blocking, location)
    }

    /// Waits until the access is possible or its time is up. The caller reports which of the two it was, see [`Turn::touch`].
    #[track_caller]
    pub(crate) fn wait_some_time(&self, kind: Kind) -> Turn {
        self.enter(kind, Manner::Timed, Location::caller())
    }

    #[inline(always)]
    fn enter(&self, kind: Kind, manner: Manner, location: &'static Location<'static>) -> Turn {
        if !controlled() || std::thread::panicking() {
            return self.unscheduled(kind, manner);
        }
        match self.repeat(kind, manner) {
            Some((turn, switch)) => {
                follow(switch);
                Turn::Scheduled(turn)
            }
            None => self.ask(kind, manner, location),
        }
    }

    /// Repeats an access of the execution before: the short path, which nearly all accesses of a search take.
    #[inline(always)]
    fn repeat(&self, kind: Kind, manner: Manner) -> Option<(Scheduled, Option<Switch>)> {
        with(|execution, _| {
            if self.epoch != execution.epoch() {
                return None;
            }
            let turn = Scheduled {
                object: self.object,
                verbose: execution.keeps_words(),
            };
            let switch = execution.repeat_step(turn.pending(kind, manner))?;
            Some((turn, switch))
        })
    }

    #[cold]
    #[inline(never)]
    fn unscheduled(&self, kind: Kind, manner: Manner) -> Turn {
        match MODE.get() {
            Mode::Outside => Turn::Std,
            Mode::Quiet => Turn::Direct,
            Mode::Teardown if std::thread::panicking() => Turn::Direct,
            Mode::Teardown => panics::stop(),
            // A destructor runs because the object panicked: a switch would show the panic to other threads.
            Mode::Controlled => self.while_unwinding(kind, manner),
        }
    }

    /// Asks which thread goes on, and waits until it is this one.
    #[inline(never)]
    fn ask(&self, kind: Kind, manner: Manner, location: &'static Location<'static>) -> Turn {
        loop {
            let announced = with(|execution, search| {
                if execution.spins() {
                    return None;
                }
                let turn = self.scheduled(execution);
                let pending = turn.pending(kind, manner);
                Some((turn, execution.announce(pending, location, search)))
            });
            match announced {
                Some((turn, switch)) => {
                    follow(switch);
                    return Turn::Scheduled(turn);
                }
                None => pause(location),
            }
        }
    }

    fn scheduled(&self, execution: &mut Execution) -> Scheduled {
        Scheduled {
            object: self.object(execution),
            verbose: execution.keeps_words(),
        }
    }

    fn while_unwinding(&self, kind: Kind, manner: Manner) -> Turn {
        let (turn, possible) = with(|execution, _| {
            let turn = self.scheduled(execution);
            let possible =
                manner != Manner::Blocking || execution.finds_available(turn.object, kind);
            match manner {
                _ if !possible => execution.fail(
                    "an operation waits in a destructor while it unwinds from a panic".to_owned(),
                ),
                Manner::Blocking => _ = execution.report_touch(turn.object, kind, Effect::Changed),
                Manner::Known { changed } => {
                    let effect = Effect::changed_if(changed);
                    execution.report_touch(turn.object, kind, effect);
                }
                Manner::Open | Manner::Timed => {}
            }
            (turn, possible)
        });
        if !possible {
            wait_to_unwind();
            return Turn::Direct;
        }
        Turn::Scheduled(turn)
    }
}

impl Scheduled {
    #[inline(always)]
    fn pending(self, kind: Kind, manner: Manner) -> Pending {
        Pending::Access {
            object: self.object,
            kind,
            manner,
        }
    }

    fn touch(self, kind: Kind, effect: Effect) {
        with(|execution, _| execution.report_touch(self.object, kind, effect));
    }

    fn times_out(self) {
        with(|execution, _| execution.report_time_out(self.object));
    }
}

impl Turn {
    /// Reports what the access was.
    pub(crate) fn touch(self, kind: Kind, effect: Effect, words: impl FnOnce() -> String) {
        if let Turn::Scheduled(scheduled) = self {
            scheduled.touch(kind, effect);
            self.describe(words);
        }
    }

    /// Reports that the access of an atomic wrote a value. One that was there already changes nothing that others could see, except which
    /// write they read.
    pub(crate) fn write(
        self,
        handle: &Handle,
        action: Action,
        changed: bool,
        words: impl FnOnce() -> String,
    ) {
        let kind = match changed || memory_event::orders(action) {
            true => Kind::Write,
            false => Kind::Read,
        };
        self.touch(kind, Effect::changed_if(changed), words);
        remember(handle, action);
    }

    /// Reports that the access was not possible, and its time is up.
    pub(crate) fn times_out(self, words: impl FnOnce() -> String) {
        if let Turn::Scheduled(scheduled) = self {
            scheduled.times_out();
            self.describe(words);
        }
    }

    /// Describes an access that was reported already.
    pub(crate) fn describe(self, words: impl FnOnce() -> String) {
        if let Turn::Scheduled(Scheduled { verbose: true, .. }) = self {
            with(|execution, _| execution.describe(words));
        }
    }

    /// Whether a wait for this access would end at once.
    pub(crate) fn available(self, kind: Kind) -> bool {
        match self {
            Turn::Scheduled(turn) => {
                with(|execution, _| execution.finds_available(turn.object, kind))
            }
            _ => true,
        }
    }
}

/// The execution is over, and the running thread with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopped;

/// Switches to the thread that goes on, and returns when the running one is resumed.
#[inline(always)]
fn leave(switch: Option<Switch>) -> Result<(), Stopped> {
    match switch {
        Some(switch) if coroutine::suspend(switch) == Signal::Unwind => Err(Stopped),
        _ => Ok(()),
    }
}

/// The same from inside an operation, which is unwound if the execution is over.
#[inline(always)]
fn follow(switch: Option<Switch>) {
    if leave(switch).is_err() {
        panics::stop();
    }
}

/// A destructor of an execution that is over has to wait until another thread has unwound.
pub(crate) fn wait_to_unwind() {
    coroutine::suspend(Switch::Unwinding);
}

/// Ends the execution that runs here: the test cannot be decided, for this reason.
pub(crate) fn give_up(why: &str) {
    with(|execution, _| execution.fail(why.to_owned()));
}

/// The operations of the test that this OS thread runs from now on, for the watchdog.
pub(crate) fn watch(names: impl Iterator<Item = String>) {
    current::look(|current| current.execution.watch(names));
}

/// Works with an execution that has ended.
#[cfg(feature = "loom")]
pub(crate) fn with_ended<R>(work: impl FnOnce(&mut Execution) -> R) -> R {
    current::change(|current| work(&mut current.execution))
}

/// Whether operations of the facade are scheduling points here and now.
pub(crate) fn controlled() -> bool {
    MODE.get() == Mode::Controlled
}

/// Lets other threads run. Returns `false` outside of a check, where the caller yields by `std`.
#[track_caller]
pub(crate) fn yield_now() -> bool {
    match MODE.get() {
        Mode::Outside => false,
        Mode::Controlled if !std::thread::panicking() => {
            pause(Location::caller());
            true
        }
        Mode::Teardown if !std::thread::panicking() => panics::stop(),
        _ => true,
    }
}

fn pause(location: &'static Location<'static>) {
    follow(with(|execution, search| {
        execution.announce(Pending::Yield, location, search)
    }));
    with(|execution, _| execution.describe(|| "yields".to_owned()));
}

/// Picks one of several outcomes that are not a matter of scheduling. The running step must not have picked before.
pub(crate) fn pick(ways: usize) -> usize {
    with(|execution, search| execution.decide(ways, search))
}

/// Whether the execution is a serial one.
pub(crate) fn is_serial() -> bool {
    with(|execution, _| execution.changes_between_operations())
}

/// Whether an execution is going on: what is asked belongs to one of its threads, be they controlled or not.
pub(crate) fn in_execution() -> bool {
    MODE.get() != Mode::Outside
}

/// The running thread of a controlled run.
pub(crate) fn current() -> Option<usize> {
    controlled().then(|| with(|execution, _| execution.current()))
}

/// How many steps the execution has begun; 0 outside of a controlled run.
pub(crate) fn steps() -> usize {
    match controlled() {
        true => with(|execution, _| execution.steps()),
        false => 0,
    }
}

/// The time since the execution began, on its clock; `None` outside of a controlled run.
pub(crate) fn look_at_clock() -> Option<Duration> {
    controlled().then(|| with(|execution, _| execution.look_at_clock()))
}

/// The running thread sleeps for this long, if it is one of a controlled run.
pub(crate) fn pass_time(time: Duration) {
    if controlled() {
        with(|execution, _| execution.pass_time(time));
    }
}

/// The permit of a thread of this run: what `park` waits for.
pub(crate) fn permit(thread: usize) -> Handle {
    with(|execution, _| Handle {
        epoch: execution.epoch(),
        object: execution.permit(thread),
    })
}

/// Whether a wait may end for no reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spurious {
    #[default]
    Possible,
    Never,
}

/// Joins the queue of a condition and gives the mutex back, in one step; `give_back` drops the guard.
#[track_caller]
pub(crate) fn begin_wait(
    condvar: &Handle,
    mutex: &Handle,
    spurious: Spurious,
    give_back: impl FnOnce(),
) -> Turn {
    let turn = condvar.access();
    give_back();
    turn.touch(Kind::Join, Effect::Changed, || {
        "waits, and unlocks".to_owned()
    });
    if turn != Turn::Direct {
        with(|execution, _| {
            let mutex = mutex.object(execution);
            execution.begin_wait(mutex);
        });
        if spurious == Spurious::Possible && spurious::are_tried() {
            spurious::wakes();
        }
    }
    turn
}

/// Waits for a notification and for the mutex. Returns what ended the wait.
#[track_caller]
#[inline(always)]
pub(crate) fn end_wait(turn: Turn, mutex: &Handle, timeout: Timeout) -> Wakeup {
    let Turn::Scheduled(Scheduled {
        object: condvar, ..
    }) = turn
    else {
        return Wakeup::Notification;
    };
    let location = Location::caller();
    follow(with(|execution, search| {
        let pending = Pending::Wake {
            condvar,
            mutex: mutex.object(execution),
            timed: timeout == Timeout::Possible,
        };
        execution.announce(pending, location, search)
    }));
    with(|execution, _| execution.wakeup())
}

/// Notifies one or all of the threads that wait for a condition.
#[track_caller]
pub(crate) fn notify(condvar: &Handle, notify: Notify) -> Turn {
    let turn = condvar.access();
    if let Turn::Scheduled(Scheduled { object, .. }) = turn {
        with(|execution, search| {
            let waiting = execution.notify(object, notify, search);
            execution.describe(|| match waiting {
                0 => "notifies, and no thread waits".to_owned(),
                _ => "notifies".to_owned(),
            });
        });
    }
    turn
}

/// Runs code of the user that is not part of an operation: its accesses are not scheduled.
#[inline(always)]
pub(crate) fn quietly<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(Mode);
    impl Drop for Restore {
        #[inline(always)]
        fn drop(&mut self) {
            MODE.set(self.0);
        }
    }
    let _restore = Restore(MODE.replace(match MODE.get() {
        Mode::Outside => Mode::Outside,
        _ => Mode::Quiet,
    }));
    work()
}
