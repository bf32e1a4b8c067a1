//! Objects and tests that are marked by attributes.

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};
use linpoint_test::{FailureKind, Model, Object, object, thread};

use crate::caught;

/// A counter that loses increments, if it is told to.
struct Counter {
    count: AtomicU32,
    waits: Mutex<()>,
    changed: Condvar,
    loses: bool,
}

#[linpoint_test::object]
impl Counter {
    fn with(loses: bool) -> Self {
        Counter {
            count: AtomicU32::new(0),
            waits: Mutex::new(()),
            changed: Condvar::new(),
            loses,
        }
    }

    #[new]
    fn lossy() -> Self {
        Counter::with(true)
    }

    #[op]
    fn add(&self, #[any([1, 2])] amount: u32, #[any(1..=2)] times: u32) -> u32 {
        let all = amount * times;
        if self.loses {
            let count = self.count.load(SeqCst);
            self.count.store(count + all, SeqCst);
        } else {
            self.count.fetch_add(all, SeqCst);
        }
        drop(self.waits.lock().unwrap());
        self.changed.notify_all();
        all
    }

    #[op(never_blocks)]
    fn get(&self) -> u32 {
        self.count.load(SeqCst)
    }

    #[op(may_block)]
    fn wait(&self) {
        let mut held = self.waits.lock().unwrap();
        while self.count.load(SeqCst) == 0 {
            held = self.changed.wait(held).unwrap();
        }
    }

    #[op(cancel_safe, nondeterministic_ok)]
    async fn get_later(&self, #[any(Some(3))] rounds: u32) -> u32 {
        for _ in 0..rounds {
            linpoint_test::future::yield_now().await;
        }
        self.count.load(SeqCst)
    }

    #[invariant]
    fn is_even_or_odd(&self) {
        assert!(self.count.load(SeqCst) < 100);
    }
}

#[test]
fn operations_have_the_names_of_methods_and_all_their_arguments() {
    let described = format!("{:?}", Counter::object());
    for label in [
        "add(1, 1)",
        "add(1, 2)",
        "add(2, 1)",
        "add(2, 2)",
        "\"get\"",
        "\"wait\"",
        "get_later(3) cancelled",
    ] {
        assert!(described.contains(label), "{label}: {described}");
    }
}

#[test]
fn a_bug_is_found_by_marked_operations() {
    let object = Counter::object().matrix([vec!["add(1, 1)"], vec!["add(2, 2)", "get"]]);
    caught(object, FailureKind::NoWitness);
}

#[linpoint_test::test(preemptions(2), all(2, 1))]
fn what_a_function_returns_is_run() -> Object<Counter> {
    object(|| Counter::with(false))
        .op0("get", Counter::get)
        .op("add", [1, 2], |counter, amount| counter.add(amount, 1))
}

#[linpoint_test::test]
fn a_model_is_run() -> Model {
    Model::new(|| assert_eq!(AtomicU32::new(1).load(SeqCst), 1))
}

#[linpoint_test::test(spurious(1))]
fn the_body_is_a_whole_test() {
    let counter = Counter::with(false);
    thread::scope(|scope| {
        scope.spawn(|| counter.add(1, 1));
        counter.wait();
    });
    assert_eq!(counter.get(), 1);
}

#[linpoint_test::test]
#[should_panic(expected = "an increment was lost")]
fn a_whole_test_can_fail() {
    let counter = Counter::lossy();
    thread::scope(|scope| {
        scope.spawn(|| counter.add(1, 1));
        scope.spawn(|| counter.add(1, 1));
    });
    assert_eq!(counter.get(), 2, "an increment was lost");
}

#[linpoint_test::test]
async fn an_async_body_is_one() {
    linpoint_test::future::yield_now().await;
    assert_eq!(Counter::lossy().get_later(1).await, 0);
}
