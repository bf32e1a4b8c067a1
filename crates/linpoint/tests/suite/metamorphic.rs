//! Changes of a history that must not change its verdict, and changes that must not make a linearizable history a violation.
//!
//! The second kind are the rules by which violations are reduced to their cores.

use linpoint::generate::Generator;
use linpoint::history::NEVER;
use linpoint::object::{ObjectType, find_type, object_type, types};
use linpoint::{Call, Checker, Config, History, HistoryBuilder, OpId, Operation, Ties, Value};
use proptest::prelude::*;

use crate::calls::Callable;
use crate::differential::{any_small_history, small_history};
use crate::fuzz_bodies::small_params;
use crate::recorded;

fn object(name: &str) -> ObjectType {
    object_type(name, &small_params(name)).expect("a built-in type")
}

fn is_linearizable(object: &ObjectType, history: &History) -> bool {
    let checker = Checker::new(Config::default().verdicts_only());
    recorded::is_linearizable(object, history, &checker)
}

/// An operation that can be changed.
#[derive(Clone, Debug)]
struct Edit {
    process: Value,
    call: Call,
    result: Option<Value>,
}

/// The history with its operations edited, up to its first `events` calls and returns.
fn rebuilt(history: &History, events: usize, edit: impl Fn(OpId, Edit) -> Edit) -> History {
    let mut order: Vec<(u32, OpId)> = history
        .ops()
        .flat_map(|op| [(op.call, op.id), (op.ret, op.id)])
        .filter(|&(rank, _)| rank != NEVER)
        .collect();
    order.sort_unstable();
    let mut builder = HistoryBuilder::new();
    for (rank, id) in order.into_iter().take(events) {
        let op = history.op(id);
        let original = Edit {
            process: op.process.clone(),
            call: Call::new(op.method, op.argument.clone()).on(op.object.clone()),
            result: op.result.cloned(),
        };
        let edited = edit(id, original);
        let added = match edited.result {
            _ if rank == op.call => builder.call(0, edited.process, edited.call),
            Some(result) => builder.ret(0, &edited.process, result),
            None => Ok(()),
        };
        added.expect("well formed");
    }
    builder.finish(Ties::default()).expect("well formed")
}

/// The history with this operation by a new process called before event `at` and never returned.
fn with_pending(history: &History, at: usize, call: &Call) -> History {
    let mut builder = HistoryBuilder::new();
    let mut order: Vec<(u32, OpId)> = history
        .ops()
        .flat_map(|op| [(op.call, op.id), (op.ret, op.id)])
        .filter(|&(rank, _)| rank != NEVER)
        .collect();
    order.sort_unstable();
    let new = |builder: &mut HistoryBuilder| builder.call(0, "new".into(), call.clone());
    for (position, &(rank, id)) in order.iter().enumerate() {
        if position == at {
            new(&mut builder).expect("a new process");
        }
        let op = history.op(id);
        let added = match op.result {
            Some(result) if rank == op.ret => builder.ret(0, op.process, result.clone()),
            _ => {
                let call = Call::new(op.method, op.argument.clone()).on(op.object.clone());
                builder.call(0, op.process.clone(), call)
            }
        };
        added.expect("well formed");
    }
    if at >= order.len() {
        new(&mut builder).expect("a new process");
    }
    builder.finish(Ties::default()).expect("well formed")
}

fn dump(history: &History) -> String {
    let ops = history.ops().map(|op| {
        format!(
            "{} by {} [{}, {}]",
            op.text(),
            op.process,
            op.call,
            op.ret as i32
        )
    });
    ops.collect::<Vec<_>>().join("\n")
}

/// A type of which the name of a process means nothing.
fn nameless_type() -> impl Strategy<Value = &'static str> {
    let names: Vec<_> = types()
        .iter()
        .map(|info| info.name)
        .filter(|name| !["snapshot", "reentrant-mutex", "fenced-lock"].contains(name))
        .collect();
    proptest::sample::select(names)
}

/// A type of which values are only compared.
fn opaque_type() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "register",
        "cas-register",
        "queue",
        "stack",
        "set",
        "bag",
    ])
}

/// Operations that change no state, whatever they answer.
const PURE: [(&str, &str, Option<i64>); 8] = [
    ("register", "read", None),
    ("cas-register", "read", None),
    ("queue", "peek", None),
    ("stack", "peek", None),
    ("set", "contains", Some(1)),
    ("bag", "peek", None),
    ("counter", "read", None),
    ("priority-queue", "peek", None),
];

fn linearizable_history(object: &ObjectType, seed: u64) -> History {
    let generator = Generator {
        ops: 16,
        processes: 4,
        seed,
        pending_per_million: 60_000,
        idle_percent: 20,
        universe: Some(3).filter(|_| seed.is_multiple_of(2)),
        ..Generator::default()
    };
    generator.linearizable(object).expect("generated")
}

/// A small history of any calls and values, and its object.
fn any_history(name: &str, seed: u64) -> Option<(ObjectType, History)> {
    let callable = callable(name);
    let history = any_small_history(&callable, seed)?;
    Some((callable.object, history))
}

/// `None` if the type refuses the calls, such as those on consumers that wait together with others that wait.
fn any_linearizable_history(name: &str, seed: u64) -> Option<History> {
    let callable = callable(name);
    let history = callable.history(seed, &mut |_| {});
    callable
        .object
        .validate(&history)
        .is_ok()
        .then_some(history)
}

fn callable(name: &str) -> Callable {
    let info = find_type(name).expect("a built-in type");
    Callable::new(info, object(name))
}

/// The operations of a history, whose events happen at these times, in another order.
fn at_times(history: &History, time: impl Fn(u32) -> i64, ties: Ties) -> History {
    let mut builder = HistoryBuilder::new();
    let ops: Vec<_> = history.ops().collect();
    for op in ops.into_iter().rev() {
        let operation = Operation {
            process: Some(op.process.clone()),
            call: Call::new(op.method, op.argument.clone()).on(op.object.clone()),
            result: op.result.cloned().unwrap_or_default(),
            called: time(op.call),
            returned: (op.ret != NEVER).then(|| time(op.ret)),
        };
        builder.operation(0, operation).expect("well formed");
    }
    builder.finish(ties).expect("well formed")
}

/// Another name for a value; what the object itself says (nothing, truth) stays. Different values get different names.
fn renamed(value: &Value, naming: Naming) -> Value {
    match (value, naming) {
        (Value::Int(i), Naming::Texts) => Value::from(format!("v{i}").as_str()),
        (Value::Int(i), Naming::Nested) => Value::list([Value::list([]), Value::Int(*i)]),
        (Value::Int(0), Naming::Confusing) => Value::from(""),
        (Value::Int(1), Naming::Confusing) => Value::from("0"),
        (Value::Int(2), Naming::Confusing) => Value::from("nil"),
        (Value::Int(i), Naming::Confusing) => Value::map([(Value::from(""), Value::Int(*i))]),
        // No other value is named so.
        (Value::Text(text), _) => Value::from(format!("t{text}").as_str()),
        (Value::List(items), _) => {
            let items: Vec<_> = items.iter().map(|item| renamed(item, naming)).collect();
            Value::list(items)
        }
        (other, _) => other.clone(),
    }
}

/// How values are renamed.
#[derive(Clone, Copy, Debug)]
enum Naming {
    Texts,
    Nested,
    /// To values that are easily taken for others.
    Confusing,
}

fn speaks_of(value: &Value, wanted: &Value) -> bool {
    value == wanted || value.as_list().is_some_and(|items| items.contains(wanted))
}

proptest! {
    // No files of seeds: a failure prints its history.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn processes_may_be_renamed(name in nameless_type(), seed: u64) {
        let Some((object, history)) = any_history(name, seed) else { return Ok(()) };
        let renamed = rebuilt(&history, usize::MAX, |_, op| Edit {
            process: Value::from(format!("p{}", op.process).as_str()),
            ..op
        });
        prop_assert_eq!(
            is_linearizable(&object, &renamed),
            is_linearizable(&object, &history),
            "{}\n{}", name, dump(&history)
        );
    }

    #[test]
    fn values_may_be_renamed(
        name in opaque_type(),
        seed: u64,
        naming in proptest::sample::select(vec![Naming::Texts, Naming::Nested, Naming::Confusing]),
    ) {
        let object = object(name);
        let Some(history) = small_history(&object, seed) else { return Ok(()) };
        let changed = rebuilt(&history, usize::MAX, |_, mut op| {
            op.call.argument = renamed(&op.call.argument, naming);
            if op.call.method != "size" {
                op.result = op.result.as_ref().map(|result| renamed(result, naming));
            }
            op
        });
        prop_assert_eq!(
            is_linearizable(&object, &changed),
            is_linearizable(&object, &history),
            "{}\n{}", name, dump(&history)
        );
    }

    #[test]
    fn times_may_be_any_that_ascend(
        name in nameless_type(),
        seed: u64,
        ties in proptest::sample::select(vec![Ties::CallFirst, Ties::ReturnFirst]),
        stride in proptest::sample::select(vec![1, 2, i64::MAX / 16]),
        is_last in any::<bool>(),
    ) {
        let Some((_, history)) = any_history(name, seed) else { return Ok(()) };
        let ranks = history.calls().iter().chain(history.rets());
        let last = ranks.copied().filter(|&rank| rank != NEVER).max().unwrap_or(0);
        let time = |rank: u32| {
            if is_last {
                i64::MAX - i64::from(last - rank) * stride
            } else {
                i64::MIN + i64::from(rank) * stride
            }
        };
        let timed = at_times(&history, time, ties);
        prop_assert_eq!(timed.calls(), history.calls(), "{}", dump(&history));
        prop_assert_eq!(timed.rets(), history.rets(), "{}", dump(&history));
    }

    #[test]
    fn beginnings_of_linearizable_histories_are_linearizable(name in nameless_type(), seed: u64, events in 0usize..40) {
        let object = object(name);
        let history = linearizable_history(&object, seed);
        prop_assert!(is_linearizable(&object, &history), "{}\n{}", name, dump(&history));
        let beginning = rebuilt(&history, events, |_, op| op);
        prop_assert!(is_linearizable(&object, &beginning), "{}\n{}", name, dump(&beginning));
    }

    #[test]
    fn a_beginning_that_is_wrong_makes_all_wrong(name in nameless_type(), seed: u64, events in 0usize..16) {
        let Some((object, history)) = any_history(name, seed) else { return Ok(()) };
        let beginning = rebuilt(&history, events, |_, op| op);
        if !is_linearizable(&object, &beginning) {
            prop_assert!(!is_linearizable(&object, &history), "{}\n{}", name, dump(&history));
        }
    }

    #[test]
    fn a_pending_observer_changes_nothing(pure in proptest::sample::select(PURE.to_vec()), seed: u64, at in 0usize..16) {
        let (name, method, argument) = pure;
        let object = object(name);
        let Some(history) = small_history(&object, seed) else { return Ok(()) };
        let argument = argument.map_or(Value::Nil, Value::from);
        let more = with_pending(&history, at, &Call::new(method, argument));
        prop_assert_eq!(
            is_linearizable(&object, &more),
            is_linearizable(&object, &history),
            "{}\n{}", name, dump(&more)
        );
    }

    #[test]
    fn observers_may_be_dropped(pure in proptest::sample::select(PURE.to_vec()), seed: u64, keep: u16) {
        let (name, method, _) = pure;
        let object = object(name);
        let history = linearizable_history(&object, seed);
        let fewer = history.filtered(|id| {
            history.op(id).method != method || keep >> (id.0 % 16) & 1 == 1
        });
        prop_assert!(is_linearizable(&object, &fewer), "{}\n{}", name, dump(&fewer));
    }

    #[test]
    fn all_operations_on_a_value_may_be_dropped(
        name in proptest::sample::select(vec!["register", "queue", "stack", "set", "bag", "priority-queue", "min-priority-queue", "deque"]),
        seed: u64,
        value in 0i64..4,
    ) {
        let object = object(name);
        let history = linearizable_history(&object, seed);
        if history.methods().iter().any(|method| method == "size") {
            return Ok(());
        }
        let value = Value::from(value);
        let fewer = history.filtered(|id| {
            let op = history.op(id);
            !speaks_of(op.argument, &value) && !op.result.is_some_and(|result| speaks_of(result, &value))
        });
        prop_assert!(is_linearizable(&object, &fewer), "{}, without {}\n{}", name, value, dump(&history));
    }

    #[test]
    fn any_operation_may_be_relaxed(name in nameless_type(), seed: u64, relax: u16) {
        let object = object(name);
        let history = if seed.is_multiple_of(2) {
            Some(linearizable_history(&object, seed))
        } else {
            any_linearizable_history(name, seed)
        };
        let Some(history) = history else { return Ok(()) };
        let is_relaxed = |id: OpId| relax >> (id.0 % 16) & 1 == 1;
        // A process with a pending operation never calls again: its later operations go to another process.
        let relaxed = rebuilt(&history, usize::MAX, |id, op| Edit {
            process: Value::from(i64::from(id.0)),
            result: op.result.filter(|_| !is_relaxed(id)),
            ..op
        });
        prop_assert!(is_linearizable(&object, &relaxed), "{}\n{}", name, dump(&relaxed));
    }
}
