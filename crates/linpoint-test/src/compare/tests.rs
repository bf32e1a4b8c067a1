//! Small objects with known answers, and what the tests of the methods share.

use std::sync::atomic::Ordering::{self, *};

use super::*;
use crate::cell::UnsafeCell;
use crate::object;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU32, fence};

/// Random numbers that are the same each time.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below this one.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// The methods that warn of the only test of an object, and whether Line-Up passes it.
fn warned<X: 'static>(object: Object<X>) -> (Vec<Method>, bool) {
    let comparison = object.compare(10_000);
    let [test] = &comparison.tests[..] else {
        panic!("{:?}", comparison.problem);
    };
    assert_eq!(test.coverage, Coverage::Exhaustive);
    let methods = Method::ALL.into_iter();
    let methods = methods.filter(|&method| test.warnings(method).next().is_some());
    (
        methods.collect(),
        matches!(test.test.result, TestResult::Pass(_)),
    )
}

#[test]
fn a_counter_under_a_lock_is_left_alone() {
    let counter = object(|| Mutex::new(0))
        .op0("inc", |count: &Mutex<u32>| *count.lock().unwrap() += 1)
        .op0("get", |count| *count.lock().unwrap())
        .matrix([["inc", "get"], ["inc", "get"]]);
    assert_eq!(warned(counter), (vec![], true));
}

#[test]
fn retries_are_false_alarms() {
    // The reads before a compare-exchange that fails have no place in a serial order.
    let counter = object(|| AtomicU32::new(0))
        .op0("inc", |count: &AtomicU32| {
            _ = count.fetch_update(SeqCst, SeqCst, |value| Some(value + 1));
        })
        .matrix([["inc"], ["inc"]]);
    assert_eq!(warned(counter), (vec![Method::Serializability], true));
}

#[test]
fn a_lost_update_has_no_data_race() {
    let counter = object(|| AtomicU32::new(0))
        .op0("inc", |count: &AtomicU32| {
            let value = count.load(SeqCst);
            count.store(value + 1, SeqCst);
        })
        .op0("get", |count| count.load(SeqCst))
        .matrix([vec!["inc"], vec!["inc", "get"]]);
    assert_eq!(warned(counter), (vec![Method::Serializability], false));
}

#[test]
fn relaxed_accesses_race_and_may_be_harmless() {
    let flag = object(|| AtomicBool::new(false))
        .op0("set", |flag: &AtomicBool| flag.store(true, Relaxed))
        .op0("get", |flag| flag.load(Relaxed))
        .matrix([["set"], ["get"]]);
    assert_eq!(warned(flag), (vec![Method::DataRaces], true));
}

/// A value that is written once, and a flag that says so.
struct Message {
    text: UnsafeCell<u32>,
    is_sent: AtomicBool,
}

fn message(send: Ordering, receive: Ordering) -> Object<Message> {
    object(|| Message {
        text: UnsafeCell::new(0),
        is_sent: AtomicBool::new(false),
    })
    .op0("send", move |message: &Message| {
        message.text.with_mut(|_| ());
        message.is_sent.store(true, send);
    })
    .op0("receive", move |message| {
        let is_sent = message.is_sent.load(receive);
        is_sent.then(|| message.text.with(|_| ()))
    })
    .matrix([["send"], ["receive"]])
}

#[test]
fn cells_race_unless_release_and_acquire_order_them() {
    assert_eq!(warned(message(Release, Acquire)), (vec![], true));
    // The check itself reports a race of cells.
    let racy = (vec![Method::DataRaces], false);
    assert_eq!(warned(message(Relaxed, Acquire)), racy);
    let comparison = message(Release, Relaxed).compare(100);
    let warnings: Vec<&str> = comparison.tests[0].warnings(Method::DataRaces).collect();
    assert!(
        warnings.iter().any(|warning| {
            warning.contains("the write of A.send at")
                && warning.contains("the read of B.receive at")
        }),
        "{warnings:?}"
    );
}

/// The entry of Dekker's mutual exclusion: raise the own flag, look at the other one.
fn dekker(raise: Ordering, between: Option<Ordering>) -> Object<[AtomicBool; 2]> {
    let enter = move |own: usize| {
        move |flags: &[AtomicBool; 2]| {
            flags[own].store(true, raise);
            between.into_iter().for_each(fence);
            !flags[1 - own].load(SeqCst)
        }
    };
    object(|| [false, false].map(AtomicBool::new))
        .op0("first", enter(0))
        .op0("second", enter(1))
        .matrix([["first"], ["second"]])
}

#[test]
fn mutual_exclusion_by_flags_needs_more_than_a_release() {
    let methods = |raise, between| warned(dekker(raise, between)).0;
    // Both may stay out, which no serial execution shows: not even under sequential consistency is it linearizable.
    let exposed = |methods: Vec<Method>| methods.contains(&Method::StoreBuffers);
    assert!(exposed(methods(Release, None)));
    assert!(exposed(methods(Release, Some(AcqRel))));
    assert!(!exposed(methods(Release, Some(SeqCst))));
    assert!(!exposed(methods(SeqCst, None)));
    assert!(methods(SeqCst, None).contains(&Method::VolatileStoreBuffers));
}
