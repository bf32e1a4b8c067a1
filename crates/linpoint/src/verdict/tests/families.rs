//! Which operations may be dropped together.

use crate::engine::{Answer, Budget, GaveUp, Task, TaskOp, brute};
use crate::format::{ReadOptions, parse};
use crate::history::{Partitioning, TypedHistory, partition};
use crate::spec::{Container, Discipline};
use crate::verdict::reduce::contradictory_family;

/// What a full queue refuses depends on how much is in it, not on the values, so it does not keep values together.
#[test]
fn refused_insertions_do_not_hide_that_a_value_contradicts_itself() {
    let text = r#"
        {"process": 0, "method": "enq", "arg": 1, "ret": true, "call": 0, "return": 1}
        {"process": 1, "method": "enq", "arg": 2, "ret": false, "call": 2, "return": 3}
        {"process": 0, "method": "deq", "ret": 1, "call": 4, "return": 5}
        {"process": 1, "method": "enq", "arg": 3, "ret": true, "call": 6, "return": 7}
        {"process": 0, "method": "peek", "ret": 1, "call": 8, "return": 9}"#;
    let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0);
    let history = recorded.expect("it is well formed").history;
    let queue = Container {
        discipline: Discipline::Fifo,
        capacity: Some(1),
    };
    let typed = TypedHistory::decode(&queue, &history).expect("it fits the type");
    let part = &partition(&queue, &typed, Partitioning::ByObject)[0];
    let task = Task::new(&queue, &typed, &part.ops);
    let decide = |ops: &[TaskOp], _: &Budget| -> Result<Answer, GaveUp> {
        let order = brute::try_all_orders(&task.with_ops(ops.to_vec()), &mut || Ok::<(), ()>(()));
        Ok(match order.expect("there is no limit") {
            Some(order) => Answer::Linearizable {
                order,
                shown_by: None,
            },
            None => Answer::NotLinearizable {
                partial: Vec::new(),
                reached: 0,
                contradicting: None,
                first_bad: None,
            },
        })
    };
    let family = contradictory_family(&task, 9, &Budget::default(), &decide);
    let ids: Option<Vec<u32>> = family.map(|ops| ops.iter().map(|op| op.id.0).collect());
    assert_eq!(ids, Some(vec![0, 2, 4]));
}
