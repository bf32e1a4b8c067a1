mod brute;
mod corpus;
mod cycles;
mod named;
mod random;
mod sentences;

use std::collections::BTreeMap;

use super::{Level, LevelReport, Model, Verdict, check};
use crate::budget::Budget;
use crate::value::Value;
use random::{Kind, Random};

fn model(kind: Kind) -> Model {
    match kind {
        Kind::Lists => Model::Lists,
        Kind::Registers | Kind::Updates => Model::Registers {
            initial: Value::Int(0),
        },
    }
}

fn levels(kind: Kind) -> Vec<Level> {
    let all = Level::NAMES.iter().map(|(_, level)| *level);
    all.filter(|level| kind == Kind::Lists || *level != Level::Pl2)
        .collect()
}

fn holds(report: &LevelReport) -> bool {
    match &report.verdict {
        Verdict::Holds(_) => true,
        Verdict::Violated(_) => false,
        Verdict::Undecided(reason) => panic!("undecided: {reason}"),
    }
}

/// Compares the levels of random histories with their definitions.
fn differ(kind: Kind, count: usize, seed: u64) {
    let mut held: BTreeMap<Level, [usize; 2]> = BTreeMap::new();
    let mut anomalies: BTreeMap<String, usize> = BTreeMap::new();
    for i in 0..count {
        let mut random = Random(seed.wrapping_add(i as u64) << 20);
        let txns = random::transactions(&mut random, kind);
        let history = random::recorded(&txns, kind);
        let expected = brute::levels(&txns, kind == Kind::Lists);
        for (_, stronger) in Level::NAMES {
            for (_, weaker) in Level::NAMES {
                let follows = !expected.contains(&stronger) || expected.contains(&weaker);
                let exists = kind == Kind::Lists || weaker != Level::Pl2;
                assert!(
                    follows || !exists || !stronger.implies(weaker),
                    "{stronger} {weaker}: {txns:?}"
                );
            }
        }
        for level in levels(kind) {
            // Each by itself, so that none follows from another one.
            let found = check(&history, &model(kind), &[level], &Budget::default());
            let found = found.unwrap_or_else(|error| panic!("{level}: {error}: {txns:#?}"));
            let is_held = holds(&found[0]);
            assert_eq!(
                is_held,
                expected.contains(&level),
                "{level} ({i}): {:?} {txns:#?}",
                found[0].verdict
            );
            held.entry(level).or_default()[usize::from(is_held)] += 1;
            if let Verdict::Violated(violation) = &found[0].verdict {
                sentences::check(&history, violation);
                cycles::check(&txns, kind, level, violation);
                *anomalies
                    .entry(format!("{level}: {violation}"))
                    .or_default() += 1;
            }
        }
    }
    println!("{kind:?}: {count} histories; level [violated, holds]: {held:?}");
    println!("{anomalies:#?}");
    assert!(held.values().all(|counts| counts[0] > 0 && counts[1] > 0));
}

/// How many histories of each kind are compared; a third of `LINPOINT_TRANSACTIONS`.
fn count(default: usize) -> usize {
    let given = std::env::var("LINPOINT_TRANSACTIONS").ok();
    let given = given.map(|text| text.parse::<usize>().expect("a number"));
    given.map_or(default, |all| all.div_ceil(3))
}

#[test]
fn levels_of_registers_are_as_defined() {
    differ(Kind::Registers, count(1500), 1);
}

#[test]
fn levels_of_lists_are_as_defined() {
    differ(Kind::Lists, count(1500), 2);
}

#[test]
fn levels_of_updates_are_as_defined() {
    differ(Kind::Updates, count(1500), 3);
}
