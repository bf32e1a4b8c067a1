//! Runs the threads of a test as threads of loom, which chooses the executions by a search of its own, under weak memory.
//!
//! A serial execution is a model with one thread: loom has nothing to search. For the concurrent executions loom searches to its
//! end; each distinct history is recorded once and decided afterwards.
//!
//! Calls and returns are read-modify-writes, acquiring and releasing, of one atomic of loom. They make real time part of the
//! model: with a clock that loom does not observe, or with relaxed accesses, an operation could miss the effects of a
//! completed one, and a correct object would fail.

use std::cell::{Cell, RefCell};
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::Arc;

use loom::model::Builder;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread::{self, JoinHandle};

use super::Loom;
use crate::Map;
use crate::runtime::coroutine::Switch;
use crate::runtime::execution::{Choice, Outcome, Yields};
use crate::runtime::history::History;
use crate::runtime::program::{Program, Subject};
use crate::runtime::run::{answer, object_panicked, run_all, wait_for_turn};
use crate::runtime::{Stopped, give_up, panics, with};

/// The workers, the thread that waits for them, and the one that runs the operations before and after them.
const MOST_WORKERS: usize = loom::MAX_THREADS - 2;

/// The messages with which loom gives up; every other panic is a result of the object.
const OWN_MESSAGES: [&str; 6] = [
    "deadlock; threads",
    "Model exceeded",
    "Causality violation",
    "Internal state mutated",
    "[loom internal bug]",
    "cannot access Loom",
];

/// Whether a panic of an operation is one of loom itself.
pub(crate) fn is_own_panic(message: &str) -> bool {
    OWN_MESSAGES.iter().any(|own| message.starts_with(own))
}

thread_local! {
    /// The work of this OS thread: loom requires `Send` closures, which cannot hold it.
    static TEST: RefCell<Option<Rc<dyn Program>>> = const { RefCell::new(None) };
    static SUBJECT: RefCell<Option<Rc<dyn Subject>>> = const { RefCell::new(None) };
    static SHOWN: RefCell<Shown> = RefCell::default();
    /// The execution that is wanted, if only one is.
    static WANTED: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The histories of a search by loom, in the order in which they appeared.
#[derive(Default)]
pub(crate) struct Shown {
    executions: u32,
    most: u32,
    /// By results and by the operations that had returned at each call.
    known: Map<(Vec<Outcome>, Vec<u64>), usize>,
    pub(crate) histories: Vec<Recorded>,
    /// Why the search is incomplete, if it is.
    pub(crate) unfinished: Option<String>,
}

/// A history of a search by loom.
pub(crate) struct Recorded {
    pub(crate) history: History,
    /// The number of the first execution with this history.
    number: u32,
    /// The number of executions with this history.
    pub(crate) executions: u64,
}

impl Recorded {
    /// The number of the execution, as a schedule: the search of loom is deterministic.
    pub(crate) fn schedule(&self) -> Vec<Choice> {
        self.number.to_be_bytes().map(Choice::Pick).to_vec()
    }
}

/// The execution that [`Recorded::schedule`] stands for.
pub(crate) fn number(schedule: &[Choice]) -> Option<u32> {
    let bytes: Option<Vec<u8>> = schedule
        .iter()
        .map(|choice| match choice {
            Choice::Pick(byte) => Some(*byte),
            Choice::Thread(_) => None,
        })
        .collect();
    Some(u32::from_be_bytes(bytes?.try_into().ok()?))
}

fn builder(settings: Loom) -> Builder {
    let mut builder = Builder::new();
    builder.max_threads = loom::MAX_THREADS;
    builder.max_branches = settings.max_branches;
    builder.preemption_bound = settings.preemptions.map(|most| most as usize);
    builder
}

/// Runs a model. Returns the message of loom if it gives up.
fn check(program: &Rc<dyn Program>, settings: Loom, model: fn()) -> Result<(), String> {
    if program.layout().threads.len() > MOST_WORKERS {
        return Err(format!("loom has room for {MOST_WORKERS} threads"));
    }
    TEST.set(Some(Rc::clone(program)));
    let checked = catch_unwind(|| builder(settings).check(move || on_a_large_stack(model)));
    SUBJECT.take();
    TEST.take();
    match checked {
        Err(payload) if !panics::is_stop(&*payload) => {
            let message = panics::message(&*payload);
            Err(if message.starts_with("deadlock") {
                "an operation waits for another one, which cannot be checked under loom".to_owned()
            } else if is_own_panic(&message) {
                format!("loom gave up: {}", message.trim())
            } else {
                object_panicked(&message)
            })
        }
        _ => Ok(()),
    }
}

/// Runs the model on a thread of its own, since the stack of loom's main thread has only 32 KiB.
fn on_a_large_stack(model: fn()) {
    // A panic of a thread ends the model before `join` returns.
    let _ = spawn(model).join();
}

fn spawn(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let words = test().stack_size() / size_of::<usize>();
    thread::Builder::new()
        .stack_size(words)
        .spawn(body)
        .unwrap_or_else(|error| panic!("loom has no thread: {error}"))
}

/// A thread that has stopped unwinds, since loom has no other way to end it.
fn or_unwind<T>(result: Result<T, Stopped>) -> T {
    result.unwrap_or_else(|Stopped| panics::stop())
}

fn test() -> Rc<dyn Program> {
    TEST.with_borrow(|test| test.clone().expect("bug: loom runs without a test"))
}

/// Runs one serial execution.
pub(crate) fn execute_serially(program: &Rc<dyn Program>, settings: Loom) {
    if let Err(why) = check(program, settings, serial_model) {
        give_up(&why);
    }
}

fn serial_model() {
    let program = test();
    let layout = program.layout();
    let subject = program.construct();
    or_unwind(run_all(&program, &*subject, 0..layout.init, wait_for_turn));
    with(|execution, _| execution.release());
    let all = (1 << layout.threads.len()) - 1;
    while let Switch::To(thread) =
        with(|execution, search| execution.next_of(all, Yields::No, search))
        && with(|execution, _| execution.released())
    {
        let op = with(|execution, _| execution.running_op());
        or_unwind(run_all(&program, &*subject, op..op + 1, |_| Ok(())));
        with(|execution, _| match op + 1 < layout.of_thread(thread).end {
            true => execution.stand_before(op + 1),
            false => execution.done(),
        });
    }
    or_unwind(run_all(&program, &*subject, layout.finals(), wait_for_turn));
}

/// Runs all executions of loom's search, or the one that is wanted.
pub(crate) fn explore(program: &Rc<dyn Program>, settings: Loom, wanted: Option<u32>) -> Shown {
    WANTED.set(wanted);
    SHOWN.set(Shown {
        most: settings.executions,
        ..Shown::default()
    });
    let checked = check(program, settings, concurrent_model);
    let mut shown = SHOWN.take();
    if let Err(why) = checked {
        shown.unfinished = Some(why);
    }
    shown
}

fn concurrent_model() {
    let number = SHOWN.with_borrow_mut(|shown| {
        if shown.executions == shown.most {
            shown.unfinished = Some(format!("{} executions of loom were not all", shown.most));
            return None;
        }
        shown.executions += 1;
        Some(shown.executions - 1)
    });
    let Some(number) = number.filter(|&number| WANTED.get().is_none_or(|wanted| number <= wanted))
    else {
        panics::stop();
    };
    with(|execution, _| execution.restart());
    let program = test();
    let layout = program.layout();
    let subject = program.construct();
    or_unwind(run_all(&program, &*subject, 0..layout.init, wait_for_turn));
    SUBJECT.set(Some(Rc::clone(&subject)));
    let clock = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..layout.threads.len())
        .map(|index| {
            let clock = Arc::clone(&clock);
            spawn(move || worker(index, &clock))
        })
        .collect();
    for worker in workers {
        let _ = worker.join();
    }
    or_unwind(run_all(&program, &*subject, layout.finals(), wait_for_turn));
    SUBJECT.take();
    drop(subject);
    if WANTED.get().is_none_or(|wanted| wanted == number) {
        let history = with(|execution, _| execution.trace().history().clone());
        SHOWN.with_borrow_mut(|shown| shown.keep(history, number));
    }
}

fn worker(index: usize, clock: &AtomicUsize) {
    let program = test();
    let subject = SUBJECT.with_borrow(|subject| subject.clone());
    let Some(subject) = subject else {
        panic!("bug: a thread without an object");
    };
    for op in program.layout().of_thread(index) {
        clock.fetch_add(1, Ordering::AcqRel);
        with(|execution, _| execution.calls(index, op));
        let outcome = or_unwind(answer(&program, &*subject, op));
        clock.fetch_add(1, Ordering::AcqRel);
        with(|execution, _| execution.returns(index, op, outcome));
    }
}

impl Shown {
    fn keep(&mut self, history: History, number: u32) {
        let histories = &mut self.histories;
        let key = (history.outcomes.clone(), history.before.clone());
        let place = *self.known.entry(key).or_insert_with(|| {
            histories.push(Recorded {
                history,
                number,
                executions: 0,
            });
            histories.len() - 1
        });
        histories[place].executions += 1;
    }
}
