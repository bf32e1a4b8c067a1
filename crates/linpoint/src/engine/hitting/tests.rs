//! The families against the definitions.

use std::collections::{HashMap, HashSet};

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::enumerate::enumerate;
use super::runs::{AnyResult, Runs, witness};
use super::*;
use crate::engine::brute;
use crate::history::TypedHistory;
use crate::spec::{Container, ContainerOp, Discipline, Outcomes};
use crate::value::Value;
use crate::verdict::certify;

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

#[test]
fn every_schedule_hits_its_index() {
    for_random_posets(400, 7, |poset, rng| {
        let d = rng.random_range(1..=4.min(poset.len().max(1)));
        for &(_, base) in Base::NAMES {
            for rule in [Rule::Canonical, Rule::Printed, Rule::Artifact] {
                for schedule in with(rule, base).schedules(poset, d) {
                    assert!(poset.is_schedule(&schedule.order), "{schedule:?}");
                    if rule == Rule::Artifact {
                        continue;
                    }
                    let chain = schedule
                        .chain
                        .map_or(&[][..], |chain| &poset.chains()[chain as usize]);
                    for &first in chain.iter().filter(|op| !schedule.tuple.contains(op)) {
                        let tuple = [&[first], schedule.tuple.as_slice()].concat();
                        // A member before the chain's stands for it.
                        assert!(
                            strongly_hits(poset, &schedule.order, &tuple),
                            "{rule:?} {schedule:?} {poset:?}"
                        );
                    }
                    assert!(strongly_hits(poset, &schedule.order, &schedule.tuple));
                }
            }
            // The canonical rule takes any tuple, feasible or not.
            let maker = family::Maker::new(Cow::Borrowed(poset), with(Rule::Canonical, base));
            for tuple in all_tuples(poset.len() as u32, d.min(poset.len())) {
                assert!(strongly_hits(poset, &maker.schedule(None, &tuple), &tuple));
            }
        }
    });
}

#[test]
fn families_hit_every_tuple() {
    for_random_posets(150, 6, |poset, rng| {
        let d = rng.random_range(1..=3.min(poset.len().max(1)));
        for rule in [Rule::Canonical, Rule::Printed] {
            let family = distinct(with(rule, Base::Return), poset, d);
            for tuple in all_tuples(poset.len() as u32, d) {
                let hit = family
                    .iter()
                    .any(|order| strongly_hits(poset, order, &tuple));
                assert!(hit, "{rule:?} {tuple:?} {poset:?}");
            }
        }
    });
}

#[test]
fn the_published_program_misses_a_tuple() {
    let intervals = [(2, 10, 0), (3, 4, 1), (5, 6, 2), (1, 7, 3), (8, 9, 3)];
    let poset = Poset::new(&intervals);
    let ids = ids(&poset);
    let op = |id| ids.iter().position(|&known| known == id).unwrap() as u32;
    let tuple = [op(3), op(2), op(0)];
    let hits = |rule| {
        let family = distinct(with(rule, Base::Ids), &poset, 3);
        family
            .iter()
            .any(|order| strongly_hits(&poset, order, &tuple))
    };
    assert!(!hits(Rule::Artifact));
    assert!(hits(Rule::Printed) && hits(Rule::Canonical));
}

/// Algorithm 1 line by line, for any tuple. (The front stands in for a last predecessor that does not exist.)
fn algorithm_1(poset: &Poset, topological: &[u32], chain: u32, tuple: &[u32]) -> Vec<u32> {
    let mut schedule: Vec<u32> = Vec::new();
    for &op in topological {
        let inserted = (0..tuple.len()).filter(|&i| schedule.contains(&tuple[i]));
        let inserted: Vec<usize> = inserted.collect();
        let place = |i: usize| {
            schedule
                .iter()
                .position(|&other| other == tuple[i])
                .unwrap()
        };
        let comes_last = inserted
            .last()
            .is_none_or(|&i| poset.precedes(tuple[i], op));
        let before_first = |from: usize| {
            let mut starts = (0..inserted.len()).filter(|&j| inserted[j] >= from);
            let concurrent = |&i: &usize| poset.are_concurrent(tuple[i], op);
            let j = starts.find(|&j| inserted[j..].iter().all(concurrent));
            place(inserted[j.unwrap()])
        };
        let at = match tuple.iter().position(|&member| member == op) {
            Some(i) if comes_last || inserted.last() < Some(&i) => schedule.len(),
            Some(i) => before_first(i + 1),
            None if poset.chain_of(op) == chain && comes_last => schedule.len(),
            None if poset.chain_of(op) == chain => before_first(0),
            None => {
                let precedes = |&other: &u32| poset.precedes(other, op);
                schedule
                    .iter()
                    .rposition(precedes)
                    .map_or(0, |last| last + 1)
            }
        };
        schedule.insert(at, op);
    }
    schedule
}

#[test]
fn the_printed_rule_is_algorithm_1_where_that_works() {
    for_random_posets(200, 6, |poset, rng| {
        let family = with(Rule::Printed, Base::NAMES[rng.random_range(0..4)].1);
        let base = poset.base_order(family.base);
        for schedule in family.schedules(poset, rng.random_range(1..=4)) {
            let Some(chain) = schedule.chain else {
                continue;
            };
            assert_eq!(
                schedule.order,
                algorithm_1(poset, &base, chain, &schedule.tuple)
            );
        }
    });
}

#[test]
fn algorithm_1_fails_on_an_infeasible_tuple() {
    let poset = by_thread(&[&[1, 4], &[2]], &[&[3, 5], &[6]]);
    // Numbered by thread: 0 and 1 on the first, 2 on the second.
    let [zero, two, one] = [0, 1, 2];
    let base = poset.base_order(Base::Ids);
    let order = algorithm_1(&poset, &base, 1, &[one, zero]);
    assert_eq!(order, [zero, two, one]);
    assert!(!strongly_hits(&poset, &order, &[two, one, zero]));
    assert!(!poset.is_feasible(&[one, zero]));
    let maker = family::Maker::new(Cow::Borrowed(&poset), with(Rule::Canonical, Base::Ids));
    let order = maker.schedule(Some(1), &[one, zero]);
    assert!(strongly_hits(&poset, &order, &[two, one, zero]));
}

#[test]
fn small_and_simple_families() {
    for rule in [Rule::Canonical, Rule::Printed, Rule::Artifact] {
        let family = with(rule, Base::Return);
        let empty = Poset::new(&[]);
        assert_eq!(distinct(family, &empty, 3), HashSet::from([vec![]]));
        let one = Poset::new(&[(0, 1, 0)]);
        assert_eq!(distinct(family, &one, 5), HashSet::from([vec![0]]));
        let thread = Poset::new(&[(0, 1, 0), (2, 3, 0), (4, 5, 0)]);
        for d in 1..=5 {
            assert_eq!(distinct(family, &thread, d), HashSet::from([vec![0, 1, 2]]));
        }
    }
    let antichain: Vec<_> = (0..5).map(|op| (op, 10 + op, op)).collect();
    let antichain = Poset::new(&antichain);
    for (d, size) in [(1, 5), (2, 20), (3, 60), (4, 120), (5, 120)] {
        assert_eq!(family_size(&antichain, Base::Call, d), size);
    }
}

#[test]
fn canonical_families_are_known_by_their_blocks() {
    for_random_posets(300, 6, |poset, rng| {
        let base = Base::NAMES[rng.random_range(0..4)].1;
        let family = Family {
            rule: Rule::Canonical,
            base,
            index: Index::Tuples,
        };
        let all = all_schedules(poset);
        let mut before = HashSet::new();
        for d in 1..=poset.len().max(1) {
            let made = distinct(family, poset, d);
            let by_blocks: HashSet<Vec<u32>> = all
                .iter()
                .filter(|order| blocks(poset, base, order).len() <= d)
                .cloned()
                .collect();
            assert_eq!(made, by_blocks);
            assert_eq!(family_size(poset, base, d), made.len() as u128);
            if !poset.is_empty() {
                assert_eq!(sizes(family, poset, d)[d - 1], made.len());
            }
            assert!(made.is_superset(&before));
            before = made;
        }
        if poset.len() > 1 {
            let last = distinct(family, poset, poset.len() - 1);
            assert_eq!(last.len(), all.len());
        }
    });
}

#[test]
fn fast_enumeration_makes_what_indices_make() {
    for_random_posets(200, 6, |poset, rng| {
        let base = Base::NAMES[rng.random_range(0..4)].1;
        for rule in [Rule::Canonical, Rule::Printed, Rule::Artifact] {
            let family = with(rule, base);
            let most = 4.min(poset.len().max(1));
            let expected: Vec<usize> = (1..=most)
                .map(|d| distinct(family, poset, d).len())
                .collect();
            assert_eq!(sizes(family, poset, most), expected, "{family:?} {poset:?}");
        }
    });
}

#[test]
fn published_maxima() {
    let published = |poset: &Poset| sizes(Family::PUBLISHED, poset, 7);
    let map = by_thread(
        &[&[1, 4, 8, 10, 16, 20, 24], &[2, 6, 12, 14, 18, 22, 26]],
        &[&[3, 7, 9, 15, 19, 23, 27], &[5, 11, 13, 17, 21, 25, 28]],
    );
    assert_eq!(published(&map), [2, 16, 66, 157, 268, 364, 432]);
    assert_eq!(all_schedules(&map).len(), 503);
    let queue = by_thread(
        &[&[1, 5, 14], &[2, 7, 15], &[3, 9, 11]],
        &[&[4, 12, 16], &[6, 13, 17], &[8, 10, 18]],
    );
    assert_eq!(published(&queue), [3, 20, 76, 175, 298, 389, 424]);
    assert_eq!(all_schedules(&queue).len(), 430);
    let deque = by_thread(
        &[&[1, 10], &[2, 8], &[3, 6], &[4, 12]],
        &[&[9, 13], &[7, 14], &[5, 15], &[11, 16]],
    );
    assert_eq!(published(&deque), [4, 25, 113, 355, 696, 1006, 1145]);
    assert_eq!(all_schedules(&deque).len(), 1145);
    let calls: [Vec<u32>; 2] = [0, 1].map(|thread| (0..7).map(|i| 4 * i + 2 * thread).collect());
    let rets: [Vec<u32>; 2] = [0, 1].map(|thread| (0..7).map(|i| 4 * i + 2 * thread + 3).collect());
    let zig_zag = by_thread(&[&calls[0], &calls[1]], &[&rets[0], &rets[1]]);
    assert_eq!(all_schedules(&zig_zag).len(), 610);
    let printed = sizes(with(Rule::Printed, Base::Ids), &zig_zag, 5);
    assert_eq!(printed, [2, 16, 69, 173, 295]);
    let canonical = sizes(with(Rule::Canonical, Base::Call), &zig_zag, 5);
    assert_eq!(canonical, [2, 24, 115, 292, 461]);
}

/// The order of operations of the stand-in for the paper's Figure 2.
pub(super) fn figure_2() -> Poset {
    by_thread(
        &[
            &[6, 13],
            &[7, 18],
            &[8, 11],
            &[4, 23],
            &[1, 10],
            &[2, 27],
            &[3, 15],
        ],
        &[
            &[12, 16],
            &[17, 19],
            &[9, 21],
            &[22, 25],
            &[5, 20],
            &[26, 28],
            &[14, 24],
        ],
    )
}

#[test]
fn families_of_figure_2() {
    let poset = figure_2();
    assert_eq!(family_size(&poset, Base::Ids, poset.len()), 1_007_994);
    let of = |rule| sizes(with(rule, Base::Ids), &poset, 5);
    assert_eq!(of(Rule::Printed), [7, 69, 515, 3117, 15172]);
    assert_eq!(of(Rule::Artifact), [7, 69, 512, 3067, 14852]);
    assert_eq!(of(Rule::Canonical), [7, 74, 604, 3816, 19204]);
}

#[test]
fn indices_of_a_nearly_sequential_history() {
    // Seven threads of two operations, one pair of which overlaps: the shape of an ArrayBlockingQueue history.
    let order = [0, 1, 8, 2, 9, 3, 6, 7, 10, 11, 12, 13, 4, 5];
    let mut intervals = vec![(0, 0, 0); 14];
    for (place, &id) in (0u32..).zip(&order) {
        intervals[id as usize] = (4 * place, 4 * place + 1, id / 2);
    }
    intervals[2].1 = intervals[9].0 + 1;
    intervals[9].1 = intervals[9].0 + 2;
    let poset = Poset::new(&intervals);
    let family = Family::PUBLISHED;
    let indices: Vec<usize> = (1..=3)
        .map(|d| family.schedules(&poset, d).count())
        .collect();
    assert_eq!(indices, [7, 98, 644]);
    assert_eq!(sizes(family, &poset, 3), [2, 2, 2]);
    let ids = ids(&poset);
    let base: Vec<u32> = poset
        .base_order(Base::Ids)
        .iter()
        .map(|&op| ids[op as usize])
        .collect();
    assert_eq!(base, order);
}

/// A random history of a queue or a bag with results of some schedule, or nearly so.
fn random_history(
    spec: &Container,
    poset: &Poset,
    has_pending: bool,
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
    let calls = (0..poset.len()).map(|op| (poset.interval(op).0, false, op));
    let rets = (0..poset.len()).map(|op| (poset.interval(op).1, true, op));
    let mut events: Vec<(u32, bool, usize)> = calls.chain(rets).collect();
    events.sort_unstable();
    let mut history = TypedHistory::new();
    for (_, is_return, op) in events {
        if !is_return {
            history.call(poset.chain_of(op as u32), ops[op].clone());
        } else if !has_pending || rng.random_range(0..4) > 0 {
            history.ret(OpId(op as u32), results[op].clone());
        }
    }
    history
}

fn for_random_tasks(
    count: u64,
    most: usize,
    has_pending: bool,
    mut test: impl FnMut(&Task<'_, Container>, &mut ChaCha8Rng),
) {
    for_random_posets(count, most, |poset, rng| {
        let discipline = [Discipline::Fifo, Discipline::Any][rng.random_range(0..2)];
        let spec = Container::unbounded(discipline);
        let history = random_history(&spec, poset, has_pending, rng);
        let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        test(&Task::new(&spec, &history, &ids), rng);
    });
}

fn is_linearizable(task: &Task<'_, Container>) -> bool {
    let order = brute::try_all_orders(task, &mut || Ok::<_, ()>(()));
    order.unwrap().is_some()
}

#[test]
fn walking_a_family_finds_what_making_it_finds() {
    let budget = Budget::default();
    let mut found = [0; 8];
    for_random_tasks(3000, 6, false, |task, rng| {
        let poset = poset_of(task);
        let family = Family {
            rule: Rule::Canonical,
            base: Base::NAMES[rng.random_range(0..4)].1,
            index: [Index::Chains, Index::Tuples][rng.random_range(0..2)],
        };
        let has_witness = |d: usize| {
            let mut made = family.schedules(&poset, d);
            made.any(|schedule| witness(task, &schedule.order).is_some())
        };
        let expected = (1..=poset.len().max(1)).find(|&d| has_witness(d));
        assert_eq!(expected.is_some(), is_linearizable(task));
        // In one go, and step by step.
        let mut shown_by = ShownBy::new(task, family);
        let steps = (1..=poset.len().max(1)).map(|d| shown_by.up_to(d, &budget));
        let stepwise = steps.into_iter().find_map(|step| step.known().cloned());
        let at_once = ShownBy::new(task, family).up_to(usize::MAX, &budget);
        assert_eq!(at_once.known(), stepwise.as_ref());
        assert_eq!(stepwise.as_ref().map(|shown| shown.d), expected, "{task:?}");
        match at_once {
            Measured::Is(shown) => {
                certify::witness(task, &shown.order).unwrap();
                found[shown.d] += 1;
            }
            other => {
                assert_eq!(other, Measured::Never);
                found[0] += 1;
            }
        }
    });
    // Histories of all kinds: not linearizable, and shown by one, two and more.
    assert!(found[..4].iter().all(|&count| count > 20), "{found:?}");
}

#[test]
fn pending_operations_take_effect_or_not() {
    let budget = Budget::default();
    let mut found = [0; 2];
    for_random_tasks(3000, 6, true, |task, rng| {
        let index = [Index::Chains, Index::Tuples][rng.random_range(0..2)];
        let family = Family {
            index,
            ..Family::default()
        };
        let expected = is_linearizable(task);
        match ShownBy::new(task, family).up_to(usize::MAX, &budget) {
            Measured::Is(shown) => {
                assert!(expected);
                certify::witness(task, &shown.order).unwrap();
                let Measured::Is(delayed) = depth(task, usize::MAX, &budget) else {
                    panic!("no depth: {task:?}");
                };
                assert!(always_explains(task, &delayed.tuple, &budget).unwrap());
            }
            other => {
                assert_eq!(other, Measured::Never, "{task:?}");
                assert!(!expected, "{task:?}");
                assert_eq!(depth(task, usize::MAX, &budget), Measured::Never);
                assert_eq!(width(task, Base::Return, &budget), Measured::Never);
            }
        }
        found[usize::from(expected)] += 1;
    });
    assert!(found.iter().all(|&count| count > 100), "{found:?}");
}

#[test]
fn limited_discrepancy_decides_as_the_reference_does() {
    let budget = Budget::default();
    let mut found = [0; 2];
    for has_pending in [false, true] {
        for_random_tasks(1500, 6, has_pending, |task, _| {
            let expected = is_linearizable(task);
            found[usize::from(expected)] += 1;
            let pure: Vec<bool> = task.ops.iter().map(|&op| task.is_pure(op)).collect();
            let mut expanded = Vec::new();
            for pure in [Vec::new(), pure] {
                for cost in [Cost::Sum, Cost::Most] {
                    let mut search = LimitedDiscrepancy::with(task, cost, pure.clone());
                    match search.go_on(&budget).unwrap() {
                        Answer::Linearizable(order) => {
                            assert!(expected, "{task:?}");
                            certify::witness(task, &order).unwrap();
                        }
                        Answer::NotLinearizable { .. } => assert!(!expected, "{task:?}"),
                    }
                    expanded.push(search.search.expanded());
                }
            }
            // Where there is no witness all configurations are looked at, in whatever order, and fewer with pure ones first.
            if !expected {
                assert_eq!(expanded[0], all_configurations(task));
                assert_eq!(expanded[0], expanded[1]);
                assert!(expanded[2] <= expanded[0] && expanded[3] <= expanded[0]);
            }
        });
    }
    assert!(found.iter().all(|&count| count > 100), "{found:?}");
}

/// How many configurations there are: sets of operations that can have taken effect, with the states they lead to.
fn all_configurations(task: &Task<'_, Container>) -> usize {
    let poset = poset_of(task);
    let mut runs = StateSets::new(task);
    let mut seen = HashSet::from([(poset::Down::default(), runs.start())]);
    let mut left: Vec<(poset::Down, u32)> = seen.iter().cloned().collect();
    let mut minimal = Vec::new();
    while let Some((done, states)) = left.pop() {
        done.minimal_outside(&poset, &mut minimal);
        for &op in &minimal {
            if let Some(next) = runs.step(states, op) {
                let next = (done.with(op), next);
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
    }
    seen.len()
}

#[test]
fn depth_is_what_its_definition_says() {
    let budget = Budget::default();
    let mut found = [0; 6];
    for_random_tasks(1500, 5, false, |task, _| {
        let poset = poset_of(task);
        let schedules = all_schedules(&poset);
        let explains: Vec<bool> = schedules
            .iter()
            .map(|order| witness(task, order).is_some())
            .collect();
        let id = |op: &u32| OpId(*op);
        let always = |tuple: &Vec<u32>| {
            let mut hitting =
                (0..schedules.len()).filter(|&i| strongly_hits(&poset, &schedules[i], tuple));
            hitting.all(|i| explains[i])
        };
        let mut expected = None;
        for d in (1..=poset.len()).rev() {
            let tuples = all_tuples(poset.len() as u32, d);
            for tuple in tuples.iter().filter(|tuple| poset.is_feasible(tuple)) {
                let ids: Vec<OpId> = tuple.iter().map(id).collect();
                let found = always_explains(task, &ids, &budget).unwrap();
                assert_eq!(found, always(tuple), "{tuple:?} {task:?}");
                if found {
                    expected = Some(d);
                }
            }
        }
        if poset.is_empty() {
            expected = Some(1);
        }
        let measured = depth(task, usize::MAX, &budget);
        let known = measured.known().map(|delayed| delayed.depth);
        assert_eq!(known, expected, "{task:?}");
        assert_eq!(known.is_some(), is_linearizable(task));
        found[known.unwrap_or(0)] += 1;
        let Measured::Is(delayed) = measured else {
            return;
        };
        assert!(delayed.depth <= poset.len().saturating_sub(1).max(1));
        assert!(always_explains(task, &delayed.tuple, &budget).unwrap());
        for &(_, base) in Base::NAMES {
            for index in [Index::Chains, Index::Tuples] {
                let family = Family {
                    rule: Rule::Canonical,
                    base,
                    index,
                };
                let shown = ShownBy::new(task, family).up_to(usize::MAX, &budget);
                assert!(shown.known().unwrap().d <= delayed.depth);
            }
        }
        if delayed.depth > 1 {
            let less = delayed.depth - 1;
            assert_eq!(depth(task, less, &budget), Measured::Above(less));
        }
    });
    assert!(found[..5].iter().all(|&count| count > 5), "{found:?}");
}

/// The most operations that are delayed at the same time in a schedule, counted by its definition.
fn width_of(poset: &Poset, base: Base, schedule: &[u32]) -> usize {
    let rank = blocks::ranks(poset, base);
    let mut done = poset::Down::default();
    let mut delayed: HashSet<u32> = HashSet::new();
    let mut most = 0;
    let mut minimal = Vec::new();
    for &op in schedule {
        done.minimal_outside(poset, &mut minimal);
        let was_delayed = delayed.remove(&op);
        let passed_over =
            |&other: &u32| other != op && (was_delayed || rank[other as usize] < rank[op as usize]);
        delayed.extend(minimal.iter().copied().filter(passed_over));
        // While it is taken up again, it is still one of them.
        most = most.max(delayed.len() + usize::from(was_delayed));
        done = done.with(op);
    }
    most
}

#[test]
fn width_is_what_its_definition_says() {
    let budget = Budget::default();
    for_random_tasks(1500, 6, false, |task, rng| {
        let poset = poset_of(task);
        let base = Base::NAMES[rng.random_range(0..4)].1;
        let explaining = all_schedules(&poset)
            .into_iter()
            .filter(|order| witness(task, order).is_some());
        let expected = explaining.map(|order| width_of(&poset, base, &order)).min();
        let measured = width(task, base, &budget);
        assert_eq!(measured.known().copied(), expected, "{task:?}");
    });
}

#[test]
fn effort_grows_with_the_length_only() {
    let nodes = |ops: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        // Ten threads; every operation overlaps a few.
        let mut intervals: Vec<(u32, u32, u32)> = (0..ops as u32)
            .map(|op| {
                let call = op * 20 + rng.random_range(0..10);
                (call * 2, (call + rng.random_range(5..60)) * 2 + 1, op % 10)
            })
            .collect();
        // All but the last have any result; the last has none, so nothing is found and all is looked at.
        intervals.push((u32::MAX - 9, u32::MAX - 8, 0));
        let poset = Poset::new(&intervals);
        struct NeverEnds(u32);
        impl Runs for NeverEnds {
            fn start(&mut self) -> u32 {
                AnyResult.start()
            }
            fn step(&mut self, states: u32, op: u32) -> Option<u32> {
                AnyResult.step(states, op).filter(|_| op != self.0)
            }
        }
        let mut runs = NeverEnds(ops as u32);
        let family = Family {
            index: Index::Tuples,
            ..Family::default()
        };
        let budget = Budget::default();
        let mut walk = Walk::new(poset, family, Cost::Sum, &mut runs);
        let found = walk.go_on(3, &mut runs, &mut Ticker::new(&budget));
        assert_eq!(found, Ok(Walked::NotYet));
        walk.nodes()
    };
    let (short, long) = (nodes(100), nodes(1000));
    assert!(long < 11 * short, "{short} {long}");
}

/// The stand-in for the paper's Figure 2: a queue, all but one of whose results are those of an empty one.
#[test]
fn depth_of_figure_2() {
    let poset = figure_2();
    let ids = ids(&poset);
    let op = |id: u32| ids.iter().position(|&known| known == id).unwrap() as u32;
    // 5 adds two elements, and what follows is said to see an empty queue but for 4, 7, 11 and 13.
    let sees_empty = [0, 1, 2, 3, 6, 8, 9, 10, 12].map(op);
    struct Empty<'a>(&'a [u32], u32);
    impl Runs for Empty<'_> {
        fn start(&mut self) -> u32 {
            0
        }
        fn step(&mut self, states: u32, op: u32) -> Option<u32> {
            match states {
                _ if op == self.1 => Some(1),
                1 if self.0.contains(&op) => None,
                states => Some(states),
            }
        }
    }
    let mut runs = Empty(&sees_empty, op(5));
    fn explaining(
        poset: &Poset,
        runs: &mut dyn Runs,
        done: &poset::Down,
        states: u32,
        known: &mut HashMap<(poset::Down, u32), u64>,
    ) -> u64 {
        let mut minimal = Vec::new();
        done.minimal_outside(poset, &mut minimal);
        if minimal.is_empty() {
            return 1;
        }
        if let Some(&count) = known.get(&(done.clone(), states)) {
            return count;
        }
        let mut count = 0;
        for op in minimal {
            if let Some(next) = runs.step(states, op) {
                count += explaining(poset, runs, &done.with(op), next, known);
            }
        }
        known.insert((done.clone(), states), count);
        count
    }
    let nothing = poset::Down::default();
    let all = explaining(&poset, &mut runs, &nothing, 0, &mut HashMap::new());
    assert_eq!(all, 134_520);
    let mut explains = |order: &Vec<u32>| {
        let first = order.iter().position(|&other| other == op(5)).unwrap();
        let fits = order[first..].iter().all(|op| !sees_empty.contains(op));
        let mut states = runs.start();
        let runs_through = order.iter().all(|&op| match runs.step(states, op) {
            Some(next) => {
                states = next;
                true
            }
            None => false,
        });
        assert_eq!(fits, runs_through);
        fits
    };
    let witnesses = (1..=4).map(|d| {
        let made = distinct(with(Rule::Printed, Base::Ids), &poset, d);
        made.iter().filter(|order| explains(order)).count()
    });
    assert_eq!(witnesses.collect::<Vec<_>>(), [1, 8, 68, 427]);
    let budget = Budget::default();
    let found = depth::shortest_tuple(&poset, &mut runs, 5, &mut Ticker::new(&budget));
    assert_eq!(found, Ok(Found::Tuple(vec![op(5)])));
}
