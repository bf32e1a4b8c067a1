//! The operations of the structures.

use std::collections::BTreeMap;
use std::time::Duration;

use linpoint_test::report::TestResult;
use linpoint_test::{Object, Report, object};

use crate::locks::{Mcs, TicketMap, TwoLockQueue};
use crate::nonblocking::{HarrisList, Ring, SeqLock};

/// Whether a structure has its defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    Right,
    Wrong,
}

/// One of the six.
pub(crate) struct Structure {
    pub(crate) name: &'static str,
    pub(crate) check: fn(Variant, Tests, Duration) -> Report,
}

/// Which tests are run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tests {
    /// The default plan.
    Default,
    /// Random tests of three threads with three operations.
    Random(usize),
}

fn checked<X: 'static>(object: Object<X>, tests: Tests, budget: Duration) -> Report {
    let object = match tests {
        Tests::Default => object,
        Tests::Random(tests) => object.random(3, 3, tests),
    };
    object.budget(budget).as_found().check()
}

pub(crate) const STRUCTURES: [Structure; 6] = [
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
