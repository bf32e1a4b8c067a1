//! Every built-in type, on random small histories: the engines against the reference.
//!
//! `LINPOINT_DIFFERENTIAL` sets the number of histories per type.

use linpoint::generate::Generator;
use linpoint::object::{ObjectType, object_type, types};
use linpoint::spec::Sampler;
use linpoint::{Checker, Config, EngineChoice, History, OpId, Partitioning, Value, Verdict};
use rayon::prelude::*;

use crate::fuzz_bodies::small_params;
use crate::recorded::dump;

/// Histories per type, unless the environment says otherwise.
const HISTORIES: u64 = 100_000;

fn histories_per_type() -> u64 {
    let given = std::env::var("LINPOINT_DIFFERENTIAL").ok();
    given.map_or(HISTORIES, |n| {
        n.parse().expect("LINPOINT_DIFFERENTIAL is a number")
    })
}

/// A small history: linearizable, or with a few results changed; sometimes with pending operations.
pub(crate) fn small_history(object: &ObjectType, seed: u64) -> Option<History> {
    let mut sampler = Sampler::new(seed, None);
    let generator = Generator {
        ops: 2 + sampler.below(6),
        processes: 2 + sampler.below(3),
        producers: None,
        objects: 1,
        seed: seed.wrapping_mul(31),
        pending_per_mille: sampler.pick(&[0, 0, 150, 400]),
        idle_percent: sampler.pick(&[0, 30, 60]),
        universe: sampler.pick(&[None, Some(2), Some(3)]),
    };
    let mut history = generator.linearizable(object).expect("generated");
    for _ in 0..sampler.below(4) {
        if history.is_empty() {
            return None;
        }
        let changed = perturbed(&history, &mut sampler);
        if object.validate(&changed).is_ok() {
            history = changed;
        }
    }
    Some(history)
}

/// One result is exchanged for another one, or for one that the same method gave elsewhere.
pub(crate) fn perturbed(history: &History, sampler: &mut Sampler) -> History {
    let id = OpId(sampler.below(history.len()) as u32);
    let method = history.op(id).method;
    let alike: Vec<Value> = history
        .ops()
        .filter(|op| op.method == method)
        .filter_map(|op| op.result.cloned())
        .collect();
    let result = match sampler.below(4) {
        0 => sampler.pick(history.values()),
        1 => nudged(history.op(id).result.unwrap_or(&Value::Nil), sampler),
        _ if alike.is_empty() => return history.clone(),
        _ => sampler.pick(&alike),
    };
    history.with_result(id, &result)
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
        Value::Int(i) => Value::Int(i + sampler.pick(&[-1, 1])),
        Value::List(items) => Value::list(one_of(items, sampler)),
        Value::Map(pairs) => {
            let (keys, values): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
            Value::map(keys.into_iter().zip(one_of(&values, sampler)))
        }
        Value::Nil | Value::Number(_) | Value::Text(_) => Value::Nil,
    }
}

fn is_linearizable(object: &ObjectType, history: &History, config: Config) -> bool {
    let checker = Checker::new(config);
    let report = checker.check_recorded(object, history);
    match report.expect("certified").verdict {
        Verdict::Linearizable(_) => true,
        Verdict::Violation(violation) => {
            // Small histories leave no excuse.
            if checker.config().cores == linpoint::Cores::Reduced {
                assert!(violation.core.certified && violation.core.minimal && violation.shortest);
            }
            false
        }
        Verdict::Undecided(undecided) => panic!("undecided: {undecided:?}"),
    }
}

#[test]
fn engines_agree_with_brute_on_every_type() {
    let count = histories_per_type();
    types().par_iter().for_each(|info| {
        let object = object_type(info.name, &small_params(info.name)).expect("a built-in type");
        let plain = Config::default().verdicts_only();
        let mut verdicts = [0; 2];
        for seed in 0..count {
            let Some(history) = small_history(&object, seed) else {
                continue;
            };
            let oracle = plain
                .clone()
                .with_engine(EngineChoice::Brute)
                .with_partitioning(Partitioning::ByObject);
            let expected = is_linearizable(&object, &history, oracle);
            verdicts[usize::from(expected)] += 1;
            // Evidence is reduced and certified now and then: it costs many searches.
            let auto = if seed % 16 == 0 {
                Config::default()
            } else {
                plain.clone()
            };
            let search = plain.clone().with_engine(EngineChoice::Search);
            let whole = search.clone().with_partitioning(Partitioning::ByObject);
            let mut configs = vec![("auto", auto), ("search", search), ("search, whole", whole)];
            // Families follow all runs of an object at once, which takes a while.
            if seed % 64 == 0 {
                let hitting = plain.clone().with_engine(EngineChoice::Hitting);
                let guided = plain.clone().with_engine(EngineChoice::Guided);
                configs.extend([("hitting", hitting), ("guided", guided)]);
            }
            for (name, config) in configs {
                let found = is_linearizable(&object, &history, config);
                assert_eq!(
                    found,
                    expected,
                    "{} ({name}), seed {seed}:\n{}",
                    info.name,
                    dump(&history)
                );
            }
        }
        let [no, yes] = verdicts;
        assert!(
            yes > count / 10,
            "{}: too few linearizable histories, {yes}",
            info.name
        );
        assert!(no > count / 100, "{}: too few violations, {no}", info.name);
    });
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
                pending_per_mille: sampler.pick(&[0, 0, 20]),
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
            let expected = is_linearizable(&object, &history, apart);
            let found = is_linearizable(&object, &history, together);
            assert_eq!(found, expected, "{name}, seed {seed}:\n{}", dump(&history));
            verdicts[usize::from(expected)] += 1;
        }
        assert!(
            verdicts.iter().all(|&verdicts| verdicts > count / 20),
            "{name}: {verdicts:?}"
        );
    });
}
