//! What reports say.

use linpoint::{Outcomes, Spec};
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Mutex, RwLock};
use linpoint_test::{FailureKind, object};

use crate::campaigns::failure;
use crate::objects::{self, Counter2};

#[test]
fn a_blocked_thread_is_reported_with_the_lock_and_its_holder() {
    let left_then_right = |locks: &(Mutex<()>, Mutex<()>)| {
        let _left = locks.0.lock().unwrap();
        let _right = locks.1.lock().unwrap();
    };
    let right_then_left = |locks: &(Mutex<()>, Mutex<()>)| {
        let _right = locks.1.lock().unwrap();
        let _left = locks.0.lock().unwrap();
    };
    let found = failure(
        &object(|| (Mutex::new(()), Mutex::new(())))
            .op0("left", left_then_right)
            .op0("right", right_then_left)
            .matrix([["left"], ["right"]]),
    );
    assert_eq!(found.kind, FailureKind::NoStuckWitness);
    let [left, right] = &found.blocked[..] else {
        panic!("{found}");
    };
    let expected =
        "A.left waits for a lock (number 2 of what the object is made of) that thread B holds, at ";
    assert!(left.starts_with(expected), "{left}");
    let expected = "B.right waits for a lock (number 1 of what the object is made of) that thread A holds, at ";
    assert!(right.starts_with(expected), "{right}");
}

#[test]
fn an_operation_that_blocks_serially_is_reported_with_the_lock() {
    let counter = object(Counter2::default)
        .op0("inc", Counter2::inc)
        .op0("get", Counter2::get);
    let found = failure(&counter.auto(2));
    assert_eq!(found.kind, FailureKind::Blocks);
    assert_eq!(found.blocked.len(), 1, "{found}");
    assert!(found.blocked[0].contains("waits for a lock"), "{found}");
    let itself = failure(
        &object(|| RwLock::new(()))
            .op0("upgrade", |lock| {
                let _shared = lock.read().unwrap();
                drop(lock.write().unwrap());
            })
            .matrix([["upgrade"]]),
    );
    assert!(
        itself.blocked[0].contains("that it holds itself"),
        "{itself}"
    );
}

#[test]
fn two_serial_executions_stand_side_by_side_and_part_somewhere() {
    // It outlives the executions, so that they differ.
    static LAST: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let found = failure(
        &object(|| AtomicU32::new(0))
            .op0("inc", |count| count.fetch_add(1, SeqCst))
            .op0("draw", |count| {
                count.load(SeqCst);
                LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
            })
            .matrix([["inc", "draw"]])
            .as_found(),
    );
    assert_eq!(found.kind, FailureKind::Nondeterministic);
    let text = found.to_string();
    let same = text
        .lines()
        .find(|line| line.contains("A.inc = 0"))
        .unwrap();
    assert_eq!(same.matches("A.inc = 0").count(), 2, "{text}");
    let parting = text.lines().find(|line| line.contains("here they part"));
    let parting = parting.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(parting.matches("A.draw = ").count(), 2, "{text}");
}

#[test]
fn many_differences_are_counted() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("many.xml");
    let counter = |first| {
        object(move || AtomicU32::new(first))
            .op0("inc", |count| count.fetch_add(1, SeqCst))
            .matrix([["inc"; 3], ["inc"; 3]])
    };
    counter(0).write_observations(&path).run();
    let found = failure(&counter(7).expect_observations(&path));
    assert_eq!(found.kind, FailureKind::Changed);
    // Each of 20 serial histories is gone, and each is new.
    assert_eq!(found.differences.len(), 9, "{found}");
    assert_eq!(found.differences[8], "and 32 more");
}

struct Counting;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Op {
    Inc,
    Get,
}

impl Spec for Counting {
    type Op = Op;
    type Ret = u32;
    type State = u32;

    fn init(&self) -> u32 {
        0
    }

    fn apply(&self, &count: &u32, op: &Op) -> Outcomes<u32, u32> {
        match op {
            Op::Inc => Outcomes::One(count, count + 1),
            Op::Get => Outcomes::One(count, count),
        }
    }
}

#[test]
fn a_specification_speaks_of_its_own_operations() {
    let found = failure(
        &object(|| AtomicU32::new(0))
            .against(Counting, [Op::Inc, Op::Get], |count, op| {
                let now = count.load(SeqCst);
                if *op == Op::Inc {
                    count.store(now + 1, SeqCst);
                }
                now
            })
            .matrix([["Inc"], ["Inc"]]),
    );
    assert!(found.sentence.contains("Inc"), "{found}");
    for internal in ["Runs(", "Waits(", "Some("] {
        assert!(!found.to_string().contains(internal), "{found}");
    }
}

#[test]
fn serial_executions_are_counted_where_they_are_many() {
    let large = objects::cas_counter()
        .matrix([["inc", "get", "inc"]; 4])
        .budget(std::time::Duration::from_millis(200))
        .check();
    let text = large.to_string();
    assert!(text.contains("of up to 739200 executions"), "{text}");
    assert!(
        text.contains("a 4x3 test has up to 369600 serial executions"),
        "{text}"
    );
    assert!(
        text.contains("0 of 1 tests passed, none failed; the limit was 200ms"),
        "{text}"
    );
}
