//! `std::thread::scope` under control.
//!
//! This module needs `unsafe`: what a thread of a scope does borrows from the frame that has opened the scope, while threads are
//! started with closures that borrow nothing.
#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread as std_thread;

use super::join::{BodyOf, Packet, life, run};
use super::{Kept, Thread};
use crate::runtime::start::{self, Body};
use crate::runtime::{self, Handle, panics};

/// As [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    threads: Mutex<Vec<Child>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A thread of a scope.
struct Child {
    ended: Arc<dyn Ended>,
    /// Outside of a controlled run.
    thread: Option<std_thread::JoinHandle<()>>,
    /// In a controlled run, its number.
    number: Option<usize>,
    joined: Arc<Mutex<bool>>,
}

/// What a scope has to know of a thread, whatever its result.
trait Ended: Send + Sync {
    fn wait(&self);
    fn panicked(&self) -> bool;
    /// Whether its closure is gone, so that it borrows nothing any more.
    fn is_over(&self) -> bool;
}

struct End<T> {
    packet: Arc<Packet<T>>,
    over: Arc<()>,
}

impl<T: Send> Ended for End<T> {
    #[track_caller]
    fn wait(&self) {
        self.packet.wait();
    }

    fn panicked(&self) -> bool {
        matches!(self.packet.take(), Some(Err(_)))
    }

    fn is_over(&self) -> bool {
        // The other one belongs to the closure of the thread.
        Arc::strong_count(&self.over) == 1
    }
}

/// As [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    packet: Arc<Packet<T>>,
    thread: Thread,
    number: Option<usize>,
    joined: Arc<Mutex<bool>>,
    scope: PhantomData<&'scope ()>,
}

/// Starts threads that end before it does.
///
/// # Panics
/// As [`spawn`](super::spawn), and if a thread of the scope panics that is not joined.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope {
        threads: Mutex::default(),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let waited = catch_unwind(AssertUnwindSafe(|| scope.wait()));
    // The execution may be over while threads of the scope still borrow from here: they have to unwind first.
    while !scope.is_over() {
        runtime::wait_to_unwind();
    }
    match (result, waited) {
        (Err(payload), _) | (Ok(_), Err(payload)) => resume_unwind(payload),
        (Ok(_), Ok(true)) => panic!("a scoped thread panicked"),
        (Ok(result), Ok(false)) => result,
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts a thread of the scope.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let packet = Packet::<T>::new();
        let joined = Arc::new(Mutex::new(false));
        let over = Arc::new(());
        let ended: Arc<dyn Ended + 'scope> = Arc::new(End {
            packet: Arc::clone(&packet),
            over: Arc::clone(&over),
        });
        // SAFETY: `scope` does not return or unwind before `is_over` holds for all its threads. That is so only when the closure
        // of the thread is gone, with all that it borrows, since `over` is dropped after it. What is left in the packet by then,
        // a result that nothing has joined, is dropped with `self.threads` and the handles, neither of which outlive `'scope`.
        let ended: Arc<dyn Ended> = unsafe { mem::transmute(ended) };
        let mut child = Child {
            ended,
            thread: None,
            number: None,
            joined: Arc::clone(&joined),
        };
        let thread = if runtime::in_execution() {
            let birth = Handle::new();
            let gate = birth.again();
            let body = life(birth, Arc::clone(&packet), f);
            let body: BodyOf<'scope> = Box::new(move || {
                let over = over;
                let message = body();
                drop(over);
                message
            });
            // SAFETY: as above: the body owns `over`, and is dropped by the thread, or by `is_over` if the thread has not run.
            let body: Body = unsafe { mem::transmute(body) };
            let number = start::start(&gate, body);
            child.number = Some(number);
            Thread(Kept::Controlled(number, None))
        } else {
            let packet = Arc::clone(&packet);
            let body = move || {
                let over = over;
                // A panic is in the packet.
                let _ = run(&packet, f);
                drop(packet);
                drop(over);
            };
            // SAFETY: as above.
            let started = unsafe { std_thread::Builder::new().spawn_unchecked(body) };
            let started = started.expect("failed to spawn thread");
            let thread = Thread(Kept::Std(started.thread().clone()));
            child.thread = Some(started);
            thread
        };
        let number = child.number;
        self.lock().push(child);
        ScopedJoinHandle {
            packet,
            thread,
            number,
            joined,
            scope: PhantomData,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Child>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all threads. Returns whether one panicked that was not joined.
    #[track_caller]
    fn wait(&self) -> bool {
        let mut panicked = false;
        let mut place = 0;
        loop {
            // A thread of the scope may have started more.
            let Some((ended, thread, number, joined)) = self.lock().get_mut(place).map(|child| {
                let joined = Arc::clone(&child.joined);
                (
                    Arc::clone(&child.ended),
                    child.thread.take(),
                    child.number,
                    joined,
                )
            }) else {
                return panicked;
            };
            place += 1;
            let is_joined = *joined.lock().unwrap_or_else(PoisonError::into_inner);
            if !is_joined {
                ended.wait();
                number.into_iter().for_each(start::note_join);
                panicked |= ended.panicked();
            }
            if let Some(thread) = thread {
                let _ = thread.join();
            }
        }
    }

    /// Whether no thread borrows from the scope any more. Drops what threads would have done that have not run.
    fn is_over(&self) -> bool {
        let threads = self.lock();
        threads.iter().all(|child| {
            if let Some(number) = child.number.filter(|_| !child.ended.is_over()) {
                start::withdraw(number);
            }
            child.ended.is_over()
        })
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the thread has ended, and returns its result, or its panic.
    #[track_caller]
    pub fn join(self) -> std_thread::Result<T> {
        self.packet.wait();
        self.number.into_iter().for_each(start::note_join);
        *self.joined.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.packet.take().unwrap_or_else(|| panics::stop())
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.packet.is_finished()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
