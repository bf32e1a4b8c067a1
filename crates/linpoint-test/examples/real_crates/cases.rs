//! Concurrent objects that people use, under stress, unmodified. Each case is a test to copy.

use std::sync::{Mutex, MutexGuard, mpsc};

use concurrent_queue::ConcurrentQueue;
use crossbeam_deque::{Steal, Stealer, Worker};
use crossbeam_queue::{ArrayQueue, SegQueue};
use crossbeam_skiplist::SkipSet;
use dashmap::DashMap;
use linpoint_test::stress::{Named, Random, Stress, StressReport};
use linpoint_test::{fresh, stress};

/// What is to be expected of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// It should be linearizable.
    Linearizable,
    /// By its code or documentation it need not be, for this reason.
    Not(&'static str),
}

/// A stress test of an object.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) expected: Expected,
    /// Runs the test, so many times longer.
    pub(crate) check: fn(usize) -> Result<StressReport, linpoint::Error>,
}

/// Many short runs, from the empty object on, on as many threads as cores: they have to run at the same time.
fn short<T: Send + Sync + 'static>(test: Stress<Named<T>>, times: usize) -> Stress<Named<T>> {
    test.ops(8).runs(500 * times)
}

/// One long run on as many threads as cores.
fn long<T: Send + Sync + 'static>(test: Stress<Named<T>>, times: usize) -> Stress<Named<T>> {
    test.ops(25_000 * times).runs(1)
}

fn seg_queue() -> Stress<Named<SegQueue<i64>>> {
    stress(SegQueue::new)
        .op("enq", fresh, |queue, value| queue.push(value))
        .op0("deq", |queue| queue.pop())
        .object_type("queue")
}

fn array_queue(capacity: usize) -> Stress<Named<ArrayQueue<i64>>> {
    stress(move || ArrayQueue::new(capacity))
        .op("enq", fresh, |queue, value| queue.push(value).is_ok())
        .op0("deq", |queue| queue.pop())
        .object_type("bounded-queue")
        .param("capacity", capacity)
}

fn bounded(capacity: usize) -> Stress<Named<ConcurrentQueue<i64>>> {
    stress(move || ConcurrentQueue::bounded(capacity))
        .op("enq", fresh, |queue, value| queue.push(value).is_ok())
        .op0("deq", |queue| queue.pop().ok())
        .object_type("bounded-queue")
        .param("capacity", capacity)
}

/// A work-stealing deque: one thread owns it, the others steal.
struct WorkStealing {
    owner: Mutex<Worker<i64>>,
    stealer: Stealer<i64>,
}

impl WorkStealing {
    fn new(owner: Worker<i64>) -> Self {
        WorkStealing {
            stealer: owner.stealer(),
            owner: Mutex::new(owner),
        }
    }

    fn owner(&self) -> MutexGuard<'_, Worker<i64>> {
        self.owner.lock().expect("no holder panics")
    }

    fn steal(&self) -> Option<i64> {
        loop {
            match self.stealer.steal() {
                Steal::Success(value) => return Some(value),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }
}

/// A channel: all threads send, one receives.
struct Channel {
    sender: mpsc::Sender<i64>,
    receiver: Mutex<mpsc::Receiver<i64>>,
}

impl Channel {
    fn new() -> Self {
        let (sender, receiver) = mpsc::channel();
        Channel {
            sender,
            receiver: Mutex::new(receiver),
        }
    }

    fn test() -> Stress<Named<Channel>> {
        stress(Channel::new)
            .op("enq", fresh, |channel, value| {
                channel.sender.send(value).is_ok()
            })
            .op0("deq", |channel| {
                let receiver = channel.receiver.lock().expect("no holder panics");
                receiver.try_recv().ok()
            })
            .only_on([0])
            .weight(2)
            .object_type("queue")
    }
}

/// A key among few, and a value that no other operation writes.
fn pair(random: &mut Random) -> (i64, i64) {
    (random.below(3) as i64, random.fresh())
}

fn dash_map() -> Stress<Named<DashMap<i64, i64>>> {
    stress(DashMap::new)
        .op("put", pair, |map, (key, value)| {
            map.insert(key, value);
        })
        .op("get", 0..3, |map, key| map.get(&key).map(|value| *value))
        .op("delete", 0..3, |map, key| map.remove(&key).is_some())
        .object_type("kv")
}

fn papaya() -> Stress<Named<papaya::HashMap<i64, i64>>> {
    stress(papaya::HashMap::new)
        .op("put", pair, |map, (key, value)| {
            map.pin().insert(key, value);
        })
        .op("get", 0..3, |map, key| map.pin().get(&key).copied())
        .op("delete", 0..3, |map, key| map.pin().remove(&key).is_some())
        .object_type("kv")
}

/// A set, with one of two ways to remove.
fn skip_set(remove: fn(&SkipSet<i64>, i64) -> bool) -> Stress<Named<SkipSet<i64>>> {
    stress(SkipSet::new)
        .op("add", 0..3, |set, value| {
            set.get_or_insert(value);
        })
        .op("remove", 0..3, remove)
        .op("contains", 0..3, |set, value| set.contains(&value))
        .object_type("set")
}

/// All cases.
pub(crate) const CASES: &[Case] = &[
    Case {
        name: "crossbeam SegQueue, long",
        expected: Expected::Linearizable,
        check: |times| long(seg_queue(), times).check(),
    },
    Case {
        name: "crossbeam SegQueue with len",
        expected: Expected::Linearizable,
        check: |times| short(seg_queue().op0("size", |queue| queue.len()), times).check(),
    },
    Case {
        name: "crossbeam ArrayQueue(1)",
        expected: Expected::Linearizable,
        check: |times| short(array_queue(1), times).check(),
    },
    Case {
        name: "crossbeam ArrayQueue(2) with len",
        expected: Expected::Linearizable,
        check: |times| short(array_queue(2).op0("size", |queue| queue.len()), times).check(),
    },
    Case {
        name: "crossbeam deque, last in first out",
        expected: Expected::Linearizable,
        check: |times| {
            let deque = stress(|| WorkStealing::new(Worker::new_lifo()))
                .op("push_back", fresh, |deque, value| deque.owner().push(value))
                .only_on([0])
                .weight(2)
                .op0("pop_back", |deque| deque.owner().pop())
                .only_on([0])
                .op0("pop_front", WorkStealing::steal)
                .only_on(1..64)
                .object_type("deque");
            short(deque, times).check()
        },
    },
    Case {
        name: "crossbeam deque, first in first out",
        expected: Expected::Linearizable,
        check: |times| {
            let deque = stress(|| WorkStealing::new(Worker::new_fifo()))
                .op("enq", fresh, |deque, value| deque.owner().push(value))
                .only_on([0])
                .weight(2)
                .op0("deq", |deque| deque.owner().pop())
                .only_on([0])
                .op0("poll", WorkStealing::steal)
                .only_on(1..64)
                .object_type("queue");
            long(deque, times).check()
        },
    },
    Case {
        name: "crossbeam SkipSet: get_or_insert, get and Entry::remove, contains",
        expected: Expected::Linearizable,
        check: |times| {
            let set = skip_set(|set, value| set.get(&value).is_some_and(|entry| entry.remove()));
            short(set, times).check()
        },
    },
    Case {
        name: "crossbeam SkipSet: get_or_insert, remove, contains",
        expected: Expected::Not(
            "up to 0.1.3, remove answers an entry that another thread was first to remove",
        ),
        check: |times| short(skip_set(|set, value| set.remove(&value).is_some()), times).check(),
    },
    Case {
        name: "crossbeam SkipSet: insert, contains",
        expected: Expected::Not(
            "up to 0.1.3, insert takes an equal element out before it puts the new one in",
        ),
        check: |times| {
            let set = stress(SkipSet::new)
                .op("add", 0..2, |set, value| {
                    set.insert(value);
                })
                .op("contains", 0..2, |set, value| set.contains(&value))
                .weight(3)
                .object_type("set");
            short(set, 10 * times).check()
        },
    },
    Case {
        name: "crossbeam SkipSet: insert, pop_front",
        expected: Expected::Not("pop_front looks for the front first, then removes it"),
        check: |times| {
            let queue = stress(SkipSet::new)
                .op(
                    "add",
                    |random: &mut Random| -random.fresh(),
                    |set, value| {
                        set.insert(value);
                    },
                )
                .op0("poll", |set: &SkipSet<i64>| {
                    set.pop_front().map(|entry| *entry)
                })
                .object_type("min-priority-queue");
            short(queue, 10 * times).check()
        },
    },
    Case {
        name: "concurrent-queue, unbounded",
        expected: Expected::Linearizable,
        check: |times| {
            let queue = stress(ConcurrentQueue::unbounded)
                .op("enq", fresh, |queue, value: i64| queue.push(value).is_ok())
                .op0("deq", |queue| queue.pop().ok())
                .object_type("queue");
            long(queue, times).check()
        },
    },
    Case {
        name: "concurrent-queue, bounded(2)",
        expected: Expected::Linearizable,
        check: |times| short(bounded(2), times).check(),
    },
    Case {
        name: "concurrent-queue, bounded(1)",
        expected: Expected::Not("a slot that is being emptied is neither full nor empty"),
        check: |times| short(bounded(1), 10 * times).check(),
    },
    Case {
        name: "dashmap: insert, get, remove",
        expected: Expected::Linearizable,
        check: |times| long(dash_map(), times).check(),
    },
    Case {
        name: "dashmap: insert, remove, len",
        expected: Expected::Not("len asks one shard after the other"),
        check: |times| {
            let set = stress(DashMap::new)
                .op("add", 0..4, |map, key| map.insert(key, ()).is_none())
                .op("remove", 0..4, |map, key| map.remove(&key).is_some())
                .op0("size", |map| map.len())
                .object_type("set");
            short(set, 10 * times).check()
        },
    },
    Case {
        name: "papaya: insert, get, remove",
        expected: Expected::Linearizable,
        check: |times| long(papaya(), times).check(),
    },
    Case {
        name: "papaya: insert, remove, len",
        expected: Expected::Not("len is a sum of counters"),
        check: |times| {
            let set = stress(papaya::HashMap::new)
                .op("add", 0..4, |map, key: i64| {
                    map.pin().insert(key, ()).is_none()
                })
                .op("remove", 0..4, |map, key| map.pin().remove(&key).is_some())
                .op0("size", |map| map.len())
                .object_type("set");
            short(set, 10 * times).check()
        },
    },
    Case {
        name: "std mpsc: send, try_recv, long",
        expected: Expected::Linearizable,
        check: |times| long(Channel::test(), times).check(),
    },
    Case {
        name: "std mpsc: send, try_recv, short",
        expected: Expected::Linearizable,
        check: |times| short(Channel::test(), times).check(),
    },
];
