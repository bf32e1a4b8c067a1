//! The families, walks and depths against their definitions.

mod depths;
mod families;
mod figure_2;
mod walks;

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::enumerate::enumerate;
use super::*;
use crate::engine::brute;
use crate::history::TypedHistory;
use crate::spec::{Container, ContainerOp, Discipline, Outcomes};
use crate::value::Value;

/// A random order of up to `most` operations by a few threads.
fn random_poset(most: usize, rng: &mut ChaCha8Rng) -> Poset {
    let ops = rng.random_range(0..=most);
    let threads = rng.random_range(1..=most as u32);
    let mut events: Vec<u32> = (0..ops as u32).flat_map(|op| [op, op]).collect();
    events.shuffle(rng);
    // Nearby events are swapped less often in sparse histories.
    if rng.random() {
        events.sort_by_key(|&op| op * 2 + rng.random_range(0..6));
    }
    let mut intervals = vec![(0, 0, 0); ops];
    let mut seen = HashSet::new();
    let mut busy: Vec<bool> = vec![false; threads as usize + ops];
    for (rank, &op) in (0u32..).zip(&events) {
        let interval = &mut intervals[op as usize];
        if seen.insert(op) {
            let free = (0..busy.len()).filter(|&thread| !busy[thread]);
            let free: Vec<usize> = free.take(threads as usize).collect();
            let thread = free[rng.random_range(0..free.len())];
            busy[thread] = true;
            *interval = (rank, 0, thread as u32);
        } else {
            interval.1 = rank;
            busy[interval.2 as usize] = false;
        }
    }
    Poset::new(&intervals)
}

fn for_random_posets(count: u64, most: usize, mut test: impl FnMut(&Poset, &mut ChaCha8Rng)) {
    for seed in 0..count {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        test(&random_poset(most, &mut rng), &mut rng);
    }
}

/// Every order that obeys real time.
fn all_schedules(poset: &Poset) -> Vec<Vec<u32>> {
    fn extend(poset: &Poset, order: &mut Vec<u32>, all: &mut Vec<Vec<u32>>) {
        if order.len() == poset.len() {
            all.push(order.clone());
        }
        for op in 0..poset.len() as u32 {
            let is_next = |op: u32| {
                !order.contains(&op)
                    && (0..poset.len() as u32)
                        .all(|other| order.contains(&other) || !poset.precedes(other, op))
            };
            if is_next(op) {
                order.push(op);
                extend(poset, order, all);
                order.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(poset, &mut Vec::new(), &mut all);
    all
}

/// All tuples of distinct operations, feasible or not.
fn all_tuples(ops: u32, size: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..size {
        let longer = all.iter().flat_map(|tuple: &Vec<u32>| {
            let fresh = (0..ops).filter(|op| !tuple.contains(op));
            fresh.map(|op| [tuple.as_slice(), &[op]].concat())
        });
        all = longer.collect();
    }
    all
}

fn distinct(family: Family, poset: &Poset, d: usize) -> HashSet<Vec<u32>> {
    family
        .schedules(poset, d)
        .map(|schedule| schedule.order)
        .collect()
}

fn sizes(family: Family, poset: &Poset, d_max: usize) -> Vec<usize> {
    let budget = Budget::default();
    let mut ticker = Ticker::new(&budget);
    let found = enumerate(poset, family, d_max, &mut ticker, &mut |_, _| {}).unwrap();
    (1..=d_max).map(|d| found.size(d)).collect()
}

fn with(rule: Rule, base: Base) -> Family {
    Family {
        rule,
        base,
        index: Index::Chains,
    }
}

/// Intervals given thread by thread, as the fixtures are.
fn by_thread(calls: &[&[u32]], rets: &[&[u32]]) -> Poset {
    let threads = (0u32..).zip(calls.iter().zip(rets));
    let intervals = threads.flat_map(|(thread, (calls, rets))| {
        let ops = calls.iter().zip(rets.iter());
        ops.map(move |(&call, &ret)| (call, ret, thread))
    });
    Poset::new(&intervals.collect::<Vec<_>>())
}

/// Numbers thread by thread, and the other way.
fn ids(poset: &Poset) -> Vec<u32> {
    let mut ids = vec![0; poset.len()];
    let ops = poset.chains().iter().flatten();
    (0u32..)
        .zip(ops)
        .for_each(|(id, &op)| ids[op as usize] = id);
    ids
}

/// Which operations of a random history return.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Returns {
    All,
    /// Three of four; the others are pending.
    Most,
}

/// A random history of a queue or a bag with results of some schedule, or nearly so.
fn random_history(
    spec: &Container,
    poset: &Poset,
    returns: Returns,
    rng: &mut ChaCha8Rng,
) -> TypedHistory<ContainerOp, Value> {
    let op = |rng: &mut ChaCha8Rng| match rng.random_range(0..8) {
        0..=2 => ContainerOp::Remove,
        3 => ContainerOp::Peek,
        4 => ContainerOp::Size,
        _ => ContainerOp::Add(Value::from(rng.random_range(1..=3))),
    };
    let ops: Vec<ContainerOp> = (0..poset.len()).map(|_| op(rng)).collect();
    let mut done = poset::Down::default();
    let mut minimal = Vec::new();
    let mut state = spec.init();
    let mut results = vec![Value::Nil; ops.len()];
    for _ in 0..poset.len() {
        done.minimal_outside(poset, &mut minimal);
        let op = minimal[rng.random_range(0..minimal.len())];
        (results[op as usize], state) = match spec.apply(&state, &ops[op as usize]) {
            Outcomes::One(ret, next) => (ret, next),
            Outcomes::Many(mut all) => all.swap_remove(rng.random_range(0..all.len())),
            Outcomes::Blocked => unreachable!("containers do not block"),
        };
        done = done.with(op);
    }
    if poset.len() > 1 && rng.random_range(0..3) == 0 {
        let place = rng.random_range(1..poset.len());
        results.swap(place, place - 1);
    }
    let calls = (0..poset.len()).map(|op| (poset.interval(op as u32).call, false, op));
    let rets = (0..poset.len()).map(|op| (poset.interval(op as u32).ret, true, op));
    let mut events: Vec<(u32, bool, usize)> = calls.chain(rets).collect();
    events.sort_unstable();
    let mut history = TypedHistory::new();
    for (_, is_return, op) in events {
        if !is_return {
            history.call(poset.chain_of(op as u32), ops[op].clone());
        } else if returns == Returns::All || rng.random_range(0..4) > 0 {
            history.ret(OpId(op as u32), results[op].clone());
        }
    }
    history
}

fn for_random_tasks(
    count: u64,
    most: usize,
    returns: Returns,
    mut test: impl FnMut(&Task<'_, Container>, &mut ChaCha8Rng),
) {
    for_random_posets(count, most, |poset, rng| {
        let discipline = [Discipline::Fifo, Discipline::Any][rng.random_range(0..2)];
        let spec = Container::unbounded(discipline);
        let history = random_history(&spec, poset, returns, rng);
        let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        test(&Task::new(&spec, &history, &ids), rng);
    });
}

fn is_linearizable(task: &Task<'_, Container>) -> bool {
    let order = brute::try_all_orders(task, &mut || Ok::<_, ()>(()));
    order.unwrap().is_some()
}
