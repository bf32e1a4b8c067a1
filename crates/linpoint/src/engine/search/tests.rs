//! What the searches of queues and stacks say besides the verdict, and verdicts about longer histories of every type.

use std::cell::Cell;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::decide;
use crate::engine::{Answer, Budget, Facts, Task, TaskOp, brute};
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::laws::{Visit, for_each_type};
use crate::spec::{Container, ContainerOp, Discipline, Simulated, Spec};
use crate::value::Value;
use crate::verdict::{Cause, Limit, certify, for_each_part, has_no_order, prefix};

type ContainerHistory = TypedHistory<ContainerOp, Value>;

/// A few processes do and see anything; some of them stop in the middle.
fn random_history(ops: usize, rng: &mut ChaCha8Rng) -> ContainerHistory {
    let mut history = TypedHistory::new();
    let mut open: Vec<(OpId, bool)> = Vec::new();
    let mut process = 0;
    while history.len() < ops {
        if open.is_empty() || rng.random_range(0..5) < 2 {
            let op = match rng.random_range(0..8) {
                0..=3 => ContainerOp::Add(Value::from(rng.random_range(0..2))),
                4..=6 => ContainerOp::Remove,
                _ => ContainerOp::Peek,
            };
            let adds = matches!(op, ContainerOp::Add(_));
            open.push((history.call(process, op), adds));
            process += 1;
        } else {
            let (id, adds) = open.swap_remove(rng.random_range(0..open.len()));
            match rng.random_range(0..8) {
                0 => {}
                1 => history.ret(id, Value::Nil),
                _ if adds => history.ret(id, Value::Nil),
                _ => history.ret(id, Value::from(rng.random_range(0..2))),
            }
        }
    }
    history
}

/// The task of deciding it, without pending operations that change nothing: they do not count as explained either.
fn task<'a>(spec: &'a Container, history: &'a ContainerHistory) -> Task<'a, Container> {
    let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
    let task = Task::new(spec, history, &ids);
    let matters = |op: &TaskOp| op.ret != NEVER || !task.is_pure(*op);
    task.with_ops(task.ops.iter().copied().filter(matters).collect())
}

#[test]
fn what_a_search_says_of_the_beginning_is_true() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for discipline in [Discipline::Fifo, Discipline::Lifo] {
        let spec = Container::unbounded(discipline);
        let (mut yes, mut no) = (0, 0);
        for _ in 0..3_000 {
            let history = random_history(8, &mut rng).interned();
            let task = task(&spec, &history);
            let expected = brute::try_all_orders(&task, &mut || Ok::<_, ()>(())).unwrap();
            match decide(&task, &Budget::default()).unwrap() {
                Answer::Linearizable { order, .. } => {
                    assert!(expected.is_some());
                    certify::witness(&task, &order).unwrap();
                    yes += 1;
                }
                Answer::NotLinearizable {
                    partial, reached, ..
                } => {
                    assert!(expected.is_none());
                    assert!(reached < task.events());
                    let beginning = task.with_ops(prefix(&task.ops, reached));
                    certify::witness(&beginning, &partial).unwrap();
                    no += 1;
                }
            }
        }
        assert!(yes > 300 && no > 300, "{yes} and {no}");
    }
}

/// Operations with their results and the times of call and return.
fn recorded(ops: &[(ContainerOp, Option<i64>, u32, u32)]) -> ContainerHistory {
    let mut events: Vec<(u32, usize, bool)> = (0..)
        .zip(ops)
        .flat_map(|(i, &(_, _, call, ret))| [(call, i, false), (ret, i, true)])
        .collect();
    events.sort_unstable();
    let mut history = TypedHistory::new();
    let mut ids = vec![OpId(0); ops.len()];
    for (_, i, returns) in events {
        let (op, ret, ..) = &ops[i];
        if returns {
            history.ret(ids[i], ret.map_or(Value::Nil, Value::from));
        } else {
            ids[i] = history.call(i as u32, op.clone());
        }
    }
    history
}

/// What happens at the front cannot always go in the order of returns where an empty result is near.
#[test]
fn empty_results_have_their_time() {
    use ContainerOp::{Add, Peek, Remove};
    let add = |value: i64, call, ret| (Add(value.into()), None, call, ret);
    let histories = [
        // The long removal goes first although the short one returns first: only then the queue was ever empty.
        vec![
            add(1, 0, 10),
            (Remove, Some(1), 20, 300),
            (Remove, None, 30, 80),
            add(1, 40, 50),
            add(2, 45, 55),
            (Remove, Some(1), 60, 70),
            (Remove, Some(2), 100, 110),
        ],
        // The peek goes first although the removal was called before anything else returned.
        vec![
            add(1, 0, 10),
            (Remove, Some(1), 20, 300),
            (Remove, None, 30, 400),
            add(2, 40, 50),
            (Peek, Some(1), 60, 70),
            (Remove, Some(2), 80, 90),
        ],
    ];
    let spec = Container::unbounded(Discipline::Fifo);
    for ops in histories {
        let history = recorded(&ops).interned();
        let task = task(&spec, &history);
        let Answer::Linearizable { order, .. } = decide(&task, &Budget::default()).unwrap() else {
            panic!("there is an order of {ops:?}");
        };
        certify::witness(&task, &order).unwrap();
    }
}

#[test]
fn limits_end_a_search() {
    for discipline in [Discipline::Fifo, Discipline::Lifo] {
        let spec = Container::unbounded(discipline);
        let mut history = ContainerHistory::new();
        for i in 0..1_000 {
            let id = history.call(0, ContainerOp::Add(Value::from(i % 2)));
            history.ret(id, Value::Nil);
            let id = history.call(0, ContainerOp::Remove);
            history.ret(id, Value::from(i % 2));
        }
        let history = history.interned();
        let task = task(&spec, &history);
        assert!(decide(&task, &Budget::default()).is_ok());
        let gave_up = decide(&task, &Budget::new(Some(Duration::ZERO), None)).unwrap_err();
        assert_eq!(gave_up.cause, Cause::Limit(Limit::Time(Duration::ZERO)));
    }
}

/// How many verdicts were compared with those of a walk over all configurations.
#[derive(Default)]
struct Compared {
    yes: Cell<usize>,
    no: Cell<usize>,
}

impl Compared {
    fn compare<S: Spec>(&self, name: &str, task: &Task<'_, S>) {
        let all = &Budget::default();
        let Some(expected) = task.erased(|task| has_no_order(task, 20_000, all)) else {
            return;
        };
        let told = || format!("{name}: {:?}", task.history);
        match decide(task, all).unwrap() {
            Answer::Linearizable { order, .. } => {
                assert!(!expected, "{}", told());
                certify::witness(task, &order).unwrap();
                self.yes.set(self.yes.get() + 1);
            }
            Answer::NotLinearizable {
                partial, reached, ..
            } => {
                assert!(expected, "{}", told());
                let beginning = task.with_ops(prefix(&task.ops, reached));
                certify::witness(&beginning, &partial).unwrap();
                self.no.set(self.no.get() + 1);
            }
        }
    }
}

impl Visit for Compared {
    fn visit<S: Simulated>(&self, name: &str, object: &S) {
        for_each_part((name, object), 0..150, (40, 60), &mut |task| {
            self.compare(name, task);
        });
    }
}

#[test]
fn verdicts_about_longer_histories_are_those_of_a_walk_over_all_configurations() {
    let compared = Compared::default();
    for_each_type(&compared);
    let counts = [&compared.yes, &compared.no].map(Cell::get);
    assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
}
