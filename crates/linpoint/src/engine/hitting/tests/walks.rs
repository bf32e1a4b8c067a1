//! Walking a family finds what making it finds.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::poset::Down;
use super::super::runs::{AnyResult, Runs, witness};
use super::*;
use crate::verdict::certify;

#[test]
fn walking_a_family_finds_what_making_it_finds() {
    let budget = Budget::default();
    let mut found = [0; 8];
    for_random_tasks(3000, 6, Returns::All, |task, rng| {
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
        // A walk that is stopped at every step and continued finds the same.
        let stop = Arc::new(AtomicBool::new(true));
        let stopped = Budget::default().cancelled_by(Arc::clone(&stop));
        let mut interrupted = ShownBy::new(task, family);
        let mut at_last = interrupted.up_to(usize::MAX, &stopped);
        while let Measured::Unknown(_) = at_last {
            at_last = interrupted.up_to(usize::MAX, &stopped);
        }
        assert_eq!(at_last, at_once);
        assert_eq!(interrupted.up_to(usize::MAX, &budget), at_once);
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
    for_random_tasks(3000, 6, Returns::Most, |task, rng| {
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

/// The most operations that are delayed at the same time in a schedule, counted by its definition.
fn width_of(poset: &Poset, base: Base, schedule: &[u32]) -> usize {
    let rank = blocks::ranks(poset, base);
    let mut done = Down::default();
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
    for_random_tasks(1500, 6, Returns::All, |task, rng| {
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
        let mut walk = FamilyWalk::new(poset, family, Cost::Sum, &mut runs);
        let found = walk.go_on(3, &mut runs, &mut Ticker::new(&budget));
        assert_eq!(found, Ok(Walked::NotYet));
        walk.nodes()
    };
    let (short, long) = (nodes(100), nodes(1000));
    assert!(long < 11 * short, "{short} {long}");
}
