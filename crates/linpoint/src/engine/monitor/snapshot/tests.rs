//! The monitors of snapshots against the reference, after every event of random small histories.
//!
//! `LINPOINT_MONITORS` sets the number of histories of each kind.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Case;
use super::simple::{self, Side, SimpleEvent};
use crate::engine::monitor::admit::Prepared;
use crate::engine::monitor::{Decision, Evidence};
use crate::engine::{Budget, Cause, Task, TaskOp, brute, until};
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::{Snapshot, SnapshotOp, Writers};
use crate::value::Value;
use crate::verdict::certify;

const SNAPSHOT: Snapshot = Snapshot {
    writers: Writers::Single,
    processes: None,
    initial: Value::Int(0),
};

fn trials(default: u64) -> u64 {
    let given = std::env::var("LINPOINT_MONITORS").ok();
    given.map_or(default, |n| {
        n.parse().expect("LINPOINT_MONITORS is a number")
    })
}

type History = TypedHistory<SnapshotOp, Value>;

/// How the values of updates are chosen.
#[derive(Clone, Copy, PartialEq)]
enum Values {
    /// Entries 0 and 1 change from 0 to 1.
    Simple,
    /// All distinct in an entry.
    Distinct,
    /// Few, again and again.
    Few,
    /// Few, and any process updates any entry.
    FewAnywhere,
}

/// A run of the object itself, of which some results are exchanged.
fn random_history(values: Values, rng: &mut ChaCha8Rng) -> History {
    let processes = rng.random_range(2..=5u32);
    let most = rng.random_range(2..=9);
    let wrong = [0, 20, 60, 100][rng.random_range(0..4)];
    let scans = [30, 50, 70][rng.random_range(0..3)];
    let mut history = TypedHistory::new();
    let mut entries = vec![0i64; processes as usize];
    // What each process is doing: the operation, and its result once it took effect.
    let mut open: Vec<Option<(OpId, SnapshotOp, Option<Value>)>> = vec![None; processes as usize];
    let mut written = vec![0i64; processes as usize];
    let list = |entries: &[i64]| {
        let values = entries.iter().map(|&value| Value::Int(value));
        let mut values: Vec<Value> = values.collect();
        while values.last() == Some(&Value::Int(0)) {
            values.pop();
        }
        Value::list(values)
    };
    for _ in 0..6 * most {
        let process = rng.random_range(0..processes);
        let place = process as usize;
        match open[place].take() {
            None if history.len() < most => {
                let scans = match values {
                    Values::Simple if place < 2 => 20,
                    Values::Simple => 80,
                    _ => scans,
                };
                let op = if rng.random_range(0..100) < scans {
                    SnapshotOp::Scan
                } else {
                    let (entry, value) = match values {
                        Values::Simple => {
                            let ones = place < 2 && (written[place] == 1 || rng.random());
                            written[place] = i64::from(ones);
                            (place, i64::from(ones))
                        }
                        Values::Distinct => {
                            written[place] += 1;
                            (place, written[place])
                        }
                        Values::Few => (place, rng.random_range(0..3)),
                        Values::FewAnywhere => {
                            (rng.random_range(0..entries.len()), rng.random_range(0..3))
                        }
                    };
                    SnapshotOp::Update(entry, Value::Int(value))
                };
                open[place] = Some((history.call(process, op.clone()), op, None));
            }
            None => {}
            Some((id, op, None)) => {
                let result = match &op {
                    SnapshotOp::Update(entry, value) => {
                        entries[*entry] = value.as_int().unwrap();
                        Value::Nil
                    }
                    SnapshotOp::Scan => {
                        let mut seen = entries.clone();
                        if rng.random_range(0..100) < wrong {
                            // Mostly what was there before, or may be soon.
                            for (entry, value) in seen.iter_mut().enumerate() {
                                *value = match rng.random_range(0..40) {
                                    0..10 => *value,
                                    10..20 => (*value - 1).max(0),
                                    20 if values != Values::Simple || entry < 2 => *value + 1,
                                    _ => written[entry],
                                };
                                if values == Values::Simple {
                                    *value = (*value).min(1);
                                }
                            }
                        }
                        list(&seen)
                    }
                };
                open[place] = Some((id, op, Some(result)));
            }
            Some((id, _, Some(result))) => history.ret(id, result),
        }
    }
    history
}

fn prefix<'a>(history: &'a History, events: u32) -> Task<'a, Snapshot> {
    let all: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
    let task = Task::new(&SNAPSHOT, history, &all);
    match events.checked_sub(1) {
        None => task.with_ops(Vec::new()),
        Some(last) => task.with_ops(until(&task.ops, last)),
    }
}

fn brute_says(task: &Task<'_, Snapshot>) -> bool {
    let found = brute::try_all_orders(task, &mut || Ok::<_, ()>(()));
    found.unwrap().is_some()
}

/// How many events there are before and at the first one that cannot be explained, if there is one.
fn first_bad(history: &History) -> Option<u32> {
    let ranks = history.calls().iter().chain(history.rets());
    let events = ranks.filter(|&&rank| rank != NEVER).count() as u32;
    let is_bad = |events: u32| !brute_says(&prefix(history, events));
    if !is_bad(events) {
        return None;
    }
    (0..events).find(|&events| is_bad(events)).or(Some(events))
}

fn show(history: &History) -> String {
    let ops = (0..history.len() as u32).map(OpId).map(|id| {
        let action = history.action(id);
        let (call, ret) = (history.calls()[id.index()], history.rets()[id.index()]);
        format!(
            "{}: {:?} → {:?} [{call}, {}]",
            history.process(id),
            action.op,
            action.ret,
            ret as i32
        )
    });
    ops.collect::<Vec<_>>().join("\n")
}

/// Compares verdict, first bad event, witness and contradicting operations with the reference; counts the kinds of violations.
fn compare(values: Values, seed: u64, counts: &mut HashMap<&'static str, u64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let history = random_history(values, &mut rng);
    let whole = prefix(&history, u32::MAX);
    let case = Case::new(&whole).unwrap();
    let decide = |evidence| {
        let case = Case::new(&whole).unwrap();
        Box::new(case).decide(evidence, &Budget::new(None, None))
    };
    let said = decide(Evidence::Order);
    let quickly = decide(Evidence::Verdict);
    let count = &mut |what| *counts.entry(what).or_default() += 1;
    let bad = first_bad(&history);
    let shown = || format!("seed {seed}, bad {bad:?}\n{}", show(&history));
    match said {
        Err(Cause::NotApplicable(why)) => {
            assert!(
                values != Values::Simple && values != Values::Distinct,
                "{why}: {}",
                shown()
            );
            assert!(quickly.is_err());
            count("refused");
            return;
        }
        Err(cause) => panic!("{cause:?}"),
        Ok(Decision::Linearizable(order)) => {
            assert_eq!(bad, None, "{}", shown());
            assert!(
                matches!(quickly, Ok(Decision::Linearizable(None))),
                "{}",
                shown()
            );
            let order: Vec<OpId> = order
                .unwrap()
                .iter()
                .map(|&at| whole.ops[at as usize].id)
                .collect();
            certify::witness(&whole, &order).unwrap_or_else(|error| panic!("{error}: {}", shown()));
            count("linearizable");
        }
        Ok(Decision::FirstViolation(contradicting)) => {
            assert!(
                matches!(quickly, Ok(Decision::FirstViolation(_))),
                "{}",
                shown()
            );
            let ops: Vec<TaskOp> = contradicting
                .iter()
                .map(|found| match whole.ops[found.position as usize] {
                    op if found.is_pending => TaskOp { ret: NEVER, ..op },
                    op => op,
                })
                .collect();
            let last = ops
                .iter()
                .filter(|op| op.ret != NEVER)
                .map(|op| op.ret)
                .max();
            assert_eq!(bad, last.map(|last| last + 1), "{}", shown());
            let kind = case.run().unwrap().fault.unwrap().name();
            // Values that come back may be told apart only by what is not among the contradicting operations.
            if values == Values::Simple || values == Values::Distinct {
                assert!(!brute_says(&whole.with_ops(ops)), "{kind}: {}", shown());
            }
            count(kind);
        }
        Ok(Decision::Violation(_)) => panic!("the first bad event is known"),
    }
    if values == Values::Simple {
        compare_simple(&case, bad, &shown());
    }
}

/// The monitor of simple histories finds the same event, step by step and at once.
fn compare_simple(case: &Case, bad: Option<u32>, shown: &str) {
    let Some((events, slots)) = case.simple_events() else {
        assert!(bad.is_some(), "no update wrote what a scan shows: {shown}");
        return;
    };
    let mut monitor = simple::Monitor::default();
    let wrong = events.iter().position(|&event| {
        let wrong = monitor.step(event);
        monitor = monitor.normalized();
        wrong.is_err()
    });
    // Pending operations that cannot matter are left out of the log, so events are told by their operations.
    let at_once = simple::decide(&events, slots).err().map(|(at, _)| at);
    assert_eq!(wrong, at_once, "{shown}");
    assert_eq!(wrong.is_some(), bad.is_some(), "{shown}");
    if let Some(wrong) = wrong {
        let scan = case.log.events()[wrong].op() as u32;
        assert_eq!(case.run().unwrap().fault.unwrap().scan, scan, "{shown}");
    }
}

fn compare_all(values: Values, default: u64, kinds: &[&str]) {
    let mut counts = HashMap::new();
    let count = trials(default);
    (0..count).for_each(|seed| compare(values, seed, &mut counts));
    eprintln!("{counts:?}");
    for kind in kinds {
        let found = counts.get(kind).copied().unwrap_or(0);
        assert!(found * 3000 > count, "{kind}: {counts:?}");
    }
}

const KINDS: &[&str] = &[
    "linearizable",
    "stale",
    "future",
    "decreasing",
    "inversion",
    "order",
];

#[test]
fn simple_histories() {
    compare_all(Values::Simple, 20_000, KINDS);
}

#[test]
fn distinct_values() {
    compare_all(Values::Distinct, 20_000, KINDS);
}

#[test]
fn values_that_come_back() {
    compare_all(Values::Few, 10_000, &["linearizable", "stale", "refused"]);
}

#[test]
fn several_writers() {
    compare_all(
        Values::FewAnywhere,
        10_000,
        &["linearizable", "stale", "refused"],
    );
}

#[test]
fn events_say_what_they_are() {
    let all = [
        SimpleEvent::OTHER,
        SimpleEvent::update_called(Side::First),
        SimpleEvent::update_called(Side::Second),
        SimpleEvent::update_returned(Side::First),
        SimpleEvent::update_returned(Side::Second),
        SimpleEvent::scan_called(63),
        SimpleEvent::scan_returned(63, [false, true]),
    ];
    for (i, event) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other.bits() != event.bits()));
    }
}
