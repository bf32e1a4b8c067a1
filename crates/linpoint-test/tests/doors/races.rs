//! Memory that is shared without atomics: accesses that nothing orders are found, and those that something orders are no alarm.

#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use linpoint_test::cell::UnsafeCell;
use linpoint_test::future::{block_on, spawn};
use linpoint_test::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use linpoint_test::sync::mpsc::channel;
use linpoint_test::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock};
use linpoint_test::{FailureKind, Model, Object, Report, Strategy, hint, object, thread};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{agreed, caught, passes};

fn check<X: 'static>(object: impl Fn() -> Object<X>, races: bool) {
    if !races {
        passes(&object());
    } else {
        let failure = caught(object(), FailureKind::DataRace);
        assert_eq!(
            failure.sentence.matches("races.rs:").count(),
            2,
            "{failure}"
        );
    }
    assert_eq!(agreed(object), !races);
}

/// A number under a spin lock, which is given back in this way.
#[derive(Default)]
struct SpinLock {
    is_taken: AtomicBool,
    number: UnsafeCell<u32>,
}

impl SpinLock {
    fn with<R>(
        &self,
        [take, give]: [Ordering; 2],
        access: impl FnOnce(&UnsafeCell<u32>) -> R,
    ) -> R {
        while self
            .is_taken
            .compare_exchange(false, true, take, Relaxed)
            .is_err()
        {
            hint::spin_loop();
        }
        let result = access(&self.number);
        self.is_taken.store(false, give);
        result
    }
}

fn spin_lock(orders: [Ordering; 2]) -> Object<SpinLock> {
    object(SpinLock::default)
        .op0("inc", move |lock: &SpinLock| {
            lock.with(orders, |number| {
                number.with_mut(|number| {
                    // SAFETY: threads take turns.
                    unsafe { *number += 1 };
                });
            });
        })
        .op0("get", move |lock| {
            lock.with(orders, |number| {
                // SAFETY: threads take turns.
                number.with(|number| unsafe { *number })
            })
        })
}

#[test]
fn a_spin_lock_needs_release_and_acquire() {
    for (orders, races) in [
        ([Acquire, Release], false),
        ([SeqCst, SeqCst], false),
        ([Acquire, Relaxed], true),
        ([Relaxed, Release], true),
        ([Relaxed, Relaxed], true),
    ] {
        check(|| spin_lock(orders).matrix([["inc"], ["get"]]), races);
    }
    passes(&spin_lock([Acquire, Release]).matrix([["inc", "get"], ["inc", "inc"]]));
    // Readers do not race.
    passes(&spin_lock([Relaxed, Relaxed]).matrix([["get"], ["get"]]));
}

/// A pair of numbers that readers copy without a lock, and copy again if it was written meanwhile.
#[derive(Default)]
struct SeqLock<T> {
    version: AtomicU32,
    pair: [T; 2],
}

impl<T> SeqLock<T> {
    fn write(&self, write: impl Fn(&T)) {
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
        fence(Release);
        self.pair.iter().for_each(write);
        self.version.store(version + 2, Release);
    }

    fn read<R>(&self, read: impl Fn(&T) -> R) -> [R; 2] {
        loop {
            let before = self.version.load(Acquire);
            let pair = [read(&self.pair[0]), read(&self.pair[1])];
            fence(Acquire);
            if before.is_multiple_of(2) && self.version.load(Relaxed) == before {
                return pair;
            }
            hint::spin_loop();
        }
    }
}

#[test]
fn a_seqlock_must_not_copy_plain_memory() {
    check(
        || {
            object(SeqLock::<UnsafeCell<u32>>::default)
                .op0("write", |lock: &SeqLock<UnsafeCell<u32>>| {
                    lock.write(|number| number.with_mut(|_| ()));
                })
                .op0("read", |lock| lock.read(|number| number.with(|_| ())))
                .may_block("read")
                .matrix([["write"], ["read"]])
        },
        true,
    );
    check(
        || {
            object(SeqLock::<AtomicU32>::default)
                .op0("write", |lock: &SeqLock<AtomicU32>| {
                    lock.write(|number| number.store(1, Relaxed));
                })
                .op0("read", |lock| lock.read(|number| number.load(Relaxed)))
                .may_block("read")
                .matrix([["write"], ["read"]])
        },
        false,
    );
}

/// The orderings of a ring: where the producer publishes and the consumer looks, where the consumer frees and the producer looks.
#[derive(Clone, Copy, Debug)]
struct Orders {
    publish: Ordering,
    look_for_messages: Ordering,
    free: Ordering,
    look_for_space: Ordering,
}

const RIGHT: Orders = Orders {
    publish: Release,
    look_for_messages: Acquire,
    free: Release,
    look_for_space: Acquire,
};

/// A ring of one producer and one consumer.
#[derive(Default)]
struct Ring {
    slots: [UnsafeCell<u32>; 1],
    head: AtomicU32,
    tail: AtomicU32,
}

impl Ring {
    fn slot(&self, index: u32) -> &UnsafeCell<u32> {
        &self.slots[index as usize % self.slots.len()]
    }

    fn push(&self, message: u32, orders: Orders) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(orders.look_for_space) == self.slots.len() as u32 {
            return false;
        }
        self.slot(tail).with_mut(|slot| {
            // SAFETY: threads take turns.
            unsafe { *slot = message };
        });
        self.tail.store(tail + 1, orders.publish);
        true
    }

    fn pop(&self, orders: Orders) -> Option<u32> {
        let head = self.head.load(Relaxed);
        if self.tail.load(orders.look_for_messages) == head {
            return None;
        }
        // SAFETY: threads take turns.
        let message = self.slot(head).with(|slot| unsafe { *slot });
        self.head.store(head + 1, orders.free);
        Some(message)
    }
}

fn ring(orders: Orders) -> Object<Ring> {
    object(Ring::default)
        .op("push", [1, 2], move |ring: &Ring, message| {
            ring.push(message, orders)
        })
        .op0("pop", move |ring| ring.pop(orders))
        .matrix([["push(1)", "push(2)"], ["pop", "pop"]])
}

#[test]
fn each_ordering_of_a_ring_is_needed() {
    check(|| ring(RIGHT), false);
    let wrong = [
        Orders {
            publish: Relaxed,
            ..RIGHT
        },
        Orders {
            look_for_messages: Relaxed,
            ..RIGHT
        },
        Orders {
            free: Relaxed,
            ..RIGHT
        },
        Orders {
            look_for_space: Relaxed,
            ..RIGHT
        },
    ];
    for orders in wrong {
        check(|| ring(orders), true);
    }
}

/// Memory that a whole test shares.
#[derive(Default)]
struct Shared {
    cell: UnsafeCell<u32>,
    flag: AtomicU32,
}

// SAFETY: threads take turns.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn read(&self) -> u32 {
        // SAFETY: threads take turns.
        self.cell.with(|number| unsafe { *number })
    }

    fn write(&self) {
        self.cell.with_mut(|number| {
            // SAFETY: threads take turns.
            unsafe { *number += 1 };
        });
    }
}

fn kind(report: &Report) -> Option<FailureKind> {
    report.failure().map(|failure| failure.kind)
}

/// Checks a whole test. It must race or not, by each search.
fn model(races: bool, test: impl Fn(Arc<Shared>) + Clone + Send + Sync + 'static) {
    for strategy in [
        Strategy::Automatic,
        Strategy::Plain(Some(2)),
        Strategy::Bounded(2),
        Strategy::Random(200),
    ] {
        let test = test.clone();
        let model = Model::new(move || test(Arc::new(Shared::default()))).strategy(strategy);
        let report = model.check();
        let expected = races.then_some(FailureKind::DataRace);
        assert_eq!(kind(&report), expected, "{strategy:?} {report}");
        if let Some(failure) = report.failure() {
            let again = model.replay(&failure.token).check();
            assert_eq!(kind(&again), expected, "{again}");
        }
    }
}

#[test]
fn starts_and_ends_of_threads_order_accesses() {
    let scenario = |waits: bool| {
        move |shared: Arc<Shared>| {
            shared.write();
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || other.write());
            if waits {
                thread.join().unwrap();
                assert_eq!(shared.read(), 2);
            } else {
                shared.read();
                thread.join().unwrap();
            }
        }
    };
    model(false, scenario(true));
    model(true, scenario(false));
    model(false, |shared| {
        thread::scope(|scope| {
            scope.spawn(|| shared.write());
        });
        shared.read();
    });
    model(true, |shared| {
        thread::scope(|scope| {
            scope.spawn(|| shared.write());
            shared.read();
        });
    });
}

#[test]
fn what_waits_orders_accesses() {
    model(false, |shared| {
        let other = Arc::clone(&shared);
        let waiter = thread::spawn(move || {
            thread::park();
            other.read();
        });
        shared.write();
        waiter.thread().unpark();
        waiter.join().unwrap();
    });
    model(false, |shared| {
        let (sender, receiver) = channel();
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.write();
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        shared.write();
        thread.join().unwrap();
    });
    model(false, |shared| {
        let barrier = Arc::new(Barrier::new(2));
        let (other, there) = (Arc::clone(&shared), Arc::clone(&barrier));
        let thread = thread::spawn(move || {
            other.write();
            there.wait();
        });
        barrier.wait();
        shared.write();
        thread.join().unwrap();
    });
    model(false, |shared| {
        let event = Arc::new((Mutex::new(false), Condvar::new()));
        let (other, there) = (Arc::clone(&shared), Arc::clone(&event));
        let thread = thread::spawn(move || {
            other.write();
            *there.0.lock().unwrap() = true;
            there.1.notify_all();
        });
        let guard = event.0.lock().unwrap();
        drop(event.1.wait_while(guard, |is_set| !*is_set).unwrap());
        shared.write();
        thread.join().unwrap();
    });
    model(false, |shared| {
        let other = Arc::clone(&shared);
        let task = spawn(async move { other.write() });
        block_on(task).unwrap();
        shared.write();
    });
}

#[test]
fn locks_and_owners_order_accesses() {
    for exclusive in [false, true] {
        model(!exclusive, move |shared| {
            let lock = Arc::new(RwLock::new(()));
            let (other, there) = (Arc::clone(&shared), Arc::clone(&lock));
            let thread = thread::spawn(move || {
                let _guard = there.write().unwrap();
                other.write();
            });
            match exclusive {
                true => {
                    let _guard = lock.read().unwrap();
                    shared.read();
                }
                false => _ = shared.read(),
            }
            thread.join().unwrap();
        });
    }
    // The last owner may do as it likes.
    model(false, |shared| {
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            other.write();
            drop(other);
        });
        if let Ok(shared) = Arc::try_unwrap(shared) {
            shared.write();
        }
    });
    model(false, |mut shared| {
        let other = Arc::clone(&shared);
        thread::spawn(move || other.read());
        if let Some(shared) = Arc::get_mut(&mut shared) {
            shared.write();
        }
    });
    // To see the number of owners is not to be one of them.
    model(true, |shared| {
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            other.write();
            drop(other);
        });
        if Arc::strong_count(&shared) == 1 {
            shared.write();
        }
    });
    model(false, |shared| {
        let cell = Arc::new(OnceLock::new());
        let (other, there) = (Arc::clone(&shared), Arc::clone(&cell));
        let thread = thread::spawn(move || {
            other.write();
            there.set(()).unwrap();
        });
        if cell.get().is_some() {
            shared.write();
        }
        thread.join().unwrap();
    });
}

/// A message by a flag, with fences or without them.
#[test]
fn orderings_count_as_the_program_asks_for_them() {
    let message = |send: Ordering, receive: Ordering, fences: bool| {
        move |shared: Arc<Shared>| {
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                other.write();
                if fences {
                    fence(Release);
                }
                other.flag.store(1, send);
            });
            if shared.flag.load(receive) == 1 {
                if fences {
                    fence(Acquire);
                }
                shared.write();
            }
            thread.join().unwrap();
        }
    };
    model(false, message(Release, Acquire, false));
    model(false, message(SeqCst, SeqCst, false));
    model(true, message(Relaxed, Acquire, false));
    model(true, message(Release, Relaxed, false));
    model(false, message(Relaxed, Relaxed, true));
}

/// To read a release store of the value that was there before orders as any other does, and to read the earlier one does not.
#[test]
fn a_store_that_changes_nothing_counts() {
    let message = |looks_late: bool| {
        move |shared: Arc<Shared>| {
            shared.flag.store(1, Relaxed);
            let there = Arc::new(AtomicBool::new(false));
            let (other, seen) = (Arc::clone(&shared), Arc::clone(&there));
            let thread = thread::spawn(move || {
                other.write();
                other.flag.store(1, Release);
                seen.store(true, Relaxed);
            });
            if !looks_late {
                shared.flag.load(Acquire);
            }
            if there.load(Relaxed) {
                if looks_late {
                    shared.flag.load(Acquire);
                }
                shared.read();
            }
            thread.join().unwrap();
        }
    };
    model(true, message(false));
    model(false, message(true));
}

/// An access lasts as long as its closure runs.
#[test]
fn an_access_ends_with_its_closure() {
    model(true, |shared| {
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.cell.with_mut(|_| {
                other.flag.store(1, Release);
                other.flag.load(Acquire);
            });
        });
        if shared.flag.load(Acquire) == 1 {
            shared.read();
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_cell_that_is_met_late_is_met() {
    model(true, |shared| {
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.flag.fetch_add(1, AcqRel);
            if other.flag.load(SeqCst) == 2 {
                other.write();
            }
        });
        shared.flag.fetch_add(1, AcqRel);
        if shared.flag.load(SeqCst) == 2 {
            shared.write();
        }
        thread.join().unwrap();
    });
}

/// What protects the cells of a random object: each by something else.
#[derive(Default)]
struct Protected {
    cells: [UnsafeCell<u32>; 3],
    mutex: Mutex<()>,
    shared: RwLock<()>,
    spin: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    cell: usize,
    writes: bool,
    is_locked: bool,
}

impl Protected {
    fn run(&self, uses: &[Use]) {
        for &Use {
            cell,
            writes,
            is_locked,
        } in uses
        {
            let access = || match writes {
                true => self.cells[cell].with_mut(|_| ()),
                false => self.cells[cell].with(|_| ()),
            };
            match cell {
                _ if !is_locked => access(),
                0 => {
                    let _guard = self.mutex.lock().unwrap();
                    access();
                }
                1 if writes => {
                    let _guard = self.shared.write().unwrap();
                    access();
                }
                1 => {
                    let _guard = self.shared.read().unwrap();
                    access();
                }
                _ => {
                    while self.spin.swap(true, Acquire) {
                        thread::yield_now();
                    }
                    access();
                    self.spin.store(false, Release);
                }
            }
        }
    }
}

/// Random operations of two threads on cells: a race is found if and only if there is one, and by every search.
#[test]
fn random_programs_race_only_where_nothing_protects_them() {
    let seeds = std::env::var("LINPOINT_RACES").map_or(40, |text| text.parse().unwrap());
    let mut racy = BTreeSet::new();
    for seed in 0..seeds {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let careful = rng.random_range(0..2) == 0;
        let ops: Vec<Vec<Use>> = (0..2)
            .map(|_| {
                let uses = 0..rng.random_range(1..=2);
                uses.map(|_| Use {
                    cell: rng.random_range(0..3),
                    writes: rng.random_bool(0.5),
                    is_locked: careful || rng.random_bool(0.7),
                })
                .collect()
            })
            .collect();
        // Without another synchronisation, two accesses of different threads race if one writes and one is not locked: some
        // schedule has nothing between them.
        let races = ops[0].iter().any(|a| {
            ops[1].iter().any(|b| {
                a.cell == b.cell && (a.writes || b.writes) && !(a.is_locked && b.is_locked)
            })
        });
        let test = || {
            let ops = ops.clone();
            object(Protected::default)
                .op("use", [0, 1], move |protected: &Protected, op: usize| {
                    protected.run(&ops[op]);
                })
                .matrix([["use(0)"], ["use(1)"]])
        };
        let report = test().check();
        let found = kind(&report) == Some(FailureKind::DataRace);
        assert_eq!(found, races, "seed {seed}: {ops:?} {report}");
        assert_eq!(agreed(test), !races, "seed {seed}: {ops:?}");
        if races {
            racy.insert(seed);
        }
    }
    println!("{} of {seeds} programs race", racy.len());
    assert!(!racy.is_empty());
}
