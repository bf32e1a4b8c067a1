//! Objects against a specification.

use std::collections::VecDeque;

use linpoint::{Outcomes, Spec};
use linpoint_test::{FailureKind, Object, object};

use crate::objects::{Event, MutexQueue, Waiting};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Op {
    Add(u32),
    Take,
    TryTake,
}

/// A queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Queue {
    /// `TryTake` fails only if the queue is empty.
    Strict,
    /// `TryTake` may always fail.
    Lenient,
}

/// What runs `TryTake`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TryTake {
    Correct,
    Hasty,
}

impl Spec for Queue {
    type Op = Op;
    type Ret = Option<u32>;
    type State = VecDeque<u32>;

    fn init(&self) -> VecDeque<u32> {
        VecDeque::new()
    }

    fn apply(&self, state: &VecDeque<u32>, op: &Op) -> Outcomes<Option<u32>, VecDeque<u32>> {
        let mut next = state.clone();
        match op {
            Op::Add(value) => {
                next.push_back(*value);
                Outcomes::One(None, next)
            }
            Op::Take if state.is_empty() => Outcomes::Blocked,
            Op::Take | Op::TryTake => {
                let taken = next.pop_front();
                match (self, op) {
                    (Queue::Lenient, Op::TryTake) => {
                        Outcomes::Many(vec![(taken, next), (None, state.clone())])
                    }
                    _ => Outcomes::One(taken, next),
                }
            }
        }
    }
}

fn against(spec: Queue, try_take: TryTake) -> Object<MutexQueue> {
    let ops = [Op::Add(200), Op::Add(400), Op::Take, Op::TryTake];
    object(MutexQueue::default).against(spec, ops, move |queue, op| match op {
        Op::Add(value) => {
            queue.add(*value);
            None
        }
        Op::Take => Some(queue.take()),
        Op::TryTake if try_take == TryTake::Hasty => queue.hasty_take(),
        Op::TryTake => queue.try_take(),
    })
}

#[test]
fn the_queue_of_figure_7_keeps_to_its_specification() {
    let object = || against(Queue::Strict, TryTake::Correct);
    let report = object()
        .matrix([["Add(200)", "Add(400)"], ["Take", "TryTake"]])
        .check();
    assert!(report.passed(), "{report}");
    let report = object().random(3, 2, 10).check();
    assert!(report.passed(), "{report}");
}

#[test]
fn the_hasty_queue_breaks_a_strict_specification_and_keeps_a_lenient_one() {
    let test = [["Add(200)", "TryTake"], ["Add(400)", "TryTake"]];
    let report = against(Queue::Strict, TryTake::Hasty).matrix(test).check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::NoWitness);
    assert!(
        failure
            .sentence
            .starts_with("The specification does not allow it"),
        "{failure}"
    );
    assert_eq!(failure.page_data().unwrap().object_type, "Queue");
    let report = against(Queue::Lenient, TryTake::Hasty).matrix(test).check();
    assert!(report.passed(), "{report}");
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum EventOp {
    Set,
    Reset,
    Wait,
}

struct EventSpec;

impl Spec for EventSpec {
    type Op = EventOp;
    type Ret = ();
    type State = bool;

    fn init(&self) -> bool {
        false
    }

    fn apply(&self, set: &bool, op: &EventOp) -> Outcomes<(), bool> {
        match op {
            EventOp::Set => Outcomes::One((), true),
            EventOp::Reset => Outcomes::One((), false),
            EventOp::Wait if *set => Outcomes::One((), true),
            EventOp::Wait => Outcomes::Blocked,
        }
    }
}

#[test]
fn stuck_operations_need_a_reason_in_the_specification() {
    for waiting in [Waiting::Sound, Waiting::Broken] {
        let report = object(move || Event::new(waiting))
            .against(
                EventSpec,
                [EventOp::Set, EventOp::Reset, EventOp::Wait],
                |event, op| match op {
                    EventOp::Set => event.set(),
                    EventOp::Reset => event.reset(),
                    EventOp::Wait => event.wait(),
                },
            )
            .matrix([vec!["Wait"], vec!["Set", "Reset", "Set"]])
            .check();
        match waiting {
            Waiting::Broken => {
                let failure = report.failure().unwrap();
                assert_eq!(failure.kind, FailureKind::NoStuckWitness);
                assert!(failure.page_data().is_some());
            }
            Waiting::Sound => assert!(report.passed(), "{report}"),
        }
    }
}

#[test]
fn a_panic_is_never_allowed() {
    let report = object(|| ())
        .against(EventSpec, [EventOp::Set], |(), _| panic!("not today"))
        .matrix([["Set"]])
        .check();
    assert!(
        report.failure().unwrap().sentence.contains("panicked"),
        "{report}"
    );
}
