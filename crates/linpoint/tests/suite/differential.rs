//! Every built-in type, on random small histories: the engines against the reference, with evidence and without.
//!
//! `LINPOINT_DIFFERENTIAL` sets the number of histories per type.

use linpoint::generate::Generator;
use linpoint::object::{ObjectType, TypeInfo, object_type, types};
use linpoint::spec::{Params, Sampler};
use linpoint::{
    Call, Checker, Config, Cores, EngineChoice, History, HistoryBuilder, OpId, Operation,
    Partitioning, Ties, Value, Verdict,
};
use rayon::prelude::*;

use crate::calls::{Callable, confusing_value};
use crate::fuzz_bodies::small_params;
use crate::recorded::{check, dump, has_full_evidence, is_linearizable};
use crate::shortcuts;

/// Histories per type, unless the environment says otherwise.
const HISTORIES: u64 = 100_000;

pub(crate) fn histories_per_type() -> u64 {
    let given = std::env::var("LINPOINT_DIFFERENTIAL").ok();
    given.map_or(HISTORIES, |n| {
        n.parse().expect("LINPOINT_DIFFERENTIAL is a number")
    })
}

/// A built-in type with small parameters, in a few variants.
pub(crate) fn variants(info: &'static TypeInfo) -> Vec<Callable> {
    let mut params = vec![small_params(info.name)];
    let with = |name: &str, value: Value| {
        let mut params = small_params(info.name);
        params.insert(name.to_owned(), value);
        params
    };
    for (name, _) in info.params {
        match (*name, info.name) {
            ("initial", "bank") => {
                let balances = Value::list([0, 3].map(Value::Int));
                params.push([("initial".to_owned(), balances)].into());
                // The balances are not known.
                params.push(Params::new());
            }
            ("initial", "blocking-counter") => params.push(with(name, Value::Int(2))),
            ("initial", "counter") => params.push(with(name, Value::Int(-1))),
            ("initial", _) => {
                let values = [Value::Int(0), "".into(), "a".into(), Value::Bool(false)];
                params.extend(values.map(|value| with(name, value)));
            }
            ("allow_negative", _) => params.push(with(name, Value::Bool(true))),
            _ => {}
        }
    }
    let object = |params| object_type(info.name, &params).expect("a built-in type");
    params
        .into_iter()
        .map(|params| Callable::new(info, object(params)))
        .collect()
}

/// A small history of calls that clients make: linearizable, or with a few results changed; sometimes with pending
/// operations.
pub(crate) fn small_history(object: &ObjectType, seed: u64) -> Option<History> {
    let mut sampler = Sampler::new(seed, None);
    let generator = Generator {
        ops: 2 + sampler.below(6),
        processes: 2 + sampler.below(3),
        producers: None,
        objects: 1,
        seed: seed.wrapping_mul(31),
        pending_per_million: sampler.pick(&[0, 0, 150_000, 400_000]),
        idle_percent: sampler.pick(&[0, 30, 60]),
        universe: sampler.pick(&[None, Some(2), Some(3)]),
    };
    let history = generator.linearizable(object).expect("generated");
    perturbed_a_few_times(object, history, &mut sampler)
}

/// The same, of any calls and values.
pub(crate) fn any_small_history(callable: &Callable, seed: u64) -> Option<History> {
    let mut sampler = Sampler::new(!seed, None);
    let history = callable.history(seed, &mut |_| {});
    // Names of accounts that cannot be told apart, such as 1 and "1", are refused.
    let history = Some(history).filter(|history| callable.object.validate(history).is_ok())?;
    perturbed_a_few_times(&callable.object, history, &mut sampler)
}

/// One of the two, of one of the variants of a type: clients and catalogue in turns, each with all variants.
pub(crate) fn history_in_turns(variants: &[Callable], seed: u64) -> Option<(&Callable, History)> {
    let callable = &variants[(seed / 2) as usize % variants.len()];
    let history = match seed % 2 {
        0 => small_history(&callable.object, seed)?,
        _ => any_small_history(callable, seed)?,
    };
    Some((callable, history))
}

fn perturbed_a_few_times(
    object: &ObjectType,
    mut history: History,
    sampler: &mut Sampler,
) -> Option<History> {
    for _ in 0..sampler.below(4) {
        if history.is_empty() {
            return None;
        }
        let changed = perturbed(&history, sampler);
        if object.validate(&changed).is_ok() {
            history = changed;
        }
    }
    Some(history)
}

/// One result is exchanged for another one, or for one that the same method gave elsewhere; or two operations are exchanged,
/// without which an object that answers nothing would have no violations.
pub(crate) fn perturbed(history: &History, sampler: &mut Sampler) -> History {
    let id = OpId(sampler.below(history.len()) as u32);
    let method = history.op(id).method;
    let alike: Vec<Value> = history
        .ops()
        .filter(|op| op.method == method)
        .filter_map(|op| op.result.cloned())
        .collect();
    let own = history.op(id).result.unwrap_or(&Value::Nil);
    let result = match sampler.below(8) {
        7 => return with_two_exchanged(history, sampler),
        0 => sampler.pick(history.values()),
        1 => confusing_value(sampler),
        2 => nudged(own, sampler),
        3 => with_one_exchanged(own, history.values(), sampler),
        _ if alike.is_empty() => return history.clone(),
        _ => sampler.pick(&alike),
    };
    history.with_result(id, &result)
}

/// Two operations trade places: each is called and returns when the other did.
fn with_two_exchanged(history: &History, sampler: &mut Sampler) -> History {
    let mut places: Vec<usize> = (0..history.len()).collect();
    places.swap(sampler.below(history.len()), sampler.below(history.len()));
    let ops: Vec<_> = history.ops().collect();
    let mut builder = HistoryBuilder::new();
    for (at, &place) in ops.iter().zip(&places) {
        let what = &ops[place];
        let operation = Operation {
            process: Some(at.process.clone()),
            call: Call::new(what.method, what.argument.clone()),
            result: what.result.cloned().unwrap_or_default(),
            called: at.call.into(),
            returned: at.result.map(|_| at.ret.into()),
        };
        builder.operation(0, operation).expect("well formed");
    }
    builder.finish(Ties::default()).expect("well formed")
}

/// A list with one item exchanged for one of `values`.
fn with_one_exchanged(list: &Value, values: &[Value], sampler: &mut Sampler) -> Value {
    let mut items = list.as_list().unwrap_or_default().to_vec();
    if items.is_empty() {
        return list.clone();
    }
    let chosen = sampler.below(items.len());
    items[chosen] = sampler.pick(values);
    Value::list(items)
}

/// A value of the same form with one part changed a little.
fn nudged(value: &Value, sampler: &mut Sampler) -> Value {
    let one_of = |items: &[Value], sampler: &mut Sampler| {
        let mut items = items.to_vec();
        if !items.is_empty() {
            let chosen = sampler.below(items.len());
            items[chosen] = match &items[chosen] {
                Value::Nil => Value::Int(1),
                item => nudged(item, sampler),
            };
        }
        items
    };
    match value {
        Value::Bool(b) => Value::Bool(!b),
        Value::Int(i) => Value::Int(i.wrapping_add(sampler.pick(&[-1, 1]))),
        Value::List(items) => Value::list(one_of(items, sampler)),
        Value::Map(pairs) => {
            let (keys, values): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
            Value::map(keys.into_iter().zip(one_of(&values, sampler)))
        }
        Value::Nil | Value::Number(_) | Value::Text(_) => Value::Nil,
    }
}

/// Whether a checker may leave a small history undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecided {
    /// Never: it has no limits, and its engine decides every history.
    Fails,
    /// Yes: its engine applies to some histories only.
    Passes,
}

/// A checker whose verdicts are compared with those of the reference.
pub(crate) struct Judge {
    pub(crate) name: String,
    pub(crate) checker: Checker,
    pub(crate) undecided: Undecided,
}

impl Judge {
    /// A judge that must decide every small history.
    pub(crate) fn new(name: impl Into<String>, checker: Checker) -> Self {
        Judge {
            name: name.into(),
            checker,
            undecided: Undecided::Fails,
        }
    }

    /// Returns the verdict, whose evidence must be complete; `None` if it is undecided.
    pub(crate) fn verdict(&self, object: &ObjectType, history: &History) -> Option<bool> {
        match check(object, history, &self.checker).verdict {
            Verdict::Linearizable(_) => Some(true),
            Verdict::Violation(violation) => {
                let is_complete =
                    self.checker.config().cores != Cores::Reduced || has_full_evidence(&violation);
                assert!(is_complete, "{violation:?}\n{}", dump(history));
                Some(false)
            }
            Verdict::Undecided(_) => None,
        }
    }

    /// Fails unless the verdict on a small history is `expected`, or is undecided where it may be.
    pub(crate) fn compare(
        &self,
        object: &ObjectType,
        history: &History,
        seed: u64,
        expected: bool,
    ) {
        let name = &self.name;
        match self.verdict(object, history) {
            Some(found) => assert_eq!(found, expected, "{name}, seed {seed}:\n{}", dump(history)),
            None => assert_eq!(
                self.undecided,
                Undecided::Passes,
                "{name} is undecided, seed {seed}:\n{}",
                dump(history)
            ),
        }
    }
}

/// The verdict of the reference.
pub(crate) fn expected(object: &ObjectType, history: &History) -> bool {
    let oracle = Config::default()
        .verdicts_only()
        .with_engine(EngineChoice::Brute)
        .with_partitioning(Partitioning::ByObject);
    is_linearizable(object, history, &Checker::new(oracle))
}

/// All checkers that a history is judged by: with evidence and without always, and some of the others by its seed.
struct Judges {
    always: Vec<Judge>,
    evidence: Judge,
    searches: Vec<Judge>,
    others: Vec<Judge>,
}

impl Judges {
    fn new() -> Self {
        let plain = Config::default().verdicts_only();
        let named = |name: &str, config: Config| Judge::new(name, Checker::new(config));
        let search = plain.clone().with_engine(EngineChoice::Search);
        let whole = |config: &Config| config.clone().with_partitioning(Partitioning::ByObject);
        Judges {
            always: vec![
                named("auto", plain.clone()),
                named("auto, without witnesses", plain.clone().without_witnesses()),
            ],
            evidence: named("auto, with evidence", Config::default()),
            searches: vec![
                named("search, whole", whole(&search)),
                named("search", search),
                named("auto, whole", whole(&plain)),
            ],
            others: shortcuts::judges(&plain),
        }
    }

    /// Compares the verdicts of some of the judges. Evidence costs many searches, so it is asked for on few histories.
    fn compare(&self, callable: &Callable, history: &History, seed: u64, expected: bool) {
        let mut chosen: Vec<&Judge> = self.always.iter().collect();
        // The choice is independent of how the history was made.
        let number = (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        chosen.push(&self.searches[number % self.searches.len()]);
        chosen.push(&self.others[number % self.others.len()]);
        if (number / 64).is_multiple_of(8) {
            chosen.push(&self.evidence);
        }
        for judge in chosen {
            judge.compare(&callable.object, history, seed, expected);
        }
    }
}

/// Histories of one type that are judged one after the other.
const SHARE: u64 = 1000;

/// Judges the histories of each type with these seeds: as many linearizable ones and others as were found.
pub(crate) fn judge_shares(count: u64, judge: impl Fn(&[Callable], u64) -> Option<bool> + Sync) {
    let kinds: Vec<Vec<Callable>> = types().iter().map(variants).collect();
    let shares: Vec<(usize, u64)> = (0..count.div_ceil(SHARE))
        .flat_map(|share| (0..kinds.len()).map(move |kind| (kind, share * SHARE)))
        .collect();
    let verdicts: Vec<(usize, [u64; 2])> = shares
        .into_par_iter()
        .map(|(kind, first)| {
            let mut verdicts = [0; 2];
            for seed in first..count.min(first + SHARE) {
                if let Some(verdict) = judge(&kinds[kind], seed) {
                    verdicts[usize::from(verdict)] += 1;
                }
            }
            (kind, verdicts)
        })
        .collect();
    for (kind, info) in types().iter().enumerate() {
        let of_kind = || verdicts.iter().filter(|(of, _)| *of == kind);
        let no: u64 = of_kind().map(|(_, [no, _])| no).sum();
        let yes: u64 = of_kind().map(|(_, [_, yes])| yes).sum();
        let name = info.name;
        assert!(
            yes >= count / 10,
            "{name}: too few linearizable histories, {yes}"
        );
        assert!(no >= count / 100, "{name}: too few violations, {no}");
    }
}

#[test]
fn engines_agree_with_brute_on_every_type() {
    let judges = Judges::new();
    judge_shares(histories_per_type(), |variants, seed| {
        let (callable, history) = history_in_turns(variants, seed)?;
        let expected = expected(&callable.object, &history);
        judges.compare(callable, &history, seed, expected);
        Some(expected)
    });
}

/// What the catalogue lists and random histories never call would never be tested.
#[test]
fn every_method_is_called() {
    const SEEDS: u64 = 2000;
    for info in types() {
        for callable in variants(info) {
            let mut calls = vec![0; callable.templates.len()];
            for seed in 0..SEEDS {
                callable.history(seed, &mut |template| calls[template] += 1);
            }
            for (template, calls) in callable.templates.iter().zip(calls) {
                assert!(
                    calls >= 10,
                    "{}: {} calls of {}",
                    info.name,
                    calls,
                    template.text
                );
            }
        }
    }
}

/// A method that answers nothing is done when it returns; a result that says otherwise must not be taken for that.
#[test]
fn no_failure_is_taken_for_done() {
    let mut refused = 0;
    for info in types() {
        let callable = &variants(info)[0];
        let answers = info.methods.iter().flat_map(|method| {
            let calls = callable.templates.iter();
            let of_method = calls.filter(|template| method.call.contains(template.text));
            of_method.map(|template| (template.method, method.answers))
        });
        let nothing: Vec<&str> = answers
            .filter(|(_, answers)| answers.split([';', ',']).next() == Some("nil"))
            .map(|(method, _)| method)
            .collect();
        for seed in 0..200 {
            let history = callable.history(seed, &mut |_| {});
            for op in history.ops().filter(|op| nothing.contains(&op.method)) {
                for failure in [Value::Bool(false), "error: timeout".into(), Value::Int(-7)] {
                    // An echo of the argument says nothing.
                    let parts = op.argument.as_list().unwrap_or_default();
                    if *op.argument == failure || parts.contains(&failure) {
                        continue;
                    }
                    let is_taken =
                        callable.takes(op.process, op.method, op.argument, Some(&failure));
                    let (name, text) = (info.name, op.call_text());
                    assert!(!is_taken, "{name}: {text} → {failure} is taken for done");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 1000, "only {refused} calls were looked at");
}

/// Too wide for the reference: many operations on many keys, checked at once and key by key.
#[test]
fn keys_together_agree_with_keys_apart() {
    let count = histories_per_type() / 50;
    ["kv", "set"].par_iter().for_each(|name| {
        let object = object_type(name, &small_params(name)).expect("a built-in type");
        let mut verdicts = [0; 2];
        for seed in 0..count {
            let mut sampler = Sampler::new(seed, None);
            let generator = Generator {
                ops: 20 + sampler.below(100),
                processes: 2 + sampler.below(15),
                producers: None,
                objects: 1,
                seed: seed.wrapping_mul(31),
                pending_per_million: sampler.pick(&[0, 0, 20_000]),
                idle_percent: sampler.pick(&[0, 30]),
                universe: sampler.pick(&[None, Some(2), Some(5)]),
            };
            let mut history = generator.linearizable(&object).expect("generated");
            for _ in 0..sampler.below(4) {
                let changed = perturbed(&history, &mut sampler);
                if object.validate(&changed).is_ok() {
                    history = changed;
                }
            }
            let together = Config::default()
                .verdicts_only()
                .with_partitioning(Partitioning::ByObject);
            let apart = together.clone().with_partitioning(Partitioning::ByKey);
            let expected = is_linearizable(&object, &history, &Checker::new(apart));
            let found = is_linearizable(&object, &history, &Checker::new(together));
            assert_eq!(found, expected, "{name}, seed {seed}:\n{}", dump(&history));
            verdicts[usize::from(expected)] += 1;
        }
        assert!(
            verdicts.iter().all(|&verdicts| verdicts > count / 20),
            "{name}: {verdicts:?}"
        );
    });
}
