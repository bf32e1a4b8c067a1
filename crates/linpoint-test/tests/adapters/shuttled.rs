//! Objects written for shuttle.

use std::collections::VecDeque;

use linpoint::{Outcomes, Spec};
use linpoint_test::{Coverage, Engine, FailureKind, Object, Strategy, Verdict, object};
use shuttle::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use shuttle::sync::{Condvar, Mutex};
use shuttle::{hint, thread};

#[derive(Default)]
struct Counter(AtomicU32);

impl Counter {
    /// Another `inc` may come between the two accesses.
    fn lossy_inc(&self) {
        let count = self.0.load(SeqCst);
        self.0.store(count + 1, SeqCst);
    }

    fn inc(&self) {
        loop {
            let count = self.0.load(SeqCst);
            let added = self.0.compare_exchange(count, count + 1, SeqCst, SeqCst);
            if added.is_ok() {
                return;
            }
        }
    }

    fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

fn counter(inc: fn(&Counter)) -> Object<Counter> {
    object(Counter::default)
        .op0("inc", inc)
        .op0("get", Counter::get)
        .under(Engine::Shuttle)
}

const COUNTER_TEST: [[&str; 3]; 3] = [
    ["inc", "get", "inc"],
    ["inc", "get", "inc"],
    ["get", "inc", "get"],
];

#[test]
fn a_lossy_counter_fails_in_the_smallest_test() {
    let report = counter(Counter::lossy_inc).random(3, 2, 10).check();
    let failure = report.failure().expect("increments get lost");
    assert_eq!(failure.kind, FailureKind::NoWitness, "{failure}");
    let mut ops = failure.matrix.concat();
    ops.sort();
    assert_eq!(ops, ["get", "inc", "inc"], "{failure}");
    assert_eq!(failure.preemptions, 1, "{failure}");

    let again = counter(Counter::lossy_inc).replay(&failure.token).check();
    let replayed = again.failure().expect("the token shows the failure");
    assert_eq!(replayed.history, failure.history);
    assert_eq!(replayed.interleaving, failure.interleaving);
}

#[test]
fn a_correct_counter_passes() {
    let report = counter(Counter::inc).random(2, 2, 10).check();
    assert!(
        matches!(report.verdict, Verdict::Pass(Coverage::Preemptions(2))),
        "{report}"
    );
    let sampled = counter(Counter::inc)
        .matrix(COUNTER_TEST)
        .strategy(Strategy::Random(500))
        .check();
    assert!(sampled.passed(), "{sampled}");
    assert_eq!(sampled.effort().executions, 500);
}

/// As many as an independent harness over shuttle needed: its calls are steps of their own.
#[test]
fn plain_enumeration_needs_the_known_numbers_of_executions() {
    assert_eq!(plain_executions(0), 1_680);
    assert_eq!(plain_executions(1), 36_960);
}

#[test]
#[ignore = "takes a minute: 434,046 executions"]
fn plain_enumeration_with_two_preemptions_needs_the_known_number_of_executions() {
    assert_eq!(plain_executions(2), 434_046);
}

fn plain_executions(bound: u32) -> u64 {
    let report = counter(Counter::inc)
        .matrix(COUNTER_TEST)
        .strategy(Strategy::Plain(Some(bound)))
        .check();
    assert!(report.passed(), "{report}");
    report.effort().executions
}

/// A queue whose `take` waits for an element.
#[derive(Default)]
struct Channel {
    items: Mutex<VecDeque<u32>>,
    added: Condvar,
}

impl Channel {
    fn add(&self, item: u32) {
        self.items.lock().unwrap().push_back(item);
        self.added.notify_one();
    }

    /// Wrong: does not notify.
    fn silent_add(&self, item: u32) {
        self.items.lock().unwrap().push_back(item);
    }

    fn take(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        loop {
            match items.pop_front() {
                Some(item) => return item,
                None => items = self.added.wait(items).unwrap(),
            }
        }
    }
}

fn channel(add: fn(&Channel, u32)) -> Object<Channel> {
    object(Channel::default)
        .op("add", [1, 2], add)
        .op0("take", Channel::take)
        .may_block("take")
        .under(Engine::Shuttle)
}

#[test]
fn a_take_that_waits_is_justified_by_a_serial_one_that_does() {
    let report = channel(Channel::add)
        .matrix([["add(1)", "take"], ["take", "add(2)"]])
        .check();
    assert!(report.passed(), "{report}");
    assert_eq!(report.effort().stuck, 3, "{report}");
    let starving = channel(Channel::add)
        .matrix([["add(1)"], ["take"], ["take"]])
        .check();
    assert!(starving.passed(), "{starving}");
}

#[test]
fn a_lost_notification_is_a_stuck_history_without_a_witness() {
    let adds = channel(Channel::silent_add).matrix([["add(1)"], ["add(2)"]]);
    let report = adds.check();
    assert!(report.passed(), "adds alone are fine: {report}");
    let report = channel(Channel::silent_add).auto(2).check();
    let failure = report.failure().expect("no thread wakes `take`");
    assert_eq!(failure.kind, FailureKind::NoStuckWitness, "{failure}");
    assert_eq!(failure.matrix, [["add(1)"], ["take"]], "{failure}");
    assert_eq!(failure.blocked.len(), 1, "{failure}");
}

/// Guards a number by spinning.
#[derive(Default)]
struct Spinning {
    locked: AtomicBool,
    count: AtomicU32,
}

impl Spinning {
    fn inc(&self) -> u32 {
        while self.locked.swap(true, SeqCst) {
            hint::spin_loop();
        }
        let count = self.count.load(SeqCst);
        self.count.store(count + 1, SeqCst);
        self.locked.store(false, SeqCst);
        count
    }
}

#[test]
fn threads_that_spin_let_others_run() {
    let report = object(Spinning::default)
        .op0("inc", Spinning::inc)
        .matrix([["inc"], ["inc"], ["inc"]])
        .preemptions(1)
        .under(Engine::Shuttle)
        .check();
    assert!(report.passed(), "{report}");
}

#[test]
fn a_thread_that_is_never_unparked_is_stuck() {
    let report = object(|| ())
        .op0("park", |()| thread::park())
        .matrix([["park"], ["park"]])
        .under(Engine::Shuttle)
        .check();
    let failure = report.failure().expect("it was not declared to block");
    assert_eq!(failure.kind, FailureKind::Blocks, "{failure}");
}

#[test]
fn what_only_the_own_engine_does_is_refused() {
    let refused = |object: Object<Counter>, setting: &str| {
        let report = object.matrix([["inc"], ["get"]]).check();
        match &report.verdict {
            Verdict::Undecided(why) => assert!(why.contains(setting), "{report}"),
            _ => panic!("{report}"),
        }
    };
    refused(counter(Counter::inc).spurious(1), ".spurious(");
    refused(counter(Counter::inc).invariant(|_| ()), ".invariant(");
}

#[test]
fn a_panic_is_an_answer() {
    let relock = |lock: &Mutex<u32>| {
        let first = lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let second = lock.lock();
        drop((first, second));
    };
    let report = object(|| Mutex::new(0))
        .op0("relock", relock)
        .matrix([["relock"], ["relock"]])
        .under(Engine::Shuttle)
        .check();
    assert!(report.passed(), "shuttle panics in every order: {report}");
}

#[test]
fn what_shuttle_does_not_see_is_undecided() {
    let unseen = object(|| std::sync::atomic::AtomicU32::new(0))
        .op0("inc", |count| count.fetch_add(1, SeqCst))
        .under(Engine::Shuttle)
        .check();
    let Verdict::Undecided(why) = &unseen.verdict else {
        panic!("{unseen}");
    };
    assert!(why.contains("shuttle::sync"), "{why}");

    let spawning = object(|| ())
        .op0("spawn", |()| {
            thread::spawn(|| ());
            thread::yield_now();
        })
        .under(Engine::Shuttle)
        .check();
    assert!(
        spawning.to_string().contains("threads of its own"),
        "{spawning}"
    );
}

/// What a counter should do.
struct Counting;

impl Spec for Counting {
    type Op = &'static str;
    type Ret = Option<u32>;
    type State = u32;

    fn init(&self) -> u32 {
        0
    }

    fn apply(&self, count: &u32, op: &&'static str) -> Outcomes<Option<u32>, u32> {
        match *op {
            "inc" => Outcomes::One(None, count + 1),
            _ => Outcomes::One(Some(*count), *count),
        }
    }
}

#[test]
fn a_specification_decides_here_as_well() {
    let check = |inc: fn(&Counter)| {
        object(Counter::default)
            .against(Counting, ["inc", "get"], move |counter, op| match *op {
                "inc" => {
                    inc(counter);
                    None
                }
                _ => Some(counter.get()),
            })
            .matrix([["\"inc\"", "\"get\""], ["\"inc\"", "\"get\""]])
            .under(Engine::Shuttle)
            .check()
    };
    let right = check(Counter::inc);
    assert!(right.passed(), "{right}");
    let wrong = check(Counter::lossy_inc);
    assert!(wrong.failure().is_some(), "{wrong}");
}
