//! Small random histories, right and wrong ones, on which two ways to decide can be compared.

use linpoint::generate::Generator;
use linpoint::object::ObjectType;
use linpoint::spec::Sampler;
use linpoint::{Call, Error, History, HistoryBuilder, OpId, Operation, Ties, Value};

/// A small random history of `object`: linearizable, or with some results or operations exchanged; sometimes with pending
/// operations. Equal seeds give equal histories.
pub fn small_history(object: &ObjectType, seed: u64) -> Result<History, Error> {
    let mut sampler = Sampler::new(seed, None);
    let generator = Generator {
        ops: 2 + sampler.below(6),
        processes: 2 + sampler.below(3),
        seed: seed.wrapping_mul(31),
        pending_per_million: sampler.pick(&[0, 0, 150_000, 400_000]),
        idle_percent: sampler.pick(&[0, 30, 60]),
        universe: sampler.pick(&[None, Some(2), Some(3)]),
        ..Generator::default()
    };
    let mut history = generator.linearizable(object)?;
    for _ in 0..sampler.below(4) {
        if history.is_empty() {
            break;
        }
        let changed = changed(&history, &mut sampler)?;
        if object.validate(&changed).is_ok() {
            history = changed;
        }
    }
    Ok(history)
}

/// One result is exchanged for another one of the history or for one close to it, or two operations trade places.
fn changed(history: &History, sampler: &mut Sampler) -> Result<History, Error> {
    let id = OpId(sampler.below(history.len()) as u32);
    let op = history.op(id);
    let alike = history.ops().filter(|other| other.method == op.method);
    let alike: Vec<Value> = alike.filter_map(|other| other.result.cloned()).collect();
    let result = match sampler.below(6) {
        0 => return exchanged(history, sampler),
        1 => sampler.pick(history.values()),
        2 => close_to(op.result.unwrap_or(&Value::Nil), sampler),
        _ if alike.is_empty() => return Ok(history.clone()),
        _ => sampler.pick(&alike),
    };
    Ok(history.with_result(id, &result))
}

fn close_to(value: &Value, sampler: &mut Sampler) -> Value {
    match value {
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Int(number) => Value::Int(number.wrapping_add(sampler.pick(&[-1, 1]))),
        Value::List(items) if !items.is_empty() => {
            let mut items: Vec<Value> = items.iter().cloned().collect();
            let at = sampler.below(items.len());
            if sampler.percent(50) {
                items.remove(at);
            } else {
                items[at] = close_to(&items[at], sampler);
            }
            Value::list(items)
        }
        Value::Nil => sampler.pick(&[Value::Int(0), Value::Int(1), Value::Bool(true)]),
        _ => Value::Nil,
    }
}

/// Two operations trade places: each is called and returns when the other did.
fn exchanged(history: &History, sampler: &mut Sampler) -> Result<History, Error> {
    let mut places: Vec<usize> = (0..history.len()).collect();
    places.swap(sampler.below(history.len()), sampler.below(history.len()));
    let ops: Vec<_> = history.ops().collect();
    let pairs = ops.iter().zip(places.iter().map(|&place| &ops[place]));
    of_operations(pairs)
}

/// The same history without one operation.
pub(crate) fn without(history: &History, id: OpId) -> Result<History, Error> {
    let ops: Vec<_> = history.ops().filter(|op| op.id != id).collect();
    of_operations(ops.iter().map(|op| (op, op)))
}

/// The history of operations that happen when the first of each pair does and do what the second one does.
fn of_operations<'a>(
    pairs: impl Iterator<Item = (&'a linpoint::history::Op<'a>, &'a linpoint::history::Op<'a>)>,
) -> Result<History, Error> {
    let mut builder = HistoryBuilder::new();
    for (at, what) in pairs {
        let operation = Operation {
            process: Some(at.process.clone()),
            call: Call::new(what.method, what.argument.clone()),
            result: what.result.cloned().unwrap_or_default(),
            called: at.call.into(),
            returned: at.result.map(|_| at.ret.into()),
        };
        builder.operation(0, operation)?;
    }
    builder.finish(Ties::default())
}
