//! What happens for no reason: waits that end without a notification, and weak compare-exchanges that fail.

use std::cell::Cell;
use std::time::Duration;

use linpoint_test::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::mpsc::channel;
use linpoint_test::sync::{Arc, Barrier, Condvar, Mutex};
use linpoint_test::{FailureKind, Model, Object, hint, object, thread};

use crate::{agreed, caught, passes};

/// A counter of permits, of which `take` waits for one.
#[derive(Default)]
struct Permits {
    count: Mutex<u32>,
    changed: Condvar,
}

/// How `take` waits.
#[derive(Clone, Copy, Debug)]
enum Waits {
    /// For a notification.
    Once,
    /// Until there is a permit.
    UntilTrue,
    /// For a notification or some time, and takes the end of the time alone for a reason to look again.
    ForSomeTime,
}

impl Permits {
    fn take(&self, waits: Waits) -> Option<u32> {
        let mut count = self.count.lock().unwrap();
        match waits {
            Waits::Once if *count == 0 => count = self.changed.wait(count).unwrap(),
            Waits::UntilTrue => {
                while *count == 0 {
                    count = self.changed.wait(count).unwrap();
                }
            }
            Waits::ForSomeTime if *count == 0 => {
                let (again, result) = self
                    .changed
                    .wait_timeout(count, Duration::from_secs(1))
                    .unwrap();
                count = again;
                if result.timed_out() {
                    return Some(0);
                }
            }
            Waits::Once | Waits::ForSomeTime => {}
        }
        *count = count.checked_sub(1)?;
        Some(1)
    }
}

fn permits(waits: Waits) -> Object<Permits> {
    object(Permits::default)
        .op0("take", move |permits| permits.take(waits))
        .may_block("take")
        .op0("give", |permits| {
            *permits.count.lock().unwrap() += 1;
            permits.changed.notify_one();
        })
        .matrix([["take"], ["give"]])
}

#[test]
fn a_wait_without_a_loop_is_found() {
    for waits in [Waits::Once, Waits::UntilTrue] {
        let report = passes(&permits(waits));
        let text = report.to_string();
        assert!(text.contains("\nnot covered: spurious wake-ups"), "{text}");
    }
    let failure = caught(permits(Waits::Once).spurious(1), FailureKind::NoWitness);
    let steps = failure.interleaving.join("\n");
    assert!(steps.contains("wakes up spuriously, and locks"), "{steps}");
    assert!(!agreed(|| permits(Waits::Once).spurious(1)));
}

#[test]
fn a_wait_in_a_loop_passes() {
    for most in [1, 2, 3] {
        let report = passes(&permits(Waits::UntilTrue).spurious(most));
        let text = report.to_string();
        assert!(text.contains("PASS: exhaustive"), "{text}");
        let caveat = format!("\nnot covered: more than {most} spurious wake-ups");
        assert!(text.contains(&caveat), "{text}");
    }
    assert!(agreed(|| permits(Waits::UntilTrue).spurious(2)));
}

#[test]
fn a_timed_wait_that_did_not_time_out_may_not_have_been_notified() {
    passes(&permits(Waits::ForSomeTime));
    caught(
        permits(Waits::ForSomeTime).spurious(1),
        FailureKind::NoWitness,
    );
}

/// The notification comes without the lock, so it may be lost. No spurious wake-up excuses that.
#[test]
fn a_lost_wake_up_is_found_all_the_same() {
    #[derive(Default)]
    struct Flag {
        is_set: AtomicBool,
        lock: Mutex<()>,
        changed: Condvar,
    }
    for most in [0, 1, 3] {
        let flag = || {
            object(Flag::default)
                .op0("wait", |flag: &Flag| {
                    let mut guard = flag.lock.lock().unwrap();
                    while !flag.is_set.load(SeqCst) {
                        guard = flag.changed.wait(guard).unwrap();
                    }
                })
                .may_block("wait")
                .op0("set", |flag| {
                    flag.is_set.store(true, SeqCst);
                    flag.changed.notify_all();
                })
                .matrix([["wait"], ["set"]])
                .spurious(most)
        };
        caught(flag(), FailureKind::NoStuckWitness);
        assert!(!agreed(flag));
    }
}

/// A lock on a weak compare-exchange.
fn lock(is_weak: bool) -> Object<AtomicBool> {
    object(|| AtomicBool::new(false))
        .op0("try_lock", move |lock: &AtomicBool| match is_weak {
            true => lock
                .compare_exchange_weak(false, true, SeqCst, SeqCst)
                .is_ok(),
            false => lock.compare_exchange(false, true, SeqCst, SeqCst).is_ok(),
        })
        .op0("lock", move |lock| {
            while lock
                .compare_exchange_weak(false, true, SeqCst, SeqCst)
                .is_err()
            {
                hint::spin_loop();
            }
        })
        .may_block("lock")
        .op0("unlock", |lock| lock.store(false, SeqCst))
}

#[test]
fn a_weak_compare_exchange_without_a_retry_is_found() {
    let tried = |is_weak| lock(is_weak).matrix([["try_lock"], ["try_lock"]]);
    passes(&tried(true));
    let failure = caught(tried(true).spurious(1), FailureKind::NoWitness);
    let steps = failure.interleaving.join("\n");
    assert!(steps.contains("fails spuriously"), "{steps}");
    assert!(!agreed(|| tried(true).spurious(2)));
    passes(&tried(false).spurious(2));
}

#[test]
fn a_weak_compare_exchange_with_a_retry_passes() {
    let locked = || {
        lock(true)
            .matrix([["lock", "unlock"], ["lock", "unlock"]])
            .spurious(2)
    };
    passes(&locked());
    assert!(agreed(locked));
    let counter = || {
        object(|| AtomicU32::new(0))
            .op0("inc", |count: &AtomicU32| {
                count.fetch_update(SeqCst, SeqCst, |count| Some(count + 1))
            })
            .matrix([["inc"], ["inc"]])
            .spurious(2)
    };
    passes(&counter());
    assert!(agreed(counter));
}

#[test]
fn the_closure_of_fetch_update_may_be_called_again_although_nothing_has_changed() {
    let counted = object(|| AtomicU32::new(0))
        .op0("inc", |count: &AtomicU32| {
            let calls = Cell::new(0);
            let _ = count.fetch_update(SeqCst, SeqCst, |count| {
                calls.set(calls.get() + 1);
                Some(count + 1)
            });
            calls.get()
        })
        .matrix([["inc"]]);
    passes(&counted);
    caught(counted.spurious(1), FailureKind::NoWitness);
}

/// Waits for a flag by parking.
fn parked(loops: bool, most: u32) -> Model {
    Model::new(move || {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        let waiter = thread::spawn(move || {
            if loops {
                while !seen.load(SeqCst) {
                    thread::park();
                }
            } else {
                thread::park();
            }
            assert!(seen.load(SeqCst), "it is not set");
        });
        flag.store(true, SeqCst);
        waiter.thread().unpark();
        waiter.join().unwrap();
    })
    .spurious(most)
}

#[test]
fn a_thread_that_parks_without_a_loop_is_found() {
    assert!(parked(false, 0).check().passed());
    let report = parked(false, 1).check();
    let failure = report.failure().expect("it must fail");
    assert_eq!(failure.kind, FailureKind::Panics, "{report}");
    let steps = failure.interleaving.join("\n");
    assert!(steps.contains("park: returns spuriously"), "{steps}");
    let again = parked(false, 1).replay(&failure.token).check();
    assert_eq!(
        again.failure().map(|again| &again.interleaving),
        Some(&failure.interleaving),
        "{again}"
    );
    let report = parked(true, 2).check();
    assert!(report.passed(), "{report}");
}

#[test]
fn a_thread_that_no_other_unparks_is_stuck() {
    let report = Model::new(thread::park).spurious(2).check();
    let kind = report.failure().map(|failure| failure.kind);
    assert_eq!(kind, Some(FailureKind::Deadlock), "{report}");
}

#[test]
fn types_that_wait_inside_show_nothing_spurious() {
    let report = Model::new(|| {
        let barrier = Arc::new(Barrier::new(2));
        let (sender, receiver) = channel();
        let other = Arc::clone(&barrier);
        let thread = thread::spawn(move || {
            other.wait();
            sender.send(1).unwrap();
        });
        barrier.wait();
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
    })
    .spurious(2)
    .check();
    assert!(report.passed(), "{report}");
    let text = report.to_string();
    assert!(!text.contains("spurious"), "{text}");
}
