//! Stackful coroutines: the threads of a controlled run, all on one OS thread.
//!
//! This module needs `unsafe`: an operation of the facade is called from deep inside the object under test, so the way back to the
//! scheduler cannot be passed down as a reference, and lies in a thread-local pointer.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// Why a coroutine is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The scheduler chose it.
    Run,
    /// The execution is over: the coroutine must unwind. If it has finished already, no other execution follows.
    Unwind,
}

/// Why a coroutine is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// The scheduler chose this thread.
    To(usize),
    /// No thread can go on.
    Stuck,
    /// It unwinds, and has to wait for another thread to do the same.
    Unwinding,
    /// It has finished its part of this execution.
    Finished,
}

thread_local! {
    static YIELDER: Cell<*const Yielder<Signal, Switch>> = const { Cell::new(ptr::null()) };
}

/// A thread of a controlled run. It runs in all executions, since creating a coroutine takes longer than many steps.
pub(crate) struct Fiber {
    coroutine: Coroutine<Signal, Switch, ()>,
    rests: bool,
}

impl Fiber {
    /// Runs `body`, which must not unwind, once in each execution.
    pub(crate) fn new(stack: DefaultStack, body: impl Fn() + 'static) -> Self {
        let coroutine = Coroutine::with_stack(
            stack,
            move |yielder: &Yielder<Signal, Switch>, mut signal| {
                YIELDER.set(yielder);
                while signal == Signal::Run {
                    body();
                    signal = suspend(Switch::Finished);
                }
            },
        );
        Fiber {
            coroutine,
            rests: true,
        }
    }

    pub(crate) fn resume(&mut self, signal: Signal) -> Switch {
        let switch = match self.coroutine.resume(signal) {
            CoroutineResult::Yield(switch) => switch,
            CoroutineResult::Return(()) => Switch::Finished,
        };
        self.rests = switch == Switch::Finished;
        switch
    }

    /// Whether it is between two executions.
    pub(crate) fn rests(&self) -> bool {
        self.rests
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if self.rests && !self.coroutine.done() {
            self.resume(Signal::Unwind);
        }
    }
}

/// Leaves the running fiber until it is resumed.
#[inline(always)]
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
