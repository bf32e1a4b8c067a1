//! `std::thread` under control.
//!
//! In a [`model`](crate::model()), `spawn` and `scope` start threads of the test, of which there are at most eight. The threads of a check of
//! an [`Object`](crate::Object) are those of its test: an object that spawns threads of its own cannot be checked under control; under
//! stress it can.

use std::thread as std_thread;
use std::time::Duration;

pub use std_thread::{AccessError, Result, available_parallelism, panicking};

mod join;
mod local;
mod scope;

pub use join::{Builder, JoinHandle, spawn};
pub use local::{LocalKey, Static};
pub use scope::{Scope, ScopedJoinHandle, scope};

use std::sync::Arc;

use crate::runtime::access::{Effect, Kind};
use crate::runtime::{self, Handle, spurious};

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
    /// With its name.
    Controlled(usize, Option<Arc<str>>),
}

/// The calling thread.
pub fn current() -> Thread {
    Thread(match runtime::current() {
        None => Kept::Std(std_thread::current()),
        Some(thread) => Kept::Controlled(thread, None),
    })
}

impl Thread {
    /// Gives the thread its permit.
    #[track_caller]
    pub fn unpark(&self) {
        match self.0 {
            Kept::Std(ref thread) => thread.unpark(),
            Kept::Controlled(thread, _) if runtime::controlled() => {
                let turn = runtime::permit(thread).access();
                let changed = !turn.available(Kind::Take);
                turn.touch(Kind::Give, Effect::changed_if(changed), || {
                    "unpark".to_owned()
                });
            }
            Kept::Controlled(..) => {}
        }
    }

    /// The name of the thread, if it has one. In a controlled run, only its [handle](JoinHandle::thread) knows it.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kept::Std(thread) => thread.name(),
            Kept::Controlled(_, name) => name.as_deref(),
        }
    }

    /// The identifier of the thread.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Kept::Std(thread) => Identity::Std(thread.id()),
            Kept::Controlled(thread, _) => Identity::Controlled(*thread),
        })
    }
}

/// Waits for the permit of the calling thread, and takes it. In a controlled run it returns without the permit only if that is
/// [asked for](crate::Object::spurious).
#[track_caller]
pub fn park() {
    let Some(permit) = own_permit() else {
        return std_thread::park();
    };
    if spurious::are_tried() {
        let turn = permit.wait_some_time(Kind::Take);
        if turn.available(Kind::Take) {
            turn.touch(Kind::Take, Effect::Changed, || "park: goes on".to_owned());
            return;
        }
        let returns = spurious::fails();
        turn.touch(Kind::Read, Effect::Unchanged, || match returns {
            true => "park: returns spuriously".to_owned(),
            false => "park: waits".to_owned(),
        });
        if returns {
            return;
        }
    }
    permit
        .wait(Kind::Take)
        .describe(|| "park: goes on".to_owned());
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
