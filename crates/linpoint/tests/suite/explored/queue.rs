//! Simple histories of queues: the reduction, against the reference and against all executions.

use linpoint::TypedHistory;
use linpoint::engine::Budget;
use linpoint::explore::queue::{Fifo, QueueOp, QueueRet, SimpleQueue, verify_queue};
use linpoint::explore::{Bounds, Client, Explored, Outcome, Reductions, refine};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{is_linearizable, random_execution};
use herlihy_wing::{HerlihyWing, Taking};

#[path = "../../../examples/simple_queue/herlihy_wing.rs"]
mod herlihy_wing;

type Event = (usize, Result<QueueOp, QueueRet>);

fn bounds(most: u8) -> Bounds {
    Bounds {
        ops_per_process: Some(most),
        ..Bounds::default()
    }
}

/// Process `p` enqueues a value of its own each time, and dequeues.
struct Distinct;

impl Client<QueueOp> for Distinct {
    fn offers(&self, p: usize, enqueued: u8) -> Vec<(QueueOp, u8)> {
        let dequeue = (QueueOp::Dequeue, enqueued);
        match enqueued {
            0..3 => vec![
                (QueueOp::Enqueue(1 + 4 * p as u8 + enqueued), enqueued + 1),
                dequeue,
            ],
            _ => vec![dequeue],
        }
    }
}

#[test]
fn simple_executions_and_all_executions_agree() {
    let all = Reductions::ALL;
    for (processes, most, taking, is_right) in [
        (2, 2, Taking::AtOnce, true),
        (2, 3, Taking::AtOnce, true),
        (2, 3, Taking::InTwoSteps, false),
        (3, 2, Taking::InTwoSteps, false),
    ] {
        let (queue, explored) = (HerlihyWing { processes, taking }, Explored::default());
        let (budget, bounds) = (Budget::default(), bounds(most));
        let simple = verify_queue(&queue, &bounds, all, &budget, &explored).expect("confirmed");
        let full = refine(&queue, &Distinct, &Fifo, &bounds, all, &budget, &explored);
        let is_verified = |outcome: &Outcome<_, _>| matches!(outcome, Outcome::Verified);
        assert_eq!(
            is_verified(&simple),
            is_right,
            "{processes} {most} {taking:?}"
        );
        assert_eq!(is_verified(&full.expect("confirmed")), is_right);
    }
}

/// The history with all values but two renamed to 0, and these to 1 and 2.
fn renamed(events: &[Event], first: u8, second: u8) -> Vec<Event> {
    let rename = |value: u8| match value {
        _ if value == first => 1,
        _ if value == second => 2,
        _ => 0,
    };
    let event = |event: Result<QueueOp, QueueRet>| match event {
        Ok(QueueOp::Enqueue(value)) => Ok(QueueOp::Enqueue(rename(value))),
        Err(QueueRet::Value(value)) => Err(QueueRet::Value(rename(value))),
        other => other,
    };
    events.iter().map(|&(p, of)| (p, event(of))).collect()
}

fn is_accepted(events: &[Event]) -> bool {
    let mut queue = SimpleQueue::default();
    events.iter().all(|&(p, event)| match event {
        Ok(op) => {
            queue.called(p, op);
            true
        }
        Err(ret) => queue.returned(p, ret).is_ok(),
    })
}

fn history(events: &[Event]) -> TypedHistory<QueueOp, QueueRet> {
    let mut history = TypedHistory::new();
    let mut open = [None; 16];
    for &(p, event) in events {
        match event {
            Ok(op) => open[p] = Some(history.call(p as u32, op)),
            Err(ret) => history.ret(open[p].take().expect("a call"), ret),
        }
    }
    history
}

/// A random history in which all values are distinct and all dequeues return. Their results are mostly those of a queue.
fn random_history(seed: u64) -> Vec<Event> {
    const PROCESSES: usize = 3;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut open: [Option<QueueOp>; PROCESSES] = [None; PROCESSES];
    let (mut events, mut values, mut next) = (Vec::new(), Vec::new(), 1);
    let mut calls = 7;
    while calls > 0 || open.iter().any(Option::is_some) {
        let p = rng.random_range(0..PROCESSES);
        match open[p].take() {
            None if calls == 0 => {}
            None => {
                calls -= 1;
                let op = match rng.random_range(0..2) {
                    0 => QueueOp::Enqueue(next),
                    _ => QueueOp::Dequeue,
                };
                if op != QueueOp::Dequeue {
                    values.push(next);
                    next += 1;
                }
                open[p] = Some(op);
                events.push((p, Ok(op)));
            }
            Some(QueueOp::Enqueue(_)) => events.push((p, Err(QueueRet::Done))),
            Some(QueueOp::Dequeue) => {
                let value = match rng.random_range(0..12) {
                    0 => rng.random_range(1..6),
                    wrong => match values.len() {
                        0 => next,
                        len => values.remove(usize::from(wrong == 1).min(len - 1)),
                    },
                };
                events.push((p, Err(QueueRet::Value(value))));
            }
        }
    }
    events
}

/// The theorem: some order explains a history if and only if, for every two values, the monitor accepts the renamed history.
#[test]
fn two_values_at_a_time_decide() {
    let mut counts = [0; 2];
    for seed in 0..10_000 {
        let events = random_history(seed);
        let mut pairs = (1..8).flat_map(|a| (1..8).map(move |b| (a, b)));
        let accepted = pairs.all(|(a, b)| a == b || is_accepted(&renamed(&events, a, b)));
        let expected = is_linearizable(&Fifo, &history(&events));
        assert_eq!(accepted, expected, "{events:?}");
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
}

/// With dequeues that never return, what the monitor rejects is wrong.
#[test]
fn what_is_rejected_is_wrong() {
    let mut rejected = 0;
    for seed in 0..20_000 {
        let mut events = random_history(seed);
        let cut = ChaCha8Rng::seed_from_u64(seed).random_range(0..=events.len());
        events.truncate(cut);
        if !is_accepted(&renamed(&events, 1, 2)) {
            rejected += 1;
            assert!(!is_linearizable(&Fifo, &history(&events)), "{events:?}");
        }
    }
    assert!(rejected > 500, "{rejected}");
}

#[test]
fn the_reference_agrees_with_the_algorithms() {
    let is_wrong = |taking, seed| {
        let queue = HerlihyWing {
            processes: 3,
            taking,
        };
        let events = random_execution(&queue, &Distinct, 7, seed);
        !is_linearizable(&Fifo, &history(&events))
    };
    let wrong = |taking| (0..3000).filter(|&seed| is_wrong(taking, seed)).count();
    assert_eq!(wrong(Taking::AtOnce), 0);
    assert!(wrong(Taking::InTwoSteps) > 0);
}
