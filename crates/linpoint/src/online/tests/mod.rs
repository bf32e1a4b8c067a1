//! Each monitor against the reference, after every event of random small histories.
//!
//! `LINPOINT_TRIALS` sets the number of histories for each kind.

mod words;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Finding, OnlineChecker};
use crate::engine::{Task, brute};
use crate::error::ErrorKind;
use crate::history::{Call, OpId, TypedHistory};
use crate::object::ObjectType;
use crate::spec::{
    CallView, Container, Counter, Discipline, Mutex, Register, Semaphore, Set, Simulated, Snapshot,
    Writers,
};
use crate::value::Value;

/// How many random histories a test looks at, by default.
const TRIALS: u64 = 20_000;

/// What clients of an object do at random.
struct Clients<'a, S: Simulated> {
    object: &'a S,
    /// A call: method and argument.
    call: fn(&mut ChaCha8Rng) -> (&'static str, Value),
    /// An answer to a call of this method, right or wrong, after these calls.
    answer: fn(&mut ChaCha8Rng, &str, &[(&'static str, Value)]) -> Value,
}

#[derive(Clone, Debug)]
enum Event {
    Call(&'static str, Value),
    Return(usize, Value),
    Fail(usize),
    Crash(usize),
}

impl<S: Simulated> Clients<'_, S> {
    fn decode(&self, method: &str, argument: &Value) -> S::Op {
        let call = CallView {
            process: &Value::Nil,
            method,
            argument,
            hint: None,
        };
        self.object.decode(call).unwrap()
    }

    /// A run of the object itself, of which some answers are exchanged, or a run of arbitrary answers.
    fn random_events(&self, rng: &mut ChaCha8Rng) -> Vec<Event> {
        // Few that overlap much, or many that overlap little.
        let (most, width) = match rng.random_range(0..8) {
            0 => (20, 2),
            _ => (rng.random_range(2..=9), rng.random_range(2..=5)),
        };
        let wrong = [0, 5, 15, 100][rng.random_range(0..4)];
        let rare = [0, 0, 5, 15][rng.random_range(0..4)];
        let mut events = Vec::new();
        let mut calls: Vec<(&'static str, Value)> = Vec::new();
        // Those open, with their answer once they took effect.
        let mut open: Vec<(usize, Option<Value>)> = Vec::new();
        let mut crashed = 0;
        let mut state = self.object.init();
        for _ in 0..8 * most {
            let turn = rng.random_range(0..width);
            if turn >= open.len() {
                if calls.len() < most && open.len() + crashed < width {
                    let (method, argument) = (self.call)(rng);
                    open.push((calls.len(), None));
                    calls.push((method, argument.clone()));
                    events.push(Event::Call(method, argument));
                }
                continue;
            }
            let (op, answer) = open[turn].clone();
            let (method, argument) = &calls[op];
            let is_wrong = rng.random_range(0..100) < wrong;
            if rng.random_range(0..100) < rare {
                open.remove(turn);
                if rng.random() {
                    crashed += 1;
                    events.push(Event::Crash(op));
                } else {
                    events.push(Event::Fail(op));
                }
            } else if is_wrong {
                open.remove(turn);
                events.push(Event::Return(op, (self.answer)(rng, method, &calls)));
            } else if let Some(answer) = answer {
                open.remove(turn);
                events.push(Event::Return(op, answer));
            } else {
                let typed = self.decode(method, argument);
                let mut outcomes = match self.object.apply(&state, &typed) {
                    crate::Outcomes::One(ret, next) => vec![(ret, next)],
                    crate::Outcomes::Many(all) => all,
                    crate::Outcomes::Blocked => continue,
                };
                let (ret, next) = outcomes.swap_remove(rng.random_range(0..outcomes.len()));
                state = next;
                open[turn].1 = Some(ret);
            }
        }
        events
    }

    /// Whether these events, the first ones of a history, are linearizable with what is open as pending.
    fn is_linearizable(&self, events: &[Event]) -> bool {
        let mut history = TypedHistory::new();
        let failed: Vec<usize> = events
            .iter()
            .filter_map(|event| match event {
                Event::Fail(op) => Some(*op),
                _ => None,
            })
            .collect();
        let mut ids: Vec<Option<(OpId, S::Op)>> = Vec::new();
        for event in events {
            match event {
                Event::Call(method, argument) => {
                    let op = ids.len();
                    ids.push((!failed.contains(&op)).then(|| {
                        let typed = self.decode(method, argument);
                        (history.call(op as u32, typed.clone()), typed)
                    }));
                }
                Event::Return(op, result) => {
                    let (id, typed) = ids[*op].as_ref().unwrap();
                    history.ret(*id, self.object.decode_result(typed, result).unwrap());
                }
                Event::Fail(_) | Event::Crash(_) => {}
            }
        }
        let all: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        let task = Task::new(self.object, &history, &all);
        let found = brute::try_all_orders(&task, &mut || Ok::<_, ()>(()));
        found.unwrap().is_some()
    }
}

/// A checker of typed operations and one of recorded calls, which are given the same events.
struct Checkers<S: Simulated + 'static> {
    object: S,
    typed: OnlineChecker<S>,
    recorded: OnlineChecker<ObjectType>,
    /// The operations that were called, each by a process of its own.
    calls: Vec<S::Op>,
}

impl<S: Simulated + Clone + 'static> Checkers<S> {
    fn new(object: &S) -> Self {
        Checkers {
            object: object.clone(),
            typed: OnlineChecker::new(object.clone()).unwrap(),
            recorded: OnlineChecker::new(ObjectType::new(object.clone())).unwrap(),
            calls: Vec::new(),
        }
    }

    /// Feeds an event to both, which must find the same.
    fn feed(&mut self, clients: &Clients<'_, S>, event: &Event) -> Option<Finding<ObjectType>> {
        let process = |op: usize| Value::from(op as i64);
        let (typed, recorded) = match event.clone() {
            Event::Call(method, argument) => {
                let (number, op) = (self.calls.len(), clients.decode(method, &argument));
                self.calls.push(op.clone());
                let call = Call::new(method, argument);
                (
                    self.typed.call(number as u32, op),
                    self.recorded.call(process(number), call),
                )
            }
            Event::Return(op, result) => {
                let ret = self.object.decode_result(&self.calls[op], &result);
                (
                    self.typed.ret(op as u32, ret.unwrap()),
                    self.recorded.ret(process(op), result),
                )
            }
            Event::Fail(op) => (self.typed.fail(op as u32), self.recorded.fail(process(op))),
            Event::Crash(op) => (
                self.typed.crash(op as u32).map(|()| None),
                self.recorded.crash(process(op)).map(|()| None),
            ),
        };
        let (typed, recorded) = (typed.unwrap(), recorded.unwrap());
        match (&typed, &recorded) {
            (Some(Finding::Violation(typed)), Some(Finding::Violation(recorded))) => {
                assert_eq!(process(typed.op.process as usize), recorded.op.process);
            }
            (Some(Finding::CannotTell(_)), Some(Finding::CannotTell(_))) | (None, None) => {}
            _ => panic!("{typed:?} but {recorded:?}"),
        }
        recorded
    }
}

/// How many histories came to what.
#[derive(Debug, Default)]
struct Counts {
    linearizable: u64,
    violations: u64,
    cannot_tell: u64,
    /// Violations that were reported some events after they were certain.
    late: u64,
    /// Violations that were not reported before the end, with operations still open.
    never: u64,
}

fn trials() -> u64 {
    std::env::var("LINPOINT_TRIALS").map_or(TRIALS, |n| n.parse().unwrap())
}

/// Whether a monitor must report a violation at once, or may wait for what is open to return.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    None,
    UntilReturns,
}

fn compare<S: Simulated + Clone + 'static>(clients: &Clients<'_, S>, patience: Patience) -> Counts {
    let mut counts = Counts::default();
    let mut compared = words::Compared::default();
    for seed in 0..trials() {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let events = clients.random_events(&mut rng);
        one_history(clients, patience, seed, &events, &mut counts);
        if seed < words::histories() {
            let object = ObjectType::new(clients.object.clone());
            compared.compare_events(object, &events, seed);
        }
    }
    println!("{counts:?} {compared:?}");
    compared.check();
    assert!(
        compared.same > trials().min(words::histories()) / 20,
        "{compared:?}"
    );
    assert!(counts.violations * 20 > trials(), "{counts:?}");
    assert!(counts.linearizable * 20 > trials(), "{counts:?}");
    counts
}

fn one_history<S: Simulated + Clone + 'static>(
    clients: &Clients<'_, S>,
    patience: Patience,
    seed: u64,
    events: &[Event],
    counts: &mut Counts,
) {
    let mut checkers = Checkers::new(clients.object);
    // The event at which the history became bad, and what was open then.
    let mut bad: Option<(usize, Vec<usize>)> = None;
    let mut open: Vec<usize> = Vec::new();
    for (i, event) in events.iter().enumerate() {
        let finding = checkers.feed(clients, event);
        let shown = || format!("seed {seed}, event {i}: {:#?}\n{finding:?}", &events[..=i]);
        let returned = match event {
            Event::Call(..) => {
                open.push(checkers.calls.len() - 1);
                None
            }
            Event::Return(op, _) | Event::Fail(op) => Some(*op),
            Event::Crash(_) => None,
        };
        open.retain(|&op| Some(op) != returned);
        // A call cannot make a good history bad.
        if returned.is_some() && bad.is_none() && !clients.is_linearizable(&events[..=i]) {
            bad = Some((i, open.clone()));
        } else if let Some((_, open)) = &mut bad {
            open.retain(|&op| Some(op) != returned);
        }
        match finding {
            Some(Finding::CannotTell(_)) => {
                counts.cannot_tell += 1;
                return;
            }
            Some(Finding::Violation(_)) => {
                let (since, _) = bad.unwrap_or_else(|| panic!("no violation: {}", shown()));
                counts.violations += 1;
                counts.late += u64::from(since < i);
                return;
            }
            None => match &bad {
                Some(_) if patience == Patience::None => panic!("missed: {}", shown()),
                Some((_, open)) if open.is_empty() => panic!("missed for too long: {}", shown()),
                Some(_) | None => {}
            },
        }
    }
    match bad {
        Some(_) => counts.never += 1,
        None => counts.linearizable += 1,
    }
}

#[test]
fn sets() {
    let clients = Clients {
        object: &Set,
        call: |rng| {
            let method = ["add", "remove", "contains"][rng.random_range(0..3)];
            (method, Value::from(rng.random_range(0..8) / 5))
        },
        answer: |rng, method, _| match rng.random_range(0..40) {
            // Does not tell.
            0 if method != "contains" => Value::Nil,
            n => Value::Bool(n % 2 == 0),
        },
    };
    compare(&clients, Patience::None);
}

#[test]
fn locks() {
    let clients = Clients {
        object: &Mutex,
        call: |rng| {
            let methods = ["lock", "unlock", "try_lock", "try_unlock"];
            (methods[rng.random_range(0..4)], Value::Nil)
        },
        answer: |rng, method, _| match method.starts_with("try") {
            true => Value::Bool(rng.random()),
            false => Value::Nil,
        },
    };
    assert_eq!(compare(&clients, Patience::None).cannot_tell, 0);
}

#[test]
fn registers() {
    let clients = Clients {
        object: &Register {
            initial: Value::from(0),
            cas: false,
        },
        call: |rng| match rng.random_range(0..2) {
            0 => ("read", Value::Nil),
            _ => {
                let universe = [5, 90, 90][rng.random_range(0..3)];
                ("write", Value::from(rng.random_range(0..universe)))
            }
        },
        answer: |rng, method, calls| match (method, rng.random_range(0..20)) {
            ("read", 0) => Value::from(0),
            ("read", 1) => Value::from(100),
            // The argument of any call. That of a read is nil, which is never written.
            ("read", _) => calls[rng.random_range(0..calls.len())].1.clone(),
            _ => Value::Nil,
        },
    };
    compare(&clients, Patience::None);
}

#[test]
fn counters() {
    let clients = Clients {
        object: &Counter { initial: 3 },
        call: |rng| match rng.random_range(0..2) {
            0 => ("read", Value::Nil),
            _ => ("inc", Value::from(2)),
        },
        answer: |rng, method, _| match method {
            "read" => Value::from(3 + 2 * rng.random_range(0..5) + rng.random_range(0..20) / 19),
            _ => Value::Nil,
        },
    };
    assert_eq!(compare(&clients, Patience::None).cannot_tell, 0);
}

#[test]
fn counters_that_tell() {
    let clients = Clients {
        object: &Counter { initial: 3 },
        call: |rng| match rng.random_range(0..4) {
            0 => ("read", Value::Nil),
            1 => ("add_and_get", Value::from(1)),
            _ => ("fetch_add", Value::from(1)),
        },
        answer: |rng, _, _| Value::from(3 + rng.random_range(0..5)),
    };
    assert_eq!(compare(&clients, Patience::None).cannot_tell, 0);
}

#[test]
fn counters_of_all_sorts() {
    let clients = Clients {
        object: &Counter { initial: 0 },
        call: |rng| match rng.random_range(0..20) {
            0..5 => ("read", Value::Nil),
            5 => ("fetch_add", Value::from(1)),
            6 => ("dec", Value::Nil),
            7 => ("add", Value::from(0)),
            _ => ("inc", Value::Nil),
        },
        answer: |rng, method, _| match method {
            "read" | "fetch_add" => Value::from(rng.random_range(0..4)),
            _ => Value::Nil,
        },
    };
    compare(&clients, Patience::None);
}

fn queues(discipline: Discipline) {
    let clients = Clients {
        object: &Container::unbounded(discipline),
        call: |rng| match rng.random_range(0..5) {
            0 => ("peek", Value::Nil),
            1 | 2 => ("poll", Value::Nil),
            _ => ("add", Value::from(rng.random_range(0..60))),
        },
        answer: |rng, method, calls| match method {
            "add" => Value::Nil,
            // The argument of any call. That of a poll or peek is nil, which is an answer too.
            _ => calls[rng.random_range(0..calls.len())].1.clone(),
        },
    };
    compare(&clients, Patience::UntilReturns);
}

#[test]
fn queues_that_serve_the_largest() {
    queues(Discipline::Largest);
}

#[test]
fn queues_that_serve_the_smallest() {
    queues(Discipline::Smallest);
}

/// A queue whose clients call these.
fn fifo(call: fn(&mut ChaCha8Rng) -> (&'static str, Value), patience: Patience) -> Counts {
    let clients = Clients {
        object: &Container::unbounded(Discipline::Fifo),
        call,
        answer: |rng, method, calls| match method {
            "enq" => Value::Nil,
            // The argument of any call. That of a removal is nil, which is an answer too.
            _ => calls[rng.random_range(0..calls.len())].1.clone(),
        },
    };
    compare(&clients, patience)
}

#[test]
fn queues_first_in_first_out() {
    let call = |rng: &mut ChaCha8Rng| match rng.random_range(0..2) {
        0 => ("deq", Value::Nil),
        _ => ("enq", Value::from(rng.random_range(0..200))),
    };
    let counts = fifo(call, Patience::None);
    assert!(counts.cannot_tell * 4 < trials(), "{counts:?}");
}

#[test]
fn queues_that_are_often_empty() {
    let call = |rng: &mut ChaCha8Rng| match rng.random_range(0..3) {
        0 | 1 => ("deq", Value::Nil),
        _ => ("enq", Value::from(rng.random_range(0..200))),
    };
    fifo(call, Patience::None);
}

#[test]
fn queues_with_repeated_values_and_peeks() {
    let call = |rng: &mut ChaCha8Rng| match rng.random_range(0..7) {
        0 => ("peek", Value::Nil),
        1..=3 => ("deq", Value::Nil),
        _ => ("enq", Value::from(rng.random_range(0..12))),
    };
    fifo(call, Patience::None);
}

#[test]
fn semaphores() {
    let clients = Clients {
        object: &Semaphore { permits: 2 },
        call: |rng| {
            let method = ["acquire", "release", "acquire"][rng.random_range(0..3)];
            (method, Value::from(rng.random_range(1..=2)))
        },
        // A wrong answer comes too early.
        answer: |_, _, _| Value::Nil,
    };
    assert_eq!(compare(&clients, Patience::None).cannot_tell, 0);
}

#[test]
fn snapshots() {
    let clients = Clients {
        object: &Snapshot {
            writers: Writers::Many,
            processes: None,
            initial: Value::from(0),
        },
        call: |rng| match rng.random_range(0..2) {
            0 => ("scan", Value::Nil),
            _ => {
                let universe = [3, 40, 40][rng.random_range(0..3)];
                let (entry, value) = (rng.random_range(0..6), rng.random_range(0..universe));
                ("update", Value::list([entry.into(), Value::from(value)]))
            }
        },
        answer: |rng, method, calls| match method {
            // Any value that is written in the entry.
            "scan" => Value::list((0..6).map(|entry| {
                let written = calls
                    .iter()
                    .filter_map(|(_, argument)| match argument.as_list() {
                        Some([of, value]) if *of == Value::from(entry) => Some(value.clone()),
                        _ => None,
                    });
                let mut values: Vec<Value> = written.chain([0.into()]).collect();
                values.swap_remove(rng.random_range(0..values.len()))
            })),
            _ => Value::Nil,
        },
    };
    compare(&clients, Patience::None);
}

#[test]
fn counters_that_may_wrap_around_cannot_be_told() {
    let object = Counter {
        initial: i64::MAX - 1,
    };
    let mut checker = OnlineChecker::new(ObjectType::new(object)).unwrap();
    let mut inc = |process: i64| checker.call(process.into(), Call::new("inc", Value::Nil));
    assert!(inc(0).unwrap().is_none());
    assert!(matches!(inc(1), Ok(Some(Finding::CannotTell(_)))));
}

#[test]
fn what_is_over_is_forgotten() {
    let mut checker = OnlineChecker::new(ObjectType::new(Set)).unwrap();
    for key in 0..100 {
        for method in ["add", "contains", "remove"] {
            checker.call(0.into(), Call::new(method, key)).unwrap();
            assert!(checker.ret(0.into(), true.into()).unwrap().is_none());
        }
    }
    assert_eq!(checker.remembered(), 0);
}

#[test]
fn objects_and_keys_are_watched_apart() {
    let mut checker = OnlineChecker::new(ObjectType::new(Set)).unwrap();
    let mut run = |object: &str, method: &str, key: i64| {
        let call = Call::new(method, key).on(object);
        checker.call(0.into(), call).unwrap();
        checker.ret(0.into(), true.into()).unwrap()
    };
    assert!(run("a", "add", 1).is_none());
    assert!(run("b", "add", 1).is_none());
    assert!(run("a", "add", 2).is_none());
    let Some(Finding::Violation(violation)) = run("a", "add", 1) else {
        panic!("missed")
    };
    assert_eq!(
        (violation.object, violation.key),
        ("a".into(), Some(1.into()))
    );
    // Once is enough, and the others go on.
    assert!(run("a", "add", 1).is_none());
    assert!(run("a", "contains", 2).is_none());
    assert!(run("b", "add", 1).is_some());
}

#[test]
fn keys_cannot_be_watched_apart_from_the_whole() {
    let mut checker = OnlineChecker::new(ObjectType::new(Set)).unwrap();
    checker.call(0.into(), Call::new("add", 1)).unwrap();
    let size = checker.call(1.into(), Call::new("size", Value::Nil));
    assert!(matches!(size, Ok(Some(Finding::CannotTell(_)))));
    assert!(checker.ret(0.into(), false.into()).unwrap().is_none());
}

#[test]
fn malformed_streams_are_refused() {
    let mut checker = OnlineChecker::new(ObjectType::new(Mutex)).unwrap();
    let refused =
        |result: Result<Option<Finding<ObjectType>>, crate::Error>| result.unwrap_err().to_string();
    let lock = || Call::new("lock", Value::Nil);
    assert_eq!(
        refused(checker.ret(0.into(), Value::Nil)),
        "process 0 returns without an open call"
    );
    checker.call(0.into(), lock()).unwrap();
    assert_eq!(
        refused(checker.call(0.into(), lock())),
        "process 0 calls again while lock() → ? by process 0 is pending"
    );
    checker.crash(0.into()).unwrap();
    assert_eq!(
        refused(checker.ret(0.into(), Value::Nil)),
        "process 0 returns after it crashed"
    );
    let unknown = checker.call(1.into(), Call::new("knock", Value::Nil));
    let unknown = unknown.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::UnknownMethod);
    assert_eq!(unknown.to_string(), "unknown method \"knock\"");
}

#[test]
fn objects_without_a_monitor_are_refused() {
    let bag = OnlineChecker::new(Container::unbounded(Discipline::Any));
    assert!(bag.is_err());
}
