//! Runs the threads of a test as tasks of shuttle. Its scheduler is ours, and asks the search which task runs next.
//!
//! The main task is always ready and is scheduled only when all workers have finished. If it is the only ready task before
//! that, the workers are stuck, and the execution is abandoned, which shuttle allows; a deadlock of all tasks would end the
//! whole run. shuttle leaks the stacks of an abandoned execution: hence a bound on the stuck executions of a process.
//!
//! `Runner::run` returns after all executions, but the work between two executions borrows from its caller. So it runs in a
//! coroutine, which is suspended after each execution.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use corosensei::stack::DefaultStack;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner, thread};

use crate::runtime::coroutine::{self, Fiber, Signal, Switch};
use crate::runtime::execution::{End, Yields};
use crate::runtime::program::Program;
use crate::runtime::run::{Slot, object_panicked, run_all, wait_for_turn};
use crate::runtime::{MAIN, MAX_WORKERS, Stopped, give_up, panics, with};

/// The most stuck executions of a process: each leaks up to nine stacks, and Linux allows a process about 32,000.
const MOST_STUCK: usize = 3_000;
/// The stack of the runner, not of the object.
const RUNNER_STACK: usize = 1 << 20;

thread_local! {
    /// The work of this OS thread: shuttle requires `Send` closures, which cannot hold it.
    static TEST: RefCell<Option<(Rc<dyn Program>, Slot)>> = const { RefCell::new(None) };
}

/// A run of shuttle.
pub(crate) struct ShuttleRunner {
    runner: Fiber,
    is_over: bool,
}

impl ShuttleRunner {
    pub(crate) fn new(program: &Rc<dyn Program>) -> Self {
        install_hook_after_shuttle();
        TEST.set(Some((Rc::clone(program), Slot::default())));
        let mut config = Config::new();
        config.stack_size = program.stack_size();
        config.failure_persistence = FailurePersistence::None;
        config.max_steps = MaxSteps::None;
        config.silence_warnings = true;
        let stack = DefaultStack::new(RUNNER_STACK)
            .unwrap_or_else(|error| panic!("no memory for the stack of shuttle: {error}"));
        let body = move || {
            let run = || Runner::new(Asking::default(), config.clone()).run(main_task);
            if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
                give_up(&format!("shuttle panicked: {}", panics::message(&*payload)));
            }
        };
        ShuttleRunner {
            runner: Fiber::new(stack, body),
            is_over: false,
        }
    }

    /// Runs one execution.
    pub(crate) fn execute(&mut self) {
        if self.is_over {
            give_up("shuttle has given up");
            return;
        }
        self.is_over = self.runner.resume(Signal::Run) == Switch::Finished;
        if !self.is_over {
            static STUCK: AtomicUsize = AtomicUsize::new(0);
            let stuck = with(|execution, _| *execution.trace().end() == End::Stuck);
            if stuck && STUCK.fetch_add(1, Ordering::Relaxed) >= MOST_STUCK {
                give_up(&format!(
                    "shuttle does not give the stacks of stuck executions back, and {MOST_STUCK} of them are all that a process \
                     can have here"
                ));
            }
        }
    }
}

impl Drop for ShuttleRunner {
    fn drop(&mut self) {
        if !self.is_over {
            self.runner.resume(Signal::Unwind);
        }
        TEST.take();
    }
}

/// Installs our panic hook after that of shuttle, which prints a schedule for every panic of the process, also for those that
/// are results.
fn install_hook_after_shuttle() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        struct Nothing(bool);
        impl Scheduler for Nothing {
            fn new_execution(&mut self) -> Option<Schedule> {
                (!std::mem::replace(&mut self.0, true)).then(|| Schedule::new(0))
            }
            fn next_task(&mut self, ready: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
                ready.first().map(|task| task.id())
            }
            fn next_u64(&mut self) -> u64 {
                0
            }
        }
        Runner::new(Nothing(false), Config::new()).run(|| {});
        panics::install_hook();
    });
}

fn test() -> (Rc<dyn Program>, Slot) {
    TEST.with_borrow(|test| test.clone().expect("bug: shuttle runs without a test"))
}

fn main_task() {
    if let Err(payload) = catch_unwind(run_test) {
        give_up(&object_panicked(&panics::message(&*payload)));
    }
}

fn run_test() -> Result<(), Stopped> {
    let (program, slot) = test();
    let subject = program.construct();
    let layout = program.layout();
    run_all(&program, &*subject, 0..layout.init, wait_for_turn)?;
    *slot.borrow_mut() = Some(Rc::clone(&subject));
    let workers: Vec<_> = (0..layout.threads.len())
        .map(|index| thread::spawn(move || worker(index)))
        .collect();
    with(|execution, _| execution.release());
    while with(|execution, _| execution.released()) {
        thread::yield_now();
    }
    run_all(&program, &*subject, layout.finals(), wait_for_turn)?;
    drop(slot.take());
    drop(subject);
    for worker in workers {
        // Panics of the object were caught; they are results.
        let _ = worker.join();
    }
    Ok(())
}

fn worker(index: usize) -> Result<(), Stopped> {
    let (program, slot) = test();
    let Some(subject) = slot.borrow().clone() else {
        panic!("bug: a thread without an object");
    };
    let ops = program.layout().of_thread(index);
    let first = ops.start;
    run_all(&program, &*subject, ops, |op| {
        // The first call was scheduled before the thread ran.
        if op != first {
            with(|execution, _| execution.stand_before(op));
            thread::yield_now();
        }
        Ok(())
    })?;
    drop(subject);
    with(|execution, _| execution.done());
    Ok(())
}

/// A scheduler for shuttle that asks the search which thread runs next.
#[derive(Default)]
struct Asking {
    started: bool,
    fairness: Fairness,
}

const MAIN_TASK: usize = 0;

impl Scheduler for Asking {
    fn new_execution(&mut self) -> Option<Schedule> {
        if std::mem::replace(&mut self.started, true)
            && coroutine::suspend(Switch::Stuck) == Signal::Unwind
        {
            return None;
        }
        self.fairness = Fairness::default();
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        ready: &[&Task],
        current: Option<TaskId>,
        yields: bool,
    ) -> Option<TaskId> {
        // shuttle offers parked tasks, too, although they cannot run.
        let ready = || {
            ready
                .iter()
                .filter(|task| task.runnable())
                .map(|task| task.id())
        };
        // A destructor runs because the object panicked. A switch would show the panic to other threads.
        if std::thread::panicking()
            && let Some(current) = current.filter(|&current| ready().any(|task| task == current))
        {
            return Some(current);
        }
        with(|execution, search| {
            if !execution.released() {
                // The workers wait for the main task to start them, or are about to end.
                return ready().min();
            }
            let numbers = || ready().map(usize::from).filter(|&task| task != MAIN_TASK);
            if numbers().any(|task| task > execution.workers()) {
                let why = "the object starts threads of its own, which cannot be checked";
                execution.fail(why.to_owned());
                return None;
            }
            let mut ready = numbers().fold(0, |mask, task| mask | 1 << (task - 1));
            let inside = execution.inside();
            if yields && inside & 1 << execution.current() != 0 {
                self.fairness.yields(execution.current(), ready);
            }
            // In a serial execution a thread that yields has no other thread to wait for.
            if !execution.is_serial() {
                ready &= !(inside & self.fairness.waiting(ready));
            }
            match execution.next_of(ready, Yields::of(yields), search) {
                Switch::To(MAIN) => Some(TaskId::from(MAIN_TASK)),
                Switch::To(thread) => {
                    match inside & 1 << thread {
                        0 => self.fairness.begins(thread),
                        _ => self.fairness.runs(thread),
                    }
                    Some(TaskId::from(thread + 1))
                }
                Switch::Stuck | Switch::Unwinding | Switch::Finished => None,
            }
        })
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}

/// Keeps threads that spin from starving others: a thread that yields for the second time waits for all threads that could
/// have run in between and did not (Musuvathi and Qadeer, PLDI 2008).
#[derive(Clone, Copy, Debug)]
struct Fairness {
    /// The threads that must run before the thread runs again.
    behind: [u16; MAX_WORKERS],
    /// The threads that ran since it last yielded.
    ran: [u16; MAX_WORKERS],
}

impl Default for Fairness {
    fn default() -> Self {
        Fairness {
            behind: [0; MAX_WORKERS],
            ran: [u16::MAX; MAX_WORKERS],
        }
    }
}

impl Fairness {
    fn yields(&mut self, thread: usize, ready: u16) {
        self.behind[thread] = ready & !self.ran[thread] & !(1 << thread);
        self.ran[thread] = 0;
    }

    /// The threads that wait for a thread that is ready.
    fn waiting(&self, ready: u16) -> u16 {
        (0..MAX_WORKERS)
            .filter(|&thread| self.behind[thread] & ready != 0)
            .fold(0, |mask, thread| mask | 1 << thread)
    }

    /// The thread runs a step of the operation that it is in.
    fn runs(&mut self, thread: usize) {
        for index in 0..MAX_WORKERS {
            self.behind[index] &= !(1 << thread);
            self.ran[index] |= 1 << thread;
        }
    }

    /// The thread runs the first step of an operation: what it yielded to before does not matter.
    fn begins(&mut self, thread: usize) {
        self.runs(thread);
        (self.behind[thread], self.ran[thread]) = (0, u16::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_spins_waits_for_the_threads_that_did_not_run() {
        let mut fairness = Fairness::default();
        fairness.begins(0);
        fairness.yields(0, 0b111);
        assert_eq!(
            fairness.waiting(0b111),
            0,
            "the first time it may try again"
        );
        fairness.runs(0);
        fairness.runs(1);
        fairness.yields(0, 0b111);
        assert_eq!(fairness.waiting(0b111), 0b001, "thread 2 could have run");
        assert_eq!(fairness.waiting(0b011), 0, "thread 2 has to wait itself");
        fairness.runs(2);
        assert_eq!(fairness.waiting(0b111), 0);
    }
}
