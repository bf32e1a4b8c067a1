//! The evidence of violations on random small histories of every type, against the reference.
//!
//! `LINPOINT_EVIDENCE` sets the number of histories per type.

mod anchors;
mod bag;
mod changes;
mod claims;
mod counts;
mod details;
mod during;
mod families;
mod found;
mod orders;
mod places;
pub(super) mod random;
mod scans;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use self::claims::{Case, Tally};
use self::random::random;
use super::*;
use crate::engine::{Budget, GaveUp, brute};
use crate::history::{Erasure, History, Partitioning, TypedHistory, partition};
use crate::spec::laws::{Visit, for_each_type};
use crate::spec::{
    Container, ContainerOp, Counter, CounterOp, Discipline, KafkaLog, Mutex, MutexOp, Recorded,
    Simulated,
};
use crate::{Call, Checker, Config, HistoryBuilder, Ties};

/// Histories per type, unless the environment says otherwise.
const HISTORIES: u64 = 2_000;

fn histories() -> u64 {
    let given = std::env::var("LINPOINT_EVIDENCE").ok();
    given.map_or(HISTORIES, |n| {
        n.parse().expect("LINPOINT_EVIDENCE is a number")
    })
}

fn order_of<S: Spec>(task: &Task<'_, S>) -> Option<Vec<OpId>> {
    let always: &mut dyn FnMut() -> Result<(), ()> = &mut || Ok(());
    brute::try_all_orders(task, always).expect("no limit")
}

fn has_order<S: Spec>(task: &Task<'_, S>) -> bool {
    order_of(task).is_some()
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
    let answers: BTreeSet<String> = answers
        .iter()
        .map(|(before, answer)| {
            let (asked, _) = beginning.action(last);
            task.spec.answer_words(before, asked, answer)
        })
        .collect();
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
        // A core about one place leaves no operation out: the others are relaxed.
        let is_whole = anchored.is_some() || core.place().is_some();
        let is_kept = |op: &TaskOp| {
            is_whole || core.ops().contains(&op.id) || core.relaxed().contains(&op.id)
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

/// What was found about the random histories of all types.
#[derive(Default)]
struct Evidence {
    tally: RefCell<Tally>,
    /// For each kind of failure how many there are, and the first.
    failures: RefCell<BTreeMap<String, (usize, String)>>,
}

impl Visit for Evidence {
    fn visit<S: Simulated>(&self, name: &str, object: &S) {
        let mut violations = 0;
        for seed in 0..histories() {
            let Some(history) = random(name, object, seed) else {
                continue;
            };
            let tally = &mut self.tally.borrow_mut();
            let check = || check_one(object, &history, name, seed, tally);
            match catch_unwind(AssertUnwindSafe(check)) {
                Ok(found) => violations += found,
                Err(panic) => {
                    violations += 1;
                    let message = panic.downcast::<String>();
                    let message = *message.expect("a failure says what is wrong");
                    let kind = message.lines().next().unwrap_or_default().to_owned();
                    let mut failures = self.failures.borrow_mut();
                    let failure = failures.entry(kind).or_insert((0, message));
                    failure.0 += 1;
                }
            }
        }
        assert!(
            violations > histories() / 50,
            "{name}: {violations} violations"
        );
    }
}

/// Checks the evidence of all violations of a history. Returns how many there are.
fn check_one<S: Recorded>(
    object: &S,
    history: &History,
    name: &str,
    seed: u64,
    tally: &mut Tally,
) -> u64 {
    let fitted = object.fitted_to(&mut history.recorded_ops());
    let object = fitted.as_ref().unwrap_or(object);
    let Ok(typed) = TypedHistory::decode(object, history) else {
        return 0;
    };
    let mut config = Config::default();
    // Some are decided whole, although their keys could be decided one by one.
    if seed % 4 == 3 {
        config = config.with_partitioning(Partitioning::ByObject);
    }
    let report = Checker::new(config).check_recorded(object, history);
    let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
    let erasure = Erasure::of(object, &typed);
    check_all(
        &erasure.spec(),
        erasure.history(),
        history,
        &report,
        (name, seed),
        tally,
    )
}

/// Checks the evidence of all violations of a report.
fn check_all<S: Spec<Ret = Value>>(
    object: &S,
    typed: &TypedHistory<S::Op, Value>,
    history: &History,
    report: &Report,
    (name, seed): (&str, u64),
    tally: &mut Tally,
) -> u64 {
    let parts = partition(object, typed, report.partitioning);
    let mut violations = 0;
    for part in &report.parts {
        let Verdict::Violation(violation) = &part.verdict else {
            continue;
        };
        let of_part = parts.iter().find(|other| other.key == part.key);
        let ids = &of_part.expect("a part").ops;
        let task = Task::new(object, typed, ids);
        compare(&task, violation, name);
        // Sentences about operations on one key speak of that key.
        let beginning = || task.with_ops(prefix(&task.ops, violation.prefix_events));
        let key = part.key.clone().or_else(|| beginning().only_key());
        let case = |violation| Case {
            name,
            object,
            history,
            typed,
            ids,
            key: key.as_ref(),
            violation,
            cut: last_event(&task, violation),
        };
        case(violation).check(tally);
        if seed.is_multiple_of(8) {
            let events = violation.prefix_events - 1;
            let reached = [0, events][seed as usize / 8 % 2];
            let told = in_no_time(&task, reached, |id| history.describe(id));
            case(&told).check(tally);
        }
        violations += 1;
    }
    violations
}

/// The rank of the last event of the bad beginning.
fn last_event<S: Spec>(task: &Task<'_, S>, violation: &Violation) -> u32 {
    let beginning = prefix(&task.ops, violation.prefix_events);
    reduce::last_rank(&beginning)
}

/// The evidence if the time is over when the violation is found, and an order of so many events is known.
fn in_no_time<S: Spec>(
    task: &Task<'_, S>,
    reached: usize,
    describe: impl Fn(OpId) -> String,
) -> Violation {
    let over = Budget::new(Some(Duration::ZERO), None);
    let beginning = task.with_ops(prefix(&task.ops, reached));
    let findings = EngineFindings {
        reached,
        partial: &order_of(&beginning).expect("it has an order"),
        first_bad: None,
        contradicting: None,
    };
    let refused = |_: &[TaskOp], budget: &Budget| match budget.check() {
        Err(limit) => Err(GaveUp::from(limit)),
        Ok(()) => panic!("a decision is begun when the time is over"),
    };
    let violation = violation(task, findings, &over, &over, &refused, &describe);
    violation.expect("no certificate fails")
}

/// Every kind of claim that checks make, and what is printed besides.
const FACTS: [&str; 39] = [
    "only-answers",
    "cannot-happen",
    "never-put",
    "taken-too-often",
    "added-too-often",
    "used-after-removal",
    "not-empty",
    "overtaken",
    "buried",
    "passed-over",
    "taken-before",
    "replaced",
    "not-changed",
    "no-other",
    "against-hints",
    "counted-twice",
    "count-too-low",
    "count-too-high",
    "count-fell",
    "between-steps",
    "missed",
    "at-place",
    "wrong-scan",
    "token-not-larger",
    "token-twice",
    "held-by",
    "too-few-permits",
    "enough-permits",
    "offset-not-larger",
    "not-sent",
    "other-record",
    "other-total",
    "stuck",
    "contradiction",
    "possible",
    "anchor",
    "premise",
    "alike",
    "why",
];

#[test]
fn evidence_is_what_the_definitions_say() {
    let evidence = Evidence::default();
    for_each_type(&evidence);
    let tally = evidence.tally.borrow();
    println!("true facts: {:?}", tally.all());
    for (count, first) in evidence.failures.borrow().values() {
        println!("{count} times: {first}\n");
    }
    assert!(evidence.failures.borrow().is_empty());
    let enough = histories() >= HISTORIES;
    for fact in FACTS.into_iter().filter(|_| enough) {
        assert!(tally.of(fact) > 0, "no {fact} among {:?}", tally.all());
    }
}

/// Random polls hardly ever leave out a record.
#[test]
fn a_poll_that_leaves_out_a_record_is_told() {
    let mut builder = HistoryBuilder::new();
    let send = |value: i64| Value::list(["send".into(), 8.into(), value.into()]);
    let record = |offset: i64| Value::list([offset.into(), (5 + offset).into()]);
    let (sender, poller) = (Value::Int(0), Value::Int(1));
    for (line, offset) in (1..).step_by(2).zip(0..3) {
        let call = Call::new("send", Value::list([send(5 + offset)]));
        builder.call(line, sender.clone(), call).unwrap();
        let sent = Value::list(["send".into(), 8.into(), record(offset)]);
        builder.ret(line + 1, &sender, Value::list([sent])).unwrap();
    }
    let poll = Call::new("poll", Value::Nil);
    builder.call(7, poller.clone(), poll).unwrap();
    let seen = Value::map([(8.into(), Value::list([record(0), record(2)]))]);
    let answer = Value::list([Value::list(["poll".into(), seen])]);
    builder.ret(8, &poller, answer).unwrap();
    let history = builder.finish(Ties::default()).unwrap();
    let mut tally = Tally::default();
    check_one(&KafkaLog, &history, "kafka-log", 0, &mut tally);
    assert!(tally.of("skipped") > 0, "{:?}", tally.all());
}

/// Each append might have got the index, if its own answer did not tell otherwise.
#[test]
fn an_index_that_is_answered_twice_among_thousands_is_told() {
    let mut builder = HistoryBuilder::new();
    let process = Value::Int(0);
    let indices = (0..2_500).chain([1_200]);
    for (line, index) in (1..).step_by(2).zip(indices) {
        let call = Call::new("append", Value::Int(5 + index));
        builder.call(line, process.clone(), call).unwrap();
        builder.ret(line + 1, &process, Value::Int(index)).unwrap();
    }
    let history = builder.finish(Ties::default()).unwrap();
    let list = crate::object_type("list", &Default::default()).unwrap();
    let report = Checker::default().check_recorded(&list, &history).unwrap();
    let Verdict::Violation(violation) = report.verdict else {
        panic!("{:?}", report.verdict)
    };
    assert_eq!(violation.core.ops(), [OpId(1_200), OpId(2_500)]);
    let Claim::AtPlace { conflict, .. } = violation.core.claim() else {
        panic!("{}", violation.core.sentence())
    };
    assert_eq!(*conflict, PlaceConflict::GotTwice);
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
    let violation = in_no_time(&task, 0, |id| format!("{}", id.0));
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

/// The removal that is open may have taken any value, and the insertion must be known. All else is dropped at once.
#[test]
fn a_reduction_starts_from_the_operations_on_the_values_of_a_contradiction() {
    let mut history = TypedHistory::new();
    let mut pairs = Vec::new();
    for value in 0..50 {
        let add = history.call(0, ContainerOp::Add(value.into()));
        history.ret(add, Value::Nil);
        let removal = history.call(0, ContainerOp::Remove);
        history.ret(removal, value.into());
        pairs.push((add, removal));
    }
    let open = history.call(1, ContainerOp::Remove);
    let peek = history.call(0, ContainerOp::Peek);
    history.ret(peek, 3.into());
    let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
    let queue = Container::unbounded(Discipline::Fifo);
    let task = Task::new(&queue, &history, &ids);
    let (add, removal) = pairs[3];
    let contradicting = [removal, peek].map(|id| task.op(id).expect("it is in the task"));
    let start = reduce::start_from(&task, &contradicting);
    let returns = |op: &TaskOp| (op.id, op.ret != NEVER);
    let expected = [(add, true), (removal, true), (open, false), (peek, true)];
    assert_eq!(start.iter().map(returns).collect::<Vec<_>>(), expected);
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
