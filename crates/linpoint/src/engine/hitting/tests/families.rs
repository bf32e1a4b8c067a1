//! Schedules hit what their index says, and families are those of the paper.

use std::collections::HashSet;

use rand::RngExt;

use super::super::family::Maker;
use super::*;

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
            let maker = Maker::new(Cow::Borrowed(poset), with(Rule::Canonical, base));
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
    let maker = Maker::new(Cow::Borrowed(&poset), with(Rule::Canonical, Base::Ids));
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
