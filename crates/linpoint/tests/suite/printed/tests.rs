//! The errors of the paper, one by one, and the algorithms without them against the reference.

use linpoint::object::object_type;
use linpoint::{Call, Checker, Config, EngineChoice, History, HistoryBuilder, Ties, Value};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Slip::*;
use super::{Container, Method, Operation, Slip, verdicts};
use crate::recorded::{corpus, is_linearizable, read_all};

/// The errors that each history of `corpus/papers/monitors.jsonl` shows, in its order.
const SHOWN: [&[Slip]; 18] = [
    &[EmptyCheckBeforeProposition32],
    &[Line13OfAlgorithm1],
    &[Line15OfAlgorithm1],
    &[Line11OfAlgorithm2],
    &[KeysNeverAdded],
    &[KeysNeverRemoved],
    &[NoBaseCase],
    &[PollForPop, OneGapTooMany],
    &[Line16OfAlgorithm3],
    &[Line20OfAlgorithm4, Line26OfAlgorithm4, ValuesNeverRemoved],
    &[LargestInvocation],
    &[PeeksBeforeAdditions],
    &[Line20OfAlgorithm5],
    &[Line13OfAlgorithm5],
    &[Line22OfAlgorithm6, ZeroIsNone],
    &[Lines7And9OfAlgorithm7],
    &[PositionsGone],
    &[EmptyIntervals],
];

/// How many random histories of each container are compared with the reference.
const HISTORIES: u64 = 2_000;

/// The containers, with their types and the names of their methods: to add, to remove and to look.
const CONTAINERS: [(Container, &str, [&str; 3]); 5] = [
    (Container::Bag, "bag", ["add", "take", "take"]),
    (Container::Set, "set", ["add", "remove", "contains"]),
    (Container::Stack, "stack", ["push", "pop", "peek"]),
    (Container::Queue, "queue", ["enq", "deq", "peek"]),
    (
        Container::PriorityQueue,
        "priority-queue",
        ["add", "poll", "peek"],
    ),
];

/// The operations of a recorded history.
fn operations(history: &History, names: &[&str; 3]) -> Vec<Operation> {
    let mut operations = Vec::new();
    for op in history.ops() {
        let named = names.iter().position(|&name| name == op.method);
        let method = [Method::Add, Method::Remove, Method::Peek][named.expect("a method")];
        let result = op.result.expect("a return");
        let (value, answer) = match (op.argument, result) {
            (Value::Int(value), Value::Bool(answer)) => (Some(*value), *answer),
            (Value::Int(value), _) | (_, Value::Int(value)) => (Some(*value), true),
            _ => (None, true),
        };
        operations.push(Operation {
            method,
            value: value.map(|value| value as u64),
            answer,
            call: op.call.into(),
            ret: op.ret.into(),
        });
    }
    operations
}

/// All histories of so many operations, with values from 0 to 2, none of which is added twice.
fn all_histories(container: Container, length: usize) -> Vec<Vec<Operation>> {
    let answers = if container == Container::Set {
        &[true, false][..]
    } else {
        &[true]
    };
    let mut kinds = Vec::new();
    for method in [Method::Add, Method::Remove, Method::Peek] {
        for value in 0..3 {
            kinds.extend(answers.iter().map(|&answer| (method, Some(value), answer)));
        }
        if method != Method::Add && container != Container::Set {
            kinds.push((method, None, true));
        }
    }
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        all = all
            .iter()
            .flat_map(|history| with_another(history, &kinds))
            .collect();
    }
    all.retain(|history| is_distinct(history));
    all
}

/// The history with another operation that is called after all others, and returns at any time.
fn with_another(
    history: &[Operation],
    kinds: &[(Method, Option<u64>, bool)],
) -> Vec<Vec<Operation>> {
    let mut all = Vec::new();
    let last_call = history.iter().map(|o| o.call + 1).max().unwrap_or(0);
    for call in last_call..=2 * history.len() as i64 {
        for ret in call + 1..=2 * history.len() as i64 + 1 {
            let moved = |time: i64| time + i64::from(time >= call) + i64::from(time + 1 >= ret);
            for &(method, value, answer) in kinds {
                let mut longer: Vec<Operation> = history.to_vec();
                for o in &mut longer {
                    (o.call, o.ret) = (moved(o.call), moved(o.ret));
                }
                longer.push(Operation {
                    method,
                    value,
                    answer,
                    call,
                    ret,
                });
                all.push(longer);
            }
        }
    }
    all
}

fn is_distinct(history: &[Operation]) -> bool {
    let added = history
        .iter()
        .filter(|o| o.method == Method::Add && o.answer);
    let mut values: Vec<_> = added.map(|o| o.value).collect();
    values.sort_unstable();
    values.windows(2).all(|pair| pair[0] != pair[1])
}

#[test]
fn each_error_decides_a_smallest_history_wrongly() {
    let histories = read_all(&corpus().join("papers/monitors.jsonl"));
    assert_eq!(histories.len(), SHOWN.len());
    for (recorded, slips) in histories.iter().zip(SHOWN) {
        let (name, _) = recorded.object_type.as_ref().expect("a type");
        let (container, _, names) = CONTAINERS
            .iter()
            .find(|known| known.1 == name)
            .expect("a container");
        let expected = recorded.expected.expect("a label");
        let history = operations(&recorded.history, names);
        assert!(
            verdicts(*container, &history, None)
                .iter()
                .all(|&verdict| verdict == expected)
        );
        for &slip in slips {
            let found = verdicts(*container, &history, Some(slip));
            assert!(
                found.contains(&!expected),
                "{slip:?} is right about {}",
                recorded.label()
            );
            // The empty history is enough to see that Algorithm 3 never accepts.
            let least = if slip == NoBaseCase { 0 } else { history.len() };
            for smaller in (0..least).flat_map(|length| all_histories(*container, length)) {
                let right = verdicts(*container, &smaller, None);
                assert_eq!(
                    verdicts(*container, &smaller, Some(slip)),
                    right,
                    "{slip:?}: {smaller:?}"
                );
            }
        }
    }
}

/// A random history in which no value is added twice.
fn random_history(container: Container, rng: &mut ChaCha8Rng) -> Vec<Operation> {
    let length = rng.random_range(1..=7);
    let mut times: Vec<i64> = (0..2 * length).collect();
    let near = rng.random_range(2..8);
    times.chunks_mut(near).for_each(|chunk| chunk.shuffle(rng));
    let mut added = Vec::new();
    let operation = |pair: &[i64]| {
        let is_set = container == Container::Set;
        let mut method = [Method::Add, Method::Remove, Method::Peek][rng.random_range(0..3)];
        if container == Container::Bag && method == Method::Peek {
            method = Method::Remove;
        }
        let mut value = Some(rng.random_range(0..3));
        let mut answer = !is_set || rng.random_bool(0.6);
        if method == Method::Add && answer {
            if added.contains(&value) && is_set {
                answer = false;
            } else if added.contains(&value) {
                value = Some(3 + added.len() as u64);
            }
            added.push(value);
        } else if !is_set && rng.random_bool(0.2) {
            value = None;
        }
        let (call, ret) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        Operation {
            method,
            value,
            answer,
            call,
            ret,
        }
    };
    times.chunks(2).map(operation).collect()
}

fn recorded(history: &[Operation], container: Container, names: &[&str; 3]) -> History {
    let mut builder = HistoryBuilder::new();
    for (process, o) in (0_i64..).zip(history) {
        let (argument, result) = match (o.value, o.method) {
            (Some(value), _) if container == Container::Set => {
                (Value::Int(value as i64), o.answer.into())
            }
            (Some(value), Method::Add) => (Value::Int(value as i64), Value::Nil),
            (value, _) => (
                Value::Nil,
                value.map_or(Value::Nil, |value| Value::Int(value as i64)),
            ),
        };
        let name = names[o.method as usize];
        let operation = linpoint::Operation {
            process: Some(process.into()),
            call: Call::new(name, argument),
            result,
            called: o.call,
            returned: Some(o.ret),
        };
        builder.operation(0, operation).expect("an operation");
    }
    builder.finish(Ties::default()).expect("a history")
}

#[test]
fn without_its_errors_each_algorithm_agrees_with_the_reference() {
    let checker = Checker::new(
        Config::default()
            .verdicts_only()
            .with_engine(EngineChoice::Brute),
    );
    for (container, name, names) in CONTAINERS {
        let object = object_type(name, &Default::default()).expect("a type");
        let mut counts = [0, 0];
        for seed in 0..HISTORIES {
            let history = random_history(container, &mut ChaCha8Rng::seed_from_u64(seed));
            let expected =
                is_linearizable(&object, &recorded(&history, container, &names), &checker);
            let found = verdicts(container, &history, None);
            assert!(
                found.iter().all(|&verdict| verdict == expected),
                "{name}, seed {seed}: {history:?}"
            );
            counts[usize::from(expected)] += 1;
        }
        assert!(
            counts.iter().all(|&count| count > 100),
            "{name}: {counts:?}"
        );
    }
}
