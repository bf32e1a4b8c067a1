//! Whole tests, in the manner of the suites of loom, shuttle and crossbeam: each with a twin that is broken.

use std::cell::RefCell;

use linpoint_test::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering::SeqCst,
};
use linpoint_test::sync::{Arc, Condvar, LazyLock, Mutex, OnceLock, RwLock, mpsc};
use linpoint_test::{FailureKind, Model, Strategy, Verdict, hint, statics, thread};

/// Whether a test is as it should be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Twin {
    Right,
    Broken,
}
use Twin::{Broken, Right};

/// The right twin passes, the broken one fails in this way, and again from its token. Every search agrees with plain enumeration.
fn twins(test: impl Fn(Twin) + Copy + Send + Sync + 'static, kind: FailureKind) {
    let model = |twin| Model::new(move || test(twin));
    let right = model(Right).strategy(Strategy::Exhaustive).check();
    assert!(right.passed(), "{right}");
    let broken = model(Broken).check();
    let failure = broken
        .failure()
        .unwrap_or_else(|| panic!("it must fail: {broken}"));
    assert_eq!(failure.kind, kind, "{failure}");
    assert!(!failure.interleaving.is_empty(), "{failure}");
    assert!(failure.page_data().is_some(), "{failure}");
    let again = model(Broken).replay(&failure.token).check();
    let again = again.failure().expect("the token must fail again");
    // The words differ if they have addresses, the steps do not.
    assert_eq!(again.token, failure.token);
    assert_eq!(again.interleaving.len(), failure.interleaving.len());
    for strategy in [
        Strategy::Plain(Some(2)),
        Strategy::Exhaustive,
        Strategy::Bounded(2),
        Strategy::FewestPreemptions(2),
    ] {
        let report = model(Right).strategy(strategy).check();
        assert!(report.passed(), "{strategy:?}: {report}");
        let report = model(Broken).strategy(strategy).check();
        assert_eq!(
            report.failure().map(|failure| failure.kind),
            Some(kind),
            "{strategy:?}: {report}"
        );
    }
}

#[test]
fn threads_add_to_a_counter() {
    let test = |twin| {
        let count = Arc::new(AtomicU8::new(0));
        let add = move |count: &AtomicU8| match twin {
            Right => _ = count.fetch_add(1, SeqCst),
            Broken => count.store(count.load(SeqCst) + 1, SeqCst),
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || add(&count))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(count.load(SeqCst), 2);
    };
    twins(test, FailureKind::Panics);
}

#[test]
fn scoped_threads_borrow() {
    let test = |twin| {
        let mut counts = [0; 2];
        let sum = AtomicU32::new(0);
        thread::scope(|scope| {
            for count in &mut counts {
                let sum = &sum;
                scope.spawn(move || {
                    *count = 1;
                    match twin {
                        Right => _ = sum.fetch_add(*count, SeqCst),
                        Broken => sum.store(sum.load(SeqCst) + *count, SeqCst),
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), counts[0] + counts[1]);
    };
    twins(test, FailureKind::Panics);
}

#[test]
fn a_message_is_passed_by_a_flag() {
    let test = |twin| {
        struct Slot {
            ready: AtomicBool,
            value: AtomicU32,
        }
        let slot = Arc::new(Slot {
            ready: AtomicBool::new(false),
            value: AtomicU32::new(0),
        });
        let writer = Arc::clone(&slot);
        let thread = thread::spawn(move || {
            if twin == Broken {
                writer.ready.store(true, SeqCst);
            }
            writer.value.store(7, SeqCst);
            writer.ready.store(true, SeqCst);
        });
        while !slot.ready.load(SeqCst) {
            hint::spin_loop();
        }
        assert_eq!(slot.value.load(SeqCst), 7);
        thread.join().unwrap();
    };
    twins(test, FailureKind::Panics);
}

#[test]
fn a_consumer_waits_for_a_condition() {
    let test = |twin| {
        let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let other = Arc::clone(&shared);
        let consumer = thread::spawn(move || {
            let (queue, filled) = &*other;
            if twin == Broken && !queue.lock().unwrap().is_empty() {
                return 1;
            }
            // The broken one has looked before, and given the lock back.
            let mut queue = queue.lock().unwrap();
            if twin == Broken {
                queue = filled.wait(queue).unwrap();
            }
            while queue.is_empty() {
                queue = filled.wait(queue).unwrap();
            }
            queue.pop().unwrap()
        });
        shared.0.lock().unwrap().push(1);
        shared.1.notify_one();
        assert_eq!(consumer.join().unwrap(), 1);
    };
    twins(test, FailureKind::Deadlock);
}

#[test]
fn a_parked_thread_is_woken() {
    let test = |twin| {
        let ready = Arc::new(AtomicBool::new(false));
        let main = thread::current();
        let other = Arc::clone(&ready);
        let waker = thread::spawn(move || match twin {
            Right => {
                other.store(true, SeqCst);
                main.unpark();
            }
            Broken => {
                main.unpark();
                other.store(true, SeqCst);
            }
        });
        while !ready.load(SeqCst) {
            thread::park();
        }
        waker.join().unwrap();
    };
    twins(test, FailureKind::Deadlock);
}

#[test]
fn readers_do_not_become_writers() {
    let test = |twin| {
        let lock = Arc::new(RwLock::new(0));
        let inc = move |lock: &RwLock<u32>| match twin {
            Right => *lock.write().unwrap() += 1,
            Broken => {
                let value = lock.read().unwrap();
                *lock.write().unwrap() = *value + 1;
            }
        };
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || inc(&other));
        inc(&lock);
        thread.join().unwrap();
    };
    twins(test, FailureKind::Deadlock);
}

#[test]
fn a_static_is_made_once_in_each_execution() {
    statics! {
        static MADE: AtomicU32 = AtomicU32::new(0);
        static ONCE: OnceLock<u32> = OnceLock::new();
        static LAZY: LazyLock<u32> = LazyLock::new(|| MADE.fetch_add(1, SeqCst) + 1);
        static FLAG: AtomicBool = AtomicBool::new(false);
    }
    let test = |twin| {
        let make = move || match twin {
            Right => assert_eq!(**LAZY + ONCE.get_or_init(|| 5), 6),
            Broken => {
                if !FLAG.load(SeqCst) {
                    MADE.fetch_add(1, SeqCst);
                    FLAG.store(true, SeqCst);
                }
            }
        };
        let thread = thread::spawn(make);
        make();
        thread.join().unwrap();
        assert_eq!(MADE.load(SeqCst), 1);
    };
    twins(test, FailureKind::Panics);
    assert_eq!(
        MADE.load(SeqCst),
        0,
        "outside of a check it is another value"
    );
}

#[test]
fn values_of_threads_are_flushed_when_they_end() {
    linpoint_test::thread_local! {
        static COUNT: Flush = Flush(RefCell::default());
    }
    #[derive(Default)]
    struct Flush(RefCell<(u32, Option<Arc<AtomicU32>>)>);
    impl Drop for Flush {
        fn drop(&mut self) {
            if let (count, Some(total)) = &*self.0.borrow() {
                total.fetch_add(*count, SeqCst);
            }
        }
    }
    let test = |twin| {
        let total = Arc::new(AtomicU32::new(0));
        let threads = [1, 2].map(|count| {
            let total = Arc::clone(&total);
            thread::spawn(move || {
                COUNT.with(|local| {
                    let mut local = local.0.borrow_mut();
                    assert_eq!(local.0, 0, "each thread has a value of its own");
                    *local = (count, Some(total));
                });
            })
        });
        for (number, thread) in threads.into_iter().enumerate() {
            if twin == Right || number == 0 {
                thread.join().unwrap();
            }
        }
        assert_eq!(total.load(SeqCst), 3);
    };
    twins(test, FailureKind::Panics);
}

#[test]
fn a_receiver_ends_with_the_last_sender() {
    let test = |twin| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let kept = (twin == Broken).then(|| sender.clone());
        let first = thread::spawn(move || sender.send(1).unwrap());
        let second = thread::spawn(move || other.send(2).unwrap());
        assert_eq!(receiver.iter().sum::<u32>(), 3);
        first.join().unwrap();
        second.join().unwrap();
        drop(kept);
    };
    twins(test, FailureKind::Deadlock);
}

#[test]
fn philosophers_dine() {
    let test = |twin| {
        let forks: Arc<[Mutex<()>; 2]> = Arc::default();
        let seats: [_; 2] = std::array::from_fn(|seat| {
            let forks = Arc::clone(&forks);
            thread::spawn(move || {
                let (first, second) = match twin {
                    Right => (0, 1),
                    Broken => (seat, 1 - seat),
                };
                let _first = forks[first].lock().unwrap();
                let _second = forks[second].lock().unwrap();
            })
        });
        for seat in seats {
            seat.join().unwrap();
        }
    };
    twins(test, FailureKind::Deadlock);
}

#[test]
fn nodes_are_pushed_on_a_list() {
    #[derive(Debug)]
    struct Node {
        next: *mut Node,
    }
    fn push(head: &AtomicPtr<Node>, twin: Twin) {
        let node = Box::into_raw(Box::new(Node {
            next: std::ptr::null_mut(),
        }));
        loop {
            let next = head.load(SeqCst);
            // SAFETY: no other thread has seen the node.
            #[allow(unsafe_code)]
            unsafe {
                (*node).next = next;
            }
            match twin {
                Broken => head.store(node, SeqCst),
                Right if head.compare_exchange(next, node, SeqCst, SeqCst).is_err() => continue,
                Right => {}
            }
            return;
        }
    }
    let test = |twin| {
        let head = AtomicPtr::new(std::ptr::null_mut());
        thread::scope(|scope| {
            scope.spawn(|| push(&head, twin));
            push(&head, twin);
        });
        let mut nodes = 0;
        let mut next = head.into_inner();
        while !next.is_null() {
            // SAFETY: a node of the list, which this thread alone has now.
            #[allow(unsafe_code)]
            let node = unsafe { Box::from_raw(next) };
            next = node.next;
            nodes += 1;
        }
        assert_eq!(nodes, 2);
    };
    twins(test, FailureKind::Panics);
}

#[test]
fn the_panic_of_a_thread_is_an_answer_to_the_one_that_joins_it() {
    let report = Model::new(|| {
        let thread = thread::spawn(|| panic!("on purpose"));
        assert!(thread.join().is_err());
    })
    .check();
    assert!(report.passed(), "{report}");
    let report = Model::new(|| {
        thread::spawn(|| panic!("on purpose"));
    })
    .check();
    let failure = report.failure().expect("it panics");
    assert!(
        failure.sentence.contains("Thread B panics: on purpose"),
        "{failure}"
    );
}

#[test]
fn a_thread_of_a_scope_that_never_ends_keeps_what_it_borrows() {
    let report = Model::new(|| {
        let shared = Mutex::new(vec![1]);
        let changed = Condvar::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut guard = shared.lock().unwrap();
                while !guard.is_empty() {
                    guard = changed.wait(guard).unwrap();
                }
            });
            scope.spawn(|| shared.lock().unwrap().push(2));
        });
    })
    .check();
    let failure = report.failure().expect("it waits for ever");
    assert_eq!(failure.kind, FailureKind::Deadlock, "{failure}");
    assert!(
        failure
            .to_string()
            .contains("waits for the end of a thread"),
        "{failure}"
    );
}

#[test]
fn a_test_has_at_most_eight_threads() {
    let many = |threads: usize| {
        Model::new(move || {
            let threads: Vec<_> = (0..threads).map(|_| thread::spawn(|| ())).collect();
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        })
        .strategy(Strategy::Random(3))
        .check()
    };
    let report = many(7);
    assert!(report.passed(), "{report}");
    assert_eq!(report.tests[0].dimension, "8x1");
    let Verdict::Undecided(why) = many(8).verdict else {
        panic!("there are nine");
    };
    assert!(why.contains("more threads"), "{why}");
}

#[test]
fn threads_that_threads_start_are_told_apart() {
    let test = |twin| {
        let ids = Arc::new(AtomicUsize::new(0));
        let threads = [(); 2].map(|()| {
            let ids = Arc::clone(&ids);
            thread::spawn(move || {
                let inner = Arc::clone(&ids);
                let inner = thread::Builder::new()
                    .name("inner".to_owned())
                    .spawn(move || match twin {
                        Right => inner.fetch_add(1, SeqCst),
                        Broken => {
                            let id = inner.load(SeqCst);
                            inner.store(id + 1, SeqCst);
                            id
                        }
                    })
                    .unwrap();
                assert_eq!(inner.thread().name(), Some("inner"));
                inner.join().unwrap()
            })
        });
        let [first, second] = threads.map(|thread| thread.join().unwrap());
        assert_ne!(first, second);
    };
    twins(test, FailureKind::Panics);
}
