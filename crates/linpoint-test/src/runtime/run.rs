//! Runs a program again and again, each time under the schedule that a search asks for.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use corosensei::stack::DefaultStack;
use linpoint::report::Story;

use super::coroutine::{Fiber, Signal, Switch};
#[cfg(feature = "loom")]
use super::execution::End;
use super::execution::{Execution, Layout, Outcome, Settings};
use super::panics::{self, Quiet};
use super::{MAIN, MODE, Mode, Stopped, current, give_up, leave, quietly, with};
use crate::check::spec::Ruling;
use crate::engine::Engine;
#[cfg(feature = "loom")]
use crate::engine::loom;
#[cfg(feature = "shuttle")]
use crate::engine::shuttle;
use crate::search::Search;

/// An object with the operations of a test.
pub(crate) trait Program {
    fn layout(&self) -> &Layout;
    /// The hash of the object in tokens.
    fn identity(&self) -> u16;
    /// Who runs the threads.
    fn engine(&self) -> Engine;
    /// A new object.
    fn construct(&self) -> Rc<dyn Subject>;
    /// The number of the outcome "panicked with this message".
    fn panicked(&self, message: &str) -> Outcome;
    fn stack_size(&self) -> usize;
    /// An operation in words.
    fn label(&self, op: usize) -> &str;
    /// What an operation answered, in words.
    fn describe(&self, op: usize, outcome: Outcome) -> String;
    /// Whether an operation may wait for another one that never comes.
    fn may_block(&self, op: usize) -> bool;
    /// Whether an operation may answer differently in the same serial situation.
    fn may_vary(&self, op: usize) -> bool;
    /// Whether a specification says what is right, instead of the serial executions.
    fn has_spec(&self) -> bool;
    /// What the specification says about an execution, if there is one.
    fn rule(&self, execution: &Execution) -> Option<Ruling>;
    /// What the specification tells about an execution that it does not allow.
    fn tell(&self, execution: &Execution) -> Option<Story>;
}

/// The object of one execution.
pub(crate) trait Subject {
    /// Runs an operation and numbers its result.
    fn invoke(&self, op: usize) -> Outcome;
}

/// Whether to look at more executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    Enough,
}

/// Runs all executions that `search` asks for, or until `visit` has seen enough; gives the search back.
pub(crate) fn explore<S: Search>(
    program: &Rc<dyn Program>,
    settings: Settings,
    search: S,
    visit: impl FnMut(&Execution, &mut S) -> Flow,
) -> S {
    let _quiet = Quiet::new();
    current::look(|engine| engine.execution.pulse.watch(&**program));
    match program.engine() {
        Engine::Linpoint => {
            let mut driver = Driver {
                program: Rc::clone(program),
                fibers: Vec::new(),
                slot: Rc::default(),
            };
            repeat(program, settings, search, visit, || driver.execute())
        }
        #[cfg(feature = "shuttle")]
        Engine::Shuttle => {
            let mut guest = shuttle::Guest::new(program);
            let settings = Settings {
                // It does not tell what a step touches.
                causality: false,
                real_time: false,
                ..settings
            };
            repeat(program, settings, search, visit, || guest.execute())
        }
        #[cfg(feature = "loom")]
        Engine::Loom(loom) if settings.serial => {
            let execute = || loom::execute_serially(program, loom);
            repeat(program, settings, search, visit, execute)
        }
        #[cfg(feature = "loom")]
        Engine::Loom(loom) => show(program, settings, loom, search, visit),
    }
}

/// Lets loom search, then visits what it has shown.
#[cfg(feature = "loom")]
fn show<S: Search>(
    program: &Rc<dyn Program>,
    settings: Settings,
    loom: crate::Loom,
    search: S,
    mut visit: impl FnMut(&Execution, &mut S) -> Flow,
) -> S {
    let wanted = loom::number(search.given());
    begin(program, settings, Box::new(search), 0);
    let shown = loom::explore(program, loom, wanted);
    let mut search: Box<S> = ended();
    let mut visit = |change: &dyn Fn(&mut Execution)| {
        current::change(|engine| {
            change(&mut engine.execution);
            visit(&engine.execution, &mut search)
        })
    };
    for recorded in &shown.histories {
        if visit(&|execution| execution.show(recorded)) == Flow::Enough {
            return *search;
        }
    }
    if let Some(why) = &shown.unfinished {
        visit(&|execution| execution.end = End::Fault(why.clone()));
    }
    *search
}

/// Lets `execute` run one execution after another, each recorded by the [`Execution`] of this OS thread.
fn repeat<S: Search>(
    program: &Rc<dyn Program>,
    settings: Settings,
    search: S,
    mut visit: impl FnMut(&Execution, &mut S) -> Flow,
    mut execute: impl FnMut(),
) -> S {
    let mut search: Box<S> = Box::new(search);
    let mut known = 0;
    loop {
        begin(program, settings, search, known);
        execute();
        search = ended();
        let flow = current::look(|engine| visit(&engine.execution, &mut search));
        if flow == Flow::Enough {
            return *search;
        }
        match current::look(|engine| search.advance(&engine.execution)) {
            Some(choices) => known = choices,
            None => return *search,
        }
    }
}

/// Opens the record of an execution, for which the search decides after the first choices, which are known.
fn begin<S: Search>(program: &Rc<dyn Program>, settings: Settings, search: Box<S>, known: usize) {
    static EPOCH: AtomicU64 = AtomicU64::new(1);
    current::change(|engine| {
        let epoch = EPOCH.fetch_add(1, Ordering::Relaxed);
        let execution = &mut engine.execution;
        match program.engine() {
            Engine::Linpoint if known > 0 => execution.resume(epoch, known),
            _ => execution.reset(epoch, program.layout(), settings, known),
        }
        engine.search = Some(search);
    });
}

/// Closes the record of an execution; gives its search back.
fn ended<S: Search>() -> Box<S> {
    current::change(|engine| {
        let Some(mut search) = engine.search.take() else {
            panic!("bug: the search was lost");
        };
        engine.execution.conclude(&mut *search);
        let search: Box<dyn Any> = search;
        search
            .downcast()
            .unwrap_or_else(|_| panic!("bug: another search came back"))
    })
}

pub(crate) type Slot = Rc<RefCell<Option<Rc<dyn Subject>>>>;

struct Driver {
    program: Rc<dyn Program>,
    /// The workers, then the main thread.
    fibers: Vec<Fiber>,
    slot: Slot,
}

impl Driver {
    fn execute(&mut self) {
        let threads = self.program.layout().threads.len() + 1;
        while self.fibers.len() < threads {
            self.fibers.push(self.fiber(self.fibers.len()));
        }
        MODE.set(Mode::Controlled);
        if std::thread::panicking() {
            let why = "a destructor of a stuck thread waits for a lock that nobody gives back: nothing more can be run here";
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
                // Whoever stopped has nothing left to unwind.
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

/// Runs whoever's turn it is, until all have finished or nobody can go on.
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

/// Unwinds what has not finished. Whether everything could be.
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
    let subject = program.construct();
    let layout = program.layout();
    // If the execution stops, the object is dropped when nobody runs any more.
    *slot.borrow_mut() = Some(Rc::clone(&subject));
    run_all(program, &*subject, 0..layout.init, wait_for_turn)?;
    leave(with(|execution, search| execution.join(search)))?;
    run_all(program, &*subject, layout.finals(), wait_for_turn)?;
    drop(slot.take());
    drop(subject);
    Ok(())
}

fn worker(program: &Rc<dyn Program>, slot: &Slot, index: usize) -> Result<(), Stopped> {
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
/// All of them in as few calls as possible: after a change of stacks every return is a surprise to the processor.
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
    if program.engine().is_own_panic(&message) {
        resume_unwind(payload);
    }
    Ok(quietly(|| program.panicked(&message)))
}
