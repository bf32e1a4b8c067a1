//! Threads that the object or the test starts.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread as std_thread;

use super::{Kept, Thread};
use crate::runtime::access::Kind;
use crate::runtime::start;
use crate::runtime::{self, Handle, panics, values};

/// What a thread leaves behind when it ends.
pub(super) struct Packet<T> {
    result: Mutex<Option<std_thread::Result<T>>>,
    /// Outside of a controlled run, the result is there.
    there: Condvar,
    /// In a controlled run, open when the thread has ended.
    ended: Handle,
}

impl<T> Packet<T> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Packet {
            result: Mutex::new(None),
            there: Condvar::new(),
            ended: Handle::new(),
        })
    }

    fn leave(&self, result: std_thread::Result<T>) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.there.notify_all();
    }

    /// Waits until the thread has ended.
    #[track_caller]
    pub(super) fn wait(&self) {
        if runtime::in_execution() {
            let turn = self.ended.wait(Kind::Pass);
            turn.describe(|| "join: the thread has ended".to_owned());
            return;
        }
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        while result.is_none() {
            result = self
                .there
                .wait(result)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    #[track_caller]
    pub(super) fn is_finished(&self) -> bool {
        if !runtime::in_execution() {
            let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
            return result.is_some();
        }
        let turn = self.ended.look();
        let ended = turn.available(Kind::Pass);
        turn.describe(|| format!("is the thread finished: {ended}"));
        ended
    }

    pub(super) fn take(&self) -> Option<std_thread::Result<T>> {
        self.result
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// Runs `f` and leaves its result in the packet. The message of a panic is an error.
pub(super) fn run<T>(packet: &Packet<T>, f: impl FnOnce() -> T) -> Result<(), String> {
    let result = catch_unwind(AssertUnwindSafe(f));
    let message = match &result {
        Err(payload) if !panics::is_stop(&**payload) => Err(panics::message(&**payload)),
        _ => Ok(()),
    };
    match result {
        Err(payload) if panics::is_stop(&*payload) => resume_unwind(payload),
        result => packet.leave(result),
    }
    message
}

/// A [`Body`](start::Body) that borrows.
pub(super) type BodyOf<'a> = Box<dyn FnOnce() -> Result<(), String> + 'a>;

/// What a thread of a controlled run does: from its birth to its end.
#[track_caller]
pub(super) fn life<'a, T: 'a>(
    birth: Handle,
    packet: Arc<Packet<T>>,
    f: impl FnOnce() -> T + 'a,
) -> BodyOf<'a> {
    let place = std::panic::Location::caller();
    Box::new(move || {
        let turn = birth.wait_at(Kind::Pass, place);
        turn.describe(|| "begins".to_owned());
        let message = run(&packet, f);
        if let Some(thread) = runtime::current() {
            values::drop_of(thread);
        }
        let turn = packet.ended.give_back(Kind::Open, place);
        turn.describe(|| "ends".to_owned());
        message
    })
}

/// As [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Inner<T>);

enum Inner<T> {
    Std(std_thread::JoinHandle<T>),
    Controlled {
        number: usize,
        thread: Thread,
        packet: Arc<Packet<T>>,
    },
}

/// Starts a thread. In a controlled run it is one more thread of the test, which has at most eight.
///
/// # Panics
/// In a check of an [`Object`](crate::Object): its threads are those of the test. In a [`model`](crate::model()) that has eight
/// threads already.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    start(None, f)
}

#[track_caller]
pub(super) fn start<F, T>(name: Option<Arc<str>>, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if !runtime::in_execution() {
        let mut builder = std_thread::Builder::new();
        if let Some(name) = name {
            builder = builder.name(name.to_string());
        }
        let spawned = builder.spawn(f);
        return JoinHandle(Inner::Std(spawned.expect("failed to spawn thread")));
    }
    let (packet, birth) = (Packet::new(), Handle::new());
    let gate = birth.again();
    let number = start::start(&gate, life(birth, Arc::clone(&packet), f));
    let thread = Thread(Kept::Controlled(number, name));
    JoinHandle(Inner::Controlled {
        number,
        thread,
        packet,
    })
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, and returns its result, or its panic.
    #[track_caller]
    pub fn join(self) -> std_thread::Result<T> {
        match self.0 {
            Inner::Std(handle) => handle.join(),
            Inner::Controlled { number, packet, .. } => {
                packet.wait();
                start::note_join(number);
                packet.take().unwrap_or_else(|| panics::stop())
            }
        }
    }

    /// The thread.
    pub fn thread(&self) -> Thread {
        match &self.0 {
            Inner::Std(handle) => Thread(Kept::Std(handle.thread().clone())),
            Inner::Controlled { thread, .. } => thread.clone(),
        }
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Std(handle) => handle.is_finished(),
            Inner::Controlled { packet, .. } => packet.is_finished(),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// As [`std::thread::Builder`]. The size of a stack is that of the [test](crate::Model::stack_size) in a controlled run.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: Option<Arc<str>>,
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Names the thread.
    #[must_use]
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Has no effect.
    #[must_use]
    pub fn stack_size(self, _: usize) -> Self {
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// None so far.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(start(self.name, f))
    }
}
