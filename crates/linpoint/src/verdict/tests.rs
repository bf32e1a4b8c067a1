//! The evidence of violations on random small histories of every type, against the reference.
//!
//! `LINPOINT_EVIDENCE` sets the number of histories per type.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::engine::{Budget, GaveUp, brute};
use crate::history::{History, TypedHistory, partition};
use crate::spec::laws::{Visit, for_each_type};
use crate::spec::{
    Container, ContainerOp, Counter, CounterOp, Discipline, Mutex, MutexOp, Recorded, Sampler,
    Simulated,
};
use crate::{Call, Checker, HistoryBuilder, Ties};

/// Histories per type, unless the environment says otherwise.
const HISTORIES: u64 = 2_000;

fn histories() -> u64 {
    let given = std::env::var("LINPOINT_EVIDENCE").ok();
    given.map_or(HISTORIES, |n| {
        n.parse().expect("LINPOINT_EVIDENCE is a number")
    })
}

/// A history of clients of `object`, with some results changed.
fn random<S: Simulated>(object: &S, seed: u64) -> Option<History> {
    clients(object, seed, |sampler| 3 + sampler.below(6), 5)
}

/// A history of clients of `object` that make so many calls. Of this many results, one is changed.
pub(super) fn clients<S: Simulated>(
    object: &S,
    seed: u64,
    calls: impl FnOnce(&mut Sampler) -> usize,
    changed: usize,
) -> Option<History> {
    let mut sampler = Sampler::new(seed, Some(3));
    let processes = 2 + sampler.below(3);
    let mut builder = HistoryBuilder::new();
    let mut state = object.init();
    // Open calls by process: the operation, and its result once it took effect.
    let mut open: Vec<Option<(S::Op, Option<Value>)>> = vec![None; processes];
    let mut calls = calls(&mut sampler);
    for _ in 0..200 {
        let process = sampler.below(processes);
        let name = Value::Int(process as i64);
        match open[process].take() {
            None if calls > 0 => {
                calls -= 1;
                let (method, argument) = object.sample(&state, process as u32, &mut sampler);
                let call = crate::spec::CallView {
                    process: &name,
                    method,
                    argument: &argument,
                };
                let op = object.decode(call).ok()?;
                builder.call(0, name, Call::new(method, argument)).ok()?;
                open[process] = Some((op, None));
            }
            None => {}
            Some((op, None)) => {
                let outcomes = object.apply(&state, &op).into_pairs();
                let result = if outcomes.is_empty() {
                    None
                } else {
                    let (answer, next) = sampler.pick(&outcomes);
                    state = next;
                    Some(answer)
                };
                open[process] = Some((op, result));
            }
            Some((op, Some(result))) => {
                if sampler.below(12) == 0 {
                    // It stays pending.
                    open[process] = Some((op, Some(result)));
                    continue;
                }
                let result = match sampler.below(changed) {
                    0 => nudged(&result, &mut sampler),
                    _ => result,
                };
                if object.decode_result(&op, &result).is_err() {
                    return None;
                }
                builder.ret(0, &name, result).ok()?;
            }
        }
    }
    builder.finish(Ties::default()).ok()
}

fn nudged(value: &Value, sampler: &mut Sampler) -> Value {
    match value {
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Int(number) => Value::Int(number + sampler.pick(&[-1, 1])),
        Value::Nil => Value::Int(sampler.below(3) as i64),
        Value::List(items) => {
            let mut items = items.to_vec();
            if !items.is_empty() {
                let chosen = sampler.below(items.len());
                items[chosen] = nudged(&items[chosen], sampler);
            }
            Value::list(items)
        }
        Value::Text(text) => match (text.as_str(), text.as_str().parse::<i64>()) {
            ("true", _) => "false".into(),
            ("false", _) => "true".into(),
            (_, Ok(number)) => (number + 1).to_string().into(),
            _ => sampler.pick(&["null", "0", "1"]).into(),
        },
        other => other.clone(),
    }
}

fn has_order<S: Spec>(task: &Task<'_, S>) -> bool {
    let always: &mut dyn FnMut() -> Result<(), ()> = &mut || Ok(());
    brute::try_all_orders(task, always)
        .expect("no limit")
        .is_some()
}

/// Compares the evidence of a violation with what the definitions say.
fn compare<S: Spec>(task: &Task<'_, S>, violation: &Violation, name: &str) {
    let sentence = violation.core.sentence();
    let told = || {
        let ops = task.ops.iter().map(|&op| {
            let (operation, ret) = task.action(task.ops.iter().position(|o| *o == op).unwrap_or(0));
            format!(
                "{:?} {operation:?} {ret:?} [{}, {}]",
                op.id, op.call, op.ret as i32
            )
        });
        let ops: Vec<String> = ops.collect();
        format!("{name}: {sentence}\n{violation:?}\n{}", ops.join("\n"))
    };
    // The first bad event.
    let first_bad = (1..=task.events()).find(|&events| {
        let beginning = task.with_ops(prefix(&task.ops, events));
        !has_order(&beginning)
    });
    assert!(violation.shortest, "{}", told());
    assert_eq!(Some(violation.prefix_events), first_bad, "{}", told());
    let beginning = task.with_ops(prefix(&task.ops, violation.prefix_events));
    let last = beginning.ops.iter().position(|op| op.id == violation.last);
    let last = last.unwrap_or_else(|| panic!("{}", told()));

    // The answers are exactly those that some order gives.
    let possible = violation
        .possible
        .as_ref()
        .unwrap_or_else(|| panic!("{}", told()));
    let always: &mut dyn FnMut() -> Result<(), ()> = &mut || Ok(());
    let answers = brute::possible_results(&beginning, last, always).expect("no limit");
    let answers: BTreeSet<String> = answers.iter().map(|answer| format!("{answer:?}")).collect();
    assert_eq!(
        possible.answers.count,
        answers.len(),
        "{answers:?}\n{}",
        told()
    );
    let shown: BTreeSet<String> = possible.answers.shown.iter().cloned().collect();
    assert!(shown.is_subset(&answers), "{answers:?}\n{}", told());

    // The core is contradictory, and minimal.
    let core = &violation.core;
    assert!(core.is_minimal(), "{}", told());
    let anchored = core.anchor().map(|anchor| {
        let after = task
            .op(anchor.after)
            .unwrap_or_else(|| panic!("{}", told()));
        after.ret
    });
    let reduced = |left_out: Option<OpId>| {
        let counts = |op: &TaskOp| {
            let is_core = core.ops().binary_search(&op.id).is_ok() && left_out != Some(op.id);
            is_core || anchored.is_some_and(|rank| op.ret <= rank)
        };
        let is_kept = |op: &TaskOp| {
            anchored.is_some() || core.ops().contains(&op.id) || core.relaxed().contains(&op.id)
        };
        let ops = beginning.ops.iter().filter(|op| is_kept(op));
        let ops = ops.map(|op| if counts(op) { *op } else { op.relaxed() });
        beginning.with_ops(ops.collect())
    };
    assert!(!has_order(&reduced(None)), "{}", told());
    if matches!(core.claim(), Claim::AtPlace { .. } | Claim::Missed { .. }) {
        // What the operations say about other places makes the core smaller than the definition.
        return;
    }
    for &id in core.ops() {
        assert!(
            has_order(&reduced(Some(id))),
            "{id:?} is not needed: {}",
            told()
        );
    }
}

struct Evidence;

impl Visit for Evidence {
    fn visit<S: Simulated>(&self, name: &str, object: &S) {
        let mut violations = 0;
        for seed in 0..histories() {
            let Some(history) = random(object, seed) else {
                continue;
            };
            check_one(object, &history, name, &mut violations);
        }
        assert!(
            violations > histories() / 50,
            "{name}: {violations} violations"
        );
    }
}

fn check_one<S: Recorded>(object: &S, history: &History, name: &str, violations: &mut u64) {
    let Ok(typed) = TypedHistory::decode(object, history) else {
        return;
    };
    let report = Checker::default().check_recorded(object, history);
    let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
    let parts = partition(object, &typed, report.partitioning);
    for part in &report.parts {
        if let Verdict::Violation(violation) = &part.verdict {
            let of_part = parts.iter().find(|other| other.key == part.key);
            let ops = &of_part.expect("a part").ops;
            compare(&Task::new(object, &typed, ops), violation, name);
            *violations += 1;
        }
    }
}

#[test]
fn evidence_is_what_the_definitions_say() {
    for_each_type(&Evidence);
}

/// A counter to which many operations added 1, two of which saw the same count.
fn counted_twice(ops: i64) -> TypedHistory<CounterOp, Value> {
    let mut history = TypedHistory::new();
    for seen in (0..ops).chain([ops - 1]) {
        let op = history.call(0, CounterOp::FetchAdd(1));
        history.ret(op, Value::Int(seen));
    }
    history
}

#[test]
fn a_limit_ends_the_explanation_but_not_the_verdict() {
    let history = counted_twice(300);
    let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
    let task = Task::new(&Counter { initial: 0 }, &history, &ids);
    let over = Budget::new(Some(Duration::ZERO), None);
    let findings = EngineFindings {
        reached: 0,
        partial: &[],
        first_bad: None,
        contradicting: None,
    };
    let refused = |_: &[TaskOp], budget: &Budget| match budget.check() {
        Err(limit) => Err(GaveUp::from(limit)),
        Ok(()) => panic!("a decision is begun when the time is over"),
    };
    let describe = |id: OpId| format!("{}", id.0);
    let violation = violation(&task, findings, &over, &over, &refused, &describe);
    let violation = violation.expect("no certificate fails");
    let core = &violation.core;
    assert!(!violation.shortest && !core.is_minimal() && !core.is_certified());
    assert_eq!(core.stopped_by(), Some(Limit::Time(Duration::ZERO)));
    assert!(
        core.extent()
            .starts_with("not reduced further: the time limit")
    );
}

/// The last operation is not to blame only because it is the last one.
#[test]
fn without_time_the_furthest_place_is_told() {
    let mut history = TypedHistory::new();
    let add = history.call(0, ContainerOp::Add(1.into()));
    history.ret(add, Value::Nil);
    // So many that no walk over all of them ends before the first look at the clock.
    for size in [[1; 30].as_slice(), &[2], &[1; 30]].concat() {
        let op = history.call(0, ContainerOp::Size);
        history.ret(op, Value::Int(size));
    }
    let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
    let queue = Container::unbounded(Discipline::Fifo);
    let task = Task::new(&queue, &history, &ids);
    let findings = EngineFindings {
        reached: 63,
        partial: &ids[..31],
        first_bad: None,
        contradicting: None,
    };
    let over = Budget::new(Some(Duration::ZERO), None);
    let refused = |_: &[TaskOp], _: &Budget| Err(GaveUp::from(Limit::Time(Duration::ZERO)));
    let describe = |id: OpId| format!("{}", id.0);
    let violation = violation(&task, findings, &over, &over, &refused, &describe);
    let core = violation.expect("no certificate fails").core;
    assert_eq!(
        core.sentence(),
        "no order found so far goes past the return of 31"
    );
    assert_eq!(core.claim().op(), Some(&ids[31]));
}

#[test]
fn the_independent_check_ends_with_its_budget() {
    let history = counted_twice(300);
    let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
    let task = Task::new(&Counter { initial: 0 }, &history, &ids);
    let whole = reduce::Reduced {
        cut: NEVER - 1,
        ops: task.ops.clone(),
        minimal: false,
    };
    let certified = |budget: Budget| certify::core(&task, &whole, &budget).expect("it is wrong");
    assert_eq!(certified(Budget::default()), Confirmation::IndependentCheck);
    let over = Budget::new(Some(Duration::ZERO), None);
    assert_eq!(certified(over), Confirmation::Unconfirmed);
    if cfg!(target_os = "linux") {
        let little = Budget::new(None, Some(1));
        assert_eq!(certified(little), Confirmation::Unconfirmed);
    }
}

/// Three processes acquired a lock that one operation released, and two failed to: with another result, either would explain it.
#[test]
fn a_premise_may_return_last() {
    use MutexOp::{Acquire, Release, TryRelease};
    let mut history = TypedHistory::new();
    let first = history.call(0, Acquire);
    let release = history.call(1, Release);
    let (early, late) = (history.call(2, TryRelease), history.call(3, TryRelease));
    history.ret(early, Value::Bool(false));
    history.ret(first, Value::Nil);
    let (second, third) = (history.call(4, Acquire), history.call(5, Acquire));
    history.ret(release, Value::Nil);
    history.ret(second, Value::Nil);
    history.ret(third, Value::Nil);
    history.ret(late, Value::Bool(false));
    let report = Checker::default().check(&Mutex, &history);
    let Verdict::Violation(violation) = report.expect("it can be checked").verdict else {
        panic!("it is no violation");
    };
    assert_eq!(violation.last, late);
    assert!(violation.core.ops().contains(&late), "{violation:?}");
}

/// The operations of a recorded history take memory when they are decoded.
#[test]
#[cfg(target_os = "linux")]
fn memory_bounds_decoding() {
    let mut builder = HistoryBuilder::new();
    for i in 0..100 {
        let process = Value::Int(i);
        let call = Call::new("add", i);
        builder.call(0, process, call).expect("it is well formed");
    }
    let history = builder.finish(Ties::default()).expect("it is well formed");
    let counter = Counter { initial: 0 };
    let decode = |memory| {
        let over = Budget::new(Some(Duration::ZERO), memory);
        TypedHistory::decode_within(&counter, &history, &over.of_memory())
    };
    assert_eq!(decode(None).expect("there is room").len(), 100);
    let error = decode(Some(1)).expect_err("there is no room");
    assert_eq!(error.kind(), crate::ErrorKind::Limit);
}
