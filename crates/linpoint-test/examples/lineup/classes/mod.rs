//! The classes on which the authors of Line-Up tried it (Table 1), as small Rust types, each correct or with the flaw of one
//! root cause (Table 2). The paper describes A, B and H to L; C to G are flaws of our own at the same classes.

#![allow(unreachable_pub)] // As they would stand in a library.

pub mod barrier;
pub mod blocking_collection;
pub mod cancellation_token_source;
pub mod concurrent_bag;
pub mod concurrent_dictionary;
pub mod concurrent_linked_list;
pub mod concurrent_queue;
pub mod concurrent_stack;
pub mod countdown_event;
mod lanes;
pub mod lazy;
pub mod manual_reset_event;
pub mod scanning_collection;
pub mod semaphore_slim;
mod subjects;
pub mod task_completion_source;

pub use subjects::{SUBJECTS, Subject, Test};

use linpoint_test::sync::{Condvar, Mutex, MutexGuard};

/// Which flaw an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seed {
    /// None.
    Correct,
    A,
    B,
    C,
    D,
    /// Another one for D, of the dimension of the paper.
    D2,
    E,
    F,
    G,
    H,
    I,
    J,
    K,
    L,
    /// A flaw of our own in a class in which the paper finds none.
    Mutant,
}

/// What an operation answers where the original throws an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refused;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder panics")
}

fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).expect("no holder panics")
}
