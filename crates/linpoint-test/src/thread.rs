//! `std::thread` under control.
//!
//! The threads of a controlled run are those of the test. An object that spawns threads of its own cannot be checked under
//! control; under stress it can.

use std::thread as std_thread;
use std::time::Duration;

pub use std_thread::{AccessError, JoinHandle, LocalKey, Result, Scope, panicking};

use crate::runtime::access::{Effect, Kind};
use crate::runtime::{self, Handle};

/// Starts a thread.
///
/// # Panics
/// In a controlled run.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    refuse_under_control();
    std_thread::spawn(f)
}

/// Starts threads that end before it does.
///
/// # Panics
/// In a controlled run.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    refuse_under_control();
    std_thread::scope(f)
}

#[track_caller]
fn refuse_under_control() {
    if runtime::controlled() {
        let why = "an object that spawns threads cannot be checked under control";
        runtime::give_up(why);
        panic!("{why}");
    }
}

/// Lets others run. In a controlled run, a thread that found nothing new since its last yield, and would find nothing new
/// however often it yields, sleeps until something changes that it has read.
#[track_caller]
pub fn yield_now() {
    if !runtime::yield_now() {
        std_thread::yield_now();
    }
}

/// Lets time pass: in a controlled run a yield, after which the [clock](crate::time) is ahead.
#[track_caller]
pub fn sleep(duration: Duration) {
    runtime::pass_time(duration);
    if !runtime::yield_now() {
        std_thread::sleep(duration);
    }
}

/// Identifies a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(Identity);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Identity {
    Std(std_thread::ThreadId),
    Controlled(usize),
}

/// As [`std::thread::Thread`].
#[derive(Clone, Debug)]
pub struct Thread(Kept);

#[derive(Clone, Debug)]
enum Kept {
    Std(std_thread::Thread),
    Controlled(usize),
}

/// The calling thread.
pub fn current() -> Thread {
    Thread(match runtime::current() {
        None => Kept::Std(std_thread::current()),
        Some(thread) => Kept::Controlled(thread),
    })
}

impl Thread {
    /// Gives the thread its permit.
    #[track_caller]
    pub fn unpark(&self) {
        match self.0 {
            Kept::Std(ref thread) => thread.unpark(),
            Kept::Controlled(thread) if runtime::controlled() => {
                let turn = runtime::permit(thread).access();
                let changed = !turn.available(Kind::Take);
                turn.touch(Kind::Give, Effect::changed_if(changed), || {
                    "unpark".to_owned()
                });
            }
            Kept::Controlled(_) => {}
        }
    }

    /// The identifier of the thread.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Kept::Std(thread) => Identity::Std(thread.id()),
            Kept::Controlled(thread) => Identity::Controlled(*thread),
        })
    }
}

/// Waits for the permit of the calling thread, and takes it.
#[track_caller]
pub fn park() {
    match own_permit() {
        None => std_thread::park(),
        Some(permit) => permit
            .wait(Kind::Take)
            .describe(|| "park: goes on".to_owned()),
    }
}

/// Waits for the permit of the calling thread, at most for this long.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    match own_permit() {
        None => std_thread::park_timeout(duration),
        Some(permit) => {
            let turn = permit.wait_some_time(Kind::Take);
            match turn.available(Kind::Take) {
                true => turn.touch(Kind::Take, Effect::Changed, || "park: goes on".to_owned()),
                false => turn.times_out(|| "park: times out".to_owned()),
            }
        }
    }
}

fn own_permit() -> Option<Handle> {
    runtime::current().map(runtime::permit)
}

/// Gives a thread its permit: the same as [`Thread::unpark`].
#[track_caller]
pub fn unpark(thread: &Thread) {
    thread.unpark();
}
