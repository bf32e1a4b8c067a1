//! The operations of the structures.

use std::collections::BTreeMap;
use std::time::Duration;

use linpoint_test::report::TestResult;
use linpoint_test::{Object, Report, object};

use crate::cells::{Bitmap, DoubleCollect, Log, Maximum, Owners, ShardedCounter};
use crate::locks::{Mcs, TicketMap, TwoLockQueue};
use crate::maps::{Bank, Cache, Pool, ShardedSet};
use crate::nonblocking::{HarrisList, Ring, SeqLock};
use crate::pointers::{EliminationStack, LinkedQueue, Published, ReusingStack, WorkDeque};
use crate::waiting::{Buffer, Latch, Lazy, Peterson, ReadWrite, Semaphore};

/// Whether a structure has its defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    Right,
    Wrong,
}

/// One of them.
pub(crate) struct Structure {
    pub(crate) name: &'static str,
    pub(crate) check: fn(Variant, Tests, Option<Duration>) -> Report,
}

/// Which tests are run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tests {
    /// The default plan.
    Default,
    /// Random tests of three threads with three operations.
    Random(usize),
}

/// Without a time, the default plan has its own, and others are limited in executions.
fn checked<X: 'static>(object: Object<X>, tests: Tests, budget: Option<Duration>) -> Report {
    let object = match tests {
        Tests::Default => object,
        Tests::Random(tests) => object.random(3, 3, tests),
    };
    let object = match budget {
        Some(budget) => object.budget(budget),
        None => object,
    };
    object.as_found().check()
}

pub(crate) const STRUCTURES: &[Structure] = &[
    Structure {
        name: "seqlock",
        check: |variant, tests, budget| {
            let object = object(move || SeqLock::new(variant))
                .op("write", [1, 2], |x, value| x.write(value))
                .op0("read", |x| x.read());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "ticket map",
        check: |variant, tests, budget| {
            let object = object(move || TicketMap::new(variant))
                .op("insert", [0, 1], |x, key| x.insert(key))
                .op("remove", [0, 1], |x, key| x.remove(key))
                .op("get", [0, 1], |x, key| x.get(key));
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "Vyukov ring",
        check: |variant, tests, budget| {
            let object = object(move || Ring::new(variant))
                .op("push", [1, 2], |x, value| x.push(value))
                .op0("pop", |x| x.pop());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "Harris list",
        check: |variant, tests, budget| {
            let object = object(move || HarrisList::new(variant))
                .op("insert", [1, 2], |x, key| x.insert(key))
                .op("remove", [1, 2], |x, key| x.remove(key))
                .op("contains", [1, 2], |x, key| x.contains(key));
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "MCS lock",
        check: |variant, tests, budget| {
            let object = object(move || Mcs::new(variant))
                .op0("increment", |x| x.increment())
                .op0("get", |x| x.get());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "two-lock queue",
        check: |variant, tests, budget| {
            let object = object(move || TwoLockQueue::new(variant))
                .op("enqueue", [1, 2], |x, value| x.enqueue(value))
                .op0("dequeue", |x| x.dequeue())
                .op0("len", |x| x.len());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "stack that reuses nodes",
        check: |variant, tests, budget| {
            let object = object(move || ReusingStack::new(variant))
                .op("push", [1, 2], |x, value| x.push(value))
                .op0("pop", |x| x.pop());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "elimination stack",
        check: |variant, tests, budget| {
            let object = object(move || EliminationStack::new(variant))
                .op("push", [1, 2], |x, value| x.push(value))
                .op0("pop", |x| x.pop());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "Michael-Scott queue",
        check: |variant, tests, budget| {
            let object = object(move || LinkedQueue::new(variant))
                .op("enqueue", [1, 2], |x, value| x.enqueue(value))
                .op0("dequeue", |x| x.dequeue());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "Chase-Lev deque",
        check: |variant, tests, budget| {
            let object = object(move || WorkDeque::new(variant))
                .op("push", [1, 2], |x, task| x.push(task))
                .only_on("push", [0])
                .op0("pop", |x| x.pop())
                .only_on("pop", [0])
                .op0("steal", |x| x.steal())
                .only_on("steal", [1, 2]);
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "published copy",
        check: |variant, tests, budget| {
            let object = object(move || Published::new(variant))
                .op("increment", [0, 1], |x, which| x.increment(which))
                .op0("read", |x| x.read());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "double collect",
        check: |variant, tests, budget| {
            let object = object(move || DoubleCollect::new(variant))
                .op("flip", [0, 1], |x, cell| x.flip(cell))
                .op0("scan", |x| x.scan());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "maximum",
        check: |variant, tests, budget| {
            let object = object(move || Maximum::new(variant))
                .op("raise", [1, 2, 3], |x, to| x.raise(to))
                .op0("get", |x| x.get());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "sharded counter",
        check: |variant, tests, budget| {
            let object = object(move || ShardedCounter::new(variant))
                .op("add", [0, 1], |x, part| x.add(part))
                .op0("sum", |x| x.sum());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "count of owners",
        check: |variant, tests, budget| {
            let object = object(move || Owners::new(variant))
                .op0("share", |x| x.share())
                .op0("leave", |x| x.leave());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "log",
        check: |variant, tests, budget| {
            let object = object(move || Log::new(variant))
                .op("append", [1, 2], |x, entry| x.append(entry))
                .op0("last", |x| x.last());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "bitmap",
        check: |variant, tests, budget| {
            let object = object(move || Bitmap::new(variant))
                .op0("allocate", |x| x.allocate())
                .op("free", [0, 1], |x, place| x.free(place));
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "semaphore",
        check: |variant, tests, budget| {
            let object = object(move || Semaphore::new(variant))
                .op0("acquire", |x| x.acquire())
                .may_block("acquire")
                .op0("release", |x| x.release());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "buffer",
        check: |variant, tests, budget| {
            let object = object(move || Buffer::new(variant))
                .op("put", [1, 2], |x, value| x.put(value))
                .may_block("put")
                .op0("take", |x| x.take())
                .may_block("take");
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "latch",
        check: |variant, tests, budget| {
            let object = object(move || Latch::new(variant))
                .op0("wait", |x| x.wait())
                .may_block("wait")
                .op0("open", |x| x.open())
                .op0("is_open", |x| x.is_open());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "readers and writers",
        check: |variant, tests, budget| {
            let object = object(move || ReadWrite::new(variant))
                .op("write", [1, 2], |x, value| x.write(value))
                .op0("read", |x| x.read());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "Peterson lock",
        check: |variant, tests, budget| {
            let object = object(move || Peterson::new(variant))
                .op("increment", [0], |x, me| x.increment(me))
                .only_on("increment", [0])
                .op("increment by the other", [1], |x, me| x.increment(me))
                .only_on("increment by the other", [1]);
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "lazy value",
        check: |variant, tests, budget| {
            let object = object(move || Lazy::new(variant))
                .op("get_or_make", [1, 2], |x, value| x.get_or_make(value))
                .op0("get", |x| x.get());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "sharded set",
        check: |variant, tests, budget| {
            let object = object(move || ShardedSet::new(variant))
                .op("insert", [0, 1], |x, key| x.insert(key))
                .op("remove", [0, 1], |x, key| x.remove(key))
                .op("contains", [0, 1], |x, key| x.contains(key))
                .op0("len", |x| x.len());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "bank",
        check: |variant, tests, budget| {
            let object = object(move || Bank::new(variant))
                .op("transfer", [0, 1], |x, from| x.transfer(from))
                .op0("total", |x| x.total());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "pool",
        check: |variant, tests, budget| {
            let object = object(move || Pool::new(variant))
                .op("release", [1, 2], |x, connection| x.release(connection))
                .op0("acquire", |x| x.acquire())
                .op0("idle", |x| x.idle());
            checked(object, tests, budget)
        },
    },
    Structure {
        name: "cache",
        check: |variant, tests, budget| {
            let object = object(move || Cache::new(variant))
                .op("set", [1, 2], |x, value| x.set(value))
                .op0("get", |x| x.get());
            checked(object, tests, budget)
        },
    },
];

/// How many tests ended in which way.
pub(crate) fn coverage(report: &Report) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for test in &report.tests {
        let how = match &test.result {
            TestResult::Pass(coverage) => coverage.to_string(),
            TestResult::Fail(kind) => format!("failed: {kind:?}"),
            TestResult::Undecided(why) => format!("undecided: {why}"),
            _ => continue,
        };
        *counts.entry(how).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .map(|(how, tests)| format!("{tests} x {how}"))
        .collect()
}
