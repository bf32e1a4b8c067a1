//! What the searches of queues and stacks say besides the verdict.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::decide;
use crate::engine::{Answer, Budget, Facts, Task, TaskOp, brute};
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::{Container, ContainerOp, Discipline};
use crate::value::Value;
use crate::verdict::{Limit, certify, prefix};

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
                Answer::Linearizable(order) => {
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
        assert_eq!(gave_up.limit, Limit::Time(Duration::ZERO));
    }
}
