//! Queues and stacks whose values repeat, on random small histories: the search by itself, and the portfolio, against the
//! reference.
//!
//! `LINPOINT_MONITORS` sets the number of histories per type.

use std::time::Duration;

use linpoint::generate::Generator;
use linpoint::object::{ObjectType, object_type};
use linpoint::spec::{Container, ContainerOp, Discipline, Params, Sampler};
use linpoint::{
    Call, Checker, Config, Cores, EngineChoice, History, HistoryBuilder, Operation, Ties,
    TypedHistory, Value, Verdict,
};
use rayon::prelude::*;

use crate::recorded::{check, decided, dump, has_full_evidence, is_linearizable};
use crate::{differential, monitors};

/// Histories per type, unless the environment says otherwise.
const HISTORIES: u64 = 20_000;

/// How many values there are; distinct ones now and then.
const UNIVERSES: &[Option<i64>] = &[Some(1), Some(2), Some(2), Some(3), None];

/// Two kinds in turn: sequential runs drawn out in time and changed, and simulated concurrent runs with wrong results.
fn small_history(object: &ObjectType, seed: u64) -> Option<History> {
    if seed.is_multiple_of(4) {
        differential::small_history(object, seed)
    } else {
        monitors::small_history(object, &[], UNIVERSES, seed)
    }
}

#[test]
fn repeated_values_agree_with_brute() {
    let count = monitors::histories_per_case(HISTORIES);
    ["queue", "stack"].iter().for_each(|name| {
        let object = object_type(name, &Params::new()).expect("a built-in type");
        let plain = Config::default().verdicts_only();
        let oracle = Checker::new(plain.clone().with_engine(EngineChoice::Brute));
        let search = Checker::new(plain.clone().with_engine(EngineChoice::Search));
        let cores = Checker::new(Config::default().with_engine(EngineChoice::Search));
        let auto = Checker::new(plain);
        let judge = |seed: u64| -> Option<bool> {
            let history = small_history(&object, seed)?;
            let context = |what: &str| format!("{name}, {what}, seed {seed}\n{}", dump(&history));
            let decide = |checker: &Checker| {
                let verdict = check(&object, &history, checker).verdict;
                if let Verdict::Violation(violation) = &verdict
                    && checker.config().cores == Cores::Reduced
                {
                    assert!(has_full_evidence(violation), "{}", context("cores"));
                }
                decided(&verdict)
            };
            let expected = decide(&oracle);
            let found = decide(&search);
            assert_eq!(found, expected, "{}", context("search"));
            assert_eq!(decide(&auto), expected, "{}", context("auto"));
            // Evidence costs many searches.
            if !expected && seed % 16 < 4 {
                decide(&cores);
            }
            Some(expected)
        };
        let verdicts: Vec<bool> = (0..count).into_par_iter().filter_map(judge).collect();
        let yes = verdicts.iter().filter(|&&verdict| verdict).count() as u64;
        let no = verdicts.len() as u64 - yes;
        println!("{name}: {yes} linearizable, {no} not");
        assert!(yes > count / 4 && no > count / 10, "{yes} and {no}");
    });
}

/// The same history after an insertion, a `size` and the removal of that value. The verdict stays the same, but only the
/// search that keeps the content of the queue applies.
fn after_a_look_at_the_size(history: &History) -> History {
    let mut builder = HistoryBuilder::new();
    let before = [
        ("enq", Value::from(7), Value::Nil),
        ("size", Value::Nil, Value::from(1)),
        ("deq", Value::Nil, Value::from(7)),
    ];
    let moments = 2 * before.len() as i64;
    for (i, (method, argument, result)) in (0..).zip(before) {
        let operation = Operation {
            process: Some(Value::from("first")),
            call: Call::new(method, argument),
            result,
            called: 2 * i,
            returned: Some(2 * i + 1),
        };
        builder.operation(0, operation).expect("well formed");
    }
    for op in history.ops() {
        let operation = Operation {
            process: Some(op.process.clone()),
            call: Call::new(op.method, op.argument.clone()),
            result: op.result.cloned().unwrap_or_default(),
            called: i64::from(op.call) + moments,
            returned: op.result.map(|_| i64::from(op.ret) + moments),
        };
        builder.operation(0, operation).expect("well formed");
    }
    builder.finish(Ties::default()).expect("well formed")
}

/// Too many operations for the reference: the search at both ends against the one that keeps what is in the queue.
#[test]
fn both_searches_of_queues_agree() {
    let count = monitors::histories_per_case(HISTORIES) / 4;
    let object = object_type("queue", &Params::new()).expect("a built-in type");
    let config = Config::default().verdicts_only();
    let search = Checker::new(config.with_engine(EngineChoice::Search));
    let judge = |seed: u64| -> bool {
        let mut sampler = Sampler::new(seed, None);
        let generator = Generator {
            ops: 10 + sampler.below(30),
            processes: 2 + sampler.below(4),
            producers: sampler.pick(&[None, Some(1)]),
            seed: seed.wrapping_mul(31),
            pending_per_million: sampler.pick(&[0, 0, 50_000]),
            universe: sampler.pick(&[Some(1), Some(2), Some(3)]),
            ..Generator::default()
        };
        let mut history = generator.linearizable(&object).expect("generated");
        for _ in 0..sampler.below(3) {
            let changed = differential::perturbed(&history, &mut sampler);
            if object.validate(&changed).is_ok() {
                history = changed;
            }
        }
        let found = is_linearizable(&object, &history, &search);
        let expected = is_linearizable(&object, &after_a_look_at_the_size(&history), &search);
        assert_eq!(found, expected, "seed {seed}\n{}", dump(&history));
        found
    };
    let verdicts: Vec<bool> = (0..count).into_par_iter().map(judge).collect();
    let yes = verdicts.iter().filter(|&&verdict| verdict).count() as u64;
    println!("queue: {yes} linearizable, {} not", count - yes);
    assert!(
        yes > count / 4 && count - yes > count / 10,
        "{yes} of {count}"
    );
}

/// A value that was seen before any process inserted it, beside so many ways to tell equal values apart that they cannot
/// all be tried.
#[test]
fn what_is_seen_too_early_is_found_at_once() {
    let mut history = TypedHistory::new();
    let mut run = |op: ContainerOp, ret: Value| {
        let id = history.call(0, op);
        history.ret(id, ret);
    };
    let value = |n: i64| Value::from(n);
    (0..2).for_each(|_| run(ContainerOp::Add(value(1)), Value::Nil));
    (0..60).for_each(|_| run(ContainerOp::Peek, value(1)));
    run(ContainerOp::Remove, value(2));
    (0..2).for_each(|_| run(ContainerOp::Add(value(2)), Value::Nil));
    let config = Config::default().with_timeout(Duration::from_secs(60));
    for discipline in [Discipline::Fifo, Discipline::Lifo, Discipline::Any] {
        let container = Container::unbounded(discipline);
        let report = Checker::new(config.clone()).check(&container, &history);
        let verdict = report.expect("certified").verdict;
        assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
    }
}
