//! The stand-in for the paper's Figure 2.

use std::collections::HashMap;

use super::super::poset::Down;
use super::super::runs::Runs;
use super::*;

/// The order of operations of the stand-in for the paper's Figure 2.
fn figure_2() -> Poset {
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
        done: &Down,
        states: u32,
        known: &mut HashMap<(Down, u32), u64>,
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
    let nothing = Down::default();
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
    assert_eq!(found, Ok(DepthResult::Tuple(vec![op(5)])));
}
