//! Orders of steps that a search must not overlook, or make up: each object here has one that matters.

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};
use linpoint_test::{Object, Strategy, Verdict, hint, object};

/// Whether a test passes, by every search that looks at all executions.
fn passes<X: 'static>(test: impl Fn() -> Object<X>) -> bool {
    let passes = |strategy| match test().strategy(strategy).as_found().check().verdict {
        Verdict::Pass(_) => true,
        Verdict::Fail(_) => false,
        verdict => panic!("{strategy:?}: {verdict:?}"),
    };
    let expected = passes(Strategy::Plain(None));
    for strategy in [
        Strategy::Exhaustive,
        Strategy::Bounded(64),
        Strategy::FewestPreemptions(64),
    ] {
        assert_eq!(passes(strategy), expected, "{strategy:?}");
    }
    expected
}

/// Two operations that lock and never unlock: the second one is stuck. Only if `tell` is first can it tell what `mark`
/// did before it got stuck.
#[test]
fn a_stuck_operation_could_have_come_first() {
    #[derive(Default)]
    struct Keeper {
        lock: Mutex<()>,
        mark: AtomicU32,
    }
    impl Keeper {
        fn lock_for_ever(&self) {
            std::mem::forget(self.lock.lock().unwrap());
        }
    }
    assert!(!passes(|| object(Keeper::default)
        .op0("mark", |keeper| {
            keeper.mark.store(7, SeqCst);
            keeper.lock_for_ever();
        })
        .may_block("mark")
        .op0("tell", |keeper| {
            keeper.lock_for_ever();
            keeper.mark.load(SeqCst)
        })
        .may_block("tell")
        .matrix([["mark"], ["tell"]])));
}

/// A semaphore. `second` answers how many others wait when it is woken: more than none only if it is preferred to `first`.
#[test]
fn any_waiter_may_be_notified() {
    #[derive(Default)]
    struct State {
        permits: u32,
        waiting: u32,
    }
    #[derive(Default)]
    struct Semaphore {
        state: Mutex<State>,
        released: Condvar,
    }
    impl Semaphore {
        fn acquire(&self) -> u32 {
            let mut state = self.state.lock().unwrap();
            let mut others = 0;
            while state.permits == 0 {
                state.waiting += 1;
                state = self.released.wait(state).unwrap();
                state.waiting -= 1;
                others = state.waiting;
            }
            state.permits -= 1;
            others
        }
    }
    assert!(!passes(|| object(Semaphore::default)
        .op0("first", |semaphore| {
            semaphore.acquire();
        })
        .may_block("first")
        .op0("second", Semaphore::acquire)
        .may_block("second")
        .op0("release", |semaphore| {
            semaphore.state.lock().unwrap().permits += 1;
            semaphore.released.notify_one();
        })
        .matrix([["first"], ["second"], ["release"]])));
}

/// A thread spins until one of two cells changes, and answers whether it slept and was woken by the second one alone.
fn either(threads: [[&'static str; 1]; 3]) -> Object<[AtomicU32; 2]> {
    object(<[AtomicU32; 2]>::default)
        .op0("await", |cells| {
            let mut slept = false;
            loop {
                match cells.each_ref().map(|cell| cell.load(SeqCst)) {
                    [0, 0] => hint::spin_loop(),
                    seen => return slept && seen == [0, 1],
                }
                slept = true;
            }
        })
        .may_block("await")
        .op("put", [0usize, 1], |cells, cell| {
            cells[cell].store(1, SeqCst)
        })
        .matrix(threads)
}

#[test]
fn any_change_may_wake_a_thread_that_spins() {
    assert!(!passes(|| either([["await"], ["put(0)"], ["put(1)"]])));
    assert!(!passes(|| either([["await"], ["put(1)"], ["put(0)"]])));
    assert!(!passes(|| either([["put(0)"], ["put(1)"], ["await"]])));
    assert!(!passes(|| either([["put(0)"], ["await"], ["put(1)"]])));
}

/// `bump` writes in two critical sections, the first of which it leaves out if the lock is not free. To see the value between
/// them, `look` must lock after a try that would fail in the other order.
#[test]
fn a_try_that_fails_could_have_come_before_the_lock() {
    assert!(!passes(|| object(|| Mutex::new(0))
        .op0("look", |value| *value.lock().unwrap())
        .op0("bump", |value| {
            if let Ok(mut value) = value.try_lock() {
                *value = 1;
            }
            *value.lock().unwrap() = 2;
        })
        .matrix([["look"], ["bump"]])));
}

/// `look` reads, then waits in vain for a while. It may return before the last `write`, which writes what the first one had
/// written for a moment.
#[test]
fn a_thread_that_spins_in_vain_may_return_first() {
    assert!(!passes(|| object(AtomicU32::default)
        .op0("look", |value| {
            let seen = value.load(SeqCst);
            let never = AtomicU32::new(0);
            for _ in 0..3 {
                if never.load(SeqCst) != 0 {
                    break;
                }
                hint::spin_loop();
            }
            seen
        })
        .op("write", [1, 2], |value, last| {
            value.store(1, SeqCst);
            value.store(last, SeqCst);
        })
        .matrix([vec!["look"], vec!["write(2)", "write(1)"]])));
}

/// A write that changes nothing wakes no thread: the thread that spins tries again when the other one is done, not before.
#[test]
fn a_write_that_changes_nothing_comes_before_another_try() {
    assert!(passes(|| object(AtomicU32::default)
        .op0("spin", |value| {
            (0..3).find(|_| {
                hint::spin_loop();
                value.load(SeqCst) != 0
            })
        })
        .op0("touch", |value| value.store(0, SeqCst))
        .matrix([["spin"], ["touch"]])));
}
