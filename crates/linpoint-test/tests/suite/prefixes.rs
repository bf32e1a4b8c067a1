//! Executions that begin as the one before did.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Plain;

use linpoint::{Outcomes, Spec};
use linpoint_test::sync::Mutex;
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::{Report, Strategy, Verdict, object};

#[test]
fn objects_made_outside_may_be_others_each_time() {
    let next = Plain::new(0);
    let cells = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let report = object(move || {
        let cell = next.fetch_add(1, SeqCst) % 2;
        cells[cell].store(0, SeqCst);
        (Arc::clone(&cells), cell)
    })
    .op0("inc", |(cells, cell)| cells[*cell].fetch_add(1, SeqCst))
    .op0("get", |(cells, cell)| cells[*cell].load(SeqCst))
    .matrix([["inc", "get"], ["get", "inc"]])
    .jobs(1)
    .check();
    assert!(report.passed(), "{report}");
}

#[test]
fn an_answer_that_changes_after_the_serial_executions_is_no_violation() {
    let made = Plain::new(0);
    let report = object(move || (made.fetch_add(1, SeqCst), AtomicU32::new(0)))
        .op0("get", |(number, count)| {
            count.load(SeqCst) + u32::from(*number > 1)
        })
        .matrix([["get"]])
        .jobs(1)
        .check();
    let Verdict::Undecided(why) = &report.verdict else {
        panic!("{report}");
    };
    assert!(why.contains("not under control"), "{why}");
}

/// Anything goes.
struct Anything;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Op {
    Hold,
    Maybe,
    Look,
}

impl Spec for Anything {
    type Op = Op;
    type Ret = ();
    type State = ();

    fn init(&self) {}

    fn apply(&self, (): &(), _: &Op) -> Outcomes<(), ()> {
        Outcomes::One((), ())
    }
}

/// An object of which one operation locks in the first executions, and does nothing afterwards.
fn changes_after(executions: usize, strategy: Strategy) -> Report {
    struct Changing {
        lock: Mutex<()>,
        count: AtomicU32,
        locks: bool,
    }
    let made = Plain::new(0);
    object(move || Changing {
        lock: Mutex::new(()),
        count: AtomicU32::new(0),
        locks: made.fetch_add(1, SeqCst) < executions,
    })
    .against(Anything, [Op::Hold, Op::Maybe, Op::Look], |object, op| {
        let lock = || object.lock.lock().expect("no holder panics");
        match op {
            Op::Hold => {
                let _held = lock();
                object.count.load(SeqCst);
                object.count.load(SeqCst);
            }
            Op::Maybe if object.locks => drop(lock()),
            Op::Maybe => {}
            Op::Look => _ = object.count.fetch_add(1, SeqCst),
        }
    })
    .matrix([["Hold"], ["Maybe"], ["Look"]])
    .strategy(strategy)
    .jobs(1)
    .check()
}

#[test]
fn an_object_that_changes_where_another_thread_is_chosen_is_found_out() {
    for (strategy, executions) in [
        (Strategy::Exhaustive, vec![6, 11, 17]),
        (Strategy::Plain(Some(2)), vec![6, 13, 22]),
    ] {
        for executions in executions {
            let report = changes_after(executions, strategy);
            let Verdict::Undecided(why) = &report.verdict else {
                panic!("{strategy:?}, {executions}: {report}");
            };
            assert!(why.contains("under the same schedule"), "{why}");
            assert!(report.effort().executions > executions as u64, "{report}");
        }
    }
}
