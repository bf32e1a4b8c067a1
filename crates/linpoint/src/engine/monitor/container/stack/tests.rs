use super::*;
use crate::engine::monitor::testing;
use crate::engine::monitor::testing::containers::{self, unbounded};
use crate::engine::monitor::{Contradiction, ViolationKind};
use crate::history::NEVER;
use crate::spec::{Container, Discipline};

const STACK: Container = unbounded(Discipline::Lifo);

fn judge_alike(log: &Log<Act>) -> bool {
    let finding = Stack.decide(log).expect("no value is added twice");
    if let Finding::Violation(contradiction) = &finding
        && contradiction.kind == ViolationKind::Buried
    {
        assert_none_too_many(log, contradiction);
    }
    testing::judge_alike(&STACK, &Stack, log)
}

/// No value and no peek can be left out.
fn assert_none_too_many(log: &Log<Act>, contradiction: &Contradiction) {
    let is_fine_without = |left_out: &dyn Fn(u32) -> bool| {
        let ops: Vec<u32> = contradiction
            .ops
            .iter()
            .copied()
            .filter(|&op| !left_out(op))
            .collect();
        testing::is_linearizable(&STACK, &log.restricted(&ops))
    };
    let value = |op: u32| log.values[op as usize];
    for &op in &contradiction.ops {
        assert!(
            is_fine_without(&|other| value(other) == value(op)),
            "{contradiction:?}\n{log:#?}"
        );
        if log.acts[op as usize] == Act::Peek {
            assert!(
                is_fine_without(&|other| other == op),
                "{contradiction:?}\n{log:#?}"
            );
        }
    }
}

#[test]
fn agrees_with_the_reference() {
    testing::assert_judged_alike(&STACK, |log| Some(judge_alike(log)));
}

#[test]
fn pending_removals_take_effect_sometime() {
    containers::assert_pending_removals_may_happen(&STACK, judge_alike);
}

#[test]
fn values_put_in_twice_are_not_judged() {
    let add = (Act::Add, 3);
    assert!(Stack.decide(&log(&[(add, 0, 1), (add, 2, 3)])).is_err());
}

/// The log of operations with their calls and returns, all distinct, in any order.
fn log(ops: &[((Act, u32), u32, u32)]) -> Log<Act> {
    let mut ops = ops.to_vec();
    ops.sort_by_key(|&(_, call, _)| call);
    Log::new(
        ops.iter().map(|&((act, _), ..)| act).collect(),
        ops.iter().map(|&((_, value), ..)| value).collect(),
        ops.iter().map(|&(_, call, _)| call).collect(),
        ops.iter().map(|&(.., ret)| ret).collect(),
    )
}

/// Each value is put on the one before, and all of them are needed to cover the removal of the first.
fn chain(values: u32) -> Log<Act> {
    let mut ops = Vec::new();
    for i in 0..values {
        ops.push(((Act::Add, i), 10 * i + 6, 10 * i + 10));
        let ret = match i {
            0 => 10 * values + 12,
            // Long after everything.
            _ => 10 * values + 100 + i,
        };
        ops.push(((Act::Remove, i), 10 * i + 25, ret));
    }
    log(&ops)
}

#[test]
fn any_number_of_values_may_bury_each_other() {
    for values in 3..=8 {
        let log = chain(values);
        if values <= 5 {
            assert!(!testing::is_linearizable(&STACK, &log));
        }
        let Ok(Finding::Violation(contradiction)) = Stack.decide(&log) else {
            panic!("{values} values in a chain are linearizable");
        };
        assert_eq!(contradiction.kind, ViolationKind::Buried);
        assert_eq!(contradiction.ops, (0..2 * values).collect::<Vec<u32>>());
        for left_out in 0..values {
            let rest: Vec<u32> = (0..2 * values)
                .filter(|&op| log.values[op as usize] != left_out)
                .collect();
            assert!(
                Stack
                    .decide(&log.restricted(&rest))
                    .unwrap()
                    .is_linearizable()
            );
        }
    }
}

#[test]
fn long_chains_are_found_in_time() {
    let values = 20_000;
    let Ok(Finding::Violation(contradiction)) = Stack.decide(&chain(values)) else {
        panic!("a chain is linearizable");
    };
    assert_eq!(contradiction.ops.len(), 2 * values as usize);
}

/// Values on each other, as many peeks on each, and all taken out at the end.
fn tower(values: u32, peeks: u32) -> Vec<((Act, u32), u32, u32)> {
    let mut ops: Vec<(Act, u32)> = Vec::new();
    for value in 0..values {
        ops.push((Act::Add, value));
        ops.extend((0..peeks).map(|_| (Act::Peek, value)));
    }
    for value in (0..values).rev() {
        ops.extend((0..peeks).map(|_| (Act::Peek, value)));
        ops.push((Act::Remove, value));
    }
    let sequence = (0u32..).step_by(2).zip(ops);
    sequence.map(|(rank, op)| (op, rank, rank + 1)).collect()
}

#[test]
fn deep_stacks_and_many_peeks() {
    for (values, peeks) in [(2000, 0), (500, 3), (3, 1000)] {
        let mut ops = tower(values, peeks);
        let good = log(&ops);
        let Ok(Finding::Linearizable(found)) = Stack.decide(&good) else {
            panic!("a run of a stack is not linearizable");
        };
        assert_eq!(found.values, (0..values).collect::<Vec<u32>>());
        let order: Vec<u32> = (0..good.len() as u32).collect();
        assert_eq!(Stack.witness(&good, &found), order);
        // Two of the last removals trade places.
        let len = ops.len();
        let (low, high) = (len - 1, len - 2 - peeks as usize);
        let (a, b) = (ops[low].0, ops[high].0);
        (ops[low].0, ops[high].0) = (b, a);
        assert!(!Stack.decide(&log(&ops)).unwrap().is_linearizable());
    }
}

#[test]
fn what_never_returns_is_open_until_the_end() {
    // The removal of the lower value fits after that of the upper one only if it may return late.
    let ops = |ret: u32| {
        log(&[
            ((Act::Add, 0), 0, 1),
            ((Act::Add, 1), 2, 3),
            ((Act::Remove, 0), 4, ret),
            ((Act::Remove, 1), 6, 7),
        ])
    };
    assert!(!Stack.decide(&ops(5)).unwrap().is_linearizable());
    assert!(judge_alike(&ops(NEVER)));
}
