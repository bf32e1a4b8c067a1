//! Random small histories of any type, with some results changed.

use crate::engine::Task;
use crate::history::{History, Partitioning, TypedHistory, partition};
use crate::spec::{CallView, Sampler, Simulated};
use crate::value::Value;
use crate::{Call, HistoryBuilder, Ties};

/// A short history of clients of `object`, the type with this name.
pub(super) fn random<S: Simulated>(name: &str, object: &S, seed: u64) -> Option<History> {
    clients(name, object, seed, &|sampler| 3 + sampler.below(6), 5)
}

/// Calls `each` with the parts of a history for each seed, of clients that make so many calls.
pub(crate) fn for_each_part<S: Simulated>(
    (name, object): (&str, &S),
    seeds: std::ops::Range<u64>,
    (calls, changed): (usize, usize),
    each: &mut dyn FnMut(&Task<'_, S>),
) {
    for seed in seeds {
        let Some(history) = clients(name, object, seed, &|_| calls, changed) else {
            continue;
        };
        let Ok(typed) = TypedHistory::decode(object, &history) else {
            continue;
        };
        for part in partition(object, &typed, Partitioning::ByObject) {
            each(&Task::new(object, &typed, &part.ops));
        }
    }
}

/// A history of clients of `object`, the type with this name, that make so many calls. Of `changed` results, one is changed.
/// It depends on the seed how many values there are, and whether the clients make calls that they make rarely.
fn clients<S: Simulated>(
    name: &str,
    object: &S,
    seed: u64,
    calls: &dyn Fn(&mut Sampler) -> usize,
    changed: usize,
) -> Option<History> {
    let universe = [Some(3), Some(2), None][(seed % 3) as usize];
    let mut sampler = Sampler::new(seed, universe);
    let processes = 2 + sampler.below(3);
    let mut builder = HistoryBuilder::new();
    let mut state = object.init();
    // Open calls by process: the operation, and its result once it took effect.
    let mut open: Vec<Option<(S::Op, Option<Value>)>> = vec![None; processes];
    let mut calls = calls(&mut sampler);
    for line in 1..=200 {
        let process = sampler.below(processes);
        let name_of_process = Value::Int(process as i64);
        match open[process].take() {
            None if calls > 0 => {
                calls -= 1;
                let (method, argument) = object.sample(&state, process as u32, &mut sampler);
                let sampled = match (name, method) {
                    // Counts that only rise say more.
                    ("counter", "dec") if seed.is_multiple_of(2) => ("fetch_add", Value::Int(1)),
                    _ => (method, with_few_keys(name, argument)),
                };
                let is_rare = seed.is_multiple_of(4) && sampler.percent(30);
                let (method, argument) = match is_rare.then(|| rare_call(&mut sampler)) {
                    Some(rare) if decode(object, &name_of_process, &rare).is_some() => rare,
                    _ => sampled,
                };
                let op = decode(object, &name_of_process, &(method, argument.clone()))?;
                let call = Call::new(method, argument);
                builder.call(line, name_of_process, call).ok()?;
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
                // Most changes of a deeply nested answer make it none, and a poll may have most that are left.
                let (attempts, changed) = match name {
                    "kafka-log" => (12, changed.div_ceil(3)),
                    _ => (1, changed),
                };
                let attempts = match sampler.below(changed) {
                    0 => attempts,
                    _ => 0,
                };
                let changed = (0..attempts).find_map(|_| {
                    let changed = nudged(&result, &mut sampler);
                    let is_result = object.decode_result(&op, &changed).is_ok();
                    is_result.then_some(changed)
                });
                let result = changed.unwrap_or(result);
                builder.ret(line, &name_of_process, result).ok()?;
            }
        }
    }
    builder.finish(Ties::default()).ok()
}

fn decode<S: Simulated>(
    object: &S,
    process: &Value,
    (method, argument): &(&str, Value),
) -> Option<S::Op> {
    let call = CallView {
        process,
        method,
        argument,
        hint: None,
    };
    object.decode(call).ok()
}

/// The argument with one of two keys, so that operations are on the same key often.
fn with_few_keys(name: &str, argument: Value) -> Value {
    let few = |key: &Value| match key {
        Value::Int(key) => Value::Int(key % 2),
        other => other.clone(),
    };
    let with_key = |argument: &Value, place: usize| match argument.as_list() {
        Some(items) => {
            let mut items = items.to_vec();
            items[place] = few(&items[place]);
            Value::list(items)
        }
        None => few(argument),
    };
    match name {
        "set" | "counter" => few(&argument),
        "kv" => with_key(&argument, 0),
        "multi-register" => {
            let steps = argument.as_list().unwrap_or_default();
            Value::list(steps.iter().map(|step| with_key(step, 1)))
        }
        _ => argument,
    }
}

/// A call that clients rarely make. Not every object has the method.
fn rare_call(sampler: &mut Sampler) -> (&'static str, Value) {
    let key = Value::Int(sampler.below(2) as i64);
    let text = sampler.pick(&["0", "1"]);
    sampler.pick(&[
        ("size", Value::Nil),
        ("read", Value::Nil),
        ("append", Value::list([key.clone(), Value::from(text)])),
        ("add_and_get", Value::Int(2)),
        ("inc_and_get", Value::Nil),
        ("write", Value::from(text)),
        ("contains", key),
    ])
}

/// Another value like this one.
fn nudged(value: &Value, sampler: &mut Sampler) -> Value {
    if sampler.below(8) == 0 {
        return Value::Nil;
    }
    match value {
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Int(number) if sampler.below(8) == 0 => number.to_string().into(),
        Value::Int(number) => Value::Int(number + sampler.pick(&[-1, 1])),
        Value::Nil => Value::Int(sampler.below(3) as i64),
        Value::List(items) => {
            let mut items = items.to_vec();
            if items.is_empty() || sampler.below(4) == 0 {
                items.push(Value::Int(sampler.below(2) as i64));
            } else if sampler.below(3) == 0 {
                items.remove(sampler.below(items.len()));
            } else {
                let chosen = sampler.below(items.len());
                items[chosen] = nudged(&items[chosen], sampler);
            }
            Value::list(items)
        }
        Value::Map(pairs) if !pairs.is_empty() => {
            let mut pairs = pairs.to_vec();
            let chosen = sampler.below(pairs.len());
            pairs[chosen].1 = nudged(&pairs[chosen].1, sampler);
            Value::map(pairs)
        }
        Value::Text(text) => match (text.as_str(), text.as_str().parse::<i64>()) {
            ("true", _) => "false".into(),
            ("false", _) => "true".into(),
            (_, Ok(number)) => (number + 1).to_string().into(),
            _ => sampler.pick(&["null", "0", "1"]).into(),
        },
        Value::Map(fields) => {
            let mut fields = fields.to_vec();
            if fields.is_empty() {
                return value.clone();
            }
            let chosen = sampler.below(fields.len());
            match sampler.below(3) {
                0 => drop(fields.remove(chosen)),
                _ => fields[chosen].1 = nudged(&fields[chosen].1, sampler),
            }
            Value::map(fields)
        }
        other => other.clone(),
    }
}
