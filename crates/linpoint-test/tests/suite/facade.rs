//! What the facade does inside a controlled run, and that it is `std` outside.

use std::sync::Arc;
use std::time::Duration;

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use linpoint_test::{FailureKind, Strategy, hint, object, thread};

#[test]
fn outside_a_run_the_facade_is_std() {
    let shared = Arc::new((
        Mutex::new(0),
        Condvar::new(),
        RwLock::new(1),
        Barrier::new(2),
        OnceLock::new(),
    ));
    let (sender, receiver) = mpsc::sync_channel(1);
    let other = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let (count, changed, shared_value, barrier, cell) = &*shared;
            *count.lock().unwrap() += 1;
            changed.notify_all();
            *shared_value.write().unwrap() += 1;
            cell.set(7).unwrap();
            barrier.wait();
            sender.send(*shared_value.read().unwrap()).unwrap();
        })
    };
    let (count, changed, _, barrier, cell) = &*shared;
    let guard = changed
        .wait_while(count.lock().unwrap(), |count| *count == 0)
        .unwrap();
    assert!(count.try_lock().is_err());
    assert!(count.try_lock_for(Duration::from_millis(2)).is_err());
    drop(guard);
    barrier.wait();
    assert_eq!(receiver.recv(), Ok(2));
    assert_eq!(cell.get(), Some(&7));
    other.join().unwrap();
    assert!(receiver.recv().is_err());
    let waited = changed
        .wait_timeout(count.lock().unwrap(), Duration::from_millis(1))
        .unwrap();
    assert!(waited.1.timed_out());
    hint::spin_loop();
    thread::yield_now();
}

#[test]
fn a_lost_wake_up_is_a_stuck_history() {
    #[derive(Default)]
    struct Flag {
        set: AtomicU32,
        lock: Mutex<()>,
        changed: Condvar,
    }
    /// Where `wait` first looks at the flag.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Looks {
        Locked,
        Unlocked,
    }
    let flag = |looks: Looks| {
        object(Flag::default)
            .op0("set", |flag| {
                flag.set.store(1, SeqCst);
                let _guard = flag.lock.lock().unwrap();
                flag.changed.notify_all();
            })
            .op0("wait", move |flag| {
                if looks == Looks::Locked {
                    let guard = flag.lock.lock().unwrap();
                    drop(
                        flag.changed
                            .wait_while(guard, |()| flag.set.load(SeqCst) == 0)
                            .unwrap(),
                    );
                } else if flag.set.load(SeqCst) == 0 {
                    drop(flag.changed.wait(flag.lock.lock().unwrap()).unwrap());
                }
            })
            .may_block("wait")
            .matrix([["set"], ["wait"]])
    };
    let report = flag(Looks::Locked).check();
    assert!(report.passed(), "{report}");
    let report = flag(Looks::Unlocked).check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::NoStuckWitness);
    assert!(
        failure.blocked[0].contains("waits on a condition variable"),
        "{failure}"
    );
}

#[test]
fn a_deadlock_is_a_stuck_history() {
    let report = object(|| (Mutex::new(()), Mutex::new(())))
        .op0("forth", |(a, b)| {
            drop((a.lock().unwrap(), b.lock().unwrap()))
        })
        .op0("back", |(a, b)| {
            drop((b.lock().unwrap(), a.lock().unwrap()))
        })
        .matrix([["forth"], ["back"]])
        .check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::NoStuckWitness);
    assert_eq!(failure.blocked.len(), 2);
    assert_eq!(failure.preemptions, 1);
}

#[test]
fn a_livelock_is_a_stuck_history() {
    // Each waits for the other, politely.
    let report = object(|| [AtomicU32::new(0), AtomicU32::new(0)])
        .op("enter", [0usize, 1], |wants, me| {
            wants[me].store(1, SeqCst);
            while wants[1 - me].load(SeqCst) == 1 {
                hint::spin_loop();
            }
            wants[me].store(0, SeqCst);
        })
        .matrix([["enter(0)"], ["enter(1)"]])
        .check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::NoStuckWitness);
    assert!(
        failure.blocked.iter().all(|line| line.contains("spins")),
        "{failure}"
    );
}

#[test]
fn loops_without_a_hint_are_noticed() {
    let report = object(|| AtomicU32::new(0))
        .op0("set", |flag| flag.store(1, SeqCst))
        .op0("wait", |flag| while flag.load(SeqCst) == 0 {})
        .may_block("wait")
        .matrix([["set"], ["wait"]])
        .check();
    assert!(report.passed(), "{report}");
}

#[test]
fn panics_are_results_and_poison_locks() {
    let report = object(|| Mutex::new(0u32))
        .op("set", [1, 2], |cell, value| {
            let mut cell = cell.lock().map_err(|_| "poisoned")?;
            assert!(*cell == 0, "already {}", *cell);
            *cell = value;
            Ok::<(), &str>(())
        })
        .matrix([["set(1)", "set(2)"], ["set(2)", "set(1)"]])
        .check();
    assert!(report.passed(), "{report}");
    // The first of two panics, and the serial order says which it is: no false alarm. With a race there is one.
    let report = object(|| AtomicU32::new(0))
        .op0("enter", |count| {
            assert_eq!(count.fetch_add(1, SeqCst), 0, "another thread is in");
            count.fetch_sub(1, SeqCst);
        })
        .matrix([["enter"], ["enter"]])
        .check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert!(failure.history.iter().any(|event| {
        event
            .result
            .as_deref()
            .is_some_and(|result| result.contains("another thread is in"))
    }));
}

#[test]
fn sequences_before_and_after_belong_to_the_history() {
    let counter = || {
        object(|| AtomicU32::new(0))
            .op0("inc", |count| {
                let value = count.load(SeqCst);
                count.store(value + 1, SeqCst);
            })
            .op0("get", |count| count.load(SeqCst))
    };
    // Nothing in the test itself reads the counter.
    let report = counter().matrix([["inc"], ["inc"]]).check();
    assert!(report.passed(), "{report}");
    let report = counter()
        .init(["inc"])
        .matrix([["inc"], ["inc"]])
        .finally(["get"])
        .check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.finally, ["get"]);
    assert!(
        failure.init.is_empty(),
        "the operation before does not matter: {failure}"
    );
    assert_eq!(failure.history.last().unwrap().result.as_deref(), Some("1"));
}

#[test]
fn what_is_intended_can_be_declared() {
    // `peek` looks at two cells one after the other: not linearizable, and that does not matter.
    let pair = || {
        object(|| [AtomicU32::new(0), AtomicU32::new(0)])
            .op0("put", |cells| {
                cells[0].store(1, SeqCst);
                cells[1].store(1, SeqCst);
            })
            .op0("peek", |cells| {
                (cells[0].load(SeqCst), cells[1].load(SeqCst))
            })
            .matrix([["put"], ["peek"]])
    };
    assert!(pair().check().failure().is_some());
    let report = pair().ignore_result("peek").check();
    assert!(report.passed(), "{report}");

    let chance = std::sync::atomic::AtomicU32::new(0);
    let chance = Arc::new(chance);
    let dice = || {
        let chance = Arc::clone(&chance);
        object(|| AtomicU32::new(0))
            .op0("roll", move |rolled| {
                rolled.store(1, SeqCst);
                chance.fetch_add(1, SeqCst) % 3
            })
            .matrix([["roll"], ["roll"]])
    };
    let report = dice().check();
    assert_eq!(
        report.failure().unwrap().kind,
        FailureKind::Nondeterministic,
        "{report}"
    );
    assert!(!report.failure().unwrap().other_history.is_empty());
    let report = dice()
        .nondeterministic_ok("roll")
        .ignore_result("roll")
        .check();
    assert!(report.passed(), "{report}");
    let counter2 = object(|| Mutex::new(0))
        .op0("lock", |lock| std::mem::forget(lock.lock()))
        .may_block("lock");
    let report = counter2
        .never_blocks("lock")
        .matrix([["lock", "lock"]])
        .check();
    assert_eq!(report.failure().unwrap().kind, FailureKind::Blocks);
}

#[test]
fn everything_that_blocks_can_be_passed() {
    let report = object(|| (Once::new(), OnceLock::new(), AtomicU32::new(0)))
        .op0("once", |(once, _, runs)| {
            once.call_once(|| {
                runs.fetch_add(1, SeqCst);
            });
            runs.load(SeqCst)
        })
        .op("get", [1, 2], |(_, cell, _), value| {
            *cell.get_or_init(|| value)
        })
        .matrix([["once", "get(1)"], ["get(2)", "once"]])
        .check();
    assert!(report.passed(), "{report}");
    let report = object(|| {
        let (sender, receiver) = mpsc::channel();
        (Mutex::new(sender), Mutex::new(receiver))
    })
    .op("send", [1, 2], |(sender, _), value| {
        sender.lock().unwrap().send(value).is_ok()
    })
    .op0("recv", |(_, receiver)| receiver.lock().unwrap().recv().ok())
    .may_block("recv")
    .matrix([vec!["send(1)", "send(2)"], vec!["recv"], vec!["recv"]])
    .check();
    assert!(report.passed(), "{report}");
    // A barrier for two is passed by two at once: no serial execution does that.
    let report = object(|| Barrier::new(2))
        .op0("wait", |barrier| {
            barrier.wait();
        })
        .may_block("wait")
        .matrix([["wait"], ["wait"]])
        .check();
    assert_eq!(report.failure().unwrap().kind, FailureKind::NoWitness);
}

#[test]
fn notify_one_may_wake_any_waiter() {
    // Two kinds of waiters share a condition: if `notify_one` wakes the wrong one, the test is stuck.
    #[derive(Default)]
    struct Slot {
        value: Mutex<Option<u32>>,
        changed: Condvar,
    }
    let slot = |notify: fn(&Condvar)| {
        object(Slot::default)
            .op("put", [1], move |slot, value| {
                let guard = slot.value.lock().unwrap();
                let mut guard = slot
                    .changed
                    .wait_while(guard, |value| value.is_some())
                    .unwrap();
                *guard = Some(value);
                notify(&slot.changed);
            })
            .may_block("put")
            .op0("take", move |slot| {
                let guard = slot.value.lock().unwrap();
                let mut guard = slot
                    .changed
                    .wait_while(guard, |value| value.is_none())
                    .unwrap();
                let value = guard.take();
                notify(&slot.changed);
                value
            })
            .may_block("take")
            .matrix([["put(1)", "put(1)"], ["take", "put(1)"], ["take", "take"]])
    };
    let report = slot(Condvar::notify_all).check();
    assert!(report.passed(), "{report}");
    let report = slot(Condvar::notify_one).check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::NoStuckWitness);
}

#[test]
fn timed_waits_end() {
    let report = object(|| (Mutex::new(false), Condvar::new()))
        .op0("wait", |(flag, changed)| {
            let guard = flag.lock().unwrap();
            let waited = changed.wait_timeout_while(guard, Duration::from_secs(5), |set| !*set);
            !waited.unwrap().1.timed_out()
        })
        .op0("set", |(flag, changed)| {
            *flag.lock().unwrap() = true;
            changed.notify_all();
        })
        .matrix([["wait"], ["set"]])
        .check();
    assert!(report.passed(), "{report}");
}

#[test]
fn a_wait_that_timed_out_is_over() {
    let nudge = |(count, changed): &(Mutex<u32>, Condvar)| {
        let guard = count.lock().unwrap();
        let waited = changed.wait_timeout(guard, Duration::from_secs(1));
        *waited.unwrap().0 += 1;
        changed.notify_one();
    };
    let report = object(|| (Mutex::new(0), Condvar::new()))
        .op0("nudge", nudge)
        .op0("count", |(count, _)| *count.lock().unwrap())
        .matrix([vec!["nudge"], vec!["nudge"], vec!["count"]])
        .strategy(Strategy::Plain(Some(2)))
        .check();
    assert!(report.passed(), "{report}");
}

#[test]
fn what_is_not_under_control_is_no_failure() {
    let chance = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let report = object(|| AtomicU32::new(0))
        .op0("look", move |cell| {
            if chance.fetch_add(1, SeqCst).is_multiple_of(3) {
                cell.store(0, SeqCst);
            }
            cell.load(SeqCst)
        })
        .matrix([["look", "look"], ["look", "look"]])
        .check();
    assert!(report.failure().is_none(), "{report}");
    assert!(report.to_string().contains("not under control"), "{report}");
}

#[test]
fn destructors_of_stuck_threads_may_lock() {
    struct LocksWhenDropped<'a>(&'a Mutex<u32>);
    impl Drop for LocksWhenDropped<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap_or_else(|poison| poison.into_inner()) += 1;
        }
    }
    let report = object(|| (Mutex::new(0), Mutex::new(0)))
        .op0("forth", |(a, b)| {
            let _late = LocksWhenDropped(b);
            let _held = a.lock().unwrap();
            drop(b.lock().unwrap());
        })
        .may_block("forth")
        .op0("back", |(a, b)| {
            let _late = LocksWhenDropped(a);
            let _held = b.lock().unwrap();
            drop(a.lock().unwrap());
        })
        .may_block("back")
        .matrix([["forth"], ["back"]])
        .check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::NoStuckWitness);
}

#[test]
fn whether_a_lock_is_poisoned_is_under_control() {
    let strategies = [
        Strategy::Automatic,
        Strategy::Bounded(2),
        Strategy::Plain(None),
    ];
    let mutex = || {
        object(|| Mutex::new(0))
            .op0("break", |mutex| {
                let _held = mutex.lock().unwrap();
                panic!("on purpose")
            })
            .op0("is_poisoned", Mutex::is_poisoned)
            .op0("twice", |mutex| (mutex.is_poisoned(), mutex.is_poisoned()))
            .op0("clear", Mutex::clear_poison)
            .op0("is_fine", |mutex| mutex.lock().is_ok())
    };
    let lock = || {
        object(|| RwLock::new(0))
            .op0("break", |lock| {
                let _held = lock.write().unwrap();
                panic!("on purpose")
            })
            .op0("is_poisoned", RwLock::is_poisoned)
            .op0("twice", |lock| (lock.is_poisoned(), lock.is_poisoned()))
            .op0("clear", RwLock::clear_poison)
            .op0("is_fine", |lock| lock.read().is_ok())
    };
    let looks = [vec!["break"], vec!["is_poisoned", "is_poisoned"]];
    let heals = [vec!["break", "is_fine"], vec!["clear"]];
    let torn = [["break"], ["twice"]];
    for strategy in strategies {
        for report in [
            mutex()
                .matrix(&looks)
                .matrix(&heals)
                .strategy(strategy)
                .check(),
            lock()
                .matrix(&looks)
                .matrix(&heals)
                .strategy(strategy)
                .check(),
        ] {
            assert!(report.passed(), "{strategy:?}: {report}");
            assert_eq!(report.tests.len(), 2);
        }
        for report in [
            mutex().matrix(torn).strategy(strategy).check(),
            lock().matrix(torn).strategy(strategy).check(),
        ] {
            let failure = report.failure().expect("it changes between two looks");
            assert_eq!(failure.kind, FailureKind::NoWitness, "{report}");
        }
    }
}
