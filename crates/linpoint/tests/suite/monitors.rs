//! The objects that monitors decide, on random small histories: verdict, witness and core against the reference.
//!
//! `LINPOINT_MONITORS` sets the number of histories per case.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use linpoint::object::{ObjectType, object_type};
use linpoint::spec::{Params, Sampler};
use linpoint::{
    Call, Checker, Config, EngineChoice, History, HistoryBuilder, Operation, Ties, Value, Verdict,
};
use rayon::prelude::*;

use crate::recorded::{check, decided, dump, has_full_evidence, is_linearizable};

/// Histories per case, unless the environment says otherwise.
const HISTORIES: u64 = 5_000;

/// A type, the methods that are called, and how many of 100 histories a monitor must decide at least.
struct Case {
    name: &'static str,
    methods: &'static [&'static str],
    monitored: u64,
}

const CASES: &[Case] = &[
    case("queue", &[], 60),
    case("stack", &[], 60),
    case("priority-queue", &[], 60),
    case("min-priority-queue", &[], 60),
    case("bag", &[], 60),
    case("set", &[], 60),
    case("mutex", &[], 60),
    case("register", &[], 20),
    case("kv", &["get", "put"], 10),
    case("kv", &["get", "cas", "delete"], 1),
    case("counter", &["inc", "get"], 60),
    case("counter", &["fetch_add"], 60),
    case("counter", &[], 1),
    case("semaphore", &["acquire", "release"], 60),
    case("semaphore", &[], 10),
];

/// How many values there are.
const UNIVERSES: &[Option<i64>] = &[None, None, None, Some(2), Some(4)];

const fn case(name: &'static str, methods: &'static [&'static str], monitored: u64) -> Case {
    Case {
        name,
        methods,
        monitored,
    }
}

/// As many as the environment says.
pub(crate) fn histories_per_case(default: u64) -> u64 {
    let given = std::env::var("LINPOINT_MONITORS").ok();
    given.map_or(default, |n| n.parse().unwrap())
}

/// One operation on its way into a history.
struct Draft<'a> {
    method: &'a str,
    argument: Value,
    result: Value,
    call: i64,
    ret: Option<i64>,
}

/// A history of up to nine operations: a sequential run with its operations drawn out in time, then perhaps changed. With
/// ties and pending operations; values are drawn from one of the universes, or distinct where that is `None`.
pub(crate) fn small_history(
    object: &ObjectType,
    methods: &[&str],
    universes: &[Option<i64>],
    seed: u64,
) -> Option<History> {
    let mut sampler = Sampler::new(seed, None);
    let universe = sampler.pick(universes);
    let mut values = Sampler::new(seed ^ 0xA5, universe);
    let mut drafts = sequential_run(object, methods, &mut sampler, &mut values);
    let lasts = sampler.pick(&[1, 3, 6, 12]);
    for (i, draft) in (0i64..).zip(&mut drafts) {
        draft.call = 2 * i - sampler.below(lasts) as i64;
        draft.ret = Some(2 * i + 1 + sampler.below(lasts) as i64);
    }
    let pending = sampler.pick(&[0, 0, 10, 40]);
    for draft in &mut drafts {
        if sampler.percent(pending) {
            draft.ret = None;
        }
    }
    for _ in 0..sampler.below(6) {
        change(&mut drafts, &mut sampler);
    }
    let mut builder = HistoryBuilder::new();
    for (process, draft) in (0i64..).zip(drafts) {
        let operation = Operation {
            process: Some(Value::from(process)),
            call: Call::new(draft.method, draft.argument),
            result: draft.result,
            called: draft.call,
            returned: draft.ret,
        };
        builder.operation(0, operation).unwrap();
    }
    let ties = sampler.pick(&[Ties::CallFirst, Ties::ReturnFirst]);
    let history = builder.finish(ties).unwrap();
    object.validate(&history).is_ok().then_some(history)
}

fn sequential_run<'a>(
    object: &'a ObjectType,
    methods: &[&str],
    sampler: &mut Sampler,
    values: &mut Sampler,
) -> Vec<Draft<'a>> {
    let mut simulation = object.simulate();
    let mut drafts = Vec::new();
    let ops = 2 + sampler.below(8);
    for _ in 0..10 * ops {
        if drafts.len() == ops {
            break;
        }
        let (method, argument) = simulation.sample(0, values);
        if !methods.is_empty() && !methods.contains(&method) {
            continue;
        }
        if let Some(result) = simulation.apply(&Value::Nil, method, &argument, values) {
            drafts.push(Draft {
                method,
                argument,
                result,
                call: 0,
                ret: None,
            });
        }
    }
    drafts
}

/// Exchanges times or results, or draws out an operation.
fn change(drafts: &mut [Draft<'_>], sampler: &mut Sampler) {
    if drafts.len() < 2 {
        return;
    }
    let (a, b) = (sampler.below(drafts.len()), sampler.below(drafts.len()));
    if a == b {
        return;
    }
    let [first, second] = drafts.get_disjoint_mut([a, b]).unwrap();
    match sampler.below(4) {
        0 => {
            std::mem::swap(&mut first.call, &mut second.call);
            std::mem::swap(&mut first.ret, &mut second.ret);
        }
        1 if first.method == second.method => std::mem::swap(&mut first.result, &mut second.result),
        2 => first.result = second.result.clone(),
        _ => first.ret = first.ret.map(|ret| ret + sampler.below(6) as i64),
    }
}

#[test]
fn monitors_agree_with_brute() {
    let count = histories_per_case(HISTORIES);
    CASES.par_iter().for_each(|case| {
        let object = object_type(case.name, &Params::new()).unwrap();
        let oracle = Checker::new(
            Config::default()
                .verdicts_only()
                .with_engine(EngineChoice::Brute),
        );
        let auto = Checker::default();
        let fast = Checker::new(Config::default().verdicts_only().without_witnesses());
        let (mut verdicts, mut monitored) = ([0u64; 2], 0u64);
        for seed in 0..count {
            let Some(history) = small_history(&object, case.methods, UNIVERSES, seed) else {
                continue;
            };
            let expected = is_linearizable(&object, &history, &oracle);
            verdicts[usize::from(expected)] += 1;
            // Its witness was replayed, or it would have been an error.
            let report = check(&object, &history, &auto);
            let context = || format!("{}, seed {seed}\n{}", case.name, dump(&history));
            assert_eq!(decided(&report.verdict), expected, "{}", context());
            assert_eq!(
                is_linearizable(&object, &history, &fast),
                expected,
                "{}",
                context()
            );
            if let Verdict::Violation(violation) = &report.verdict {
                assert!(has_full_evidence(violation), "{}", context());
            }
            monitored += u64::from(report.parts.iter().all(|part| part.engine == "monitor"));
        }
        let [no, yes] = verdicts;
        let share = 100 * monitored / (no + yes).max(1);
        println!(
            "{} {:?}: {yes} linearizable, {no} not; {share} % by monitors",
            case.name, case.methods
        );
        assert!(
            yes > count / 10 && no > count / 100,
            "{}: {yes} and {no}",
            case.name
        );
        assert!(
            share >= case.monitored,
            "{} {:?}: {share} % by monitors",
            case.name,
            case.methods
        );
    });
}
