//! Runs a program once for each schedule that a search asks for.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use corosensei::stack::DefaultStack;

use super::coroutine::{Fiber, Signal, Switch};
use super::execution::{Outcome, Settings, Trace};
use super::memory_event;
use super::panics;
use super::program::{Program, Subject};
use super::search::Search;
use super::{
    MAIN, MODE, Mode, Stopped, current, give_up, leave, quietly, spurious, start, values, with,
};

/// Whether more executions are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    Enough,
}

/// What the runtime does when an execution begins with choices of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// Answers its threads from the log, up to the checkpoint at which the executions differ.
    FromCheckpoint,
    /// Runs it again from the start: the threads belong to a foreign scheduler.
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    FromStart,
}

/// Lets `execute` run one execution after another, each recorded by the execution of this OS thread.
pub(crate) fn repeat<S: Search>(
    program: &Rc<dyn Program>,
    settings: Settings,
    prefix: Prefix,
    search: S,
    mut visit: impl FnMut(&Trace, &mut S) -> Flow,
    mut execute: impl FnMut(),
) -> S {
    let mut search: Box<S> = Box::new(search);
    let mut known = 0;
    current::change(|current| current.execution.forget_spins());
    loop {
        begin(program, settings, search, known, prefix);
        execute();
        search = ended();
        if let Some(choices) = current::look(|current| current.execution.probed()) {
            known = choices;
            continue;
        }
        current::change(|current| current.execution.forget_probes());
        let flow = current::look(|current| visit(current.execution.trace(), &mut search));
        if flow == Flow::Enough {
            return *search;
        }
        match current::look(|current| search.advance(current.execution.trace())) {
            Some(choices) => known = choices,
            None => return *search,
        }
    }
}

/// Begins an execution whose first `known` choices are those of the one before; the search decides after them.
pub(crate) fn begin<S: Search>(
    program: &Rc<dyn Program>,
    settings: Settings,
    search: Box<S>,
    known: usize,
    prefix: Prefix,
) {
    static EPOCH: AtomicU64 = AtomicU64::new(1);
    current::change(|current| {
        let epoch = EPOCH.fetch_add(1, Ordering::Relaxed);
        let execution = &mut current.execution;
        match prefix {
            Prefix::FromCheckpoint if known > 0 => execution.resume(epoch, known),
            _ => execution.reset(epoch, program.layout(), settings, known),
        }
        execution.allow_spurious(program.most_spurious());
        execution.record_events(memory_event::begin(&settings));
        current.search = Some(search);
    });
    spurious::begin(program.most_spurious());
    start::begin();
    values::begin();
}

/// Ends an execution; gives its search back.
pub(crate) fn ended<S: Search>() -> Box<S> {
    current::change(|current| {
        let Some(mut search) = current.search.take() else {
            panic!("bug: the search was lost");
        };
        current.execution.conclude(&mut *search);
        let search: Box<dyn Any> = search;
        search
            .downcast()
            .unwrap_or_else(|_| panic!("bug: another search came back"))
    })
}

pub(crate) type Slot = Rc<RefCell<Option<Rc<dyn Subject>>>>;

/// Runs the threads of a program as coroutines.
pub(crate) struct Driver {
    program: Rc<dyn Program>,
    /// The workers, then the main thread.
    fibers: Vec<Fiber>,
    slot: Slot,
}

impl Driver {
    pub(crate) fn new(program: &Rc<dyn Program>) -> Self {
        Driver {
            program: Rc::clone(program),
            fibers: Vec::new(),
            slot: Rc::default(),
        }
    }

    /// Runs one execution.
    pub(crate) fn execute(&mut self) {
        let threads = self.program.layout().threads.len() + 1;
        while self.fibers.len() < threads {
            self.fibers.push(self.fiber(self.fibers.len()));
        }
        MODE.set(Mode::Controlled);
        if std::thread::panicking() {
            let why = "a destructor of a stuck thread waits for a lock that is never given back: no more executions can be run on this OS thread";
            give_up(why);
        } else {
            take_turns(&mut self.fibers);
        }
        let abandoned = !tear_down(&mut self.fibers);
        MODE.set(Mode::Quiet);
        let left = self.slot.take();
        if abandoned {
            // A lock may be held for ever: the destructor could wait for it.
            std::mem::forget(left);
            self.fibers.drain(..).for_each(std::mem::forget);
        } else {
            drop(left);
        }
        MODE.set(Mode::Outside);
    }

    fn fiber(&self, index: usize) -> Fiber {
        let stack = DefaultStack::new(self.program.stack_size())
            .unwrap_or_else(|error| panic!("no memory for the stack of a thread: {error}"));
        let (program, slot) = (Rc::clone(&self.program), Rc::clone(&self.slot));
        let main = index == program.layout().threads.len();
        Fiber::new(stack, move || {
            let body = || {
                // A thread that has stopped has nothing left to unwind.
                let _ = match main {
                    true => main_thread(&program, &slot),
                    false => worker(&program, &slot, index),
                };
            };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(body))
                && !panics::is_stop(&*payload)
            {
                give_up(&object_panicked(&panics::message(&*payload)));
            }
        })
    }
}

/// A panic that is no result of an operation, in words.
pub(crate) fn object_panicked(message: &str) -> String {
    format!("the constructor or destructor of the object panicked: {message}")
}

/// Resumes one thread after the other, as the schedule says, until all have finished or none can go on.
fn take_turns(fibers: &mut [Fiber]) {
    // The main thread is the last one here, and number `MAIN` everywhere else.
    let main = fibers.len() - 1;
    let mut next = MAIN;
    loop {
        let place = if next == MAIN { main } else { next };
        let switch = match fibers[place].resume(Signal::Run) {
            Switch::Finished if next != MAIN => {
                with(|execution, search| execution.next_after_last(search))
            }
            switch => switch,
        };
        match switch {
            Switch::To(thread) => next = thread,
            Switch::Stuck | Switch::Unwinding | Switch::Finished => return,
        }
    }
}

/// Unwinds the threads that have not finished. Returns whether all could be unwound.
///
/// A destructor may wait for a lock that another thread gives back when it unwinds, and a thread that catches our unwinding
/// meets it again at its next access: hence several rounds.
fn tear_down(fibers: &mut [Fiber]) -> bool {
    MODE.set(Mode::Teardown);
    for _ in 0..16 {
        for fiber in fibers.iter_mut().filter(|fiber| !fiber.rests()) {
            fiber.resume(Signal::Unwind);
        }
        if fibers.iter().all(Fiber::rests) {
            return true;
        }
    }
    false
}

fn main_thread(program: &Rc<dyn Program>, slot: &Slot) -> Result<(), Stopped> {
    values::make_statics();
    let subject = program.construct();
    let layout = program.layout();
    // If the execution stops, the object is dropped after all threads have unwound.
    *slot.borrow_mut() = Some(Rc::clone(&subject));
    run_all(program, &*subject, 0..layout.init, wait_for_turn)?;
    leave(with(|execution, search| execution.join(search)))?;
    run_all(program, &*subject, layout.finals(), wait_for_turn)?;
    if subject.has_invariants() {
        examine(&*subject)?;
    }
    drop(slot.take());
    drop(subject);
    Ok(())
}

/// Notes why an invariant does not hold, if it does not. One that waits for ever does not.
fn examine(subject: &dyn Subject) -> Result<(), Stopped> {
    let note = |broken| with(|execution, _| execution.note_invariant(broken));
    note(Some(
        "it waits for something that the object holds".to_owned(),
    ));
    match catch_unwind(AssertUnwindSafe(|| subject.examine())) {
        Ok(()) => note(None),
        Err(payload) if panics::is_stop(&*payload) => return Err(Stopped),
        Err(payload) => note(Some(panics::message(&*payload))),
    }
    Ok(())
}

/// A thread that another one has started.
struct Started<'a> {
    program: &'a Rc<dyn Program>,
    thread: usize,
}

impl Subject for Started<'_> {
    fn invoke(&self, _: usize) -> Outcome {
        let body = start::body(self.thread);
        match body.map(|body| body()) {
            Some(Err(message)) => quietly(|| self.program.panicked(&message)),
            Some(Ok(())) | None => Outcome::returned(0),
        }
    }
}

fn worker(program: &Rc<dyn Program>, slot: &Slot, index: usize) -> Result<(), Stopped> {
    if index >= program.layout().started {
        let started = Started {
            program,
            thread: index,
        };
        return run_all(program, &started, program.layout().of_thread(index), |_| {
            Ok(())
        });
    }
    let Some(subject) = slot.borrow().clone() else {
        panic!("bug: a thread without an object");
    };
    let ops = program.layout().of_thread(index);
    let first = ops.start;
    run_all(program, &*subject, ops, |op| match op == first {
        // The first call was scheduled before the thread ran.
        true => Ok(()),
        false => wait_for_turn(op),
    })
}

/// The running thread stands before an operation, and waits until it may call it.
#[inline(always)]
pub(crate) fn wait_for_turn(op: usize) -> Result<(), Stopped> {
    leave(with(|execution, search| execution.border(op, search)))
}

/// Runs operations of the running thread, each when it is its turn. A panic of the object is an answer.
///
/// The loop is inside of one `catch_unwind`: after a switch of stacks the processor mispredicts each return, so few nested calls are
/// faster.
#[inline(always)]
pub(crate) fn run_all(
    program: &Rc<dyn Program>,
    subject: &dyn Subject,
    mut ops: Range<usize>,
    wait: impl Fn(usize) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    while !ops.is_empty() {
        let mut running = None;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            for op in ops.by_ref() {
                wait(op)?;
                running = Some(op);
                let outcome = subject.invoke(op);
                running = None;
                with(|execution, _| execution.finish(op, outcome));
            }
            Ok(())
        }));
        match (ran, running) {
            (Ok(result), _) => result?,
            (Err(payload), Some(op)) => {
                let outcome = answer_of_panic(program, payload)?;
                with(|execution, _| execution.finish(op, outcome));
            }
            (Err(payload), None) => resume_unwind(payload),
        }
    }
    Ok(())
}

/// What an operation answers.
#[cfg(feature = "loom")]
pub(crate) fn answer(
    program: &Rc<dyn Program>,
    subject: &dyn Subject,
    op: usize,
) -> Result<Outcome, Stopped> {
    catch_unwind(AssertUnwindSafe(|| subject.invoke(op)))
        .or_else(|payload| answer_of_panic(program, payload))
}

/// A panic of the object is an answer, unless it is how an execution ends.
fn answer_of_panic(
    program: &Rc<dyn Program>,
    payload: Box<dyn Any + Send>,
) -> Result<Outcome, Stopped> {
    if panics::is_stop(&*payload) {
        return Err(Stopped);
    }
    let message = panics::message(&*payload);
    if program.is_engine_panic(&message) {
        resume_unwind(payload);
    }
    Ok(quietly(|| program.panicked(&message)))
}
