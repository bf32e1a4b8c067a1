//! What is checked: each class with its operations, in each of its versions.

use std::time::Duration;

use linpoint_test::compare::Comparison;
use linpoint_test::{Object, Report, object};

use super::Seed::{self, *};
use super::barrier::Barrier;
use super::blocking_collection::BlockingCollection;
use super::cancellation_token_source::CancellationTokenSource;
use super::concurrent_bag::ConcurrentBag;
use super::concurrent_dictionary::ConcurrentDictionary;
use super::concurrent_linked_list::ConcurrentLinkedList;
use super::concurrent_queue::ConcurrentQueue;
use super::concurrent_stack::ConcurrentStack;
use super::countdown_event::CountdownEvent;
use super::lazy::Lazy;
use super::manual_reset_event::ManualResetEvent;
use super::scanning_collection::ScanningCollection;
use super::semaphore_slim::SemaphoreSlim;
use super::task_completion_source::{End, TaskCompletionSource};

/// A class in one of its versions.
pub struct Subject {
    pub class: &'static str,
    pub seed: Seed,
    /// Where it has a flaw.
    pub flaw: Option<Flaw>,
    object: fn(Seed) -> Box<dyn Tested>,
}

/// Where a flaw shows.
pub struct Flaw {
    /// The smallest failing test of the paper, as threads and operations per thread; of our own for mutants.
    pub smallest: (usize, usize),
    /// A test that fails, of that dimension or with fewer operations.
    pub failing: Matrix<'static>,
}

/// The operations of each thread.
pub type Matrix<'a> = &'a [&'a [&'a str]];

/// Which tests are run on an object.
pub enum Test<'a> {
    /// So many random tests of three threads with three operations each; all are run, and none is reduced.
    Random { tests: usize, seed: u64 },
    /// The same, with at most one preemption where that is many executions.
    Quick { tests: usize, seed: u64 },
    /// All tests of a dimension, up to the first that fails.
    All { threads: usize, ops: usize },
    /// This one.
    Matrix(Matrix<'a>),
}

impl Subject {
    pub fn check(&self, test: &Test<'_>) -> Report {
        (self.object)(self.seed).check(test)
    }

    /// Checks the class without the flaw instead.
    pub fn check_correct(&self, test: &Test<'_>) -> Report {
        (self.object)(Correct).check(test)
    }

    /// What other methods say about these tests, from at most so many executions of each.
    pub fn compare(&self, test: &Test<'_>, executions: usize) -> Comparison {
        (self.object)(self.seed).compare(test, executions)
    }

    /// The first dimension in which a test fails, all tests of each being run, among those that have no more operations than
    /// the smallest of the paper; two threads are tried before three.
    pub fn smallest_failing(&self) -> Option<((usize, usize), Report)> {
        const DIMENSIONS: [(usize, usize); 6] = [(2, 1), (2, 2), (3, 1), (2, 3), (3, 2), (3, 3)];
        let (threads, ops) = self.flaw.as_ref()?.smallest;
        let most = threads * ops;
        let mut dimensions = DIMENSIONS
            .iter()
            .filter(|(threads, ops)| threads * ops <= most);
        dimensions.find_map(|&(threads, ops)| {
            let report = self.check(&Test::All { threads, ops });
            let is_failing = report.failure().is_some();
            is_failing.then_some(((threads, ops), report))
        })
    }
}

/// An object with its operations, to be tested.
trait Tested {
    fn check(self: Box<Self>, test: &Test<'_>) -> Report;
    fn compare(self: Box<Self>, test: &Test<'_>, executions: usize) -> Comparison;
}

impl<X: 'static> Tested for Object<X> {
    fn check(self: Box<Self>, test: &Test<'_>) -> Report {
        with(*self, test).check()
    }

    fn compare(self: Box<Self>, test: &Test<'_>, executions: usize) -> Comparison {
        with(*self, test).compare(executions)
    }
}

/// The object with these tests.
fn with<X: 'static>(object: Object<X>, test: &Test<'_>) -> Object<X> {
    let random =
        |object: Object<X>, tests, seed| object.random(3, 3, tests).seed(seed).keep_going();
    match *test {
        Test::Random { tests, seed } => random(object, tests, seed).as_found(),
        Test::Quick { tests, seed } => random(object, tests, seed)
            .exhaustive_executions(2000)
            .preemptions(1),
        Test::All { threads, ops } => object.all(threads, ops).as_found(),
        Test::Matrix(threads) => object.matrix(threads.iter().copied()).as_found(),
    }
}

const fn correct(class: &'static str, object: fn(Seed) -> Box<dyn Tested>) -> Subject {
    Subject {
        class,
        seed: Correct,
        flaw: None,
        object,
    }
}

const fn flawed(
    class: &'static str,
    seed: Seed,
    object: fn(Seed) -> Box<dyn Tested>,
    smallest: (usize, usize),
    failing: Matrix<'static>,
) -> Subject {
    Subject {
        class,
        seed,
        flaw: Some(Flaw { smallest, failing }),
        object,
    }
}

/// In the order of Table 2.
#[rustfmt::skip]
pub const SUBJECTS: &[Subject] = &[
    correct("Lazy Initialization", lazy),
    flawed("Lazy Initialization", Mutant, lazy, (2, 1), &[&["value"], &["value"]]),
    flawed("ManualResetEvent", A, manual_reset_event, (2, 3), &[&["wait"], &["set", "reset", "set"]]),
    correct("ManualResetEvent", manual_reset_event),
    correct("SemaphoreSlim", semaphore_slim),
    flawed("SemaphoreSlim", Mutant, semaphore_slim, (3, 1), &[&["release(2)"], &["wait"], &["wait"]]),
    correct("CountdownEvent", countdown_event),
    flawed("CountdownEvent", Mutant, countdown_event, (2, 1), &[&["signal(1)"], &["signal(1)"]]),
    correct("ConcurrentDictionary", concurrent_dictionary),
    flawed("ConcurrentDictionary", Mutant, concurrent_dictionary, (2, 2), &[&["clear", "try_add(10)"], &["try_add(20)", "count"]]),
    flawed("ConcurrentQueue", B, concurrent_queue, (2, 2), &[&["enqueue(200)", "try_dequeue"], &["enqueue(400)", "try_dequeue"]]),
    correct("ConcurrentQueue", concurrent_queue),
    flawed("ConcurrentLinkedList", C, concurrent_linked_list, (2, 2), &[&["remove_first"], &["add_first(1)", "remove_last"]]),
    correct("ConcurrentLinkedList", concurrent_linked_list),
    correct("ConcurrentStack", concurrent_stack),
    flawed("ConcurrentStack", Mutant, concurrent_stack, (2, 2), &[&["push(1)", "try_pop"], &["try_pop"]]),
    flawed("BlockingCollection", D, blocking_collection, (2, 2), &[&["complete_adding"], &["take"]]),
    flawed("BlockingCollection", D2, blocking_collection, (2, 2), &[&["add(2)"], &["complete_adding", "count"]]),
    flawed("BlockingCollection", H, blocking_collection, (2, 2), &[&["add(2)"], &["try_take", "count"]]),
    flawed("BlockingCollection", I, scanning_collection, (3, 2), &[&["add"], &["add", "try_take"], &["try_take"]]),
    flawed("BlockingCollection", K, cancellable_collection, (2, 2), &[&["try_add(1)", "cancel"], &["count", "is_adding_completed"]]),
    correct("BlockingCollection", blocking_collection),
    flawed("ConcurrentBag", E, concurrent_bag, (2, 2), &[&["add(10)", "count"], &["try_take", "add(10)"]]),
    flawed("ConcurrentBag", J, concurrent_bag, (2, 2), &[&["add(10)"], &["add(20)"], &["try_take"]]),
    correct("ConcurrentBag", concurrent_bag),
    flawed("TaskCompletionSource", F, task_completion_source, (2, 2), &[&["try_set(Result)"], &["try_set(Canceled)"]]),
    flawed("TaskCompletionSource", G, task_completion_source, (2, 2), &[&["try_set(Result)"], &["try_set(Canceled)", "try_result"]]),
    correct("TaskCompletionSource", task_completion_source),
    correct("CancellationTokenSource", cancellation_token_source),
    flawed("CancellationTokenSource", Mutant, cancellation_token_source, (2, 1), &[&["increment"], &["cancel"]]),
    flawed("Barrier", L, barrier, (2, 2), &[&["signal_and_wait"], &["signal_and_wait"]]),
    correct("Barrier", barrier),
];

fn lazy(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || Lazy::new(seed))
        .op0("value", Lazy::value)
        .op0("to_string", Lazy::text)
        .op0("is_value_created", Lazy::is_value_created);
    Box::new(object)
}

fn manual_reset_event(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || ManualResetEvent::new(seed))
        .op0("set", ManualResetEvent::set)
        .op0("wait", ManualResetEvent::wait)
        .may_block("wait")
        .op0("reset", ManualResetEvent::reset)
        .op0("is_set", ManualResetEvent::is_set)
        .op0("wait_one", ManualResetEvent::wait)
        .may_block("wait_one");
    Box::new(object)
}

fn semaphore_slim(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || SemaphoreSlim::new(seed))
        .op0("current_count", SemaphoreSlim::current_count)
        .op("release", [1, 2], SemaphoreSlim::release)
        .op0("wait", SemaphoreSlim::wait)
        .may_block("wait")
        .op0("wait(0)", SemaphoreSlim::try_wait);
    Box::new(object)
}

fn countdown_event(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || CountdownEvent::new(seed))
        .op0("is_set", CountdownEvent::is_set)
        .op0("wait", CountdownEvent::wait)
        .may_block("wait")
        .op0("wait(0)", CountdownEvent::is_set)
        .op0("current_count", CountdownEvent::current_count)
        .op0("wait_one", CountdownEvent::wait)
        .may_block("wait_one")
        .op("signal", [1, 2], CountdownEvent::signal)
        .op("add_count", [1, 2], CountdownEvent::add_count)
        .op("try_add_count", [1, 2], CountdownEvent::try_add_count);
    Box::new(object)
}

fn concurrent_dictionary(seed: Seed) -> Box<dyn Tested> {
    let keys = [10, 20];
    let object = object(move || ConcurrentDictionary::new(seed))
        .op0("count", ConcurrentDictionary::count)
        .op0("is_empty", ConcurrentDictionary::is_empty)
        .op0("clear", ConcurrentDictionary::clear)
        .op("try_add", keys, ConcurrentDictionary::try_add)
        .op("try_remove", keys, ConcurrentDictionary::try_remove)
        .op("try_get", keys, ConcurrentDictionary::try_get)
        .op("get", keys, ConcurrentDictionary::get)
        .op("set", keys, ConcurrentDictionary::set)
        .op("try_update", keys, ConcurrentDictionary::try_update)
        .op("contains_key", keys, ConcurrentDictionary::contains_key);
    Box::new(object)
}

fn concurrent_queue(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || ConcurrentQueue::new(seed))
        .op0("count", ConcurrentQueue::count)
        .op0("is_empty", ConcurrentQueue::is_empty)
        .op("enqueue", [200, 400], ConcurrentQueue::enqueue)
        .op0("to_array", ConcurrentQueue::to_array)
        .op0("try_dequeue", ConcurrentQueue::try_dequeue)
        .op0("try_peek", ConcurrentQueue::try_peek);
    Box::new(object)
}

fn concurrent_linked_list(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || ConcurrentLinkedList::new(seed))
        .op0("count", ConcurrentLinkedList::count)
        .op("add_first", [1], ConcurrentLinkedList::add_first)
        .op("add_last", [2], ConcurrentLinkedList::add_last)
        .op0("remove_first", |list: &ConcurrentLinkedList| {
            list.remove_first().is_some()
        })
        .op0("remove_first(out)", ConcurrentLinkedList::remove_first)
        .op0("remove_list", ConcurrentLinkedList::remove_list)
        .op0("remove_last", ConcurrentLinkedList::remove_last);
    Box::new(object)
}

fn concurrent_stack(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || ConcurrentStack::new(seed))
        .op0("clear", ConcurrentStack::clear)
        .op0("count", ConcurrentStack::count)
        .op("push", [1], ConcurrentStack::push)
        .op0("push_range_ten", |stack: &ConcurrentStack| {
            stack.push_range(11..21)
        })
        .op0("try_pop", ConcurrentStack::try_pop)
        .op("try_pop_range", [1, 2, 4], ConcurrentStack::try_pop_range)
        .op0("try_peek", ConcurrentStack::try_peek)
        .op0("to_array", ConcurrentStack::to_array)
        .op0("to_array_order_by", ConcurrentStack::to_array_order_by);
    Box::new(object)
}

fn a_blocking_collection(seed: Seed) -> Object<BlockingCollection> {
    object(move || BlockingCollection::new(seed))
        .op0("count", BlockingCollection::count)
        .op0("to_array", BlockingCollection::to_array)
        .op("try_add", [1], BlockingCollection::try_add)
        .op0("try_add(1 ms)", |collection: &BlockingCollection| {
            collection.try_add_for(3, Duration::from_millis(1))
        })
        .op0("is_completed", BlockingCollection::is_completed)
        .op0(
            "is_adding_completed",
            BlockingCollection::is_adding_completed,
        )
        .op0("complete_adding", BlockingCollection::complete_adding)
        .op("add", [2], BlockingCollection::add)
        .op0("take", BlockingCollection::take)
        .may_block("take")
        .op0("take_with_enum", BlockingCollection::take_with_enum)
        .may_block("take_with_enum")
        .op0("try_take", BlockingCollection::try_take)
        .op0("try_take(1 ms)", |collection: &BlockingCollection| {
            collection.try_take_for(Duration::from_millis(1))
        })
}

fn blocking_collection(seed: Seed) -> Box<dyn Tested> {
    Box::new(a_blocking_collection(seed))
}

/// With cancellation, which Table 1 does not list and the paper speaks of.
fn cancellable_collection(seed: Seed) -> Box<dyn Tested> {
    let object = a_blocking_collection(seed).op0("cancel", BlockingCollection::cancel);
    Box::new(object)
}

fn scanning_collection(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || ScanningCollection::new(seed))
        .op0("add", ScanningCollection::add)
        .op0("try_take", ScanningCollection::try_take)
        .op0("count", ScanningCollection::count);
    Box::new(object)
}

fn concurrent_bag(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || ConcurrentBag::new(seed))
        .op0("count", ConcurrentBag::count)
        .op("add", [10, 20], ConcurrentBag::add)
        .op0("try_take", ConcurrentBag::try_take)
        .op0("is_empty", ConcurrentBag::is_empty)
        .op0("try_peek", ConcurrentBag::try_peek)
        .op0("to_array", ConcurrentBag::to_array);
    Box::new(object)
}

fn task_completion_source(seed: Seed) -> Box<dyn Tested> {
    let ends = [End::Canceled, End::Exception, End::Result];
    let object = object(move || TaskCompletionSource::new(seed))
        .op0("exception", TaskCompletionSource::exception)
        .op("try_set", ends, TaskCompletionSource::try_set)
        .op("set", ends, TaskCompletionSource::set)
        .op0("wait", TaskCompletionSource::wait)
        .may_block("wait")
        .op0("try_result", TaskCompletionSource::try_result);
    Box::new(object)
}

fn cancellation_token_source(seed: Seed) -> Box<dyn Tested> {
    let object = object(move || CancellationTokenSource::new(seed))
        .op0("increment", CancellationTokenSource::increment)
        .op0("cancel", CancellationTokenSource::cancel);
    Box::new(object)
}

/// The correct version offers the two halves of `signal_and_wait`.
fn barrier(seed: Seed) -> Box<dyn Tested> {
    let object = object(Barrier::new)
        .op0("participants_remaining", Barrier::participants_remaining)
        .op0("remove_participant", Barrier::remove_participant)
        .op0("current_phase_number", Barrier::current_phase_number)
        .op0("participant_count", Barrier::participant_count)
        .op0("add_participant", Barrier::add_participant)
        .op0("cancel_token", Barrier::cancel_token);
    let object = match seed {
        Seed::L => object
            .op0("signal_and_wait", Barrier::signal_and_wait)
            .may_block("signal_and_wait"),
        _ => object
            .op0("signal", Barrier::signal)
            .op("wait_for", [1, 2], Barrier::wait_for)
            .may_block("wait_for"),
    };
    Box::new(object)
}
