//! Bugs that show on real threads within a short time: the crates run as they are.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crossbeam_skiplist::SkipMap;
use dashmap::DashMap;
#[cfg(feature = "old")]
use flume_010 as flume_polled;
use linpoint::{Outcomes, Spec};
use linpoint_gallery::{Bug, Finding, Means};
use linpoint_test::specs::{Channel, ChannelOp, ChannelRet};
use linpoint_test::stress::{Thread, stress_threads};
use linpoint_test::stress_spec;
use thingbuf::ThingBuf;

pub(crate) const ALL: &[Bug] = &[
    CROSSFIRE,
    FLUME_POLLED,
    HEAPLESS,
    DASHMAP,
    SLED,
    THINGBUF,
    SKIPLIST,
];

/// The most time that a test takes.
const TIME: Duration = Duration::from_secs(30);

/// The most time for each attempt to find it again with a step less.
const AGAIN: Duration = Duration::from_secs(2);

/// The last sender leaves while the receiver looks.
const CROSSFIRE: Bug = Bug {
    number: 1,
    name: "crossfire",
    buggy: "3.1.19",
    fixed: Some("3.1.20"),
    means: Means::Stress,
    check: |_| {
        let test = stress_threads(Channel::unbounded(1, 1), || {
            let (sender, receiver) = crossfire::mpsc::unbounded_blocking::<u32>();
            type Sender = crossfire::MTx<crossfire::mpsc::List<u32>>;
            type Receiver = crossfire::Rx<crossfire::mpsc::List<u32>>;
            let send = |sender: &mut Sender| ChannelRet::sent(sender.send(7));
            let take = |receiver: &mut Receiver| match receiver.try_recv() {
                Ok(message) => ChannelRet::Received(message),
                Err(crossfire::TryRecvError::Empty) => ChannelRet::Empty,
                Err(crossfire::TryRecvError::Disconnected) => ChannelRet::Disconnected,
            };
            let mut takes = Thread::with(receiver);
            for _ in 0..6 {
                takes = takes.call(ChannelOp::TryRecv, take);
            }
            [
                Thread::with(sender)
                    .call(ChannelOp::Send(7), send)
                    .drops::<Sender>(ChannelOp::DropSender, ChannelRet::Done),
                takes,
            ]
        });
        Finding::of_programs(test.runs(usize::MAX).budget(TIME).check_smallest(AGAIN))
    },
};

/// A future that is polled while a message is sent and the last sender leaves.
const FLUME_POLLED: Bug = Bug {
    number: 2,
    name: "flume",
    buggy: "0.10.10",
    fixed: Some("0.11.0"),
    means: Means::Stress,
    check: |_| {
        let test = stress_threads(Channel::unbounded(1, 1), || {
            let (sender, receiver) = flume_polled::unbounded::<u32>();
            let send = |sender: &mut flume_polled::Sender<u32>| ChannelRet::sent(sender.send(7));
            let recv = |receiver: &mut flume_polled::Receiver<u32>| {
                let mut future = pin!(receiver.recv_async());
                let mut context = Context::from_waker(Waker::noop());
                loop {
                    if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                        return ChannelRet::received(result);
                    }
                }
            };
            [
                Thread::with(sender)
                    .call(ChannelOp::Send(7), send)
                    .drops::<flume_polled::Sender<u32>>(ChannelOp::DropSender, ChannelRet::Done),
                Thread::with(receiver).call(ChannelOp::Recv, recv),
            ]
        });
        Finding::of_programs(test.runs(usize::MAX).budget(TIME).check_smallest(AGAIN))
    },
};

/// A ring of four that is full at first.
const HEAPLESS: Bug = Bug {
    number: 7,
    name: "heapless",
    buggy: "0.9.3",
    fixed: None,
    means: Means::Stress,
    check: |_| {
        let full = || {
            #[expect(deprecated)]
            let queue = heapless::mpmc::Queue::<u8, 4>::new();
            for value in 0..4 {
                queue.enqueue(value).expect("there is room");
            }
            queue
        };
        let test = stress_spec(
            full,
            Ring,
            [RingOp::Enqueue(9), RingOp::Dequeue],
            |queue, op| match op {
                RingOp::Enqueue(value) => Err(queue.enqueue(*value).is_ok()),
                RingOp::Dequeue => Ok(queue.dequeue()),
            },
        );
        Finding::of_stress(
            "2 threads, 8 operations each, of a full queue",
            test.threads(2).ops(8).runs(1_000_000).budget(TIME).check(),
        )
    },
};

struct Ring;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RingOp {
    Enqueue(u8),
    Dequeue,
}

impl Spec for Ring {
    type Op = RingOp;
    type Ret = Result<Option<u8>, bool>;
    type State = VecDeque<u8>;

    fn init(&self) -> VecDeque<u8> {
        (0..4).collect()
    }

    fn apply(&self, values: &VecDeque<u8>, op: &RingOp) -> Outcomes<Self::Ret, VecDeque<u8>> {
        let mut next = values.clone();
        let ret = match op {
            RingOp::Enqueue(_) if values.len() == 4 => Err(false),
            RingOp::Enqueue(value) => {
                next.push_back(*value);
                Err(true)
            }
            RingOp::Dequeue => Ok(next.pop_front()),
        };
        Outcomes::One(ret, next)
    }
}

/// Keys in several shards.
const DASHMAP: Bug = Bug {
    number: 8,
    name: "dashmap",
    buggy: "6.2.1",
    fixed: None,
    means: Means::Stress,
    check: |_| {
        let make = || {
            let map = DashMap::<u8, ()>::with_shard_amount(4);
            map.insert(0, ());
            map
        };
        let ops = (0..4).flat_map(|key| [KeysOp::Insert(key), KeysOp::Remove(key)]);
        let ops = ops.chain(std::iter::repeat_n(KeysOp::IsEmpty, 8));
        let test = stress_spec(make, Keys { first: 1 }, ops, |map, op| match op {
            KeysOp::Insert(key) => map.insert(*key, ()).is_some(),
            KeysOp::Remove(key) => map.remove(key).is_some(),
            KeysOp::IsEmpty => map.is_empty(),
        });
        Finding::of_stress(
            "2 threads, 10 operations each",
            test.threads(2)
                .ops(10)
                .runs(10_000_000)
                .budget(TIME)
                .check(),
        )
    },
};

/// Keys, of which so many are there at first.
struct Keys {
    first: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum KeysOp {
    Insert(u8),
    Remove(u8),
    IsEmpty,
}

impl Spec for Keys {
    type Op = KeysOp;
    type Ret = bool;
    type State = BTreeSet<u8>;

    fn init(&self) -> BTreeSet<u8> {
        (0..self.first).collect()
    }

    fn apply(&self, keys: &BTreeSet<u8>, op: &KeysOp) -> Outcomes<bool, BTreeSet<u8>> {
        let mut next = keys.clone();
        let ret = match op {
            KeysOp::Insert(key) => !next.insert(*key),
            KeysOp::Remove(key) => next.remove(key),
            KeysOp::IsEmpty => keys.is_empty(),
        };
        Outcomes::One(ret, next)
    }
}

/// Six keys, of which three threads take the smallest.
const SLED: Bug = Bug {
    number: 10,
    name: "sled",
    buggy: "0.32.1",
    fixed: Some("0.33.0"),
    means: Means::Stress,
    check: |_| {
        let make = || {
            static DATABASE: OnceLock<sled::Db> = OnceLock::new();
            static TREES: AtomicU64 = AtomicU64::new(0);
            let database = DATABASE.get_or_init(|| {
                let config = sled::Config::new().temporary(true);
                config.open().expect("there is room for a database")
            });
            let name = TREES.fetch_add(1, Relaxed).to_be_bytes();
            let tree = database.open_tree(name).expect("a tree");
            for key in 0..6_u8 {
                tree.insert([key], &[key][..]).expect("a key");
            }
            tree
        };
        let test = stress_spec(make, Smallest, [PopMin], |tree: &sled::Tree, PopMin| {
            let least = tree.pop_min().expect("the database works");
            least.map(|(key, _)| key[0])
        });
        Finding::of_stress(
            "3 threads, 2 pop_min each",
            test.threads(3).ops(2).runs(5_000).budget(TIME).check(),
        )
    },
};

struct Smallest;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PopMin;

impl Spec for Smallest {
    type Op = PopMin;
    type Ret = Option<u8>;
    type State = u8;

    fn init(&self) -> u8 {
        0
    }

    fn apply(&self, &least: &u8, _: &PopMin) -> Outcomes<Option<u8>, u8> {
        match least {
            6 => Outcomes::One(None, 6),
            _ => Outcomes::One(Some(least), least + 1),
        }
    }
}

/// One thread goes round the buffer while it holds a place in the middle.
const THINGBUF: Bug = Bug {
    number: 11,
    name: "thingbuf",
    buggy: "0.1.5",
    fixed: Some("0.1.6"),
    means: Means::Stress,
    check: |_| {
        let make = || ThingBuf::<u8>::new(3);
        let test = stress_spec(make, Round, [GoRound], |buffer, GoRound| {
            for value in 0..3 {
                buffer.push(value).expect("there is room");
            }
            buffer.pop();
            let held = buffer.pop_ref();
            buffer.pop();
            for value in 3..9 {
                let _ = buffer.push(value);
                let _ = buffer.push(value);
                buffer.pop();
            }
            held.is_some()
        });
        Finding::of_stress(
            "1 thread, once round with a place held",
            test.threads(1)
                .ops(1)
                .runs(1)
                .stuck_after(Duration::from_secs(2))
                .check(),
        )
    },
};

struct Round;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GoRound;

impl Spec for Round {
    type Op = GoRound;
    type Ret = bool;
    type State = ();

    fn init(&self) {}

    fn apply(&self, (): &(), _: &GoRound) -> Outcomes<bool, ()> {
        Outcomes::One(true, ())
    }
}

/// A key that is inserted again and again, and is always there.
const SKIPLIST: Bug = Bug {
    number: 16,
    name: "crossbeam-skiplist",
    buggy: "0.1.3",
    fixed: None,
    means: Means::Stress,
    check: |_| {
        let make = || {
            let map = SkipMap::new();
            map.insert(0_u8, ());
            map
        };
        let test = stress_spec(
            make,
            There,
            [ThereOp::Insert, ThereOp::Get],
            |map, op| match op {
                ThereOp::Insert => map.insert(0, ()).key() == &0,
                ThereOp::Get => map.contains_key(&0),
            },
        );
        Finding::of_stress(
            "2 threads, 8 operations each, of a key that is there",
            test.threads(2).ops(8).runs(1_000_000).budget(TIME).check(),
        )
    },
};

struct There;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ThereOp {
    Insert,
    Get,
}

impl Spec for There {
    type Op = ThereOp;
    type Ret = bool;
    type State = ();

    fn init(&self) {}

    fn apply(&self, (): &(), _: &ThereOp) -> Outcomes<bool, ()> {
        Outcomes::One(true, ())
    }
}
