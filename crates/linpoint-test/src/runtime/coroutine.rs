//! Stackful coroutines: the threads of a controlled run, all on one OS thread.
//!
//! The only module of the crate with `unsafe` code: an operation of the facade is called from deep inside the object under
//! test, so the way back to the scheduler cannot be handed down as a reference and lies in a thread-local pointer.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// What a coroutine is told when it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// It is its turn.
    Run,
    /// The execution is over: unwind.
    Unwind,
}

/// Why a coroutine stopped for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// It is the turn of this thread.
    To(usize),
    /// Nobody can go on.
    Stuck,
    /// It unwinds, and has to wait for another thread to do the same.
    Unwinding,
}

thread_local! {
    static YIELDER: Cell<*const Yielder<Signal, Switch>> = const { Cell::new(ptr::null()) };
}

/// A thread of a controlled run.
pub(crate) struct Fiber(Coroutine<Signal, Switch, ()>);

/// What became of a fiber that was resumed.
pub(crate) enum Resumed {
    Switched(Switch),
    Finished,
}

impl Fiber {
    pub(crate) fn new(stack: DefaultStack, body: impl FnOnce() + 'static) -> Self {
        Fiber(Coroutine::with_stack(
            stack,
            move |yielder: &Yielder<Signal, Switch>, signal| {
                YIELDER.set(yielder);
                if signal == Signal::Run {
                    body();
                }
            },
        ))
    }

    pub(crate) fn resume(&mut self, signal: Signal) -> Resumed {
        match self.0.resume(signal) {
            CoroutineResult::Yield(switch) => Resumed::Switched(switch),
            CoroutineResult::Return(()) => Resumed::Finished,
        }
    }

    /// Whether its body has ended.
    pub(crate) fn done(&self) -> bool {
        self.0.done()
    }

    /// The stack of a fiber that is done, for the next one.
    pub(crate) fn into_stack(self) -> DefaultStack {
        self.0.into_stack()
    }
}

/// Leaves the running fiber until it is resumed.
pub(crate) fn suspend(switch: Switch) -> Signal {
    let yielder = YIELDER.get();
    assert!(!yielder.is_null(), "bug: suspended outside a fiber");
    // SAFETY: the pointer was stored by the fiber that runs now: a fiber stores its own when it starts, and again each time
    // it is resumed (below). The yielder lives on that fiber's stack, below all frames of its body, and this call is one
    // of them.
    let signal = unsafe { &*yielder }.suspend(switch);
    YIELDER.set(yielder);
    signal
}
